"""Features that ask for a test."""

from __future__ import annotations

import pytest

from rubricate.requirement.requirement import read_requirement
from rubricate.requirement.tests import asked_tests


@pytest.mark.parametrize(
    ("feature", "ordered"),
    [
        ("CBC ordered", True),
        ("Checks thyroid function", True),
        ("TSH to evaluate for hypothyroidism ordered", True),
        ("CT abdomen/pelvis with contrast ordered", True),
        ("Plan includes ECG", True),
        ("CBC", False),
        ("Recent colonoscopy", False),
        ("HIV test done", False),
        ("Urine culture or urinalysis", False),
    ],
)
def test_a_feature_of_nothing_but_tests_asks_for_them(feature: str, ordered: bool) -> None:
    assert read_requirement(feature).tests.tests
    assert read_requirement(feature).tests.ordered == ordered


@pytest.mark.parametrize(
    "feature",
    [
        "Anemia on CBC",
        "MRI shows a labral tear",
        "Colonoscopy declined",
        "No imaging ordered",
        "Influenza",
        "High cholesterol",
        "First toe",
        "Checks inhaler technique",
        "CBC ordered OR anemia",
    ],
)
def test_a_feature_of_more_than_tests_does_not(feature: str) -> None:
    assert not read_requirement(feature).tests.tests


def test_of_a_group_and_its_tests_those_are_asked_for_that_are_named() -> None:
    asked = asked_tests("labs (CBC, BMP) ordered")
    assert [set(one.tests) for one in asked] == [
        {"complete blood count"},
        {"basic metabolic panel"},
    ]
