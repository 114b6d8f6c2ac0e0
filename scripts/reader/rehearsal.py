"""Write the notes that `fit` rehearses: one note of each of the first files' cases, no marks.

Run: python scripts/reader/rehearsal.py src/rubricate/neural/models/rehearsal.jsonl
"""

from __future__ import annotations

import sys
from pathlib import Path

from mixed_files import parse

from rubricate import Corpus, Feature, Note, Rubric, write_corpus

#: More of them made no difference, and they come with the package.
CASES = 100


def main() -> None:
    """Write one note per case, of the registers in turn."""
    cases = []
    for path in sorted((Path(__file__).parent / "mixed").glob("[abc]*.txt")):
        cases += parse(path)[0]
    every = len(cases) / CASES
    chosen = [cases[int(i * every)] for i in range(CASES)]
    notes, rubrics = [], []
    for i, case in enumerate(chosen):
        features = enumerate(case["features"].values())
        rubrics.append(
            Rubric(str(i), tuple(Feature(f"{i}-{k}", str(i), text) for k, text in features))
        )
        notes.append(Note(str(i), str(i), case["notes"][i % len(case["notes"])]["text"]))
    write_corpus(Corpus(tuple(notes), tuple(rubrics)), Path(sys.argv[1]), format="jsonl")


if __name__ == "__main__":
    main()
