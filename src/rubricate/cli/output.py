"""Printing results: JSON or tables to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rubricate.display import counted, shown_number

if TYPE_CHECKING:
    from rubricate.corpus import Corpus


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON; undefined numbers become null."""
    from rubricate.formats.encoding import plain_json

    # Where the output cannot hold all letters, JSON can still name them by number.
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(plain_json(value), ensure_ascii=plain, indent=indent))


def print_table(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> None:
    """Print an aligned table; numbers to the right, floats with three digits, nan as a dash."""
    rows = [list(line) for line in lines]
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(c[i]) for c in [list(header), *cells]) for i in range(len(header))]
    right = [
        bool(rows) and all(isinstance(row[i], int | float) or row[i] is None for row in rows)
        for i in range(len(header))
    ]
    for k, line in enumerate([list(header), *cells]):
        shown = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        click.echo("  ".join(shown).rstrip())
        if k == 0:
            click.echo("  ".join("-" * width for width in widths))


def print_first(
    most: int,
    header: Sequence[str],
    lines: Sequence[Sequence[Any]],
    rest: str = "more (all of them with --json)",
) -> None:
    """Print the first lines of a table, and how many there are beside them."""
    print_table(header, lines[:most])
    if len(lines) > most:
        click.echo(f"... and {len(lines) - most} {rest}")


def _cell(value: Any) -> str:
    if value is None or isinstance(value, float):
        return shown_number(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def warn(*said: str, word: str = "warning") -> None:
    """Print warnings, or what else one should know, to standard error."""
    for one in said:
        click.echo(f"{word}: {one}", err=True)


def print_losses(lost: Mapping[str, int]) -> None:
    """Print what a format could not hold, one line per kind."""
    from rubricate.formats.format import HOLDABLE

    for kind, count in lost.items():
        click.echo(f"lost: {count:,} {HOLDABLE[kind]}")


def tell_written(
    as_json: bool, made: Mapping[str, str], corpus: Corpus, lost: Mapping[str, int]
) -> None:
    """Print what was made of a corpus: its place, format and matcher, how much, what was lost."""
    rows = corpus.rows
    held = {"notes": len(corpus.notes), "rows": len(rows), "annotations": rows.n_annotations}
    if as_json:
        print_json({**made, **held, "lost": lost})
        return
    place, named, *by = made.values()
    words = ", ".join(counted(n, what[:-1]) for what, n in held.items())
    click.echo(f"wrote {place} ({named}): {words}{''.join(f' by {who}' for who in by)}")
    print_losses(lost)


class Told(NamedTuple):
    """A table of what a check found, with the words before it; long ones are cut when printed."""

    words: str
    header: Sequence[str] = ()
    lines: Sequence[Sequence[Any]] = ()
    most: int = 20


def tell(as_json: bool, value: Mapping[str, Any], *told: Told) -> None:
    """Print the whole value as JSON, or the tables for people."""
    if as_json:
        print_json(value)
        return
    for number, one in enumerate(told):
        click.echo(("\n" if number and one.words else "") + one.words, nl=bool(one.words))
        if one.lines:
            click.echo()
            print_first(one.most, one.header, one.lines)
