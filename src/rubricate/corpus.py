"""The value that travels through everything: notes, rubrics, annotators and their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from rubricate.batch import need_polars
from rubricate.columns import NOTE_COLUMNS, cell_text, find_note_columns, note_ids, twin_columns
from rubricate.display import table_html
from rubricate.errors import Fault, InputError, known_names, shown
from rubricate.frames import Frame, frame_columns, frame_like, rows_as_columns
from rubricate.rows import NO_DETAIL, Contradiction, Detail, Rows
from rubricate.rubric import (
    NO_METADATA,
    Feature,
    Metadata,
    Rubric,
    Scalar,
    outcome_of,
    plain_scalar,
)
from rubricate.spans import Span, covered_text

if TYPE_CHECKING:
    import polars

FrameT = TypeVar("FrameT")


@dataclass(frozen=True, slots=True)
class Note:
    """One text to be scored, exactly as stored (line breaks are never normalised)."""

    id: str
    case: str
    text: str
    metadata: Metadata = field(default=NO_METADATA)

    def value(self, name: str) -> Scalar:
        """Return the metadata field of this name; ``case`` returns the case."""
        return self.case if name == "case" else self.metadata.get(name)

    def matches(self, name: str, values: str) -> bool:
        """Tell whether a metadata field (or ``case``) has one of the values, parted by commas.

        Examples
        --------
        >>> Note("n", "4", "", Metadata(split="test")).matches("split", "test,train")
        True
        """
        own = str(self.value(name))
        return own == values or own in values.split(",")

    def _repr_html_(self) -> str:
        return table_html((f"note {self.id}",), [(self.text,)])


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody, or something, that marks notes. ``group`` says e.g. expert, crowd, system."""

    id: str
    group: str = ""
    metadata: Metadata = field(default=NO_METADATA)


@dataclass(frozen=True, slots=True)
class Score:
    """A total somebody gave a note, kept beside the annotations."""

    note: str
    annotator: str
    value: float
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """One expression of one feature in one note: one or more fragments.

    Parameters
    ----------
    feature : str
        The feature's id.
    spans : tuple of Span
        The fragments, sorted.
    confidence : float, optional
        How sure a matcher is.
    detail : Detail
        Reason, comment, attributes, and the text a file stated where it differs.
    """

    feature: str
    spans: tuple[Span, ...]
    confidence: float | None = None
    detail: Detail = NO_DETAIL

    def text(self, note_text: str) -> str:
        """Return the annotated words, fragments joined by one space."""
        return covered_text(self.spans, note_text)


