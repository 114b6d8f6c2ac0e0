from dataclasses import dataclass, replace

import numpy as np
import pytest

from rubricate import Metadata, load_corpus
from rubricate.evaluation import design, evaluate
from rubricate.evaluation.counts import PRESENCE, CountTable, RowKeys
from rubricate.evaluation.design import (
    DesignNotes,
    SampleDesign,
    design_bootstrap,
    design_posterior,
)
from rubricate.stats import (
    Estimate,
    Resampling,
    precision_recall_f1,
    proportion_interval,
)
from rubricate.study.evaluation import measure_sites, measure_variable
from rubricate.study.population import Variable, by_variable
from weighted_agreement import coverage


def notes(counts, weights, sides, fixed=True) -> DesignNotes:
    cells = np.repeat(np.eye(4, dtype=np.int64), counts, axis=0)
    return DesignNotes(cells, np.asarray(weights, float), np.asarray(sides, bool), fixed)


def table(cells) -> CountTable:
    """Return presence of one feature in notes of one case."""
    none, ids = np.zeros(len(cells), dtype=np.int64), tuple(f"n{i:04}" for i in range(len(cells)))
    keys = RowKeys(np.arange(len(cells)), none, none, ids, ("f",), ("c",))
    return CountTable(PRESENCE, keys, np.asarray(cells, dtype=np.int64))


def test_equal_weights_give_the_posterior_of_two_strata() -> None:
    found = design_posterior(
        notes([212, 38, 16, 234], np.repeat([4.0, 36.0], 250), np.repeat([True, False], 250)),
        finite=True,
    )
    # The unseen notes of each stratum, drawn from a multinomial with Dirichlet shares (Ericson).
    rng = np.random.default_rng(1)
    (tp, fp), (fn, _) = (
        (np.array(seen) + rng.multinomial(unseen, rng.dirichlet(np.array(seen) + 0.5, 20_000))).T
        for seen, unseen in (([212, 38], 750), ([16, 234], 8750))
    )
    known = {
        "precision": tp / (tp + fp),
        "recall": tp / (tp + fn),
        "f1": 2 * tp / (2 * tp + fp + fn),
    }
    values = {"precision": 848 / 1000, "recall": 848 / 1424, "f1": 1696 / 2424}
    for name, drawn in known.items():
        one = found[name]
        assert one.value == pytest.approx(values[name])
        assert [one.low, one.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.004)


def test_without_an_error_the_limits_are_those_of_clopper_and_pearson() -> None:
    found = design_posterior(notes([60, 0, 0, 60], np.ones(120), np.repeat([True, False], 60)))
    exact = proportion_interval(60, 60)
    assert found["precision"].low == pytest.approx(exact.low, abs=0.003)
    assert found["specificity"].high == found["precision"].high == 1.0


def test_rates_near_one_cover() -> None:
    # precision .99 of 250 + 250 notes, recall .99; the coverage of Jeffreys' limits is .92
    rng = np.random.default_rng(5)
    held = np.zeros(3)
    for seed in range(60):
        right, missed = rng.binomial(250, 0.99), rng.binomial(250, 0.0092)
        cells = [right, 250 - right, missed, 250 - missed]
        found = design_posterior(
            notes(cells, np.ones(500), np.repeat([True, False], 250)), Resampling(seed=seed)
        )
        missed_share = 0.0092
        truth = (0.99, 0.99 / (0.99 + missed_share), 1.98 / (1.98 + 0.01 + missed_share))
        for i, (one, true) in enumerate(
            zip((found["precision"], found["recall"], found["f1"]), truth, strict=True)
        ):
            held[i] += one.low <= true <= one.high
    assert (held / 60 >= 0.94 - 3 * 0.031).all()


def test_notes_of_a_patient_count_as_fewer() -> None:
    rng = np.random.default_rng(6)
    patient = np.repeat(np.arange(60), 3)
    right = rng.random(60)[patient] < 0.8  # all notes of a patient alike
    cells = np.where(right[:, None], [1, 0, 0, 0], [0, 1, 0, 0])
    alone = DesignNotes(cells, np.ones(180), np.ones(180, dtype=bool), True)
    together = DesignNotes(cells, np.ones(180), np.ones(180, dtype=bool), True, patient)
    plain, clustered = (design_posterior(one)["precision"] for one in (alone, together))
    assert plain.value == clustered.value
    assert clustered.width / plain.width == pytest.approx(np.sqrt(3), rel=0.1)


