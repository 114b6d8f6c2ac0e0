"""Number of decisions that change if a note is written another way with the same meaning.

Run ``python benchmarks/same_note.py [--notes 40] [--model cascade] [--changes NAME ...]``. The
notes are drawn evenly from open-notes. It prints Markdown: for each change of
``tests/note_changes.py`` which share of the notes it touches, and which share of the items are
found in one version and not in the other, of all items in notes that it touches.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from note_changes import CHANGES
from rubricate import Corpus, load_corpus
from rubricate.matchers import Matcher, fit_matcher


def decisions(matcher: Matcher, corpus: Corpus) -> dict[tuple[str, str], bool]:
    """Return the decision on each feature of each note."""
    predicted = matcher.predict(corpus)
    found = {}
    for row in range(len(predicted.rows)):
        note = predicted.notes[predicted.rows.note[row]].id
        feature = predicted.features[predicted.rows.feature[row]].id
        found[note, feature] = bool(predicted.row_annotations(row))
    return found


def changed(
    matcher: Matcher, corpus: Corpus, before: dict[tuple[str, str], bool], name: str
) -> tuple[int, int, int]:
    """Count the notes that a change touches, their items, and the decisions that change."""
    texts = {note.id: CHANGES[name](note.text) for note in corpus.notes}
    own = corpus.select(notes=[n.id for n in corpus.notes if texts[n.id] != n.text])
    notes = tuple(replace(note, text=texts[note.id]) for note in own.notes)
    after = decisions(matcher, Corpus(notes, own.rubrics)) if notes else {}
    return len(notes), len(after), sum(found != before[item] for item, found in after.items())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=40)
    parser.add_argument("--model", default="cascade")
    parser.add_argument("--changes", nargs="+", choices=CHANGES, default=list(CHANGES))
    given = parser.parse_args()
    whole = load_corpus("open-notes")
    ids = [note.id for note in whole.notes]
    few = whole.select(notes=ids[:: max(1, len(ids) // given.notes)][: given.notes])
    corpus = Corpus(few.notes, few.rubrics)
    matcher = fit_matcher(given.model, corpus.select(notes=[]))
    before = decisions(matcher, corpus)
    print("| change | notes | items | changed |\n|---|---|---|---|")
    for name in given.changes:
        n_notes, n_items, n_changed = changed(matcher, corpus, before, name)
        share = f"{n_changed} ({n_changed / n_items:.1%})" if n_items else "–"
        print(f"| {name} | {n_notes} | {n_items} | {share} |", flush=True)


if __name__ == "__main__":
    main()
