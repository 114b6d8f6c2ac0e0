"""``rubricate evaluate``: measure predictions against a reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Option, Source, verb
from rubricate.cli.measuring import (
    cluster_option,
    matching_options,
    measuring_options,
    print_measures,
    shown,
    shown_population,
    warn_of_lone_labels,
)
from rubricate.cli.options import Choice, check_report, input_hashes, open_corpus, report_option
from rubricate.cli.output import Answer, print_table, warn
from rubricate.display import counted, shown_number, shown_p
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.evaluation import Evaluation, Matching
    from rubricate.evaluation.pairing import Missing, Unknown
    from rubricate.evaluation.probabilities import CalibrationResult
    from rubricate.evaluation.systems import BelowCeiling, SystemsEvaluation
    from rubricate.formats.options import ReadOptions
    from rubricate.stats import Resampling

EPILOG = """
Example: rubricate evaluate open-notes open-notes --predicted-annotator second_rater --missing skip
"""


@verb("evaluate", epilog=EPILOG)
@click.argument("reference_path", metavar="REFERENCE", type=Source())
@click.argument("predicted_paths", metavar="PREDICTED...", type=Source(), nargs=-1, required=True)
@click.option("--reference-annotator", help="Annotator in REFERENCE to compare with.")
@click.option("--predicted-annotator", help="Annotator in PREDICTED to measure.")
@click.option(
    "--missing", type=Choice(["empty", "error", "skip"]), default="empty", show_default=True,
    help="Rows without a prediction: count as nothing found (empty), stop (error), or leave out "
    "(skip).",
)  # fmt: skip
@click.option(
    "--unknown", type=Choice(["error", "skip"]), default="error", show_default=True,
    help="Predicted notes or items that REFERENCE does not have, as in the reference of a study: "
    "stop (error), or leave them out (skip).",
)  # fmt: skip
@matching_options
@click.option(
    "--weights",
    metavar="NAME",
    help="Metadata field of the notes with their inclusion probabilities.",
)
@click.option(
    "--ceiling",
    "ceiling_path",
    metavar="CORPUS",
    type=Source(),
    help="Corpus whose inter-annotator agreement is shown for comparison.",
)
@click.option(
    "--margin",
    cls=Option,
    section="Statistics",
    type=float,
    help="Test whether a system is worse than the annotators, or than the first system, by more "
    "than this margin.",
)
@cluster_option
@report_option()
@click.option("--predicted-format", "predicted_from", cls=Option, formerly=["--predicted-from"],
              metavar="FORMAT", help="Format of PREDICTED. Default: detect it.")  # fmt: skip
@measuring_options
def evaluate_command(
    reference_path: str,
    predicted_paths: tuple[str, ...],
    *,
    reference_annotator: str | None,
    predicted_annotator: str | None,
    missing: Missing,
    unknown: Unknown,
    matching: Matching,
    weights: str | None,
    ceiling_path: str | None,
    margin: float | None,
    cluster: str | None,
    report: Path | None,
    predicted_from: str | None,
    where: tuple[str, ...],
    how: ReadOptions,
    settings: Resampling,
    overwrite: bool,
) -> Answer:
    """Measure one or more PREDICTED corpora against REFERENCE, with intervals by note.

    Every format can be read, also a submission.csv. Both sides must contain the same notes. With
    several systems, each is compared with the first one.
    """
    from rubricate.evaluation.systems import evaluate_systems
    from rubricate.formats import read_path
    from rubricate.formats.notes import keep_where
    from rubricate.merge import share_labels

    check_report(report, overwrite=overwrite)
    if margin is not None and ceiling_path is None and len(predicted_paths) < 2:
        raise click.UsageError("--margin needs --ceiling or several PREDICTED to compare with")

    whole = open_corpus(reference_path, how=how)
    reference = keep_where(whole, where) if where else whole
    left_out = whole.note_index.keys() - reference.note_index.keys()
    # A system goes by the stem of its path, or by the whole path where stems repeat.
    names = [Path(path).stem for path in predicted_paths]
    if len(set(names)) < len(names):
        names = list(predicted_paths)
    if len(set(names)) < len(names):
        raise click.UsageError("the same PREDICTED is given twice")
    predicted = {}
    for name, path in zip(names, predicted_paths, strict=True):
        # A prediction is about the whole corpus; the notes that are measured are kept.
        own = read_path(path, replace(how, format=predicted_from or "", like=whole))
        predicted[name] = (
            own.select(notes=lambda note: note.id not in left_out) if left_out else own
        )
    reference, *known = share_labels([reference, *predicted.values()])
    predicted = dict(zip(predicted, known, strict=True))
    warn_of_lone_labels(reference, *known)
    ceiling = None
    if ceiling_path:
        ceiling = open_corpus(ceiling_path, replace(how, format=""), where=where)
    with shown_progress() as progress:
        found = evaluate_systems(
            reference,
            predicted,
            reference_annotator=reference_annotator,
            predicted_annotator=predicted_annotator,
            missing=missing,
            unknown=unknown,
            matching=matching,
            weights=weights,
            ceiling=ceiling,
            settings=settings,
            cluster=cluster,
            margin=margin,
            progress=progress,
        )
    for path, system in zip(predicted_paths, found.systems.values(), strict=True):
        if path == reference_path and system.predicted_annotator == system.reference_annotator:
            warn(f"{path} is measured against itself")
    if report:
        from rubricate.reports.blocks import save_report
        from rubricate.reports.evaluation import evaluation_report

        inputs = input_hashes((reference_path, *predicted_paths))
        with shown_progress() as progress:
            made = evaluation_report(
                found.systems, reference, predicted,
                ceiling=found.ceiling, inputs=inputs, progress=progress,
            )  # fmt: skip
        report = save_report(report, made, overwrite=overwrite)
    return Answer(found.to_dict, lambda: _print(found, report))


def _print(found: SystemsEvaluation, report: Path | None) -> None:
    for name, system in found.systems.items():
        if len(found.systems) > 1:
            click.echo(f"\n{name}")
        _print_system(system, found.below.get(name, {}))
    if found.comparisons:
        click.echo()
        print_table(
            ("compared", "measure", "difference", "interval", "p"),
            [
                (f"{c.first} - {c.second}", what, c.differences[what,].difference.value,
                 shown(c.differences[what,].difference),
                 shown_p(c.differences[what,].p_value))
                for c in found.comparisons
                for what in ("characters", "presence")
            ],
        )  # fmt: skip
    for (name, what), test in found.margins.items():
        verdict = "shown" if test.non_inferior else "not shown"
        both = "shown" if test.equivalent else "not shown"
        click.echo(
            f"{name}, {what}: not worse by more than {test.margin:g}: {verdict} "
            f"(p {shown_p(test.p_non_inferior)}); within {test.margin:g}: {both} "
            f"(p {shown_p(test.p_equivalent)})"
        )
    if report:
        click.echo(f"report: {report}")


def _print_system(system: Evaluation, below: Mapping[str, BelowCeiling]) -> None:
    """Print what one system reached, and how far below the annotators it stays."""
    click.echo(system.decisions())
    tp, fp, fn, tn = system.presence.values.sum(axis=0).tolist()
    print_table(
        ("decisions", "found", "not found"),
        [("stated in the reference", tp, fn), ("not stated in the reference", fp, tn)],
    )
    click.echo()
    click.echo(
        f"{counted(system.coverage.n_notes, 'note')}, "
        f"{counted(system.coverage.n_rows, 'row')}; "
        f"{system.predicted_annotator} against {system.reference_annotator}; "
        f"spans {system.protocol} by {system.unit}; "
        f"{system.settings.confidence:.0%} intervals by {system.drawn_unit}, "
        + shown_population(system.settings, len(system.characters.by("case")))
    )
    print_measures(system)
    everything = system.all_present_f1()
    if everything == everything:
        click.echo(f"marking every feature present would give presence F1 {everything:.3f}")
    if system.calibration is not None:
        _print_calibration(system, system.calibration)
    warn(*system.warnings())
    for what, one in below.items():
        click.echo(
            f"{what}: {shown_number(one.difference.value, '+.3f')} ({shown(one.difference)}) from "
            f"the annotators' own F1 of {shown_number(one.ceiling.value)} ({shown(one.ceiling)}; "
            f"{counted(one.ceiling_notes, 'note')})"
        )


def _print_calibration(system: Evaluation, found: CalibrationResult) -> None:
    """Print how well predicted probabilities are calibrated, and how well they rank rows."""
    n_rows, rows = found.overall.n_rows, system.coverage.n_rows
    some = f" of {n_rows:,} rows" if n_rows < rows else ""
    brier, skill, ece = (found.estimates[name] for name in ("brier", "brier_skill", "ece"))
    gained = f", skill {skill.value:.3f}" if skill.is_defined else ""
    ranking = system.ranking
    if ranking is not None:
        click.echo(
            f"probabilities{some}: area under the ROC curve {ranking.auc.value:.3f} "
            f"({shown(ranking.auc)}), average precision {ranking.average_precision.value:.3f} "
            f"({shown(ranking.average_precision)})"
        )
    click.echo(
        f"probabilities{some}: Brier {brier.value:.3f} ({shown(brier)}){gained}; "
        f"ECE {ece.value:.3f} ({shown(ece)}), by chance {found.overall.ece_by_chance:.3f}"
    )
