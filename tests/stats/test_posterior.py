"""Stratified samples: estimates and intervals for the population."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate.errors import InputError
from rubricate.stats import Stratum, proportion_interval, stratified_posterior

POSITIVES = Stratum(1000, tp=212, fp=38, predicted="positive")
NEGATIVES = Stratum(9000, fn=6, tn=244, predicted="negative")


def test_estimates_are_weighted() -> None:
    measures = stratified_posterior([POSITIVES, NEGATIVES])
    tp, fp, fn = 4 * 212, 4 * 38, 36 * 6
    assert measures.precision.value == pytest.approx(tp / (tp + fp))
    assert measures.recall.value == pytest.approx(tp / (tp + fn))
    assert measures.f1.value == pytest.approx(2 * tp / (2 * tp + fp + fn))
    for estimate in (measures.precision, measures.recall, measures.f1):
        assert estimate.low < estimate.value < estimate.high


def test_one_endless_stratum_is_jeffreys() -> None:
    measures = stratified_posterior(
        [Stratum(10**9, tp=80, fp=20, predicted="positive")], draws=100_000
    )
    jeffreys = proportion_interval(80, 100, method="jeffreys")
    assert measures.precision.low == pytest.approx(jeffreys.low, abs=0.002)
    assert measures.precision.high == pytest.approx(jeffreys.high, abs=0.002)


def test_a_population_seen_whole_has_no_width() -> None:
    measures = stratified_posterior([Stratum(10, tp=4, fp=1, fn=1, tn=4)])
    assert measures.recall.low == measures.recall.high == 0.8


def test_no_missed_note_seen_still_leaves_doubt() -> None:
    measures = stratified_posterior([POSITIVES, Stratum(9000, fn=0, tn=250, predicted="negative")])
    assert measures.recall.value == 1
    assert measures.recall.low < 0.95


def test_an_unsampled_stratum_widens() -> None:
    known = stratified_posterior([POSITIVES, NEGATIVES]).recall
    unknown = stratified_posterior(
        [POSITIVES, NEGATIVES, Stratum(500, predicted="negative")]
    ).recall
    assert unknown.width > known.width


def test_seed_decides() -> None:
    one, two, other = (stratified_posterior([POSITIVES, NEGATIVES], seed=s) for s in (1, 1, 2))
    assert one == two != other


def test_weighted_covers_where_naive_never_does() -> None:
    rng, rounds = np.random.default_rng(0), 200
    pool, f, p, r = 20_000, 0.1, 0.85, 0.80
    found = int(pool * f)
    tp, fn = round(found * p), round(found * p * (1 - r) / r)
    truth = tp / (tp + fn)
    naive = weighted = 0
    for seed in range(rounds):
        hits = int(rng.hypergeometric(tp, found - tp, 250))
        missed = int(rng.hypergeometric(fn, pool - found - fn, 250))
        plain = proportion_interval(hits, hits + missed)
        naive += plain.low <= truth <= plain.high
        interval = stratified_posterior(
            [
                Stratum(found, tp=hits, fp=250 - hits, predicted="positive"),
                Stratum(pool - found, fn=missed, tn=250 - missed, predicted="negative"),
            ],
            draws=2000,
            seed=seed,
        ).recall
        weighted += interval.low <= truth <= interval.high
    assert naive / rounds < 0.02
    assert weighted / rounds > 0.92


@pytest.mark.parametrize(
    "fields",
    [
        {"population": 10, "tp": -1},
        {"population": 3, "tp": 4},
        {"population": 10, "tp": 1, "predicted": "negative"},
        {"population": 10, "tn": 1, "predicted": "positive"},
        {"population": 10, "predicted": "maybe"},
    ],
)
def test_bad_strata_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Stratum(**fields)  # type: ignore[arg-type]


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="strata"):
        stratified_posterior([])
    with pytest.raises(InputError) as caught:
        stratified_posterior([POSITIVES], confidence=1, draws=0, prior=0)
    assert len(caught.value.faults) == 3
