"""Stems and spellings, by hand-made examples and by properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.text.stems import american, stem


@pytest.mark.parametrize(
    ("british", "expected"),
    [
        ("dyspnoea", "dyspnea"),
        ("haematuria", "hematuria"),
        ("anaemia", "anemia"),
        ("oesophagus", "esophagus"),
        ("oestrogen", "estrogen"),
        ("tumour", "tumor"),
        ("hospitalised", "hospitalized"),
        ("travelled", "traveled"),
        ("coeliac", "celiac"),
        ("exercise", "exercise"),
        ("bruised", "bruised"),
        ("toe", "toe"),
        ("hour", "hour"),
        ("four", "four"),
        ("faeces", "feces"),
    ],
)
def test_american(british: str, expected: str) -> None:
    assert american(british) == expected


@pytest.mark.parametrize(
    "words",
    [
        ("headache", "headaches"),
        ("radiate", "radiates", "radiated", "radiating"),
        ("worry", "worries", "worried"),
        ("stop", "stopped", "stopping", "stops"),
        ("swell", "swelling", "swollen", "swells"),
        ("lose", "losing", "lost", "loss"),
        ("oedema", "edema"),
        ("allergy", "allergies"),
        ("rash", "rashes"),
        ("child", "children"),
    ],
)
def test_forms_of_a_word_meet(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(("one", "other"), [("pain", "pan"), ("loss", "less"), ("red", "r")])
def test_other_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text(alphabet="abcdeginorstuy", max_size=12))
def test_a_stem_is_never_longer_by_much(form: str) -> None:
    assert len(stem(form)) <= len(form) + 3
    assert bool(stem(form)) == bool(form)
