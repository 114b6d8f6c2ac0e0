"""Give readers damaged files, and see that they read them or refuse them with an error of ours.

    python scripts/fuzz.py --number 1000000 --jobs 2
    python scripts/fuzz.py --number 5000 --reader brat --seed 3

Inputs are shared out evenly among the readers (of tests/fuzz/readers.py). The input of a number is
the same for the same seed, so a run that was stopped goes on with ``--first``, and one input is
looked at with ``--first NUMBER --number 1 --keep FOLDER``. The exit status is 1 when there is a
finding.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from tqdm import tqdm

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from fuzz.readers import FuzzedReader, fuzzed_readers  # noqa: E402
from fuzz.running import Bench, Tally  # noqa: E402
from fuzz.worker import run_apart  # noqa: E402

#: Inputs of one process.
PART = 5_000


def shared_out(readers: Sequence[FuzzedReader], number: int, first: int) -> list[tuple[str, range]]:
    """Return the inputs, by reader, that one process judges in this order."""
    each, more = divmod(number, len(readers))
    parts = []
    for place, reader in enumerate(readers):
        stop = first + each + (place < more)
        parts += [
            (reader.name, range(start, min(start + PART, stop)))
            for start in range(first, stop, PART)
        ]
    # Every reader's first part before any reader's second.
    return sorted(parts, key=lambda part: part[1].start)


def run(parts: Sequence[tuple[str, range]], seed: int, jobs: int) -> dict[str, Tally]:
    """Judge all parts, several at a time, and say how far it has come."""
    tallies: dict[str, Tally] = {}
    lock = Lock()
    with tqdm(total=sum(len(numbers) for _, numbers in parts), unit=" inputs") as bar:

        def done(count: int) -> None:
            with lock:
                bar.update(count)

        def one(part: tuple[str, range]) -> None:
            found = run_apart(part[0], seed, part[1], done=done)
            with lock:
                bar.set_postfix_str(f"{part[0]} to {part[1].stop}")
                tallies.setdefault(part[0], Tally(part[0])).merge(found)

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, parts))
    return tallies


def table(tallies: dict[str, Tally], seed: int) -> list[str]:
    """Return the lines of a table: each reader, then what was found."""
    lines = [f"{'reader':<18}{'inputs':>9}{'read':>9}{'refused':>9}{'found':>7}"]
    total = [0] * 4
    for name, tally in tallies.items():
        row = [tally.n_inputs, tally.n_read, tally.n_refused, sum(tally.count.values())]
        total = [a + b for a, b in zip(total, row, strict=True)]
        lines.append(row_text(name, row))
    lines.append(row_text("all", total))
    for tally in tallies.values():
        for one, number in sorted(tally.first.items()):
            lines.append(
                f"{one.reader}: {one.error} in {one.where}, {tally.count[one]} times; "
                f"see --reader {one.reader} --seed {seed} --first {number} --number 1"
            )
    return lines


def row_text(name: str, row: Sequence[int]) -> str:
    """Return one line of the table."""
    return f"{name:<18}{row[0]:>9,}{row[1]:>9,}{row[2]:>9,}{row[3]:>7,}"


def to_json(tallies: dict[str, Tally], seed: int) -> dict[str, Any]:
    """Return the same as plain values."""
    readers = [
        {"reader": t.reader, "inputs": t.n_inputs, "read": t.n_read, "refused": t.n_refused}
        for t in tallies.values()
    ]
    findings = [
        {"reader": one.reader, "error": one.error, "where": one.where, "count": t.count[one],
         "first": number}
        for t in tallies.values()
        for one, number in sorted(t.first.items())
    ]  # fmt: skip
    return {"seed": seed, "readers": readers, "findings": findings}


def keep(reader: FuzzedReader, seed: int, number: int, folder: Path) -> None:
    """Write one input to a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, body in Bench(reader, Path(scratch), seed).tree(number).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(body)


def main() -> None:
    """Read the options, judge the inputs, print what came out."""
    readers = {reader.name: reader for reader in fuzzed_readers()}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=20_000, help="inputs, of all readers")
    parser.add_argument("--reader", action="append", choices=readers, help="only this one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="write the first input of the reader here")
    parser.add_argument("--json", action="store_true", dest="as_json")
    given = parser.parse_args()
    chosen = [readers[name] for name in given.reader or readers]
    if given.keep is not None:
        keep(chosen[0], given.seed, given.first, given.keep)
    tallies = run(shared_out(chosen, given.number, given.first), given.seed, given.jobs)
    if given.as_json:
        print(json.dumps(to_json(tallies, given.seed), indent=1))
    else:
        print("\n".join(table(tallies, given.seed)))
    sys.exit(any(tally.first for tally in tallies.values()))


if __name__ == "__main__":
    main()
