"""Drugs that a note's plan begins."""

from __future__ import annotations

import pytest

from rubricate.text.contradiction.place import read_text
from rubricate.text.started import find_started


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
    found = [text[slice(*span)] for span in find_started(feature, read_text(text))]
    assert found == ([words] if words else [])
