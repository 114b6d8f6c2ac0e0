"""What was found for one feature in one note, and how sure that decision is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

from rubricate.rubric import Outcome, outcome_of

#: Digits kept of probabilities, so that the last bits of a sum cannot change a file.
DIGITS = 4
#: The annotations of a feature, each with its fragments, as offsets in code points.
Spans = tuple[tuple[tuple[int, int], ...], ...]


def certainty(
    found: bool, probability: float | None, confidence: float | None = None
) -> float | None:
    """Return how sure a decision is: of presence where found, else of absence.

    The probability of what was decided; where there is none, the confidence of the surest
    annotation; None for absences the matcher gives no probability for.

    Examples
    --------
    >>> certainty(True, 0.9), certainty(False, 0.1), certainty(True, None, 0.8)
    (0.9, 0.9, 0.8)
    >>> certainty(False, None, 0.8) is None
    True
    """
    if probability is None:
        return confidence if found else None
    return probability if found else round(1.0 - probability, DIGITS)


class CounterEvidence(NamedTuple):
    """Words of a note that contradict a feature, with the reason ("says left")."""

    spans: tuple[tuple[int, int], ...]
    text: str = ""
    probability: float | None = None
    reason: str = ""

    @staticmethod
    def from_json(value: Sequence[Any]) -> CounterEvidence:
        """Return what `Evidence.to_json` wrote."""
        return CounterEvidence(tuple((int(s), int(e)) for s, e in value[0]), *value[1:])


class Evidence(NamedTuple):
    """What was found for one feature in one note."""

    spans: Spans = ()
    probability: float | None = None
    confidence: float | None = None
    text: tuple[str, ...] = ()
    reason: str = ""
    against: CounterEvidence | None = None

    @property
    def found(self) -> bool:
        """Whether the feature was found."""
        return bool(self.spans)

    @property
    def outcome(self) -> Outcome:
        """Whether the note states the feature, contradicts it, or does not mention it."""
        return outcome_of(self.found, self.against is not None)

    @property
    def certainty(self) -> float | None:
        """How sure the matcher is of its decision."""
        return certainty(self.found, self.probability, self.confidence)

    def to_json(self) -> list[Any]:
        """Return the values as a list."""
        plain = [self.spans, self.probability, self.confidence, self.text, self.reason]
        return plain if self.against is None else [*plain, self.against]

    @staticmethod
    def from_json(value: Sequence[Any]) -> Evidence:
        """Inverse of `to_json`."""
        spans = tuple(tuple((int(s), int(e)) for s, e in one) for one in value[0])
        against = CounterEvidence.from_json(value[5]) if len(value) > 5 else None
        return Evidence(spans, value[1], value[2], tuple(value[3]), value[4], against)


class EvidenceLine(TypedDict, total=False):
    """One note as ``evidence/`` keeps it.

    Beside ``note`` and ``case`` it has one of: the items of its features, why it could not be
    searched, or the number of the earlier note it is identical to. ``no_note`` says why a text
    that has items does not read like a clinical note of its case.
    """

    note: str
    case: str
    items: list[list[Any]]
    no_note: str
    failed: str
    same_as: int


def fragments_text(spans: Sequence[tuple[int, int]]) -> str:
    """Return the spans of one annotation as text.

    Examples
    --------
    >>> fragments_text([(0, 5), (8, 12)])
    '0 5;8 12'
    """
    return ";".join(f"{s} {e}" for s, e in spans)


def spans_text(spans: Spans) -> str:
    """Return spans as text: ``;`` between fragments, ``|`` between annotations.

    Examples
    --------
    >>> spans_text((((0, 5), (8, 12)), ((20, 25),)))
    '0 5;8 12|20 25'
    """
    return "|".join(fragments_text(one) for one in spans)


def parse_spans(text: str) -> Spans:
    """Inverse of `spans_text`; ValueError where a span is none.

    Examples
    --------
    >>> parse_spans("0 5;8 12|20 25")
    (((0, 5), (8, 12)), ((20, 25),))
    """
    found = []
    for annotation in text.split("|") if text else ():
        spans = []
        for part in annotation.split(";"):
            start, end = (int(offset) for offset in part.split())
            if not 0 <= start < end:
                raise ValueError("need 0 <= start < end")
            spans.append((start, end))
        found.append(tuple(spans))
    return tuple(found)
