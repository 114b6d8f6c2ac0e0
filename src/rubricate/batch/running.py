"""Batches through a pool: retried when workers die, and kept on disk when they are done."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rubricate.batch.pools import Pool
from rubricate.batch.work import Lost, Raised, Results
from rubricate.errors import Advice, InputError, RubricateError, Setting
from rubricate.files import PART, write_whole

PLAN_FILE = "plan.json"
_ENDING = ".jsonl.gz"
#: Batches kept in memory for those that are asked for out of order.
_KEPT = 8
#: No batch becomes so large; a file of others may.
MOST_BYTES = 1_000_000_000


class BatchStore:
    """A folder with one file for each finished batch, and the plan they belong to.

    A file is either complete or not there. Results are JSON values, one for each item. The first
    line says which batch it is, of which items (a hash that the caller gives), how many results
    there are and what their hash is: a file that is not what it should be is never used.

    ``items``: what each batch is of; batches kept of other items are refused.
    ``check``: returns what is wrong with the results of a batch; nothing if they fit.

    >>> import tempfile
    >>> store = BatchStore(Path(tempfile.mkdtemp()) / "batches", ["ab"])
    >>> store.open({"notes": "abc"})
    >>> store.put(0, [{"found": True}, None])
    >>> store.get(0)
    [{'found': True}, None]
    >>> BatchStore(store.folder, ["other"]).done()
    set()
    """

    def __init__(
        self,
        folder: Path,
        items: Sequence[str] | None = None,
        check: Callable[[int, list[Any]], str] | None = None,
    ) -> None:
        self.folder = folder
        self._items = items
        self._check = check
        self._recent: OrderedDict[int, list[Any]] = OrderedDict()

    def open(self, plan: Mapping[str, Any], *, overwrite: bool = False) -> None:
        """Start the batches of a plan, or continue with them."""
        path = self.folder / PLAN_FILE
        if path.exists() and not self.is_of(plan):
            if not overwrite:
                raise InputError(
                    f"{self.folder} contains results for different notes or for a "
                    "different rubric, model, setting or program version.",
                    advice=Advice(
                        "Write somewhere else, or use {} to throw them away.",
                        (Setting("overwrite", True),),
                    ),
                )
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(f".*{PART}"):
            left.unlink(missing_ok=True)
        if not path.exists():
            write_whole(path, (json.dumps(plan, indent=1) + "\n").encode())

    def is_of(self, plan: Mapping[str, Any]) -> bool:
        """Tell whether the folder holds batches of this plan."""
        try:
            kept = json.loads((self.folder / PLAN_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return False
        return bool(kept == json.loads(json.dumps(plan)))

    def done(self) -> set[int]:
        """Return the keys of the finished batches, but for files that are not what they should be.

        Every file is read: it takes a little of the time the batches took.
        """
        keys = (_key(path) for path in self.folder.glob(f"*{_ENDING}"))
        return {key for key in keys if key is not None and not self._fault(key)}

    def drop_others(self, keys: Set[int]) -> int:
        """Remove the files of all other batches; return how many there were."""
        others = [path for path in self.folder.glob(f"*{_ENDING}") if _key(path) not in keys]
        for path in others:
            path.unlink()
        return len(others)

    def faults(self) -> dict[Path, str]:
        """Return the fault of each file that is not a finished batch of these items."""
        paths = sorted(self.folder.glob(f"*{_ENDING}"))
        found = ((path, self._fault(_key(path))) for path in paths)
        return {path: fault for path, fault in found if fault}

    def put(self, key: int, results: Sequence[Any]) -> None:
        """Keep the results of one batch."""
        dump = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
        lines = "".join(f"{dump(value)}\n" for value in results).encode()
        digest = hashlib.sha256(lines).hexdigest()
        head = {"batch": key, "items": self._of(key), "n": len(results), "sha256": digest}
        # Without a time the same results are the same bytes.
        body = gzip.compress(f"{dump(head)}\n".encode() + lines, compresslevel=1, mtime=0)
        write_whole(self._path(key), body)
        self._recent.pop(key, None)

    def get(self, key: int) -> list[Any]:
        """Return the results of one batch; RubricateError if its file is not what it should be."""
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        try:
            values = self._read(key)
        except (OSError, ValueError) as error:
            said = str(error) if isinstance(error, _BatchFaultError) else "cannot be read"
            raise RubricateError(
                f"{self._path(key)}: {said}. Delete it and start the same command again."
            ) from error
        self._recent[key] = values
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)
        return values

    def _fault(self, key: int | None) -> str:
        if key is None:
            return "not named like a batch"
        try:
            self._read(key)
        except _BatchFaultError as error:
            return str(error)
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        return ""

    def _read(self, key: int) -> list[Any]:
        body = self._path(key).read_bytes()
        try:
            with gzip.open(io.BytesIO(body)) as stream:
                unpacked = stream.read(MOST_BYTES + 1)
            if len(unpacked) > MOST_BYTES:
                raise _BatchFaultError("larger than any batch")
            head, _, lines = unpacked.partition(b"\n")
            said = json.loads(head)
            values = [json.loads(line) for line in lines.decode().split("\n") if line]
        except _BatchFaultError:
            raise
        except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
            raise _BatchFaultError("not a finished batch") from error
        if not isinstance(said, dict) or said.get("batch") != key:
            raise _BatchFaultError(f"not batch {key}")
        if said.get("n") != len(values) or said.get("sha256") != hashlib.sha256(lines).hexdigest():
            raise _BatchFaultError("altered after it was written")
        if self._items is not None and said.get("items") != self._of(key):
            raise _BatchFaultError("of other notes")
        if self._check is not None and (fault := self._check(key, values)):
            raise _BatchFaultError(fault)
        return values

    def _of(self, key: int) -> str:
        items = self._items or ()
        return items[key] if key < len(items) else ""

    def _path(self, key: int) -> Path:
        return self.folder / f"{key:06d}{_ENDING}"


def _key(path: Path) -> int | None:
    name = path.name.removesuffix(_ENDING)
    number = int(name) if name.isascii() and name.isdigit() and len(name) < 20 else None
    return None if number is None or name != f"{number:06d}" else number


class _BatchFaultError(ValueError):
    """The file of a batch is damaged."""


#: After this many deaths in a row, without a finished batch or part of a batch between them, the
#: run gives up: the cause is then not a few items. (In a batch of 200 in which every second item
#: kills its worker, the first part is finished after about twenty deaths.)
MOST_BARREN_DEATHS = 60
#: Seconds to wait for a batch before asking the pool whether it still works.
PULSE = 5.0


@dataclass(slots=True)
class Retries:
    """Number of workers that died, and number of lost items."""

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
