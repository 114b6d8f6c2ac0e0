"""Diagnoses, their names and the groups they belong to."""

from __future__ import annotations

import pytest

from rubricate.reading.diagnoses import diagnoses, find_diagnoses, groups_above, may_be_meant
from rubricate.reading.tokens import find_tokens


def named(text: str) -> list[set[str]]:
    return [set(one.meant) for one in find_diagnoses(text, find_tokens(text))]


def test_groups_and_neighbours_are_diagnoses_of_the_table() -> None:
    known = set(diagnoses())
    used = {name for one in diagnoses().values() for name in (*one.broader, *one.near)}
    assert used <= known
    assert all(name not in groups_above(other) for name in known for other in _broader(name))


def _broader(name: str) -> tuple[str, ...]:
    return diagnoses()[name].broader


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("r/o PE", [{"pulmonary embolism"}]),
        ("PE: lungs clear", []),
        ("hx of GORD and PUD", [{"gerd"}, {"peptic ulcer disease"}]),
        ("Crohn's disease, ulcerative colitis", [{"crohn disease"}, {"ulcerative colitis"}]),
        ("iron-deficiency anaemia", [{"iron deficiency anemia"}]),
        ("diabetes insipidus", [{"diabetes insipidus"}]),
        ("C. diff", [{"c difficile infection"}]),
        ("severe AS on echo", [{"aortic stenosis"}]),
        ("as before", []),
        ("CAP", [{"community acquired pneumonia"}]),
        ("cap refill 2 s", []),
        ("flu shot given, nonsmoker", []),
        ("non-diabetic", []),
        ("ST depression in V5", []),
        ("migraines", [{"migraine"}]),
        ("bronchogenic ca\nPlan: CT", [{"lung cancer"}]),
        ("asthma plan reviewed", []),
    ],
)
def test_names_are_found_whatever_their_spelling(text: str, meant: list[set[str]]) -> None:
    assert named(text) == meant


@pytest.mark.parametrize(
    ("asked", "said", "fits"),
    [
        ("acute coronary syndrome", "myocardial infarction", True),
        ("myocardial infarction", "acute coronary syndrome", True),
        ("type 2 diabetes", "diabetic complication", True),
        ("anemia", "thalassemia", True),
        ("gerd", "gastritis", False),
        ("pulmonary embolism", "deep vein thrombosis", False),
        ("asthma", "copd", False),
        ("type 1 diabetes", "diabetes insipidus", False),
    ],
)
def test_a_kind_a_group_and_a_neighbour_may_be_meant(asked: str, said: str, fits: bool) -> None:
    assert may_be_meant(asked, said) is fits
