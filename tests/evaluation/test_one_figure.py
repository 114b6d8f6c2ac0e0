"""One figure has one interval, whichever command shows it."""

from dataclasses import replace

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Metadata, Note
from rubricate.evaluation.agreement import agree, pair_evaluation
from rubricate.evaluation.counts import PRESENCE, CountTable, RowKeys
from rubricate.evaluation.design import SampleDesign
from rubricate.evaluation.estimates import estimate_rows
from rubricate.evaluation.systems import evaluate_systems
from rubricate.matchers import make_matcher
from rubricate.splits import fold_splits
from rubricate.stats import Estimate, Resampling
from rubricate.study.collection import measure_agreement
from rubricate.study.evaluation import measure_variable
from rubricate.study.population import Variable, by_variable
from rubricate.trials import Trial, run_trials

SETTINGS = Resampling(resamples=400)
VARIABLES = [Variable(one, "primary", (one,)) for one in "abcd"]
#: Measures by the name that a study gives them.
MEASURES = {
    ("presence",): "presence",
    ("characters",): "characters",
    ("spans", "exact"): "spans_exact",
}


def corpus_of_two(metadata=None) -> Corpus:
    """Return two cases with two features each, marked by two people; not every note has all."""
    rng = np.random.default_rng(3)
    builder = CorpusBuilder()
    for feature in "abcd":
        builder.add_feature(Feature(feature, "ab" if feature in "ab" else "cd", f"word {feature}"))
    for i in range(60):
        case = "ab" if i % 2 else "cd"
        more = {} if metadata is None else metadata(i)
        builder.add_note(Note(f"n{i:02}", case, "some words here", Metadata(**more)))
        for feature in case:
            there, judged = rng.random() < 0.6, rng.random() < 0.9
            for who in ("ann", "bob"):
                same, end = rng.random() > 0.1, int(rng.integers(4, 10))
                if judged:
                    builder.judge(who, f"n{i:02}", feature)
                    if there == same:
                        builder.annotate(who, f"n{i:02}", feature, [(0, end)])
    return builder.build()


def same(one: Estimate, other: Estimate) -> bool:
    """Tell whether two estimates are equal but for the last digits."""
    values = [(getattr(one, name), getattr(other, name)) for name in ("value", "low", "high")]
    return one.method == other.method and all(
        a == pytest.approx(b, abs=1e-9, nan_ok=True) for a, b in values
    )


def test_evaluate_agree_and_both_steps_of_a_study_show_one_interval() -> None:
    corpus = corpus_of_two()
    system = evaluate_systems(
        corpus, {"bob": corpus.select(annotators=["bob"])},
        reference_annotator="ann", missing="skip", settings=SETTINGS,
    ).systems["bob"]  # fmt: skip
    between = agree(corpus, settings=SETTINGS).pooled
    collected = measure_agreement(corpus, VARIABLES, SETTINGS)["variables"]
    measured = by_variable(system, VARIABLES)
    alike = SampleDesign(dict.fromkeys(corpus.note_index, 4.0))
    for variable, line in zip(VARIABLES, collected, strict=True):
        name = variable.name
        result = measure_variable(measured, variable, alike, SETTINGS)
        for key, of_study in MEASURES.items():
            for rate in ("precision", "recall", "f1"):
                one = system.by_group(*key, level="features", statistic=rate)[name]
                alone = estimate_rows(system.tables[key].where(features=[name]), SETTINGS)
                assert same(one, alone.at(rate)), (name, key, rate)
                assert same(one, Estimate.from_dict(result[of_study][rate])), (name, key, rate)
                if key[0] != "spans":  # agree compares by token, as evaluate does
                    other = between.by_group(*key, level="features", statistic=rate)[name]
                    assert same(one, other), (name, key, rate)
        for rate, shown in (("f1", "presence_f1"), ("kappa", "kappa")):
            one = between.by_group("presence", level="features", statistic=rate)[name]
            assert same(one, Estimate.from_dict(line[shown])), (name, rate)
        words = between.by_group("characters", level="features")[name]
        assert same(words, Estimate.from_dict(line["characters_f1"]))
    assert same(system.overall("presence"), between.overall("presence"))


