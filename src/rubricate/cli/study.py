"""``rubricate study``: the five phases of a study, one command per step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from rubricate.cli.measuring import TableName, proportion_methods
from rubricate.cli.options import json_option, overwrite_option, rubric_option
from rubricate.cli.output import print_json, print_table
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.stats import EstimateJson
    from rubricate.study.record import StepResult, Study
    from rubricate.study.summaries import (
        AssignSummary,
        CollectSummary,
        CurateSummary,
        EvaluateSummary,
        PlanSummary,
        PopulationSummary,
        SampleSummary,
    )

EPILOG = """
Example: rubricate study new asthma --corpus open-notes
"""

S = TypeVar("S")
folder_argument = click.argument("folder", metavar="FOLDER", default=".")


class PhaseGroup(click.Group):
    """A group that lists its commands in the order of the phases, each with an example."""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; an example is made for one that has none."""
        if cmd.epilog is None:
            cmd.epilog = f"Example: rubricate study {name or cmd.name} asthma"
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands as they were defined."""
        return list(self.commands)


@click.group("study", cls=PhaseGroup, epilog=EPILOG)
def study_command() -> None:
    """Run a study from a question to a figure that can be trusted.

    A study is a folder with study.toml and one sub-folder per phase. Every step can be run again:
    nothing happens where nothing changed, and what changed is named. In order: new, population,
    plan, sample, assign, collect, curate, evaluate, report; status says which comes next.
    """


@study_command.command("new", epilog=EPILOG)
@click.argument("folder", metavar="FOLDER")
@click.option("--corpus", default="", help="The notes: a path, or an embedded corpus.")
@rubric_option
@click.option("--name", default="", help="Name of the study; the folder's unless given.")
@json_option
def new_command(folder: str, corpus: str, rubric: Path | None, name: str, as_json: bool) -> None:
    """Make FOLDER with a commented study.toml to fill in."""
    import os

    from rubricate.formats import EMBEDDED
    from rubricate.study.template import new_study

    if corpus and corpus not in EMBEDDED:
        # Paths in study.toml are seen from the study's folder.
        corpus = Path(os.path.relpath(corpus, folder)).as_posix()
    place = Path(os.path.relpath(rubric, folder)).as_posix() if rubric else ""
    written = new_study(folder, corpus=corpus, name=name, rubric=place)
    if as_json:
        print_json({"written": str(written)})
        return
    click.echo(f"wrote {written}: fill it in, then run: rubricate study status {folder}")


def _open(folder: str) -> Study:
    from rubricate.study.record import Study

    return Study.open(folder)


def _tell(result: StepResult[S], as_json: bool, say: Callable[[S], None]) -> None:
    """Print what a step says, as JSON or in words."""
    if as_json:
        print_json(
            {"step": result.step, "changed": result.changed, "folder": str(result.folder),
             "summary": result.summary}
        )  # fmt: skip
        return
    if not result.changed:
        click.echo(f"{result.step}: nothing changed since the last run")
    say(result.summary)
    _warn_of_stale(result)
    click.echo(f"in {result.folder}")


def _warn_of_stale(result: StepResult[S]) -> None:
    """Say which earlier steps are out of date."""
    from rubricate.study.record import Study
    from rubricate.study.status import stale_warnings

    for warning in stale_warnings(Study.open(str(result.folder.parents[1])), result.step):
        click.echo(f"warning: {warning}", err=True)


@study_command.command("population")
@folder_argument
@overwrite_option
@json_option
def population_command(folder: str, overwrite: bool, as_json: bool) -> None:
    """Select the target population and describe it (phase 1)."""
    from rubricate.study.population import define_population

    def say(summary: PopulationSummary) -> None:
        click.echo(f"{summary['notes']:,} notes of {summary['cases']:,} cases")
        print_table(("site", "notes"), list(summary["sites"].items()))

    _tell(define_population(_open(folder), overwrite=overwrite), as_json, say)


@study_command.command("plan")
@folder_argument
@overwrite_option
@json_option
def plan_step(folder: str, overwrite: bool, as_json: bool) -> None:
    """Plan the sample size from study.toml (phase 2); selects the population if need be."""
    from rubricate.study.population import define_population
    from rubricate.study.sampling import plan_study

    study = _open(folder)
    define_population(study, overwrite=overwrite)

    def say(summary: PlanSummary) -> None:
        each = summary["per_site"]
        print_table(
            ("notes", "positives", "negatives", "total"),
            [
                ("all", summary["positives"], summary["negatives"], summary["total"]),
                ("each site", each["positives"], each["negatives"], each["total"]),
            ],
        )
        for warning in summary["warnings"]:
            click.echo(f"note: {warning}", err=True)

    with shown_progress() as progress:
        result = plan_study(study, overwrite=overwrite, progress=progress)
    _tell(result, as_json, say)


@study_command.command("sample")
@folder_argument
@overwrite_option
@json_option
def sample_step(folder: str, overwrite: bool, as_json: bool) -> None:
    """Draw the planned sample, every note with its inclusion probability (phase 2)."""
    from rubricate.study.sampling import SIDES, sample_study

    def say(summary: SampleSummary) -> None:
        lines = [
            (side, summary["wanted"][side], summary["drawn"][side], summary["shortfall"][side])
            for side in SIDES
        ]
        print_table(("side", "planned", "drawn", "missing"), lines)
        if any(summary["shortfall"].values()):
            click.echo(
                "note: the population holds fewer notes than planned; all of them were taken, "
                "with probability 1, and intervals will be wider than planned", err=True,
            )  # fmt: skip

    _tell(sample_study(_open(folder), overwrite=overwrite), as_json, say)


@study_command.command("assign")
@folder_argument
@overwrite_option
@json_option
def assign_step(folder: str, overwrite: bool, as_json: bool) -> None:
    """Write each annotator's folder: blind notes in batches, guidelines, labels (phase 3)."""
    from rubricate.study.assignment import assign_study

    def say(summary: AssignSummary) -> None:
        print_table(
            ("annotator", "training", "double", "single"),
            [
                (who, *(counts.get(kind, 0) for kind in ("training", "double", "single")))
                for who, counts in summary["by_annotator"].items()
            ],
        )
        if summary["notes"]["training"] < summary["wanted_training"]:
            click.echo(
                f"note: only {summary['notes']['training']} notes outside the sample are left "
                "for training", err=True,
            )  # fmt: skip

    _tell(assign_study(_open(folder), overwrite=overwrite), as_json, say)


