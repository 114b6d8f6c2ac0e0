"""What the page about a run shows, summed while its results come by."""

from __future__ import annotations

import heapq
import re
from array import array
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rubricate.rubric import Feature, Rubric
from rubricate.run import ItemResult, NoteResult
from rubricate.run.results import FOR_REVIEW, RunCounts
from rubricate.run.scored_run import F64, I64, percentages

#: Single items and notes that the page lists; the viewer has all of them.
MOST_LISTED = 50
#: A number, or a name in quotation marks, whose numbers tell it from others.
_NUMBER = re.compile(r"('[^']*')|\d[\d.,]*(?:\s?%)?")


@dataclass(slots=True)
class FeatureTally:
    """How often a feature was judged, found, contradicted and sent to review."""

    feature: Feature
    judged: int = 0
    found: int = 0
    contradicted: int = 0
    review: int = 0


class ListedItem(NamedTuple):
    """An item that the page names; those of which least is sure come first."""

    certainty: float
    note: str
    item: ItemResult


@dataclass(eq=False)
class Cohort:
    """Sums over the notes of a run; some thirty bytes per note are kept, whatever their length."""

    counts: RunCounts = field(default_factory=RunCounts)
    cases: dict[str, int] = field(default_factory=dict)
    tallies: dict[str, dict[str, FeatureTally]] = field(default_factory=dict)
    review_reasons: Counter[str] = field(default_factory=Counter)
    not_scored: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    for_review: list[tuple[str, str]] = field(default_factory=list)
    contradicted: list[ListedItem] = field(default_factory=list)
    _asked: list[tuple[float, int, ListedItem]] = field(default_factory=list)
    _n_asked: int = 0
    _rubrics: dict[str, Rubric] = field(default_factory=dict)
    _case: array[int] = field(default_factory=lambda: array("l"))
    _score: array[float] = field(default_factory=lambda: array("d"))
    _maximum: array[float] = field(default_factory=lambda: array("d"))
    _review: array[int] = field(default_factory=lambda: array("l"))

    def add(self, result: NoteResult) -> int:
        """Add one note; return its case's number."""
        self.counts.add(result)
        case = self.cases.setdefault(result.case, len(self.cases))
        total = result.total
        self._case.append(case)
        self._score.append(total.score if total else np.nan)
        self._maximum.append(total.maximum if total else np.nan)
        if result.status == FOR_REVIEW:
            self.for_review.append((result.note, result.reason))
        elif result.why_not_scored:
            self.not_scored[without_numbers(result.why_not_scored)] += 1
            self.failed.append(result.note)
        own = self.tallies.setdefault(result.case, {}) if result.items else {}
        for item in result.items:
            tally = own.get(item.feature.id)
            if tally is None:
                tally = own[item.feature.id] = FeatureTally(item.feature)
            if item.review_reason:
                tally.review += 1
                self.review_reasons[without_numbers(item.review_reason)] += 1
            if item.found is None:
                continue
            tally.judged += 1
            tally.found += item.found is True
            if item.outcome == "contradicted":
                tally.contradicted += 1
                if len(self.contradicted) < MOST_LISTED:
                    self.contradicted.append(ListedItem(item.certainty or 0.0, result.note, item))
            if item.review_reason:
                self._list(result.note, item)
        self._review.append(result.n_review)
        return case

    def _list(self, note: str, item: ItemResult) -> None:
        """Keep the items for review of which least is sure; of equals, those that came first."""
        sure = 1.0 if item.certainty is None else item.certainty
        self._n_asked += 1
        entry = (-sure, -self._n_asked, ListedItem(sure, note, item))
        if len(self._asked) < MOST_LISTED:
            heapq.heappush(self._asked, entry)
        else:
            heapq.heappushpop(self._asked, entry)

    def least_sure(self) -> list[ListedItem]:
        """Return the items for review of which least is sure, that one first."""
        return [listed for _, _, listed in sorted(self._asked, key=lambda e: (-e[0], -e[1]))]

    def __len__(self) -> int:
        return len(self._case)

    @cached_property
    def percentage(self) -> F64:
        """Each note's score in per cent of its maximum; NaN without one."""
        return percentages(np.array(self._score), np.array(self._maximum))

    @cached_property
    def case(self) -> I64:
        """The number of each note's case."""
        return np.array(self._case, dtype=np.int64)

    @cached_property
    def review(self) -> I64:
        """How many items of each note wait for a person."""
        return np.array(self._review, dtype=np.int64)

    def rubric(self, case: str) -> Rubric:
        """Return the features of a case that came by so far."""
        own, known = self.tallies.get(case, {}), self._rubrics.get(case)
        if known is None or len(known) != len(own):
            known = Rubric(case, tuple(tally.feature for tally in own.values()))
            self._rubrics[case] = known
        return known

    @property
    def n_listed(self) -> int:
        """How many items for review there are on which the machine decided."""
        return self._n_asked

    @property
    def rubrics(self) -> dict[str, Rubric]:
        """The features of each case."""
        return {case: self.rubric(case) for case in self.tallies}

    def all_tallies(self) -> list[FeatureTally]:
        """Return the tallies of all features, case by case."""
        return [tally for own in self.tallies.values() for tally in own.values()]


def without_numbers(text: str) -> str:
    """Return a reason without its numbers, so that like ones are counted together.

    Examples
    --------
    >>> without_numbers("found with certainty 0.62: estimated error 7.1%")
    'found with certainty …: estimated error …'
    >>> without_numbers("no rubric for case 'Station 9'")
    "no rubric for case 'Station 9'"
    """
    return _NUMBER.sub(lambda match: match[1] or "…", text)
