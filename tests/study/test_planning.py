import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError, UnknownNameError
from rubricate.stats import Expected, Target
from rubricate.study.planning import (
    Design,
    find_features,
    frequency_from,
    make_plan,
    plan_plot,
    plan_several,
    present_notes,
    write_plan_plot,
)


def corpus():
    builder = CorpusBuilder()
    builder.add_feature(Feature("f1", "c", "Tobacco use"))
    builder.add_feature(Feature("f2", "c", "Former smoker"))
    for i in range(10):
        builder.add_note(Note(str(i), "c", "smokes daily"))
        builder.judge_all("system", str(i))
        if i < 4:
            builder.annotate("system", str(i), "f1", [(0, 6)])
        if 2 <= i < 6:
            builder.annotate("system", str(i), "f2", [(0, 6)])
    return builder.build()


def test_a_variable_of_two_features_is_present_where_either_is() -> None:
    judged, present = present_notes(corpus(), ["f1", "f2"])
    assert len(judged) == 10
    assert present == list("012345")


def test_frequency_by_words_or_id() -> None:
    assert frequency_from(corpus(), "f1").value == 0.4
    text = corpus().features[0].text
    assert frequency_from(corpus(), text.upper()).value == 0.4
    assert find_features(corpus(), f" {text.lower()}") == ["f1"]


def asthma() -> Corpus:
    builder = CorpusBuilder()
    for i, (case, text) in enumerate(
        (("a", "Asthma"), ("a", "Extrinsic asthma"), ("b", "ASTHMA"), ("b", "Obesity"))
    ):
        builder.add_feature(Feature(f"f{i}", case, text))
    return builder.build()


def test_a_text_takes_no_other_features_with_it() -> None:
    # "Asthma" also took "Extrinsic asthma": P .878 and R .893 instead of .921 and .863.
    assert find_features(asthma(), "asthma") == ["f0", "f2"]
    assert find_features(asthma(), "Extrinsic Asthma") == ["f1"]
    with pytest.raises(InputError) as caught:
        find_features(asthma(), "asth")
    for listed in ("f0 ('Asthma')", "f1 ('Extrinsic asthma')", "f2 ('ASTHMA')"):
        assert listed in str(caught.value)
    with pytest.raises(InputError, match="no feature has this id or this text"):
        find_features(asthma(), "gout")


def test_a_text_twice_in_one_case_is_refused() -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f1", "c", "Asthma"))
    builder.add_feature(Feature("f2", "c", "asthma"))
    with pytest.raises(InputError, match=r"f1.*f2"):
        find_features(builder.build(), "Asthma")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError):
        find_features(corpus(), "diabetes")
    with pytest.raises(UnknownNameError):
        frequency_from(corpus(), "f1", "sistem")


@pytest.mark.parametrize(
    ("target", "design"),
    [
        (Target(), Design("slice", pool=100)),
        (Target(), Design("slice", design_effect=2.0)),
        (Target(interval="wilson"), Design("slice")),
    ],
)
def test_slice_refuses_what_it_cannot_do(target: Target, design: Design) -> None:
    with pytest.raises(InputError):
        make_plan(Expected(0.85, 0.8, 0.48), target, design)


def test_a_design_names_all_its_faults() -> None:
    with pytest.raises(InputError) as caught:
        Design("guess", sites=0, pool=0, design_effect=0.5)  # type: ignore[arg-type]
    assert len(caught.value.faults) == 4


def test_several_variables_need_assurance() -> None:
    with pytest.raises(InputError):
        plan_several({"a": Expected(0.85, 0.8, 0.48)}, Target(), Design("slice"))


def test_the_plot_names_what_it_shows_and_refuses_odd_names(tmp_path) -> None:
    plan = make_plan(Expected(0.85, 0.8, 0.48), Target(), Design("slice"))
    assert "519" in plan_plot(plan)
    write_plan_plot(plan, tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(InputError):
        write_plan_plot(plan, tmp_path / "plan.png")
    with pytest.raises(FileExistsError):
        write_plan_plot(plan, tmp_path / "plan.svg")
