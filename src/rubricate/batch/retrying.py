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

#: After this many deaths in a row, without a finished batch or part of a batch between them, the
#: run gives up: the cause is then not a few items. (In a batch of 200 in which every second item
#: kills its worker, the first part is finished after about twenty deaths.)
MOST_BARREN_DEATHS = 60
#: Seconds to wait for a batch before asking the pool whether it still works.
PULSE = 5.0


@dataclass(slots=True)
class Retries:
    """How many workers died, and how many items were lost."""

    deaths: int = 0
    lost: int = 0


@dataclass(eq=False, slots=True)
class _BatchTask:
    """A batch, or a part of one that was divided to find the items that kill workers."""

    key: int
    first: int
    items: Sequence[Any]
    alone: bool = False
    deaths: int = 0


@dataclass(slots=True)
class _State:
    """The batches that are running, to be tried again, and not complete yet."""

    running: dict[Future[Results], _BatchTask] = field(default_factory=dict)
    suspects: deque[_BatchTask] = field(default_factory=deque)
    open: dict[int, list[Any]] = field(default_factory=dict)
    missing: dict[int, int] = field(default_factory=dict)


def run_batches(
    pool: Pool, batches: Iterable[tuple[int, Sequence[Any]]], *, retries: Retries | None = None
) -> Iterator[tuple[int, list[Any]]]:
    """Yield (key, results) of each batch, as soon as it is finished.

    When a worker dies, the batches that may be the cause are run again, one at a time. A batch that
    loses as many workers as the pool has patience for while it runs alone is divided in two, down
    to single items; a single item that does so becomes `Lost`. A new batch is taken from
    ``batches`` only when there is room for it.

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
    state = _State()
    waiting = iter(batches)
    barren = 0
    while _start_some(state, waiting, pool):
        if not state.running:
            # Only batches without items, which are finished already.
            yield from _finished(state)
            continue
        done, _ = wait(state.running, timeout=PULSE, return_when=FIRST_COMPLETED)
        if not done:
            pool.check()
            continue
        died = _take(state, done, pool)
        if len(died) < len(done):
            barren = 0
        if died:
            pool.renew()
            counted.deaths += len(died)
            barren += len(died)
            if barren > MOST_BARREN_DEATHS:
                raise RubricateError(
                    f"workers died {barren} times with nothing finished between. Finished batches "
                    "are kept; is there enough memory? Fewer workers need less."
                )
        for task in died:
            _treat(state, task, pool, counted)
        yield from _finished(state)


def _start_some(state: _State, waiting: Iterator[tuple[int, Sequence[Any]]], pool: Pool) -> bool:
    """Start what may be started; tell whether anything is still to be done."""
    if state.suspects:
        if not state.running:
            task = state.suspects.popleft()
            task.alone = True
            state.running[pool.submit(task.items)] = task
        return True
    while len(state.running) < pool.depth:
        batch = next(waiting, None)
        if batch is None:
            break
        key, items = batch
        state.open[key] = [None] * len(items)
        state.missing[key] = len(items)
        if not items:
            break
        state.running[pool.submit(items)] = _BatchTask(key, 0, items)
    return bool(state.running or state.missing)


def _finished(state: _State) -> Iterator[tuple[int, list[Any]]]:
    """Yield the batches whose results are complete."""
    for key in [key for key, n in state.missing.items() if n == 0]:
        del state.missing[key]
        yield key, state.open.pop(key)


def _take(state: _State, done: Iterable[Future[Results]], pool: Pool) -> list[_BatchTask]:
    """Keep the results of finished batches; return the tasks whose worker died."""
    died = []
    for future in done:
        task = state.running.pop(future)
        try:
            results = future.result()
        except pool.deaths:
            died.append(task)
            continue
        if isinstance(results, Raised):
            results.raise_again()
        else:
            _keep(state, task, results)
    return died


def _keep(state: _State, task: _BatchTask, results: list[Any]) -> None:
    state.open[task.key][task.first : task.first + len(task.items)] = results
    state.missing[task.key] -= len(task.items)


def _treat(state: _State, task: _BatchTask, pool: Pool, counted: Retries) -> None:
    """Decide what to do with a batch whose worker died."""
    if not task.alone:
        # Others ran at the same time: on a cluster, one of those may have killed the worker.
        state.suspects.append(task)
        return
    task.deaths += 1
    if task.deaths < pool.patience:
        state.suspects.appendleft(task)
    elif len(task.items) == 1:
        counted.lost += 1
        _keep(state, task, [Lost("no worker survived it")])
    else:
        middle = len(task.items) // 2
        parts = (
            _BatchTask(task.key, task.first, task.items[:middle]),
            _BatchTask(task.key, task.first + middle, task.items[middle:]),
        )
        state.suspects.extendleft(reversed(parts))
