"""``rubricate study``: the five phases of a study, one command per step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.options import json_option, overwrite_option, rubric_option
from rubricate.cli.output import print_json, print_table
from rubricate.cli.study_results import (
    EPILOG,
    folder_argument,
    open_study,
    study_command,
    tell,
    three_numbers,
)
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.study.summaries import (
        AssignSummary,
        CollectSummary,
        CurateSummary,
        PlanSummary,
        PopulationSummary,
        SampleSummary,
    )


@study_command.command("new", epilog=EPILOG)
@click.argument("folder", metavar="FOLDER")
@click.option("--corpus", default="", help="The notes: a path, or an embedded corpus.")
@rubric_option
@click.option("--name", default="", help="Name of the study; the folder's unless given.")
@click.option("--example", is_flag=True, help="A fictional study at six hospitals instead.")
@json_option
def new_command(
    folder: str, corpus: str, rubric: Path | None, name: str, example: bool, as_json: bool
) -> None:
    """Make FOLDER with a commented study.toml to fill in."""
    import os

    from rubricate.formats import EMBEDDED
    from rubricate.study.rehearsal import write_example
    from rubricate.study.status import new_study

    if example and (corpus or name or rubric):
        raise click.UsageError("--example has notes, a rubric and a name of its own")
    if corpus and corpus not in EMBEDDED:
        # Paths in study.toml are seen from the study's folder.
        corpus = Path(os.path.relpath(corpus, folder)).as_posix()
    if example:
        written = write_example(folder)
    else:
        place = Path(os.path.relpath(rubric, folder)).as_posix() if rubric else ""
        written = new_study(folder, corpus=corpus, name=name, rubric=place)
    if as_json:
        print_json({"written": str(written)})
        return
    what = "look at it" if example else "fill it in"
    click.echo(f"wrote {written}: {what}, then run: rubricate study status {folder}")


@study_command.command("population")
@folder_argument
@overwrite_option
@json_option
def population_command(folder: str, overwrite: bool, as_json: bool) -> None:
    """Select the target population and describe it (phase 1)."""
    from rubricate.reports.tables import counted
    from rubricate.study.population import define_population

    def say(summary: PopulationSummary) -> None:
        click.echo(f"{summary['notes']:,} notes of {counted(summary['cases'], 'case')}")
        print_table(("site", "notes"), list(summary["sites"].items()))

    tell(define_population(open_study(folder), overwrite=overwrite), as_json, say)


@study_command.command("plan")
@folder_argument
@overwrite_option
@json_option
def plan_step(folder: str, overwrite: bool, as_json: bool) -> None:
    """Plan the sample size from study.toml (phase 2); selects the population if need be."""
    from rubricate.study.population import define_population
    from rubricate.study.sampling import plan_study

    study = open_study(folder)
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
    tell(result, as_json, say)


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

    tell(sample_study(open_study(folder), overwrite=overwrite), as_json, say)


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

    tell(assign_study(open_study(folder), overwrite=overwrite), as_json, say)


@study_command.command("rehearse")
@folder_argument
@click.argument("reference", metavar="CORPUS")
@click.option("--annotator", help="Whose annotations of CORPUS, if there are several.")
@click.option("--slips", type=float, default=0.05, show_default=True,
              help="Chance that a mark is missed, and that it is cut short.")  # fmt: skip
@overwrite_option
@json_option
def rehearse_step(
    folder: str, reference: str, annotator: str | None, slips: float, overwrite: bool, as_json: bool
) -> None:
    """Fill in the packages from CORPUS, to try all later steps before people annotate.

    The report says that the annotations were made by a program.
    """
    from rubricate.formats import read_corpus
    from rubricate.study.rehearsal import rehearse_study

    found = rehearse_study(
        open_study(folder),
        read_corpus(reference),
        annotator=annotator,
        slips=slips,
        overwrite=overwrite,
    )
    if as_json:
        print_json({"folder": str(found.folder), "packages": found.packages,
                    "marks": found.marks, "slips": found.slips})  # fmt: skip
        return
    click.echo(f"filled in {found.packages} packages: {found.marks:,} marks to make, "
               f"{found.slips:,} missed or cut short")  # fmt: skip
    click.echo(f"in {found.folder}")


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
            open_study(folder), returned=returned, partial=partial, overwrite=overwrite,
            progress=progress,
        )  # fmt: skip
    tell(result, as_json, _say_collected)


@study_command.command("agree")
@folder_argument
@json_option
def agree_step(folder: str, as_json: bool) -> None:
    """Show the agreement that collect measured, variable by variable (phase 4)."""
    summary = open_study(folder).need("collect")
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
            (line["variable"], line["notes"], *three_numbers(line["presence_f1"]),
             *three_numbers(line["characters_f1"]))
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
        open_study(folder),
        decisions=decisions,
        allow_undecided=allow_undecided,
        overwrite=overwrite,
    )
    tell(result, as_json, say)


# The commands of phase 5 come after those above, as they are listed.
from rubricate.cli import study_results  # noqa: E402, F401
