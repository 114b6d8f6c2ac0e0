"""Printing results: JSON or tables to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click

T = TypeVar("T")


def print_json(value: Any) -> None:
    """Print a value as JSON; undefined numbers become null."""
    click.echo(json.dumps(_clean(value), ensure_ascii=False, indent=2))


def _clean(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(k): _clean(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]
    if hasattr(value, "item") and callable(value.item):
        return _clean(value.item())
    return value


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


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def print_losses(lost: Mapping[str, int]) -> None:
    """Print what a format could not hold, a line a kind."""
    from rubricate.formats.losses import HOLDABLE

    for kind, count in lost.items():
        click.echo(f"lost: {count:,} {HOLDABLE[kind]}")


def show_steps(label: str) -> Callable[..., None] | None:
    """Return what shows (step, number of steps, ...) on standard error; None off a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(step: int, n_steps: int, *_: Any) -> None:
        click.echo(f"\r{label}: {step} of {n_steps}", nl=step >= n_steps, err=True)

    return show


def progress(items: Iterable[T], *, label: str, length: int | None = None) -> Iterator[T]:
    """Yield the items with a progress bar on standard error; none when it is not a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    with click.progressbar(items, length=length, label=label, file=sys.stderr) as bar:
        yield from bar
