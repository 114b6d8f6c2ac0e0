"""Kills runs at any moment, or starts two at once, and checks what they leave; run as a script.

Each run is a process of its own, forked from this one, which has imported everything: so many of
them fit into a minute, and the kills fall on the work and not on the imports.

    python -P tests/scoring/harness.py kill NOTES.jsonl MODEL FOLDER 500
    python -P tests/scoring/harness.py two NOTES.jsonl MODEL FOLDER 200
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rubricate.errors import RubricateError
from rubricate.reports.scoring import ScoringReport
from rubricate.run.folder import PENDING
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.trust import verify_run

SAME = ("scores.csv", "items.csv", "scores.xlsx", "run.json", "report.html", "report/notes.html")
BATCH = 4
WHOLE = {"scores.csv", "items.csv", "scores.xlsx", "times.json", "run.json", "evidence",
         "report.html", "report", "decisions.jsonl"}  # fmt: skip
FINISHED, REFUSED, BROKEN = 0, 3, 4


@dataclass
class Harness:
    notes: Path
    model: Path
    folder: Path
    seed: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.seconds = 0.0
        # Once before the clock runs: what is imported late is imported here.
        for name in ("warm", "undisturbed"):
            start = time.perf_counter()
            self.run(self.folder / name)
            self.seconds = time.perf_counter() - start
        self.wanted = contents(self.folder / "undisturbed")

    def run(
        self, out: Path, *, workers: int = 0, overwrite: bool = False, other: bool = False
    ) -> None:
        settings = ScoreSettings(
            batch_size=3 if other else BATCH, workers=workers, overwrite=overwrite
        )
        report = ScoringReport()
        score_notes(self.notes, out, model=self.model, settings=settings, report=report)

    def fork(self, work: Callable[[], None]) -> int:
        pid = os.fork()
        if pid:
            return pid
        try:
            work()
        except RubricateError:
            os._exit(REFUSED)
        except BaseException:
            traceback.print_exc()
            os._exit(BROKEN)
        os._exit(FINISHED)

    def kill_runs(self, n_kills: int) -> None:
        """Kill runs until there were so many kills; each run is started again until it ends."""
        cycle = 0
        while self.counts["kills"] < n_kills:
            cycle += 1
            out = self.folder / f"killed{cycle}"
            earlier = cycle % 3 == 0
            if earlier:
                # A finished run of the same notes, cut otherwise: nothing of it can be used.
                self.run(out, other=True)
            workers = int(cycle % 5 == 0)
            while not self.kill_one(out, workers=workers, overwrite=earlier):
                pass
            self.check_end(out)
            self.counts["runs"] += 1
            print(json.dumps(self.counts), file=sys.stderr, flush=True)  # noqa: T201
            shutil.rmtree(out)

    def kill_one(self, out: Path, *, workers: int, overwrite: bool) -> bool:
        """Start a run and kill it some time later; tell whether it had ended before."""
        pid = self.fork(lambda: self.run(out, workers=workers, overwrite=overwrite))
        time.sleep(self.random.uniform(0, self.seconds * (3 if workers else 1.2)))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == FINISHED, "a run that was started again failed"
            return True
        self.counts["kills"] += 1
        self.counts[phase(out)] += 1
        if (out / "run.json").exists():
            # Whichever run it is of, what is there is whole.
            assert not verify_run(out).differing, verify_run(out).differing
            assert (out / "report.html").exists()
            if contents(out) == self.wanted:
                return True
        return False

    def check_end(self, out: Path) -> None:
        assert contents(out) == self.wanted, "other bytes than undisturbed"
        assert not verify_run(out).differing
        left = {path.name for path in out.iterdir()} - WHOLE
        assert not {name for name in left if name != ".lock"} or self.left_by_kill(left), left

    def left_by_kill(self, left: set[str]) -> bool:
        # Killed after the last step: what it was made in is still there, empty.
        return all(name in (".lock", PENDING) or name.startswith(".making-") for name in left)

    def start_two(self, n_tries: int) -> None:
        """Start two runs into one folder at once: one ends it, the other is refused."""
        for number in range(n_tries):
            out = self.folder / f"two{number}"
            pids = []
            for _ in range(2):
                pids.append(self.fork(partial(self.run, out)))
                time.sleep(self.random.choice((0, self.random.uniform(0, self.seconds))))
            ends = sorted(os.WEXITSTATUS(os.waitpid(pid, 0)[1]) for pid in pids)
            assert ends == [FINISHED, REFUSED], ends
            self.check_end(out)
            self.counts["pairs"] += 1
            shutil.rmtree(out)


def contents(out: Path) -> list[bytes]:
    return [(out / name).read_bytes() for name in SAME]


def phase(out: Path) -> str:
    """Return roughly how far a run had come."""
    making = [path for path in out.glob(".making-*") if any(path.iterdir())]
    names = {path.name for folder in making for path in folder.iterdir()}
    if any(name.startswith(".report.html") or name == "report" for name in names):
        return "in the report"
    if names:
        return "in the tables"
    return "before or in the evidence, or while moving"


if __name__ == "__main__":
    what, notes, model, folder, times = sys.argv[1:6]
    seed = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    harness = Harness(Path(notes), Path(model), Path(folder), seed)
    (harness.kill_runs if what == "kill" else harness.start_two)(int(times))
    print(json.dumps(harness.counts))  # noqa: T201
