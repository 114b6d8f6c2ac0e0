from itertools import pairwise

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.neural.sequence.matcher import (
    SequenceFinder,
    choose_bonus,
    favoured,
    labelled_sequences,
    shared_labels,
)
from rubricate.neural.sequence.states import Chain, Scheme, Tokens
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
    finder = SequenceFinder(scheme, chain, emit_capitals, "words", "line", "m")
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
    finder = SequenceFinder(Scheme(("x",), "IO"), chain, emit_capitals, "words", "line", "m")
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
    found, dropped = labelled_sequences(
        builder.build(), "r", scheme, tokens="words", context="line"
    )
    assert [(one.note, one.states.tolist()) for one in found] == [("2", [1, 2])]
    assert dropped == 1


def test_nothing_to_learn_from_is_an_error(trials: Corpus) -> None:
    scheme = Scheme(("who", "drug"), "IO")
    with pytest.raises(InputError):
        labelled_sequences(trials, None, scheme, tokens="words", context="line")


def test_a_bonus_makes_more_annotations_and_leaves_probabilities_alone() -> None:
    scheme = Scheme(("x",), "BIO")
    chain = Chain(scheme.first_scores(), scheme.step_scores(), np.zeros(3))

    def emit(sequences: list[Tokens]) -> list[np.ndarray]:
        # Begins where a capital is, with odds of 2 to 1 against; inside is as unlikely.
        return [
            np.array([[0.0, -np.log(2) if w[0].isupper() else -50.0, -50.0] for w in s.words])
            for s in sequences
        ]

    rubric = Rubric("c", (Feature("x", "c", "X"),))
    notes = [Note("1", "c", "a Bc d Ef")]
    plain, more = (
        next(
            iter(
                SequenceFinder(scheme, chain, emit, "words", "line", "m", bonus).find(rubric, notes)
            )
        )
        for bonus in (0.0, 1.0)
    )
    assert plain.found == []
    assert [one.spans for one in more.found] == [((2, 4),), ((7, 9),)]
    assert [one.confidence for one in more.found] == pytest.approx([1 / 3, 1 / 3])
    assert plain.probabilities == more.probabilities


@pytest.mark.parametrize("kind", ["IO", "BIO"])
def test_the_bonus_counts_annotations(kind: str) -> None:
    scheme = Scheme(("x", "y"), kind)  # type: ignore[arg-type]
    k = len(scheme.states)
    chain = favoured(Chain(np.zeros(k), np.zeros((k, k)), np.zeros(k)), scheme, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        states = [0]
        for _ in range(7):
            states.append(int(rng.choice(np.flatnonzero(scheme.step_scores()[states[-1]] == 0))))
        states = states[1:]
        total = chain.first[states[0]] + sum(chain.step[a, b] for a, b in pairwise(states))
        assert total == len(scheme.decode(np.array(states), [0] * 7))


def test_the_smallest_of_equally_good_bonuses_is_chosen() -> None:
    assert choose_bonus(lambda bonus: min(bonus, 1.0)) == 1.0
    assert choose_bonus(lambda bonus: 0.3) == 0.0
