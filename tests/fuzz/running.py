"""One input at a time: written, read in this process under a guard, and judged.

Two answers are right: the reader returns, or it raises an error of our own that holds no note
text. Everything else is a finding, known by the reader, the kind of error and the function of ours
it came from.
"""

from __future__ import annotations

import re
import resource
import signal
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutating import Tree, damaged
from fuzz.readers import CANARIES, FuzzedReader
from rubricate.errors import InputError, RubricateError

#: A name as a message quotes it: damage may put a word of a note where a label should be.
_NAME = re.compile(r"'[^'\n]{0,80}'|\"[^\"\n]{0,80}\"")
#: Seconds of processor time (not of the clock: machines are busy) after which a reader hangs.
PATIENCE = 20.0
#: What one small input may make a process grow by, at its highest.
MOST_BYTES = 1 << 30


class Hang(BaseException):
    """A reader took longer than `PATIENCE`; no `except Exception` of its own may catch it."""


@dataclass(frozen=True, order=True)
class Finding:
    """A forbidden effect of a reader; inputs with the same effect show the same fault."""

    reader: str
    error: str
    where: str


@dataclass
class Tally:
    """The results of one reader's inputs."""

    reader: str
    n_read: int = 0
    n_refused: int = 0
    #: The first input that showed each finding, and how many did.
    first: dict[Finding, int] = field(default_factory=dict)
    count: dict[Finding, int] = field(default_factory=dict)

    @property
    def n_inputs(self) -> int:
        """Number of inputs that were judged."""
        return self.n_read + self.n_refused + sum(self.count.values())

    def add(self, number: int, outcome: Finding | str) -> None:
        """Count one outcome."""
        if isinstance(outcome, Finding):
            self.first.setdefault(outcome, number)
            self.count[outcome] = self.count.get(outcome, 0) + 1
        elif outcome == "read":
            self.n_read += 1
        else:
            self.n_refused += 1

    def merge(self, other: Tally) -> None:
        """Add the counts of another tally of the same reader."""
        self.n_read += other.n_read
        self.n_refused += other.n_refused
        for finding, number in other.first.items():
            self.first[finding] = min(number, self.first.get(finding, number))
            self.count[finding] = self.count.get(finding, 0) + other.count[finding]


@contextmanager
def guard(seconds: float = PATIENCE) -> Iterator[None]:
    """Raise `Hang` after so many seconds of processor time."""

    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, stop)
    # Again every second: the first may be lost where nothing can be raised.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(reader: FuzzedReader, place: Path, random: Random) -> Finding | str:
    """Return "read", "refused", or what the reader did that it must not do."""
    peak = _peak()
    try:
        with guard(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(place, random)
    except RubricateError as error:
        said = [str(error)] + (
            list(map(str, error.faults)) if isinstance(error, InputError) else []
        )
        plain = (_NAME.sub("", line).lower() for line in said)
        if any(word in line for line in plain for word in CANARIES):
            return Finding(reader.name, "note text in the message", _where(error))
        outcome = "refused"
    except Hang as error:
        return Finding(reader.name, "hang", _where(error))
    except Exception as error:
        return Finding(reader.name, type(error).__name__, _where(error))
    except BaseException as error:
        # pyo3 raises its panics as BaseException.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return Finding(reader.name, type(error).__name__, _where(error))
    else:
        outcome = "read"
    if _peak() - peak > MOST_BYTES:
        return Finding(reader.name, "memory", reader.name)
    return outcome


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _where(error: BaseException) -> str:
    """Return the last function of ours on the way to the error."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/src/rubricate/" in frame.filename
    ]
    if not ours:
        return "?"
    inside = ours[-1].filename.rpartition("/src/rubricate/")[2].removesuffix(".py")
    return f"{inside.removesuffix('/__init__').replace('/', '.')}.{ours[-1].name}"


class Bench:
    """A folder in which the inputs of one reader are laid out, one after the other."""

    def __init__(self, reader: FuzzedReader, folder: Path, seed: int) -> None:
        self.reader, self.seed = reader, seed
        self._place = folder / "input"
        self._trees = reader.valid_trees(folder / "valid")
        self._there: Tree = {}

    def tree(self, number: int) -> Tree:
        """Return the input of this number: the same one for the same seed."""
        random = self._random(number)
        tree = damaged(random.choice(self._trees), random)
        return self.reader.seal(tree) if random.random() < 0.3 else tree

    def _random(self, number: int) -> Random:
        return Random(f"{self.seed} {self.reader.name} {number}")

    def valid(self) -> Sequence[Tree]:
        """Return the undamaged inputs."""
        return self._trees

    def judge(self, tree: Tree, number: int = 0) -> Finding | str:
        """Lay a tree out and judge what the reader makes of it."""
        self._lay(tree)
        return judge(self.reader, self._place / self.reader.root, self._random(-1 - number))

    def _lay(self, tree: Tree) -> None:
        """Change the files that differ: making folders anew takes far longer than reading them."""
        self._place.mkdir(parents=True, exist_ok=True)
        for name in self._there.keys() - tree.keys():
            path = self._place / name
            path.unlink()
            while path.parent != self._place and not any(path.parent.iterdir()):
                path = path.parent
                path.rmdir()
        for name, body in tree.items():
            if self._there.get(name) != body:
                (self._place / name).parent.mkdir(parents=True, exist_ok=True)
                (self._place / name).write_bytes(body)
        self._there = dict(tree)

    def run(self, numbers: Sequence[int], seen: Any = None) -> Tally:
        """Judge the inputs of these numbers; ``seen`` is told of each before it is read."""
        tally = Tally(self.reader.name)
        for number in numbers:
            if seen is not None:
                seen(number)
            tally.add(number, self.judge(self.tree(number), number))
        return tally
