"""What changed between two runs: scores, decisions, notes that came and went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rubricate.run.scored_run import ScoredRun, paired_items


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """A decision that is another one now: note, feature, and whether it is found now."""

    note: str
    feature: str
    found_now: bool


class ScoreChange(NamedTuple):
    """A note whose score is another one now; NaN where there was, or is, none."""

    note: str
    before: float
    now: float

    @property
    def change(self) -> float:
        """By how much it rose."""
        return self.now - self.before


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between an earlier and a later run."""

    n_shared: int
    came: tuple[str, ...]
    went: tuple[str, ...]
    scores: dict[str, tuple[float, float]]
    decisions: tuple[DecisionChange, ...]

    def largest(self) -> list[ScoreChange]:
        """Return the notes whose scores changed, those that changed most first."""
        found = [ScoreChange(note, *pair) for note, pair in self.scores.items()]
        return sorted(found, key=lambda one: -abs(np.nan_to_num(one.change, nan=np.inf)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "notes_in_both": self.n_shared,
            "notes_that_came": len(self.came),
            "notes_that_went": len(self.went),
            "scores_changed": len(self.scores),
            "decisions_changed": len(self.decisions),
            "now_found": sum(change.found_now for change in self.decisions),
            "changed_most": [
                {
                    "note": one.note,
                    "before": _known(one.before),
                    "now": _known(one.now),
                    "change": _known(one.change),
                }
                for one in self.largest()[:20]
            ],
        }


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def compare_runs(before: ScoredRun, after: ScoredRun) -> Changes:
    """List what changed from one run to a later one.

    Examples
    --------
    >>> notes, cases, most = ("a", "b"), ("0", "0"), np.array([2.0, 2.0])
    >>> before = ScoredRun(notes, cases, np.array([1.0, 2.0]), most)
    >>> after = ScoredRun(notes, cases, np.array([2.0, 2.0]), most)
    >>> compare_runs(before, after).scores
    {'a': (1.0, 2.0)}
    """
    old = set(before.notes)
    shared = [note for note in after.notes if note in old]
    scores = {}
    for note in shared:
        pair = before.score[before.note_index[note]], after.score[after.note_index[note]]
        if pair[0] != pair[1] and not np.isnan(pair).all():
            scores[note] = (float(pair[0]), float(pair[1]))
    first, second = paired_items(before, after)
    flipped = np.flatnonzero(before.items.found[first] != after.items.found[second])
    items = after.items
    return Changes(
        n_shared=len(shared),
        came=tuple(note for note in after.notes if note not in old),
        went=tuple(note for note in before.notes if note not in after.note_index),
        scores=scores,
        decisions=tuple(
            DecisionChange(
                after.notes[items.note[second[k]]],
                items.features[items.feature[second[k]]],
                bool(items.found[second[k]]),
            )
            for k in flipped
        ),
    )
