"""The ``fuzzy`` matcher: phrases seen in training, found within two edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rubricate.matchers.fuzzy_scanning import FuzzyScanner, Tolerance
from rubricate.matchers.phrase_matcher import PhraseMatcher, Scanner


class FuzzyMatcher(PhraseMatcher):
    """Finds the phrases that were marked in training within an edit or two.

    The tolerance grows with the length of a phrase (of each of its fragments): short ones must
    stand as they are. Otherwise as `ExactMatcher`; of overlapping hits of one feature the one
    with the fewest edits is kept, then the longest.

    Parameters
    ----------
    window : int
        Most characters between two fragments of a phrase.
    one_edit_from, two_edits_from : int
        From which length on one edit, and two edits, are allowed.

    Attributes
    ----------
    model_ : PhraseModel
        The learned phrases.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = FuzzyMatcher().fit(corpus).predict(corpus)
    >>> found.annotators[0].id
    'fuzzy'
    """

    name: ClassVar[str] = "fuzzy"

    def __init__(
        self, *, window: int = 60, one_edit_from: int = 5, two_edits_from: int = 10
    ) -> None:
        super().__init__(window=window)
        self.one_edit_from = one_edit_from
        self.two_edits_from = two_edits_from

    def _scanner(self, phrases: Sequence[tuple[str, ...]]) -> Scanner:
        tolerance = Tolerance(self.one_edit_from, self.two_edits_from)
        return FuzzyScanner(phrases, window=self.window, tolerance=tolerance)
