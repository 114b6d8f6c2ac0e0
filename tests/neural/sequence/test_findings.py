import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.neural.sequence.chain import Chain
from rubricate.neural.sequence.findings import TagFinder, shared_labels, tagged_sequences
from rubricate.neural.sequence.tagging import Scheme, Tokens
from rubricate.rubric import Rubric


def emit_capitals(sequences: list[Tokens]) -> list[np.ndarray]:
    """Score capitalised words as label 0 with probability 3/4, others as outside for sure."""
    return [
        np.array([[0.0, np.log(3)] if w[0].isupper() else [0.0, -50.0] for w in s.words])
        for s in sequences
    ]


def test_places_confidence_and_presence() -> None:
    scheme = Scheme(("x",), "IO")
    chain = Chain(np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    finder = TagFinder(scheme, chain, emit_capitals, "words", "line", "m")
    rubric = Rubric("c", (Feature("x", "c", "X"),))
    notes = [Note("1", "c", "a Bc De f\nG\n"), Note("2", "c", "none"), Note("3", "c", "")]
    first, second, third = finder.find(rubric, notes)
    assert [one.spans for one in first.found] == [((2, 7),), ((10, 11),)]
    assert [one.confidence for one in first.found] == pytest.approx([0.75, 0.75])
    # Three independent tokens, each the label with probability 3/4.
    assert first.probabilities["x"] == pytest.approx(1 - 0.25**3)
    assert second.found == []
    assert second.probabilities["x"] == pytest.approx(0, abs=1e-9)
    assert third.found == []
    assert third.probabilities["x"] == 0


def test_features_that_are_no_labels_are_left_alone() -> None:
    chain = Chain(np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    finder = TagFinder(Scheme(("x",), "IO"), chain, emit_capitals, "words", "line", "m")
    rubric = Rubric("c", (Feature("y", "c", "Y"),))
    (findings,) = finder.find(rubric, [Note("1", "c", "Bc")])
    assert findings.found == []
    assert findings.probabilities == {}


def test_one_rubric_only(trials: Corpus) -> None:
    assert shared_labels(trials) == ("who", "drug")
    builder = CorpusBuilder()
    for case in "ab":
        builder.add_feature(Feature(f"f{case}", case, "F"))
        builder.add_note(Note(f"n{case}", case, "text"))
    with pytest.raises(InputError, match="2 cases"):
        shared_labels(builder.build())


def test_notes_not_judged_for_every_feature_are_not_learned_from() -> None:
    builder = CorpusBuilder()
    for feature in "xy":
        builder.add_feature(Feature(feature, "c", feature))
    for note in "12":
        builder.add_note(Note(note, "c", "a b"))
        builder.annotate("r", note, "x", [(0, 1)])
    builder.annotate("r", "2", "y", [(0, 3)])
    scheme = Scheme(("x", "y"), "IO")
    found, dropped = tagged_sequences(builder.build(), "r", scheme, tokens="words", context="line")
    assert [(one.note, one.tags.tolist()) for one in found] == [("2", [1, 2])]
    assert dropped == 1


def test_nothing_to_learn_from_is_an_error(trials: Corpus) -> None:
    scheme = Scheme(("who", "drug"), "IO")
    with pytest.raises(InputError):
        tagged_sequences(trials, None, scheme, tokens="words", context="line")
