"""Thresholds, calibration and precision of fitted networks, chosen on the notes held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rubricate.arrays import F32, Bools
from rubricate.neural.encoder.decoding import Thresholds
from rubricate.neural.encoder.model_folder import EncoderSettings
from rubricate.neural.encoder.report import PrecisionReport, ReliabilityReport
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Ruler, Scored
from rubricate.progress import Progress, silent
from rubricate.stats.calibration import Calibration, Reliability, fit_calibration, logit

#: Held-out rows from which on thresholds and calibration are fitted anew.
FEWEST_ROWS = 100
#: Held-out rows of a feature, and rows of the rarer kind, for a threshold of its own.
FEWEST_OF_FEATURE, FEWEST_OF_KIND = 30, 5
#: Eight bits are kept where they cost less characters F1 than this.
WORTH_WHOLE = 0.005


@dataclass(frozen=True, eq=False, slots=True)
class HeldOut:
    """One network's outputs for the notes held out of its training, from each of both files."""

    notes: Sequence[int]
    whole: Scored
    eight_bits: Scored


class Calibrator:
    """Measures and chooses on all held-out notes together.

    Each note's probabilities come from a network that was not taught it, and from the file that
    is kept: what a network learned from few notes, eight bits half round away.
    """

    def __init__(self, data: LearningSet, held: Sequence[HeldOut], *, whole: bool) -> None:
        self._ruler = _ruler(data, held)
        self._present = data.row_marked[self._ruler.rows] > 0
        self._feature = data.row_feature[self._ruler.rows].tolist()
        self._said = _said(held, whole=whole)

    def fit(
        self, settings: EncoderSettings, features: Sequence[str], *, progress: Progress = silent
    ) -> EncoderSettings:
        """Return the settings with thresholds and calibration fitted, where rows are enough."""
        if len(self._ruler.rows) < FEWEST_ROWS:
            return settings
        said = self._said.presence
        calibration = fit_calibration(said, self._present)
        best = self._ruler.best_thresholds(self._said, progress=progress)
        if settings.reads:
            # Notes of one case seldom contradict: the threshold that keeps credit stays the lowest.
            best = replace(best, presence=max(best.presence, settings.thresholds.presence))
        return replace(
            settings,
            thresholds=best,
            # They were chosen for what the network says alone.
            vote=0.0,
            word_vote=0.0,
            # A falling line would turn the order of probabilities, and every threshold, round.
            calibration=calibration if calibration.slope > 0 else settings.calibration,
            feature_presence=feature_thresholds(
                said, self._present, [features[f] for f in self._feature]
            ),
        )

    def figures(self, settings: EncoderSettings) -> dict[str, float]:
        """Return both figures of the networks at the common thresholds."""
        found = self._ruler.figures(self._said, settings.thresholds)
        return {"characters": found.characters, "presence": found.presence}

    def reliability(self, settings: EncoderSettings) -> ReliabilityReport:
        """Return the reliability of presence on held-out rows, before and after calibration."""
        said = self._said.presence
        return {
            "before": Reliability.of(self._present, said).to_json(),
            "after": Reliability.of(self._present, settings.calibration(said)).to_json(),
        }


def choose_precision(data: LearningSet, held: Sequence[HeldOut], at: Thresholds) -> PrecisionReport:
    """Return characters F1 of the files in full precision and in eight bits, and which to keep.

    Eight bits make a file a quarter as large and twice as fast; they are given up where they
    cost `WORTH_WHOLE` or more.
    """
    ruler = _ruler(data, held)
    full, eight = (
        ruler.figures(_said(held, whole=whole), at).characters for whole in (True, False)
    )
    kept = "full" if full - eight >= WORTH_WHOLE else "eight bits"
    return {"full": full, "eight_bits": eight, "kept": kept}


def _ruler(data: LearningSet, held: Sequence[HeldOut]) -> Ruler:
    return Ruler(data, [i for one in held for i in one.notes])


def _said(held: Sequence[HeldOut], *, whole: bool) -> Scored:
    return Scored.joined([one.whole if whole else one.eight_bits for one in held])


def keep_credit(settings: EncoderSettings, before: F32, after: F32) -> EncoderSettings:
    """Return the settings with which as many rows are credited after a fit as ``before`` it.

    People mark what notes state, so a fitted network is surer of everything, contradictions too.
    On notes it did not learn from its logits rise about alike: all settings move by that.

    >>> logits = np.linspace(-5, 5, 101)
    >>> before, after = (1 / (1 + np.exp(-x)) for x in (logits, logits + 2))
    >>> moved = keep_credit(EncoderSettings(), before, after)
    >>> round(moved.thresholds.presence, 2), round(float(moved.calibration(0.88)), 1)
    (0.88, 0.5)
    """
    at, line = settings.thresholds.presence, settings.calibration
    rise = float(np.quantile(logit(after), np.mean(before < at)) - logit(at))
    risen = Calibration(shift=rise)
    return replace(
        settings,
        thresholds=replace(settings.thresholds, presence=float(risen(at))),
        feature_presence={f: float(risen(own)) for f, own in settings.feature_presence.items()},
        calibration=Calibration(line.slope, line.shift - line.slope * rise),
    )


def feature_thresholds(presence: F32, present: Bools, feature: Sequence[str]) -> dict[str, float]:
    """Return for each feature seen often enough, both present and absent, its best threshold.

    Best is the highest presence F1; of thresholds that tie, the one nearest one half.

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
