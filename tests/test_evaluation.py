import pytest

from rubricate import load_corpus
from rubricate.errors import UnknownNameError
from rubricate.evaluation import evaluate_systems
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
