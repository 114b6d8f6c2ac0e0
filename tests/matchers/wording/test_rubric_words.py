"""Equivalents of a rubric's words: parts of medical words, and synonyms as wholes."""

from __future__ import annotations

import numpy as np
import pytest

from rubricate import Feature, Rubric
from rubricate.matchers.wording import rubric_words
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.matchers.wording.shared import default_shared
from rubricate.matchers.wording.synonyms import parts_of
from rubricate.reading.tokens import root


def words_of(feature: str) -> RubricWords:
    return default_shared().prepare(Rubric("c", (Feature("0", "c", feature),))).words


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Removal of the spleen", "splenectomy"),
        ("Enlarged spleen", "splenomegaly"),
        ("Inflamed gum", "gingivitis"),
        ("Painful tongue", "glossodynia"),
        ("Eyelid droop", "blepharoptosis"),
    ],
)
def test_a_medical_word_stands_for_what_its_parts_mean(asked: str, said: str) -> None:
    words = words_of(asked)
    assert words.compare([root(said)])[1].min() > 0.9, words.words


def test_lay_words_are_parts_of_a_medical_word_asked_for() -> None:
    words = words_of("Pneumonectomy")
    assert words.compare([root("lung")])[1].max() == 0.5
    assert words.compare([root("spleen")])[1].max() == 0


@pytest.mark.parametrize("word", ["colour", "painful", "heart", "office", "meadow"])
def test_plain_words_have_no_parts(word: str) -> None:
    assert parts_of(root(word)) == ()


def test_a_synonym_of_several_words_counts_as_a_whole_only_where_all_stand_together() -> None:
    words = words_of("Tinnitus")
    together = ["he", "hear", "ring", "in", "the", "ear"]
    apart = ["ring", "on", "his", "fing", "and", "some", "wax", "in", "one", "ear"]
    for stems, whole in ((together, True), (apart, False)):
        alike = words.worth(stems, np.zeros(len(stems), dtype=np.bool_)).alike
        assert bool(alike[stems.index("ear")].max() > 0.8) is whole


def test_what_stems_are_worth_is_the_same_however_many_were_seen_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stems = ["he", "hear", "ring", "in", "the", "ear"]
    stop = np.zeros(len(stems), dtype=np.bool_)
    fresh = words_of("Tinnitus").worth(stems, stop)
    monkeypatch.setattr(rubric_words, "MOST_STEMS", 8)
    words = words_of("Tinnitus")
    for k in range(5):
        words.worth([f"other{k}", f"more{k}", "ear"], stop[:3])
    for known, again in zip(fresh, words.worth(stems, stop), strict=True):
        assert np.array_equal(known, again)
    assert np.array_equal(words.strength(stems, stop), fresh.strength)
    assert np.array_equal(words.closest("ear"), words_of("Tinnitus").closest("ear"))
