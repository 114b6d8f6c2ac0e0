"""The ``exact`` matcher: phrases seen in training, found as they stand."""

from __future__ import annotations

from typing import ClassVar

from rubricate.matchers.phrase_matcher import PhraseMatcher


class ExactMatcher(PhraseMatcher):
    """Finds the phrases that were marked for a feature in training, whatever their case.

    A phrase marks only the features it was marked for. Hits begin and end at word edges. An
    annotation of several fragments is looked for as its fragments in order. Of overlapping hits
    of one feature the longest is kept.

    Parameters
    ----------
    window : int
        Most characters between two fragments of a phrase.

    Attributes
    ----------
    model_ : PhraseModel
        The learned phrases.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = ExactMatcher().fit(corpus).predict(corpus)
    >>> found.annotations(corpus.notes[0].id, "3012", "exact")[0].detail.reason
    'exact: "no fever"'
    """

    name: ClassVar[str] = "exact"
