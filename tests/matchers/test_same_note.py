"""A note in other clothes gets the same decisions; benchmarks/same_note.py measures more notes."""

from dataclasses import replace

import pytest

from note_changes import CHANGES
from rubricate import Corpus, load_corpus
from rubricate.matchers import fit_matcher

N_NOTES = 3


def found_in(corpus: Corpus) -> set[tuple[str, str]]:
    """Return the items found."""
    predicted = fit_matcher("encoder", corpus.select(notes=[])).predict(corpus)
    rows = predicted.rows
    return {
        (predicted.notes[rows.note[row]].id, predicted.features[rows.feature[row]].id)
        for row in range(len(rows))
        if predicted.row_annotations(row)
    }


@pytest.mark.slow
def test_changes_that_nobody_notices_change_one_decision_in_a_hundred() -> None:
    assert len(CHANGES) >= 16
    whole = load_corpus("open-notes")
    few = whole.select(notes=[note.id for note in whole.notes][:: len(whole.notes) // N_NOTES])
    notes, rubrics = few.notes[:N_NOTES], few.rubrics
    before = found_in(Corpus(notes, rubrics))
    n_items = sum(len(few.rubric(note.case)) for note in notes)
    n_changed = 0
    for change in CHANGES.values():
        other = tuple(replace(note, text=change(note.text)) for note in notes)
        n_changed += len(before ^ found_in(Corpus(other, rubrics)))
    assert n_changed <= 0.01 * n_items * len(CHANGES)
