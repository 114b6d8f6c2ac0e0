"""Scoring, matching and learning from a notebook; nothing is written unless asked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar
from weakref import finalize

from rubricate.corpus import Corpus, Note
from rubricate.display import table_html
from rubricate.errors import UnknownNameError
from rubricate.files import whole_output
from rubricate.formats.notes import NoteSource, open_notes, understood_as
from rubricate.matchers import Matcher, default_matcher, fit_matcher, load_matcher, predict_in_parts
from rubricate.notebook.inputs import Notes, Rubrics, as_corpus, as_rubric_file, need_there
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
from rubricate.run.writing import RunRecord, read_record
from rubricate.scoring import Policy, ScoreSettings, score_notes, write_policy
from rubricate.spans import Span

R = TypeVar("R")
_STYLE = (
    "<style>.rubricate-note{white-space:pre-wrap;line-height:1.7;max-width:48em}"
    ".rubricate-note mark{background:#cfe3f5;color:inherit;border-bottom:2px solid #0072b2}"
    ".rubricate-note mark[data-n]::before{content:attr(data-n);font:600 .65em sans-serif;"
    "vertical-align:.5em;margin-right:.15em}</style>"
)
_SIDES = Sides(reference="people", predicted="found here")


def score(
    notes: Notes,
    rubric: Rubrics = None,
    *,
    matcher: str | None = None,
    model: str | Path | Matcher | None = None,
    policy: str | Path | Policy | None = None,
    corrections: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    case: str = "",
    settings: ScoreSettings | None = None,
    progress: Progress = silent,
) -> ScoredNotes:
    """Score notes against a rubric; no folder is written until the result is saved.

    Parameters
    ----------
    notes, rubric, columns, case
        As `as_corpus`.
    matcher : str, optional
        One of `rubricate.matchers.MATCHERS`; as in the command the encoder if it is installed.
    model : path or Matcher, optional
        What `fit` returned, a folder it was saved to, or ``fast``, ``accurate`` or ``cascade``.
    policy : path or Policy, optional
        What `route` returned: which items a person must see.
    corrections : path, optional
        What reviewers changed.

    Returns
    -------
    ScoredNotes
        With data frames ``scores`` and ``items`` (pandas if the notes came so, else polars).

    Examples
    --------
    >>> found = score(["Pt denies fever.", "Cough for 2 days."], ["No fever", "Cough"],
    ...               matcher="lexicon")
    >>> found.scores["score"].to_list()
    [1.0, 1.0]
    """
    if isinstance(notes, str | Path):
        need_there(str(notes))
        with understood_as(columns=columns, case=case):
            source = open_notes(notes)
    else:
        source = open_notes(as_corpus(notes, columns=columns, case=case))
    chosen = settings or ScoreSettings(matcher=default_matcher())
    folder = Path(mkdtemp(prefix="rubricate-"))
    # The folder goes with the result, or at once where there is none.
    found = ScoredNotes(folder / "run", hasattr(notes, "iloc"), source)
    finalize(found, shutil.rmtree, folder, ignore_errors=True)
    if isinstance(policy, Policy):
        write_policy(policy, folder / "policy.json")
        policy = folder / "policy.json"
    score_notes(
        source,
        folder / "run",
        rubric=as_rubric_file(rubric),
        model=model,
        policy=policy,
        corrections=corrections,
        settings=chosen if matcher is None else replace(chosen, matcher=matcher),
        progress=progress,
    )
    return found


@dataclass(frozen=True, eq=False)
class ScoredNotes:
    """Notes with their scores and the words these rest on."""

    _folder: Path
    _as_pandas: bool
    _source: NoteSource

    @cached_property
    def run(self) -> RunRecord:
        """What the scores rest on: counts, and hashes of notes, rubric and model."""
        return read_record(self._folder)

    @cached_property
    def results(self) -> tuple[NoteResult, ...]:
        """All results as values."""
        return tuple(read_results(self._folder))

    @cached_property
    def scores(self) -> Any:
        """One row per note: score, maximum, status, how many items are for review."""
        return self._frame(SCORE_COLUMNS, self.results)

    @cached_property
    def items(self) -> Any:
        """One row per note and feature: found, points, probability, words, outcome, review."""
        rows = [(result, item) for result in self.results for item in result.items]
        return self._frame(ITEM_COLUMNS, rows)

    def _frame(self, columns: Sequence[RunColumn[R]], rows: Sequence[R]) -> Any:
        import polars

        kinds = {"text": polars.String, "number": polars.Float64, "yes/no": polars.Boolean}
        values = {column.name: [column.get(row) for row in rows] for column in columns}
        if self._as_pandas:
            import pandas

            return pandas.DataFrame(values)
        return polars.DataFrame(values, schema={c.name: kinds[c.kind] for c in columns})

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
        with whole_output(target, overwrite=overwrite) as place:
            shutil.copytree(self._folder, place)
        return target

    def __repr__(self) -> str:
        counts = self.run["counts"]
        return (
            f"<ScoredNotes: {counts['scored']} of {counts['notes']} notes scored, "
            f"{counts['found']} of {counts['items']} items found, {counts['review']} for review>"
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
    rubric: Rubrics = None,
    *,
    matcher: str | None = None,
    model: str | Path | Matcher | None = None,
    columns: Mapping[str, str] | None = None,
    case: str = "",
    progress: Progress = silent,
) -> Corpus:
    """Return the notes with the spans that express each feature of their rubric.

    Parameters are those of `score`. The result has one annotator, the matcher; see
    `Corpus.to_frame`.

    Examples
    --------
    >>> match(["Pt denies fever."], ["No fever"], matcher="lexicon").to_frame()["text"].to_list()
    ['denies fever']
    """
    own = notes.select(annotators=()) if isinstance(notes, Corpus) else notes
    corpus = as_corpus(own, rubric, columns=columns, case=case)
    if model is None:
        # Only the rubric is learned from: annotations of the notes must not leak in.
        found = fit_matcher(matcher or default_matcher(), Corpus((), corpus.rubrics))
    else:
        found = load_matcher(model) if isinstance(model, str | Path) else model
    return predict_in_parts(found, corpus, progress=progress)


def fit(
    notes: Notes,
    rubric: Rubrics = None,
    *,
    matcher: str = "lexicon",
    annotator: str | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Matcher:
    """Return a matcher that has learned from annotated notes.

    Parameters
    ----------
    notes : Corpus or path
        Notes with annotations; with a rubric alone, a matcher learns from its wording.
    matcher : str
        One of `rubricate.matchers.MATCHERS`.
    annotator : str, optional
        Whose annotations to learn from; the first annotator's otherwise.
    **parameters
        Parameters of the matcher.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> fit(load_corpus("open-notes").select(cases=["30"]), matcher="exact")
    ExactMatcher()
    """
    corpus = as_corpus(notes, rubric)
    return fit_matcher(matcher, corpus, annotator=annotator, progress=progress, **parameters)
