"""Simulate two systems on the same notes: how often intervals of their difference hold.

``python benchmarks/difference_coverage.py --studies 1000`` prints coverage, mean width and the
share of studies that call the worse system not inferior although it is worse by the margin.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from rubricate.arrays import F64
from rubricate.stats import Discordance, Estimate, Resampling, compare_paired
from rubricate.stats.resampling import f1

#: Notes, and the F1 of both systems.
SETTINGS = ((20, 0.995, 0.985), (10, 0.99, 0.96), (20, 0.99, 0.96), (20, 0.9, 0.87),
            (100, 0.995, 0.985))  # fmt: skip
#: Correlation of the items of a note, and whether both systems fail at the same notes.
WAYS = ((0.0, False), (0.1, False), (0.3, False), (0.3, True))
#: Items of a note, and the share that the reference has.
ITEMS, PRESENT = 15, 0.8


@dataclass(frozen=True)
class Found:
    """Counts (tp, fp, fn) of each note, and the value of each item; NaN where nobody has it."""

    counts: F64
    values: F64


def find(present: F64, own: F64, rng: np.random.Generator) -> Found:
    """Draw what a system finds: of a note's items it is wrong on a share."""
    wrong = rng.random(present.shape) > own[:, None]
    there = present > 0
    cells = [there & ~wrong, ~there & wrong, there & wrong]
    values = np.where(wrong, 0.0, np.where(there, 1.0, np.nan))
    return Found(np.stack([cell.sum(axis=1) for cell in cells], axis=1).astype(float), values)


def right_share(value: float) -> float:
    """Return the share of right items that gives this F1.

    J = F1 / (2 - F1) = P r / (P r + 1 - r), P the share that the reference has.
    """
    jaccard = value / (2 - value)
    return jaccard / (PRESENT + (1 - PRESENT) * jaccard)


def study(
    rng: np.random.Generator, notes: int, values: tuple[float, float], icc: float, shared: bool
) -> tuple[Found, Found]:
    """Draw the notes of a study, and both systems on them."""
    present = (rng.random((notes, ITEMS)) < PRESENT).astype(float)
    hard = rng.random((2, notes))
    sides = []
    for side, value in enumerate(values):
        right = right_share(value)
        own = np.full(notes, right)
        if icc:
            total = 1 / icc - 1
            own = betaincinv(right * total, (1 - right) * total, hard[0 if shared else side])
        sides.append(find(present, own, rng))
    return sides[0], sides[1]


def difference(one: Found, two: Found, seed: int, resamples: int = 400) -> Estimate:
    """Return the difference with its interval, as `evaluate` does."""
    share = [float(f1(side.counts.sum(axis=0))) for side in (one, two)]
    jaccard = [value / (2 - value) for value in share]
    notes = np.repeat(np.arange(len(one.counts)), ITEMS)
    found = compare_paired(
        one.counts, two.counts, f1, Resampling(resamples, seed=seed), permutations=1,
        discordance=Discordance.of_items(
            one.values.ravel(), two.values.ravel(), notes,
            scale=2 / ((1 + jaccard[0]) * (1 + jaccard[1])),
        ),
    )  # fmt: skip
    return found.difference.at()


def rates(
    notes: int, values: tuple[float, float], icc: float, shared: bool, studies: int
) -> tuple[float, float, float]:
    """Return coverage, share of false non-inferiority at the true margin, and mean width."""
    rng = np.random.default_rng(1)
    true = values[0] - values[1]
    covered = shown = width = 0.0
    for seed in range(studies):
        gap = difference(*study(rng, notes, values, icc, shared), seed)
        covered += gap.low <= true <= gap.high
        # the second is worse by the margin, and its upper limit says that it is not
        shown += gap.high < true
        width += gap.width
    return covered / studies, shown / studies, width / studies


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    studies = parser.parse_args().studies
    print("| notes | F1 | correlation | same notes | coverage | false non-inferiority | width |")
    print("|---:|---|---:|---|---:|---:|---:|")
    for notes, *values in SETTINGS:
        for icc, shared in WAYS:
            found = rates(notes, (values[0], values[1]), icc, shared, studies)
            name = f"{values[0]} and {values[1]} | {icc} | {'yes' if shared else 'no'}"
            cells = " | ".join(f"{one:.3f}" for one in found)
            print(f"| {notes} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
