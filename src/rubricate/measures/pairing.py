"""Aligning a reference and a prediction: the same notes, the same features, row by row."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Literal

import numpy as np

from rubricate.arrays import I32, I64
from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.measures.counts import RowKeys
from rubricate.measures.marks import Marks, gather_marks
from rubricate.merge import share_labels

#: What to do with rows the reference judged and the prediction did not.
Missing = Literal["error", "empty", "skip"]
#: What to do with predicted notes and features the reference does not have.
Unknown = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Rows that two sides have in common; the coverage of disjoint parts adds.

    ``n_notes``, ``n_rows``: notes and (note, feature) rows that are counted.
    ``n_missing_notes``, ``n_missing_rows``: judged by the reference, not by the prediction (notes:
    not a single row).
    ``n_unjudged_rows``: predicted rows left out because the reference did not judge them.
    ``n_unknown_rows``: predicted rows left out because the reference has no such note or feature.
    """

    n_notes: int
    n_rows: int
    n_missing_notes: int = 0
    n_missing_rows: int = 0
    n_unjudged_rows: int = 0
    n_unknown_rows: int = 0

    def __add__(self, other: Coverage) -> Coverage:
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Coverage(**sums)

    def to_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Rows of a reference beside rows of a prediction."""

    reference: Corpus
    predicted: Corpus
    reference_annotator: str
    predicted_annotator: str
    keys: RowKeys
    reference_row: I64
    predicted_row: I64
    coverage: Coverage

    def __len__(self) -> int:
        return len(self.reference_row)

    @cached_property
    def length(self) -> I64:
        """The number of characters of each row's note."""
        lengths = np.array([len(note.text) for note in self.reference.notes], dtype=np.int64)
        return lengths[self.keys.note]

    @cached_property
    def reference_marks(self) -> Marks:
        """Marks of the reference."""
        return gather_marks(self.reference.rows, self.reference_row)

    @cached_property
    def predicted_marks(self) -> Marks:
        """Predicted marks."""
        return gather_marks(self.predicted.rows, self.predicted_row)


def pair_rows(
    reference: Corpus,
    predicted: Corpus,
    *,
    reference_annotator: str | None = None,
    predicted_annotator: str | None = None,
    missing: Missing = "empty",
    unknown: Unknown = "error",
) -> Pairing:
    """Align the rows two annotators judged, by note id and feature id.

    ``reference_annotator``, ``predicted_annotator``: needed where a corpus has more than one
    annotator.
    ``missing``: rows the reference judged and the prediction did not: predicted nothing there
    (counted in ``coverage``), an error, or left out (then only rows judged by both count, as
    agreement among annotators wants).
    ``unknown``: predicted rows of notes or features that the reference corpus does not have.

    Rows come in canonical order. Faults are raised all at once: unknown notes and features, notes
    whose text differs (a predicted note without any text is taken to be the same), spans outside
    their note.

    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n1", "c", "no fever, no cough"))
    >>> builder.add_feature(Feature("f1", "c", "No fever"))
    >>> builder.annotate("ann", "n1", "f1", [(0, 8)])
    >>> builder.annotate("bob", "n1", "f1", [(3, 8)])
    >>> corpus = builder.build()
    >>> pairing = pair_rows(
    ...     corpus, corpus, reference_annotator="ann", predicted_annotator="bob"
    ... )
    >>> pairing.reference_row.tolist(), pairing.predicted_row.tolist()
    ([0], [1])
    """
    _check_choice("missing", missing, ("empty", "error", "skip"))
    _check_choice("unknown", unknown, ("error", "skip"))
    reference, predicted = share_labels([reference, predicted])
    first = annotator_number(reference, reference_annotator, "reference")
    second = annotator_number(predicted, predicted_annotator, "predicted")
    judged = np.flatnonzero(reference.rows.annotator == first)
    candidates = np.flatnonzero(predicted.rows.annotator == second)
    own_note, own_feature = predicted.rows.note[candidates], predicted.rows.feature[candidates]
    note = _translated([n.id for n in predicted.notes], reference.note_index)
    feature = _translated([f.id for f in predicted.features], reference.feature_index)
    faults = _differing_texts(reference, predicted, own_note, note)
    if unknown == "error":
        faults += _unknown_notes(predicted, own_note, note)
        faults += _unknown_features(predicted, own_feature, feature)

    note_of, feature_of = note[own_note], feature[own_feature]
    known = (note_of >= 0) & (feature_of >= 0)
    place = _places(
        reference.rows.note[judged].astype(np.int64) * len(reference.features)
        + reference.rows.feature[judged],
        np.where(known, note_of * len(reference.features) + feature_of, -1),
    )
    predicted_row = np.full(len(judged), -1, dtype=np.int64)
    predicted_row[place[place >= 0]] = candidates[place >= 0]
    absent = predicted_row < 0
    if missing == "error":
        faults += _missing_rows(reference, judged[absent])
    n_judged, n_both = _n_notes(reference, judged), _n_notes(reference, judged[~absent])
    if missing == "skip":
        judged, predicted_row = judged[~absent], predicted_row[~absent]
    coverage = Coverage(
        n_notes=n_both if missing == "skip" else n_judged,
        n_rows=len(judged),
        n_missing_notes=n_judged - n_both,
        n_missing_rows=int(absent.sum()),
        n_unjudged_rows=int((known & (place < 0)).sum()),
        n_unknown_rows=int((~known).sum()),
    )
    pairing = Pairing(
        reference,
        predicted,
        reference.annotators[first].id,
        predicted.annotators[second].id,
        row_keys(reference, judged),
        judged,
        predicted_row,
        coverage,
    )
    for side, marks in (
        ("reference", pairing.reference_marks),
        ("predicted", pairing.predicted_marks),
    ):
        faults += _spans_outside(side, marks, pairing.keys, pairing.length)
    InputError.raise_any(faults)
    return pairing


