"""Scoring, matching and learning from a notebook; nothing is written unless asked."""

from __future__ import annotations

import io
import shutil
import tarfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Protocol,
    Self,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)
from weakref import finalize

from rubricate.corpus import Corpus, Note
from rubricate.display import table_html
from rubricate.errors import UnknownNameError
from rubricate.files import whole_output
from rubricate.formats.notes import NoteSource, open_notes
from rubricate.formats.options import ReadOptions
from rubricate.frames import frame_kind, frame_like
from rubricate.learning import FOLDS, compare_fitted, refuse_worse
from rubricate.matchers import (
    FailedNote,
    Matcher,
    default_matcher,
    failures_in_words,
    fit_apart,
    fit_matcher,
    load_matcher,
    make_matcher,
    predict_in_parts,
    refuse_matcher_of_model,
)
from rubricate.notebook.inputs import (
    Notes,
    OtherNotes,
    Rubrics,
    as_corpus,
    as_rubric_file,
    need_there,
)
from rubricate.progress import Progress, silent
from rubricate.reports.highlight import NoteMark, Sides, highlight_note
from rubricate.reports.scoring import write_scoring_report
from rubricate.run import (
    ITEM_COLUMNS,
    SCORE_COLUMNS,
    ItemResult,
    NoteResult,
    RunColumn,
    read_results,
)
from rubricate.run.folder import UNDECIDED_RUN
from rubricate.run.writing import RunRecord, read_record
from rubricate.scoring import Policy, ScoreSettings, score_notes, write_policy
from rubricate.spans import Span

if TYPE_CHECKING:
    import pandas
    import polars

R = TypeVar("R")
FrameT = TypeVar("FrameT")
_STYLE = (
    "<style>.rubricate-note{white-space:pre-wrap;line-height:1.7;max-width:48em}"
    ".rubricate-note mark{background:#cfe3f5;color:inherit;border-bottom:2px solid #0072b2}"
    ".rubricate-note mark[data-n]::before{content:attr(data-n);font:600 .65em sans-serif;"
    "vertical-align:.5em;margin-right:.15em}</style>"
)
_SIDES = Sides(reference="people", predicted="found here")


class PandasFrame(Protocol):
    """A data frame or series of pandas."""

    @property
    def iloc(self) -> Any:
        """Rows by place."""

    @property
    def index(self) -> Any:
        """Labels of the rows."""


class ScoreOptions(TypedDict, total=False):
    """The options of `score`; the command has the same under the same names."""

    matcher: str | None
    model: str | Path | Matcher | None
    policy: str | Path | Policy | None
    corrections: str | Path | None
    columns: Mapping[str, str] | None
    case: str
    settings: ScoreSettings | None
    progress: Progress


