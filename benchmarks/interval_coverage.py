"""Simulate studies and count how often each interval covers, and how wide it is.

Run: python benchmarks/interval_coverage.py [--studies N] [--only NAME] (see --help).
Prints Markdown tables; seeded. The table of notes is the one that says what `rubricate evaluate`
is worth: 20, 100 and 200 notes of 15 items, in one case and in many, with correlated items.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.evaluation.counts import PRESENCE, CountTable, RowKeys
from rubricate.evaluation.design import (
    DesignNotes,
    design_posterior,
    table_rates,
)
from rubricate.evaluation.probabilities import rank
from rubricate.stats import (
    METHODS,
    Estimate,
    Expected,
    Resampling,
    Side,
    Support,
    Target,
    bootstrap_interval,
    cluster_interval,
    compare_with_ceiling,
    degrees_of_freedom,
    effective_items,
    gwet_ac2,
    limit_by_items,
    limits_of_agreement,
    plan_assurance,
    precision_recall_f1,
    proportion_limits,
    ratio,
    score_agreement,
    summarise,
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
        # The unseen notes of both strata, with Dirichlet shares (Ericson 1969).
        rng = np.random.default_rng(study)
        right, missed = (
            seen
            + rng.multinomial(unseen, rng.dirichlet([seen + 0.5, drawn - seen + 0.5], 2000))[:, 0]
            for seen, unseen in ((tp[study], found - drawn), (fn[study], pool - found - drawn))
        )
        low, high = np.quantile(right / (right + missed), [0.025, 0.975])
        return float(low), float(high)

    weights = np.repeat([found / drawn, (pool - found) / drawn], drawn)
    strata = np.repeat([0, 1], drawn)

    def bootstrap(study: int) -> tuple[float, float]:
        counts = np.zeros((2 * drawn, 3))
        counts[: tp[study], 0] = 1
        counts[tp[study] : drawn, 1] = 1
        counts[drawn : drawn + fn[study], 2] = 1
        result = bootstrap_interval(
            counts * weights[:, None],
            lambda sums: precision_recall_f1(sums)[..., 1],
            Resampling(1000, seed=study),
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


#: Items of a rubric, and the share of them that either side finds.
ITEMS, FOUND = 15, 0.8
#: Correlation of the cases' own values, where there are several.
CASE_SPREAD = 0.02


@dataclass(frozen=True)
class Simulated:
    """Counts (tp, fp, fn) by note, the case of each, and J of these cases."""

    counts: F64
    case: npt.NDArray[np.int64]
    jaccard: float


def simulate(
    rng: np.random.Generator, notes: int, cases: int, jaccard: float, icc: float
) -> Simulated:
    """Draw a study: items of a note are beta-binomial, the cases differ a little."""
    share = np.full(1, jaccard)
    if cases > 1:
        total = 1 / CASE_SPREAD - 1
        share = rng.beta(jaccard * total, (1 - jaccard) * total, size=cases)
    case = np.arange(notes) % cases
    own = np.clip(share[case], 1e-9, 1 - 1e-9)
    if icc:
        own = rng.beta(own * (1 / icc - 1), (1 - own) * (1 / icc - 1))
    either = rng.binomial(ITEMS, FOUND, size=notes)
    tp = rng.binomial(either, own)
    fp = rng.binomial(either - tp, 0.5)
    counts = np.stack([tp, fp, either - tp - fp], axis=1).astype(np.float64)
    return Simulated(counts, case, float(share[case].mean()))


def f1_of(sums: F64) -> F64:
    """Return F1 of sums of TP, FP, FN."""
    return precision_recall_f1(sums)[..., 2]


def support_of(counts: F64) -> Support:
    """Return the counts behind the F1 of these notes."""
    return Support(
        effective_items(counts.sum(axis=1)),
        counts[:, 1:].any(axis=1).sum(),
        (counts[:, 0] > 0).sum(),
    )


def note_rows(studies: int) -> None:
    """Simulate F1 of notes with many items: the intervals of `rubricate evaluate`."""
    for population in ("these-cases", "cases-like-these"):
        print(f"\nF1 for {population}, {studies} studies each; coverage (mean width)\n")
        print("| notes | cases | F1 | ICC | plain percentile | percentile | BCa | BCa+items |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|")
        layouts = [(n, c) for n in (20, 100, 200) for c in (1, 10)] + [(100, 50), (208, 26)]
        for notes, cases in layouts:
            drawn = population == "cases-like-these"
            if drawn and (notes, cases) not in ((100, 10), (208, 26)):
                continue
            for value in (0.5, 0.9, 0.995):
                for icc in (0.1,) if drawn else (0.0, 0.1, 0.3):
                    found = covered_share(notes, cases, value, icc, studies, population)
                    cells = " | ".join(f"{c:.3f} ({w:.3f})" for c, w in found)
                    print(f"| {notes} | {cases} | {value} | {icc} | {cells} |", flush=True)


def covered_share(
    notes: int, cases: int, value: float, icc: float, studies: int, population: str
) -> F64:
    """Return coverage and mean width of four intervals of F1."""
    rng, jaccard = np.random.default_rng(SEED), value / (2 - value)
    results = np.zeros((studies, 4, 2))
    for study in range(studies):
        drawn = simulate(rng, notes, cases, jaccard, icc)
        true = drawn.jaccard if population == "these-cases" else jaccard
        counts, strata = drawn.counts, drawn.case
        if population == "cases-like-these":
            counts = np.stack([counts[strata == c].sum(axis=0) for c in range(cases)])
            strata = np.zeros(cases, dtype=np.int64)
        limits = [plain_percentile(counts, strata, study)]
        options = Resampling(400, seed=study, keep_replicates=True)
        found = bootstrap_interval(counts, f1_of, options, strata=strata)
        assert found.replicates is not None
        freedom = degrees_of_freedom(strata, len(strata))
        percentile = summarise(
            found.estimate, found.replicates, replace(options, method="percentile"), freedom=freedom
        )
        limits += [(float(one.low), float(one.high)) for one in (percentile, found)]
        wider = limit_by_items(found, support_of(drawn.counts), through_jaccard=True)
        limits.append((float(wider.low), float(wider.high)))
        for i, (low, high) in enumerate(limits):
            results[study, i] = low <= 2 * true / (1 + true) <= high, high - low
    return np.asarray(results.mean(axis=0))


def plain_percentile(counts: F64, strata: npt.NDArray[np.int64], seed: int) -> tuple[float, float]:
    """Return percentiles of n of n notes drawn in each stratum, as it was done before."""
    rng = np.random.default_rng(seed)
    sums = np.zeros((400, 3))
    for stratum in np.unique(strata):
        own = counts[strata == stratum]
        sums += own[rng.integers(0, len(own), size=(400, len(own)))].sum(axis=1)
    low, high = np.quantile(f1_of(sums), [0.025, 0.975])
    return float(low), float(high)


def ceiling_rows(studies: int) -> None:
    """Simulate a system of 100 notes beside annotators who both judged a few others."""
    for notes in (5, 20):
        for humans, system in ((0.9, 0.8), (0.97, 0.9), (0.995, 0.9)):
            rng = np.random.default_rng(SEED)
            true = 2 * system / (1 + system) - 2 * humans / (1 + humans)
            limits = []
            for study in range(studies):
                options = Resampling(400, seed=study)
                sides = []
                for n, p, first in ((100, system, 0), (notes, humans, 1000)):
                    counts = simulate(rng, n, 1, p, 0.1).counts
                    found = bootstrap_interval(counts, f1_of, options)
                    wider = limit_by_items(found, support_of(counts), through_jaccard=True)
                    sides.append(Side(wider.at(), counts, range(first, first + n)))
                gap = compare_with_ceiling(sides[0], sides[1], f1_of, options)
                limits.append((gap.low, gap.high))
            low, high = np.array(limits).T
            setting = f"100 notes - ceiling of {notes}, J {system} - {humans}"
            report(setting, "MOVER", (low, high), true)


def planned_rows(studies: int) -> None:
    """Simulate planned studies and count how often the width is met."""
    asthma, missed = Expected(0.85, 0.80, 0.48), 0.48 * 0.85 * 0.20 / 0.80 / 0.52
    rng = np.random.default_rng(SEED)
    print("\n| plan | positives + negatives | precision met | recall met |")
    print("|---|---:|---:|---:|")
    for drawing in ("as-they-occur", "fixed"):
        plan = plan_assurance(asthma, Target(drawing=drawing))  # type: ignore[arg-type]
        positives = np.full(studies, plan.positives)
        if drawing == "as-they-occur":
            positives = rng.binomial(plan.total, 0.48, size=studies)
        tp = rng.binomial(positives, 0.85)
        fn = rng.binomial(plan.total - positives, missed)
        met = [
            float((np.subtract(*proportion_limits(tp, n)[::-1]) < 0.1).mean())
            for n in (positives, tp + fn)
        ]
        size = f"{plan.positives} + {plan.negatives}"
        print(f"| assurance .90, {drawing} | {size} | {met[0]:.3f} | {met[1]:.3f} |")


def rate_rows(studies: int) -> None:
    """Simulate studies drawn by design: every rate that `rubricate study evaluate` reports."""
    p, r = 0.85, 0.80
    for frequency, drawn, finite in ((0.1, 250, False), (0.48, 100, False), (0.48, 20, False)):
        tp, missed = frequency * p, frequency * p * (1 - r) / r
        cells = np.array([tp, frequency - tp, missed, 1 - frequency - missed])
        truth = table_rates(cells)
        rng = np.random.default_rng(SEED)
        limits = np.zeros((studies, len(truth), 2))
        weights = np.repeat([frequency, 1 - frequency], drawn) * 10_000 / drawn
        sides = np.repeat([True, False], drawn)
        for study in range(studies):
            hits = rng.binomial(drawn, p)
            found = rng.binomial(drawn, missed / (1 - frequency))
            counts = np.repeat(
                np.eye(4, dtype=np.int64), [hits, drawn - hits, found, drawn - found], axis=0
            )
            notes = DesignNotes(counts, weights, sides, True)
            measured = design_posterior(notes, Resampling(seed=study), finite=finite)
            for i, one in enumerate(measured.values()):
                limits[study, i] = one.low, one.high
        for i, name in enumerate(measured):
            setting = f"{name}, {drawn} + {drawn} notes, f {frequency}"
            report(setting, "design posterior", (limits[:, i, 0], limits[:, i, 1]), truth[i])


def ranked(rng: np.random.Generator, notes: int) -> tuple[CountTable, F64]:
    """Draw rows with a probability; rows of a note share what makes them hard."""
    note = np.repeat(np.arange(notes), ITEMS)
    present = rng.random(len(note)) < 0.7
    hard = rng.normal(0, 0.5, notes)[note]
    probability = 1 / (1 + np.exp(-rng.normal(np.where(present, 0.8, -0.8) + hard, 1.0)))
    zero = np.zeros_like(note)
    keys = RowKeys(note, zero, zero, tuple(map(str, range(notes))), ("f",), ("c",))
    said = probability > 0.5
    cells = [present & said, ~present & said, present & ~said, ~present & ~said]
    return CountTable(PRESENCE, keys, np.stack(cells, axis=1).astype(np.int64)), probability


#: Scores that a note may get.
SCALE = np.arange(21)


def scored(rng: np.random.Generator, notes: int) -> F64:
    """Draw whole scores of two raters, of whom the second is stricter by half a point."""
    true = rng.normal(10, 2, notes)[:, None]
    return np.clip(np.round(true + rng.normal([0.0, -0.5], 1.0, (notes, 2))), 0, 20)


def score_rows(studies: int) -> None:
    """Simulate areas under curves, and agreement on scores."""
    rng = np.random.default_rng(SEED)
    many, few = Resampling(1), Resampling(400)
    whole = rank(*ranked(rng, 20_000), many)
    areas = {"AUC": whole.auc.value, "average precision": whole.average_precision.value}
    scores = scored(rng, 200_000)
    true = [
        e.value for e in (*score_agreement(scores, many), gwet_ac2(scores, many, possible=SCALE))
    ]
    bias = limits_of_agreement(*scores.T)
    true += [bias.bias.value, bias.low.value, bias.high.value]
    names = ["ICC(A,1)", "ICC(C,1)", "AC2", "bias", "lower limit", "upper limit"]
    for notes in (20, 100, 200):
        found: list[list[Estimate]] = []
        for study in range(studies):
            options = replace(few, seed=study)
            ranking = rank(*ranked(rng, notes), options)
            own = scored(rng, notes)
            gap = limits_of_agreement(*own.T)
            found.append([
                ranking.auc, ranking.average_precision, *score_agreement(own, options),
                gwet_ac2(own, options, possible=SCALE), gap.bias, gap.low, gap.high,
            ])  # fmt: skip
        for i, (name, value) in enumerate([*areas.items(), *zip(names, true, strict=True)]):
            low, high = (np.array([getattr(f[i], end) for f in found]) for end in ("low", "high"))
            report(f"{name}, {notes} notes", found[0][i].method, (low, high), value)


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
    parser.add_argument(
        "--only", choices=["notes", "ceiling", "planned", "design", "scores", "rest"]
    )
    given = parser.parse_args()
    if given.only in (None, "notes"):
        note_rows(given.studies)
    if given.only in (None, "planned"):
        planned_rows(20_000)
    if given.only not in ("notes", "planned"):
        print("\n| setting | interval | studies | coverage | mean width |")
        print("|---|---|---:|---:|---:|")
    if given.only in (None, "ceiling"):
        ceiling_rows(given.studies)
    if given.only in (None, "design"):
        rate_rows(given.studies)
    if given.only in (None, "scores"):
        score_rows(given.studies)
    if given.only in (None, "rest"):
        f1_rows(1000, 0.30, 20_000)
        f1_rows(200, 0.10, 20_000)
        recall_rows(given.studies)
        cluster_rows(given.studies)
        proportion_rows(20_000)


if __name__ == "__main__":
    main()
