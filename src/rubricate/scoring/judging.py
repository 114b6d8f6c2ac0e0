"""From the evidence of one note to its score and items, with review and corrections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rubricate.rubric import Feature, Rubric
from rubricate.scoring.cells import BETWEEN, guarded, number_text, spans_text
from rubricate.scoring.corrections import Correction
from rubricate.scoring.evidence import Evidence
from rubricate.scoring.routing import Policy
from rubricate.scoring.totals import Total, total_score

SCORED = "scored"
NOT_SCORED = "not scored"
BY_HAND = "scored by hand"


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One feature in one note, as it is written to items.csv."""

    feature: Feature
    evidence: Evidence
    found: bool | None
    points: float | None = None
    review_reason: str = ""
    correction: Correction | None = None

    def cells(self, note: str, case: str) -> list[str]:
        """Return the row of items.csv."""
        feature, evidence, corrected = self.feature, self.evidence, self.correction
        return [
            guarded(note),
            guarded(case),
            guarded(feature.id),
            guarded(feature.text),
            guarded(feature.group),
            number_text(feature.weight),
            "" if self.found is None else _yes(self.found),
            number_text(self.points),
            number_text(evidence.probability),
            number_text(evidence.confidence),
            spans_text(evidence.spans),
            guarded(BETWEEN.join(evidence.text)),
            guarded(evidence.reason),
            _yes(bool(self.review_reason)),
            guarded(self.review_reason),
            guarded(corrected.by) if corrected else "",
            guarded(corrected.at) if corrected else "",
            guarded(corrected.comment) if corrected else "",
        ]


@dataclass(frozen=True, slots=True)
class NoteResult:
    """One note, as it is written to scores.csv, with its items."""

    note: str
    case: str
    status: str
    reason: str
    total: Total | None
    items: tuple[ItemResult, ...]
    same_as: str = ""

    @property
    def n_found(self) -> int:
        """How many features were found."""
        return sum(item.found is True for item in self.items)

    @property
    def n_review(self) -> int:
        """How many items a person must see."""
        return sum(bool(item.review_reason) for item in self.items)

    @property
    def n_corrected(self) -> int:
        """How many items a person corrected."""
        return sum(item.correction is not None for item in self.items)

    def cells(self) -> list[str]:
        """Return the row of scores.csv."""
        total = self.total
        return [
            guarded(self.note),
            guarded(self.case),
            self.status,
            guarded(self.reason),
            number_text(total.score) if total else "",
            number_text(total.maximum) if total else "",
            number_text(round(total.percentage, 2)) if total else "",
            str(len(self.items)),
            str(self.n_found) if total else "",
            str(self.n_review),
            str(self.n_corrected),
            guarded(self.same_as),
        ]


def judge_note(
    line: Mapping[str, Any],
    rubric: Rubric,
    *,
    corrections: Mapping[str, Correction] | None = None,
    policy: Policy | None = None,
    same_as: str = "",
) -> NoteResult:
    """Return the result of one note.

    Parameters
    ----------
    line : mapping
        ``note``, ``case`` and either ``items`` (evidence of each feature, in order) or ``failed``.
    rubric : Rubric
        Of the note's case; empty if there is none.
    corrections : mapping from feature id to Correction, optional
        What a person said about this note.
    policy : Policy, optional
        Which items a person must see; without one, none but those of notes that cannot be scored.
    same_as : str
        Id of an earlier identical note.

    Examples
    --------
    >>> rubric = Rubric("c", (Feature("f", "c", "No fever", weight=2.0),))
    >>> found = Evidence((((0, 8),),), 0.9, 0.9, ("no fever",), "exact")
    >>> line = {"note": "n", "case": "c", "items": [found.to_json()]}
    >>> judge_note(line, rubric).total.score
    2.0
    """
    known = corrections or {}
    failed = str(line.get("failed", ""))
    if failed:
        items = [_unseen(feature, known.get(feature.id), failed) for feature in rubric]
    else:
        pairs = zip(rubric, line["items"], strict=True)
        found = {feature.id: Evidence.from_json(value) for feature, value in pairs}
        reasons = {} if policy is None else policy.why_review(found)
        items = [
            _item(feature, found[feature.id], known.get(feature.id), reasons.get(feature.id, ""))
            for feature in rubric
        ]
    by_hand = bool(failed and items) and all(item.correction is not None for item in items)
    status = NOT_SCORED if failed else SCORED
    total = None
    if by_hand or not failed:
        status = BY_HAND if by_hand else status
        total, items = _summed(rubric, items)
    note, case = str(line["note"]), str(line["case"])
    return NoteResult(note, case, status, failed, total, tuple(items), same_as)


def _summed(rubric: Rubric, items: Sequence[ItemResult]) -> tuple[Total, list[ItemResult]]:
    total = total_score(rubric, [item.feature.id for item in items if item.found])
    points = total.points
    return total, [replace(item, points=points.get(item.feature.id, 0.0)) for item in items]


def _unseen(feature: Feature, correction: Correction | None, why: str) -> ItemResult:
    if correction is not None:
        return _corrected(feature, Evidence(), correction)
    return ItemResult(feature, Evidence(), None, review_reason=f"{NOT_SCORED}: {why}")


def _item(
    feature: Feature, evidence: Evidence, correction: Correction | None, why: str
) -> ItemResult:
    if correction is not None:
        return _corrected(feature, evidence, correction)
    return ItemResult(feature, evidence, evidence.found, review_reason=why)


def _corrected(feature: Feature, evidence: Evidence, correction: Correction) -> ItemResult:
    """Return the item as the person said; its probability stays the matcher's."""
    if not correction.found:
        kept = evidence._replace(spans=(), text=(), reason="by hand")
    elif correction.spans is not None and correction.spans != evidence.spans:
        kept = evidence._replace(spans=correction.spans, text=correction.text, reason="by hand")
    else:
        kept = evidence if evidence.found else evidence._replace(reason="by hand")
    return ItemResult(feature, kept, correction.found, correction=correction)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
