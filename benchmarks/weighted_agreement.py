"""Simulate agreement in samples that over-represent detected notes: how often intervals hold.

``python benchmarks/weighted_agreement.py --studies 300`` prints coverage and mean width of the
weighted presence F1 and kappa that ``study evaluate`` writes, and the coverage of the same values
without weights, nominal .95. Two annotators each miss 10 % of what is there and mark 1 % of what
is not; 10,000 notes, of which a share was detected.
"""

from __future__ import annotations

import argparse

import numpy as np

from rubricate.arrays import I64, Bools
from rubricate.evaluation.design import DesignNotes, design_posterior, table_rates
from rubricate.stats import Resampling

#: Share of detected notes, and notes drawn from each side.
SETTINGS = ((0.10, 250), (0.10, 100), (0.48, 100))
NOTES = 10_000


def annotate(rng: np.random.Generator, share: float, n: int) -> tuple[Bools, I64]:
    """Draw what was detected, and the cell (TP, FP, FN, TN) of the two annotators."""
    detected = rng.random(n) < share
    present = rng.random(n) < np.where(detected, 0.85, 0.024)
    first, second = (
        np.where(present, rng.random(n) > 0.1, rng.random(n) < 0.01).astype(bool) for _ in range(2)
    )
    return detected, np.where(first, np.where(second, 0, 2), np.where(second, 1, 3))


def draw(rng: np.random.Generator, share: float, each: int) -> DesignNotes:
    """Draw as many notes from either side of a population."""
    detected, cell = annotate(rng, share, NOTES)
    sides = [np.flatnonzero(detected == side) for side in (True, False)]
    drawn = np.concatenate([rng.choice(side, each, replace=False) for side in sides])
    weights = np.repeat([len(side) / each for side in sides], each)
    return DesignNotes(np.eye(4, dtype=np.int64)[cell[drawn]], weights, detected[drawn])


def coverage(share: float, each: int, studies: int) -> dict[str, tuple[float, float, float]]:
    """Return coverage, mean width, and coverage without weights, of presence F1 and kappa."""
    _, cell = annotate(np.random.default_rng(0), share, 2_000_000)
    rates = table_rates(np.bincount(cell, minlength=4).astype(float))
    truth = {"f1": float(rates[2]), "kappa": float(rates[6])}
    rng = np.random.default_rng(5)
    totals = {name: np.zeros(3) for name in truth}
    for seed in range(studies):
        notes = draw(rng, share, each)
        plain = DesignNotes(notes.cells, np.ones(2 * each), notes.sides)
        found, flat = (design_posterior(one, Resampling(seed=seed)) for one in (notes, plain))
        for name, true in truth.items():
            one, other = found[name], flat[name]
            covered = one.low <= true <= one.high, other.low <= true <= other.high
            totals[name] += covered[0], one.width, covered[1]
    return {
        name: (float(a), float(b), float(c))
        for name, (a, b, c) in ((name, total / studies) for name, total in totals.items())
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    studies = parser.parse_args().studies
    print("| detected | drawn | value | coverage | width | without weights |")
    print("|---:|---|---|---:|---:|---:|")
    for share, each in SETTINGS:
        for name, found in coverage(share, each, studies).items():
            cells = " | ".join(f"{one:.3f}" for one in found)
            print(f"| {share:.2f} | {each} + {each} | {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
