"""Which notes are learned from and which are tested on; a note is never on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import InputError


@dataclass(frozen=True, slots=True)
class Split:
    """Notes to learn from and notes to test on, by id.

    ``name`` says which split it is; ``group`` gathers the splits of one experiment, e.g. a number
    of notes per case.
    """

    name: str
    train: frozenset[str]
    test: frozenset[str]
    group: str = ""


def _dealt(ids: Sequence[str], n_hands: int, rng: np.random.Generator) -> list[list[str]]:
    """Shuffle and deal into hands of nearly equal size."""
    order = [ids[i] for i in rng.permutation(len(ids))]
    return [order[k::n_hands] for k in range(n_hands)]


def note_folds(corpus: Corpus, n_folds: int, seed: int) -> list[list[str]]:
    """Deal the notes of each case into folds, at random.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> folds = note_folds(load_corpus("open-notes").select(cases=["0", "1"]), 10, seed=0)
    >>> [len(fold) for fold in folds][:3]
    [20, 20, 20]
    """
    if n_folds < 2:
        raise InputError(f"--folds {n_folds}: need at least 2")
    by_case: dict[str, list[str]] = {}
    for note in corpus.notes:
        by_case.setdefault(note.case, []).append(note.id)
    small = [case for case, ids in by_case.items() if len(ids) < n_folds]
    if small:
        raise InputError(
            f"--folds {n_folds}: {len(small)} cases have fewer notes than that, e.g. case "
            f"{small[0]} with {len(by_case[small[0]])}. Choose cases with --where, or fewer folds."
        )
    rng = np.random.default_rng(seed)
    folds: list[list[str]] = [[] for _ in range(n_folds)]
    for ids in by_case.values():
        for fold, hand in zip(folds, _dealt(ids, n_folds, rng), strict=True):
            fold.extend(hand)
    return folds


def fold_splits(corpus: Corpus, *, folds: int, train_folds: int, seed: int = 0) -> list[Split]:
    """Return cross-validation splits by note.

    Parameters
    ----------
    folds : int
        How many folds; notes are dealt within each case.
    train_folds : int
        How many folds to learn from; the others are tested on. 1 of 10 is the NBME paper's
        protocol (section 6), 9 of 10 ordinary cross-validation.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> split = fold_splits(corpus, folds=10, train_folds=1)[0]
    >>> len(split.train), len(split.test)
    (10, 90)
    """
    hands = note_folds(corpus, folds, seed)
    if not 1 <= train_folds < folds:
        raise InputError(f"--train-folds {train_folds}: need 1 to {folds - 1} of {folds} folds")
    splits = []
    for i in range(folds):
        learned = {(i + k) % folds for k in range(train_folds)}
        train = frozenset(n for k in learned for n in hands[k])
        test = frozenset(n for k in range(folds) if k not in learned for n in hands[k])
        splits.append(Split(f"fold {i}", train, test))
    return splits


def case_splits(
    corpus: Corpus, *, folds: int, notes_per_case: Sequence[int] = (0,), seed: int = 0
) -> list[Split]:
    """Leave whole cases out: learn on the other cases, test on unseen ones.

    Parameters
    ----------
    folds : int
        How many groups the cases are dealt into; each is left out once.
    notes_per_case : sequence of int
        How many notes of each left-out case may be learned from after all (0: none). The notes
        tested on are the same for every number.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0", "1"])
    >>> split = case_splits(corpus, folds=2, notes_per_case=[5])[0]
    >>> len(split.train), len(split.test)
    (105, 95)
    """
    cases = sorted({note.case for note in corpus.notes})
    if not 2 <= folds <= len(cases):
        raise InputError(f"--folds {folds}: need 2 to {len(cases)}, the number of cases")
    rng = np.random.default_rng(seed)
    hands = _dealt(cases, folds, rng)
    most = max(notes_per_case)
    order = {case: _order(corpus, case, rng) for case in cases}
    _check_enough(order, most)
    splits = []
    for n in notes_per_case:
        for i, hand in enumerate(hands):
            others = {note.id for note in corpus.notes if note.case not in hand}
            shown = {note for case in hand for note in order[case][:n]}
            test = frozenset(note for case in hand for note in order[case][most:])
            splits.append(Split(f"cases {i}, {n} notes", frozenset(others | shown), test, str(n)))
    return splits


def learning_splits(
    corpus: Corpus, *, folds: int, notes_per_case: Sequence[int], seed: int = 0
) -> list[Split]:
    """Learn from the first n notes of each case outside the fold, test on the fold.

    Smaller numbers are part of larger ones, and every number is tested on the same notes.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> few, more = learning_splits(corpus, folds=2, notes_per_case=[5, 20])[::2]
    >>> len(few.train), len(more.train), few.train < more.train, few.test == more.test
    (5, 20, True, True)
    """
    hands = note_folds(corpus, folds, seed)
    case_of = {note.id: note.case for note in corpus.notes}
    splits = []
    for n in notes_per_case:
        for i, test in enumerate(hands):
            pool: dict[str, list[str]] = {}
            for k, hand in enumerate(hands):
                for note in hand if k != i else ():
                    pool.setdefault(case_of[note], []).append(note)
            _check_enough(pool, n - 1)
            train = frozenset(note for ids in pool.values() for note in ids[:n])
            splits.append(Split(f"fold {i}, {n} notes", train, frozenset(test), str(n)))
    return splits


def _order(corpus: Corpus, case: str, rng: np.random.Generator) -> list[str]:
    ids = [note.id for note in corpus.notes if note.case == case]
    return [ids[i] for i in rng.permutation(len(ids))]


def _check_enough(pool: dict[str, list[str]], most: int) -> None:
    short = [case for case, ids in pool.items() if len(ids) <= most]
    if short:
        raise InputError(
            f"--notes-per-case: {len(short)} cases have too few notes, e.g. case {short[0]} with "
            f"{len(pool[short[0]])} to learn from"
        )
