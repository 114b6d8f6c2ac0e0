"""Batches through a pool, with bounded retries when workers die."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from rubricate.batch.pools import Pool
from rubricate.batch.work import Lost, Raised, Results
from rubricate.errors import RubricateError

#: Deaths in a row, with no batch or part of one done between them, after which the run gives up:
#: then it is not some items that kill their workers. Of a batch of 200 whose every other item does,
#: the first part that is done comes after twenty.
MOST_BARREN_DEATHS = 60
#: Seconds between two looks at a pool that has nothing to say.
PULSE = 5.0


@dataclass(slots=True)
class Retries:
    """What went wrong on the way.

    Parameters
    ----------
    deaths : int
        How often workers died under our batches.
    lost : int
        Items that no worker survived.
    """

    deaths: int = 0
    lost: int = 0


@dataclass(eq=False, slots=True)
class _Task:
    """A batch, or a part of one that is divided to find what kills its workers."""

    key: int
    first: int
    items: Sequence[Any]
    alone: bool = False
    deaths: int = 0


@dataclass(slots=True)
class _Under:
    """Everything under way."""

    running: dict[Future[Results], _Task] = field(default_factory=dict)
    suspects: deque[_Task] = field(default_factory=deque)
    open: dict[int, list[Any]] = field(default_factory=dict)
    missing: dict[int, int] = field(default_factory=dict)


def run_batches(
    pool: Pool, batches: Iterable[tuple[int, Sequence[Any]]], *, retries: Retries | None = None
) -> Iterator[tuple[int, list[Any]]]:
    """Yield (key, results) of each batch, as they are finished.

    When a worker dies, the batches it may have been at are run again one at a time. A batch that
    dies alone as often as the pool has patience is divided in two, down to single items; an item
    that kills its workers alone becomes `Lost`. Batches are drawn only as fast as they are done.

    Parameters
    ----------
    pool : Pool
        Where the work runs.
    batches : iterable of (key, items)
        Keys are unique.
    retries : Retries, optional
        Filled with what went wrong.

    Raises
    ------
    RubricateError
        If the function raises, or workers keep dying with nothing finished.

    Examples
    --------
    >>> from rubricate.batch.pools import InlinePool
    >>> class Doubling:
    ...     def prepare(self):
    ...         return lambda items: [2 * item for item in items]
    >>> list(run_batches(InlinePool(Doubling()), [(0, [1, 2]), (1, [3])]))
    [(0, [2, 4]), (1, [6])]
    """
    counted = Retries() if retries is None else retries
    under = _Under()
    waiting = iter(batches)
    barren = 0
    while _start_some(under, waiting, pool):
        if not under.running:
            # Batches without items only: they are finished as they are.
            yield from _finished(under)
            continue
        done, _ = wait(under.running, timeout=PULSE, return_when=FIRST_COMPLETED)
        if not done:
            pool.check()
            continue
        died = _take(under, done, pool)
        if len(died) < len(done):
            barren = 0
        if died:
            pool.renew()
            counted.deaths += len(died)
            barren += len(died)
            if barren > MOST_BARREN_DEATHS:
                raise RubricateError(
                    f"workers died {barren} times with nothing finished between. Finished batches "
                    "are kept; look for want of memory, or run with fewer workers."
                )
        for task in died:
            _treat(under, task, pool, counted)
        yield from _finished(under)


def _start_some(under: _Under, waiting: Iterator[tuple[int, Sequence[Any]]], pool: Pool) -> bool:
    """Start what may be started; tell whether anything is under way."""
    if under.suspects:
        if not under.running:
            task = under.suspects.popleft()
            task.alone = True
            under.running[pool.submit(task.items)] = task
        return True
    while len(under.running) < pool.depth:
        batch = next(waiting, None)
        if batch is None:
            break
        key, items = batch
        under.open[key] = [None] * len(items)
        under.missing[key] = len(items)
        if not items:
            break
        under.running[pool.submit(items)] = _Task(key, 0, items)
    return bool(under.running or under.missing)


def _finished(under: _Under) -> Iterator[tuple[int, list[Any]]]:
    """Hand out the batches that miss nothing any more."""
    for key in [key for key, n in under.missing.items() if n == 0]:
        del under.missing[key]
        yield key, under.open.pop(key)


def _take(under: _Under, done: Iterable[Future[Results]], pool: Pool) -> list[_Task]:
    """Keep the results of finished batches; return the tasks whose worker died."""
    died = []
    for future in done:
        task = under.running.pop(future)
        try:
            results = future.result()
        except pool.deaths:
            died.append(task)
            continue
        if isinstance(results, Raised):
            results.raise_again()
        else:
            _keep(under, task, results)
    return died


def _keep(under: _Under, task: _Task, results: list[Any]) -> None:
    under.open[task.key][task.first : task.first + len(task.items)] = results
    under.missing[task.key] -= len(task.items)


def _treat(under: _Under, task: _Task, pool: Pool, counted: Retries) -> None:
    """Decide what becomes of a batch whose worker died."""
    if not task.alone:
        # Others ran beside it: on a cluster, a worker may have died of one of those.
        under.suspects.append(task)
        return
    task.deaths += 1
    if task.deaths < pool.patience:
        under.suspects.appendleft(task)
    elif len(task.items) == 1:
        counted.lost += 1
        _keep(under, task, [Lost("no worker survived it")])
    else:
        middle = len(task.items) // 2
        parts = (
            _Task(task.key, task.first, task.items[:middle]),
            _Task(task.key, task.first + middle, task.items[middle:]),
        )
        under.suspects.extendleft(reversed(parts))