def test_seed_decides() -> None:
    drawn = notes([212, 38, 6, 244], np.repeat([4.0, 36.0], 250), np.repeat([True, False], 250))
    one, two, other = (design_posterior(drawn, Resampling(seed=s)) for s in (1, 1, 2))
    assert one == two != other


def test_one_endless_side_is_jeffreys() -> None:
    precision = design_posterior(notes([80, 20, 0, 0], np.ones(100), np.ones(100)))["precision"]
    jeffreys = proportion_interval(80, 100, method="jeffreys")
    assert [precision.low, precision.high] == pytest.approx(
        [jeffreys.low, jeffreys.high], abs=0.004
    )


def test_a_census_of_a_finite_population_leaves_nothing_to_chance() -> None:
    census = notes([8, 2, 1, 9], np.ones(20), np.repeat([True, False], 10))
    recall = design_posterior(census, finite=True)["recall"]
    assert recall.value == recall.low == recall.high == pytest.approx(8 / 9)
    assert design_posterior(census)["recall"].width > 0.2


def test_nothing_found_is_undefined_not_wrong() -> None:
    found = design_posterior(notes([0, 0, 0, 9], np.ones(9), np.zeros(9)), finite=True)
    assert np.isnan(found["recall"].value)
    assert np.isnan(found["precision"].low)


def test_perfect_samples_still_have_width() -> None:
    found = design_posterior(notes([30, 0, 0, 30], np.ones(60), np.repeat([True, False], 30)))
    assert found["recall"].high == 1.0
    assert 0.8 < found["recall"].low < 1.0


@dataclass(frozen=True)
class World:
    """The setting of a study: its population, system and sample, and the drawing of rare parts.

    ``rare_share`` is the share of a side's sample given to a part that makes up 30 % of it.
    """

    n: int
    positives: int
    negatives: int
    precision: float
    recall: float
    frequency: float
    rare_share: float
    finite: bool = False


WORLDS = {
    "rare variable, oversampled": World(10_000, 250, 250, 0.85, 0.80, 0.10, 0.3),
    "rare parts oversampled, too": World(10_000, 250, 250, 0.85, 0.80, 0.10, 0.6),
    "finite population": World(10_000, 250, 250, 0.85, 0.80, 0.10, 0.6, finite=True),
    "small population": World(180, 48, 66, 0.95, 0.50, 0.43, 0.5),
    "drawn as they occur": World(1000, 250, 270, 0.94, 0.96, 0.48, 0.6),
}


def draw(world: World, rng: np.random.Generator) -> tuple[DesignNotes, dict[str, float]]:
    """Make a population, draw from it, and return the sample with the values it should cover."""
    f, p, r = world.frequency, world.precision, world.recall
    detected = rng.random(world.n) < f
    missed = f * p * (1 - r) / r / (1 - f)
    present = rng.random(world.n) < np.where(detected, p, missed)
    rare = rng.random(world.n) < 0.3
    cells, weights, sides = [], [], []
    for side, n in ((True, world.positives), (False, world.negatives)):
        few = round(n * world.rare_share)
        for part, wanted in ((rare, few), (~rare, n - few)):
            pool = np.flatnonzero((detected == side) & part)
            k = min(wanted, len(pool))
            picked = present[rng.choice(pool, k, replace=False)]
            yes, no = (0, 1) if side else (2, 3)
            cells.append(np.eye(4, dtype=np.int64)[np.where(picked, yes, no)])
            weights.append(np.full(k, len(pool) / k))
            sides.append(np.full(k, side))
    values = {"precision": p, "recall": r}
    if world.finite:
        both = (detected & present).sum()
        values = {"precision": both / detected.sum(), "recall": both / present.sum()}
    parts = np.concatenate(cells), np.concatenate(weights), np.concatenate(sides)
    return DesignNotes(*parts, True), values


