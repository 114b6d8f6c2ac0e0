"""Measure how long commands take from their start, beside the import of other libraries.

Run: python benchmarks/cold_start.py [--times 5]

It prints the least processor time and the least elapsed time of several starts. Processor time
says more on a machine that does other work.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUBRIC = "text\nChest pressure\nNo fever\nFamily history of heart disease\nSmokes\n"
NOTE = "58 yo man with chest pressure for 3 weeks. Denies fever. Father had an MI.\n"


def measure(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the processor time and the elapsed time of a command, in seconds."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)
    elapsed, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, elapsed


def main() -> None:
    """Measure every command and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times: int = parser.parse_args().times
    rubricate = [sys.executable, "-P", "-m", "rubricate"]
    scoring = [
        *rubricate,
        "score",
        "notes",
        "--rubric",
        "rubric.csv",
        "--overwrite",
        "--out",
        "out",
    ]
    commands = {
        "`rubricate --help`": [*rubricate, "--help"],
        "`rubricate score`, one note, with report": scoring,
        "the same with `--model fast`": [*scoring, "--model", "fast"],
        "the same with `--matcher exact`": [*scoring, "--matcher", "exact"],
        "`import rubricate`": [sys.executable, "-P", "-c", "import rubricate"],
        "`import spacy`": [sys.executable, "-P", "-c", "import spacy"],
        "`import sklearn.linear_model`": [
            sys.executable,
            "-P",
            "-c",
            "import sklearn.linear_model",
        ],
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "notes").mkdir()
        (folder / "notes" / "a.txt").write_text(NOTE, encoding="utf-8")
        (folder / "rubric.csv").write_text(RUBRIC, encoding="utf-8")
        print("| start of | processor s | elapsed s |\n|---|---|---|")
        for name, command in commands.items():
            measure(command, folder)  # writes the bytecode
            found = []
            for _ in range(times):
                # Evidence of an earlier run would be used again.
                subprocess.run(["rm", "-rf", "out"], cwd=folder, check=True)
                found.append(measure(command, folder))
            used, elapsed = (min(one) for one in zip(*found, strict=True))
            print(f"| {name} | {used:.2f} | {elapsed:.2f} |")


if __name__ == "__main__":
    main()
