"""One row as the rules see it: the spans as given, their note, and what the feature is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from rubricate.checking.findings import RawSpans, Repair
from rubricate.corpus import Annotator, Corpus, Note
from rubricate.rows import NO_DETAIL, Detail
from rubricate.rubric import Feature

_AGE = re.compile(
    r"aged?(?:\s+\d+.*)?|\d+\s*(?:year|yr)(?:s?\s+old|s?\s+of\s+age)?|\d+\s*y/?o"
    r"|\d+\s*(?:month|mo|week|wk|day)s?\s+(?:old|of\s+age)"
)
_GENDER = re.compile(r"(?:gender|sex)(?:\s+(?:fe)?male)?|(?:fe)?male|(?:wo)?man|boy|girl")
_NEGATIVE = re.compile(
    r"(?:no|not|never|none|nil|neither|denies|denied|denying|without|absence|lack|negative for"
    r"|lacks|non|free of)\b"
)
_OTHER_PERSON = re.compile(
    r"\b(?:family|famil\w+|relatives?|mother|mom|father|dad|parents?|brothers?|sisters?|siblings?"
    r"|aunts?|uncles?|cousins?|grand\w+|sons?|daughters?|child\w*|kids?|baby|infant|newborn|twins?"
    r"|wife|husband|spouse|partners?|boyfriend|girlfriend|roommates?|friends?|coach|boss|neighbou?r"
    r"|daycare|contacts?|others|witness\w*)\b"
)


class Marked(NamedTuple):
    """One annotation as given; ``spans`` may be wrong, ``confidence`` nan."""

    spans: RawSpans
    confidence: float = float("nan")
    detail: Detail = NO_DETAIL


class RuleHit(NamedTuple):
    """What a rule finds in a row; ``annotation`` is None where the row itself is at fault."""

    annotation: int | None
    message: str
    repair: Repair | None = None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row with everything the rules look at.

    Attributes
    ----------
    sound : tuple of (index, spans)
        The annotations whose spans lie inside the note and whose text was not stated otherwise:
        rules about the annotated words look at these only, because the words of the others are
        not where the annotator meant them to be.
    """

    note: Note
    annotator: Annotator
    feature: Feature
    own_features: tuple[Feature, ...]
    annotations: tuple[Marked, ...]
    sound: tuple[tuple[int, RawSpans], ...] = field(init=False)

    def __post_init__(self) -> None:
        length = len(self.note.text)
        sound = tuple(
            (i, marked.spans)
            for i, marked in enumerate(self.annotations)
            if marked.spans
            and marked.detail.stated_text is None
            and all(0 <= start < end <= length for start, end in marked.spans)
        )
        object.__setattr__(self, "sound", sound)


@dataclass(frozen=True, slots=True)
class CheckRule:
    """One named rule."""

    name: str
    summary: str
    find: Callable[[JudgedRow], Iterable[RuleHit]]


class Traits(NamedTuple):
    """What a feature's text says about what may be marked for it."""

    is_age: bool
    is_gender: bool
    is_negative: bool
    names_other_person: bool
    words: frozenset[str]


def feature_traits(feature: Feature) -> Traits:
    """Return what the feature's kind and text say about it.

    >>> feature_traits(Feature("1", "c", "58 year")).is_age
    True
    >>> feature_traits(Feature("2", "c", "No fever OR no chills")).is_negative
    True
    """
    return _traits(feature.text, feature.kind)


@lru_cache(maxsize=65536)
def _traits(text: str, kind: str) -> Traits:
    lowered = " ".join(text.replace("-", " ").lower().split())
    parts = [part.strip() for part in lowered.split(" or ") if part.strip()]
    return Traits(
        is_age=kind == "age" or bool(_AGE.fullmatch(lowered)),
        is_gender=kind == "gender" or (bool(parts) and all(map(_GENDER.fullmatch, parts))),
        is_negative=bool(parts) and all(map(_NEGATIVE.match, parts)),
        names_other_person=bool(_OTHER_PERSON.search(lowered)),
        words=frozenset(re.findall(r"[^\W_]+", lowered)),
    )


def judged_rows(corpus: Corpus, numbers: Iterable[int] | None = None) -> Iterator[JudgedRow]:
    """Walk over the rows with these numbers (all if None), in the order given."""
    rows = corpus.rows
    note, annotator, feature = rows.note.tolist(), rows.annotator.tolist(), rows.feature.tolist()
    start, end = rows.start.tolist(), rows.end.tolist()
    first_span, first = rows.first_span.tolist(), rows.first_annotation.tolist()
    confidence = None if rows.confidence is None else rows.confidence.tolist()
    own = {case: corpus.rubric(case).features for case in {note.case for note in corpus.notes}}
    for row in range(len(rows)) if numbers is None else numbers:
        marked = []
        for i in range(first[row], first[row + 1]):
            spans = slice(first_span[i], first_span[i + 1])
            marked.append(
                Marked(
                    tuple(zip(start[spans], end[spans], strict=True)),
                    float("nan") if confidence is None else confidence[i],
                    rows.details.get(i, NO_DETAIL),
                )
            )
        its_note = corpus.notes[note[row]]
        yield JudgedRow(
            its_note,
            corpus.annotators[annotator[row]],
            corpus.features[feature[row]],
            own[its_note.case],
            tuple(marked),
        )
