"""Drugs and their classes."""

from __future__ import annotations

import pytest

from rubricate.reading.drugs import classes_above, drug_classes, drugs_among, other_class
from rubricate.reading.tokens import find_words


def test_broader_classes_exist_by_name() -> None:
    names = [one.name for one in drug_classes()]
    assert len(names) == len(set(names))
    unnamed = {name for one in drug_classes() for name in one.broader} - set(names)
    # These only bind narrower classes together; no note says their names.
    assert unnamed <= {"rate control", "prostate drug", "nerve pain drug", "migraine drug",
                       "bone drug", "dementia drug", "parkinson drug"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("Glucophage 1g bd", {"biguanide"}),
        ("two ACE inhibitors", {"ace inhibitor"}),
        ("aspirin", {"antiplatelet", "nsaid"}),
        ("Mirena in situ", {"levonorgestrel intrauterine system"}),
        ("MST 60 mg", {"strong opioid"}),
        ("the pills run out", set()),
        ("nothing", set()),
    ],
)
def test_finds_drugs_by_any_name(text: str, classes: set[str]) -> None:
    assert {name for _, drug in drugs_among(find_words(text)) for name in drug.classes} == classes


def test_a_class_is_fitted_by_narrower_and_broader_ones() -> None:
    asked = [drug for _, drug in drugs_among(find_words("diuretic"))]
    assert other_class(asked, drugs_among(find_words("Lasix"))) == ""
    asked = [drug for _, drug in drugs_among(find_words("ramipril"))]
    assert other_class(asked, drugs_among(find_words("blood pressure tablet"))) == ""
    assert "antihypertensive" in classes_above("thiazide diuretic")


def test_a_narrower_class_excludes_its_sisters() -> None:
    asked = [drug for _, drug in drugs_among(find_words("Weak opioid use"))]
    assert other_class(asked, drugs_among(find_words("MST 60 mg"))) == "strong opioid"
    assert other_class(asked, drugs_among(find_words("co-codamol 30/500"))) == ""
    asked = [drug for _, drug in drugs_among(find_words("Opioid use"))]
    assert other_class(asked, drugs_among(find_words("MST 60 mg"))) == ""
