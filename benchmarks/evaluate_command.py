"""The whole command ``rubricate evaluate`` on 2,840 notes × 14 features, intervals included.

The notes are the embedded deep cases', repeated under new ids and cut to 14 features per case; the
prediction is the reference with every fifth annotation shifted.

Run: python benchmarks/evaluate_command.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from rubricate import Corpus, load_corpus, write_corpus
from rubricate.rows import Rows

N_NOTES, N_FEATURES = 284, 14


def repeated() -> Corpus:
    """Return ten cases with 284 notes and 14 features each."""
    corpus = load_corpus("open-notes").select(
        cases=[str(i) for i in range(10)], annotators=["reference"]
    )
    first = [f.id for r in corpus.rubrics for f in r.features[:N_FEATURES]]
    keep = np.array([f.id in set(first) for f in corpus.features])
    rows = corpus.rows.take(keep[corpus.rows.feature]).relabel(feature=np.cumsum(keep) - 1)
    rubrics = tuple(replace(r, features=r.features[:N_FEATURES]) for r in corpus.rubrics)
    notes, parts = [], []
    for k in range(3):
        index = [i for i in range(len(corpus.notes)) if k < 2 or i % 100 < N_NOTES - 200]
        place = np.full(len(corpus.notes), -1)
        place[index] = np.arange(len(index)) + len(notes)
        notes += [replace(corpus.notes[i], id=f"{k}-{corpus.notes[i].id}") for i in index]
        parts.append(rows.take(place[rows.note] >= 0).relabel(note=place))
    return replace(corpus, notes=tuple(notes), rubrics=rubrics, rows=Rows.concatenate(parts))


def main() -> None:
    """Write both corpora and time the command."""
    reference = repeated()
    rows = reference.rows
    shifted = np.arange(len(rows.start)) % 5 == 0
    start = np.where(shifted, np.maximum(rows.start - 3, 0), rows.start).astype(np.int32)
    predicted = reference.with_rows(replace(rows, start=start))
    with tempfile.TemporaryDirectory() as scratch:
        for name, corpus in (("reference", reference), ("predicted", predicted)):
            write_corpus(corpus, Path(scratch) / name, format="nbme")
        arguments = ["-m", "rubricate", "evaluate", "reference", "predicted"]
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=scratch,
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - started
    print(done.stdout)
    print(
        f"{len(reference.notes):,} notes, {len(rows):,} rows, nbme folders: {seconds:.1f} s in all"
    )


if __name__ == "__main__":
    main()
