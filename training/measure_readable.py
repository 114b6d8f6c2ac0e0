"""Measure how many notes, and how many texts that are none, are sent to review whole.

    python training/measure_readable.py --matcher lexicon --notes open-notes --where split=test
    python training/measure_readable.py --matcher encoder --texts tests/resources/no_notes --cases 3

Texts are scored with the rubrics of some cases of the embedded corpus, drawn by the seed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

from texts import read_texts

from rubricate import Corpus, Note, load_corpus
from rubricate.formats.notes import NoteSource
from rubricate.run import read_results
from rubricate.run.results import FOR_REVIEW
from rubricate.scoring import ScoreSettings, open_notes, score_notes


def texts_to_score(folder: Path, n_cases: int, seed: int) -> Corpus:
    """Return each text as a note of some cases."""
    embedded = load_corpus("open-notes")
    pick, cases = random.Random(seed), [rubric.case for rubric in embedded.rubrics]
    notes = tuple(
        Note(f"{name} {case}", case, text)
        for name, text in read_texts(folder).items()
        for case in pick.sample(cases, n_cases)
    )
    used = {note.case for note in notes}
    return Corpus(notes, tuple(rubric for rubric in embedded.rubrics if rubric.case in used))


def main() -> None:
    """Score, and print shares and the texts that were not stopped."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--matcher", default="lexicon")
    parser.add_argument("--model", help="fast, accurate, cascade or a folder, instead of a matcher")
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--notes")
    parser.add_argument("--where", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    source: Corpus | NoteSource
    if given.texts:
        source = texts_to_score(given.texts, given.cases, given.seed)
    else:
        source = open_notes(given.notes, where=given.where)
    with tempfile.TemporaryDirectory() as folder:
        settings = ScoreSettings(matcher=given.matcher)
        score_notes(source, Path(folder) / "out", model=given.model, settings=settings)
        results = list(read_results(Path(folder) / "out"))
    items = [item for result in results for item in result.items]
    stopped = [result for result in results if result.status == FOR_REVIEW]
    silent = sum(item.found is True and not item.review_reason for item in items)
    unsure = sum(item.review_reason.startswith("unsure") for item in items)
    print(f"{len(stopped):,} of {len(results):,} stopped ({len(stopped) / len(results):.2%})")
    print(f"items credited without review: {silent / len(items):.4f} of {len(items):,}")
    print(f"items sent to review as unsure: {unsure / len(items):.4f}")
    listed = {True: "not stopped", False: "stopped"}[given.texts is not None]
    for result in results:
        if (result.status == FOR_REVIEW) != (given.texts is not None):
            print(f"{listed}: {result.note}: {result.reason or 'scored'}")


if __name__ == "__main__":
    main()
