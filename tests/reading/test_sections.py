"""Headings and sections, by hand-made examples and by properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reading.sections import SECTION_NAMES, find_sections


def named(text: str) -> list[tuple[str, str | None]]:
    return [
        ("+".join(section.names), section.body.text(text) if section.body else None)
        for section in find_sections(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PMH: HTN", [("past_medical", "HTN")]),
        ("PMHx - HTN, DM", [("past_medical", "HTN, DM")]),
        ("FH nil. SH: lives alone", [("family", "nil."), ("social", "lives alone")]),
        ("Past Medical History:\n- HTN\n- DM", [("past_medical", "- HTN\n- DM")]),
        (
            "PMH: none / PSH: none / Meds: OCP",
            [("past_medical", "none"), ("past_surgical", "none"), ("medications", "OCP")],
        ),
        ("Meds/All: none", [("medications+allergies", "none")]),
        ("PMH/PSH: none", [("past_medical+past_surgical", "none")]),
        (
            "HPI: CP\nfor 3 wks\nROS: neg",
            [("history", "CP\nfor 3 wks"), ("review_of_systems", "neg")],
        ),
        ("FH: DM\nPatient smokes", [("family", "DM")]),
        ("FAMILY HISTORY\nDM", [("family", "DM")]),
        ("Soc: smokes. Weight: up 5 lb", [("social", "smokes."), ("other", "up 5 lb")]),
        ("DHx: nil", [("medications", "nil")]),
        ("HPC: cough", [("history", "cough")]),
        ("PMH:", [("past_medical", None)]),
        ("Denies: fever", [("negatives", "fever")]),
        ("He has pain: it is bad", []),
        ("seen at 10:30", []),
        ("no headings here", []),
        ("", []),
    ],
)
def test_sections(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert named(text) == expected


WORDS = "PMH FH SH : none . , / \n - Meds HTN ; family history and CP Weight"


@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=14))
def test_sections_are_in_order_and_valid(words: list[str]) -> None:
    text = " ".join(words)
    end = 0
    for section in find_sections(text):
        assert set(section.names) <= set(SECTION_NAMES)
        assert section.name == section.names[0]
        assert end <= section.heading.start
        end = section.heading.end
        if section.body is not None:
            assert end <= section.body.start
            assert section.body.text(text).strip() == section.body.text(text) != ""
            end = section.body.end
        assert end <= len(text)
