"""What can be wrong with a reference and a prediction that are to be paired."""

from __future__ import annotations

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import Fault
from rubricate.measures.counts import RowKeys
from rubricate.measures.marks import Marks
from rubricate.rows import I32, I64


def differing_texts(
    reference: Corpus, predicted: Corpus, index: I32, translation: I64
) -> list[Fault]:
    """Name the predicted notes (by index) whose text is not the reference's.

    ``translation`` gives the reference's index for a predicted one, -1 where there is none. A
    predicted note without text (a table of locations only) has nothing to compare.
    """
    if reference.notes is predicted.notes:
        return []
    faults = []
    used = _used(index, len(translation))
    for i in used[translation[used] >= 0].tolist():
        mine, theirs = predicted.notes[i], reference.notes[translation[i]]
        if mine.text and mine.text != theirs.text:
            faults.append(
                Fault(
                    f"note {mine.id!r}: the predicted text ({len(mine.text)} characters) is not "
                    f"the reference's ({len(theirs.text)} characters), so offsets do not compare; "
                    "use the same, unchanged note texts on both sides"
                )
            )
    return faults


def unknown_notes(predicted: Corpus, index: I32, translation: I64) -> list[Fault]:
    """Name the predicted notes that the reference does not have."""
    used = _used(index, len(translation))
    return [
        Fault(f"note {predicted.notes[i].id!r} is predicted but not in the reference corpus")
        for i in used[translation[used] < 0].tolist()
    ]


def unknown_features(predicted: Corpus, index: I32, translation: I64) -> list[Fault]:
    """Name the predicted features that the reference does not have."""
    used = _used(index, len(translation))
    return [
        Fault(f"feature {predicted.features[i].id!r} is predicted but not in the reference corpus")
        for i in used[translation[used] < 0].tolist()
    ]


def missing_rows(reference: Corpus, rows: I64) -> list[Fault]:
    """Name, note by note, the features that were not predicted."""
    by_note: dict[int, list[str]] = {}
    for note, feature in zip(
        reference.rows.note[rows].tolist(), reference.rows.feature[rows].tolist(), strict=True
    ):
        by_note.setdefault(note, []).append(reference.features[feature].id)
    return [
        Fault(
            f"note {reference.notes[note].id!r}: {len(features)} judged "
            f"feature{'s' if len(features) > 1 else ''} without a prediction: "
            f"{', '.join(features)}"
        )
        for note, features in by_note.items()
    ]


def spans_outside(side: str, marks: Marks, keys: RowKeys, length: I64) -> list[Fault]:
    """Name the spans that are empty or lie outside their note."""
    row = marks.fragment_row
    wrong = (marks.start < 0) | (marks.end <= marks.start) | (marks.end > length[row])
    return [
        Fault(
            f"{side}, note {keys.notes[keys.note[row[i]]]!r}, "
            f"feature {keys.features[keys.feature[row[i]]]!r}: span {marks.start[i]} "
            f"{marks.end[i]} needs 0 <= start < end <= {length[row[i]]} (the note's length); "
            "check the corpus and repair it first"
        )
        for i in np.flatnonzero(wrong).tolist()
    ]


def _used(index: I32, n: int) -> I64:
    used = np.zeros(n, dtype=bool)
    used[index] = True
    return np.flatnonzero(used)