@overload
def score(
    notes: PandasFrame, rubric: Rubrics | None = None, **options: Unpack[ScoreOptions]
) -> ScoredNotes[pandas.DataFrame]: ...
@overload
def score(
    notes: polars.LazyFrame, rubric: Rubrics | None = None, **options: Unpack[ScoreOptions]
) -> ScoredNotes[polars.LazyFrame]: ...
@overload
def score(
    notes: OtherNotes, rubric: Rubrics | None = None, **options: Unpack[ScoreOptions]
) -> ScoredNotes[polars.DataFrame]: ...
def score(
    notes: Any,
    rubric: Rubrics | None = None,
    *,
    matcher: str | None = None,
    model: str | Path | Matcher | None = None,
    policy: str | Path | Policy | None = None,
    corrections: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    case: str = "",
    settings: ScoreSettings | None = None,
    progress: Progress = silent,
) -> ScoredNotes[Any]:
    """Score notes against a rubric; no folder is written until the result is saved.

    Parameters
    ----------
    notes, rubric, columns, case
        As `as_corpus`.
    matcher : str, optional
        One of `rubricate.matchers.MATCHERS`. Default: ``cascade``, as in the command.
    model : path, name or Matcher, optional
        A fitted matcher, a folder that it was saved to, or ``fast``, ``accurate`` or ``cascade``.
        Not together with ``matcher``.
    policy : path or Policy, optional
        Review policy: the result of `route`, or the path of its file.
    corrections : path, optional
        Reviewers' decisions.
    settings : ScoreSettings, optional
        Workers, limits, seed and the range of probabilities that go to review.

    Returns
    -------
    ScoredNotes
        The data frames ``scores`` and ``items`` are of the kind of ``notes``: pandas (with its
        index), polars or lazy. For other notes they are polars.

    Examples
    --------
    >>> found = score(["Pt denies fever.", "Cough for 2 days."], ["No fever", "Cough"],
    ...               matcher="lexicon")
    >>> found.scores["score"].to_list()
    [1.0, 1.0]
    """
    refuse_matcher_of_model(matcher, model)
    if isinstance(notes, str | Path):
        need_there(str(notes))
        source = open_notes(notes, how=ReadOptions(columns=columns or {}, case=case))
    else:
        source = open_notes(as_corpus(notes, columns=columns, case=case))
    chosen = settings or ScoreSettings()
    chosen = replace(chosen, matcher=matcher or chosen.matcher or default_matcher())
    folder = TemporaryFolder()
    if isinstance(policy, Policy):
        write_policy(policy, folder.path / "policy.json")
        policy = folder.path / "policy.json"
    score_notes(
        source,
        folder.path / "run",
        rubric=as_rubric_file(rubric),
        model=model,
        policy=policy,
        corrections=corrections,
        settings=chosen,
        progress=progress,
    )
    return ScoredNotes(folder, frame_kind(notes), source)


class TemporaryFolder:
    """A folder that lasts as long as some object holds it."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="rubricate-"))
        finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _unpacked(archive: bytes, kind: Any, notes: Corpus) -> ScoredNotes[Any]:
    """Return pickled results, in a folder of their own."""
    folder = TemporaryFolder()
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder.path / "run", filter="data")
    return ScoredNotes(folder, kind, open_notes(notes))


@dataclass(frozen=True, eq=False)
class ScoredNotes(Generic[FrameT]):
    """Notes with their scores and the words these rest on."""

    _place: TemporaryFolder
    #: A frame without columns of the kind that the results get; of pandas with the index.
    _kind: Any
    _source: NoteSource

    @property
    def _folder(self) -> Path:
        return self._place.path / "run"

    def __copy__(self) -> Self:
        return replace(self)

    def __reduce__(self) -> tuple[Callable[..., ScoredNotes[Any]], tuple[bytes, Any, Corpus]]:
        """Return all files and the notes, which make the same results in another process."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as packed:
            packed.add(self._folder, ".")
        notes = tuple(note for note in self._source.notes() if isinstance(note, Note))
        return _unpacked, (archive.getvalue(), self._kind, Corpus(notes, ()))

    @cached_property
    def run(self) -> RunRecord:
        """Record of the run: counts, and hashes of notes, rubric and model."""
        return read_record(self._folder)

    @cached_property
    def results(self) -> tuple[NoteResult, ...]:
        """All results as values."""
        return tuple(read_results(self._folder))

    @cached_property
    def scores(self) -> FrameT:
        """One row per note: score, maximum, status, how many items are for review."""
        return self._frame(SCORE_COLUMNS, self.results, self.results)

    @cached_property
    def items(self) -> FrameT:
        """One row per note and feature: found, points, probability, words, outcome, review."""
        rows = [(result, item) for result in self.results for item in result.items]
        return self._frame(ITEM_COLUMNS, rows, [result for result, _ in rows])

    def _frame(
        self, columns: Sequence[RunColumn[R]], rows: Sequence[R], of: Sequence[NoteResult]
    ) -> FrameT:
        """Return rows as a frame, ``of`` which note each is."""
        import polars

        kinds = {"text": polars.String, "number": polars.Float64, "yes/no": polars.Boolean}
        values = {column.name: [column.get(row) for row in rows] for column in columns}
        table = polars.DataFrame(values, schema={c.name: kinds[c.kind] for c in columns})
        made: FrameT = frame_like(self._kind, table)
        index = getattr(self._kind, "index", None)
        if index is not None:
            place = {note.id: i for i, note in enumerate(self._source.notes())}
            made.index = index.take([place[result.note] for result in of])  # type: ignore[attr-defined]
        return made

    def note(self, note_id: str | int) -> NoteView:
        """Return one note with its text, items and evidence; in a notebook it shows itself."""
        note_id = str(note_id)
        result = next((one for one in self.results if one.note == note_id), None)
        if result is None:
            raise UnknownNameError("note", note_id, [one.note for one in self.results])
        texts = (n.text for n in self._source.notes() if isinstance(n, Note) and n.id == note_id)
        return NoteView(result, next(texts, ""))

    def save(self, folder: str | Path, *, overwrite: bool = False, report: bool = True) -> Path:
        """Write the run as ``rubricate score`` does, with its report, and return the folder."""
        target = Path(folder)
        if report and not (self._folder / "report.html").exists():
            notes = (note for note in self._source.notes() if isinstance(note, Note))
            write_scoring_report(self._folder, notes)
        with whole_output(target, overwrite=overwrite, kind=UNDECIDED_RUN) as place:
            shutil.copytree(self._folder, place)
        return target

    def __repr__(self) -> str:
        counts = self.run["counts"]
        return (
            f"<ScoredNotes: {counts['scored']} of {counts['notes']} notes scored, "
            f"{counts['found']} of {counts['items']} items stated, {counts['review']} for review>"
        )

    def _repr_html_(self) -> str:
        lines = [
            (r.note, r.case, r.total.score if r.total else None,
             r.total.maximum if r.total else None, r.n_review, r.why_not_scored)
            for r in self.results
        ]  # fmt: skip
        header = ("note", "case", "score", "maximum", "for review", "not scored because")
        return table_html(header, lines, title=repr(self)[1:-1])


