"""``rubricate study``: the five phases of a study, one command per step."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli import PhaseGroup
from rubricate.cli.command import Source
from rubricate.cli.measuring import TableName
from rubricate.cli.options import F, confidence_option, overwrite_option, rubric_option
from rubricate.cli.output import Answer, answering, in_words, inform, print_table, warn
from rubricate.display import counted
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.stats import EstimateJson
    from rubricate.study import summaries
    from rubricate.study.record import StepResult, Study

EPILOG = """
Example: rubricate study new asthma --corpus open-notes
"""

#: What a step gives, and how its summary is said to people.
Done = tuple["StepResult[Any]", Callable[[Any], None]]
folder_argument = click.argument("folder", metavar="FOLDER", default=".")


@click.group("study", cls=PhaseGroup, epilog=EPILOG)
def study_command() -> None:
    """Run a study in five phases, from a question to a report.

    A study is a folder with study.toml and one subfolder per phase. You can run every step again:
    only what changed is computed. The order is new, population, plan, sample, assign, collect,
    curate, evaluate, report. The command status shows the next step.
    """


def step(name: str, *own: Callable[[F], F]) -> Callable[[Callable[..., Done]], click.Command]:
    """Make a command of a function from a study to a step's result and how it is said.

    It also says which steps before it are out of date.
    """

    def decorate(work: Callable[..., Done]) -> click.Command:
        @functools.wraps(work)
        def command(folder: str, **given: Any) -> Answer:
            from rubricate.study.record import Study

            study = Study.open(folder)
            result, say_summary = work(study, **given)

            def say() -> None:
                from rubricate.study.status import stale_warnings

                if not result.changed:
                    click.echo(f"{result.step}: nothing changed since the last run")
                say_summary(result.summary)
                warn(*stale_warnings(study, result.step))
                click.echo(f"in {result.folder}")

            where = {"changed": result.changed, "folder": str(result.folder)}
            return Answer({"step": result.step, **where, "summary": result.summary}, say)

        made: Callable[..., Any] = command
        for option in (answering, overwrite_option, *reversed(own), folder_argument):
            made = option(made)
        return study_command.command(name)(made)

    return decorate


def three_numbers(estimate: EstimateJson) -> tuple[float | None, float | None, float | None]:
    """Return a value and its limits."""
    return estimate["value"], estimate["low"], estimate["high"]


@study_command.command("new", epilog=EPILOG)
@click.argument("folder", metavar="FOLDER")
@click.option(
    "--corpus", default="", type=Source(), help="Notes of the study: a path, or an embedded corpus."
)
@rubric_option
@click.option("--name", default="", help="Name of the study. Default: the name of the folder.")
@click.option("--example", is_flag=True, help="Write a fictional study at six hospitals instead.")
@answering
def new_command(folder: str, corpus: str, rubric: Path | None, name: str, example: bool) -> Answer:
    """Make FOLDER with a commented study.toml to fill in."""
    from rubricate.formats import EMBEDDED
    from rubricate.study.rehearsal import write_example
    from rubricate.study.status import new_study

    if example and (corpus or name or rubric):
        raise click.UsageError(
            "--example cannot be used with --corpus, --rubric or --name, because it has its own."
        )
    if corpus and corpus not in EMBEDDED:
        # Paths in study.toml are seen from the study's folder.
        corpus = Path(os.path.relpath(corpus, folder)).as_posix()
    if example:
        written = write_example(folder)
    else:
        place = Path(os.path.relpath(rubric, folder)).as_posix() if rubric else ""
        written = new_study(folder, corpus=corpus, name=name, rubric=place)
    what = "Look at it" if example else "Fill it in"
    words = f"wrote {written}. {what}, then run: rubricate study status {folder}"
    return in_words({"written": str(written)}, words)


@step("population")
def population_command(study: Study, *, overwrite: bool) -> Done:
    """Select the target population and describe it (phase 1)."""
    from rubricate.study.population import define_population

    def say(summary: summaries.PopulationSummary) -> None:
        click.echo(f"{counted(summary['notes'], 'note')} of {counted(summary['cases'], 'case')}")
        print_table(("site", "notes"), list(summary["sites"].items()))

    return define_population(study, overwrite=overwrite), say


@step("plan")
def plan_step(study: Study, *, overwrite: bool) -> Done:
    """Plan the sample size from study.toml, and select the population if necessary (phase 2)."""
    from rubricate.study.population import define_population
    from rubricate.study.sampling import plan_study

    define_population(study, overwrite=overwrite)

    def say(summary: summaries.PlanSummary) -> None:
        each = summary["per_site"]
        print_table(
            ("notes", "positives", "negatives", "total"),
            [
                ("all", summary["positives"], summary["negatives"], summary["total"]),
                ("each site", each["positives"], each["negatives"], each["total"]),
            ],
        )
        inform(*summary["warnings"])

    with shown_progress() as progress:
        return plan_study(study, overwrite=overwrite, progress=progress), say


@step("sample")
def sample_step(study: Study, *, overwrite: bool) -> Done:
    """Draw the planned sample, with an inclusion probability for every note (phase 2)."""
    from rubricate.study.sampling import SIDES, sample_study

    def say(summary: summaries.SampleSummary) -> None:
        lines = [
            (side, summary["wanted"][side], summary["drawn"][side], summary["shortfall"][side])
            for side in SIDES
        ]
        print_table(("side", "planned", "drawn", "missing"), lines)
        if any(summary["shortfall"].values()):
            inform(
                "the population holds fewer notes than planned; all of them were taken, with "
                "probability 1, and intervals will be wider than planned"
            )

    return sample_study(study, overwrite=overwrite), say


@step("assign")
def assign_step(study: Study, *, overwrite: bool) -> Done:
    """Write a folder for each annotator with blind notes, guidelines and labels (phase 3)."""
    from rubricate.study.assignment import assign_study

    def say(summary: summaries.AssignSummary) -> None:
        print_table(
            ("annotator", "training", "double", "single"),
            [
                (who, *(counts.get(kind, 0) for kind in ("training", "double", "single")))
                for who, counts in summary["by_annotator"].items()
            ],
        )
        if summary["notes"]["training"] < summary["wanted_training"]:
            left = summary["notes"]["training"]
            inform(f"only {left} notes outside the sample are left for training")

    return assign_study(study, overwrite=overwrite), say


@study_command.command("simulate")
@folder_argument
@click.argument("reference", metavar="CORPUS", type=Source())
@click.option("--annotator", help="Annotator in CORPUS, if there are several.")
@click.option("--slips", type=float, default=0.05, show_default=True,
              help="Probability that a mark is missed, and that it is cut short.")  # fmt: skip
@overwrite_option
@answering
def simulate_step(
    folder: str, reference: str, annotator: str | None, slips: float, overwrite: bool
) -> Answer:
    """Fill in the annotators' packages from CORPUS, to try all later steps (phase 3).

    The report says that a program made the annotations.
    """
    from rubricate.formats import read_corpus
    from rubricate.study.record import Study
    from rubricate.study.rehearsal import rehearse_study

    found = rehearse_study(
        Study.open(folder),
        read_corpus(reference),
        annotator=annotator,
        slips=slips,
        overwrite=overwrite,
    )
    words = (
        f"filled in {found.packages} packages: {found.marks:,} marks to make, "
        f"{found.slips:,} missed or cut short\nin {found.folder}"
    )
    return in_words({**asdict(found), "folder": str(found.folder)}, words)


@step(
    "collect",
    click.option(
        "--returned",
        metavar="DIR",
        type=Source(),
        help="Folder with the returned folders of the annotators.",
    ),
    click.option("--partial", is_flag=True, help="Continue although notes are missing."),
)
def collect_step(study: Study, *, returned: str | None, partial: bool, overwrite: bool) -> Done:
    """Read the annotators' files and measure their agreement (phase 4)."""
    from rubricate.study.collection import collect_study

    with shown_progress() as progress:
        result = collect_study(
            study, returned=returned, partial=partial, overwrite=overwrite, progress=progress
        )
    return result, _say_collected


