"""Examinations: what shows that one was done, and that it was not."""

import pytest

from rubricate.reading.note import read_note
from rubricate.requirement.examinations import asked_examination
from rubricate.rules.examined import find_examined


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
