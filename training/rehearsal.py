"""Write the notes of other cases that `fit` reads, no marks: those it rehearses, and unseen ones.

Rehearsed are cases of the training, of which the networks say what is right. What a fit changes is
told by cases in no training: of the others a network is so sure that they tell too little.

Run: python training/rehearsal.py src/rubricate/neural/models
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mixed_files import is_held_out, read_cases
from texts import DATA

from rubricate import Corpus, Feature, Note, Rubric, write_corpus

#: More of either made no difference, and they come with the package.
REHEARSED, UNSEEN = 100, 45


def write(cases: list[dict[str, Any]], size: int, path: Path) -> None:
    """Write one note each of so many of the cases, of the registers in turn."""
    every = len(cases) / size
    notes, rubrics = [], []
    for i, case in enumerate(cases[int(i * every)] for i in range(size)):
        features = enumerate(case["features"].values())
        rubrics.append(
            Rubric(str(i), tuple(Feature(f"{i}-{k}", str(i), text) for k, text in features))
        )
        notes.append(Note(str(i), str(i), case["notes"][i % len(case["notes"])]["text"]))
    write_corpus(Corpus(tuple(notes), tuple(rubrics)), path, format="jsonl", overwrite=True)


def main() -> None:
    """Write both files."""
    folder = Path(sys.argv[1])
    cases = [case for case in read_cases(DATA / "mixed") if re.match(r"[a-e]\d", case["part"])]
    # The long notes of the later parts make steps slow.
    rehearsed = [c for c in cases if c["part"] < "d" and not is_held_out(c["name"])]
    unseen = [case for case in cases if is_held_out(case["name"])]
    write(rehearsed, REHEARSED, folder / "rehearsal.jsonl")
    write(unseen, UNSEEN, folder / "unseen.jsonl")


if __name__ == "__main__":
    main()
