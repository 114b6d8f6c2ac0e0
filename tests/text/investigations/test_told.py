"""What notes say of tests: done before, not to be done."""

from __future__ import annotations

import pytest

from rubricate.text.investigations.table import named_tests
from rubricate.text.investigations.told import is_earlier, is_refused


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
    assert is_earlier(text, named_tests(text)[0]) == earlier


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
    assert is_refused(text, named_tests(text)[0]) == refused
