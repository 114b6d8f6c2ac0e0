"""Short lines that state a feature, contradict it or do neither, from all of medicine.

``probes.tsv`` has a feature, an outcome and a note in each row. "Not credited" is for lines of
relatives, plans, warnings and tests: whether these contradict a feature or do not speak of it is
left open. Not all rows are answered rightly; the shares below may rise and must not fall.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from rubricate import Feature
from rubricate.matchers.lexicon.matcher import findings_from_rubric
from rubricate.rubric import Rubric

PROBES = Path(__file__).with_name("probes.tsv")
#: The least share of right answers for each outcome.
FLOORS = {"stated": 0.95, "contradicted": 0.86, "not mentioned": 0.9, "not credited": 0.94}
#: At most so many of the lines that do not state a feature earn its credit.
MOST_CREDITED = 0.045


@cache
def answers() -> list[tuple[str, str, str, str]]:
    """Return feature, outcome, note and what the matcher says of it."""
    with PROBES.open(encoding="utf-8", newline="") as stream:
        rows = [tuple(row.values()) for row in csv.DictReader(stream, delimiter="\t")]
    notes: dict[str, list[tuple[str, str]]] = {}
    for feature, outcome, note in rows:
        notes.setdefault(feature, []).append((outcome, note))
    found = []
    for feature, own in notes.items():
        rubric = Rubric("c", (Feature("1", "c", feature),))
        for (outcome, note), said in zip(
            own, findings_from_rubric(rubric, [note for _, note in own]), strict=True
        ):
            answer = "contradicted" if "1" in said.contradictions else "not mentioned"
            found.append((feature, outcome, note, "stated" if said.found else answer))
    return found


def test_there_are_many_probes() -> None:
    counts = Counter(outcome for _, outcome, _, _ in answers())
    assert sum(counts.values()) >= 300
    assert counts.keys() == FLOORS.keys()


@pytest.mark.parametrize("outcome", FLOORS)
def test_answers_are_right(outcome: str) -> None:
    own = [row for row in answers() if row[1] == outcome]
    wrong = [
        row
        for row in own
        if (row[3] == "stated" if outcome == "not credited" else row[3] != outcome)
    ]
    assert 1 - len(wrong) / len(own) >= FLOORS[outcome], wrong


def test_few_lines_earn_credit_that_do_not_state_the_feature() -> None:
    others = [row for row in answers() if row[1] != "stated"]
    credited = [row for row in others if row[3] == "stated"]
    assert len(credited) / len(others) <= MOST_CREDITED, credited


@pytest.mark.parametrize(
    ("feature", "note", "outcome"),
    [
        ("Weight loss", "No weight loss.", "contradicted"),
        ("Loss of consciousness", "No LOC.", "contradicted"),
        ("Loss of appetite", "Denies any loss of appetite.", "contradicted"),
        ("Smoker", "Nonsmoker.", "contradicted"),
        ("Smoker", "Non-smoker.", "contradicted"),
        ("Fever", "Apyrexial throughout.", "contradicted"),
        ("Alcohol use", "Teetotal.", "contradicted"),
        ("Pulmonary embolism", "PE: NAD.", "not mentioned"),
        ("Pulmonary embolism", "PE in 2019, on apixaban since.", "stated"),
        ("Rheumatoid arthritis", "SpO2 98% RA.", "not mentioned"),
        ("No fever", "High temp for two days.", "contradicted"),
        ("No fever", "Afebrile.", "stated"),
        ("Constipation", "No bowel movement for 5 days.", "stated"),
    ],
)
def test_these_lines_are_read_rightly(feature: str, note: str, outcome: str) -> None:
    said = {(a, c): d for a, _, c, d in answers()}
    assert said[feature, note] == outcome
