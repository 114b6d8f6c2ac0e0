"""Printing results: JSON or tables to standard output, everything else to standard error.

A command returns an `Answer`; `answering` prints it, so that no command asks for ``--json``.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rubricate.cli.command import is_quiet
from rubricate.display import counted, shown_number
from rubricate.errors import RubricateError

if TYPE_CHECKING:
    from rubricate.corpus import Corpus
    from rubricate.matchers import FailedNote


json_option = click.option(
    "--json", "as_json", is_flag=True,
    help="Print the result as JSON, and errors as JSON to standard error.",
)  # fmt: skip


class Answer(NamedTuple):
    """Result of a command: data for JSON or a function that makes it, text, and failure."""

    value: object
    say: Callable[[], object]
    failed: bool = False


def in_words(value: object, words: str) -> Answer:
    """Answer with a value for JSON and some words for people."""
    return Answer(value, lambda: click.echo(words))


def answering(function: Callable[..., Answer]) -> Callable[..., None]:
    """Give a command ``--json``, and print its answer so or in words; exit with 1 if it failed."""

    @wraps(function)
    def command(*, as_json: bool, **options: Any) -> None:
        found = function(**options)
        if as_json:
            print_json(found.value() if callable(found.value) else found.value)
        else:
            found.say()
        if found.failed:
            raise click.exceptions.Exit(1)

    return json_option(command)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON; undefined numbers become null."""
    from rubricate.values import to_plain

    # Where the output cannot hold all letters, JSON can still name them by number.
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(to_plain(value), ensure_ascii=plain, indent=indent))


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


def warn(*messages: str) -> None:
    """Print warnings to standard error."""
    for message in messages:
        click.echo(f"{click.style('warning:', fg='yellow')} {message}", err=True)


def inform(*messages: str) -> None:
    """Print remarks to standard error; ``--quiet`` hides them."""
    if is_quiet():
        return
    for message in messages:
        click.echo(f"{click.style('info:', fg='cyan')} {message}", err=True)


class _Informer(logging.Handler):
    """Prints what the library logs as a remark."""

    def emit(self, record: logging.LogRecord) -> None:
        inform(record.getMessage())


@contextmanager
def replaced_told() -> Iterator[None]:
    """Print for a while which outputs are replaced."""
    log, handler = logging.getLogger("rubricate.outputs"), _Informer()
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def tell_failed(failed: Sequence[FailedNote], what: str, n_notes: int) -> list[dict[str, str]]:
    """Warn of the notes that failed and return them for JSON; RubricateError if all did."""
    from rubricate.matchers import failures_in_words

    if failed:
        words = failures_in_words(failed, what)
        if len(failed) == n_notes:
            raise RubricateError(words)
        warn(words)
    return [one._asdict() for one in failed]


def print_losses(lost: Mapping[str, int]) -> None:
    """Print what a format could not hold, one line per kind."""
    from rubricate.formats.format import HOLDABLE

    for kind, count in lost.items():
        click.echo(f"lost: {count:,} {HOLDABLE[kind]}")


def written(
    made: Mapping[str, str], corpus: Corpus, lost: Mapping[str, int], **further: object
) -> Answer:
    """Answer with what was made of a corpus: place, format, matcher, how much, what was lost."""
    rows = corpus.rows
    held = {"notes": len(corpus.notes), "rows": len(rows), "annotations": rows.n_annotations}

    def say() -> None:
        place, named, *by = made.values()
        words = ", ".join(counted(n, what[:-1]) for what, n in held.items())
        click.echo(f"wrote {place} ({named}): {words}{''.join(f' by {who}' for who in by)}")
        print_losses(lost)

    return Answer({**made, **held, "lost": lost, **further}, say)


class Told(NamedTuple):
    """A table of what a check found, with the words before it; long ones are cut when printed."""

    words: str
    header: Sequence[str] = ()
    lines: Sequence[Sequence[Any]] = ()
    most: int = 20


def told_in_tables(value: object, *told: Told, failed: bool = False) -> Answer:
    """Answer with the whole value as JSON, or the tables for people."""

    def say() -> None:
        for number, one in enumerate(told):
            click.echo(("\n" if number and one.words else "") + one.words, nl=bool(one.words))
            if one.lines:
                click.echo()
                print_first(one.most, one.header, one.lines)

    return Answer(value, say, failed)
