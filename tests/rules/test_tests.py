"""Tests that a note orders, and words that say nothing of them."""

from __future__ import annotations

import pytest

from rubricate.reading.note import read_note
from rubricate.reading.tests import named_tests
from rubricate.requirement.examinations import asked_examination
from rubricate.requirement.requirement import read_requirement
from rubricate.rules.tests import (
    find_examined,
    find_ordered,
    is_earlier,
    is_refused,
    not_ordered,
    says_nothing_of_test,
)


@pytest.mark.parametrize(
    ("feature", "text", "words"),
    [
        ("Thyroid function ordered", "Plan: TFTs and FBC.", ["TFTs"]),
        ("CBC", "A: fatigue\nP: FBC, TSH", ["FBC"]),
        ("Pelvic ultrasound ordered", "ddx ectopic. Plan: hCG, TVUS", ["TVUS"]),
        ("CBC and BMP ordered", "W/u: BMP, CBC", ["CBC", "BMP"]),
        ("Troponin ordered", "I have asked for a high-sensitivity troponin.", [None]),
        ("CBC ordered", "A full blood count has gone off.", ["full blood count"]),
        ("Head CT ordered", "Plan: CT head w/o contrast", ["CT head"]),
    ],
)
def test_what_the_plan_orders_is_found(feature: str, text: str, words: list[str | None]) -> None:
    found = [
        text[start:end] for start, end in find_ordered(read_requirement(feature), read_note(text))
    ]
    assert len(found) == len(words)
    assert all(one in (None, said) for one, said in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("CBC ordered", "Plan: BMP, UA"),
        ("CBC ordered", "CBC normal. Plan: rest"),
        ("CT head ordered", "Plan: CT head if worse"),
        ("CT head ordered", "Plan: CT head, if no better"),
        ("CT head ordered", "Plan: CT"),
        ("MRI ordered", "Plan: consider MRI"),
        ("MRI ordered", "Plan: no CT or MRI"),
        ("CBC and BMP ordered", "Plan: CBC"),
        ("CBC ordered", "Labs: CBC, BMP normal"),
        ("CBC ordered", "Bloods: FBC, U&Es at GP last week"),
        ("ECG ordered", "Plan: ECG machine away for repair"),
        ("Repeat ECG in a week", "Plan: ECG daily"),
        ("Left knee x-ray ordered", "Plan: XR right knee"),
        ("HIV test done", "Plan: HIV Ab"),
        ("Biopsy", "He asked for a biopsy"),
    ],
)
def test_what_is_in_doubt_is_not(feature: str, text: str) -> None:
    assert find_ordered(read_requirement(feature), read_note(text)) == []


@pytest.mark.parametrize(
    ("feature", "words", "nothing"),
    [
        ("CBC ordered", "BMP, UA", True),
        ("Blood cultures ordered", "BMP", True),
        ("Chest imaging ordered", "CT abdomen", True),
        ("Electrolytes ordered", "BMP", False),
        ("CBC ordered", "labs", False),
        ("CBC ordered", "UA for his dysuria", True),
        ("CBC ordered", "UA, hemogram-like panel", False),
        ("Genetic testing ordered", "bloods for KCNQ1", False),
        ("Anemia", "BMP, UA", False),
    ],
)
def test_words_that_name_only_other_tests_say_nothing(
    feature: str, words: str, nothing: bool
) -> None:
    text = f"Plan: {words}"
    assert (
        says_nothing_of_test(read_requirement(feature), read_note(text), [(6, len(text))])
        == nothing
    )


def test_nothing_is_judged_where_the_note_names_the_test_elsewhere() -> None:
    assert not says_nothing_of_test(
        read_requirement("CBC ordered"), read_note("Plan: BMP, UA. And a CBC."), [(6, 13)]
    )


@pytest.mark.parametrize(("feature", "nothing"), [("TSH ordered", True), ("TSH done", False)])
def test_a_test_of_before_says_nothing_of_one_that_is_ordered(feature: str, nothing: bool) -> None:
    assert (
        says_nothing_of_test(
            read_requirement(feature), read_note("TSH nl in Feb. Plan: UA"), [(0, 13)]
        )
        == nothing
    )


def test_a_test_that_is_refused_wherever_it_is_named_is_not_ordered() -> None:
    text = "Skip dimer, CTPA now."
    assert not_ordered(read_requirement("D-dimer ordered"), read_note(text), [(0, 10)])
    assert not not_ordered(
        read_requirement("CT pulmonary angiogram ordered"), read_note(text), [(12, 20)]
    )
    assert not not_ordered(
        read_requirement("D-dimer ordered"), read_note(f"{text} D-dimer sent."), [(0, 10)]
    )


@pytest.mark.parametrize(
    ("text", "earlier"),
    [
        ("A full blood count in March was normal.", True),
        ("USG abd done outside 2 mths back - NAD", True),
        ("urine dip at GP y'day NAD", True),
        ("An MRI of the brain in 2019, after a fall, was normal.", True),
        ("An ultrasound in her pregnancy, in 2021, showed stones.", True),
        ("TSH nl at ob/gyn in Feb", True),
        ("Na 134, Cr 0.9 at PCP Tues", True),
        ("yesterday's CXR", True),
        ("CBC today", False),
        ("repeat CBC, last year normal", False),
        ("Plan: CBC (nl in 2022)", False),
        ("MRI in March", False),
        ("Colonoscopy due, last in 2012", False),
        ("Troponin 0.02", False),
    ],
)
def test_a_test_done_before_is_told_from_one_to_be_done(text: str, earlier: bool) -> None:
    assert is_earlier(read_note(text), named_tests(text)[0]) == earlier


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("skip dimer", True),
        ("A further chest film is not needed", True),
        ("H pylori not sent", True),
        ("S. amylase not reqd", True),
        ("no need for an MRI", True),
        ("colonoscopy declined", True),
        ("MRI not done yet, booked for Monday", False),
        ("CBC sent but cultures not done", False),
        ("MRI. CT not needed", False),
    ],
)
def test_a_test_that_is_not_to_be_done(text: str, refused: bool) -> None:
    assert is_refused(read_note(text), named_tests(text)[0]) == refused


@pytest.mark.parametrize(
    ("feature", "examination"),
    [
        ("Tests for rebound", "rebound"),
        ("Checks for the Murphy sign", "murphy"),
        ("Fundoscopy performed", "fundoscopy"),
        ("Heart auscultated", "heart"),
        ("Performs fundoscopic exam", "fundoscopy"),
        ("Romberg tested.", "romberg"),
        ("Rebound", None),
        ("Heart failure", None),
        ("Tests for influenza", None),
        ("Electrocardiogram performed", None),
        ("Checks locks repeatedly", None),
    ],
)
def test_examinations_are_asked_for(feature: str, examination: str | None) -> None:
    assert asked_examination(feature) == examination


def test_any_result_shows_that_it_was_done() -> None:
    assert find_examined("guarding", read_note("no rebound or guarding")).done
    assert find_examined("fundoscopy", read_note("discs sharp")).done
    assert not find_examined("fundoscopy", read_note("spinal discs")).done


def test_not_done_is_said_of_one_thing_between_commas() -> None:
    text = "lungs clear, heart not auscultated"
    assert find_examined("lungs", read_note(text)).done
    assert find_examined("lungs", read_note("lungs and heart not examined")).undone
