from __future__ import annotations

from collections import Counter

import pytest

from rubricate import CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.neural import folds
from rubricate.neural.folds import grouped_folds, hold_out, judged_in, parts_of, unjudged_in
from rubricate.neural.learning_set import LearningSet, learning_set
from rubricate.neural.pieces import PieceMaker


@pytest.fixture(scope="module")
def three_cases(maker: PieceMaker) -> LearningSet:
    """Cases of 7, 4 and 5 annotated notes, two with one text, and one note without rows each."""
    builder = CorpusBuilder()
    words = ["fever", "cough", "chest", "pain", "man", "woman", "old", "mild"]
    for case, size in (("a", 8), ("b", 5), ("c", 6)):
        builder.add_feature(Feature(f"{case}f", case, "Cough"))
        for i in range(size):
            text = "no fever" if case == "a" and i in (2, 5) else f"{words[i]} for {case}"
            builder.add_note(Note(f"{case}{i}", case, text))
            if i < size - 1:
                builder.judge_all("ann", f"{case}{i}")
    return learning_set(builder.build(), "ann", maker)


def test_few_notes_are_all_learned_from(data: LearningSet) -> None:
    assert hold_out(data, 0.2, seed=0) == ([0, 1, 2, 3, 4, 5], [])


def test_some_are_held_out_of_many(data: LearningSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "FEWEST_TO_HOLD_OUT", 5)
    learn, held = hold_out(data, 0.34, seed=0)
    assert len(held) == 2
    assert sorted(learn + held) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_note_is_held_out_once_and_cases_are_spread(
    three_cases: LearningSet, n_folds: int, seed: int
) -> None:
    parts = grouped_folds(three_cases, n_folds, seed)
    judged = judged_in(three_cases)
    assert sorted(i for part in parts for i in part.held) == judged
    for part in parts:
        assert sorted(part.learn + part.held) == judged
        assert part.held
        assert part.learn
    for case in range(3):
        sizes = [sum(three_cases.note_case[i] == case for i in part.held) for part in parts]
        # The pair with one text goes together, so a fold may have one more.
        assert max(sizes) - min(sizes) <= 2


def test_notes_with_one_text_are_in_one_fold(three_cases: LearningSet) -> None:
    for seed in range(5):
        fold = Counter(
            number
            for number, part in enumerate(grouped_folds(three_cases, 4, seed))
            for i in part.held
            if i in (2, 5)
        )
        assert list(fold.values()) == [2]


def test_seeds_and_the_number_of_folds(three_cases: LearningSet) -> None:
    assert grouped_folds(three_cases, 3, 0) == grouped_folds(three_cases, 3, 0)
    assert grouped_folds(three_cases, 3, 0) != grouped_folds(three_cases, 3, 1)
    assert len(parts_of(three_cases, 1, 0.2, 0)) == 1
    with pytest.raises(InputError, match="15 different notes"):
        grouped_folds(three_cases, 16, 0)


def test_notes_without_rows(three_cases: LearningSet) -> None:
    assert unjudged_in(three_cases) == [7, 12, 18]
