"""``rubricate agree``: measure how far annotators agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rubricate.cli.measuring import (
    interval_options,
    matching_options,
    print_measures,
    resampling,
    shown,
    shown_value,
)
from rubricate.cli.options import (
    from_option,
    input_hashes,
    json_option,
    keep_annotators,
    keep_where,
    open_corpus,
    overwrite_option,
    split_option,
)
from rubricate.cli.output import print_json, print_table

#: What ``--empty`` does, in words.
_EMPTY = {
    "zero": "who marked nothing scores 0",
    "agree": "two who both marked nothing score 1",
    "skip": "rows in which somebody marked nothing are left out",
}
EPILOG = """
Example: rubricate agree open-notes --where part=depth
"""


@click.command("agree", epilog=EPILOG)
@click.argument("paths", metavar="CORPUS...", nargs=-1, required=True)
@click.option("--annotator", "annotators", multiple=True, help="Only these annotators.")
@matching_options("paper")
@click.option(
    "--empty",
    type=click.Choice(["zero", "agree", "skip"]),
    default="zero",
    show_default=True,
    help="Per-note spans where somebody marked nothing: 0, 1 if both did, or left out.",
)
@click.option("--reference-group", help="The group that is the reference across groups.")
@click.option(
    "--report", metavar="DIR", type=click.Path(path_type=Path), help="Write an HTML page."
)
@split_option()
@from_option
@interval_options
@overwrite_option
@json_option
def agree_command(paths: tuple[str, ...], **options: Any) -> None:
    """Measure agreement among the annotators of a CORPUS, or of several about the same notes."""
    from rubricate.agreement import agree
    from rubricate.joining import join_corpora
    from rubricate.measures import Matching

    if len(set(paths)) < len(paths):
        raise click.UsageError("the same CORPUS is given twice")
    corpora = {path: open_corpus(path, from_format=options["from_format"]) for path in paths}
    corpus = next(iter(corpora.values())) if len(corpora) == 1 else join_corpora(corpora)
    for path, own in corpora.items():
        if len(own.notes) > len(corpus.notes):
            left_out = len(own.notes) - len(corpus.notes)
            click.echo(f"warning: {left_out:,} notes of {path} are not in all the others", err=True)
    corpus = keep_where(corpus, options["where"])
    corpus = keep_annotators(corpus, options["annotators"])
    found = agree(
        corpus,
        matching=Matching(options["protocol"], options["unit"]),
        empty=options["empty"],
        reference_group=options["reference_group"],
        settings=resampling(
            options["confidence"], options["resamples"], options["interval_method"], options["seed"]
        ),
    )
    if options["report"]:
        from rubricate.reports import agreement_page, write_report

        page = agreement_page(found, inputs=input_hashes(paths))
        write_report(options["report"], page, overwrite=options["overwrite"])
    result = found.to_dict()
    if options["as_json"]:
        print_json(result)
        return
    _print(result)
    if options["report"]:
        click.echo(f"\nreport: {options['report'] / 'index.html'}")


def _print(result: dict[str, Any]) -> None:
    names = ", ".join(a["id"] for a in result["annotators"])
    click.echo(f"annotators: {names}; spans {result['protocol']} by {result['unit']}\n")
    for warning in result["warnings"]:
        click.echo(f"warning: {warning}", err=True)
    click.echo("all pairs pooled")
    print_measures(result["overall"])
    if len(result["pairs"]) > 1:
        click.echo("\neach pair, F1")
        print_table(
            ("first", "second", "notes", "rows", "characters", "kappa", "presence", "exact spans"),
            [
                (p["first"], p["second"], p["n_notes"], p["n_rows"], p["characters"]["f1"],
                 p["characters"]["kappa"], p["presence"]["f1"], p["spans"]["exact"]["f1"])
                for p in result["pairs"]
            ],
        )  # fmt: skip
    if len(result["case_table"]) > 1:
        click.echo("\nby case (characters F1, Jaccard, kappa; presence F1)")
        print_table(
            ("case", "F1", "Jaccard", "kappa", "yes/no F1", "notes"),
            [
                (c["case"], c["f1"], c["jaccard"], c["kappa"], c["yes_no_f1"], c["n_notes"])
                for c in result["case_table"]
            ],
        )
    for group in result["per_note"]:
        _print_group(group, _EMPTY[result["empty"]])
    for name, value in result["presence_all"].items():
        click.echo(
            f"\n{name.replace('_', ' ')} on presence: {shown_value(value['value'])} "
            f"({shown(value['interval'])})"
        )


def _print_group(group: dict[str, Any], empty: str) -> None:
    one, two = group["reference_group"] or "everybody", group["predicted_group"] or "everybody"
    features = {k: v for k, v in group["features"].items() if k}
    if len(features) > 20:
        features = {k: v for k, v in group["features"].items() if not k}
    title = f"within {one}" if one == two else f"{two} against {one}"
    click.echo(f"\nspans per note, {title}: mean F1 (SD over notes); {empty}")
    print_table(
        ("feature", "exact", "one side boundary", "token overlap", "notes"),
        [
            (
                name or "all features",
                *(f"{shown_value(kinds[k]['f1'])} ({shown_value(kinds[k]['sd']['f1'])})"
                  for k in ("exact", "one_side_boundary", "token_overlap")),
                kinds["exact"]["n_notes"],
            )
            for name, kinds in features.items()
        ],
    )  # fmt: skip
