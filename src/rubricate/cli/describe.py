"""``rubricate describe``: say what a corpus holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from rubricate.cli.command import Source, verb
from rubricate.cli.options import (
    from_option,
    keep_asked_cases,
    open_corpus,
    senior_option,
    split_option,
)
from rubricate.cli.output import Answer, answering, print_first, print_table

if TYPE_CHECKING:
    from rubricate.formats.options import ReadOptions
    from rubricate.summary import CorpusSummary


@verb("describe", epilog="Example: rubricate describe open-notes --where split=test")
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@from_option
@split_option()
@senior_option
@answering
def describe_command(
    corpus_path: str, how: ReadOptions, where: tuple[str, ...], seniors: tuple[str, ...]
) -> Answer:
    """Count notes, features, annotators and annotations of CORPUS, case by case."""
    from rubricate.summary import describe_corpus

    corpus = open_corpus(corpus_path, how=how, where=where)
    corpus = keep_asked_cases(corpus, where)
    result = describe_corpus(corpus)
    if not seniors:
        return Answer(result, lambda: _print(result))
    from rubricate.study.curation import settle_by_seniors

    rows = settle_by_seniors(corpus, seniors)
    # Rows that one annotator alone judged are that annotator's.
    by_rule = Counter(row.decided_by.split()[-1] for row in rows if "rule" in row.decided_by)
    n_marks = sum(len(row.marks) for row in rows)
    settled = {**by_rule, "rows": len(rows), "annotations": n_marks}
    words = (
        f"senior rule: {sum(by_rule.values()):,} rows judged twice: "
        f"{by_rule['identical']:,} alike, {by_rule['senior-first']:,} the senior's, "
        f"{by_rule['second-only']:,} the second's alone; {n_marks:,} annotations in all\n"
    )
    return Answer({**result, "senior_rule": settled}, lambda: _print(result, words))


def _print(result: CorpusSummary, settled: str = "") -> None:
    for name, value in result.items():
        if isinstance(value, int | float):
            decimals = 3 if name == "type_token_ratio" else 1
            number = f"{value:,}" if isinstance(value, int) else f"{value:,.{decimals}f}"
            click.echo(f"{name.replace('_', ' ')}: {number}")
    click.echo(settled)
    print_table(
        ("annotator", "group", "notes", "rows", "present", "annotations", "fragmented"),
        [tuple(a.values()) for a in result["annotators"]],
    )
    click.echo()
    header = ("case", "title", "notes", "features", "rows")
    cases = [tuple(case.values()) for case in result["cases"]]
    print_first(20, header, cases, "more cases (all of them with --json)")
