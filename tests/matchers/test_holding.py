"""Findings held to the values, times, tests and diagnoses that a note gives."""

from __future__ import annotations

import pytest

from rubricate import Feature, Rubric
from rubricate.matchers.holding import hold_to_values
from rubricate.matchers.predictions import Found, NoteFindings
from rubricate.reading.note import read_note
from rubricate.rows import Contradiction


def held(feature: str, text: str, words: list[str], chance: float = 0.6) -> NoteFindings:
    rubric = Rubric("c", (Feature("1", "c", feature),))
    spans = [((text.index(one), text.index(one) + len(one)),) for one in words]
    found = [Found("1", one, 0.9, "") for one in spans]
    return hold_to_values(rubric, read_note(text), NoteFindings(found, {"1": chance}))


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


def test_what_was_done_before_states_nothing_of_what_is_done_now() -> None:
    text = "BNP 40 in Jan. Chest film last year clear, repeat it today."
    said = held("Orders BNP", text, ["BNP 40 in Jan"], 0.9)
    assert (said.found, said.contradictions) == ([], {})
    assert said.probabilities["1"] < 0.1
    assert held("BNP measured", text, ["BNP 40 in Jan"], 0.9).found
    assert held("Chest X-ray ordered", text, ["Chest film"], 0.9).found


def test_of_what_was_before_and_is_now_only_the_latter_is_evidence() -> None:
    text = "Echo 2019 normal. Echo this week for the new murmur."
    said = held("Orders echocardiogram", text, ["Echo 2019", "Echo this week"], 0.9)
    assert [one.spans for one in said.found] == [((18, 32),)]


@pytest.mark.parametrize(
    ("feature", "words", "kept", "denied"),
    [
        ("Differential: PUD", ["GERD", "gastritis"], [], None),
        ("Differential: GERD", ["GERD", "gastritis"], ["GERD"], None),
        ("Differential: pneumonia", ["pneumonia 2019"], [], None),
        ("Differential: reflux", ["pneumonia 2019"], ["GERD"], None),
        ("Differential: PE", ["PE"], [], "PE"),
        ("History of pneumonia", ["pneumonia 2019"], ["pneumonia 2019"], None),
        ("History of asthma", ["pneumonia 2019"], [], None),
    ],
)
def test_other_diagnoses_state_nothing_and_are_no_contradiction(
    feature: str, words: list[str], kept: list[str], denied: str | None
) -> None:
    text = "PMH: pneumonia 2019\nA: GERD, gastritis. PE ruled out."
    said = held(feature, text, words)
    assert [text[slice(*span)] for one in said.found for span in one.spans] == kept
    assert [text[slice(*x.spans[0])] for x in said.contradictions.values()] == [
        one for one in [denied] if one
    ]
    assert kept or said.probabilities["1"] < 0.1


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


def test_a_drug_that_the_plan_begins_is_found() -> None:
    text = "Chest pain. PLAN: heparin gtt, metoprolol"
    said = held("Starts beta blocker", text, [], 0.3)
    assert [text[slice(*one.spans[0])] for one in said.found] == ["metoprolol"]
    assert said.probabilities["1"] > 0.9
    kept = held("Starts beta blocker", text, ["gtt, metoprolol"], 0.3)
    assert [one.spans for one in kept.found] == [((26, 41),)]


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