@dataclass(frozen=True)
class NoteView:
    """One scored note: its text, and each item with the words it rests on."""

    result: NoteResult
    text: str = field(repr=False)

    @property
    def items(self) -> tuple[ItemResult, ...]:
        """The items, in the order of the rubric."""
        return self.result.items

    def _repr_html_(self) -> str:
        result = self.result
        marks = [
            NoteMark(number, item.feature.text, "predicted", tuple(Span(*s) for s in spans))
            for number, item in enumerate(result.items, start=1)
            for spans in (item.evidence.spans if item.found else ())
        ]
        lines = [
            (number, item.feature.text, item.outcome, item.points, item.feature.weight,
             item.evidence.probability, item.review_reason)
            for number, item in enumerate(result.items, start=1)
        ]  # fmt: skip
        total = (
            f"{result.total.score:g} of {result.total.maximum:g}" if result.total else "no score"
        )
        header = ("", "feature", "outcome", "points", "of", "probability", "for review")
        shown = _shown(self.text, marks)
        return shown + table_html(header, lines, title=f"note {result.note}: {total}")


def _shown(text: str, marks: Sequence[NoteMark]) -> str:
    return f'{_STYLE}<div class="rubricate-note">{highlight_note(text, marks, sides=_SIDES)}</div>'


@dataclass(frozen=True)
class _ShownNote:
    """A note of a corpus with the marks of one annotator."""

    note: Note
    marks: tuple[NoteMark, ...]

    def _repr_html_(self) -> str:
        head = f"<p><b>note {escape(self.note.id)}</b></p>"
        return head + _shown(self.note.text, self.marks)


