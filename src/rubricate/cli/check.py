"""``rubricate check``: find, and repair, faulty annotations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from rubricate.cli.command import Option, Output, Source, command_inputs, verb
from rubricate.cli.options import (
    from_option,
    open_corpus,
    overwrite_option,
    split_option,
)
from rubricate.cli.output import Answer, answering, print_losses, print_table
from rubricate.display import counted
from rubricate.progress import Progress, shown_progress
from rubricate.spans import fragments_text

if TYPE_CHECKING:
    from rubricate.checking import CheckResult, Finding
    from rubricate.corpus import Corpus
    from rubricate.formats.encoding import Json
    from rubricate.formats.options import ReadOptions

#: How many findings, and cases, are printed without --json.
SHOWN = 10
EPILOG = """
\b
Rules (docs/checking.md): out-of-range, text-mismatch, no-words,
foreign-feature, overlapping-fragments, white-space, end-punctuation,
extra-characters, cut-word, leading-article, leading-reference,
negation-left-out, repeated, marked-again.

Example: rubricate check open-notes --fix clean --output-format nbme
"""


class Copy(NamedTuple):
    """Paths of the repaired copy and of its log."""

    target: str
    format: str
    log: Path
    overwrite: bool


@verb("check", epilog=EPILOG)
@click.argument("corpus_path", metavar="CORPUS", type=Source())
@from_option
@split_option()
@click.option("--rule", "rules", multiple=True, metavar="NAME", help="Apply only these rules.")
@click.option("--skip", multiple=True, metavar="NAME", help="Apply all rules except these.")
@click.option(
    "--fix",
    "target",
    metavar="DST",
    type=Output(as_text=True),
    help="Write a repaired copy to DST, and a log of the changes.",
)
@click.option(
    "--output-format",
    "to_format",
    cls=Option,
    formerly=["--to"],
    metavar="FORMAT",
    help="Format of the copy. Default: that of CORPUS.",
)
@click.option(
    "--log",
    type=Output(dir_okay=False),
    help="File for the log (.jsonl or .csv). Default: DST.changes.jsonl.",
)
@overwrite_option
@click.option("--fail", is_flag=True, help="Exit with 1 if anything is found.")
@answering
def check_command(
    corpus_path: str,
    how: ReadOptions,
    where: tuple[str, ...],
    rules: tuple[str, ...],
    skip: tuple[str, ...],
    target: str | None,
    to_format: str | None,
    log: Path | None,
    overwrite: bool,
    fail: bool,
) -> Answer:
    """Find faults in the annotations of CORPUS by named rules, and repair them in a copy.

    The command prints counts by rule and case, and the first findings. --json prints all findings
    with note, feature, offsets and repair. --fix applies the safe repairs to a copy. CORPUS itself
    never changes.
    """
    from rubricate.checking import check_corpus, choose_rules

    chosen = choose_rules(rules or None, skip=skip)
    if target is None and (to_format or log):
        raise click.UsageError("--output-format and --log need --fix DST.")
    copy = None
    if target is not None:
        log = log or Path(f"{target.rstrip('/')}.changes.jsonl")
        copy = Copy(target, to_format or _format_of(corpus_path, how), log, overwrite)
        _refuse_copy(copy)
    corpus = open_corpus(corpus_path, replace(how, strict=False), where=where)
    names = [rule.name for rule in chosen]
    with shown_progress() as progress:
        result = check_corpus(corpus, rules=names, progress=progress)
        fixed = {} if copy is None else {"fixed": _write_copy(corpus, result, copy, progress)}

    def say() -> None:
        _print_result(result)
        if fixed:
            _print_fixed(fixed["fixed"])

    failed = fail and bool(result.findings)
    return Answer(lambda: {**result.to_dict(), **fixed}, say, failed)


def _format_of(source: str, how: ReadOptions) -> str:
    """Return the format of CORPUS, which its copy gets too."""
    from rubricate.formats import detect_format, is_embedded

    if is_embedded(source):
        return "parquet"
    return how.format or detect_format(Path(source), how)


def _refuse_copy(copy: Copy) -> None:
    """Refuse, before any work, a copy that would touch the source or other files."""
    from rubricate.checking.findings import CHANGES
    from rubricate.formats import FORMATS
    from rubricate.formats.format import output_kind
    from rubricate.outputs import check_output, refuse_inputs

    for place in (Path(copy.target), copy.log):
        refuse_inputs(place, command_inputs(), inside=False)
    log = copy.log.resolve()
    if Path(copy.target).resolve() in (log, *log.parents):
        raise click.UsageError(f"--log {copy.log}: it would lie in the copy; choose another place")
    check_output(copy.log, CHANGES, overwrite=copy.overwrite)
    check_output(Path(copy.target), output_kind(FORMATS[copy.format]), overwrite=copy.overwrite)


def _write_copy(corpus: Corpus, result: CheckResult, copy: Copy, progress: Progress) -> Json:
    """Write the repaired copy and its log; return where they are, and what is left to decide."""
    from rubricate.checking import check_corpus, fix_corpus, write_changes
    from rubricate.checking.findings import CHANGES
    from rubricate.files import whole_output
    from rubricate.formats import write_corpus

    fixed, changes = fix_corpus(corpus, result, progress=progress)
    # The log comes with the copy or not at all.
    with whole_output(copy.log, overwrite=copy.overwrite, kind=CHANGES) as place:
        write_changes(changes, place)
        lost = write_corpus(fixed, copy.target, format=copy.format, overwrite=copy.overwrite)
    left = check_corpus(fixed, rules=result.rules, progress=progress).counts
    return {
        "target": copy.target,
        "format": copy.format,
        "log": str(copy.log),
        "n_changes": len(changes),
        "left": {rule: count for rule, count in left.items() if count},
        "lost": lost,
    }


def _print_result(result: CheckResult) -> None:
    n_found, n_safe = len(result), sum(result.repairable_counts.values())
    click.echo(
        f"{counted(n_found, 'finding')} in {counted(result.n_annotations, 'annotation')} of "
        f"{counted(result.n_rows, 'row')}; "
        f"{n_safe:,} can be repaired safely"
    )
    if not n_found:
        return
    click.echo()
    safe = result.repairable_counts
    print_table(
        ("rule", "findings", "repairable"),
        [(rule, count, safe[rule]) for rule, count in result.counts.items() if count],
    )
    click.echo()
    cases = [
        (case, sum(counts.values()), ", ".join(f"{rule} {n}" for rule, n in counts.items()))
        for case, counts in result.counts_by_case.items()
    ]
    print_table(("case", "findings", "by rule"), cases[:SHOWN])
    _print_rest(len(cases), "cases")
    click.echo()
    print_table(
        ("note", "annotator", "feature", "rule", "spans", "repair"),
        [_line(finding) for finding in result.findings[:SHOWN]],
    )
    _print_rest(n_found, "findings")


def _print_rest(count: int, what: str) -> None:
    if count > SHOWN:
        click.echo(f"... and {count - SHOWN:,} more {what} (all of them with --json)")


def _line(finding: Finding) -> tuple[str, ...]:
    repair = finding.repair
    if repair is None:
        shown = "none"
    elif repair.action == "move":
        shown = f"move to {repair.feature_id}"
    else:
        shown = fragments_text(repair.spans) if repair.action == "respan" else "remove"
    if repair is not None and not repair.safe:
        shown += " (proposed)"
    place = (finding.note_id, finding.annotator_id, finding.feature_id, finding.rule)
    return (*place, fragments_text(finding.spans), shown)


def _print_fixed(fixed: Json) -> None:
    click.echo(f"\nwrote {fixed['target']} ({fixed['format']}) with {fixed['n_changes']:,} changes")
    click.echo(f"wrote {fixed['log']}: every change")
    if fixed["left"]:
        left = ", ".join(f"{rule} {count:,}" for rule, count in fixed["left"].items())
        click.echo(f"left for a person to decide: {left}")
    print_losses(fixed["lost"])
