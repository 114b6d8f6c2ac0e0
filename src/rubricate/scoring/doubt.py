"""Which items a person must see where no policy says so: those whose probability is in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rubricate.errors import Fault, InputError
from rubricate.run.evidence import Evidence
from rubricate.run.results import UNSURE


class ReviewRules(Protocol):
    """Whatever says which items of a note a person must see: a policy, or a range of doubt."""

    def why_review(self, found: Mapping[str, Evidence]) -> Mapping[str, str]:
        """Return why a person must see each item, by feature; empty for those nobody must."""


@dataclass(frozen=True, slots=True)
class UnsureRange:
    """Sends items to a person whose probability lies between two limits.

    By default from 0.2 to 0.8: where probabilities are calibrated, a decision at either end is
    wrong one time in five and those inside more often, so that looking there finds most errors per
    item. It promises nothing: for that, choose a policy (`rubricate.scoring.choose_policy`).

    Examples
    --------
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
                [
                    Fault(
                        f"unsure from {self.low:g} to {self.high:g}: need 0 <= LOW <= 0.5 <= HIGH "
                        "<= 1, e.g. 0.2,0.8"
                    )
                ]
            )

    def why_review(self, found: Mapping[str, Evidence]) -> dict[str, str]:
        """Return why a person must see each item, by feature; empty for those nobody must."""
        return {name: self._why(one) for name, one in found.items()}

    def _why(self, evidence: Evidence) -> str:
        known = evidence.probability
        if known is not None:
            inside = self.low < known < self.high
            return f"{UNSURE}: probability {known:.2f} of being stated" if inside else ""
        sure = evidence.certainty
        below = sure is not None and sure < self.high
        return f"{UNSURE}: found with certainty {sure:.2f}" if below else ""


#: What a run does unless told otherwise.
UNSURE_BY_DEFAULT = UnsureRange()