def show_note(corpus: Corpus, note_id: str | int, annotator: str | None = None) -> _ShownNote:
    """Return a note with what an annotator (the first, if none is named) marked in it.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> "<mark" in show_note(corpus, corpus.notes[0].id)._repr_html_()
    True
    """
    note_id = str(note_id)
    if note_id not in corpus.note_index:
        raise UnknownNameError("note", note_id, list(corpus.note_index))
    who = annotator or next(iter(corpus.annotator_index), "")
    if who not in corpus.annotator_index:
        raise UnknownNameError("annotator", who, list(corpus.annotator_index))
    note = corpus.note(note_id)
    marks = [
        NoteMark(number, feature.text, "predicted", one.spans)
        for number, feature in enumerate(corpus.rubric(note.case), start=1)
        for one in corpus.annotations(note_id, feature.id, who) or ()
    ]
    return _ShownNote(note, tuple(marks))


def match(
    notes: Notes,
    rubric: Rubrics | None = None,
    *,
    matcher: str | None = None,
    model: str | Path | Matcher | None = None,
    columns: Mapping[str, str] | None = None,
    case: str = "",
    progress: Progress = silent,
) -> Corpus:
    """Return the notes with the spans that express each feature of their rubric.

    The parameters are those of `score`. The result has one annotator, the matcher. Get its spans
    as a frame with `Corpus.to_frame`. A note at which the matcher fails has no rows. A warning
    gives the reason.

    Examples
    --------
    >>> match(["Pt denies fever."], ["No fever"], matcher="lexicon").to_frame()["text"].to_list()
    ['denies fever']
    """
    own = notes.select(annotators=()) if isinstance(notes, Corpus) else notes
    corpus = as_corpus(own, rubric, columns=columns, case=case)
    refuse_matcher_of_model(matcher, model)
    if model is None:
        # Only the rubric is learned from: annotations of the notes must not leak in.
        found = fit_matcher(matcher or default_matcher(), Corpus((), corpus.rubrics))
    else:
        found = load_matcher(model) if isinstance(model, str | Path) else model
    predicted, failed = predict_in_parts(found, corpus, progress=progress)
    _warn_of(failed, "matched")
    return predicted


def _warn_of(failed: Sequence[FailedNote], what: str) -> None:
    if failed:
        warnings.warn(failures_in_words(failed, what), stacklevel=3)


def fit(
    notes: Notes,
    rubric: Rubrics | None = None,
    *,
    matcher: str | None = None,
    annotator: str | None = None,
    folds: int = FOLDS,
    even_if_worse: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    **parameters: Any,
) -> Matcher:
    """Return a matcher that has learned from annotated notes.

    First the fitted matcher is compared with the unfitted one, on notes that it did not learn from
    (`rubricate.learning.compare_fitted`); the result has this comparison as ``comparison_``. A note
    that cannot be read is left out; a warning gives the reason.

    Parameters
    ----------
    notes : Corpus or path
        Notes with annotations; with a rubric alone, a matcher learns from its wording.
    matcher : str, optional
        One of `rubricate.matchers.MATCHERS`; otherwise the one that `score` uses without a model.
    annotator : str, optional
        Whose annotations to learn from; the first annotator's otherwise.
    folds : int
        Parts of the notes for the comparison; 0 for none.
    even_if_worse : bool
        Return the matcher even if it decides more items wrongly than unfitted.
    seed : int
        Deals the notes for the comparison.
    progress : callable
        Called with how much is done, how much there is, and what is being done.
    **parameters
        Parameters of the matcher.

    Raises
    ------
    InputError
        If the fitted matcher decides more items wrongly than the unfitted one.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> fit(load_corpus("open-notes").select(cases=["30"]), matcher="exact")
    ExactMatcher()
    """
    corpus = as_corpus(notes, rubric)
    name = matcher or default_matcher()
    made = make_matcher(name, **parameters)
    comparison = None
    if folds:
        comparison = compare_fitted(
            lambda: make_matcher(name, **parameters),
            corpus,
            annotator=annotator,
            folds=folds,
            seed=seed,
            progress=progress,
        )
        if comparison is not None:
            _warn_of(comparison.failed, "used in the comparison")
        if not even_if_worse:
            refuse_worse(comparison)
    failed = fit_apart(made, corpus, annotator=annotator, progress=progress)
    _warn_of(failed, "learned from")
    made.comparison_ = comparison  # type: ignore[attr-defined]
    return made
