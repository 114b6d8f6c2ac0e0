"""Building rows and corpora piece by piece, in any order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rubricate.corpus import Annotator, Corpus, Note, Score
from rubricate.rows import NO_DETAIL, Contradiction, Detail, Rows
from rubricate.rubric import NO_METADATA, Feature, Metadata, Rubric
from rubricate.spans import Span


class RowsBuilder:
    """Collects rows one by one, in any order, by index.

    >>> builder = RowsBuilder()
    >>> builder.judge(0, 0, 1)
    0
    >>> builder.annotate(0, 0, 0, [(3, 8)])
    >>> rows = builder.build()
    >>> rows.feature.tolist(), rows.n_annotations
    ([0, 1], 1)
    """

    def __init__(self) -> None:
        self._row: dict[tuple[int, int, int], int] = {}
        self._probability: list[float] = []
        self._row_of_annotation: list[int] = []
        self._confidence: list[float] = []
        self._annotation_of_span: list[int] = []
        self._start: list[int] = []
        self._end: list[int] = []
        self._details: dict[int, Detail] = {}
        self._contradictions: dict[int, Contradiction] = {}

    def __contains__(self, key: tuple[int, int, int]) -> bool:
        return key in self._row

    def judge(
        self, note: int, annotator: int, feature: int, *, probability: float | None = None
    ) -> int:
        """Say that the annotator judged this feature in this note; return the row's number."""
        row = self._row.setdefault((note, annotator, feature), len(self._row))
        if row == len(self._probability):
            self._probability.append(float("nan"))
        if probability is not None:
            self._probability[row] = probability
        return row

    def annotate(
        self,
        note: int,
        annotator: int,
        feature: int,
        spans: Iterable[tuple[int, int]],
        *,
        confidence: float | None = None,
        detail: Detail = NO_DETAIL,
    ) -> None:
        """Add one annotation, of one or more fragments."""
        row = self.judge(note, annotator, feature)
        annotation = len(self._row_of_annotation)
        self._row_of_annotation.append(row)
        self._confidence.append(float("nan") if confidence is None else confidence)
        for start, end in spans:
            self._annotation_of_span.append(annotation)
            self._start.append(start)
            self._end.append(end)
        if detail != NO_DETAIL:
            self._details[annotation] = detail

    def contradict(self, note: int, annotator: int, feature: int, said: Contradiction) -> None:
        """Say that the note contradicts the feature; of several times the last holds."""
        self._contradictions[self.judge(note, annotator, feature)] = said

    def build(self) -> Rows:
        """Return everything collected, in canonical order."""
        keys = np.array(list(self._row), dtype=np.int32).reshape(-1, 3)
        return Rows.build(
            note=keys[:, 0],
            annotator=keys[:, 1],
            feature=keys[:, 2],
            row_of_annotation=self._row_of_annotation,
            annotation_of_span=self._annotation_of_span,
            start=self._start,
            end=self._end,
            probability=self._probability,
            confidence=self._confidence,
            details=self._details,
            contradictions=self._contradictions,
        )


