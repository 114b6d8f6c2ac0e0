"""Simulate studies and count how often each interval covers, and how wide it is.

Run: python benchmarks/interval_coverage.py [--studies N]. Prints one Markdown table; seeded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.stats import (
    METHODS,
    Resampling,
    Stratum,
    bootstrap_interval,
    cluster_interval,
    design_weights,
    precision_recall_f1,
    proportion_limits,
    ratio,
    stratified_posterior,
)

F64 = npt.NDArray[np.float64]
Limits = tuple[F64, F64]
SEED = 20_210_727
Z = 1.959963984540054


def report(setting: str, interval: str, limits: Limits, truth: float) -> None:
    """Print one row: coverage and mean width."""
    low, high = limits
    covered = float(((low <= truth) & (truth <= high)).mean())
    width = float((high - low).mean())
    print(f"| {setting} | {interval} | {len(low)} | {covered:.3f} | {width:.3f} |")


def f1(precision: F64, recall: F64) -> F64:
    """Return the harmonic mean, 0 where both are 0."""
    return np.nan_to_num(ratio(2 * precision * recall, precision + recall))


def f1_delta(tp: F64, fp: F64, fn: F64) -> Limits:
    """Return Wald limits of F1 by the delta method through J."""
    units = np.maximum(tp + fp + fn, 1)
    jaccard = tp / units
    half = Z * 2 / (1 + jaccard) ** 2 * np.sqrt(jaccard * (1 - jaccard) / units)
    value = 2 * jaccard / (1 + jaccard)
    return value - half, value + half


def f1_rows(notes: int, prevalence: float, studies: int) -> None:
    """Simulate F1 with independent notes: precision .90, recall .85."""
    p, r = 0.90, 0.85
    tp_share = prevalence * r
    shares = [tp_share, tp_share * (1 - p) / p, prevalence * (1 - r)]
    rng = np.random.default_rng(SEED)
    table = rng.multinomial(notes, [*shares, 1 - sum(shares)], size=studies).astype(np.float64)
    tp, fp, fn = table[:, 0], table[:, 1], table[:, 2]
    truth = 2 * p * r / (p + r)
    setting = f"F1, {notes} notes, prevalence {prevalence}"
    corners = zip(proportion_limits(tp, tp + fp), proportion_limits(tp, tp + fn), strict=True)
    low, high = (f1(precision, recall) for precision, recall in corners)
    report(setting, "corner Clopper-Pearson", (low, high), truth)
    report(setting, "delta (Wald)", f1_delta(tp, fp, fn), truth)
    for method in METHODS:
        low, high = proportion_limits(tp, tp + fp + fn, method=method)
        report(setting, f"J {method}", (2 * low / (1 + low), 2 * high / (1 + high)), truth)


def collect(studies: int, one: Callable[[int], tuple[float, float]]) -> Limits:
    """Return the limits of all studies."""
    limits = np.array([one(study) for study in range(studies)])
    return limits[:, 0], limits[:, 1]


def recall_rows(studies: int) -> None:
    """Simulate recall with 250 + 250 notes at frequency .10: precision .85, recall .80."""
    pool, p, r, drawn = 100_000, 0.85, 0.80, 250
    found = pool // 10
    tp_all, fn_all = round(found * p), round(found * p * (1 - r) / r)
    truth = tp_all / (tp_all + fn_all)
    rng = np.random.default_rng(SEED)
    tp = rng.hypergeometric(tp_all, found - tp_all, drawn, size=studies)
    fn = rng.hypergeometric(fn_all, pool - found - fn_all, drawn, size=studies)
    setting = "recall, 250 + 250 notes, f .10"
    report(setting, "naive Clopper-Pearson", proportion_limits(tp, tp + fn), truth)

    def posterior(study: int) -> tuple[float, float]:
        hits, missed = int(tp[study]), int(fn[study])
        strata = [
            Stratum(found, tp=hits, fp=drawn - hits, predicted="positive"),
            Stratum(pool - found, fn=missed, tn=drawn - missed, predicted="negative"),
        ]
        interval = stratified_posterior(strata, draws=2000, seed=study).recall.interval
        return interval.low, interval.high

    weights = np.repeat(design_weights([drawn, drawn], [found, pool - found]), drawn)
    strata = np.repeat([0, 1], drawn)

    def bootstrap(study: int) -> tuple[float, float]:
        counts = np.zeros((2 * drawn, 3))
        counts[: tp[study], 0] = 1
        counts[tp[study] : drawn, 1] = 1
        counts[drawn : drawn + fn[study], 2] = 1
        result = bootstrap_interval(
            counts,
            lambda sums: precision_recall_f1(sums)[..., 1],
            Resampling(1000, seed=study),
            weights=weights,
            strata=strata,
        )
        return float(result.low), float(result.high)

    report(setting, "weighted posterior", collect(studies, posterior), truth)
    report(setting, "weighted bootstrap", collect(studies, bootstrap), truth)


def cluster_rows(studies: int) -> None:
    """Simulate recall of 3 mentions in each of 200 notes, correlation .3 in a note."""
    notes, mentions, truth, icc = 200, 3, 0.80, 0.3
    total = 1 / icc - 1
    rng = np.random.default_rng(SEED)
    chance = rng.beta(truth * total, (1 - truth) * total, size=(studies, notes))
    found = rng.binomial(mentions, chance)
    each = np.full(notes, mentions)
    setting = "recall, 200 notes × 3 mentions, ICC .3"
    report(setting, "naive Clopper-Pearson", proportion_limits(found.sum(1), 600), truth)

    def clustered(study: int) -> tuple[float, float]:
        interval = cluster_interval(found[study], each)
        return interval.low, interval.high

    def bootstrap(study: int, method: Literal["percentile", "bca"]) -> tuple[float, float]:
        result = bootstrap_interval(
            np.stack([found[study], each], axis=1),
            lambda sums: ratio(sums[..., 0], sums[..., 1]),
            Resampling(1000, method=method, seed=study),
        )
        return float(result.low), float(result.high)

    report(setting, "clustered Clopper-Pearson", collect(studies, clustered), truth)
    percentile, bca = partial(bootstrap, method="percentile"), partial(bootstrap, method="bca")
    report(setting, "bootstrap by note, percentile", collect(studies, percentile), truth)
    report(setting, "bootstrap by note, BCa", collect(studies, bca), truth)


def proportion_rows(studies: int) -> None:
    """Simulate one proportion near 1, where the approximate intervals fail."""
    found = np.random.default_rng(SEED).binomial(100, 0.99, size=studies)
    for method in METHODS:
        limits = proportion_limits(found, 100, method=method)
        report("proportion .99, 100 units", method, limits, 0.99)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000, help="studies of the slow rows")
    studies = parser.parse_args().studies
    print("| setting | interval | studies | coverage | mean width |")
    print("|---|---|---:|---:|---:|")
    f1_rows(1000, 0.30, 20_000)
    f1_rows(200, 0.10, 20_000)
    recall_rows(studies)
    cluster_rows(studies)
    proportion_rows(20_000)


if __name__ == "__main__":
    main()