def test_a_case_has_the_interval_that_it_has_alone() -> None:
    corpus = corpus_of_two()
    whole = agree(corpus, settings=SETTINGS).pooled
    for case in ("ab", "cd"):
        alone = agree(corpus.select(cases=[case]), settings=SETTINGS).pooled
        for key in whole.tables:
            assert same(whole.by_group(*key, level="cases")[case], alone.overall(*key))


def test_compare_shows_what_evaluate_shows() -> None:
    corpus = corpus_of_two().select(annotators=["ann"])
    splits = fold_splits(corpus, folds=3, train_folds=2)
    compared = run_trials(corpus, [Trial("exact", "exact")], splits, settings=SETTINGS).of("")
    builder = CorpusBuilder()
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for note in corpus.notes:
        builder.add_note(note)
    for split in splits:
        matcher = make_matcher("exact").fit(corpus.select(notes=split.train))
        part = matcher.predict(corpus.select(notes=split.test))
        for row, (note, feature) in enumerate(zip(part.rows.note, part.rows.feature, strict=True)):
            place = part.notes[note].id, part.features[feature].id
            builder.judge("exact", *place)
            for annotation in part.row_annotations(row):
                builder.annotate("exact", *place, annotation.spans)
    systems = evaluate_systems(corpus, {"exact": builder.build()}, settings=SETTINGS).systems
    found = systems["exact"]
    for key in found.tables:
        for rate in ("precision", "recall", "f1"):
            one, other = (each.overall(*key, statistic=rate) for each in (compared["exact"], found))
            assert same(one, other), (key, rate)


def test_unequal_chances_are_weighed_alike_in_evaluate_and_in_a_study() -> None:
    drawn = lambda i: {  # noqa: E731
        "inclusion_probability": 0.5 if i % 3 else 0.1,
        "side": "positive" if i % 3 else "negative",
    }
    corpus = corpus_of_two(drawn)
    system = evaluate_systems(
        corpus, {"bob": corpus.select(annotators=["bob"])}, reference_annotator="ann",
        missing="skip", settings=SETTINGS, weights="inclusion_probability",
    ).systems["bob"]  # fmt: skip
    design = SampleDesign.of_sample(corpus)
    measured = by_variable(replace(system, estimates={}), VARIABLES)
    for variable in VARIABLES:
        result = measure_variable(measured, variable, design, SETTINGS)
        for key, of_study in MEASURES.items():
            for rate in ("precision", "recall", "f1"):
                one = system.by_group(*key, level="features", statistic=rate)[variable.name]
                assert same(one, Estimate.from_dict(result[of_study][rate])), (variable, key, rate)
        one = system.by_group("presence", level="features")[variable.name]
        assert one.method == "design-posterior"


def test_a_variable_of_several_features_is_drawn_by_note() -> None:
    pairs = pair_evaluation(corpus_of_two())
    assert pairs is not None
    either = by_variable(pairs, [Variable("either", "primary", ("a", "b"))]).presence
    assert set(either.values.sum(axis=1).tolist()) == {1}
    assert len(either) == len(either.by("note"))


def test_forty_notes_of_equal_weight_have_the_interval_of_evaluate() -> None:
    cells = np.repeat(np.eye(4, dtype=np.int64), [12, 0, 24, 4], axis=0)
    none, ids = np.zeros(40, dtype=np.int64), tuple(map(str, range(40)))
    table = CountTable(PRESENCE, RowKeys(np.arange(40), none, none, ids, ("f",), ("c",)), cells)
    sides = {i: int(i) < 12 for i in ids}
    plain = estimate_rows(table, Resampling())
    drawn = estimate_rows(table, Resampling(), SampleDesign(dict.fromkeys(ids, 1.0), sides))
    precision = plain.at("precision")
    assert round(precision.low, 3) == 0.735
    assert all(same(plain.at(name), drawn.at(name)) for name in plain.statistics)
