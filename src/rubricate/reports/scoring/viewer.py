"""Totals for the page about a run, and the page that shows one note at a time."""

from __future__ import annotations

import heapq
import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote, urlencode

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.files import packaged_text
from rubricate.reports.page import Cell, Link, Text, fill_template, template_text
from rubricate.rubric import Feature, Rubric
from rubricate.run import ItemResult, NoteResult, spans_text
from rubricate.run.reading import percentages
from rubricate.run.results import FOR_REVIEW, RunCounts
from rubricate.spans import fragments_text

#: Single items and notes that the page lists; the viewer has all of them.
MOST_LISTED = 50
#: A number, or a name in quotation marks, whose numbers tell it from others.
_NUMBER = re.compile(r"('[^']*')|\d[\d.,]*(?:\s?%)?")


@dataclass(slots=True)
class FeatureTally:
    """Counts of a feature: judged, stated, contradicted and sent to review."""

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
    #: The items for review of which least is sure, and how many there are that have a decision.
    asked: list[tuple[float, int, ListedItem]] = field(default_factory=list)
    n_asked: int = 0
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
        self.n_asked += 1
        entry = (-sure, -self.n_asked, ListedItem(sure, note, item))
        if len(self.asked) < MOST_LISTED:
            heapq.heappush(self.asked, entry)
        else:
            heapq.heappushpop(self.asked, entry)

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
        """Number of items for review in each note."""
        return np.array(self._review, dtype=np.int64)

    def rubric(self, case: str) -> Rubric:
        """Return the features of a case that came by so far."""
        own, known = self.tallies.get(case, {}), self._rubrics.get(case)
        if known is None or len(known) != len(own):
            known = Rubric(case, tuple(tally.feature for tally in own.values()))
            self._rubrics[case] = known
        return known

    @property
    def rubrics(self) -> dict[str, Rubric]:
        """The features of each case."""
        return {case: self.rubric(case) for case in self.tallies}

    def all_tallies(self) -> list[FeatureTally]:
        """Return the tallies of all features, case by case."""
        return [tally for own in self.tallies.values() for tally in own.values()]


def without_numbers(text: str) -> str:
    """Return a reason without its numbers, so that like ones are counted together.

    >>> without_numbers("found with certainty 0.62: estimated error 7.1%")
    'found with certainty …: estimated error …'
    """
    return _NUMBER.sub(lambda match: match[1] or "…", text)


VIEWER = "report/notes.html"
#: Notes in one file; each is read when one of its notes is looked at.
CHUNK = 100
#: What the viewer filters by, beside what the checks say; `viewer/data.ts` has the same numbers.
CORRECTED, FAILED, UNLIKE = 1, 16, 32
_INDEX = "the index goes here"
#: Notes that one line names; the viewer has all of them.
_NAMED = 8
#: What the index says of each item, a sign for each; `viewer/data.ts` has the same.
_BITS = {"stated": "1", "contradicted": "2", "not mentioned": "0", None: "-"}


def case_title(case: str) -> str:
    """Return the name of a case on pages.

    >>> case_title("1"), case_title("Case 1"), case_title("")
    ('Case 1', 'Case 1', 'No case')
    """
    if not case.strip():
        return "No case"
    return case if case.casefold().startswith("case") else f"Case {case}"


def notes_link(words: str, **filters: str) -> Link:
    """Return a link to the viewer with these filters set.

    >>> notes_link("a<b", n="x&y")
    Link(words='a<b', address='report/notes.html#n=x%26y')
    """
    return Link(words, f"{VIEWER}#{urlencode(filters, quote_via=quote)}" if filters else VIEWER)


def note_cell(note: str) -> Cell:
    """Return the cell of a table that names a note, and opens it in the viewer."""
    return Cell([notes_link(note, n=note)], note)


def named_notes(words: str, notes: Sequence[str], show: str, after: str = ".") -> Text:
    """Return words with the notes that they are about, as links.

    >>> from rubricate.reports.page import plain_text
    >>> plain_text(named_notes("One note is odd", ["a<b"], "failed"))
    'One note is odd: a<b.'
    """
    links = [notes_link(note, n=note) for note in notes[:_NAMED]]
    if len(notes) > _NAMED:
        links.append(notes_link(f"{len(notes) - _NAMED:,} more", show=show))
    return [f"{words}: ", *listed_links(links), after]


def listed_links(links: Sequence[Link]) -> list[str | Link]:
    """Return links with commas between them."""
    return [part for link in links for part in (", ", link)][1:]


class ShownNote(NamedTuple):
    """A note as the viewer shows it, but for what is known when all notes were seen."""

    note: str
    text: str
    #: Its entry of the index, and its items, as JSON.
    entry: str
    items: str
    flags: int
    why_not_scored: str


def shown_note(result: NoteResult, case: int, text: str) -> ShownNote:
    """Return a note ready for the viewer."""
    total = result.total
    items = []
    for item in result.items:
        evidence, corrected, sure = item.evidence, item.correction, item.certainty
        signed = [corrected.by, corrected.at, corrected.comment] if corrected else ["", "", ""]
        said = None if item.found else evidence.against
        items.append(
            [None if item.found is None else int(item.found),
             None if sure is None else round(sure, 4),
             spans_text(evidence.spans) if item.found else "",
             evidence.reason, item.review_reason, *signed,
             *([fragments_text(said.spans), said.reason] if said else ["", ""])]
        )  # fmt: skip
    score, most = (total.score, total.maximum) if total else (math.nan, math.nan)
    bits = "".join(_BITS[item.outcome] for item in result.items)
    unlike = result.status == FOR_REVIEW
    entry = [result.note, case, _short(score), _short(most), bits, result.n_review]
    flags = CORRECTED * any(item.correction for item in result.items)
    return ShownNote(
        result.note,
        text,
        safe_json(entry),
        safe_json(items),
        flags + (UNLIKE if unlike else FAILED * bool(result.why_not_scored)),
        result.why_not_scored,
    )


def viewer_frame(
    title: str,
    rubrics: Mapping[str, Iterable[Feature]],
    cases: Iterable[str],
    run: str,
    *,
    without_floor: Collection[str] = (),
) -> tuple[str, str]:
    """Return the page before and after the entries of the index.

    The browser keeps decisions under ``run``. Scores of cases ``without_floor`` may be below 0.
    """
    from markupsafe import Markup

    shown = [
        {
            "case": case,
            "title": case_title(case),
            "floor": case not in without_floor,
            "features": [[f.id, f.text, f.weight, f.group] for f in rubrics.get(case, ())],
        }
        for case in cases
    ]
    values = {"title": title, "run": run, "size": CHUNK, "cases": shown, "notes": []}
    index = safe_json(values)
    before, after = index[:-2], index[-2:]
    page = fill_template(
        "scoring_notes.html",
        title=title,
        style=template_text("report.css") + template_text("scoring_notes.css"),
        script=packaged_text("reports", "built", "viewer.js"),
        index=Markup(_INDEX),
    )
    head, tail = page.split(_INDEX)
    return head + before, after + tail


def _short(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else round(value, 4)


def safe_json(value: object) -> str:
    r"""Return JSON that may stand in a script: no tag can begin in it, and it is ASCII.

    >>> safe_json("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")
