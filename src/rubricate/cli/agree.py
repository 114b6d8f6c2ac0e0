"""``rubricate agree``: measure how far annotators agree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Source, verb
from rubricate.cli.measuring import (
    cluster_option,
    matching_options,
    measuring_options,
    print_measures,
    shown,
    shown_population,
    warn_of_lone_labels,
)
from rubricate.cli.options import (
    Choice,
    check_report,
    input_hashes,
    keep_annotators,
    open_corpus,
    report_option,
)
from rubricate.cli.output import Answer, print_table, warn
from rubricate.display import counted, shown_number
from rubricate.progress import shown_progress

if TYPE_CHECKING:
    from rubricate.evaluation import Matching
    from rubricate.evaluation.agreement import Agreement, Empty, NoteMeans
    from rubricate.formats.options import ReadOptions
    from rubricate.stats import Resampling

#: What ``--empty`` does, in words.
_EMPTY = {
    "zero": "an annotator who marked nothing scores 0",
    "agree": "two annotators who both marked nothing score 1",
    "skip": "only where both annotators marked something",
}
#: Of more items than this, those with the least agreement are printed.
_MAX_ITEMS = 20
#: Longer wordings are cut in tables on a terminal.
_MAX_WORDING = 48
#: How far below AC1 kappa must be for prevalence to be the reason.
_PARADOX = 0.1


@verb("agree", epilog="Example: rubricate agree open-notes --where part=depth")
@click.argument("paths", metavar="CORPUS...", type=Source(), nargs=-1, required=True)
@click.option(
    "--annotator", "annotators", multiple=True, metavar="NAME", help="Use only these annotators."
)
@matching_options
@click.option(
    "--empty", type=Choice(["zero", "agree", "skip"]),
    help="Notes in which an annotator marked nothing: leave them out (skip, the default), score 0 "
    "(zero, the default with --protocol paper), or score 1 if both marked nothing (agree). "
    "Applies to spans per note.",
)  # fmt: skip
@click.option(
    "--reference-group",
    metavar="GROUP",
    help="Group of annotators that the other groups are compared with.",
)
@cluster_option
@report_option()
@measuring_options
def agree_command(
    paths: tuple[str, ...],
    *,
    annotators: tuple[str, ...],
    matching: Matching,
    empty: Empty | None,
    reference_group: str | None,
    cluster: str | None,
    report: Path | None,
    where: tuple[str, ...],
    how: ReadOptions,
    settings: Resampling,
    overwrite: bool,
) -> Answer:
    """Measure agreement between the annotators of one CORPUS, or of several with the same notes."""
    from rubricate.evaluation.agreement import agree
    from rubricate.formats import stored_tokens
    from rubricate.formats.notes import keep_where
    from rubricate.merge import join_corpora, share_labels

    check_report(report, overwrite=overwrite)
    if len(set(paths)) < len(paths):
        raise click.UsageError("the same CORPUS is given twice")
    opened = [open_corpus(path, how=how) for path in paths]
    corpora = dict(zip(paths, share_labels(opened), strict=True))
    corpus = next(iter(corpora.values())) if len(corpora) == 1 else join_corpora(corpora)
    for path, own in corpora.items():
        if len(own.notes) > len(corpus.notes):
            left_out = len(own.notes) - len(corpus.notes)
            warn(f"not in all the others: {counted(left_out, 'note')} of {path}")
        cases = {note.case for note in corpus.notes}
        unknown = [
            f.id for f in corpus.features if f.case in cases and f.id not in own.feature_index
        ]
        if unknown:
            warn(
                f"{path} does not know {', '.join(unknown)}: what others marked of it is not "
                "compared. Name the same features in all of them (in BRAT: annotation.conf)"
            )
    chosen = keep_where(corpus, where) if where else corpus
    chosen = keep_annotators(chosen, annotators) if annotators else chosen
    warn_of_lone_labels(chosen)
    with shown_progress() as progress:
        found = agree(
            chosen,
            matching=matching,
            empty=empty,
            reference_group=reference_group,
            tokens={note: own for path in paths for note, own in stored_tokens(path).items()},
            settings=settings,
            cluster=cluster,
            progress=progress,
        )
    if report:
        from rubricate.reports.agreement import agreement_report
        from rubricate.reports.blocks import save_report

        with shown_progress() as progress:
            made = agreement_report(found, inputs=input_hashes(paths), progress=progress)
        report = save_report(report, made, overwrite=overwrite)
    return Answer(found.to_dict, lambda: _print(found, report))


def _print(found: Agreement, report: Path | None) -> None:
    pooled = found.pooled
    names = ", ".join(a.id for a in found.corpus.annotators)
    click.echo(
        f"annotators: {names}; spans {pooled.protocol} by {pooled.unit}; "
        f"{counted(pooled.coverage.n_notes, 'note')}; "
        f"{pooled.settings.confidence:.0%} intervals by {pooled.drawn_unit}, "
        + shown_population(found.pooled.settings, len(pooled.characters.by("case")))
        + "\n"
    )
    warn(*pooled.warnings())
    click.echo("all pairs pooled")
    print_measures(found.pooled)
    _print_corrected(found)
    if len(found.pairs) > 1:
        click.echo("\neach pair, F1")
        print_table(
            ("first", "second", "notes", "rows", "characters", "kappa", "presence", "exact spans"),
            [
                (*pair, e.coverage.n_notes, e.coverage.n_rows, e.characters.total().f1,
                 e.characters.total()["kappa"], e.presence.total().f1, e.spans["exact"].total().f1)
                for pair, e in found.pairs.items()
            ],
        )  # fmt: skip
    _print_items(found)
    cases = found.case_table()
    if len(cases) > 1:
        click.echo("\nby case (characters F1, Jaccard, kappa; presence F1)")
        print_table(
            ("case", "F1", "Jaccard", "kappa", "yes/no F1", "notes"),
            [
                (c["case"], c["f1"], c["jaccard"], c["kappa"], c["yes_no_f1"], c["n_notes"])
                for c in cases
            ],
        )
    for groups, means in found.per_note.items():
        _print_groups(found, groups, means)
    for name, value in found.chance_corrected.items():
        click.echo(
            f"\n{name.replace('_', ' ')} on presence: {shown_number(value.estimate.value)} "
            f"({shown(value.estimate)})"
        )
    if report:
        click.echo(f"\nreport: {report}")


def _print_items(found: Agreement) -> None:
    """Print agreement on the presence of each item, then on its words where both found it."""
    lines = found.item_table()
    some = sorted(lines, key=lambda line: line["agreed"])[:_MAX_ITEMS]
    if len(lines) <= _MAX_ITEMS:
        some = lines
    which = "" if len(some) == len(lines) else f", the {len(some)} of {len(lines):,} with the least"
    click.echo(f"\nagreement on each item{which}; words only where both found the item")
    print_table(
        ("item", "notes", "agreed", "kappa", "AC1", "both found", "characters F1", "exact spans"),
        [
            (_cut(line["wording"]), line["rows"], f"{line['agreed']:.1%}", line["kappa"],
             line["ac1"], line["both"], line["characters_f1"], line["exact_spans_f1"])
            for line in some
        ],
    )  # fmt: skip


def _cut(wording: str) -> str:
    """Return a wording short enough for a column."""
    return wording if len(wording) <= _MAX_WORDING else f"{wording[: _MAX_WORDING - 1]}…"


def _print_corrected(found: Agreement) -> None:
    """Print agreement on presence corrected for chance, how spans met, and agreement on scores."""
    kappa, pabak, ac1 = (
        found.pooled.overall("presence", statistic=name) for name in ("kappa", "pabak", "ac1")
    )
    click.echo(
        f"presence: kappa {shown_number(kappa.value)} ({shown(kappa)}), PABAK "
        f"{shown_number(pabak.value)}, Gwet's AC1 {shown_number(ac1.value)} ({shown(ac1)})"
    )
    if kappa.value < ac1.value - _PARADOX:
        click.echo(
            f"they agree on {(pabak.value + 1) / 2:.1%} of the rows; kappa is lower than AC1 where "
            "one answer is much more frequent (the prevalence paradox)"
        )
    met = found.pooled.span_outcomes()
    click.echo(
        f"spans: {met['correct']:,} the same, {met['partial']:,} in part, {met['missed']:,} of the "
        f"first only, {met['spurious']:,} of the second only"
    )
    if found.scores is not None:
        both = found.scores
        click.echo(
            f"scores of {counted(both.n_notes, 'note')}: "
            f"ICC(A,1) {shown_number(both.absolute.value)} "
            f"({shown(both.absolute)}), ICC(C,1) {shown_number(both.consistent.value)}, "
            f"Gwet's AC2 {shown_number(both.ac2.value)} ({shown(both.ac2)})"
        )
        first, second = (a.id for a in found.corpus.annotators[:2])
        click.echo(
            f"{second} - {first}: {both.limits.bias.value:+.2f} points on average, 95 % of the "
            f"differences from {both.limits.low.value:+.2f} to {both.limits.high.value:+.2f}"
        )


def _print_groups(
    found: Agreement, groups: tuple[str, str], means: Mapping[str, Mapping[str, NoteMeans]]
) -> None:
    one, two = (group or "everybody" for group in groups)
    features = {name: kinds for name, kinds in means.items() if name}
    if len(features) > _MAX_ITEMS:
        features = {name: kinds for name, kinds in means.items() if not name}
    title = f"within {one}" if one == two else f"{two} against {one}"
    click.echo(f"\nspans per note, {title}: mean F1 (SD over notes); {_EMPTY[found.empty]}")
    print_table(
        ("item", "exact", "one side boundary", "token overlap", "notes"),
        [
            (
                _cut(found.corpus.feature(name).text) if name else "all items",
                *(f"{shown_number(kinds[k].mean['f1'])} ({shown_number(kinds[k].sd['f1'])})"
                  for k in ("exact", "one_side_boundary", "token_overlap")),
                kinds["exact"].n_notes,
            )
            for name, kinds in features.items()
        ],
    )  # fmt: skip
