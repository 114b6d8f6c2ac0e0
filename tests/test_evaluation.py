import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Metadata, Note, load_corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.evaluation import evaluate_systems
from rubricate.joining import join_corpora
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
        evaluate_systems(CORPUS, {"rater": RATER}, matching=("nonsense", "token"))


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
