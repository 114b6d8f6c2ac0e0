"""Write the notes of other cases that `fit` reads: one of each mixed case in no training, no marks.

Every second one is rehearsed; the others tell what a fit changed, as on a case never seen. On notes
of the training a network is so sure that they tell too little.

Run: python scripts/reader/rehearsal.py src/rubricate/neural/models/rehearsal.jsonl
"""

from __future__ import annotations

import sys
from pathlib import Path

from mixed_files import is_held_out, parse

from rubricate import Corpus, Feature, Note, Rubric, write_corpus


def main() -> None:
    """Write one note per case; their registers in turn, the same for those rehearsed and not."""
    paths = sorted((Path(__file__).parent / "mixed").glob("*.txt"))
    cases = [case for path in paths for case in parse(path)[0] if is_held_out(case["name"])]
    notes, rubrics = [], []
    for i, case in enumerate(cases):
        features = enumerate(case["features"].values())
        rubrics.append(
            Rubric(str(i), tuple(Feature(f"{i}-{k}", str(i), text) for k, text in features))
        )
        notes.append(Note(str(i), str(i), case["notes"][i // 2 % len(case["notes"])]["text"]))
    write_corpus(Corpus(tuple(notes), tuple(rubrics)), Path(sys.argv[1]), format="jsonl")


if __name__ == "__main__":
    main()
