"""Simulate two groups of notes in many cases: how often intervals of their difference hold.

``python benchmarks/fairness_coverage.py --studies 1000`` prints coverage and mean width of the
contrast that `rubricate trust fairness` prints, nominal .95.
"""

from __future__ import annotations

import argparse

import numpy as np

from rubricate.run.reading import ScoredRun
from rubricate.stats import Resampling
from rubricate.trust import compare_groups
from rubricate.trust.fairness import Contrast, FairnessSettings

#: Cases, and notes of each.
LAYOUTS = ((60, 2), (40, 3), (10, 12), (1, 120))
#: How far the first group is above the second, in points of 100.
TRUE = 4.0


def contrast(rng: np.random.Generator, cases: int, notes: int) -> Contrast:
    """Draw scores with a difficulty of each case, and compare the groups."""
    case = np.repeat(np.arange(cases), notes)
    group = rng.random(len(case)) < 0.5
    score = 60 + rng.normal(0, 10, cases)[case] + TRUE * group + rng.normal(0, 8, len(case))
    names = tuple(f"n{i}" for i in range(len(case)))
    run = ScoredRun(names, tuple(map(str, case)), score, np.full(len(case), 100.0))
    # The interval is computed; only the means beside it, and the test, are drawn.
    settings = FairnessSettings(min_size=5, permutations=1, resampling=Resampling(resamples=9))
    groups = {name: "a" if own else "b" for name, own in zip(names, group.tolist(), strict=True)}
    return compare_groups(run, groups, settings=settings).contrasts[0]


def coverage(cases: int, notes: int, studies: int) -> tuple[float, float]:
    """Return the share of intervals that hold the true difference, and their mean width."""
    rng = np.random.default_rng(1)
    found = [contrast(rng, cases, notes) for _ in range(studies)]
    held = [one.low <= TRUE <= one.high for one in found]
    return float(np.mean(held)), float(np.mean([one.high - one.low for one in found]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    studies = parser.parse_args().studies
    print("| cases | notes of each | coverage | width |")
    print("|---:|---:|---:|---:|")
    for cases, notes in LAYOUTS:
        covered, width = coverage(cases, notes, studies)
        print(f"| {cases} | {notes} | {covered:.3f} | {width:.2f} |", flush=True)


if __name__ == "__main__":
    main()
