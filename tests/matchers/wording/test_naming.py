"""Words that name a feature, state it by a denial, or state the contrary."""

from __future__ import annotations

import pytest

from rubricate.lexicon.groups import Group, Lexicon, Phrase
from rubricate.matchers.wording.naming import FeatureNames, StemPlaces, read_names
from rubricate.matchers.wording.reading import read_columns
from rubricate.reading.tokens import root
from rubricate.requirement.requirement import read_requirement


def group(number: int, *phrases: str) -> Group:
    """Return a group of phrases that mean the same."""
    return Group(f"own:{number}", tuple(Phrase(one, "own") for one in phrases))


LEXICON = Lexicon(
    (
        group(1, "fever", "pyrexia", "high temperature"),
        group(2, "no fever", "afebrile", "denies fever"),
        group(3, "fatigue", "no energy", "tired"),
        group(4, "faint", "pass out"),
    )
)


def names_of(text: str) -> FeatureNames:
    """Return the names of a feature."""
    return read_names(read_requirement(text), LEXICON)


def places_of(text: str) -> StemPlaces:
    """Return the places of a text's stems."""
    reading = read_columns(text)
    return StemPlaces([root(token.form) for token in reading.tokens], reading)


def test_synonyms_stand_for_the_words_of_the_feature() -> None:
    places = places_of("pyrexia, then high temperature")
    assert places.meant(names_of("Fever"), [0]) == {"fever"}
    assert places.meant(names_of("Fever"), [3, 4]) == {"fever"}
    assert places.meant(names_of("Fever"), [3]) == frozenset()


def test_particles_belong_to_their_verbs() -> None:
    assert ("pas", "out") in names_of("Faint").phrases


def test_what_says_the_contrary_of_a_feature() -> None:
    assert names_of("Fever").opposites == [("afebril",)]
    assert names_of("No fever").opposites == []
    assert names_of("No fever").same == [("afebril",)]


def test_the_rest_of_a_word_that_denies_itself_is_there_too() -> None:
    assert places_of("is a nonsmoker").at[root("smoker")] == [2]


@pytest.mark.parametrize(
    ("text", "tokens", "said"),
    [
        ("has no energy", [2], True),
        ("has energy", [1], False),
        ("no trouble with energy", [3], False),
        ("not tired, no energy", [1], False),
    ],
)
def test_some_things_are_said_by_denying_others(text: str, tokens: list[int], said: bool) -> None:
    names, places = names_of("Fatigue"), places_of(text)
    assert places.said_by_denial(names, tokens) is said
    assert places.says_all(names, tokens) is said
