"""Progress of long work: one protocol for functions, and one bar for commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")

#: Called with how many steps are done, how many there are (None: not known) and what they are of.
Progress = Callable[[int, int | None, str], None]


def silent(done: int, total: int | None, label: str) -> None:
    """Show nothing: the default of every ``progress`` parameter."""


def watched(
    items: Iterable[T], progress: Progress, label: str, total: int | None = None
) -> Iterator[T]:
    """Yield the items and report each one when the next is asked for.

    >>> seen = []
    >>> list(watched("ab", lambda *now: seen.append(now), "reading", 2))
    ['a', 'b']
    >>> seen
    [(0, 2, 'reading'), (1, 2, 'reading'), (2, 2, 'reading')]
    """
    progress(0, total, label)
    for done, item in enumerate(items, start=1):
        yield item
        progress(done, total, label)


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Give what draws a bar with rate and time left on standard error; nothing off a terminal.

    One bar per label: a new label closes the bar before it.

    >>> with shown_progress() as progress:
    ...     progress(1, 2, "matching")
    """
    if not sys.stderr.isatty():
        yield silent
        return
    bars: dict[str, tqdm[Any]] = {}

    def show(done: int, total: int | None, label: str) -> None:
        from tqdm import tqdm

        if label not in bars:
            for other in bars.values():
                other.close()
            bars.clear()
            bars[label] = tqdm(desc=label, total=total, file=sys.stderr, dynamic_ncols=True)
        bar = bars[label]
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        for bar in bars.values():
            bar.close()
