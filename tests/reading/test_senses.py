"""Words of several meanings."""

from __future__ import annotations

import pytest

from rubricate.reading.senses import find_senses, meant_by
from rubricate.reading.tokens import find_tokens


def senses(text: str) -> list[str]:
    """Return the meanings found in a text."""
    return [sense.key for sense in find_senses(text, find_tokens(text)).values()]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PE: NAD", ["pe: examination"]),
        ("PE - unremarkable", ["pe: examination"]),
        ("ROS negative.\nPE: lungs clear", ["pe: examination"]),
        ("PE in 2019, on apixaban", ["pe: embolism"]),
        ("PMH: PE", []),
        ("SpO2 98% RA", ["ra: room air"]),
        ("RA on methotrexate", ["ra: arthritis"]),
        ("CVA tenderness on the right", ["cva: angle"]),
        ("Amlodipine 5 mg OD", ["od: daily"]),
        ("Seen in ED yesterday", ["ed: department"]),
        ("ED, no better with sildenafil", ["ed: erectile"]),
        ("Full ROM of the knee", ["rom: motion"]),
        ("Hay fever", ["fever: hay"]),
        ("ST depression in V4", ["depression: segment"]),
        ("Last BM 3 days ago", ["BM: stool"]),
        ("BM 12.3 before lunch", ["BM: glucose"]),
        ("PCP prophylaxis, CD4 90", ["PCP: pneumonia"]),
        ("Seen by PCP", ["PCP: doctor"]),
        ("Pus and discharge from the ear", []),
        ("1) PE: NAD", ["pe: examination"]),
        ("PT 3x/week", []),
        ("as before", []),
        ("", []),
    ],
)
def test_the_surroundings_tell_the_meaning(text: str, found: list[str]) -> None:
    assert senses(text) == found


def test_words_of_another_line_tell_nothing() -> None:
    assert senses("RA\nSats normal") == []


def test_every_meaning_may_be_looked_up() -> None:
    assert "embolism" in meant_by("pe: embolism")
