"""The study as Methods and Results, like the paper's, with all that is needed to repeat it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rubricate import __version__
from rubricate.study.blocks import Chapter, Figure, Listing, Table, to_html, to_markdown
from rubricate.study.methods import Facts, flow_figure, methods_blocks
from rubricate.study.record import STEP_FOLDERS, StepResult, Study, run_step
from rubricate.study.results import results_blocks
from rubricate.study.settings import STUDY_FILE

_NEEDED = ("population", "plan", "sample", "assign", "collect", "curate", "evaluate")


def report_study(study: Study, *, overwrite: bool = False) -> StepResult:
    """Write ``report.html``, ``report.md`` and its figures from the records of all steps.

    Raises
    ------
    InputError
        If a step was not run.
    """
    for step in _NEEDED:
        study.need(step)

    def work(place: Path) -> dict[str, Any]:
        facts = Facts({step: study.need(step) for step in _NEEDED}, study.settings)
        chapters = (
            Chapter("The study at a glance", [flow_figure(facts)]),
            Chapter("Methods", methods_blocks(facts)),
            Chapter("Results", results_blocks(facts)),
            Chapter("To repeat it", _repeat(study)),
        )
        title = study.settings.name or "Study"
        lead, warnings = study.settings.question, facts.warnings()
        page = to_html(title, lead, warnings, chapters)
        (place / "report.html").write_text(page, encoding="utf-8", newline="")
        text = to_markdown(title, lead, warnings, chapters)
        (place / "report.md").write_text(text, encoding="utf-8", newline="")
        files = ["report.html", "report.md"]
        for block in (b for chapter in chapters for b in chapter.blocks):
            if isinstance(block, Figure):
                (place / f"{block.name}.svg").write_text(block.svg, encoding="utf-8", newline="")
                files.append(f"{block.name}.svg")
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


def _repeat(study: Study) -> list[Table | Listing]:
    """Return commands, inputs by hash and the settings file."""
    steps, inputs = [], []
    for step in _NEEDED:
        record = study.done(step) or {}
        steps.append((f"rubricate study {step} FOLDER", STEP_FOLDERS[step],
                      record["version"], record["time"]))  # fmt: skip
        inputs += [(step, name, digest) for name, digest in record["inputs"].items()]
    text = (study.folder / STUDY_FILE).read_text(encoding="utf-8")
    return [
        Table(
            f"The steps, in order (this page was written by rubricate {__version__}).",
            ["command", "writes", "version", "when"],
            steps,
        ),
        Table("What each step read, by SHA-256.", ["step", "input", "sha256"], inputs),
        Listing(STUDY_FILE, text),
    ]
