import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Metadata, Note, load_corpus
from rubricate.errors import InputError
from rubricate.evaluation import Evaluation, evaluate
from rubricate.evaluation.design import SampleDesign, note_weights, refuse_unweighted
from rubricate.evaluation.evaluation import add_intervals
from rubricate.evaluation.systems import compare_evaluations
from rubricate.stats import (
    EstimateJson,
    Resampling,
    bootstrap_interval,
    effective_items,
    proportion_interval,
)

FEW = Resampling(resamples=300)


def limits(estimate: EstimateJson) -> tuple[float | None, float | None]:
    return estimate["low"], estimate["high"]


def raters(cases: list[str]) -> Evaluation:
    corpus = load_corpus("open-notes").select(cases=cases)
    return evaluate(
        corpus,
        corpus,
        reference_annotator="reference",
        predicted_annotator="second_rater",
        missing="skip",
    )


def test_every_value_has_an_interval_that_contains_it() -> None:
    result = add_intervals(raters(["0", "1"]), FEW).to_dict()
    seen = 0
    places = [result, *result["cases"].values(), *result["features"].values()]
    for place in places:
        for measure in (place["characters"], place["presence"], *place["spans"].values()):
            for name, one in measure["intervals"].items():
                low, high = one["low"], one["high"]
                assert one["value"] == measure[name]
                assert one["level"] == 0.95
                if low is not None and measure[name] is not None:
                    seen += 1
                    assert low - 1e-9 <= measure[name] <= high + 1e-9
            assert measure["interval"] == measure["intervals"]["f1"]
    assert seen > 300
    assert result["intervals"]["unit"] == "note"
    bca = add_intervals(raters(["0"]), Resampling(resamples=50, method="bca")).to_dict()
    assert bca["intervals"]["method"] == "bootstrap-bca"
    assert bca["intervals"]["macro_method"] == "bootstrap-percentile"


def test_one_case_overall_is_the_plain_bootstrap_by_note() -> None:
    evaluation = raters(["0"])
    ours = add_intervals(evaluation, FEW).overall("characters")
    table = evaluation.characters.by("note")
    plain = bootstrap_interval(table.values, table.measure.statistics["f1"], FEW)
    assert ours.low == pytest.approx(float(plain.low), abs=0.004)
    assert ours.high == pytest.approx(float(plain.high), abs=0.004)


def test_perfect_notes_get_an_exact_limit_by_items() -> None:
    evaluation = raters(["0"])
    found = add_intervals(evaluation, FEW)
    assert evaluation.presence.total().f1 == 1
    interval = found.overall("presence")
    # 320 rows, of which 12.2 in a note were found by somebody: worth 244 / (1 + 11.3 * .3).
    per_note = (evaluation.presence.by("note").values[:, :3]).sum(axis=1)
    items = effective_items(per_note)
    low = proportion_interval(items, items).low
    assert interval.low == pytest.approx(2 * low / (1 + low))
    assert interval.high == 1
    assert interval.method == "bootstrap-bca+items"


def found_in(n_found: int, n_present: int, n_notes: int) -> Evaluation:
    """One feature, present in some notes, found in the first of these and nowhere else."""
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "F"))
    for i in range(n_notes):
        builder.add_note(Note(str(i), "c", "fever"))
        for who, n in (("ref", n_present), ("pred", n_found)):
            builder.judge(who, str(i), "f")
            if i < n:
                builder.annotate(who, str(i), "f", [(0, 5)])
    corpus = builder.build()
    return evaluate(corpus, corpus, reference_annotator="ref", predicted_annotator="pred")


def test_an_exact_limit_rests_on_the_notes_that_inform_the_value() -> None:
    found = add_intervals(found_in(5, 60, 100), FEW).to_dict()
    for place in (found, found["features"]["f"], found["cases"]["c"]):
        presence, characters = place["presence"], place["characters"]
        # Precision is 1 in the five notes with a prediction; sixty others say nothing of it.
        assert presence["intervals"]["precision"]["low"] == pytest.approx(
            proportion_interval(5, 5).low
        )
        assert characters["intervals"]["precision"] == presence["intervals"]["precision"]
        # Nothing was found wrongly in the forty notes without the feature.
        specificity = presence["intervals"]["specificity"]
        assert specificity["low"] == pytest.approx(proportion_interval(40, 40).low)
    macro = found["presence"]["macro"]["features"]["intervals"]["precision"]
    assert macro["low"] == pytest.approx(proportion_interval(5, 5).low)


def test_where_nothing_is_ever_present_all_notes_speak_of_specificity() -> None:
    presence = add_intervals(found_in(0, 0, 30), FEW).to_dict()["presence"]
    assert presence["f1"] is None
    for name in ("accuracy", "specificity"):
        assert presence["intervals"][name]["low"] == pytest.approx(proportion_interval(30, 30).low)