class CorpusBuilder:
    """Collects notes, rubrics, annotators and annotations by id, in any order.

    Notes keep the order in which they were added, features the order within their rubric.

    Examples
    --------
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n1", "c", "no fever"))
    >>> builder.add_feature(Feature("f1", "c", "No fever"))
    >>> builder.annotate("ann", "n1", "f1", [(0, 8)])
    >>> builder.build()
    <Corpus: 1 notes, 1 cases, 1 features, 1 annotators, 1 rows>
    """

    def __init__(self, metadata: Metadata = NO_METADATA) -> None:
        self.notes: dict[str, Note] = {}
        self.annotators: dict[str, Annotator] = {}
        self.scores: list[Score] = []
        self.metadata = metadata
        self._rubrics: dict[str, Rubric] = {}
        self._features: dict[str, Feature] = {}
        self._of_case: dict[str, list[Feature]] = {}
        self._feature_number: dict[str, int] = {}
        self._note_number: dict[str, int] = {}
        self._annotator_number: dict[str, int] = {}
        self._rows = RowsBuilder()

    def add_note(self, note: Note) -> None:
        """Add a note; a second note with the same id is a ValueError."""
        if note.id in self.notes:
            raise ValueError(f"note {note.id!r} was already added")
        self._note_number[note.id] = len(self.notes)
        self.notes[note.id] = note

    def add_rubric(self, rubric: Rubric) -> None:
        """Add a rubric with all its features."""
        if self._of_case.get(rubric.case):
            raise ValueError(f"the rubric of case {rubric.case!r} was already added")
        self._rubrics[rubric.case] = replace(rubric, features=())
        for feature in rubric.features:
            self.add_feature(feature)

    def add_feature(self, feature: Feature, *, by_use: bool = False) -> None:
        """Add one feature at the end of its case's rubric, which is made if need be.

        ``by_use`` says of a rubric that is made that its features are known by their use alone.
        """
        if feature.id in self._features:
            raise ValueError(f"feature {feature.id!r} was already added")
        self._rubrics.setdefault(feature.case, Rubric(feature.case, (), by_use=by_use))
        self._feature_number[feature.id] = len(self._features)
        self._features[feature.id] = feature
        self._of_case.setdefault(feature.case, []).append(feature)

    def has_feature(self, feature_id: str) -> bool:
        """Tell whether a feature with this id was added."""
        return feature_id in self._features

    def features_of(self, case: str) -> list[Feature]:
        """Return the features added so far for a case."""
        return list(self._of_case.get(case, ()))

    def add_annotator(self, annotator: Annotator) -> None:
        """Add an annotator, or say more about one already seen."""
        self._annotator_number.setdefault(annotator.id, len(self.annotators))
        self.annotators[annotator.id] = annotator

    def add_score(self, score: Score) -> None:
        """Add a total somebody gave a note."""
        self.scores.append(score)

    def judge(
        self, annotator_id: str, note_id: str, feature_id: str, *, probability: float | None = None
    ) -> None:
        """Say that the annotator judged this feature in this note, whatever was found."""
        self._rows.judge(*self._key(annotator_id, note_id, feature_id), probability=probability)

    def judge_all(self, annotator_id: str, note_id: str) -> None:
        """Say that the annotator judged every feature of the note's case added so far."""
        for feature in self.features_of(self.notes[note_id].case):
            self.judge(annotator_id, note_id, feature.id)

    def is_judged(self, annotator_id: str, note_id: str, feature_id: str) -> bool:
        """Tell whether this row exists already."""
        return self._key(annotator_id, note_id, feature_id) in self._rows

    def annotate(
        self,
        annotator_id: str,
        note_id: str,
        feature_id: str,
        spans: Iterable[tuple[int, int] | Span],
        *,
        confidence: float | None = None,
        detail: Detail = NO_DETAIL,
    ) -> None:
        """Add one annotation (and judge its row).

        Raises
        ------
        ValueError
            If it has no span: `judge` says that nothing was found.
        KeyError
            If the note or the feature was not added before.
        """
        pairs = [(s.start, s.end) if isinstance(s, Span) else s for s in spans]
        if not pairs:
            raise ValueError("an annotation needs a span; judge() says that nothing was found")
        self._rows.annotate(
            *self._key(annotator_id, note_id, feature_id),
            pairs,
            confidence=confidence,
            detail=detail,
        )

    def contradict(
        self, annotator_id: str, note_id: str, feature_id: str, said: Contradiction
    ) -> None:
        """Say that the note contradicts the feature (and judge its row).

        Raises
        ------
        KeyError
            If the note or the feature was not added before.
        """
        self._rows.contradict(*self._key(annotator_id, note_id, feature_id), said)

    def _key(self, annotator_id: str, note_id: str, feature_id: str) -> tuple[int, int, int]:
        if annotator_id not in self.annotators:
            self.add_annotator(Annotator(annotator_id))
        if note_id not in self._note_number:
            raise KeyError(f"note {note_id!r} was not added")
        if feature_id not in self._feature_number:
            raise KeyError(f"feature {feature_id!r} was not added")
        return (
            self._note_number[note_id],
            self._annotator_number[annotator_id],
            self._feature_number[feature_id],
        )

    def build(self) -> Corpus:
        """Return the corpus."""
        rubrics = tuple(
            replace(rubric, features=tuple(self._of_case.get(case, ())))
            for case, rubric in self._rubrics.items()
        )
        ordered = [feature.id for rubric in rubrics for feature in rubric.features]
        new_number = np.zeros(len(ordered), dtype=np.int32)
        for new, feature_id in enumerate(ordered):
            new_number[self._feature_number[feature_id]] = new
        rows = self._rows.build()
        if not np.array_equal(new_number, np.arange(len(ordered))):
            rows = rows.relabel(feature=new_number)
        return Corpus(
            notes=tuple(self.notes.values()),
            rubrics=rubrics,
            annotators=tuple(self.annotators.values()),
            rows=rows,
            scores=tuple(self.scores),
            metadata=self.metadata,
        )
