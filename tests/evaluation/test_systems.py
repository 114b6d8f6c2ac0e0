import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Metadata, Note, load_corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation import Matching
from rubricate.evaluation.design import note_weights, refuse_unweighted
from rubricate.evaluation.systems import evaluate_systems
from rubricate.merge import join_corpora
from rubricate.stats import Resampling

CORPUS = load_corpus("open-notes").select(cases=["0", "1"])
RATER = CORPUS.select(annotators=["second_rater"])
FEW = Resampling(resamples=40)


def test_one_system_stands_at_the_top_level() -> None:
    found = evaluate_systems(CORPUS, {"rater": RATER}, missing="skip", settings=FEW).to_dict()
    assert set(found["cases"]) == {"0", "1"}
    assert "systems" not in found


def test_several_systems_are_compared_with_the_first() -> None:
    reference = CORPUS.select(annotators=["reference"])
    found = evaluate_systems(
        CORPUS, {"self": reference, "rater": RATER, "again": RATER}, settings=FEW
    ).to_dict()
    assert [c["second"] for c in found["comparisons"]] == ["rater", "again"]
    assert found["systems"]["self"]["characters"]["f1"] == 1
    assert found["comparisons"][0]["characters"]["difference"] > 0


def test_the_ceiling_says_whether_notes_are_the_same() -> None:
    found = evaluate_systems(CORPUS, {"rater": RATER}, ceiling=CORPUS, settings=FEW)
    below = found.to_dict()["below_ceiling"]["characters"]
    assert not below["same_notes"]
    assert found.ceiling is not None


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        evaluate_systems(CORPUS, {"rater": RATER}, matching=Matching("nonsense"))


def weighted_corpus() -> Corpus:
    """Six notes, three drawn with probability 1 and three with .1, of which one is positive."""
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Fever"))
    for i in range(6):
        share = 1.0 if i < 3 else 0.1
        builder.add_note(Note(str(i), "c", "fever", Metadata(share=share)))
        builder.judge("reference", str(i), "f")
        if i < 4:
            builder.annotate("reference", str(i), "f", [(0, 5)])
    return builder.build()


def system(reference: Corpus, found: set[int]) -> Corpus:
    builder = CorpusBuilder()
    for rubric in reference.rubrics:
        builder.add_rubric(rubric)
    for i, note in enumerate(reference.notes):
        builder.add_note(note)
        builder.judge("system", note.id, "f")
        if i in found:
            builder.annotate("system", note.id, "f", [(0, 5)])
    return builder.build()


def test_weights_reach_everything_that_is_compared() -> None:
    reference = weighted_corpus()
    systems = {"one": system(reference, {0, 1, 2}), "two": system(reference, {3})}
    found = evaluate_systems(reference, systems, weights="share", settings=FEW).to_dict()
    # Weighted: 13 positives of 33; the first system finds 3 of them, the second 10.
    expected = {"one": 2 * 3 / (3 + 13), "two": 2 * 10 / (10 + 13)}
    for name, value in expected.items():
        assert found["systems"][name]["presence"]["f1"] == pytest.approx(value)
    comparison = found["comparisons"][0]["presence"]
    assert comparison["first"] == pytest.approx(expected["one"])
    assert comparison["difference"] == pytest.approx(expected["one"] - expected["two"])
    share = 13 / 33
    assert found["systems"]["one"]["presence"]["all_present_f1"] == pytest.approx(
        2 * share / (1 + share)
    )


def test_weights_reach_the_ceiling() -> None:
    reference = weighted_corpus()
    rater = system(reference, {3})
    both = join_corpora({"reference": reference, "rater": rater})
    found = evaluate_systems(
        reference,
        {"one": system(reference, {0, 1, 2})},
        weights="share",
        ceiling=both,
        settings=FEW,
    ).to_dict()["below_ceiling"]["presence"]
    assert found["system"] == pytest.approx(2 * 3 / (3 + 13))
    assert found["ceiling"] == pytest.approx(2 * 10 / (10 + 13))