def test_with_unequal_weights_a_perfect_value_has_a_wide_limit() -> None:
    evaluation = found_in(20, 20, 30)
    weights = {str(i): 1.0 if i < 20 else 90.0 for i in range(30)}
    found = add_intervals(evaluation, FEW, design=SampleDesign(weights))
    recall = found.to_dict()["presence"]["intervals"]
    # Ten notes stand for 900 in which anything may have been missed.
    assert recall["recall"]["low"] < 0.05
    assert recall["recall"]["method"] == "design-posterior"
    alike = SampleDesign(dict.fromkeys(weights, 3.0))
    equal = add_intervals(evaluation, FEW, design=alike).to_dict()
    low = equal["presence"]["intervals"]["recall"]["low"]
    assert low == pytest.approx(proportion_interval(20, 20).low)


def test_the_seed_decides() -> None:
    evaluation = raters(["0"])
    one, two, three = (
        add_intervals(evaluation, Resampling(resamples=50, seed=seed)).to_dict()
        for seed in (1, 1, 2)
    )
    assert one == two
    assert one["characters"]["interval"] != three["characters"]["interval"]


def sample() -> tuple[Corpus, Corpus]:
    """100 predicted positives all drawn, 10 of 900 predicted negatives drawn; half of those missed."""
    reference, predicted = CorpusBuilder(), CorpusBuilder()
    for builder in (reference, predicted):
        builder.add_feature(Feature("f", "c", "F"))
        for i in range(110):
            probability = 1.0 if i < 100 else 10 / 900
            metadata = Metadata(inclusion_probability=probability)
            builder.add_note(Note(str(i), "c", "fever", metadata))
            builder.judge("r", str(i), "f")
    for i in range(110):
        if i < 80 or i >= 105:
            reference.annotate("r", str(i), "f", [(0, 5)])
        if i < 100:
            predicted.annotate("r", str(i), "f", [(0, 5)])
    return reference.build(), predicted.build()


def test_weights_undo_the_oversampling() -> None:
    reference, predicted = sample()
    evaluation = evaluate(reference, predicted)
    assert evaluation.presence.total().recall > 0.9
    weighted = add_intervals(
        evaluation, FEW, design=SampleDesign(note_weights(reference))
    ).to_dict()
    # 80 found of 80 + 5 * 90 present in the population.
    assert weighted["presence"]["recall"] == pytest.approx(80 / 530)
    assert weighted["presence"]["precision"] == pytest.approx(0.8)
    assert weighted["intervals"]["weighted"]
    macro = weighted["characters"]["macro"]
    # Of 1,000 notes 80 are right, 450 are negatives nobody marked, all others are wrong.
    assert macro["rows"]["f1"] == pytest.approx(530 / 1000)
    # Notes in which nobody marked anything have no F1 of their own.
    assert macro["notes"]["f1"] == pytest.approx(80 / 550)
    assert weighted["presence"]["macro"]["notes"]["accuracy"] == pytest.approx(530 / 1000)


def test_unweighted_recall_is_refused_where_positives_were_oversampled() -> None:
    reference, _ = sample()
    with pytest.raises(InputError, match="weights"):
        refuse_unweighted(reference)
    refuse_unweighted(load_corpus("open-notes"))


def test_bad_weights_are_all_named() -> None:
    with pytest.raises(InputError) as caught:
        note_weights(load_corpus("open-notes").select(cases=["0"]), "split")
    assert len(caught.value.faults) == 100
    with pytest.raises(InputError) as caught:
        note_weights(load_corpus("open-notes"))
    assert len(caught.value.faults) == 1
    reference, predicted = sample()
    with pytest.raises(InputError):
        add_intervals(evaluate(reference, predicted), FEW, design=SampleDesign({"0": 1.0}))


def test_comparing_a_system_with_itself_finds_no_difference() -> None:
    evaluation = raters(["0", "1"])
    found = compare_evaluations(("a", evaluation), ("b", evaluation), FEW)
    for one in found.differences.values():
        assert one.difference.value == 0
        assert one.p_value == 1


def test_comparing_systems_on_other_rows_is_refused() -> None:
    with pytest.raises(InputError, match="same rows"):
        compare_evaluations(("a", raters(["0"])), ("b", raters(["1"])), FEW)


def test_a_worse_system_is_seen_to_be_worse() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    worse = corpus.with_rows(corpus.rows.take(np.arange(len(corpus.rows)) % 3 > 0))
    good = evaluate(corpus, corpus)
    bad = evaluate(corpus, worse)
    found = compare_evaluations(("good", good), ("bad", bad), FEW)
    characters = found.differences["characters",]
    assert characters.difference.value > 0.1
    assert characters.difference.low > 0
    assert characters.p_value is not None
    assert characters.p_value < 0.01
    stored = found.to_dict()
    assert (stored["first"], stored["second"]) == ("good", "bad")
    assert set(stored["spans"]) == {"exact", "one_side_boundary", "token_overlap"}


