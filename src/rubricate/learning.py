"""Comparison of a fitted with the unfitted model, on notes that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rubricate.corpus import Corpus
from rubricate.display import counted
from rubricate.errors import Advice, ArgumentError, InputError, Setting
from rubricate.evaluation import evaluate
from rubricate.matchers import NOTE_SECONDS, FailedNote, Matcher, fit_apart, predict_in_parts
from rubricate.matchers.matcher import judged_notes, learning_annotator, needs_notes
from rubricate.progress import Progress, silent
from rubricate.splits import grouped_folds

__all__ = ["FOLDS", "FitComparison", "compare_fitted", "refuse_worse"]

#: Parts that the notes are divided into: with two, a comparison takes as long as the fit itself.
FOLDS = 2


@dataclass(frozen=True, slots=True)
class FitComparison:
    """The number of items that a model decides wrongly before and after fitting.

    ``notes`` and ``items`` were judged by a person; ``unfitted`` and ``fitted`` of the items were
    found and not stated, or stated and not found. ``failed`` are the notes that a model could not
    learn from, or could not read in time: nothing is found in them.
    """

    notes: int
    items: int
    unfitted: int
    fitted: int
    folds: int
    failed: tuple[FailedNote, ...] = ()

    @property
    def worse(self) -> bool:
        """True if the fitted model decides more items wrongly."""
        return self.fitted > self.unfitted

    def to_dict(self) -> dict[str, int | list[dict[str, str]]]:
        """Return all values, ready for JSON."""
        return {
            "notes": self.notes,
            "items": self.items,
            "unfitted": self.unfitted,
            "fitted": self.fitted,
            "folds": self.folds,
            "failed": [one._asdict() for one in self.failed],
        }

    def sentences(self) -> list[str]:
        """Return each figure as a sentence.

        >>> for sentence in FitComparison(10, 160, unfitted=8, fitted=5, folds=2).sentences():
        ...     print(sentence)
        Without fitting, the model decides 8 of 160 items of 10 notes wrongly.
        Fitted to other notes, it decides 5 of these 160 items wrongly.
        """
        return [
            f"Without fitting, the model decides {self.unfitted} of {counted(self.items, 'item')} "
            f"of {counted(self.notes, 'note')} wrongly.",
            f"Fitted to other notes, it decides {self.fitted} of these "
            f"{counted(self.items, 'item')} wrongly.",
        ]


def compare_fitted(
    make: Callable[[], Matcher],
    corpus: Corpus,
    *,
    annotator: str | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    note_seconds: float = NOTE_SECONDS,
    progress: Progress = silent,
) -> FitComparison | None:
    """Compare a model with what it becomes by learning from annotated notes.

    The notes are divided into ``folds`` parts. A model that learned from the other parts reads
    each part (cross-validation, Stone 1974); notes with the same text are in one part. The
    final model learns from all notes, so it is as a rule better than these.

    ``make`` returns a new matcher, or the model to fine-tune; each call returns another one.
    ``annotator``: the annotator to learn from; by default the first person. The result is None if
    too few notes with different texts are annotated, and for a matcher that knows nothing without
    notes (`needs_notes`).

    >>> from rubricate import load_corpus
    >>> from rubricate.matchers import make_matcher
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = compare_fitted(lambda: make_matcher("exact"), corpus)
    >>> found.notes, found.items, found.worse
    (8, 112, False)
    """
    if folds < 2:
        raise ArgumentError(
            "need at least 2, or 0 for no comparison", setting=Setting("folds", folds)
        )
    who = learning_annotator(corpus, annotator)
    judged = {corpus.note_index[one.note.id]: one.note for one in judged_notes(corpus, who)}
    if who is None or len({(note.case, note.text) for note in judged.values()}) < folds:
        return None
    own = corpus.select(annotators=[who])
    before = make()
    if needs_notes(before):
        return None
    fit_apart(before, Corpus((), corpus.rubrics))
    failed: dict[str, FailedNote] = {}
    cases = {case: number for number, case in enumerate(sorted({n.case for n in judged.values()}))}
    parts = grouped_folds(
        {i: cases[note.case] for i, note in judged.items()},
        {i: note.text for i, note in judged.items()},
        folds,
        seed,
    )

    def wrong(model: Matcher, notes: list[int], doing: Progress) -> int:
        test = own.select(notes=[corpus.notes[i].id for i in notes])
        read = predict_in_parts(model, test, note_seconds=note_seconds, progress=doing)
        failed.update((one.note, one) for one in read.failed)
        _, more, less, _ = evaluate(test, read.corpus).presence.values.sum(axis=0).tolist()
        return int(more + less)

    unfitted = wrong(before, list(judged), _part_of(progress, "unfitted"))
    fitted = 0
    for number, part in enumerate(parts, start=1):
        doing = _part_of(progress, f"comparison {number} of {folds}")
        model = make()
        if getattr(model, "checkpoint", None) is not None:
            # What is kept to resume belongs to the fit to all notes.
            model.checkpoint = None  # type: ignore[attr-defined]
        learn = own.select(notes=[corpus.notes[i].id for i in part.learn])
        left_out = fit_apart(model, learn, annotator=who, note_seconds=note_seconds, progress=doing)
        failed.update((one.note, one) for one in left_out)
        fitted += wrong(model, part.held, doing)
    named = tuple(failed[note.id] for note in corpus.notes if note.id in failed)
    return FitComparison(len(judged), len(own.rows), unfitted, fitted, folds, named)


def refuse_worse(comparison: FitComparison | None) -> None:
    """Raise InputError where the fitted model is worse than the unfitted one."""
    if comparison is None or not comparison.worse:
        return
    raise InputError(
        f"{' '.join(comparison.sentences())} The fitted model is worse, so it was not made. Use "
        "the model without fitting, check the annotations, or add more notes.",
        advice=Advice("{} makes it all the same", (Setting("even_if_worse", True),)),
    )


def _part_of(progress: Progress, name: str) -> Progress:
    """Return progress that says beside the label which part of the comparison it is."""
    return lambda done, total, label: progress(done, total, f"{label} ({name})")