def test_weights_that_no_note_has_are_one_fault() -> None:
    with pytest.raises(InputError) as caught:
        evaluate_systems(CORPUS, {"rater": RATER}, weights="nonsense", settings=FEW)
    assert len(caught.value.faults) == 1


def test_an_annotator_no_system_has_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        evaluate_systems(CORPUS, {"rater": RATER}, predicted_annotator="nobody", settings=FEW)


def test_long_work_is_shown() -> None:
    seen: list[tuple[int, int | None, str]] = []
    evaluate_systems(
        CORPUS, {"one": RATER, "two": RATER}, ceiling=CORPUS, missing="skip", settings=FEW,
        progress=lambda *now: seen.append(now),
    )  # fmt: skip
    labels = list(dict.fromkeys(label for _, _, label in seen))
    assert labels == [
        "intervals of one", "intervals of two", "comparing systems", "comparing groups",
        "intervals",
    ]  # fmt: skip
    for name in labels:
        done, total, _ = [one for one in seen if one[2] == name][-1]
        assert done == total


def test_weights_are_the_inverse_of_the_chance_to_be_drawn() -> None:
    assert note_weights(weighted_corpus(), "share") == {
        "0": 1.0, "1": 1.0, "2": 1.0, "3": 10.0, "4": 10.0, "5": 10.0
    }  # fmt: skip


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, True, "half", None])
def test_a_chance_that_is_none_is_refused(share: object) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("good", "c", "", Metadata(share=1.0)))
    builder.add_note(Note("bad", "c", "", Metadata(share=share)))
    with pytest.raises(InputError, match="note bad: 'share'"):
        note_weights(builder.build(), "share")


def test_one_chance_for_all_needs_no_weights() -> None:
    builder = CorpusBuilder()
    for i in range(3):
        builder.add_note(Note(str(i), "c", "", Metadata(inclusion_probability=0.5)))
    builder.add_note(Note("rest", "c", ""))
    refuse_unweighted(builder.build())
    builder.add_note(Note("other", "c", "", Metadata(inclusion_probability=0.25)))
    with pytest.raises(InputError, match="2 different"):
        refuse_unweighted(builder.build())


def test_a_system_is_tested_against_a_margin() -> None:
    found = evaluate_systems(
        CORPUS, {"one": RATER, "two": RATER}, ceiling=CORPUS, missing="skip", settings=FEW,
        margin=0.2,
    )  # fmt: skip
    # Each system beside the annotators, and the second beside the first, in two measures.
    assert len(found.margins) == 6
    assert all(test.non_inferior and test.equivalent for test in found.margins.values())
    stored = found.to_dict()["systems"]["two"]["margins"]
    assert set(stored) == {
        "characters, annotators", "presence, annotators", "characters, one", "presence, one"
    }  # fmt: skip


def test_the_same_errors_in_three_notes_are_no_proof() -> None:
    whole = load_corpus("open-notes").select(cases=["0"])
    corpus = whole.select(notes=lambda note: note.id in {n.id for n in whole.notes[:3]})
    rater = corpus.select(annotators=["second_rater"])
    found = evaluate_systems(
        corpus, {"one": rater, "two": rater}, missing="skip", settings=Resampling(200), margin=0.02
    )
    for what in ("characters", "presence"):
        gap = found.comparisons[0].differences[what,].difference
        assert gap.value == 0 and gap.low < 0 < gap.high
        test = found.margins["two", f"{what}, one"]
        assert not test.non_inferior and not test.equivalent


def test_results_print_what_matters_in_a_line() -> None:
    """A console prints every result that is typed; thousands of counts would be of no use."""
    found = evaluate_systems(CORPUS, {"rater": RATER}, ceiling=CORPUS, settings=FEW)
    for printed in (repr(found), repr(found.systems["rater"]), repr(found.ceiling)):
        assert len(printed) < 250 and "F1 of characters" in printed and "\n" not in printed
    assert "second_rater against reference" in repr(found)
