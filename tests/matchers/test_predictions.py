"""Findings held to the values that a note gives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rubricate import CorpusBuilder, Feature, Note, Rubric
from rubricate.matchers.predictions import (
    Found,
    NoteFindings,
    hold_to_values,
    in_plain_words,
    predict_corpus,
    take_answers,
)
from rubricate.rows import Contradiction
from rubricate.text.contradiction.place import read_text


def held(feature: str, text: str, words: list[str], chance: float = 0.6) -> NoteFindings:
    rubric = Rubric("c", (Feature("1", "c", feature),))
    spans = [((text.index(one), text.index(one) + len(one)),) for one in words]
    found = [Found("1", one, 0.9, "") for one in spans]
    return hold_to_values(rubric, read_text(text), NoteFindings(found, {"1": chance}))


@pytest.mark.parametrize(
    ("feature", "words", "reason"),
    [
        ("Pain for two weeks", ["knee pain for 3 months"], "says 3 months"),
        ("Left knee pain", ["right knee pain"], "says right"),
        ("Pain for 3 months", ["knee pain for 3 months"], None),
        ("Pain for two weeks", ["knee pain for 3 months", "swelling"], None),
        ("Knee pain", ["knee pain for 3 months"], None),
        ("Pain for two weeks", [], None),
        ("Beta blocker", ["Norvasc"], "another drug class: calcium channel blocker"),
        ("Calcium channel blocker", ["Norvasc"], None),
    ],
)
def test_another_number_side_or_drug_in_all_that_is_found_is_no_credit(
    feature: str, words: list[str], reason: str | None
) -> None:
    text = "He has right knee pain for 3 months. Now swelling too. Takes Norvasc."
    said = held(feature, text, words)
    if reason is None:
        assert len(said.found) == len(words)
        assert not said.contradictions
    else:
        start = text.index(words[0])
        spans = ((start, start + len(words[0])),)
        assert said.contradictions["1"] == Contradiction(spans, None, reason)
        assert not said.found
        assert said.probabilities["1"] < 0.1


def test_words_that_name_another_test_are_no_credit_and_no_contradiction() -> None:
    said = held("CBC ordered", "Plan: BMP, UA", ["BMP, UA"])
    assert not said.found
    assert not said.contradictions
    assert said.probabilities["1"] < 0.1


def test_a_test_that_is_not_to_be_done_is_contradicted() -> None:
    said = held("D-dimer ordered", "Skip dimer, CTPA now", ["Skip dimer"])
    assert not said.found
    assert said.contradictions["1"].spans == ((0, 10),)


@pytest.mark.parametrize("words", [[], ["gynae reg"]])
def test_a_test_that_the_plan_orders_is_found_by_any_name(words: list[str]) -> None:
    said = held("Pelvic ultrasound ordered", "Plan: TVUS, gynae reg aware", words, 0.1)
    assert [one.spans for one in said.found] == [((6, 10),)]
    assert said.probabilities["1"] > 0.9


def test_what_was_found_of_an_ordered_test_stays_as_it_is() -> None:
    said = held("CBC ordered", "Plan: CBC today", ["CBC today"])
    assert [one.spans for one in said.found] == [((6, 15),)]


def test_a_value_states_what_nothing_else_was_found_for() -> None:
    said = held("Hypoxia", "SpO2 86% on air", [], 0.2)
    assert [one.spans for one in said.found] == [((0, 8),)]
    assert said.probabilities["1"] > 0.9


@pytest.mark.parametrize("words", [["HR 118 BP"], ["24"], ["HR 118", "24"]])
def test_where_only_values_were_found_the_one_that_states_is_the_evidence(words: list[str]) -> None:
    said = held("Tachycardia", "HR 118 BP 122/78 RR 24", words, 0.4)
    assert [one.spans for one in said.found] == [((0, 6),)]
    assert said.probabilities["1"] > 0.9
    both = held("Fever OR chills", "T 39.1 C, rigors", ["T 39.1", "rigors"])
    assert {one.spans for one in both.found} == {((0, 8),), ((10, 16),)}
    worded = held("Tachycardia", "Tachycardic at 118, RR 24", ["Tachycardic at 118"], 0.4)
    assert [one.spans for one in worded.found] == [((0, 18),)]


@pytest.mark.parametrize(
    ("feature", "words", "kept"),
    [
        ("Long-sighted", ["plus lenses", "6", "+"], ["plus lenses"]),
        ("Long-sighted", ["6"], ["6"]),
        ("Long-sighted", ["plus lenses", "OD 6"], ["plus lenses", "OD 6"]),
        ("Aged six", ["plus lenses", "6"], ["plus lenses", "6"]),
        ("6 lenses", ["plus lenses", "6"], ["plus lenses", "6"]),
    ],
)
def test_crumbs_beside_words_are_no_evidence(
    feature: str, words: list[str], kept: list[str]
) -> None:
    text = "wears plus lenses, OD 6, +4"
    found = held(feature, text, words).found
    assert [text[slice(*one.spans[0])] for one in found] == kept


def test_a_value_contradicts_bare_values_and_nothing_but_not_words() -> None:
    text = "Had fever at home. T 36.6, HR 80"
    for words in ([], ["T 36.6"], ["HR 80"]):
        said = held("Fever", text, words)
        assert not said.found
        assert said.contradictions["1"].reason == "says T 36.6"
    assert held("Fever", text, ["fever at home"]).found


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
