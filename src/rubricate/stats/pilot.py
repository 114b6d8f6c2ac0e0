"""Sizes by simulation: studies drawn from the notes of a pilot, measured as they will be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError
from rubricate.stats.checks import inside_unit, raise_if_any
from rubricate.stats.intervals import Estimate
from rubricate.stats.resampling import as_counts
from rubricate.stats.widths import half_width_faults

#: Turns the counts of some notes into a value with its interval.
MeasureNotes = Callable[[npt.NDArray[np.float64]], Estimate]
#: Studies simulated at each size, and the largest size that is looked at.
STUDIES, MOST = 100, 20_000


@dataclass(frozen=True, slots=True)
class PilotPlan:
    """Notes a study needs, by drawing studies from a pilot.

    Parameters
    ----------
    notes : int
        The size.
    met : float
        Share of simulated studies of this size that meet the width.
    pilot : Estimate
        What the pilot itself shows.
    pilot_notes : int
        Its notes.
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

    Parameters
    ----------
    counts : array_like, shape (notes, k)
        Counts of the pilot by note.
    measure : callable
        Value and interval from counts of some notes.
    half_width, assurance : float
        Half the width, and the probability with which it must hold.
    studies : int
        Studies simulated at each size.
    seed : int
        Seed of the generator.

    Returns
    -------
    PilotPlan
        The size and how often it meets the width.

    Raises
    ------
    InputError
        If a value is out of range, or no size up to 20,000 notes is enough.

    Examples
    --------
    >>> from rubricate.stats import Resampling, bootstrap_interval, precision_recall_f1
    >>> few = Resampling(resamples=99)
    >>> def f1(counts):
    ...     return bootstrap_interval(counts, lambda s: precision_recall_f1(s)[..., 2], few).at()
    >>> pilot = np.random.default_rng(0).poisson([6, 1, 1], size=(30, 3))
    >>> 10 < plan_pilot(pilot, f1, studies=20).notes < 100
    True
    """
    raise_if_any(half_width_faults(half_width) + inside_unit("assurance", assurance))
    table = as_counts(counts)
    if len(table) < 2:
        raise_if_any([Fault("a pilot of one note says nothing of how notes differ")])

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
