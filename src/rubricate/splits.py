"""Which notes are learned from and which are held out; a note is never on both sides."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import Advice, ArgumentError, InputError, Setting

T = TypeVar("T")


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


class Part(NamedTuple):
    """The notes one network learns from, by number, and those it never does."""

    learn: list[int]
    held: list[int]


def shuffled(items: Sequence[T], rng: np.random.Generator) -> list[T]:
    """Return the items in random order."""
    return [items[i] for i in rng.permutation(len(items)).tolist()]


def draw_share(ids: Iterable[str], share: float, seed: int) -> set[str]:
    """Return a share of the notes to hold out, at least one if any, and never all.

    >>> len(draw_share("abcde", 0.01, seed=0)), draw_share("a", 0.5, seed=0)
    (1, set())
    """
    every = sorted(set(ids))
    if share <= 0 or len(every) < 2:
        return set()
    n = min(max(1, round(share * len(every))), len(every) - 1)
    return set(shuffled(every, np.random.default_rng(seed))[:n])


def hold_out(notes: Mapping[int, int], share: float, seed: int, *, fewest: int) -> Part:
    """Divide the notes of each case into those to learn from and those held out.

    ``notes`` gives the case of each note. A case with less than ``fewest`` notes gives none away.

    >>> part = hold_out({i: i // 5 for i in range(8)}, 0.4, seed=0, fewest=5)
    >>> len(part.learn), len(part.held), max(part.held) < 5
    (6, 2, True)
    """
    rng = np.random.default_rng(seed)
    learn: list[int] = []
    held: list[int] = []
    for case in sorted(set(notes.values())):
        own = shuffled([i for i, other in notes.items() if other == case], rng)
        n = round(share * len(own)) if len(own) >= fewest else 0
        held += own[:n]
        learn += own[n:]
    return Part(sorted(learn), sorted(held))


def grouped_folds(
    notes: Mapping[int, int], alike: Mapping[int, Hashable], n_folds: int, seed: int
) -> list[Part]:
    """Divide notes into folds: each note is held out once, cases are spread evenly.

    ``notes`` gives the case of each note, ``alike`` what notes of one case that must not be
    parted have in common (their text, say).

    >>> notes = dict.fromkeys(range(4), 0)
    >>> parts = grouped_folds(notes, {0: "a", 1: "b", 2: "a", 3: "c"}, 3, seed=0)
    >>> sorted(sorted(part.held) for part in parts)
    [[0, 2], [1], [3]]
    """
    rng = np.random.default_rng(seed)
    groups: dict[tuple[int, Hashable], list[int]] = {}
    for i, case in notes.items():
        groups.setdefault((case, alike[i]), []).append(i)
    if len(groups) < n_folds:
        raise InputError(
            f"recipe: folds is {n_folds}, and {len(groups)} different notes are annotated; "
            "need at least as many notes as folds"
        )
    fold_of: dict[int, int] = {}
    dealt = 0
    for case in sorted(set(notes.values())):
        for group in shuffled([own for (other, _), own in groups.items() if other == case], rng):
            fold_of |= dict.fromkeys(group, dealt % n_folds)
            dealt += 1
    return [
        Part([i for i in notes if fold_of[i] != fold], [i for i in notes if fold_of[i] == fold])
        for fold in range(n_folds)
    ]


def _dealt(ids: Sequence[str], n_hands: int, rng: np.random.Generator) -> list[list[str]]:
    """Shuffle and deal into hands of nearly equal size."""
    order = shuffled(ids, rng)
    return [order[k::n_hands] for k in range(n_hands)]


def note_folds(corpus: Corpus, n_folds: int, seed: int) -> list[list[str]]:
    """Deal the notes of each case into folds, at random.

    >>> from rubricate import load_corpus
    >>> folds = note_folds(load_corpus("open-notes").select(cases=["0", "1"]), 10, seed=0)
    >>> [len(fold) for fold in folds][:3]
    [20, 20, 20]
    """
    if n_folds < 2:
        raise ArgumentError("need at least 2", setting=Setting("folds", n_folds))
    by_case: dict[str, list[str]] = {}
    for note in corpus.notes:
        by_case.setdefault(note.case, []).append(note.id)
    small = [case for case, ids in by_case.items() if len(ids) < n_folds]
    if small:
        raise ArgumentError(
            f"{len(small)} cases have fewer notes than that, e.g. {small[0]!r} with "
            f"{len(by_case[small[0]])}.",
            setting=Setting("folds", n_folds),
            advice=Advice("Choose cases with {}, or fewer folds.", (Setting("where"),)),
        )
    rng = np.random.default_rng(seed)
    folds: list[list[str]] = [[] for _ in range(n_folds)]
    for ids in by_case.values():
        for fold, hand in zip(folds, _dealt(ids, n_folds, rng), strict=True):
            fold.extend(hand)
    return folds


def fold_splits(corpus: Corpus, *, folds: int, train_folds: int, seed: int = 0) -> list[Split]:
    """Return cross-validation splits by note.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> split = fold_splits(corpus, folds=10, train_folds=1)[0]
    >>> len(split.train), len(split.test)
    (10, 90)
    """
    hands = note_folds(corpus, folds, seed)
    if not 1 <= train_folds < folds:
        message = f"need 1 to {folds - 1} of {folds} folds"
        raise ArgumentError(message, setting=Setting("train_folds", train_folds))
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

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0", "1"])
    >>> split = case_splits(corpus, folds=2, notes_per_case=[5])[0]
    >>> len(split.train), len(split.test)
    (105, 95)
    """
    cases = sorted({note.case for note in corpus.notes})
    if not 2 <= folds <= len(cases):
        raise ArgumentError(
            f"need 2 to {len(cases)}, the number of cases", setting=Setting("folds", folds)
        )
    rng = np.random.default_rng(seed)
    hands = _dealt(cases, folds, rng)
    most = max(notes_per_case)
    order = {
        case: shuffled([note.id for note in corpus.notes if note.case == case], rng)
        for case in cases
    }
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


def _check_enough(pool: dict[str, list[str]], most: int) -> None:
    short = [case for case, ids in pool.items() if len(ids) <= most]
    if short:
        raise ArgumentError(
            f"{len(short)} cases have too few notes, e.g. case {short[0]} with "
            f"{len(pool[short[0]])} to learn from",
            setting=Setting("notes_per_case"),
        )
