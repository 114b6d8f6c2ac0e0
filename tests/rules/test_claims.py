"""Proposals held to the values, times, tests and diagnoses that a note gives."""

from __future__ import annotations

import pytest

from rubricate.rules.adjudicate import FINAL, adjudicate
from rubricate.rules.claims import Item, every_claim
from rubricate.rules.findings import Against, Candidate, ItemFinding, Proposal
from rubricate.rules.reasons import Reason, switched_off


def held(feature: str, text: str, words: list[str], chance: float = 0.6) -> ItemFinding:
    spans = [((text.index(one), text.index(one) + len(one)),) for one in words]
    own = tuple(Candidate(one, 0.9, ()) for one in spans)
    item = Item.of(feature, text)
    return adjudicate(
        Proposal(own, chance), item.ask, "network", questions=item.questions, before=FINAL
    )


@pytest.mark.parametrize(
    ("feature", "words", "reason"),
    [
        ("Pain for two weeks", ["knee pain for 3 months"], Reason("value.number", "3 months")),
        ("Left knee pain", ["right knee pain"], Reason("side.other", "right")),
        ("Pain for 3 months", ["knee pain for 3 months"], None),
        ("Pain for two weeks", ["knee pain for 3 months", "swelling"], None),
        ("Knee pain", ["knee pain for 3 months"], None),
        ("Pain for two weeks", [], None),
        ("Beta blocker", ["Norvasc"], Reason("drug.class", "calcium channel blocker")),
        ("Calcium channel blocker", ["Norvasc"], None),
    ],
)
def test_another_number_side_or_drug_in_all_that_is_found_is_no_credit(
    feature: str, words: list[str], reason: Reason | None
) -> None:
    text = "He has right knee pain for 3 months. Now swelling too. Takes Norvasc."
    said = held(feature, text, words)
    if reason is None:
        assert len(said.evidence) == len(words)
        assert said.against is None
    else:
        start = text.index(words[0])
        spans = ((start, start + len(words[0])),)
        assert said.against == Against(spans, None, (reason,))
        assert not said.evidence
        assert (said.probability or 0.0) < 0.1


def test_what_was_done_before_states_nothing_of_what_is_done_now() -> None:
    text = "BNP 40 in Jan. Chest film last year clear, repeat it today."
    said = held("Orders BNP", text, ["BNP 40 in Jan"], 0.9)
    assert said.outcome == "not mentioned"
    assert (said.probability or 0.0) < 0.1
    assert held("BNP measured", text, ["BNP 40 in Jan"], 0.9).evidence
    assert held("Chest X-ray ordered", text, ["Chest film"], 0.9).evidence


def test_of_what_was_before_and_is_now_only_the_latter_is_evidence() -> None:
    text = "Echo 2019 normal. Echo this week for the new murmur."
    said = held("Orders echocardiogram", text, ["Echo 2019", "Echo this week"], 0.9)
    assert [one.spans for one in said.evidence] == [((18, 32),)]


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
    assert [text[slice(*span)] for one in said.evidence for span in one.spans] == kept
    against = said.against and text[slice(*said.against.spans[0])]
    assert against == denied
    assert kept or (said.probability or 0.0) < 0.1


def test_words_that_name_another_test_are_no_credit_and_no_contradiction() -> None:
    said = held("CBC ordered", "Plan: BMP, UA", ["BMP, UA"])
    assert not said.evidence
    assert said.against is None
    assert (said.probability or 0.0) < 0.1


def test_a_test_that_is_not_to_be_done_is_contradicted() -> None:
    said = held("D-dimer ordered", "Skip dimer, CTPA now", ["Skip dimer"])
    assert not said.evidence
    assert said.against == Against(((0, 10),), None, (Reason("test.refused"),))


@pytest.mark.parametrize("words", [[], ["gynae reg"]])
def test_a_test_that_the_plan_orders_is_found_by_any_name(words: list[str]) -> None:
    said = held("Pelvic ultrasound ordered", "Plan: TVUS, gynae reg aware", words, 0.1)
    assert [one.spans for one in said.evidence] == [((6, 10),)]
    assert (said.probability or 0.0) > 0.9


def test_what_was_found_of_an_ordered_test_stays_as_it_is() -> None:
    said = held("CBC ordered", "Plan: CBC today", ["CBC today"])
    assert [one.spans for one in said.evidence] == [((6, 15),)]


def test_a_drug_that_the_plan_begins_is_found() -> None:
    text = "Chest pain. PLAN: heparin gtt, metoprolol"
    said = held("Starts beta blocker", text, [], 0.3)
    assert [text[slice(*one.spans[0])] for one in said.evidence] == ["metoprolol"]
    assert (said.probability or 0.0) > 0.9
    kept = held("Starts beta blocker", text, ["gtt, metoprolol"], 0.3)
    assert [one.spans for one in kept.evidence] == [((26, 41),)]


def test_a_value_states_what_nothing_else_was_found_for() -> None:
    said = held("Hypoxia", "SpO2 86% on air", [], 0.2)
    assert [one.spans for one in said.evidence] == [((0, 8),)]
    assert (said.probability or 0.0) > 0.9


@pytest.mark.parametrize("words", [["HR 118 BP"], ["24"], ["HR 118", "24"]])
def test_where_only_values_were_found_the_one_that_states_is_the_evidence(words: list[str]) -> None:
    said = held("Tachycardia", "HR 118 BP 122/78 RR 24", words, 0.4)
    assert [one.spans for one in said.evidence] == [((0, 6),)]
    assert (said.probability or 0.0) > 0.9
    both = held("Fever OR chills", "T 39.1 C, rigors", ["T 39.1", "rigors"])
    assert {one.spans for one in both.evidence} == {((0, 8),), ((10, 16),)}
    worded = held("Tachycardia", "Tachycardic at 118, RR 24", ["Tachycardic at 118"], 0.4)
    assert [one.spans for one in worded.evidence] == [((0, 18),)]


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
    found = held(feature, text, words).evidence
    assert [text[slice(*one.spans[0])] for one in found] == kept


def test_a_value_contradicts_bare_values_and_nothing_but_not_words() -> None:
    text = "Had fever at home. T 36.6, HR 80"
    for words in ([], ["T 36.6"], ["HR 80"]):
        said = held("Fever", text, words)
        assert not said.evidence
        assert said.against is not None
        assert said.against.reasons == (Reason("value.measured", "T 36.6"),)
    assert held("Fever", text, ["fever at home"]).evidence


def test_a_rule_that_is_switched_off_makes_no_claim() -> None:
    assert held("Tachycardia", "HR 118", [], 0.2).decided_by == "measured.states"
    with switched_off("measured.states"):
        assert held("Tachycardia", "HR 118", [], 0.2) == ItemFinding((), 0.2, None)


def test_what_gives_the_number_asked_for_is_no_contradiction() -> None:
    text = "LMP 49 days ago"
    item = Item.of("Last period 7 weeks ago", text)
    network = Against(((0, len(text)),), 0.99, ())
    proposal = Proposal((), 0.2, network)
    said = adjudicate(proposal, item.ask, "network", questions=item.questions)
    assert (said.outcome, said.decided_by) == ("stated", "number.same")


def test_claims_come_in_the_order_of_the_table() -> None:
    text = "Left knee pain for 3 months"
    item = Item.of("Right knee pain for 2 weeks", text)
    own = Candidate(((0, len(text)),), 0.9, ())
    said = [one.rule for one in every_claim(item, [own], None)]
    assert said == ["value.number", "side.other"]
