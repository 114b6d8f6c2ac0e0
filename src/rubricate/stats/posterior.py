"""Precision, recall and F1 of a population from a stratified sample, by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rubricate.errors import Fault
from rubricate.stats.bootstrap import quantile_each
from rubricate.stats.checks import at_least, inside_unit, raise_if_any
from rubricate.stats.intervals import Estimate
from rubricate.stats.limits import F64
from rubricate.stats.ratios import table_rates

_METHOD = "stratified-posterior"


@dataclass(frozen=True, slots=True)
class Stratum:
    """A stratum of notes: how many it holds, and what the sampled ones turned out to be.

    Parameters
    ----------
    population : int
        Notes in the stratum.
    tp, fp, fn, tn : int
        Sampled notes of each kind.
    predicted : {"positive", "negative", "mixed"}
        What the system says of its notes; a mixed stratum was formed by something else.

    Raises
    ------
    InputError
        If a count is negative, does not fit `predicted`, or exceeds the population.

    Examples
    --------
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

    Parameters
    ----------
    strata : sequence of Stratum
        Every stratum of the population; one without sampled notes contributes its prior.
    confidence : float
        Nominal confidence.
    draws : int
        Number of draws.
    prior : float
        Added to each possible cell.
    seed : int
        Seed of the generator.

    Returns
    -------
    WeightedMeasures
        Estimates and intervals.

    Raises
    ------
    InputError
        If there is no stratum or a value is not allowed.

    Examples
    --------
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
