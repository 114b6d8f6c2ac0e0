"""Simulate features without and with bias between two groups: how often each test finds one.

``python benchmarks/item_bias_rates.py --studies 400`` prints the share of p < .05 by the tests of
`rubricate trust fairness`. Notes follow a Rasch model of 15 features; the groups are 1 SD apart.
"""

from __future__ import annotations

import argparse

import numpy as np

from rubricate.run import RunItems, ScoredRun
from rubricate.trust import ItemBias, differential_items

FEATURES = 15
#: How hard each feature is; the one in the middle is the biased one, where there is one.
HARD = np.linspace(-1.5, 1.5, FEATURES)
BIASED = FEATURES // 2
NOTES = (200, 500, 1000)
#: Logits by which the biased feature is harder for the group, and how steep it is for both.
KINDS = {"none": (0.0, 1.0, 1.0), "uniform": (0.64, 1.0, 1.0), "non-uniform": (0.0, 0.6, 2.0)}
TESTS = ("p_value", "p_uniform", "p_non_uniform", "p_logistic")


def draw(rng: np.random.Generator, notes: int, kind: str) -> tuple[ScoredRun, dict[str, str]]:
    """Draw decisions on all features, half of the notes by a group 1 SD below the others."""
    group = np.arange(notes) % 2
    ability = rng.normal(0, 1, notes) - group
    shift, theirs, ours = KINDS[kind]
    steep = np.ones((notes, FEATURES))
    steep[:, BIASED] = np.where(group == 1, ours, theirs)
    logit = ability[:, None] - HARD
    logit[:, BIASED] += 0.5 if kind == "non-uniform" else 0.0  # they cross between the groups
    logit[:, BIASED] -= shift * group
    found = rng.random((notes, FEATURES)) < 1 / (1 + np.exp(-steep * logit))
    items = RunItems(
        np.repeat(np.arange(notes), FEATURES), np.tile(np.arange(FEATURES), notes),
        tuple(f"f{k}" for k in range(FEATURES)), found.ravel(),
        np.full(found.size, np.nan), np.zeros(found.size, dtype=np.bool_),
    )  # fmt: skip
    names = tuple(f"n{i}" for i in range(notes))
    score = found.sum(axis=1).astype(np.float64)
    run = ScoredRun(names, ("c",) * notes, score, np.full(notes, float(FEATURES)), items)
    return run, {name: "ab"[i % 2] for i, name in enumerate(names)}


def rates(notes: int, kind: str, studies: int) -> dict[str, float]:
    """Return the share of p values below .05 by test, and of sizes above A.

    Without a bias of all features, with one of the biased feature alone.
    """
    rng = np.random.default_rng(7)
    tested: list[ItemBias] = []
    for _ in range(studies):
        found = differential_items(*draw(rng, notes, kind))
        tested += [one for one in found if kind == "none" or one.feature == f"f{BIASED}"]
    shares = {name: float(np.mean([getattr(b, name) < 0.05 for b in tested])) for name in TESTS}
    return {
        **shares,
        "size B or C": float(np.mean([b.size != "A" for b in tested])),
        "r2 size B or C": float(np.mean([b.r2_size != "A" for b in tested])),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    studies = parser.parse_args().studies
    print("| bias | notes | Mantel-Haenszel | uniform | non-uniform | both | sizes B, C | of R² |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        for notes in NOTES:
            cells = " | ".join(f"{one:.3f}" for one in rates(notes, kind, studies).values())
            print(f"| {kind} | {notes} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
