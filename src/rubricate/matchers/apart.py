"""The law for notes that a matcher fails at: each gets a reason, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from rubricate.batch import OutOfTimeError, time_limit
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.display import counted
from rubricate.errors import RubricateError, listed
from rubricate.matchers.matcher import Matcher
from rubricate.progress import Progress, silent
from rubricate.rows import Rows
from rubricate.rubric import SYSTEM

T = TypeVar("T")
R = TypeVar("R")

#: Seconds a note may take unless told otherwise.
NOTE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why some work gave no result; it holds no words of a note."""

    reason: str


class FailedNote(NamedTuple):
    """A note that a matcher could not read, and the reason."""

    note: str
    reason: str


def attempt(work: Callable[[], R], seconds: float = 0.0) -> R | Failure:
    """Return the result of some work, or why there is none; 0 seconds stand for no limit.

    Errors that the program raises on purpose are of the whole work, not of one note: they pass.

    >>> attempt(lambda: 1 / 0)
    Failure(reason='the matcher failed: ZeroDivisionError')
    """
    try:
        with time_limit(seconds):
            return work()
    except RubricateError:
        raise
    except OutOfTimeError:
        return Failure(f"the matcher took longer than {seconds:g} seconds")
    except Exception as error:
        # The message may hold words of the note; the kind of error does not.
        return Failure(f"the matcher failed: {type(error).__name__}")


def attempt_together(
    notes: Sequence[T], work: Callable[[Sequence[T]], R], seconds: float = 0.0
) -> Iterator[tuple[Sequence[T], R | Failure]]:
    """Yield what some work returns for notes together, or for each alone if it fails for them.

    Together they may take as long as one may, and a tenth of that for each other.

    >>> def invert(numbers):
    ...     return [1 / one for one in numbers]
    >>> list(attempt_together([1, 2], invert))
    [([1, 2], [1.0, 0.5])]
    >>> [(own, type(found).__name__) for own, found in attempt_together([0, 2], invert)]
    [([0], 'Failure'), ([2], 'list')]
    """
    found = attempt(lambda: work(notes), seconds * (9 + len(notes)) / 10)
    if not isinstance(found, Failure) or len(notes) == 1:
        yield notes, found
        return
    for note in notes:
        yield [note], attempt(lambda note=note: work([note]), seconds)  # type: ignore[misc]


def notes_at_once(matcher: Matcher) -> int:
    """Return the number of notes a matcher is given together: few if they take long, for the bar.

    A number of its own, not one that follows the clock: what a matcher adds up over several notes
    may differ in the last digit with the notes that are searched together.
    """
    return getattr(matcher, "notes_at_once", 200)


class Predicted(NamedTuple):
    """A corpus with what a matcher found, and the notes it failed at, which have no rows in it."""

    corpus: Corpus
    failed: tuple[FailedNote, ...] = ()


def predict_in_parts(
    matcher: Matcher,
    corpus: Corpus,
    *,
    size: int | None = None,
    note_seconds: float = NOTE_SECONDS,
    progress: Progress = silent,
) -> Predicted:
    """Return the result of ``matcher.predict(corpus)``, some notes at a time, and the failures.

    Matchers look at one note at a time, so the result is the same; memory stays low, progress can
    be shown, and a note at which the matcher fails leaves the others alone.

    ``size``: notes of a part; by default `notes_at_once`.
    ``note_seconds``: longest a note may take; 0 stands for no limit.
    ``progress``: called with how many notes are done, how many there are, and ``"matching"``.

    >>> from rubricate import load_corpus
    >>> from rubricate.matchers import fit_matcher
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> matcher = fit_matcher("exact", corpus)
    >>> found = predict_in_parts(matcher, corpus, size=3)
    >>> found.corpus == matcher.predict(corpus), found.failed
    (True, ())
    """
    n_notes, size = len(corpus.notes), size or notes_at_once(matcher)
    progress(0, n_notes, "matching")

    def predict(numbers: Sequence[int]) -> Corpus:
        if len(numbers) == n_notes:
            return matcher.predict(corpus)
        return matcher.predict(corpus.select(notes={corpus.notes[i].id for i in numbers}))

    found: list[Rows] = []
    failed: list[FailedNote] = []
    annotators: Sequence[Annotator] = [Annotator(matcher.name, SYSTEM)]
    # Without notes the matcher still says that it fits the rubrics.
    for first in range(0, max(n_notes, 1), size):
        part = range(first, min(first + size, n_notes))
        for own, predicted in attempt_together(part, predict, note_seconds):
            if isinstance(predicted, Failure):
                failed += [FailedNote(corpus.notes[i].id, predicted.reason) for i in own]
            else:
                annotators = predicted.annotators
                found.append(predicted.rows.relabel(note=list(own)))
        progress(part.stop, n_notes, "matching")
    rows = Rows.concatenate(found) if found else Rows.empty()
    return Predicted(corpus.with_rows(rows, annotators), tuple(failed))


def fit_apart(
    matcher: Matcher,
    corpus: Corpus,
    *,
    annotator: str | None = None,
    note_seconds: float = NOTE_SECONDS,
    progress: Progress = silent,
) -> tuple[FailedNote, ...]:
    """Fit a matcher to the notes that can be read; return those it did not learn from, with why.

    Every annotated note is read once before, within its time. If the matcher fails later, the notes
    at which the rules of the program fail are left out and it learns again.

    >>> from rubricate import load_corpus
    >>> from rubricate.matchers import make_matcher
    >>> fit_apart(make_matcher("exact"), load_corpus("open-notes").select(cases=["30"]))
    ()
    """
    from rubricate.matchers.lexicon.matcher import votes_from_rubric
    from rubricate.matchers.wording.reading import read_columns

    judged = set(corpus.rows.note.tolist())
    notes = [note for i, note in enumerate(corpus.notes) if i in judged]
    failed = list(_failing(notes, lambda note: read_columns(note.text), note_seconds))
    learned = _without(corpus, failed)
    try:
        matcher.fit(learned, annotator=annotator, progress=progress)
    except RubricateError:
        raise
    except Exception:
        known = {one.note for one in failed}
        more = list(
            _failing(
                [note for note in notes if note.id not in known],
                lambda note: votes_from_rubric(corpus.rubric(note.case), [note.text]),
                note_seconds,
            )
        )
        if not more:
            raise
        failed += more
        matcher.fit(_without(corpus, failed), annotator=annotator, progress=progress)
    return tuple(failed)


def _failing(
    notes: Sequence[Note], read: Callable[[Note], object], seconds: float
) -> Iterator[FailedNote]:
    for note in notes:
        found = attempt(lambda note=note: read(note), seconds)  # type: ignore[misc]
        if isinstance(found, Failure):
            yield FailedNote(note.id, found.reason)


def _without(corpus: Corpus, failed: Sequence[FailedNote]) -> Corpus:
    left_out = {one.note for one in failed}
    return corpus.select(notes=lambda note: note.id not in left_out) if left_out else corpus


def failures_in_words(failed: Sequence[FailedNote], what: str) -> str:
    """Return one line about the notes that failed, at most ten by name.

    >>> failures_in_words([FailedNote("7", "the matcher failed: ValueError")], "matched")
    "1 note could not be matched: '7' (the matcher failed: ValueError)"
    """
    named = listed([f"{one.note!r} ({one.reason})" for one in failed], 10)
    return f"{counted(len(failed), 'note')} could not be {what}: {named}"