@study_command.command("agree")
@folder_argument
@answering
def agree_step(folder: str) -> Answer:
    """Show the agreement that collect measured, by variable (phase 4)."""
    from rubricate.study.record import Study

    summary = Study.open(folder).need("collect")
    return Answer(summary["agreement"], lambda: _say_collected(summary))


def _say_collected(summary: summaries.CollectSummary) -> None:
    agreement = summary["agreement"]
    click.echo(
        f"{counted(summary['judgements'], 'note')} read, {len(summary['missing']):,} missing"
    )
    if not agreement["variables"]:
        click.echo("no note was annotated twice, so agreement is unknown")
        return
    print_table(
        ("variable", "notes", "presence F1", "from", "to", "characters F1", "from", "to"),
        [
            (line["variable"], line["notes"], *three_numbers(line["presence_f1"]),
             *three_numbers(line["characters_f1"]))
            for line in agreement["variables"]
        ],
    )  # fmt: skip
    for name in agreement["undefined"]:
        warn(f"nobody marked {name!r}, so agreement on it is unknown")
    for name in agreement["low"]:
        warn(
            f"agreement on {name!r} is below {agreement['threshold']:g}; look at the guidelines "
            "before you trust its reference"
        )


@step(
    "curate",
    click.option(
        "--decisions",
        metavar="FILE",
        type=Source(),
        help="File with the curator's decisions (CSV).",
    ),
    click.option("--allow-undecided", is_flag=True, help="Leave undecided rows out."),
)
def curate_step(
    study: Study, *, decisions: str | None, allow_undecided: bool, overwrite: bool
) -> Done:
    """Resolve disagreements by rule and by decision, and write the reference (phase 4)."""
    from rubricate.study.decisions import curate_study

    def say(summary: summaries.CurateSummary) -> None:
        print_table(("decided by", "rows"), list(summary["decided_by"].items()))
        if summary["undecided"]:
            warn(f"{summary['undecided']:,} rows are undecided")

    result = curate_study(
        study, decisions=decisions, allow_undecided=allow_undecided, overwrite=overwrite
    )
    return result, say