@study_command.command("collect")
@folder_argument
@click.option("--returned", metavar="DIR", help="Where annotators' folders came back.")
@click.option("--partial", is_flag=True, help="Go on although notes are missing.")
@overwrite_option
@json_option
def collect_step(
    folder: str, returned: str | None, partial: bool, overwrite: bool, as_json: bool
) -> None:
    """Read what annotators sent back and measure their agreement (phase 4)."""
    from rubricate.study.collection import collect_study

    with shown_progress() as progress:
        result = collect_study(
            _open(folder), returned=returned, partial=partial, overwrite=overwrite,
            progress=progress,
        )  # fmt: skip
    _tell(result, as_json, _say_collected)


@study_command.command("agree")
@folder_argument
@json_option
def agree_step(folder: str, as_json: bool) -> None:
    """Show the agreement that collect measured, variable by variable (phase 4)."""
    summary = _open(folder).need("collect")
    if as_json:
        print_json(summary["agreement"])
        return
    _say_collected(summary)


def _say_collected(summary: CollectSummary) -> None:
    agreement = summary["agreement"]
    click.echo(f"{summary['judgements']:,} notes read, {len(summary['missing']):,} missing")
    if not agreement["variables"]:
        click.echo("no note was annotated twice, so agreement is unknown")
        return
    print_table(
        ("variable", "notes", "presence F1", "from", "to", "characters F1", "from", "to"),
        [
            (line["variable"], line["notes"], *_three(line["presence_f1"]),
             *_three(line["characters_f1"]))
            for line in agreement["variables"]
        ],
    )  # fmt: skip
    for name in agreement["undefined"]:
        click.echo(f"warning: nobody marked {name!r}, so agreement on it is unknown", err=True)
    for name in agreement["low"]:
        click.echo(
            f"warning: agreement on {name!r} is below {agreement['threshold']:g}; look at the "
            "guidelines before you trust its reference", err=True,
        )  # fmt: skip