def each_its_own_case(n: int) -> Evaluation:
    """Notes of which each is the only one of its case; the prediction finds half of the words."""
    builder = CorpusBuilder()
    for i in range(n):
        builder.add_feature(Feature(f"f{i}", f"c{i}", "F"))
        builder.add_note(Note(f"n{i}", f"c{i}", "fever and cough"))
        builder.annotate("ref", f"n{i}", f"f{i}", [(0, 9)])
        builder.annotate("pred", f"n{i}", f"f{i}", [(0, 5 + i % 4)])
    corpus = builder.build()
    return evaluate(corpus, corpus, reference_annotator="ref", predicted_annotator="pred")


def test_a_value_from_one_note_has_no_interval() -> None:
    found = add_intervals(each_its_own_case(1), FEW).to_dict()["characters"]
    assert 0 < found["f1"] < 1
    assert limits(found["interval"]) == (None, None)
    assert found["intervals"]["precision"]["low"] == pytest.approx(proportion_interval(1, 1).low)


def test_notes_alone_in_their_case_still_give_a_width() -> None:
    found = add_intervals(each_its_own_case(30), FEW).to_dict()
    low, high = limits(found["characters"]["interval"])
    assert low < found["characters"]["f1"] < high
    assert limits(found["cases"]["c0"]["characters"]["interval"]) == (None, None)


def test_a_kappa_of_zero_is_no_share_of_notes() -> None:
    everything = found_in(40, 10, 40)
    presence = add_intervals(everything, FEW).to_dict()["presence"]
    assert presence["kappa"] == 0
    assert limits(presence["intervals"]["kappa"]) == (None, None)
    assert presence["intervals"]["specificity"]["high"] == pytest.approx(
        proportion_interval(0, 30).high
    )


def test_estimates_are_those_of_the_dictionary() -> None:
    found = add_intervals(raters(["0", "1"]), FEW)
    stored = found.to_dict()
    for key in found.tables:
        place = stored
        for name in key:
            place = place[name]
        for statistic in found.tables[key].measure.statistics:
            overall = found.overall(*key, statistic=statistic)
            assert overall.to_dict() == place["intervals"][statistic]
            for level in ("cases", "features"):
                mean = found.macro_mean(*key, level=level, statistic=statistic)
                assert mean.to_dict() == place["macro"][level]["intervals"][statistic]
                assert mean.method.startswith("bootstrap-percentile")
                for group, one in found.by_group(*key, level=level, statistic=statistic).items():
                    block = stored[level][group]
                    for name in key:
                        block = block[name]
                    assert one.to_dict() == block["intervals"][statistic]


def test_resampling_says_how_far_it_has_come() -> None:
    seen: list[tuple[int, int | None, str]] = []
    few = Resampling(resamples=5)
    add_intervals(raters(["0"]), few, progress=lambda *now: seen.append(now), label="all")
    assert seen == [(done, 5, "all") for done in range(6)]


def test_cases_like_these_are_less_certain_than_these_cases() -> None:
    evaluation = raters(["0", "1", "2", "3", "4"])
    these = add_intervals(evaluation, FEW)
    like = add_intervals(evaluation, Resampling(resamples=300, population="cases-like-these"))
    for key in (("characters",), ("spans", "exact")):
        assert like.overall(*key).value == these.overall(*key).value
        assert like.overall(*key).width > 1.2 * these.overall(*key).width
        for level in ("cases", "features"):
            mean = like.macro_mean(*key, level=level)
            assert mean.value == pytest.approx(these.macro_mean(*key, level=level).value)
            assert mean.low < mean.value < mean.high
        # A case's own value is about its notes either way.
        assert like.by_group(*key, level="cases") == these.by_group(*key, level="cases")
    stored = like.to_dict()["intervals"]
    assert (stored["population"], stored["unit"]) == ("cases-like-these", "case")


def test_one_case_says_nothing_of_cases_like_it() -> None:
    with pytest.raises(InputError, match="two cases"):
        add_intervals(raters(["0"]), Resampling(resamples=9, population="cases-like-these"))


def test_the_mean_over_one_case_is_the_value_of_all_rows_with_its_interval() -> None:
    one, two = (add_intervals(raters(cases), FEW) for cases in (["0"], ["0", "1"]))
    for key in one.tables:
        for statistic in one.tables[key].measure.statistics:
            overall = one.overall(*key, statistic=statistic)
            mean = one.macro_mean(*key, level="cases", statistic=statistic)
            assert str(mean) == str(overall)
    assert two.macro_mean("characters", level="cases") != two.overall("characters")
