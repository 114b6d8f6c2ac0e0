"""``rubricate study``: the group, and phase 5 with the audit of a published table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from rubricate.cli.measuring import TableName, proportion_methods
from rubricate.cli.options import json_option, overwrite_option
from rubricate.cli.output import print_json, print_table
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.stats import EstimateJson
    from rubricate.study.record import StepResult, Study
    from rubricate.study.summaries import EvaluateSummary

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


def open_study(folder: str) -> Study:
    """Read the study in a folder."""
    from rubricate.study.record import Study

    return Study.open(folder)


def tell(result: StepResult[S], as_json: bool, say: Callable[[S], None]) -> None:
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


def three_numbers(estimate: EstimateJson) -> tuple[float | None, float | None, float | None]:
    """Return a value and its limits."""
    return estimate["value"], estimate["low"], estimate["high"]


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
        for warning in summary["warnings"]:
            click.echo(f"warning: {warning}", err=True)

    with shown_progress() as progress:
        result = evaluate_study(
            open_study(folder), unweighted=unweighted, overwrite=overwrite, progress=progress
        )
    tell(result, as_json, say)


@study_command.command("report")
@folder_argument
@overwrite_option
@json_option
def report_step(folder: str, overwrite: bool, as_json: bool) -> None:
    """Write the study as Methods and Results: one HTML page, and Markdown (phase 5)."""
    from rubricate.study.report import report_study

    with shown_progress() as progress:
        result = report_study(open_study(folder), overwrite=overwrite, progress=progress)
    tell(result, as_json, lambda summary: click.echo(", ".join(summary["files"])))


@study_command.command("status")
@folder_argument
@json_option
def status_step(folder: str, as_json: bool) -> None:
    """Say what is done and which command comes next."""
    from rubricate.study.status import study_status

    status = study_status(open_study(folder))
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
