"""The protocol that all matchers share, and what they learn from."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

from rubricate.corpus import Annotation, Corpus, Note
from rubricate.errors import Advice, InputError, Setting, UnknownNameError
from rubricate.progress import Progress, silent
from rubricate.rubric import SYSTEM


class JudgedNote(NamedTuple):
    """A note and, for each feature that was judged in it, what was marked."""

    note: Note
    annotations: dict[str, tuple[Annotation, ...]]


def learning_annotator(corpus: Corpus, annotator: str | None) -> str | None:
    """Return the annotator to learn from: the one named, or the first that is no machine.

    None when the corpus has no annotators; InputError when all of them are machines.
    """
    known = [one.id for one in corpus.annotators]
    if annotator is None:
        people = [one.id for one in corpus.annotators if one.group != SYSTEM]
        if known and not people:
            raise InputError(
                f"this corpus has no human annotations, only annotations by {', '.join(known)}. "
                "Decide on items of the run first, or name whom to learn from.",
                advice=Advice("To name a person: {}", (Setting("annotator", "NAME"),)),
            )
        return people[0] if people else None
    if annotator not in known:
        raise UnknownNameError("annotator", annotator, known)
    return annotator


def judged_notes(corpus: Corpus, annotator: str | None) -> Iterator[JudgedNote]:
    """Yield every note in which the annotator judged something."""
    if annotator is None:
        return
    wanted = corpus.annotator_index[annotator]
    rows = corpus.rows
    for note in corpus.notes:
        own = [r for r in corpus.note_rows(note.id) if rows.annotator[r] == wanted]
        if own:
            yield JudgedNote(
                note, {corpus.features[rows.feature[r]].id: corpus.row_annotations(r) for r in own}
            )


@runtime_checkable
class Matcher(Protocol):
    """Protocol of models that learn from annotated notes and find spans in notes.

    The constructor stores keyword-only parameters and does nothing else. What was learned is kept
    in attributes whose names end in ``_``.
    """

    name: ClassVar[str]

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        ...

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Learn from the annotated notes of a corpus; it may have a rubric and no notes.

        Without ``annotator`` the first annotator of the corpus is learned from. ``progress`` is
        called with how much is done, how much there is, and what is being done.
        """
        ...

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the same notes and rubrics with this matcher as the only annotator.

        There is a row for every note and feature of its case. Annotations have a confidence and
        a reason (``Detail.reason``: the stage, the phrase, the rules); rows have the probability
        that the feature is present where it is known.
        """
        ...

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder of readable files."""
        ...

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder; InputError when its files are wrong."""
        ...


class Parametrised:
    """Base class that keeps its constructor's parameters as attributes, like scikit-learn."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters; there are none inside others, so ``deep`` or not."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name; one that is not known is an UnknownNameError."""
        check_parameters(type(self), parameters)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def score(
        self: Matcher, corpus: Corpus, y: None = None, *, annotator: str | None = None
    ) -> float:
        """Return the F1 of the characters that are found, over all items of annotated notes.

        F1 = 2 TP / (2 TP + FP + FN), pooled over notes and features. Without ``annotator`` the
        first person of the corpus is compared with. scikit-learn calls it, with no ``y``.
        """
        from rubricate.evaluation import evaluate

        who = learning_annotator(corpus, annotator)
        if who is None:
            raise InputError("nobody judged these notes, so there is nothing to compare with")
        found = evaluate(corpus, self.predict(corpus), reference_annotator=who, missing="skip")
        return found.characters.total().f1

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn: the input is a corpus, not an array."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        own = self.get_params().items()
        changed = [f"{name}={value!r}" for name, value in own if value != usual[name].default]
        return f"{type(self).__name__}({', '.join(changed)})"


def check_parameters(matcher_class: type, parameters: Mapping[str, Any]) -> None:
    """Raise UnknownNameError for a parameter that the matcher's constructor does not have."""
    known = list(inspect.signature(matcher_class).parameters)
    for name in parameters:
        if name not in known:
            raise UnknownNameError(f"parameter of {matcher_class.__name__}", name, known)


def needs_notes(matcher: Matcher) -> bool:
    """Tell whether a matcher finds nothing before it has learned from notes.

    Such a matcher says so in an attribute of the same name.
    """
    return bool(getattr(matcher, "needs_notes", False))


def require_fitted(matcher: object, attribute: str) -> None:
    """Raise InputError when a matcher is used before it was fitted or loaded."""
    if not hasattr(matcher, attribute):
        raise InputError(
            f"{type(matcher).__name__} has learned nothing yet. Call fit or load first."
        )
