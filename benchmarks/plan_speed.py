"""Measure the sample-size search beside a faithful re-implementation of SLiCE's linear one.

Run: python benchmarks/plan_speed.py. Prints a Markdown table; every row also checks that both
give the same plan. The linear search calls statsmodels once for each n, as the program does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from rubricate.stats import Expected, Plan, Target, plan_assurance, plan_slice
from rubricate.stats.sizes import always_narrow, narrow_bounds

#: Enough repetitions for a stable mean of the fast one.
REPEATS = 20


def linear_size(p: float, half_width: float, confidence: float) -> int:
    """Return the first n whose Clopper-Pearson interval is narrow enough, trying every n."""
    n = 0
    while True:
        n += 1
        low, high = proportion_confint(round(n * p), n, method="beta", alpha=1 - confidence)
        if high - low < 2 * half_width:
            return n


def linear_plan(expected: Expected, half_width: float, confidence: float) -> tuple[int, int]:
    """Return positives and total by the published rule on top of the linear search."""
    p, r, f = expected.precision, expected.recall, expected.frequency
    n_precision = linear_size(p, half_width, confidence)
    n_recall = linear_size(r, half_width, confidence)
    tables = []
    for tp in (n_precision * p, n_recall * r):
        fp, fn = tp * (1 - p) / p, tp * (1 - r) / r
        found = tp + fp if expected.frequency_kind == "internal" else tp + fn
        tables.append((tp, fp, fn, max(0.0, found / f - tp - fp - fn)))
    tp, fp, fn, tn = (round(max(cell)) for cell in zip(*tables, strict=True))
    return tp + fp, tp + fp + fn + tn


def seconds(call: Callable[[], Plan]) -> float:
    """Return the mean time of a call with cold caches."""
    spent = 0.0
    for _ in range(REPEATS):
        always_narrow.cache_clear()
        narrow_bounds.cache_clear()
        start = time.perf_counter()
        call()
        spent += time.perf_counter() - start
    return spent / REPEATS


def main() -> None:
    """Print the table."""
    expected = Expected(0.85, 0.80, 0.48)
    plan_assurance(expected)  # imports scipy, so that no row pays for it
    print("| half width | total | linear s | slice s | ratio | assurance total | assurance s |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for half_width in (0.05, 0.03, 0.02, 0.01):
        start = time.perf_counter()
        positives, total = linear_plan(expected, half_width, 0.95)
        linear = time.perf_counter() - start
        plan = plan_slice(expected, half_width=half_width)
        if (plan.positives, plan.total) != (positives, total):
            raise SystemExit(f"the plans differ at {half_width}: {plan.total} and {total}")
        target = Target(half_width=half_width)
        fast = seconds(partial(plan_slice, expected, half_width=half_width))
        sure = seconds(partial(plan_assurance, expected, target))
        print(
            f"| {half_width} | {total} | {linear:.3f} | {fast:.5f} | {linear / fast:.0f} "
            f"| {plan_assurance(expected, target).total} | {sure:.4f} |"
        )


if __name__ == "__main__":
    main()
