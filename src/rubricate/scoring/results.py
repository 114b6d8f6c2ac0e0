"""From the evidence of one note to its score and items, with corrections and doubtful items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rubricate.errors import InputError
from rubricate.rubric import Feature, Rubric
from rubricate.run.results import (
    BY_HAND,
    FOR_REVIEW,
    NOT_SCORED,
    SCORED,
    UNSURE,
    Correction,
    CounterEvidence,
    Evidence,
    EvidenceLine,
    ItemResult,
    NoteResult,
    total_score,
)
from rubricate.scoring.policy import Policy


@dataclass(frozen=True, slots=True)
class UnsureRange:
    """Sends items to a person whose probability lies between two limits.

    By default from 0.2 to 0.8: where probabilities are calibrated, a decision at either end is
    wrong one time in five and those inside more often, so that looking there finds most errors per
    item. It promises nothing: for that, choose a policy (`rubricate.scoring.choose_policy`).

    >>> words = (((0, 5),),)
    >>> found = {"f": Evidence(words, 0.7), "g": Evidence(words, 0.9), "h": Evidence()}
    >>> [name for name, why in UnsureRange().why_review(found).items() if why]
    ['f']
    """

    low: float = 0.2
    high: float = 0.8

    def __post_init__(self) -> None:
        if not 0 <= self.low <= 0.5 <= self.high <= 1:
            raise InputError(
                f"unsure from {self.low:g} to {self.high:g}: need 0 <= LOW <= 0.5 <= HIGH <= 1, "
                "e.g. 0.2,0.8"
            )

    def why_review(self, found: Mapping[str, Evidence]) -> dict[str, str]:
        """Return the review reason of each item, by feature; empty for items that skip review."""
        reasons = dict.fromkeys(found, "")
        for name, evidence in found.items():
            known = evidence.probability
            if known is not None:
                if self.low < known < self.high:
                    reasons[name] = f"{UNSURE}: probability {known:.2f} of being stated"
            elif (sure := evidence.certainty) is not None and sure < self.high:
                reasons[name] = f"{UNSURE}: found with certainty {sure:.2f}"
        return reasons


#: What a run does unless told otherwise.
UNSURE_BY_DEFAULT = UnsureRange()


def judge_note(
    line: EvidenceLine,
    rubric: Rubric,
    *,
    corrections: Mapping[str, Correction] | None = None,
    policy: Policy | UnsureRange | None = None,
    any_text: bool = False,
    same_as: str = "",
) -> NoteResult:
    """Return the result of one note.

    A text that does not read like a clinical note gets no score, unless ``any_text``: all of its
    items are for review.

    >>> rubric = Rubric("c", (Feature("f", "c", "No fever", weight=2.0),))
    >>> found = Evidence((((0, 8),),), 0.9, 0.9, ("no fever",), "exact")
    >>> line = {"note": "n", "case": "c", "items": [found.to_json()]}
    >>> judge_note(line, rubric).total.score
    2.0
    """
    known = corrections or {}
    if failed := line.get("failed", ""):
        found = {feature.id: Evidence() for feature in rubric}
        status, why = NOT_SCORED, failed
    else:
        pairs = zip(rubric, line["items"], strict=True)
        found = {feature.id: Evidence.from_json(value) for feature, value in pairs}
        why = "" if any_text else line.get("no_note", "")
        status = FOR_REVIEW if why else SCORED
    reasons = policy.why_review(found) if policy is not None and status == SCORED else {}
    items = []
    for feature in rubric:
        evidence, correction = found[feature.id], known.get(feature.id)
        if correction is not None:
            items.append(_corrected(feature, evidence, correction))
        elif status == SCORED:
            reason = reasons.get(feature.id, "")
            items.append(ItemResult(feature, evidence, evidence.found, review_reason=reason))
        else:
            items.append(ItemResult(feature, evidence, None, review_reason=f"{status}: {why}"))
    if status != SCORED and items and all(item.correction is not None for item in items):
        status = BY_HAND
    total = None
    if status in (SCORED, BY_HAND):
        total = total_score(rubric, [item.feature.id for item in items if item.found])
        points = total.points
        items = [item._replace(points=points.get(item.feature.id, 0.0)) for item in items]
    return NoteResult(line["note"], line["case"], status, why, total, tuple(items), same_as)


def _corrected(feature: Feature, evidence: Evidence, correction: Correction) -> ItemResult:
    """Return the item as the person said; its probability stays the matcher's."""
    if not correction.found:
        against = evidence.against
        if correction.spans:
            words = tuple(sorted(span for one in correction.spans for span in one))
            against = CounterEvidence(words, " ".join(correction.text), reason="by hand")
        kept = evidence._replace(spans=(), text=(), reason="by hand", against=against)
    elif correction.spans is not None and correction.spans != evidence.spans:
        kept = evidence._replace(spans=correction.spans, text=correction.text, reason="by hand")
    else:
        kept = evidence if evidence.found else evidence._replace(reason="by hand")
    return ItemResult(feature, kept, correction.found, correction=correction)
