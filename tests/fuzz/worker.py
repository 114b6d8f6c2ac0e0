"""Inputs judged in a process of their own, which may die of one without taking others along.

Run as a program it judges inputs one after the other and prints a line for each.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.readers import fuzzed_readers
from fuzz.running import Bench, Finding, Tally

#: What a worker needs no threads for.
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run_apart(
    reader: str, seed: int, numbers: range, *, done: Callable[[int], None] | None = None
) -> Tally:
    """Judge inputs in another process, and go on after the input one of them dies of."""
    tally, number = Tally(reader), numbers.start
    while number < numbers.stop:
        command = [
            sys.executable,
            "-P",
            __file__,
            reader,
            str(seed),
            str(number),
            str(numbers.stop),
        ]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **ONE_THREAD},
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if not line.endswith("\n"):
                    break
                said = json.loads(line)
                tally.add(number, Finding(**said) if isinstance(said, dict) else said)
                number += 1
                if done is not None:
                    done(1)
        if number < numbers.stop:
            if process.returncode >= 0:
                raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
            tally.add(number, Finding(reader, "death", signal.Signals(-process.returncode).name))
            number += 1
            if done is not None:
                done(1)
    return tally


def fast_folder() -> str | None:
    """Return a place for temporary files that needs no disk, or None."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _main(name: str, seed: int, first: int, stop: int) -> None:
    (reader,) = (one for one in fuzzed_readers() if one.name == name)
    answers = sys.stdout
    sys.stdout = sys.stderr
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        bench = Bench(reader, Path(folder), seed)
        for number in range(first, stop):
            outcome = bench.judge(bench.tree(number), number)
            said = outcome if isinstance(outcome, str) else asdict(outcome)
            print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    _main(sys.argv[1], *map(int, sys.argv[2:5]))
