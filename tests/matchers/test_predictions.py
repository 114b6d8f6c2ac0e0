"""From what was found in notes to a corpus with one annotator."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rubricate import CorpusBuilder, Feature, Note, Rubric
from rubricate.matchers.predictions import (
    Found,
    NoteFindings,
    in_plain_words,
    predict_corpus,
    take_answers,
)
from rubricate.rows import Contradiction


@pytest.mark.parametrize(
    ("feature", "asks"),
    [
        ("Last menstrual period (LMP) asked", True),
        ("Asks about alcohol", True),
        ("Candidate enquires about travel", True),
        ("Family history obtained", True),
        ("Allergies documented", True),
        ("Patient asked", False),
        ("Asks for a scan", False),
        ("Attends because family asked", False),
        ("Fever documented", False),
        ("Aspirin taken", False),
    ],
)
def test_a_denial_answers_features_that_want_to_know_who_asked(feature: str, asks: bool) -> None:
    rubric = Rubric("c", (Feature("1", "c", feature),))
    said = NoteFindings([], {"1": 0.1}, {"1": Contradiction(((0, 7),), None, "denied")})
    found = take_answers(rubric, "nothing at all", said)
    assert bool(found.found) is asks
    assert bool(found.contradictions) is not asks
    assert (found.probabilities["1"] > 0.5) is asks


def test_what_was_not_asked_is_no_answer() -> None:
    rubric = Rubric("c", (Feature("1", "c", "Smoking history asked"),))
    said = NoteFindings([], {"1": 0.1}, {"1": Contradiction(((0, 17),), 0.9, "denied")})
    assert take_answers(rubric, "Smoking not asked.", said) == said


def test_what_was_found_as_not_asked_is_no_answer() -> None:
    rubric = Rubric("c", (Feature("1", "c", "Smoking history asked"),))
    said = NoteFindings([Found("1", ((0, 17),), 0.9, "words")], {"1": 0.9})
    found = take_answers(rubric, "Smoking not asked.", said)
    assert not found.found
    assert found.probabilities["1"] < 0.5


def test_features_are_put_in_plain_words_unless_they_are_known() -> None:
    rubric = Rubric("c", (Feature("1", "c", "1. Fever"), Feature("2", "c", "2. Cough - 1 pt")))
    assert [one.text for one in in_plain_words(rubric, lambda one: False)] == ["Fever", "Cough"]
    assert [one.text for one in in_plain_words(rubric, lambda one: one.id == "2")] == [
        "Fever",
        "2. Cough - 1 pt",
    ]
    assert in_plain_words(rubric, lambda one: True) is rubric


def test_predictions_keep_the_rubrics_own_wording() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "Fever."))
    builder.add_feature(Feature("1", "c", "1. Documents fever"))
    corpus = builder.build()
    asked: list[str] = []

    def find(rubric: Rubric, notes: Sequence[Note]) -> list[NoteFindings]:
        asked.extend(feature.text for feature in rubric)
        return [NoteFindings([], {}) for _ in notes]

    predicted = predict_corpus(corpus, "m", find, lambda feature: False)
    assert asked == ["fever"]
    assert [feature.text for feature in predicted.features] == ["1. Documents fever"]
    predict_corpus(corpus, "m", find)
    assert asked[1:] == ["1. Documents fever"]
