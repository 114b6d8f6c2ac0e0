"""Effects of a note's plan: drugs begun, advice when to come back."""

from __future__ import annotations

import pytest

from rubricate.files import packaged_text
from rubricate.reading.note import read_note
from rubricate.requirement.requirement import read_requirement
from rubricate.rules.plan import find_planned, only_goes_on


@pytest.mark.parametrize(
    ("feature", "text", "words"),
    [
        ("Starts beta blocker", "CP. PLAN: ASA 325, heparin gtt, metoprolol, echo", "metoprolol"),
        ("Starts anticoagulation", "PLAN: ASA 325, heparin gtt, metoprolol", "heparin"),
        ("Prescribes an antibiotic", "UTI. Plan: nitrofurantoin 100 bid x5d", "nitrofurantoin"),
        ("Statin started", "P: atorva 80, A1c", "atorva"),
        ("Statin started", "P: atorvastatin 80, A1c", "atorvastatin"),
        ("Starts beta blocker", "Takes metoprolol. Plan: metoprolol 50, echo", None),
        ("Starts beta blocker", "Plan: hold metoprolol, echo", None),
        ("Starts beta blocker", "Plan: metoprolol if BP allows", None),
        ("Starts beta blocker", "Plan: continue metoprolol", None),
        ("Starts beta blocker", "Plan: metoprolol leaflet", None),
        ("Starts beta blocker", "HPI: metoprolol, aspirin", None),
        ("Starts beta blocker", "Plan: lisinopril, aspirin", None),
        ("Beta blocker use", "Plan: metoprolol, aspirin", None),
        ("Stops beta blocker", "Plan: metoprolol, aspirin", None),
        ("Starts beta blocker for migraine", "Plan: metoprolol, aspirin", None),
    ],
)
def test_what_the_plan_begins(feature: str, text: str, words: str | None) -> None:
    found = [
        text[slice(*span)] for span in find_planned(read_requirement(feature), read_note(text))
    ]
    assert found == ([words] if words else [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plan: abx, RTC if fever or flank pain. Thanks", "RTC if fever or flank pain"),
        ("Return if trouble breathing.", "Return if trouble breathing"),
        ("ED precautions discussed. F/u 1 wk.", "ED precautions discussed"),
        ("call if vision changes", "call if vision changes"),
        ("Mum told to bring him back if not drinking", "bring him back if not drinking"),
        ("safety netted", "safety netted"),
        ("Seen in the ER for chest pain. Returned from Kenya.", None),
        ("He was called for surgery. f/u 2 wks", None),
        ("999 called for transfer to ED now", None),
        ("I should be grateful if you would see him", None),
    ],
)
def test_advice_when_to_come_back(text: str, words: str | None) -> None:
    found = [
        text[slice(*x)]
        for x in find_planned(read_requirement("Return precautions given"), read_note(text))
    ]
    assert found == ([words] if words else [])


def test_other_features_of_coming_back_are_others() -> None:
    assert read_requirement("Provides safety-net advice").wants_return_advice
    assert read_requirement("Advises patient when to return").wants_return_advice
    assert not read_requirement("Returned to work").wants_return_advice
    assert not read_requirement("Return precautions: new flashes or floaters").wants_return_advice
    assert not read_requirement("Hip precautions reviewed").wants_return_advice


def test_every_word_for_going_on_keeps_a_drug_from_being_begun() -> None:
    for line in packaged_text("knowledge", "continued.tsv").split("\n")[1:]:
        if line:
            _, example = line.split("\t")
            text = example.replace("{", "").replace("}", "")
            start = example.index("{")
            assert only_goes_on(
                read_requirement("Starts lisinopril"), read_note(text), [(start, start + 10)]
            ), line
            assert not only_goes_on(
                read_requirement("Lisinopril"), read_note(text), [(start, start + 10)]
            ), line
