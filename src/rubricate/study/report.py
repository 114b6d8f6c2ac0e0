"""The study as Methods and Results, like the paper's, with all that is needed to repeat it."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version

from rubricate import __version__
from rubricate.progress import Progress, silent
from rubricate.study.blocks import (
    NEEDED,
    Chapter,
    Figure,
    Listing,
    TableBlock,
    to_html,
    to_markdown,
    write_docx,
)
from rubricate.study.methods import Facts, flow_figure, methods_blocks
from rubricate.study.record import STEP_FOLDERS, StepResult, Study, run_step
from rubricate.study.results import results_blocks
from rubricate.study.settings import STUDY_FILE
from rubricate.study.stard import limitations_blocks, stard_blocks
from rubricate.study.status import stale_warnings
from rubricate.study.summaries import ReportSummary

_NEEDED = ("population", "plan", "sample", "assign", "collect", "curate", "evaluate")


def report_study(
    study: Study, *, overwrite: bool = False, progress: Progress = silent
) -> StepResult[ReportSummary]:
    """Write ``report.html``, ``.md`` and its figures, and ``.docx``, from the records of all steps.

    Without ``rubricate[formats]`` there is no ``report.docx``.
    """
    facts = Facts.of(study)

    def work(place: Path) -> ReportSummary:
        chapters = (
            Chapter("The study at a glance", [flow_figure(facts)]),
            Chapter("Methods", methods_blocks(facts, progress=progress)),
            Chapter("Results", results_blocks(facts)),
            Chapter("Limitations", limitations_blocks(facts)),
            Chapter("STARD checklist", stard_blocks(facts)),
            Chapter("To repeat it", _repeat(study)),
        )
        title = study.settings.name or "Study"
        lead = study.settings.question
        warnings = [*stale_warnings(study, "report"), *facts.warnings()]
        page = to_html(title, lead, warnings, chapters)
        (place / "report.html").write_text(page, encoding="utf-8", newline="")
        text = to_markdown(title, lead, warnings, chapters)
        (place / "report.md").write_text(text, encoding="utf-8", newline="")
        files = ["report.html", "report.md"]
        for block in (b for chapter in chapters for b in chapter.blocks):
            if isinstance(block, Figure):
                (place / f"{block.name}.svg").write_text(block.svg, encoding="utf-8", newline="")
                files.append(f"{block.name}.svg")
        if all(map(find_spec, NEEDED)):
            write_docx(place / "report.docx", title, lead, warnings, chapters)
            files.insert(0, "report.docx")
        return {"files": files}

    return run_step(
        study,
        "report",
        work,
        inputs={step: study.output(step) for step in _NEEDED}
        | {"study": study.folder / STUDY_FILE},
        settings={},
        overwrite=overwrite,
    )


def _repeat(study: Study) -> list[TableBlock | Listing]:
    """Return commands, inputs by hash and the settings file."""
    steps, inputs = [], []
    for step in _NEEDED:
        record = study.done(step)
        if record is None:
            continue
        steps.append((f"rubricate study {step} FOLDER", STEP_FOLDERS[step],
                      record["version"], record["time"]))  # fmt: skip
        inputs += [(step, name, digest) for name, digest in record["inputs"].items()]
    text = (study.folder / STUDY_FILE).read_text(encoding="utf-8")
    return [
        TableBlock(
            f"The steps, in order (this page was written by rubricate {__version__}).",
            ["command", "writes", "version", "when"],
            steps,
        ),
        TableBlock(
            "What this page was made with.",
            ["program", "version"],
            [("Python", python_version()),
             *((name, version(name)) for name in ("rubricate", "numpy", "scipy", "polars"))],
        ),
        TableBlock("What each step read, by SHA-256.", ["step", "input", "sha256"], inputs),
        Listing(STUDY_FILE, text),
    ]  # fmt: skip
