"""Short lines that state a feature, contradict it or do neither, from all of medicine.

The cases ``lines.tsv`` of the rules have a feature, a note and an outcome in each row. "Not credited" is for lines of
relatives, plans, warnings and tests: whether these contradict a feature or do not speak of it is
left open. Not all rows are answered rightly; the shares below may rise and must not fall.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from rubricate.effects.cases import LINES, judge_cases, read_cases

#: The least share of right answers for each outcome.
FLOORS = {"stated": 0.95, "contradicted": 0.86, "not mentioned": 0.9, "not credited": 0.94}
#: At most so many of the lines that do not state a feature earn its credit.
MOST_CREDITED = 0.045


@cache
def answers() -> list[tuple[str, str, str, str]]:
    """Return feature, outcome, note and what the matcher says of it."""
    return [
        (one.case.feature, one.case.verdict, one.case.note, one.verdict)
        for one in judge_cases(read_cases(LINES))
    ]


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
