"""Annotated notes as the arrays a network learns from and is measured on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import I32, I64, U16, Bools
from rubricate.neural.encoder.pieces import PieceMaker, Pieces

if TYPE_CHECKING:
    from rubricate.corpus import Corpus


@dataclass(frozen=True, eq=False, slots=True)
class LearningSet:
    """Pieces of notes and features, and for every judged row which characters were marked."""

    note_first: I64
    note_ids: I32
    note_start: I32
    note_end: I32
    feature_first: I64
    feature_ids: I32
    row_first: I64
    row_feature: I32
    mark_first: I64
    marked: U16
    marked_after: I32
    row_marked: I32
    note_case: I32

    @property
    def n_notes(self) -> int:
        """Number of notes."""
        return len(self.note_first) - 1

    def note(self, i: int) -> I32:
        """Return the pieces of note ``i``."""
        return self.note_ids[self.note_first[i] : self.note_first[i + 1]]

    def pieces(self, i: int) -> Pieces:
        """Return the pieces of note ``i`` with their places."""
        own = slice(self.note_first[i], self.note_first[i + 1])
        return Pieces(self.note_ids[own], self.note_start[own], self.note_end[own])

    def feature(self, i: int) -> I32:
        """Return the pieces of feature ``i``."""
        return self.feature_ids[self.feature_first[i] : self.feature_first[i + 1]]

    def with_text(self, *, judged: bool) -> list[int]:
        """Return the notes that have text and at least one judged row, or text and none."""
        return [
            i
            for i in range(self.n_notes)
            if len(self.note(i)) and bool(len(self.rows(i))) is judged
        ]

    def rows(self, note: int) -> range:
        """Return the numbers of the rows of a note."""
        return range(int(self.row_first[note]), int(self.row_first[note + 1]))

    def lengths(self, note: int) -> tuple[I32, I32]:
        """Return the characters of each piece, and of the gap after it, of a note."""
        own = slice(self.note_first[note], self.note_first[note + 1])
        start, end = self.note_start[own], self.note_end[own]
        gap = np.zeros_like(start)
        gap[:-1] = start[1:] - end[:-1]
        return end - start, gap

    def marks(self, row: int) -> tuple[U16, I32]:
        """Return the marked characters of each piece and each gap of a row."""
        own = slice(self.mark_first[row], self.mark_first[row + 1])
        return self.marked[own], self.marked_after[own]

    def targets(self, note: int, row: int) -> Bools:
        """Tell of each piece whether at least half of it is marked."""
        whole, _ = self.lengths(note)
        return self.marks(row)[0] * 2 >= whole

    def with_rows(self, features: Mapping[int, Sequence[int]]) -> LearningSet:
        """Return the set with further rows, nothing marked: of these notes, for these features.

        Whether such a feature is in the note nobody knows: the rows are for a network to judge.
        A note's new rows come after those it has.
        """
        row_feature, marked, after, totals = [], [], [], []
        sizes: list[int] = []
        first = [0]
        for i in range(self.n_notes):
            rows = slice(int(self.row_first[i]), int(self.row_first[i + 1]))
            marks = slice(self.mark_first[rows.start], self.mark_first[rows.stop])
            new = np.asarray(features.get(i, ()), np.int32)
            length = len(self.note(i))
            row_feature += [self.row_feature[rows], new]
            marked += [self.marked[marks], np.zeros(len(new) * length, np.uint16)]
            after += [self.marked_after[marks], np.zeros(len(new) * length, np.int32)]
            totals += [self.row_marked[rows], np.zeros(len(new), np.int32)]
            n_rows = rows.stop - rows.start + len(new)
            sizes += [length] * n_rows
            first.append(first[-1] + n_rows)
        return replace(
            self,
            row_first=np.asarray(first, np.int64),
            row_feature=np.concatenate(row_feature),
            mark_first=_firsts(sizes),
            marked=np.concatenate(marked),
            marked_after=np.concatenate(after),
            row_marked=np.concatenate(totals),
        )

    def save(self, path: Path) -> None:
        """Write all arrays to one compressed file."""
        np.savez_compressed(path, **{f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: Path) -> LearningSet:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**{f.name: arrays[f.name] for f in fields(cls)})


def learning_set(corpus: Corpus, annotator: str | None, maker: PieceMaker) -> LearningSet:
    """Return the judged rows of one annotator, for all notes of the corpus.

    Notes without a judged row are kept, with no rows: they are the unlabelled ones.
    """
    notes = maker.cut([note.text for note in corpus.notes])
    features = maker.cut([feature.text for feature in corpus.features])
    cases = {rubric.case: i for i, rubric in enumerate(corpus.rubrics)}
    rows = corpus.rows
    wanted = -1 if annotator is None else corpus.annotator_index[annotator]
    own = rows.take(rows.annotator == wanted)
    row_first = np.searchsorted(own.note, np.arange(len(notes) + 1)).astype(np.int64)
    marked: list[U16] = []
    after: list[I32] = []
    totals: list[int] = []
    first_span = own.first_span[own.first_annotation]
    for row, note in enumerate(own.note.tolist()):
        span = slice(first_span[row], first_span[row + 1])
        inside = _inside(own.start[span], own.end[span], len(corpus.notes[note].text))
        one, gap = _marks(inside, notes[note])
        marked.append(one)
        after.append(gap)
        totals.append(int(inside[-1]))
    return LearningSet(
        note_first=_firsts(len(one) for one in notes),
        note_ids=_flat([one.ids for one in notes], np.int32),
        note_start=_flat([one.start for one in notes], np.int32),
        note_end=_flat([one.end for one in notes], np.int32),
        feature_first=_firsts(len(one) for one in features),
        feature_ids=_flat([one.ids for one in features], np.int32),
        row_first=row_first,
        row_feature=own.feature,
        mark_first=_firsts(len(one) for one in marked),
        marked=_flat(marked, np.uint16),
        marked_after=_flat(after, np.int32),
        row_marked=np.asarray(totals, np.int32),
        note_case=np.asarray([cases.get(note.case, -1) for note in corpus.notes], np.int32),
    )


def _inside(start: I32, end: I32, length: int) -> I64:
    """Return the number of marked characters before each place of the note."""
    marked = np.zeros(length + 1, np.int64)
    for a, b in zip(start, end, strict=True):
        marked[a:b] = 1
    total = np.zeros(length + 1, np.int64)
    np.cumsum(marked[:-1], out=total[1:])
    return total


def _marks(inside: I64, pieces: Pieces) -> tuple[U16, I32]:
    of_piece = inside[pieces.end] - inside[pieces.start]
    of_gap = np.zeros_like(of_piece)
    of_gap[:-1] = inside[pieces.start[1:]] - inside[pieces.end[:-1]]
    return of_piece.astype(np.uint16), of_gap.astype(np.int32)


def _firsts(sizes: Iterable[int]) -> I64:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _flat(parts: Sequence[npt.NDArray[Any]], kind: type[np.generic]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
