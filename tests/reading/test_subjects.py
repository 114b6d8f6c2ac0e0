"""Whom and when a note speaks of, by hand-made examples and by properties."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rubricate.reading.note import read_note
from rubricate.reading.subjects import is_patient, speaks_after_colon
from rubricate.reading.tokens import find_tokens
from rubricate.rules.registry import why_contradicted


def triples(text: str) -> list[tuple[str, str, str]]:
    return [
        (c.kind, c.cue_span.text(text), c.scope_span.text(text)) for c in read_note(text).contexts
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Father had MI at 52.", [("family", "Father", "had MI at 52")]),
        ("dad died of MI", [("family", "dad", "died of MI")]),
        ("Her mother's migraines are bad", [("family", "mother's", "migraines are bad")]),
        ("FHx: DM, CAD", [("family", "FHx", "DM, CAD")]),
        ("family history of colon CA", [("family", "family history of", "colon CA")]),
        ("MI in his father", [("family", "father", "MI")]),
        ("Alzheimer disease (mother)", [("family", "mother", "Alzheimer disease")]),
        ("MI - father", [("family", "father", "MI")]),
        ("migraine runs in the family", [("family", "runs in the family", "migraine")]),
        ("Mother has DM but patient does not", [("family", "Mother", "has DM")]),
        ("Mother has DM, he smokes", [("family", "Mother", "has DM")]),
        ("Mother: DM2", [("family", "Mother", "DM2")]),
        ("Mother: migraines", [("family", "Mother", "migraines")]),
        ("Father: diabetes", [("family", "Father", "diabetes")]),
        ("Mom O+, baby A+", [("family", "Mom", "O+")]),
        ("her 5 yo son has a cold", [("family", "son", "has a cold")]),
        ("Maternal migraine is noted", [("family", "Maternal", "migraine is noted")]),
        ("Mother was found to have DM", [("family", "Mother", "was found to have DM")]),
        ("mom had stones no etoh", [("family", "mom", "had stones")]),
        ("FH: mom DM. Smokes 1 ppd.", [("family", "FH", "mom DM."), ("family", "mom", "DM")]),
        ("husband smokes", [("other", "husband", "smokes")]),
        ("Son had a stomach bug", [("family", "Son", "had a stomach bug")]),
    ],
)
def test_other_people(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert triples(text) == expected


def test_under_family_history_a_colon_says_whose_it_is() -> None:
    text = "FAMILY HISTORY: Father: passes stones. Mother: no DM."
    people = [c[1] for c in triples(text) if c[1] in ("Father", "Mother")]
    assert people == ["Father", "Mother"]


@pytest.mark.parametrize(
    "text",
    [
        "lives with mother",
        "accompanied by his daughter",
        "Mother says he snores",
        "Her sister told her that the skin is dark",
        "per wife, he snores",
        "brought in by dad",
        "lives w/ wife and kids",
        "son of two teachers",
        "mother is concerned about weight",
        "2 yo boy. Mom: eats paint chips",
        "Sleepy by day. Wife: loud at night",
        "Dad: 'went stiff, eyes rolled'",
        "Daughter: mixing up days",
        "Mum: she won't settle",
        "Mom and dad deny vomiting",
        "Mother is calling about a rash",
        "Husband confirmed a liter of wine daily",
        "according to mother he has a fever",
        "29 yo mom, delivered 6 wks ago",
        "Mrs. Ames brings in her 2-year-old son because he tugs his ear",
        "The mother says that her daughter, 8 months of age, is scratching",
        "took his wife's lorazepam for sleep",
        "Knee pops and clicks",
        "hereditary spherocytosis found at four",
        "burnt in the family kitchen",
    ],
)
def test_witnesses_and_company_are_no_context(text: str) -> None:
    assert not [c for c in triples(text) if c[0] in ("family", "other")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PMH: HTN, DM\nSH: none", [("past", "PMH", "HTN, DM")]),
        ("pt with h/o asthma, HTN", [("past", "h/o", "asthma, HTN")]),
        ("had chickenpox as a child", [("past", "as a child", "had chickenpox")]),
        ("had ulcers in the past", [("past", "in the past", "had ulcers")]),
        ("s/p appendectomy", [("past", "s/p", "appendectomy")]),
        ("ex-smoker", [("past", "ex", "smoker")]),
        ("previously healthy, now ill", [("past", "previously", "healthy")]),
        ("3 week history of cough", []),
        ("cough in the past 3 weeks", []),
        ("for the past week", []),
        ("history of present illness", []),
    ],
)
def test_the_past(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "scope"),
    [
        ("worried about cancer", "hypothetical", "cancer"),
        ("r/o PE", "hypothetical", "PE"),
        ("possible fever", "uncertain", "fever"),
        ("?Raynaud's", "uncertain", "Raynaud's"),
        ("not sure about fever", "uncertain", "about fever"),
    ],
)
def test_fears_and_guesses(text: str, kind: str, scope: str) -> None:
    [context] = read_note(text).contexts
    assert (context.kind, context.scope_span.text(text)) == (kind, scope)


WORDS = (
    "mother father has MI in with ( ) , . ; but h/o history of 3 week past in the possible ? says"
    " PMH : FHx DM and - wife as a child \n pt he worried about"
)


@example(["past", ":", "mother", ";"])
@example(["past", "-", "but"])
@example(["PMH", "and", "PMH", "but"])
@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=14))
def test_contexts_are_valid(words: list[str]) -> None:
    text = " ".join(words)
    for context in read_note(text).contexts:
        scope = context.scope_span
        assert scope.end <= len(text) and context.cue_span.end <= len(text)
        assert scope.text(text).strip() == scope.text(text) != ""
        assert not context.cue_span.overlaps(scope)
        # A head ("PMH", "past :", "past -") reaches to the end of its section.
        head = text[context.cue_span.end :].lstrip().startswith((":", "-"))
        if not head and context.cue_span.text(text).split()[-1] not in ("PMH", "FHx"):
            assert not {";", "but"} & set(scope.text(text).split())


@given(st.text(max_size=80))
def test_any_text_is_accepted(text: str) -> None:
    for context in read_note(text).contexts:
        assert context.scope_span.end <= len(text)


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
