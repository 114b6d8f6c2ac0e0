"""Sample sizes that meet their width with a chosen probability, by formula or from a pilot.

Two drawings are known. Notes drawn *as they occur* are a simple random sample: how many of them the
system finds something in, and how many truly hold it, is chance. With *fixed* numbers of positives
and negatives the positives are not, and the notes that hold the variable are fewer or more with
those missed among the negatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.errors import ArgumentError, InputError, at_least, inside_unit
from rubricate.stats.intervals import Estimate, proportion_interval
from rubricate.stats.plans import Cells, Expected, Plan, PlanMethod, Target, design_faults
from rubricate.stats.resampling import as_counts
from rubricate.stats.sizes import (
    assured_size,
    doubled,
    half_width_faults,
    narrow_bounds,
    narrow_probability,
    smallest_size,
)

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
    """The drawn notes: their number, kind and source."""

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
            # The cap keeps a nearly exhausted pool from being worth endless draws.
            left = np.maximum(held - drawn, 1e-6)
            drawn = np.where(drawn < held, np.minimum(drawn * (held - 1) / left, 1e6), 1e6)
        return drawn / self.design_effect


def likely_counts(n: int, p: float) -> tuple[F64, F64]:
    """Return the likely values of a binomial number and their probabilities.

    >>> x, chance = likely_counts(4, 0.5)
    >>> x.tolist(), chance.round(2).tolist()
    ([0.0, 1.0, 2.0, 3.0, 4.0], [0.06, 0.25, 0.38, 0.25, 0.06])
    """
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
            n, chance = likely_counts(sampling.total, share)
            narrow = _narrow(sampling.worth(n, share), value, target)
            found.append(float((chance * narrow).sum()))
        return Chances(*found)
    positives = sampling.worth([sampling.positives], f)
    tp, tp_chance = likely_counts(sampling.positives, p)
    fn, fn_chance = likely_counts(sampling.negatives, f * p * (1 - r) / r / (1 - f))
    size = tp[:, None] + fn[None, :]
    scale = sampling.worth(size, expected.prevalence) / np.maximum(size, 1.0)
    rarer = np.minimum(tp[:, None], fn[None, :]) * scale
    enough = rarer <= _bounds(size * scale, target)
    chance = tp_chance @ enough @ fn_chance
    return Chances(float(_narrow(positives, p, target)[0]), float(chance))


#: Turns the counts of some notes into a value with its interval.
MeasureNotes = Callable[[F64], Estimate]
#: Studies simulated at each size, and the largest size that is looked at.
STUDIES, MOST = 100, 20_000


@dataclass(frozen=True, slots=True)
class PilotPlan:
    """Notes a study needs, by drawing studies from a pilot.

    ``met``: share of simulated studies of this size that meet the width.
    ``pilot``: what the pilot itself shows.
    """

    notes: int
    met: float
    pilot: Estimate
    pilot_notes: int


def plan_pilot(
    counts: npt.ArrayLike,
    measure: MeasureNotes,
    *,
    half_width: float = 0.05,
    assurance: float = 0.9,
    studies: int = STUDIES,
    seed: int = 0,
) -> PilotPlan:
    """Return the size at which studies like the pilot get an interval as narrow as asked.

    Studies are drawn from the notes of the pilot with replacement and measured by `measure`, which
    should be what the study itself will report. A pilot stands for its population as far as its
    own interval says: look at that, too.

    ``counts`` (notes, k): counts of the pilot by note.
    ``measure``: value and interval from counts of some notes.
    ``half_width``, ``assurance``: half the width, and the probability with which it must hold.

    No size up to 20,000 notes that is enough is an InputError.

    >>> from rubricate.stats import Resampling, bootstrap_interval, precision_recall_f1
    >>> few = Resampling(resamples=99)
    >>> def f1(counts):
    ...     return bootstrap_interval(counts, lambda s: precision_recall_f1(s)[..., 2], few).at()
    >>> pilot = np.random.default_rng(0).poisson([6, 1, 1], size=(30, 3))
    >>> 10 < plan_pilot(pilot, f1, studies=20).notes < 100
    True
    """
    ArgumentError.raise_any(half_width_faults(half_width) + inside_unit("assurance", assurance))
    table = as_counts(counts)
    if len(table) < 2:
        raise ArgumentError("a pilot of one note says nothing of how notes differ")

    def met(n: int) -> float:
        rng = np.random.default_rng(seed)
        widths = [measure(table[rng.integers(0, len(table), size=n)]).width for _ in range(studies)]
        return float((np.array(widths) < 2 * half_width).mean())

    low, high = 2, 16
    while met(high) < assurance:
        low, high = high, high * 2
        if high > MOST:
            raise InputError(
                f"no study of up to {MOST:,} notes like the pilot's meets a half width of "
                f"{half_width}: allow a wider interval"
            )
    while high - low > max(1, high // 50):  # simulated: two notes in a hundred are within its noise
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) >= assurance else (middle, high)
    return PilotPlan(high, met(high), measure(table), len(table))


#: Guards `ceil` against 57.000000000000007.
_SLACK = 1e-9
#: What the intervals of ``study evaluate`` are called.
STUDY_INTERVAL = "design-posterior"


def estimate_frequency(found: int, total: int) -> Estimate:
    """Estimate the frequency a plan needs, from a pilot or from a matcher's output.

    ``found``: notes of the pilot with the variable (found by the system: internal; truly:
    external).

    The interval is Wilson's (1927); plan with the lower limit to be on the safe side.

    >>> frequency = estimate_frequency(48, 100)
    >>> frequency.value, round(frequency.low, 3), round(frequency.high, 3)
    (0.48, 0.385, 0.577)
    """
    ArgumentError.raise_any(at_least("total", total, 1))
    return proportion_interval(found, total, method="wilson")


def finite_size(n: int, pool: float) -> int:
    """Return the number of units of a finite pool that are as good as `n` of an endless one.

    n' = n / (1 + (n - 1) / N), the finite-population correction (Cochran 1977): drawing
    without replacement makes the count hypergeometric, whose variance is (N - n') / (N - 1)
    times the binomial's. An approximation; it never asks for more than the pool.

    >>> finite_size(291, 600), finite_size(291, 1e9)
    (197, 291)
    """
    return math.ceil(n / (1 + (n - 1) / pool) - _SLACK) if pool > 0 else 0


def needed_sizes(
    expected: Expected, target: Target, *, pool: int | None = None, design_effect: float = 1.0
) -> tuple[int, int]:
    """Return the detected notes that precision needs and the true ones that recall needs.

    Each is `assured_size`, times the design effect (Kish 1965), corrected for the part of a
    finite pool that holds such notes.

    >>> needed_sizes(Expected(0.85, 0.80, 0.48), Target(assurance=0.95))
    (252, 298)
    """
    sizes = []
    for p, share in (
        (expected.precision, expected.detected),
        (expected.recall, expected.prevalence),
    ):
        n = assured_size(
            p,
            target.half_width,
            assurance=target.assurance,
            confidence=target.confidence,
            method=target.interval,
        )
        n = math.ceil(n * design_effect - _SLACK)
        sizes.append(n if pool is None else finite_size(n, pool * share))
    return sizes[0], sizes[1]


def check_possible(expected: Expected) -> None:
    """Raise where found and missed notes would outnumber all notes."""
    if expected.frequency >= expected.highest_frequency:
        raise ArgumentError(
            f"frequency is {expected.frequency}: with precision {expected.precision} and recall "
            f"{expected.recall} an {expected.frequency_kind} frequency must stay below "
            f"{expected.highest_frequency:.3f}, or found and missed notes outnumber all notes"
        )


def _warnings(
    plan_total: int,
    n: tuple[int, int],
    expected: Expected,
    pool: int | None,
    least: float,
    assurance: float,
) -> list[str]:
    """Return remarks that the reader of the plan needs."""
    said = []
    for name, size, p in zip(
        ("precision", "recall"), n, (expected.precision, expected.recall), strict=True
    ):
        if size * min(p, 1 - p) < 5:
            said.append(
                f"{name}: n = {size} holds fewer than 5 units of the rarer kind; "
                f"the plan leans wholly on the expected value {p}"
            )
    if pool is not None and plan_total >= pool:
        said.append(f"the whole pool of {pool:,} notes must be annotated")
        if least < assurance:
            said.append(f"even so the width is met with a probability of only {least:.1%}, and "
                        f"{assurance:.1%} was asked for: the pool is too small")  # fmt: skip
    return said


def plan_assurance(
    expected: Expected,
    target: Target | None = None,
    *,
    sites: int = 1,
    pool: int | None = None,
    design_effect: float = 1.0,
) -> Plan:
    """Plan a sample whose intervals are narrow enough with the probability asked.

    The smallest size at which `rubricate.stats.width_chances` reaches the assurance for precision
    and for recall, for the drawing of the target: notes as they occur, whose numbers of detected
    and of true notes vary, or fixed numbers of positives and negatives. `n_precision` and
    `n_recall` say what each would need if its notes could be counted out (`needed_sizes`).

    ``target``: width, confidence, assurance, interval and drawing; the default is +-5 points at 95
    %, held with 90 %, Clopper-Pearson, notes as they occur.
    ``sites``: sites that share the notes; each site's share is rounded up.
    ``pool``: notes in the finite pool that is sampled without replacement.
    ``design_effect``: variance inflation by clustering, at least 1; see `summarise_clusters` for a
    pilot's.

    >>> plan = plan_assurance(Expected(0.85, 0.80, 0.48), Target(assurance=0.80), sites=6)
    >>> plan.n_precision, plan.n_recall, plan.positives, plan.negatives, plan.total
    (236, 282, 267, 290, 557)
    """
    target = target or Target()
    ArgumentError.raise_any(design_faults(sites, pool, design_effect))
    check_possible(expected)

    needed = needed_sizes(expected, target, pool=pool, design_effect=design_effect)

    def drawn(size: int) -> Sampling:
        if target.drawing == "fixed":
            total = max(math.ceil(size / expected.detected - _SLACK), size)
            return _within(Sampling(size, total - size, pool, design_effect))
        positives = min(round(size * expected.detected), size)
        return _within(Sampling(positives, size - positives, pool, design_effect))

    def holds(size: int) -> bool:
        found = drawn(size)
        whole = pool is not None and found.total >= pool
        return whole or width_chances(expected, target, found).least >= target.assurance

    sampling = drawn(smallest_size(holds, 0, doubled(holds, 2 * max(needed) + 1)))
    chances = width_chances(expected, target, sampling)
    return plan_of_size("assurance", expected, target, sampling, sites, needed, chances)


def _within(sampling: Sampling) -> Sampling:
    """Keep a sample within its pool."""
    if sampling.pool is None or sampling.total <= sampling.pool:
        return sampling
    positives = min(sampling.positives, sampling.pool)
    return replace(sampling, positives=positives, negatives=sampling.pool - positives)


def plan_of_size(
    method: PlanMethod,
    expected: Expected,
    target: Target,
    sampling: Sampling,
    sites: int,
    needed: tuple[int, int],
    chances: Chances,
) -> Plan:
    """Return the plan for notes whose number is known, with the confusion table it expects."""
    p, r, positives = expected.precision, expected.recall, sampling.positives
    tp = round(positives * p)
    fn = min(round(positives * p * (1 - r) / r), sampling.negatives)
    name = STUDY_INTERVAL if method == "reported" else target.interval
    return Plan(
        method=method,
        positives=positives,
        negatives=sampling.negatives,
        sites=sites,
        n_precision=needed[0],
        n_recall=needed[1],
        cells=Cells(tp, positives - tp, fn, sampling.negatives - fn),
        expected=expected,
        target=target,
        pool=sampling.pool,
        design_effect=sampling.design_effect,
        warnings=tuple(
            _warnings(
                sampling.total, needed, expected, sampling.pool, chances.least, target.assurance
            )
        ),
        met={name: asdict(chances)},
    )
