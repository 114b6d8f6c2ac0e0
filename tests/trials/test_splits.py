import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Corpus, load_corpus
from rubricate.errors import InputError
from rubricate.trials import case_splits, fold_splits, learning_splits

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
