import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Corpus, load_corpus
from rubricate.errors import InputError
from rubricate.splits import (
    case_splits,
    draw_share,
    fold_splits,
    grouped_folds,
    hold_out,
    learning_splits,
)

DEEP = load_corpus("open-notes").select(cases=["0", "1", "2"])


@given(st.integers(2, 10), st.data())
def test_no_note_is_on_both_sides_and_every_note_is_tested(folds: int, data: st.DataObject) -> None:
    train_folds = data.draw(st.integers(1, folds - 1))
    splits = fold_splits(DEEP, folds=folds, train_folds=train_folds, seed=1)
    tested: dict[str, int] = {}
    for split in splits:
        assert not split.train & split.test
        assert split.train | split.test == {n.id for n in DEEP.notes}
        for note in split.test:
            tested[note] = tested.get(note, 0) + 1
    assert set(tested.values()) == {folds - train_folds}


def test_folds_are_dealt_within_cases_and_by_the_seed() -> None:
    split = fold_splits(DEEP, folds=10, train_folds=1, seed=0)[0]
    cases = [DEEP.note(n).case for n in split.train]
    assert [cases.count(c) for c in ("0", "1", "2")] == [10, 10, 10]
    assert fold_splits(DEEP, folds=10, train_folds=1, seed=0)[0] == split
    assert fold_splits(DEEP, folds=10, train_folds=1, seed=1)[0] != split


def test_unseen_cases_are_unseen_but_for_the_notes_shown() -> None:
    splits = case_splits(DEEP, folds=3, notes_per_case=[0, 5], seed=0)
    tests = {}
    for split in splits:
        held = {DEEP.note(n).case for n in split.test}
        shown = [n for n in split.train if DEEP.note(n).case in held]
        assert len(shown) == int(split.group) * len(held)
        assert not split.train & split.test
        tests.setdefault(split.name.split(",")[0], set()).add(split.test)
    assert all(len(found) == 1 for found in tests.values())


def test_learning_curves_grow_and_keep_their_test_notes() -> None:
    splits = learning_splits(DEEP, folds=2, notes_per_case=[0, 5, 20], seed=0)
    first = [s for s in splits if s.name.startswith("fold 0")]
    assert [len(s.train) for s in first] == [0, 15, 60]
    assert first[0].train <= first[1].train <= first[2].train
    assert len({s.test for s in first}) == 1


def small() -> Corpus:
    return load_corpus("open-notes").select(cases=["20", "21"])


def test_impossible_splits_say_so() -> None:
    for make in (
        lambda: fold_splits(small(), folds=20, train_folds=1),
        lambda: fold_splits(DEEP, folds=5, train_folds=5),
        lambda: case_splits(DEEP, folds=4),
        lambda: learning_splits(small(), folds=2, notes_per_case=[40]),
        lambda: case_splits(small(), folds=2, notes_per_case=[8]),
    ):
        with pytest.raises(InputError):
            make()


#: Cases of 7, 4 and 5 notes; two notes of the first case have one text.
THREE_CASES = dict(enumerate([0] * 7 + [1] * 4 + [2] * 5))
TEXTS = {i: "same" if i in (2, 5) else str(i) for i in THREE_CASES}


def test_few_notes_are_all_learned_from() -> None:
    assert hold_out(dict.fromkeys(range(6), 0), 0.2, seed=0, fewest=7) == ([0, 1, 2, 3, 4, 5], [])


@pytest.mark.parametrize(("fewest", "held"), [(4, 4), (5, 4), (6, 2), (7, 2), (8, 0)])
def test_cases_with_enough_notes_give_a_share(fewest: int, held: int) -> None:
    part = hold_out(THREE_CASES, 0.3, seed=0, fewest=fewest)
    assert len(part.held) == held + (fewest == 4)
    assert sorted(part.learn + part.held) == list(THREE_CASES)


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_note_is_held_out_once_and_cases_are_spread(n_folds: int, seed: int) -> None:
    parts = grouped_folds(THREE_CASES, TEXTS, n_folds, seed)
    assert sorted(i for part in parts for i in part.held) == list(THREE_CASES)
    for part in parts:
        assert sorted(part.learn + part.held) == list(THREE_CASES)
        assert part.held
        assert part.learn
    for case in range(3):
        sizes = [sum(THREE_CASES[i] == case for i in part.held) for part in parts]
        # The pair with one text goes together, so a fold may have one more.
        assert max(sizes) - min(sizes) <= 2


def test_notes_with_one_text_are_in_one_fold() -> None:
    for seed in range(5):
        held = [set(part.held) & {2, 5} for part in grouped_folds(THREE_CASES, TEXTS, 4, seed)]
        assert sorted(map(len, held)) == [0, 0, 0, 2]


def test_seeds_and_the_number_of_folds() -> None:
    first, again, other = (grouped_folds(THREE_CASES, TEXTS, 3, seed) for seed in (0, 0, 1))
    assert first == again != other
    assert len(grouped_folds(THREE_CASES, TEXTS, 15, 0)) == 15
    with pytest.raises(InputError, match="15 different notes"):
        grouped_folds(THREE_CASES, TEXTS, 16, 0)


@pytest.mark.parametrize(
    ("n", "share", "held"), [(10, 0.2, 2), (3, 0.01, 1), (2, 0.9, 1), (1, 0.5, 0), (9, 0, 0)]
)
def test_some_notes_are_held_out_and_never_all(n: int, share: float, held: int) -> None:
    notes = [f"n{i}" for i in range(n)] * 2
    drawn = draw_share(notes, share, seed=3)
    assert len(drawn) == held
    assert drawn == draw_share(reversed(notes), share, seed=3)
