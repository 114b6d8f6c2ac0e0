"""Samples whose strata were drawn at different rates: weights, and rates of the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, Fault, InputError
from rubricate.stats.bootstrap import quantile_each
from rubricate.stats.intervals import Estimate
from rubricate.stats.limits import at_least, inside_unit, raise_if_any
from rubricate.stats.resampling import table_rates

_METHOD = "stratified-posterior"


@dataclass(frozen=True, slots=True)
class Stratum:
    """A stratum of notes: how many it holds, and what the sampled ones turned out to be.

    >>> Stratum(1000, tp=212, fp=38, predicted="positive").sampled
    250
    """

    population: int
    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    predicted: Literal["positive", "negative", "mixed"] = "mixed"

    def __post_init__(self) -> None:
        cells = {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}
        faults = [fault for name, count in cells.items() for fault in at_least(name, count, 0)]
        if self.predicted not in ("positive", "negative", "mixed"):
            faults.append(Fault("predicted must be positive, negative or mixed"))
        if (self.predicted == "positive" and self.fn + self.tn) or (
            self.predicted == "negative" and self.tp + self.fp
        ):
            faults.append(Fault(f"a {self.predicted} stratum holds counts of the other kind"))
        if self.sampled > self.population:
            faults.append(Fault(f"{self.sampled} sampled of a stratum of {self.population} notes"))
        raise_if_any(faults)

    @property
    def sampled(self) -> int:
        """Notes sampled."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def possible(self) -> tuple[bool, bool, bool, bool]:
        """Which of the four cells a note of the stratum can fall into."""
        positive, negative = self.predicted != "negative", self.predicted != "positive"
        return positive, positive, negative, negative


@dataclass(frozen=True, slots=True)
class WeightedMeasures:
    """The rates of the population's four-fold table with their intervals."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    specificity: Estimate
    npv: Estimate
    prevalence: Estimate


def _draw(stratum: Stratum, draws: int, prior: float, rng: np.random.Generator) -> F64:
    """Draw the stratum's whole table: the notes seen, plus the unseen under the posterior."""
    seen = np.array([stratum.tp, stratum.fp, stratum.fn, stratum.tn], dtype=np.float64)
    cells = np.flatnonzero(stratum.possible)
    shares = rng.dirichlet(seen[cells] + prior, size=draws)
    table = np.tile(seen, (draws, 1))
    table[:, cells] += rng.multinomial(stratum.population - stratum.sampled, shares)
    return table


def stratified_posterior(
    strata: Sequence[Stratum],
    *,
    confidence: float = 0.95,
    draws: int = 20_000,
    prior: float = 0.5,
    seed: int = 0,
) -> WeightedMeasures:
    """Estimate precision, recall and F1 of the population from strata drawn at any rates.

    The estimates weight each stratum's counts by N_h / n_h (Horvitz & Thompson 1952). The
    intervals draw each stratum's unseen notes from their posterior: cell shares from a Dirichlet
    with `prior` added to each count (1/2: Jeffreys), then the N_h - n_h unseen notes from a
    multinomial (finite-population Bayes: Ericson 1969), and take equal-tailed quantiles of the
    measures of the sums. Unlike a bootstrap they have width where no missed note was seen.

    ``strata``: every stratum of the population; one without sampled notes contributes its prior.
    ``prior``: added to each possible cell.

    >>> positives = Stratum(1000, tp=212, fp=38, predicted="positive")
    >>> negatives = Stratum(9000, fn=6, tn=244, predicted="negative")
    >>> recall = stratified_posterior([positives, negatives]).recall
    >>> round(recall.value, 2), round(recall.low, 2), round(recall.high, 2)
    (0.8, 0.66, 0.9)
    """
    raise_if_any(
        at_least("strata", len(strata), 1)
        + inside_unit("confidence", confidence)
        + at_least("draws", draws, 1)
        + at_least("seed", seed, 0)
        + ([] if prior > 0 else [Fault(f"prior is {prior}: it must be above 0")])
    )
    rng = np.random.default_rng(seed)
    table, total = np.zeros((draws, 4)), np.zeros(4)
    for stratum in strata:
        table += _draw(stratum, draws, prior, rng)
        seen = np.array([stratum.tp, stratum.fp, stratum.fn, stratum.tn], dtype=np.float64)
        if stratum.sampled:
            total += seen * (stratum.population / stratum.sampled)
    estimate = table_rates(total)
    tail = (1 - confidence) / 2
    drawn = table_rates(table)
    low, high = (quantile_each(drawn, np.full(len(estimate), q)) for q in (tail, 1 - tail))
    return WeightedMeasures(
        *(
            Estimate(float(value), float(a), float(b), confidence, _METHOD)
            for value, a, b in zip(estimate, low, high, strict=True)
        )
    )


