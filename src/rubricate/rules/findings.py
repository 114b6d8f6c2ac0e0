"""Values that matchers, rules and the adjudicator hand to each other about one feature."""

from __future__ import annotations

from typing import Literal, NamedTuple

from rubricate.rules.reasons import Reason

#: Half-open ranges of code points.
Spans = tuple[tuple[int, int], ...]
#: How words bear on a feature. Words that cast doubt send the item to a person.
Effect = Literal["states", "contradicts", "irrelevant", "doubts"]
#: The name of what decides where no rule changes a proposal.
BY_MATCHER = "matcher"


class Candidate(NamedTuple):
    """Words that a matcher or a rule offers as evidence of a feature."""

    spans: Spans
    confidence: float
    reasons: tuple[Reason, ...]


class Against(NamedTuple):
    """Words that contradict a feature; ``probability`` is a network's, None of a rule."""

    spans: Spans
    probability: float | None
    reasons: tuple[Reason, ...]


class Proposal(NamedTuple):
    """The words that a matcher offers for a feature in a note, before rules are asked."""

    candidates: tuple[Candidate, ...] = ()
    presence: float | None = None
    against: Against | None = None


class Claim(NamedTuple):
    """The claim of a rule: words state a feature, contradict it, or do not bear on it.

    ``spans`` are the words it rests on, ``said`` is what they say instead. ``of`` is the candidate
    that it is about; None where it is about the note. ``why`` is the reason where it is not the
    rule itself.
    """

    rule: str
    effect: Effect
    spans: Spans
    said: str = ""
    of: Candidate | None = None
    why: Reason | None = None

    @property
    def reason(self) -> Reason:
        """The reason that is shown where the claim decides."""
        return self.why or Reason(self.rule, self.said)


class ItemFinding(NamedTuple):
    """The decision on a feature in a note; ``decided_by`` is a rule, or the matcher."""

    evidence: tuple[Candidate, ...]
    probability: float | None
    against: Against | None
    decided_by: str = BY_MATCHER
    stage: int = 0

    @property
    def outcome(self) -> str:
        """Stated, contradicted, or not mentioned."""
        other = "not mentioned" if self.against is None else "contradicted"
        return "stated" if self.evidence else other