@dataclass(frozen=True)
class Corpus:
    """Notes with their rubrics and, for each annotator, what was judged and found.

    Build one with `rubricate.CorpusBuilder`, read one with `rubricate.read_corpus`, or load an
    embedded one with `rubricate.load_corpus`. A corpus never changes; methods return new ones.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes")
    >>> len(corpus.notes), len(corpus.features)
    (2040, 2083)
    >>> note = corpus.notes[0]
    >>> [a.text(note.text) for a in corpus.annotations(note.id, "3", "reference")]
    ['3 wks']
    """

    notes: tuple[Note, ...]
    rubrics: tuple[Rubric, ...]
    annotators: tuple[Annotator, ...] = ()
    rows: Rows = field(default_factory=Rows.empty)
    scores: tuple[Score, ...] = ()
    metadata: Metadata = field(default=NO_METADATA)

    def __hash__(self) -> int:
        return hash((self.notes, self.rubrics, self.annotators, len(self.rows)))

    def __repr__(self) -> str:
        return (
            f"<Corpus: {len(self.notes)} notes, {len(self.rubrics)} cases, "
            f"{len(self.features)} features, {len(self.annotators)} annotators, "
            f"{len(self.rows)} rows>"
        )

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """All features, rubric after rubric; rows point into this."""
        return tuple(feature for rubric in self.rubrics for feature in rubric.features)

    @cached_property
    def note_index(self) -> dict[str, int]:
        """Position of each note by id."""
        return {note.id: i for i, note in enumerate(self.notes)}

    @cached_property
    def feature_index(self) -> dict[str, int]:
        """Position of each feature by id."""
        return {feature.id: i for i, feature in enumerate(self.features)}

    @cached_property
    def annotator_index(self) -> dict[str, int]:
        """Position of each annotator by id."""
        return {annotator.id: i for i, annotator in enumerate(self.annotators)}

    @cached_property
    def _rubric_of_case(self) -> dict[str, Rubric]:
        return {rubric.case: rubric for rubric in self.rubrics}

    @cached_property
    def _row_keys(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.rows.key(n_annotators=len(self.annotators), n_features=len(self.features))

    def note(self, note_id: str) -> Note:
        """Return the note with this id (KeyError if there is none)."""
        return self.notes[self.note_index[note_id]]

    def feature(self, feature_id: str) -> Feature:
        """Return the feature with this id (KeyError if there is none)."""
        return self.features[self.feature_index[feature_id]]

    def rubric(self, case: str) -> Rubric:
        """Return the rubric of the case; a case nobody wrote a rubric for has an empty one."""
        return self._rubric_of_case.get(case, Rubric(case, ()))

    def row(self, note_id: str, feature_id: str, annotator_id: str) -> int | None:
        """Return the row's number, or None where the annotator did not judge the feature."""
        key = self.note_index[note_id] * len(self.annotators) + self.annotator_index[annotator_id]
        key = key * len(self.features) + self.feature_index[feature_id]
        place = int(np.searchsorted(self._row_keys, key))
        found = place < len(self._row_keys) and self._row_keys[place] == key
        return place if found else None

    def annotations(
        self, note_id: str, feature_id: str, annotator_id: str
    ) -> tuple[Annotation, ...] | None:
        """Return the annotator's marks: None if not judged, ``()`` if judged absent."""
        row = self.row(note_id, feature_id, annotator_id)
        return None if row is None else self.row_annotations(row)

    def row_annotations(self, row: int) -> tuple[Annotation, ...]:
        """Return the annotations of one row as values."""
        feature_id = self.features[int(self.rows.feature[row])].id
        return tuple(
            Annotation(feature_id, tuple(Span(*pair) for pair in spans), confidence, detail)
            for spans, confidence, detail in self.rows.annotations(row)
        )

    def contradiction(
        self, note_id: str, feature_id: str, annotator_id: str
    ) -> Contradiction | None:
        """Return the words that contradict the feature in the note; None where none do.

        They are kept where the feature is stated as well: what is both counts as stated.
        """
        row = self.row(note_id, feature_id, annotator_id)
        return None if row is None else self.rows.contradictions.get(row)

    def note_rows(self, note_id: str) -> range:
        """Return the row numbers of one note, all annotators."""
        i = self.note_index[note_id]
        first, last = np.searchsorted(self.rows.note, [i, i + 1])
        return range(int(first), int(last))

    def values(self) -> Iterator[tuple[Note, Annotator, Feature, tuple[Annotation, ...]]]:
        """Walk over all rows as values, in canonical order."""
        rows = self.rows
        for row in range(len(rows)):
            yield (
                self.notes[int(rows.note[row])],
                self.annotators[int(rows.annotator[row])],
                self.features[int(rows.feature[row])],
                self.row_annotations(row),
            )

    def with_rows(self, rows: Rows, annotators: Iterable[Annotator] | None = None) -> Corpus:
        """Return the same notes and rubrics with other annotations."""
        kept = self.annotators if annotators is None else tuple(annotators)
        return replace(self, rows=rows, annotators=kept, scores=())

    def select(
        self,
        *,
        notes: Collection[str] | Callable[[Note], bool] | None = None,
        cases: Collection[str] | None = None,
        annotators: Collection[str] | None = None,
    ) -> Corpus:
        """Return the part of the corpus with these notes, cases and annotators.

        UnknownNameError for a name that the corpus does not have.

        Examples
        --------
        >>> from rubricate import load_corpus
        >>> corpus = load_corpus("open-notes")
        >>> test = corpus.select(notes=lambda note: note.metadata["split"] == "test")
        >>> len(test.notes)
        200
        """
        if cases is not None:
            known = [*(r.case for r in self.rubrics), *(n.case for n in self.notes)]
            cases = known_names("case", cases, known)
        if annotators is not None:
            annotators = known_names("annotator", annotators, self.annotator_index)
        if notes is not None and not callable(notes):
            notes = known_names("note", notes, self.note_index)
        keep = notes if callable(notes) else lambda n: notes is None or n.id in notes
        keep_note = np.array(
            [(cases is None or n.case in cases) and keep(n) for n in self.notes], dtype=bool
        )
        rubrics = tuple(r for r in self.rubrics if cases is None or r.case in cases)
        kept_features = {f.id for r in rubrics for f in r.features}
        keep_feature = np.array([f.id in kept_features for f in self.features], dtype=bool)
        keep_annotator = np.array(
            [annotators is None or a.id in annotators for a in self.annotators], dtype=bool
        )
        rows = self.rows.take(
            keep_note[self.rows.note]
            & keep_feature[self.rows.feature]
            & keep_annotator[self.rows.annotator]
        ).relabel(
            note=np.cumsum(keep_note) - 1,
            feature=np.cumsum(keep_feature) - 1,
            annotator=np.cumsum(keep_annotator) - 1,
        )
        note_ids = {n.id for n in compress(self.notes, keep_note)}
        return replace(
            self,
            notes=tuple(compress(self.notes, keep_note)),
            rubrics=rubrics,
            annotators=tuple(compress(self.annotators, keep_annotator)),
            rows=rows,
            scores=tuple(
                s
                for s in self.scores
                if s.note in note_ids and (annotators is None or s.annotator in annotators)
            ),
        )

    @property
    def shape(self) -> tuple[int]:
        """The number of notes, in the form that scikit-learn asks for."""
        return (len(self.notes),)

    def __getitem__(self, places: Any) -> Corpus:
        """Return the notes at these places with all rubrics, as scikit-learn divides a corpus.

        ``places`` is a number, a slice, an array of numbers or a mask.

        Examples
        --------
        >>> from rubricate import load_corpus
        >>> corpus = load_corpus("open-notes")
        >>> corpus[:2].notes == corpus.notes[:2], corpus[[0, 5]].shape
        (True, (2,))
        """
        if isinstance(places, tuple):
            places = places[0]
        chosen = np.atleast_1d(np.arange(len(self.notes))[places]).tolist()
        return self.select(notes={self.notes[place].id for place in chosen})

    @classmethod
    def from_frame(
        cls,
        frame: Frame | Sequence[Mapping[str, Any]],
        *,
        columns: Mapping[str, str] | None = None,
        case: str = "",
    ) -> Corpus:
        """Return the notes of a data frame, one per row.

        Parameters
        ----------
        frame
            A pandas or polars data frame, a LazyFrame, or a list of dictionaries. A named index
            of a pandas frame counts as a column.
        columns
            Names of columns that are not found by their name (``student_id``, ``note``,
            ``station``, ...), e.g. ``{"text": "answer"}``. Without a column of ids notes are
            numbered from 1. All other columns become metadata.
        case
            Case of all notes.

        Examples
        --------
        >>> import polars
        >>> frame = polars.DataFrame({"student_id": ["s1"], "note": ["no fever"], "site": ["A"]})
        >>> Corpus.from_frame(frame, case="c").notes
        (Note(id='s1', case='c', text='no fever', metadata=Metadata({'site': 'A'})),)
        """
        header, read = (
            rows_as_columns(frame) if isinstance(frame, Sequence) else (frame_columns(frame))
        )
        found = find_note_columns(header, columns or {})
        InputError.raise_any([Fault(said) for said in twin_columns(header, found)])
        lost = [f"{n}={c}" for n, c in (columns or {}).items() if n not in found]
        if lost or "text" not in found:
            wanted = ", ".join(lost) or f"of texts ({', '.join(NOTE_COLUMNS['text'][:6])}, ...)"
            raise InputError(
                f"the data frame has no column {wanted}; there are "
                f"{', '.join(map(shown, header))}. "
                'Say which: columns={"text": COLUMN}'
            )
        cells = [[plain_scalar(value) for value in column] for column in read]
        cells += [[*range(1, len(cells[0]) + 1)], [case] * len(cells[0])]
        of_case = -1 if case else found.get("case", -1)
        names, texts, cases = (
            [*map(cell_text, cells[i])] for i in (found.get("id", -2), found["text"], of_case)
        )
        ids, alone = note_ids(names, cases)
        nameless = [k for k, name in enumerate(names, 1) if not name.strip()]
        wrong = [f"row {k} of the data frame: the note has no id" for k in nameless]
        twice = [name for name, n in Counter(ids).items() if n > 1]
        wrong = wrong or [f"note {shown(name)} occurs again" for name in twice]
        InputError.raise_any([Fault(message) for message in wrong])
        renamed = {i: name for name, i in found.items() if name not in NOTE_COLUMNS}
        own = {found[name] for name in NOTE_COLUMNS if name in found and (alone or name != "id")}
        others = [(renamed.get(i, name), cells[i]) for i, name in enumerate(header) if i not in own]
        more = [Metadata({name: v[k] for name, v in others}) for k in range(len(ids))]
        return cls(tuple(map(Note, ids, cases, texts, more)), ())

    @overload
    def to_frame(self) -> polars.DataFrame: ...
    @overload
    def to_frame(self, *, like: FrameT) -> FrameT: ...
    def to_frame(self, *, like: Any = None) -> Any:
        """Return one line per span: note, case, annotator, feature, annotation, start, end, text.

        Rows without annotations have one line with nulls, so nothing judged disappears. Each line
        also has the ``probability`` that the feature is present, and the ``outcome``: stated,
        contradicted or not mentioned.

        Parameters
        ----------
        like
            A frame whose kind the result gets, e.g. that of the notes: pandas, polars or lazy.
            Default: polars.
        """
        import polars

        need_polars()
        rows = self.rows
        n_annotations = np.diff(rows.first_annotation)
        contradicted = set(rows.contradictions)
        probability = [None] * len(rows) if rows.probability is None else [
            None if np.isnan(p) else float(p) for p in rows.probability]  # fmt: skip
        table = polars.DataFrame(
            {
                "row": np.arange(len(rows)),
                "note": [self.notes[i].id for i in rows.note],
                "case": [self.notes[i].case for i in rows.note],
                "annotator": [self.annotators[i].id for i in rows.annotator],
                "feature": [self.features[i].id for i in rows.feature],
                "probability": probability,
                "outcome": [outcome_of(bool(n), k in contradicted)
                            for k, n in enumerate(n_annotations)],
            },
            schema_overrides={"probability": polars.Float64},
        )  # fmt: skip
        annotation_in_row = np.arange(rows.n_annotations) - np.repeat(
            rows.first_annotation[:-1], n_annotations
        )
        of_note = zip(rows.note[rows.span_row], rows.start, rows.end, strict=True)
        spans = polars.DataFrame(
            {
                "row": rows.span_row,
                "annotation": annotation_in_row[rows.span_annotation],
                "start": rows.start,
                "end": rows.end,
                "text": [self.notes[n].text[start:end] for n, start, end in of_note],
            },
            schema_overrides={"text": polars.String},
        )
        lines = table.join(spans, on="row", how="left", maintain_order="left").drop("row")
        return frame_like(like, lines)

    def _repr_html_(self) -> str:
        n_notes = Counter(note.case for note in self.notes)
        cases = dict.fromkeys([*(rubric.case for rubric in self.rubrics), *n_notes])
        lines = [(c, self.rubric(c).title, n_notes[c], len(self.rubric(c))) for c in cases]
        return table_html(("case", "title", "notes", "features"), lines, title=repr(self)[1:-1])
