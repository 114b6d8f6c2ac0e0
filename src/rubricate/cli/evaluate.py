"""``rubricate evaluate``: measure predictions against a reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rubricate.cli.measuring import (
    interval_options,
    matching_options,
    print_all_present,
    print_measures,
    resampling,
    shown,
    shown_value,
)
from rubricate.cli.options import (
    from_option,
    input_hashes,
    json_option,
    keep_where,
    open_corpus,
    overwrite_option,
    split_option,
)
from rubricate.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rubricate.corpus import Corpus

EPILOG = """
Example: rubricate evaluate open-notes open-notes --predicted-annotator second_rater --missing skip
"""


@click.command("evaluate", epilog=EPILOG)
@click.argument("reference_path", metavar="REFERENCE")
@click.argument("predicted_paths", metavar="PREDICTED...", nargs=-1, required=True)
@click.option("--reference-annotator", help="Whose annotations are the reference.")
@click.option("--predicted-annotator", help="Whose annotations are measured.")
@click.option(
    "--missing",
    type=click.Choice(["empty", "error", "skip"]),
    default="empty",
    show_default=True,
    help="Rows without a prediction: nothing found, an error, or left out.",
)
@matching_options("one-to-one")
@click.option("--weights", metavar="NAME", help="Metadata field with inclusion probabilities.")
@click.option(
    "--ceiling", "ceiling_path", metavar="CORPUS", help="Annotators to take the human line from."
)
@click.option(
    "--report", metavar="DIR", type=click.Path(path_type=Path), help="Write an HTML page."
)
@click.option("--predicted-from", metavar="FORMAT", help="Format of PREDICTED, if not found.")
@split_option()
@from_option
@interval_options
@overwrite_option
@json_option
def evaluate_command(reference_path: str, predicted_paths: tuple[str, ...], **options: Any) -> None:
    """Measure one or more PREDICTED corpora against REFERENCE, with intervals by note.

    Any format will do, a submission.csv too. Both sides must speak of the same notes. With several
    systems, each is compared with the first.
    """
    from rubricate.evaluation import evaluate_systems

    whole = open_corpus(reference_path, from_format=options["from_format"])
    reference = keep_where(whole, options["where"])
    predicted = {
        name: _open_predicted(path, options["predicted_from"], whole, reference)
        for name, path in zip(_names(predicted_paths), predicted_paths, strict=True)
    }
    ceiling = None
    if options["ceiling_path"]:
        ceiling = open_corpus(options["ceiling_path"], where=options["where"])
    settings = resampling(
        options["confidence"], options["resamples"], options["interval_method"], options["seed"]
    )
    found = evaluate_systems(
        reference,
        predicted,
        reference_annotator=options["reference_annotator"],
        predicted_annotator=options["predicted_annotator"],
        missing=options["missing"],
        matching=(options["protocol"], options["unit"]),
        weights=options["weights"],
        ceiling=ceiling,
        settings=settings,
    )
    if options["report"]:
        from rubricate.reports import write_evaluation_report

        write_evaluation_report(
            options["report"],
            found.systems,
            reference,
            predicted,
            ceiling=found.ceiling,
            inputs=input_hashes((reference_path, *predicted_paths)),
            overwrite=options["overwrite"],
        )
    if options["as_json"]:
        print_json(found.to_dict())
    else:
        _print(found.to_dict(), options["report"])


def _names(paths: tuple[str, ...]) -> list[str]:
    """Return a short name for each path: its stem, or the whole path where stems repeat."""
    stems = [Path(path).stem for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    if len(set(paths)) < len(paths):
        raise click.UsageError("the same PREDICTED is given twice")
    return list(paths)


def _open_predicted(path: str, form: str | None, whole: Corpus, reference: Corpus) -> Corpus:
    """Read a prediction about the whole corpus, and keep the notes that are measured."""
    from rubricate.formats import read_corpus

    predicted = read_corpus(path, format=form, like=whole)
    if reference is whole:
        return predicted
    left_out = whole.note_index.keys() - reference.note_index.keys()
    return predicted.select(notes=lambda note: note.id not in left_out)


def _print_calibration(system: dict[str, Any]) -> None:
    """Print what predicted probabilities are worth, where there are any."""
    found = system.get("calibration")
    if found is None:
        return
    of = found["intervals"]
    some = f" of {found['n_rows']:,} rows" if found["n_rows"] < system["n_rows"] else ""
    skill = "" if found["brier_skill"] is None else f", skill {found['brier_skill']:.3f}"
    click.echo(
        f"probabilities{some}: Brier {found['brier']:.3f} ({shown(of['brier'])}){skill}; "
        f"ECE {found['ece']:.3f} ({shown(of['ece'])}), by chance {found['ece_by_chance']:.3f}"
    )


def _print(result: dict[str, Any], report: Path | None) -> None:
    systems = result.get("systems", {"": result})
    for name, system in systems.items():
        if name:
            click.echo(f"\n{name}")
        click.echo(
            f"{system['n_notes']:,} notes, {system['n_rows']:,} rows; "
            f"{system['predicted_annotator']} against {system['reference_annotator']}; "
            f"spans {system['protocol']} by {system['unit']}; "
            f"{system['intervals']['confidence']:.0%} intervals by note"
        )
        print_measures(system)
        print_all_present(system["presence"]["all_present_f1"])
        _print_calibration(system)
        for warning in system["warnings"]:
            click.echo(f"warning: {warning}", err=True)
        for what, value in system.get("below_ceiling", {}).items():
            click.echo(
                f"{what}: {shown_value(value['difference'], '+.3f')} "
                f"({shown(value['interval'])}) from the annotators' own F1 of "
                f"{shown_value(value['ceiling'])}"
            )
    if "comparisons" in result:
        click.echo()
        print_table(
            ("compared", "measure", "difference", "interval", "p"),
            [
                (f"{c['first']} - {c['second']}", what, v["difference"], shown(v["interval"]),
                 shown_value(v["p_value"], ".4f"))
                for c in result["comparisons"]
                for what, v in (("characters", c["characters"]), ("presence", c["presence"]))
            ],
        )  # fmt: skip
    if report:
        click.echo(f"report: {report / 'index.html'}")
