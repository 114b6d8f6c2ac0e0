"""``rubricate study``, phase 5: evaluate, report, status, and the audit of a published table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rubricate.cli.measuring import TableName, proportion_methods
from rubricate.cli.options import json_option, overwrite_option
from rubricate.cli.output import print_json, print_table
from rubricate.cli.study_group import (
    folder_argument,
    open_study,
    study_command,
    tell,
    three_numbers,
)
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.study.summaries import EvaluateSummary


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
