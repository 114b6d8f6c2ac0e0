"""What suits fitted networks: thresholds, calibration and precision, chosen on held-out notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.neural.learning_set import LearningSet
from rubricate.neural.measuring import Ruler, Scored
from rubricate.neural.model_folder import Settings
from rubricate.stats.calibration import Reliability, fit_calibration

#: Held-out rows from which on thresholds and calibration are fitted anew.
FEWEST_ROWS = 100
#: Held-out rows of a feature, and rows of the rarer kind, for a threshold of its own.
FEWEST_OF_FEATURE, FEWEST_OF_KIND = 30, 5
#: Eight bits are kept where they cost less characters F1 than this.
WORTH_WHOLE = 0.005


@dataclass(frozen=True, eq=False, slots=True)
class HeldOut:
    """What one network says of the notes it was not taught: as trained, and from both files."""

    notes: Sequence[int]
    trained: Scored
    whole: Scored
    eight_bits: Scored


def settle(
    settings: Settings, data: LearningSet, held: Sequence[HeldOut], features: Sequence[str]
) -> Settings:
    """Fit thresholds and calibration to all held-out notes together, where there are enough.

    Each note's probabilities come from a network that was not taught it.
    """
    ruler = Ruler(data, [i for one in held for i in one.notes])
    if len(ruler.rows) < FEWEST_ROWS:
        return settings
    scored = joined([one.trained for one in held])
    present = data.row_marked[ruler.rows] > 0
    calibration = fit_calibration(scored.presence, present)
    return replace(
        settings,
        thresholds=ruler.best_thresholds(scored),
        # A falling line would turn the order of probabilities, and every threshold, round.
        calibration=calibration if calibration.slope > 0 else settings.calibration,
        feature_presence=feature_thresholds(
            scored.presence,
            present,
            [features[f] for f in data.row_feature[ruler.rows].tolist()],
        ),
    )


def held_out_figures(
    settings: Settings, data: LearningSet, held: Sequence[HeldOut]
) -> dict[str, float]:
    """Return both figures of the networks as trained, at the common thresholds."""
    ruler = Ruler(data, [i for one in held for i in one.notes])
    found = ruler.figures(joined([one.trained for one in held]), settings.thresholds)
    return {"characters": found.characters, "presence": found.presence}


def held_out_calibration(
    settings: Settings, data: LearningSet, held: Sequence[HeldOut]
) -> dict[str, Any]:
    """Return how far presence can be believed on held-out rows, as said and as calibrated."""
    ruler = Ruler(data, [i for one in held for i in one.notes])
    present = data.row_marked[ruler.rows] > 0
    said = joined([one.trained for one in held]).presence
    return {
        "before": Reliability.of(present, said).to_json(),
        "after": Reliability.of(present, settings.calibration(said)).to_json(),
    }


def choose_precision(
    settings: Settings, data: LearningSet, held: Sequence[HeldOut]
) -> dict[str, Any]:
    """Return characters F1 of the files in full precision and in eight bits, and which to keep.

    Eight bits make a file a quarter as large and twice as fast; they are given up where they
    cost `WORTH_WHOLE` or more.
    """
    ruler = Ruler(data, [i for one in held for i in one.notes])
    whole, eight = (
        ruler.figures(joined(said), settings.thresholds).characters
        for said in ([one.whole for one in held], [one.eight_bits for one in held])
    )
    kept = "full" if whole - eight >= WORTH_WHOLE else "eight bits"
    return {"full": whole, "eight_bits": eight, "kept": kept}


def joined(scored: Sequence[Scored]) -> Scored:
    """Return the probabilities of several networks for different notes, one after the other."""
    return Scored(
        np.concatenate([one.rows for one in scored]),
        np.concatenate([one.inside for one in scored]),
        np.concatenate([one.presence for one in scored]),
        np.concatenate([one.edges for one in scored]),
    )


def feature_thresholds(
    presence: npt.NDArray[np.float32], present: npt.NDArray[np.bool_], feature: Sequence[str]
) -> dict[str, float]:
    """Return for each feature seen often enough, both present and absent, its best threshold.

    Best is the highest presence F1; of thresholds that tie, the one nearest one half.

    Examples
    --------
    >>> chance = np.tile(np.array([0.3, 0.1], np.float32), 20)
    >>> feature_thresholds(chance, chance > 0.2, ["f"] * 40)
    {'f': 0.3}
    """
    own_rows: dict[str, list[int]] = {}
    for i, name in enumerate(feature):
        own_rows.setdefault(name, []).append(i)
    best: dict[str, float] = {}
    for name, rows in own_rows.items():
        there, chance = present[rows], presence[rows]
        rarer = min(int(there.sum()), int((~there).sum()))
        if len(rows) < FEWEST_OF_FEATURE or rarer < FEWEST_OF_KIND:
            continue
        tried = [k / 20 for k in range(4, 17)]
        scores = [
            2 * int((there & (chance >= t)).sum()) / int(there.sum() + (chance >= t).sum())
            for t in tried
        ]
        best[name] = max(zip(scores, tried, strict=True), key=lambda x: (x[0], -abs(x[1] - 0.5)))[1]
    return best