@step(
    "evaluate",
    click.option("--unweighted", is_flag=True, help="Do not use design weights."),
)
def evaluate_step(study: Study, *, unweighted: bool, overwrite: bool) -> Done:
    """Measure the system against the reference, weighted by design (phase 5)."""
    from rubricate.study.evaluation import evaluate_study, half_widths

    def say(summary: summaries.EvaluateSummary) -> None:
        lines = [
            (line["variable"], line["notes"],
             *(v for name in ("precision", "recall", "f1")
               for v in three_numbers(line["presence"][name])))
            for line in summary["variables"]
            if line["notes"]
        ]  # fmt: skip
        header = ("variable", "notes", "P", "from", "to", "R", "from", "to", "F1", "from", "to")
        print_table(header, lines)
        width = summary["width"]
        click.echo(
            f"planned ±{width['planned']:g}: {'met' if width['met'] else 'not met'} "
            f"({half_widths(width)})"
        )
        warn(*summary["warnings"])

    with shown_progress() as progress:
        result = evaluate_study(
            study, unweighted=unweighted, overwrite=overwrite, progress=progress
        )
    return result, say


@step("report")
def report_step(study: Study, *, overwrite: bool) -> Done:
    """Write Methods and Results as an HTML page and as Markdown (phase 5)."""
    from rubricate.study.report import report_study

    with shown_progress() as progress:
        result = report_study(study, overwrite=overwrite, progress=progress)
    return result, lambda summary: click.echo(", ".join(summary["files"]))


@study_command.command("status")
@folder_argument
@answering
def status_step(folder: str) -> Answer:
    """Show which steps are done and which command comes next."""
    from rubricate.study.record import Study
    from rubricate.study.status import study_status

    status = study_status(Study.open(folder))

    def say() -> None:
        print_table(("step", "state", "when"), [(s.step, s.state, s.time) for s in status.steps])
        click.echo(status.advice)
        if status.command:
            click.echo(f"next: {status.command}")

    return Answer(status.to_dict, say)


@study_command.command("check-table", epilog="Example: rubricate study check-table table3.csv")
@click.argument("table", metavar="TABLE.csv", type=Source())
@click.option("--interval", "method", default="clopper-pearson", show_default=True,
              type=TableName("METHODS", check=False), help="Kind of interval.")  # fmt: skip
@confidence_option
@click.option(
    "--decimals", type=int, help="Number of printed decimals. Default: the longest of each column."
)
@click.option("--fail", is_flag=True, help="Exit with code 1 if a cell is flagged.")
@answering
def check_table_step(
    table: str, method: str, confidence: float, decimals: int | None, fail: bool
) -> Answer:
    """Recompute published precision, recall and F1 from counts; flag impossible cells.

    The table has a column with a name and the columns tp, detections and manual (or tp, fp, fn).
    It may have precision, recall and f1, each also with _low and _high, as printed.
    """
    from rubricate.study.audit import audit_table

    audit = audit_table(table, method=method, confidence=confidence, decimals=decimals)

    def say() -> None:
        print_table(
            ("row", "P", "from", "to", "R", "from", "to", "F1", "from", "to"),
            [
                (row.name, *(row.values[f"{n}{part}"] for n in ("precision", "recall", "f1")
                             for part in ("", "_low", "_high")))
                for row in audit.rows
            ],
        )  # fmt: skip
        for cell in audit.flagged:
            click.echo(f"{cell.state}: {cell.row}, {cell.cell} {cell.printed:g}: {cell.reason}")
        click.echo(f"{len(audit.flagged)} of {len(audit.cells)} printed cells are wrong")
        click.echo(audit.assumption)

    return Answer(audit.to_dict, say, failed=fail and bool(audit.flagged))
