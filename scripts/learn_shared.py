"""Make again what the `lexicon` matcher knows about every case: ``matchers/patterns/shared.json``.

Run: python scripts/learn_shared.py BANK [--weigh-on FOLDER ...]

Wordings are learned from the small cases of the embedded corpus (part ``breadth``) without every
fifth of them, which is kept to measure on, and from the phrase bank; nothing of the ten deep cases
goes in. The weights and the cut are also found on the notes of other folders in the nbme layout
whose ``sources.csv`` or ``splits.csv`` says ``train``; no word of them is kept.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

from build_bank import read_bank

import rubricate.matchers
from rubricate import Corpus, load_corpus
from rubricate.formats import read_corpus
from rubricate.matchers.wording.learn_shared import learn_shared
from rubricate.matchers.wording.shared import SharedModel
from rubricate.matchers.wording.synonyms import content_stems
from rubricate.progress import shown_progress

HELD_OUT_EVERY = 5
TARGET = Path(rubricate.matchers.__file__).parent / "patterns" / "shared.json"


def bank_wordings(folder: Path) -> list[tuple[list[str], list[str]]]:
    """Return pairs of stems: of a wording of the bank, and of a phrase that expresses it."""
    return [
        (content_stems(wording), content_stems(phrase))
        for wordings, phrases in read_bank(folder)
        for wording in wordings
        for phrase in (*phrases, *wordings)
        if phrase != wording
    ]


def train_notes(folder: Path) -> Corpus:
    """Return the notes of a folder's train split; of minimal pairs only the mixed ones."""
    corpus = read_corpus(folder).select(annotators=["reference"])
    table = next(p for name in ("sources", "splits") if (p := folder / f"{name}.csv").is_file())
    with table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    kept = {
        row["pn_num"]
        for row in rows
        if row["split"] == "train" and row.get("kind", "mixed") == "mixed"
    }
    return corpus.select(notes=[note.id for note in corpus.notes if note.id in kept])


def kept_cases() -> Corpus:
    """Return the small cases of the embedded corpus without every fifth of them."""
    corpus = load_corpus("open-notes").select(annotators=["reference"])
    small = {note.case for note in corpus.notes if note.metadata["part"] == "breadth"}
    ordered = [rubric.case for rubric in corpus.rubrics if rubric.case in small]
    return corpus.select(
        cases=[c for i, c in enumerate(ordered) if i % HELD_OUT_EVERY != HELD_OUT_EVERY - 1]
    )


def learn_default(bank: Path, folders: list[Path]) -> SharedModel:
    """Learn the shared model that comes with the package."""
    corpus = kept_cases()
    n = len(corpus.rubrics)
    said = f"open-notes, part breadth without every fifth case: {n} cases; phrase bank"
    if folders:
        said += f"; weights also on {', '.join(folder.name for folder in folders)} (train)"
    with shown_progress() as progress:
        return learn_shared(
            corpus,
            learned_from=said,
            wordings=bank_wordings(bank),
            weighed_on=[train_notes(folder) for folder in folders],
            progress=progress,
        )


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bank", type=Path, help="folder of the phrase bank")
    parser.add_argument("--weigh-on", type=Path, nargs="*", default=[], metavar="FOLDER")
    given = parser.parse_args()
    value = learn_default(given.bank, given.weigh_on).to_json()
    lines = [f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
