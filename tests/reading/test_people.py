"""People that a note names, and whether they speak of the patient, or are the patient."""

from __future__ import annotations

import pytest

from rubricate.reading.people import is_patient, speaks_after_colon
from rubricate.reading.tokens import find_tokens
from rubricate.rules.registry import why_contradicted


@pytest.mark.parametrize(
    ("text", "kin", "speaks"),
    [
        ("Mom: eats paint chips", True, True),
        ("Mom: he eats paint chips", True, True),
        ('Dad: "eats paint"', True, True),
        ("Wife: loud at night", False, True),
        ("Mother: migraines", True, False),
        ("Mother: arthritis", True, False),
        ("Mother: DM2", True, False),
        ("Mother reports", True, False),
        ("Mom:", True, False),
    ],
)
def test_who_speaks_after_a_colon(text: str, kin: bool, speaks: bool) -> None:
    tokens = find_tokens(text)
    assert speaks_after_colon(tokens, 0, len(tokens), kin=kin) is speaks


@pytest.mark.parametrize(
    ("text", "person", "patient"),
    [
        ("29 yo mom, delivered", "mom", True),
        ("Mother brings in her son", "son", True),
        ("She worries that her son drinks", "son", True),
        ("her 5 yo son has a cold", "son", False),
        ("Her son has a cold", "son", False),
        ("Brought in by his mother", "mother", False),
    ],
)
def test_who_is_the_patient(text: str, person: str, patient: bool) -> None:
    tokens = find_tokens(text)
    i = next(k for k, token in enumerate(tokens) if token.form == person)
    before = i - 1
    while before >= 0 and tokens[before].form in ("her", "his"):
        before -= 1
    assert is_patient(tokens, 0, i, before) is patient


@pytest.mark.parametrize(
    ("feature", "text", "words"),
    [
        ("Pica", "20 mo M, well. Mom: eats paint chips.", "eats paint chips"),
        ("Pica", "Parents redo the house. Mom: eats paint chips.", "eats paint chips"),
        ("Snoring", "50M. per wife he snores", "snores"),
        ("Fever", "3 yo. Mother reports fever", "fever"),
        ("Weight loss", "Husband noticed weight loss", "weight loss"),
        ("Rash", "Dad says rash since Monday", "rash"),
        ("Rash", "According to mother has a rash", "rash"),
    ],
)
def test_what_informants_tell_is_the_patients(feature: str, text: str, words: str) -> None:
    at = text.index(words)
    assert why_contradicted(feature, text, [(at, at + len(words))]) is None


@pytest.mark.parametrize(
    ("feature", "text", "words"),
    [
        ("Myocardial infarction", "Mother had MI", "MI"),
        ("Hypertension", "FH: mother HTN", "HTN"),
        ("Diabetes", "Family history: father: diabetes", "diabetes"),
        ("Hypertension", "FH: Father: MI. Mother: has HTN.", "HTN"),
    ],
)
def test_what_relatives_have_stays_theirs(feature: str, text: str, words: str) -> None:
    at = text.index(words)
    assert why_contradicted(feature, text, [(at, at + len(words))])
