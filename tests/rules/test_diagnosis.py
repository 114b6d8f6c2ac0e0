"""Diagnoses that a note considers, denies, or names as past or another's."""

from __future__ import annotations

import pytest

from rubricate.reading.note import read_note
from rubricate.requirement.diagnoses import asked_diagnoses
from rubricate.requirement.requirement import read_requirement
from rubricate.rules.diagnosis import another_diagnosis, judge_assessed, judge_diagnosis


def said_of(feature: str, text: str) -> dict[str, list[str]]:
    found = judge_assessed(read_requirement(feature), read_note(text))._asdict()
    return {kind: [text[a:b] for a, b in spans] for kind, spans in found.items() if spans}


@pytest.mark.parametrize(
    ("feature", "asks"),
    [
        ("History of asthma", True),
        ("Differential: PUD OR gastritis", True),
        ("Mother with breast cancer", True),
        ("Asthma since childhood", False),
        ("No asthma", False),
        ("Syncope", False),
        ("Insulin for diabetes", False),
    ],
)
def test_what_asks_for_nothing_but_a_diagnosis(feature: str, asks: bool) -> None:
    assert bool(asked_diagnoses(feature)) is asks


@pytest.mark.parametrize(
    ("feature", "words", "other"),
    [
        ("Differential: PUD", "GERD, gastritis", True),
        ("Differential: PUD", "dyspepsia", False),
        ("Differential: ACS", "NSTEMI", False),
        ("History of asthma", "COPD", True),
        ("History of asthma", "COPD with wheeze and an inhaler", False),
        ("Family history of breast cancer", "mother had ovarian cancer", True),
        ("Heart disease", "prior MI", False),
        ("Thyroid disease", "goitre", False),
        ("Stroke", "brother died of leukaemia", True),
    ],
)
def test_words_that_name_only_other_diagnoses(feature: str, words: str, other: bool) -> None:
    said = another_diagnosis(read_requirement(feature), read_note(words), [(0, len(words))])
    assert (said is not None) is other


@pytest.mark.parametrize(
    ("feature", "text", "said"),
    [
        ("Differential: PE", "A: r/o PE", {"considered": ["PE"]}),
        ("Differential: PE", "ddx: ?PE, pneumonia", {"considered": ["PE"]}),
        ("Differential: PE", "PE less likely", {"considered": ["PE"]}),
        ("Differential: PE", "Concern for PE.", {"considered": ["PE"]}),
        ("Differential: PE", "Cannot exclude PE.", {"considered": ["PE"]}),
        ("Differential: PE", "pneumonia vs PE", {"considered": ["PE"]}),
        ("Differential: PE", "PE ruled out by CTPA", {"denied": ["PE"]}),
        ("Differential: PE", "A: no evidence of PE", {"denied": ["PE"]}),
        ("Differential: PE", "PMH: PE 2014\nA: COPD flare", {"elsewhere": ["PE"]}),
        ("Differential: PE", "A: dyspnea. Father had a PE", {"elsewhere": ["PE"]}),
        ("Differential: asthma", "Asthma as a child. A: GERD", {"elsewhere": ["Asthma"]}),
        ("Differential: asthma", "His wife's asthma is likely worse", {"elsewhere": ["asthma"]}),
        ("Differential: pneumonia", "A: CAP", {"considered": ["CAP"]}),
        ("Differential: GERD", "I think this is acid reflux.", {"considered": ["acid reflux"]}),
        ("Diagnosis: asthma", "A: asthma, GERD", {"considered": ["asthma"]}),
        ("Diagnosis: GERD", "A: asthma, GERD", {"unclear": ["GERD"]}),
        ("Diagnosis: GERD", "A: asthma; GERD less likely", {"elsewhere": ["GERD"]}),
        ("Diagnosis: GERD", "A: asthma vs GERD, GERD most likely",
         {"unclear": ["GERD"], "considered": ["GERD"]}),
        ("GERD", "A: GERD", {}),
    ],
)  # fmt: skip
def test_what_an_assessment_says(feature: str, text: str, said: dict[str, list[str]]) -> None:
    assert said_of(feature, text) == said


def test_words_beside_an_assessment_are_not_kept() -> None:
    text = "Loose stools for a week.\nA: IBS"
    reading, words = read_note(text), [(0, 12)]
    said = judge_diagnosis(read_requirement("Differential: coeliac disease"), reading, [words])
    assert said is not None
    assert said.kept == (False,)
    said = judge_diagnosis(read_requirement("Differential: irritable bowel"), reading, [words])
    assert said is not None
    assert [text[a:b] for a, b in said.states] == ["IBS"]
    assert judge_diagnosis(read_requirement("Loose stools"), reading, [words]) is None


@pytest.mark.parametrize(
    ("feature", "text", "stated"),
    [
        ("Diagnoses cystitis", "Assessment: Acute uncomplicated cystitis.", True),
        ("Diagnosis of acute cystitis", "Dx: cystitis", True),
        ("Diagnoses cystitis", "Assessment: pyelonephritis", False),
        ("Diagnoses viral hepatitis", "A: alcoholic hepatitis", False),
    ],
)
def test_a_kind_is_stated_by_its_name_with_further_words(
    feature: str, text: str, stated: bool
) -> None:
    assert bool(judge_assessed(read_requirement(feature), read_note(text)).considered) is stated
