"""Loading a 44,000-note competition folder, beside pandas reading the same CSV files.

The folder is made from the embedded notes, repeated under new numbers, annotations included.
pandas only reads the three tables (its location column stays text, as notebooks leave it; a second
line adds the ``ast.literal_eval`` they then run); rubricate gives checked, columnar annotations.

Run: python benchmarks/load_nbme.py
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rubricate import load_corpus, write_corpus

N_NOTES = 44_000


def make_folder(path: Path, n_notes: int) -> None:
    """Write the embedded notes again and again until there are enough."""
    source = load_corpus("open-notes").select(annotators=["reference"])
    small = path.with_name("small")
    write_corpus(source, small, format="nbme")
    path.mkdir()
    (path / "features.csv").write_bytes((small / "features.csv").read_bytes())
    notes = list(csv.DictReader((small / "patient_notes.csv").open(encoding="utf-8", newline="")))
    rows: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader((small / "train.csv").open(encoding="utf-8", newline="")):
        rows.setdefault(row["pn_num"], []).append(row)
    with (
        (path / "patient_notes.csv").open("w", encoding="utf-8", newline="") as notes_file,
        (path / "train.csv").open("w", encoding="utf-8", newline="") as train_file,
    ):
        note_writer = csv.DictWriter(notes_file, list(notes[0]))
        row_writer = csv.DictWriter(train_file, list(next(iter(rows.values()))[0]))
        note_writer.writeheader()
        row_writer.writeheader()
        for number in range(n_notes):
            note = notes[number % len(notes)]
            note_writer.writerow({**note, "pn_num": number})
            for row in rows[note["pn_num"]]:
                identity = f"{number:05d}_{int(row['feature_num']):03d}"
                row_writer.writerow({**row, "pn_num": number, "id": identity})


def run(way: str, path: Path) -> None:
    """Load the folder one way and print seconds and peak memory (run in a fresh process)."""
    started = time.perf_counter()
    if way == "rubricate":
        from rubricate import read_corpus

        corpus = read_corpus(path)
        size = len(corpus.rows)
    else:
        import ast

        import pandas as pd

        pd.read_csv(path / "patient_notes.csv")
        pd.read_csv(path / "features.csv")
        train = pd.read_csv(path / "train.csv")
        if way == "pandas+literal_eval":
            train["location"] = train["location"].map(ast.literal_eval)
            train["annotation"] = train["annotation"].map(ast.literal_eval)
        size = len(train)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {way} | {size:,} | {seconds:.2f} | {peak:,.0f} |")


def main() -> None:
    """Make the folder and time each way in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=N_NOTES)
    parser.add_argument("--way")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.way:
        run(arguments.way, arguments.folder)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "nbme"
        make_folder(folder, arguments.notes)
        print(f"{arguments.notes:,} notes\n\n| way | rows | seconds | peak MB |\n|---|---|---|---|")
        sys.stdout.flush()
        for way in ("rubricate", "pandas", "pandas+literal_eval"):
            command = [sys.executable, __file__, "--way", way, "--folder", str(folder)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
