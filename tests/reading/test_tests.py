"""Investigations by their names, groups, panels and what they show."""

from __future__ import annotations

import pytest

from rubricate.reading.tests import (
    investigations,
    may_be,
    named_tests,
    states,
)


def test_groups_and_contents_are_tests_of_the_table() -> None:
    table = investigations()
    named = {name for one in table.values() for name in (*one.broader, *one.contains)}
    assert named <= set(table)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("complete blood count", "FBC"),
        ("complete blood count", "cbc w/ diff"),
        ("thyroid function", "TSH, fT4"),
        ("liver enzymes", "LFTs"),
        ("liver enzymes", "CMP"),
        ("electrolytes", "BMP"),
        ("basic metabolic panel", "U&Es"),
        ("glucose", "Chem 7"),
        ("pregnancy test", "β-hCG"),
        ("chest imaging", "CXR"),
        ("chest imaging", "low-dose CT of the chest"),
        ("chest x-ray", "x-rays of the chest"),
        ("neuroimaging", "MRI of the brain"),
        ("head CT", "NCCT brain"),
        ("pelvic ultrasound", "TVUS"),
        ("abdominal imaging", "RUQ US"),
        ("CT abdomen", "CT chest/abdomen/pelvis"),
        ("spine MRI", "MRI L-spine"),
        ("inflammatory markers", "sed rate"),
        ("coagulation studies", "PT/INR"),
        ("endoscopy", "OGD"),
        ("H. pylori test", "urea breath test"),
        ("STI testing", "GC/CT NAAT"),
        ("bowel cancer screening", "FIT test"),
    ],
)
def test_another_name_a_kind_or_a_panel_states_a_test(asked: str, said: str) -> None:
    (wanted,) = named_tests(asked)
    assert any(states(wanted, one) for one in named_tests(said))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("CBC", "BMP, UA"),
        ("blood culture", "FBC"),
        ("iron studies", "TFTs, FBC"),
        ("chest imaging", "CT abdomen"),
        ("head CT", "MRI brain"),
        ("CT abdomen", "CT pelvis"),
        ("lumbar MRI", "lumbar x-ray, MRI brain"),
        ("pelvic ultrasound", "renal US"),
        ("kidney function", "renal US, UA"),
        ("ERCP", "MRCP"),
        ("colonoscopy", "EGD"),
        ("liver enzymes", "BMP"),
        ("CRP", "CRPS"),
    ],
)
def test_other_tests_cannot_be_the_one_asked_for(asked: str, said: str) -> None:
    (wanted,) = named_tests(asked)
    assert not any(may_be(wanted, one) for one in named_tests(said))


@pytest.mark.parametrize(
    ("asked", "said"),
    [("CBC", "labs"), ("lumbar MRI", "MRI"), ("CT head", "imaging"), ("CMP", "electrolytes")],
)
def test_a_broader_name_or_a_part_leaves_it_open(asked: str, said: str) -> None:
    (wanted,), (other,) = named_tests(asked), named_tests(said)
    assert may_be(wanted, other)
    assert not states(wanted, other) or said == "MRI"


def test_lungs_that_are_clear_to_auscultation_are_no_angiogram() -> None:
    (angiogram,) = named_tests("CT angiogram")
    assert not any(may_be(angiogram, one) for one in named_tests("Lungs CTA b/l"))