@pytest.mark.parametrize("world", WORLDS)
def test_intervals_cover_what_they_claim(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "_DRAWS", 1000)
    rng = np.random.default_rng(7)
    n, naive = 300, 0
    covered = {"precision": 0, "recall": 0}
    for seed in range(n):
        sample, values = draw(WORLDS[world], rng)
        found = design_posterior(sample, Resampling(seed=seed), finite=WORLDS[world].finite)
        for name, value in values.items():
            interval = found[name]
            covered[name] += interval.low <= value <= interval.high
        tp, _, fn, _ = sample.cells.sum(axis=0)
        plain = proportion_interval(tp, tp + fn)
        naive += plain.low <= values["recall"] <= plain.high
    # Standard error at .95 and 300 studies: .0126. More is allowed where notes are few.
    assert all(count / n >= 0.915 for count in covered.values())
    if WORLDS[world].frequency < 0.2:
        assert naive == 0


def test_weighted_agreement_covers_that_of_the_population(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "_DRAWS", 1000)
    found = coverage(0.10, 250, studies=60)
    # three standard errors of 60 studies
    assert all(covered >= 0.95 - 3 * 0.028 for covered, _, _ in found.values())
    assert found["f1"][2] < 0.5


def test_the_bootstrap_weights_and_is_seeded() -> None:
    counts = np.array([[4, 0, 0], [0, 4, 0], [0, 0, 4], [2, 2, 2]])
    design = np.array([10.0, 1.0, 1.0, 1.0]), np.array([True, True, False, False])
    one = design_bootstrap(counts, precision_recall_f1, design, Resampling(resamples=50))
    two = design_bootstrap(counts, precision_recall_f1, design, Resampling(resamples=50))
    assert one.estimate[0] == pytest.approx(42 / 48)
    assert one.low.tolist() == two.low.tolist()


@pytest.mark.parametrize(("frequency", "each"), [(0.48, 42), (0.1, 80)])
def test_sites_that_are_alike_are_rarely_said_to_differ(
    frequency: float, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Few missed notes of large weight must not look like a difference between sites.
    monkeypatch.setattr(design, "_DRAWS", 1000)
    rng = np.random.default_rng(4)
    missed = frequency * 0.85 * 0.25 / (1 - frequency)
    studies, alarms = 150, 0
    for study in range(studies):
        parts, sites = [], []
        for site in "ABCDEF":
            tp, fn = rng.binomial(each, 0.85), rng.binomial(each, missed)
            cells = np.repeat(np.eye(4, dtype=np.int64), [tp, each - tp, fn, each - fn], axis=0)
            parts.append(cells)
            sites += [site] * len(cells)
        weights = np.tile(np.repeat([frequency, 1 - frequency], each), 6)
        of = table(np.concatenate(parts))
        ids = of.keys.notes
        drawn = SampleDesign(
            dict(zip(ids, weights.tolist(), strict=True)),
            dict(zip(ids, np.tile(np.repeat([True, False], each), 6).tolist(), strict=True)),
        )
        found = measure_sites(
            of, dict(zip(ids, sites, strict=True)), Resampling(200, seed=study), drawn
        )
        alarms += found["heterogeneity"]["recall"]["p_value"] < 0.05
    assert alarms / studies < 0.08


def test_a_study_draws_patients() -> None:
    whole = load_corpus("open-notes").select(cases=["0"])
    corpus = replace(
        whole,
        notes=tuple(
            replace(
                note,
                metadata=Metadata(inclusion_probability=1.0, side="positive", patient=f"p{i // 4}"),
            )
            for i, note in enumerate(whole.notes)
        ),
    )
    found = evaluate(
        corpus, corpus, missing="skip",
        reference_annotator="reference", predicted_annotator="second_rater",
    )  # fmt: skip
    variable = Variable("smoking", "primary", ("12",))
    alone, together = (
        measure_variable(
            by_variable(found, [variable]),
            variable,
            SampleDesign.of_sample(corpus, cluster=name),
            Resampling(200),
        )
        for name in ("", "patient")
    )
    for name in ("precision", "prevalence"):
        one, two = (Estimate.from_dict(m["presence"][name]) for m in (alone, together))
        assert one.value == two.value
        assert two.width > one.width
    assert alone["characters"]["f1"]["value"] == together["characters"]["f1"]["value"]