def _sizes(sampled: npt.ArrayLike, population: npt.ArrayLike) -> tuple[F64, F64]:
    """Return sizes of sample and population by stratum, checked."""
    n, size = np.asarray(sampled, dtype=np.float64), np.asarray(population, dtype=np.float64)
    faults: list[Fault] = []
    if n.shape != size.shape or n.ndim != 1:
        faults.append(Fault(f"{n.size} sample sizes for {size.size} strata"))
    elif not np.all((n >= 0) & (n <= size) & np.isfinite(size)):
        faults.append(Fault("every stratum needs 0 <= sampled <= population"))
    elif np.any((n == 0) & (size > 0)):
        empty = np.flatnonzero((n == 0) & (size > 0)).tolist()
        faults.append(Fault(f"strata {empty} (from 0) hold notes but none was sampled"))
    raise_if_any(faults)
    return n, size


def design_weights(sampled: npt.ArrayLike, population: npt.ArrayLike) -> F64:
    """Return the weight of a note of each stratum: how many notes it stands for.

    w_h = N_h / n_h, the inverse of the inclusion probability (Horvitz & Thompson 1952).

    >>> design_weights([250, 250], [1000, 9000]).tolist()
    [4.0, 36.0]
    """
    n, size = _sizes(sampled, population)
    return np.divide(size, n, out=np.zeros_like(n), where=n > 0)


def oversampled(
    sampled: npt.ArrayLike, population: npt.ArrayLike, predicted: npt.ArrayLike
) -> bool:
    """Tell whether predicted positives and negatives were drawn at different rates.

    They were not, as far as anyone can tell, where the sample holds within one note as many
    predicted positives as a proportional sample of its size would: whole notes cannot be
    split.

    ``sampled``, ``population`` (strata,): notes drawn from, and held by, each stratum.
    ``predicted`` (strata,): whether the system finds the variable in the notes of the stratum.

    If so, unweighted recall would be biased.

    >>> oversampled([250, 250], [1000, 9000], [True, False])
    True
    >>> oversampled([48, 53], [480, 520], [True, False])
    False
    """
    n, size = _sizes(sampled, population)
    positive = np.asarray(predicted, dtype=bool)
    if positive.shape != n.shape:
        raise ArgumentError(f"{positive.size} predictions for {n.size} strata")
    fair = n.sum() * size[positive].sum() / max(size.sum(), 1.0)
    return bool(abs(n[positive].sum() - fair) > 1.0)


def refuse_unweighted_recall(
    sampled: npt.ArrayLike, population: npt.ArrayLike, predicted: npt.ArrayLike
) -> None:
    """Raise where recall is asked without weights from a sample that needs them.

    Notes the system missed are among the predicted negatives. Where those were drawn at a lower
    rate than the positives, the missed notes are under-represented and plain recall is far too
    high: with 250 + 250 notes at a frequency of .10, .97 for a true .80. Precision is unharmed.

    ``sampled``, ``population`` (strata,): notes drawn from, and held by, each stratum.
    ``predicted`` (strata,): whether the system finds the variable in the notes of the stratum.

    >>> refuse_unweighted_recall([48, 53], [480, 520], [True, False])
    """
    if not oversampled(sampled, population, predicted):
        return
    n, size = _sizes(sampled, population)
    positive = np.asarray(predicted, dtype=bool)
    shares = [
        f"{n[side].sum():.0f} of {size[side].sum():.0f} predicted {name}"
        for side, name in ((positive, "positives"), (~positive, "negatives"))
    ]
    raise InputError(
        f"recall cannot be reported without weights: {' but '.join(shares)} were sampled. "
        "Give each note the weight population / sampled of its stratum."
    )