def _check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UnknownNameError(f"choice for {option!r}", value, allowed)


def annotator_number(corpus: Corpus, annotator: str | None, side: str = "") -> int:
    """Return the index of the annotator that is named, or of the only one.

    >>> from rubricate import load_corpus
    >>> annotator_number(load_corpus("open-notes"), "second_rater")
    1
    """
    which, option = (f"{side} corpus", f"{side}_annotator") if side else ("corpus", "annotator")
    known = list(corpus.annotator_index)
    if annotator:
        if annotator not in corpus.annotator_index:
            raise UnknownNameError(f"annotator in the {which}", annotator, known)
        return corpus.annotator_index[annotator]
    if len(known) != 1:
        raise InputError(
            f"the {which} has {len(known)} annotators ({', '.join(known)}); name one of them with "
            f"{option} (--{option.replace('_', '-')})"
            if known
            else f"the {which} has no annotator, so nothing in it was judged"
        )
    return 0


def _translated(ids: list[str], index: dict[str, int]) -> I64:
    return np.array([index.get(i, -1) for i in ids], dtype=np.int64)


def _places(keys: I64, wanted: I64) -> I64:
    """Return the place of each wanted key among the sorted keys, -1 if it is missing."""
    if np.array_equal(keys, wanted):
        return np.arange(len(keys), dtype=np.int64)
    if len(keys) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _n_notes(corpus: Corpus, rows: I64) -> int:
    return int((np.diff(corpus.rows.note[rows]) != 0).sum()) + 1 if len(rows) else 0


def row_keys(reference: Corpus, rows: I64) -> RowKeys:
    """Return note, feature and case of these rows of a corpus."""
    # a note's own case, not the feature's: "per case" groups notes
    number = {rubric.case: i for i, rubric in enumerate(reference.rubrics)}
    case_of_note = [number.setdefault(note.case, len(number)) for note in reference.notes]
    note = reference.rows.note[rows].astype(np.int64)
    return RowKeys(
        note=note,
        feature=reference.rows.feature[rows].astype(np.int64),
        case=np.array(case_of_note, dtype=np.int64)[note],
        notes=tuple(n.id for n in reference.notes),
        features=tuple(f.id for f in reference.features),
        cases=tuple(number),
    )


def _differing_texts(
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


def _unknown_notes(predicted: Corpus, index: I32, translation: I64) -> list[Fault]:
    """Name the predicted notes that the reference does not have."""
    used = _used(index, len(translation))
    return [
        Fault(f"note {predicted.notes[i].id!r} is predicted but not in the reference corpus")
        for i in used[translation[used] < 0].tolist()
    ]


def _unknown_features(predicted: Corpus, index: I32, translation: I64) -> list[Fault]:
    """Name the predicted features that the reference does not have."""
    used = _used(index, len(translation))
    return [
        Fault(
            f"feature {predicted.features[i].id!r} is predicted but not in the reference corpus: "
            "name the same features on both sides (in BRAT: annotation.conf)"
        )
        for i in used[translation[used] < 0].tolist()
    ]


def _missing_rows(reference: Corpus, rows: I64) -> list[Fault]:
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


def _spans_outside(side: str, marks: Marks, keys: RowKeys, length: I64) -> list[Fault]:
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
