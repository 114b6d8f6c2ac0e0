"""Share of simulated calibrations in which a review policy exceeds its error limit.

Run: python benchmarks/route_coverage.py [--runs 1000] [--notes 300]

Prints Markdown. Nominal: at most 5 % of the policies accept more errors than they promise.
"""

from __future__ import annotations

import argparse

import numpy as np

from rubricate.errors import InputError
from rubricate.scoring.policy import is_accepted
from rubricate.scoring.policy_choice import RouteSettings, choose_rules
from rubricate.scoring.risk_bounds import JudgedItems, ranks_in_notes

N_FEATURES = 10
#: Name → log odds of an error, its spread between notes, and what certainty tells of it.
KINDS = {
    "just above the limit, certainty says nothing": (-2.92, 0.0, 0.0),
    "errors cluster in notes, certainty says nothing": (-4.6, 2.2, 0.0),
    "errors cluster in notes, certainty says much": (-4.6, 1.0, 1.0),
    "errors independent, certainty says much": (-4.3, 0.0, 1.0),
}


def draw(rng: np.random.Generator, n_notes: int, kind: tuple[float, float, float]) -> JudgedItems:
    """Draw decisions of as many notes."""
    base, spread, use = kind
    n = n_notes * N_FEATURES
    note = np.repeat(np.arange(n_notes), N_FEATURES)
    seen = rng.normal(0, 1.5, n)
    odds = base + rng.normal(0, spread, n_notes)[note] + use * seen
    found = rng.random(n) < 0.7
    certainty = 1 / (1 + np.exp(seen - 2))
    certainty[~found & (rng.random(n) < 0.5)] = np.nan
    wrong = rng.random(n) < 1 / (1 + np.exp(-odds))
    names = [f"f{i}" for i in range(N_FEATURES)]
    feature = np.tile(np.arange(N_FEATURES), n_notes)
    ids = [str(i) for i in range(n_notes)]
    return JudgedItems(note, feature, found, wrong, certainty, ids, names, N_FEATURES)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--notes", type=int, default=300)
    parser.add_argument("--max-error", type=float, default=0.05)
    args = parser.parse_args()
    print(
        "| population | unit | errors | promise broken | accepted | refused |\n"
        "|---|---|---|---|---|---|"
    )
    for name, kind in KINDS.items():
        for unit in ("note", "item"):
            rng = np.random.default_rng(1)
            population = draw(rng, 20_000, kind)
            broken, refused, accepted = 0, 0, []
            for seed in range(args.runs):
                settings = RouteSettings(args.max_error, 0.95, unit, per_feature=False, seed=seed)
                try:
                    model, _, pooled = choose_rules(draw(rng, args.notes, kind), settings)
                except InputError:
                    refused += 1
                    continue
                limit = -1.0 if pooled is None or pooled.threshold is None else pooled.threshold
                risk = model.estimates(
                    population.feature_ids,
                    population.feature,
                    population.found,
                    population.certainty,
                )
                most = N_FEATURES if pooled is None or pooled.most is None else pooled.most
                kept = is_accepted(risk, limit, ranks_in_notes(population, risk), most)
                accepted.append(kept.mean())
                broken += bool(kept.any()) and population.wrong[kept].mean() > args.max_error
            print(
                f"| {name} | {unit} | {population.wrong.mean():.3f} | {broken / args.runs:.3f} "
                f"| {np.mean(accepted or [np.nan]):.2f} | {refused / args.runs:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
