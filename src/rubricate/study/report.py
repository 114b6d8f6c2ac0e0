"""The study as Methods and Results, like the paper's, with all that is needed to repeat it."""

from __future__ import annotations

from pathlib import Path

from rubricate import __version__
from rubricate.progress import Progress, silent
from rubricate.reports.plots import ForestGroup, ForestRow, Labels, forest_plot
from rubricate.stats import Estimate
from rubricate.study.blocks import (
    Block,
    Chapter,
    Figure,
    Listing,
    Paragraph,
    TableBlock,
    point,
    to_html,
    to_markdown,
)
from rubricate.study.evaluation import half_widths
from rubricate.study.methods import Facts, flow_figure, methods_blocks
from rubricate.study.record import STEP_FOLDERS, StepResult, Study, run_step
from rubricate.study.settings import STUDY_FILE
from rubricate.study.status import stale_warnings
from rubricate.study.summaries import Rates, ReportSummary, VariableAgreement, VariableResult

_NEEDED = ("population", "plan", "sample", "assign", "collect", "curate", "evaluate")


def report_study(
    study: Study, *, overwrite: bool = False, progress: Progress = silent
) -> StepResult[ReportSummary]:
    """Write ``report.html``, ``report.md`` and its figures from the records of all steps."""
    facts = Facts.of(study)

    def work(place: Path) -> ReportSummary:
        chapters = (
            Chapter("The study at a glance", [flow_figure(facts)]),
            Chapter("Methods", methods_blocks(facts, progress=progress)),
            Chapter("Results", results_blocks(facts)),
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
        TableBlock("What each step read, by SHA-256.", ["step", "input", "sha256"], inputs),
        Listing(STUDY_FILE, text),
    ]


def results_blocks(facts: Facts) -> list[Block]:
    """Return the Results: detections, agreement, performance, and the ceiling."""
    lines = [line for line in facts.evaluate["variables"] if line["notes"]]
    confidence = f"{facts.evaluate['confidence']:.0%} interval"
    return [
        TableBlock(
            "Table 1. Notes of the sample in which each variable was found by the annotators "
            "(reference) and by the system.",
            ["variable", "notes judged", "manual annotations", "system detections"],
            [(_named(line), line["notes"], line["manual"], line["detections"]) for line in lines],
        ),
        *_agreement(facts),
        _sentence(facts),
        TableBlock(
            f"Table 3. Performance in finding each variable in a note, with {confidence}.",
            ["variable", "precision", "recall", "F1"],
            [(_named(line), *_rates(line["presence"])) for line in lines],
        ),
        _performance_figure(lines),
        TableBlock(
            f"Table 4. Performance in marking the words, by character, with {confidence}. "
            "A value without interval did not vary from note to note.",
            ["variable", "precision", "recall", "F1", "F1 of exact spans"],
            [
                (_named(line), *_rates(line["characters"]),
                 point(line["spans_exact"]["f1"]))
                for line in lines
            ],
        ),
        *_ceiling(lines),
        *_ceiling_figure(facts, lines),
    ]  # fmt: skip


def _named(line: VariableResult | VariableAgreement) -> str:
    primary = " (primary variable)" if line["role"] == "primary" else ""
    return f"{line['variable']}{primary}"


def _rates(found: Rates) -> tuple[Estimate, ...]:
    """Return precision, recall and F1."""
    return tuple(point(found[name]) for name in ("precision", "recall", "f1"))


def _agreement(facts: Facts) -> list[Block]:
    found = facts.collect["agreement"]
    if not found["variables"]:
        return [Paragraph("No note was annotated twice, so agreement is unknown.")]
    low, undefined = found["low"], found.get("undefined", [])
    said = (
        f"Agreement was below {found['threshold']:g} for {', '.join(low)}; the annotators may "
        "have had difficulties with these, or the guidelines do not describe them well enough."
        if low
        else f"Agreement was at least {found['threshold']:g} for every variable anybody marked."
    )
    if undefined:
        said += f" It is undefined for {', '.join(undefined)}, which nobody marked."
    return [
        TableBlock(
            f"Table 2. Agreement of annotators on {found['notes']:,} notes, with "
            f"{found['confidence']:.0%} interval.",
            ["variable", "notes", "both", "only one", "presence F1", "kappa", "characters F1"],
            [
                (_named(line), line["notes"], line["both"],
                 line["first_only"] + line["second_only"], point(line["presence_f1"]),
                 line["presence_kappa"], point(line["characters_f1"]))
                for line in found["variables"]
            ],
        ),
        Paragraph(said),
    ]  # fmt: skip


def _sentence(facts: Facts) -> Paragraph:
    width = facts.evaluate["width"]
    primary = next(v for v in facts.evaluate["variables"] if v["role"] == "primary")
    precision, recall, _ = _rates(primary["presence"])
    return Paragraph(
        f"For the primary variable, {primary['variable']}, precision was {precision} and recall "
        f"{recall}. The half widths ({half_widths(width)}) "
        f"{'meet' if width['met'] else 'do not both meet'} the planned ±{width['planned']:g}."
    )


def _performance_figure(lines: list[VariableResult]) -> Figure:
    rows = tuple(
        ForestRow(
            _named(line),
            _rates(line["presence"]),
            f"n = {line['notes']:,}",
        )
        for line in lines
    )
    words = "Precision, recall and F1 of presence for each variable, with intervals."
    svg = forest_plot(
        [ForestGroup("", rows)], ["precision", "recall", "F1"],
        Labels("Performance by variable", "value", description=words),
    )  # fmt: skip
    return Figure("performance", svg, words)


def _ceiling(lines: list[VariableResult]) -> list[Block]:
    compared = [(line, ceiling) for line in lines if (ceiling := line.get("ceiling"))]
    if not compared:
        return []
    table = TableBlock(
        "Table 5. The system's F1 beside the annotators' on the notes annotated twice (without "
        "weights); the difference is system minus annotators.",
        ["variable", "notes", "presence: system", "annotators", "difference",
         "characters: system", "annotators", "difference"],
        [
            (_named(line), ceiling["presence"]["notes"],
             *(cell for kind in ("presence", "characters")
               for cell in (ceiling[kind]["system_f1"], ceiling[kind]["ceiling_f1"],
                            point(ceiling[kind]["difference"]))))
            for line, ceiling in compared
        ],
    )  # fmt: skip
    below = [
        line["variable"] for line, ceiling in compared
        if point(ceiling["characters"]["difference"]).high < 0
    ]  # fmt: skip
    said = (
        f"By characters the system stays below its annotators for {', '.join(below)}: the whole "
        "interval of the difference is negative."
        if below
        else "By characters the system is not clearly below its annotators for any variable."
    )
    return [table, Paragraph(said)]


def _ceiling_figure(facts: Facts, lines: list[VariableResult]) -> list[Block]:
    humans = {v["variable"]: v for v in facts.collect["agreement"]["variables"]}
    rows = tuple(
        ForestRow(
            _named(line),
            (point(line["characters"]["f1"]), point(humans[line["variable"]]["characters_f1"])),
        )
        for line in lines
        if line["variable"] in humans
    )
    if not rows:
        return []
    words = "F1 by character of the system (weighted) and of the annotators against each other."
    svg = forest_plot(
        [ForestGroup("", rows)], ["system", "annotators"],
        Labels("The system and its ceiling", "F1 of characters", description=words),
    )  # fmt: skip
    return [Figure("ceiling", svg, words)]
