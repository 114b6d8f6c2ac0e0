"""Warnings about a rubric need little work, however many features it has."""

import sys
from types import FrameType

from rubricate import Feature, Rubric, odd_features
from rubricate.rubric import find_insides


def rubric_of(number: int) -> Rubric:
    sides = ("left", "right", "upper", "lower", "inner")
    texts = (f"{sides[k % 5]} word{k} and word{k * 7 % 101}" for k in range(number))
    return Rubric("c", tuple(Feature(f"f{k}", "c", text) for k, text in enumerate(texts)))


def calls_for(number: int) -> int:
    """Return the number of Python function calls for this many features."""
    rubric, calls = rubric_of(number), 0

    def count(_frame: FrameType, event: str, _given: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for _ in odd_features(rubric):
            pass
    finally:
        sys.setprofile(before)
    return calls


def test_twice_the_features_take_about_twice_the_calls() -> None:
    calls_for(10)  # what is imported and cached once
    assert calls_for(400) < 3 * calls_for(200)


class CountedWord(str):
    """A word that counts its hashes and comparisons."""

    __slots__ = ()
    looks = 0

    def __hash__(self) -> int:
        CountedWord.looks += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        CountedWord.looks += 1
        return super().__eq__(other)


def looks_for(length: int) -> int:
    """Return the number of looks at words, in a long text of one word and in a part of it."""
    texts = [[CountedWord("pain") for _ in range(n)] for n in (length, length // 2, 3)]
    CountedWord.looks = 0
    assert find_insides(texts) == {0: {1, 2}, 1: {0, 2}, 2: {0, 1}}
    return CountedWord.looks


def test_texts_four_times_as_long_take_about_four_times_the_looks() -> None:
    assert looks_for(4_000) < 5 * looks_for(1_000)


def test_the_order_of_what_is_odd_is_that_of_the_features() -> None:
    texts = (
        "Chest pain",
        "Pain",
        "chest pain.",
        "Chest pain for 2 weeks",
        "Chest pain for 3 weeks",
    )
    rubric = Rubric("c", tuple(Feature(str(k), "c", text) for k, text in enumerate(texts)))
    alike = "'0' and '2' are alike: give them one group, or take one out"
    found = list(odd_features(rubric))
    assert found[0].startswith("'1' is inside '0'")
    assert found[1] == alike
    insides = [tuple(line.split("'")[1:4:2]) for line in found if "is inside" in line]
    assert insides == [("1", "0"), ("0", "3"), ("0", "4"), ("1", "2"), ("1", "3"), ("1", "4"),
                       ("2", "3"), ("2", "4")]  # fmt: skip
