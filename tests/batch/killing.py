"""Works whose worker processes get SIGKILL, for tests; imported by the workers by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rubricate.batch.work
from rubricate.batch import time_limit


def kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Squaring:
    """Squares numbers; kills its process at ``fatal`` ones, and once for each of ``shaky``."""

    marks: Path
    fatal: tuple[int, ...] = ()
    shaky: tuple[int, ...] = ()
    pause: float = 0.0

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        return self._square

    def _square(self, items: Sequence[Any]) -> list[Any]:
        time.sleep(self.pause)
        for item in items:
            if item in self.fatal:
                kill_this_process()
            mark = self.marks / str(item)
            if item in self.shaky and not mark.exists():
                mark.touch()
                kill_this_process()
        return [item * item for item in items]


@dataclass(frozen=True)
class Sleeping:
    """Leaves the number of its process behind, and never ends."""

    marks: Path

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        return self._sleep

    def _sleep(self, items: Sequence[Any]) -> list[Any]:
        (self.marks / str(os.getpid())).touch()
        while True:
            time.sleep(1.0)


@dataclass(frozen=True)
class Chatting:
    """Prints to where the results go."""

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        return self._print

    def _print(self, items: Sequence[Any]) -> list[Any]:
        print("chatter", flush=True)  # noqa: T201
        return list(items)


@dataclass(frozen=True)
class Raising:
    """Raises for one item, with a message nobody may see."""

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        return self._raise

    def _raise(self, items: Sequence[Any]) -> list[Any]:
        raise KeyError("words of a note")


@dataclass(frozen=True)
class DyingAtOnce:
    """Kills every worker that prepares it."""

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        kill_this_process()
        raise AssertionError


@dataclass(frozen=True)
class Unsendable:
    """Returns what no pickle holds."""

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        return lambda items: [lambda: None for _ in items]


@dataclass(frozen=True)
class Deaf:
    """Hears no alarm, as code below Python does not; at one item it never ends."""

    def prepare(self) -> Callable[[Sequence[Any]], list[Any]]:
        rubricate.batch.work.GRACE = 0.1
        return self._work

    def _work(self, items: Sequence[Any]) -> list[Any]:
        with time_limit(0.1 if "forever" in items else 0.0):
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            while "forever" in items:
                time.sleep(0.1)
        return list(items)