def _three(estimate: EstimateJson) -> tuple[float | None, float | None, float | None]:
    return estimate["value"], estimate["low"], estimate["high"]


@study_command.command("curate")
@folder_argument
@click.option("--decisions", metavar="FILE", help="The curator's decisions (CSV).")
@click.option("--allow-undecided", is_flag=True, help="Leave undecided rows out.")
@overwrite_option
@json_option
def curate_step(
    folder: str, decisions: str | None, allow_undecided: bool, overwrite: bool, as_json: bool
) -> None:
    """Settle disagreements by rule and by decision, and write the reference (phase 4)."""
    from rubricate.study.decisions import curate_study

    def say(summary: CurateSummary) -> None:
        print_table(("decided by", "rows"), list(summary["decided_by"].items()))
        if summary["undecided"]:
            click.echo(f"warning: {summary['undecided']:,} rows are undecided", err=True)

    result = curate_study(
        _open(folder), decisions=decisions, allow_undecided=allow_undecided, overwrite=overwrite
    )
    _tell(result, as_json, say)


@study_command.command("evaluate")
@folder_argument
@click.option("--unweighted", is_flag=True, help="Without design weights, where that is right.")
@overwrite_option
@json_option
def evaluate_step(folder: str, unweighted: bool, overwrite: bool, as_json: bool) -> None:
    """Measure the system against the reference, weighted by design (phase 5)."""
    from rubricate.study.evaluation import evaluate_study, half_widths

    def say(summary: EvaluateSummary) -> None:
        lines = [
            (line["variable"], line["notes"],
             *(v for name in ("precision", "recall", "f1")
               for v in _three(line["presence"][name])))
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
        for warning in summary["warnings"]:
            click.echo(f"warning: {warning}", err=True)

    with shown_progress() as progress:
        result = evaluate_study(
            _open(folder), unweighted=unweighted, overwrite=overwrite, progress=progress
        )
    _tell(result, as_json, say)


@study_command.command("report")
@folder_argument
@overwrite_option
@json_option
def report_step(folder: str, overwrite: bool, as_json: bool) -> None:
    """Write the study as Methods and Results: one HTML page, and Markdown (phase 5)."""
    from rubricate.study.report import report_study

    with shown_progress() as progress:
        result = report_study(_open(folder), overwrite=overwrite, progress=progress)
    _tell(result, as_json, lambda summary: click.echo(", ".join(summary["files"])))


@study_command.command("status")
@folder_argument
@json_option
def status_step(folder: str, as_json: bool) -> None:
    """Say what is done and which command comes next."""
    from rubricate.study.status import study_status

    status = study_status(_open(folder))
    if as_json:
        print_json(status.to_dict())
        return
    print_table(("step", "state", "when"), [(s.step, s.state, s.time) for s in status.steps])
    click.echo(status.advice)
    if status.command:
        click.echo(f"next: {status.command}")


@study_command.command("audit", epilog="Example: rubricate study audit table3.csv")
@click.argument("table", metavar="TABLE.csv")
@click.option("--interval", "method", default="clopper-pearson", show_default=True,
              type=TableName(proportion_methods, check=False))  # fmt: skip
@click.option("--confidence", type=float, default=0.95, show_default=True)
@click.option("--decimals", type=int, help="Decimals printed; by default each column's longest.")
@click.option("--fail", is_flag=True, help="Exit with 1 where a cell is flagged.")
@json_option
def audit_step(
    table: str, method: str, confidence: float, decimals: int | None, fail: bool, as_json: bool
) -> None:
    """Recompute published precision, recall and F1 from counts; flag impossible cells.

    Columns: a name; tp, detections, manual (or tp, fp, fn); and any of precision, recall, f1,
    each with _low and _high, as printed.
    """
    from rubricate.study.audit import audit_table

    audit = audit_table(table, method=method, confidence=confidence, decimals=decimals)
    if as_json:
        print_json(audit.to_dict())
    else:
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
    if fail and audit.flagged:
        raise SystemExit(1)
