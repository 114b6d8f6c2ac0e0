"""The chance that a planned study gets intervals as narrow as asked, for how its notes are drawn.

Two drawings are known. Notes drawn *as they occur* are a simple random sample: how many of them the
system finds something in, and how many truly hold it, is chance. With *fixed* numbers of positives
and negatives the positives are not, and the notes that hold the variable are fewer or more with
those missed among the negatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.stats.plans import Expected, Target
from rubricate.stats.sizes import first_where, narrow_bounds, narrow_probability

#: Numbers farther from their mean than this many standard deviations are left out.
_REACH = 8.0


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities that the interval of precision, and that of recall, is narrow enough."""

    precision: float
    recall: float

    @property
    def least(self) -> float:
        """The smaller of the two."""
        return min(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many notes are drawn, of which kind, from where."""

    positives: int
    negatives: int
    pool: int | None = None
    design_effect: float = 1.0

    @property
    def total(self) -> int:
        """All notes drawn."""
        return self.positives + self.negatives

    def worth(self, n: npt.ArrayLike, share: float) -> F64:
        """Return the independent draws from an endless pool that `n` notes are worth.

        Without replacement n of the notes N that a share of the pool holds are worth
        n (N - 1) / (N - n) (Cochran 1977); clustering divides by the design effect.
        """
        drawn = np.asarray(n, dtype=np.float64)
        if self.pool is not None:
            held = self.pool * share
            left = np.maximum(held - drawn, 1e-6)
            drawn = np.where(drawn < held, np.minimum(drawn * (held - 1) / left, 1e6), 1e6)
        return drawn / self.design_effect


def _range(n: int, p: float) -> tuple[F64, F64]:
    """Return the likely values of a binomial number and their probabilities."""
    from scipy.stats import binom

    reach = _REACH * math.sqrt(max(n * p * (1 - p), 1.0))
    x = np.arange(max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1)
    return x.astype(np.float64), np.asarray(binom.pmf(x, n, p))


def _bounds(sizes: F64, target: Target) -> F64:
    """Return, for each size, the largest number of the rarer kind that is narrow enough, or -1."""
    known = narrow_bounds(target.half_width, target.confidence, target.interval)
    place = np.floor(sizes + 1e-9).astype(np.intp)
    inside = known[np.clip(place, 1, len(known)) - 1]
    return np.where(place < 1, -1.0, np.where(place > len(known), np.floor(sizes / 2) + 1, inside))


def _narrow(sizes: F64, p: float, target: Target) -> F64:
    """Return, for each number of independent units, the chance of a narrow interval."""
    whole = np.maximum(np.floor(sizes + 1e-9), 1.0)
    return np.where(sizes < 1, 0.0, narrow_probability(whole, _bounds(sizes, target), p))


def width_chances(expected: Expected, target: Target, sampling: Sampling) -> Chances:
    """Return the chance that the width is met, for precision and for recall.

    As they occur: the sum over n of P(n detected) P(narrow | n), and over n notes that hold the
    variable for recall. Fixed: precision has all positives; recall has TP ~ Binomial(positives, P)
    and FN ~ Binomial(negatives, share missed among negatives), whose outcomes are summed. All
    exact, for the interval that `target` names.

    >>> asthma, notes = Expected(0.85, 0.80, 0.48), Sampling(274, 297)
    >>> round(width_chances(asthma, Target(), notes).recall, 3)
    0.876
    >>> round(width_chances(asthma, Target(drawing="fixed"), notes).recall, 3)
    0.98
    """
    p, r, f = expected.precision, expected.recall, expected.detected
    if target.drawing == "as-they-occur":
        found = []
        for share, value in ((f, p), (expected.prevalence, r)):
            n, chance = _range(sampling.total, share)
            narrow = _narrow(sampling.worth(n, share), value, target)
            found.append(float((chance * narrow).sum()))
        return Chances(*found)
    positives = sampling.worth([sampling.positives], f)
    tp, tp_chance = _range(sampling.positives, p)
    fn, fn_chance = _range(sampling.negatives, f * p * (1 - r) / r / (1 - f))
    size = tp[:, None] + fn[None, :]
    scale = sampling.worth(size, expected.prevalence) / np.maximum(size, 1.0)
    rarer = np.minimum(tp[:, None], fn[None, :]) * scale
    enough = rarer <= _bounds(size * scale, target)
    chance = tp_chance @ enough @ fn_chance
    return Chances(float(_narrow(positives, p, target)[0]), float(chance))


def smallest_size(holds: Callable[[int], bool], low: int, high: int, *, in_a_row: int = 5) -> int:
    """Return the smallest size from which on a condition holds, give or take a rare exception.

    Bisection, then steps upwards until the condition holds at some sizes in a row: the chance
    moves in small saw teeth.

    >>> smallest_size(lambda n: n >= 571, 1, 2000)
    571
    """
    high = first_where(holds, low, high)
    while not all(holds(high + step) for step in range(in_a_row)):
        high += 1
    return high


def doubled(holds: Callable[[int], bool], size: int, most: float = math.inf) -> int:
    """Return the first of size, twice it and so on at which a condition holds, at most `most`."""
    while size < most and not holds(size):
        size *= 2
    return int(min(size, most))
