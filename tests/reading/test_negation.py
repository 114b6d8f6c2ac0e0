"""Negation cues and their reach, by hand-made examples and by properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.reading.negation import asks_for_denial, find_negations
from rubricate.reading.tokens import find_tokens


def pairs(text: str) -> list[tuple[str, str]]:
    return [(n.cue_span.text(text), n.scope_span.text(text)) for n in find_negations(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "denies fever, chills, N/V, or blood in stool",
            [("denies", "fever, chills, N/V, or blood in stool")],
        ),
        ("No fever, chills. Has cough", [("No", "fever, chills")]),
        ("No CP/SOB.", [("No", "CP/SOB")]),
        ("Denis has chest pain", []),
        ("no fever, no chills, no rash", [("no", "fever"), ("no", "chills"), ("no", "rash")]),
        ("Denies CP but reports SOB", [("Denies", "CP")]),
        ("Denies CP; SOB on exertion", [("Denies", "CP")]),
        ("Denies CP\nSOB on exertion", [("Denies", "CP")]),
        ("Denies CP, has SOB", [("Denies", "CP")]),
        ("Denies CP, SOB. + palpitations", [("Denies", "CP, SOB")]),
        ("denies CP, SOB, +palps", [("denies", "CP, SOB")]),
        ("No fever, pain is worse at night", [("No", "fever")]),
        ("No fever, she takes ibuprofen", [("No", "fever")]),
        ("no fever and has a cough", [("no", "fever")]),
        ("no fever and she has a cough", [("no", "fever")]),
        ("negative for fever, chills", [("negative for", "fever, chills")]),
        ("ROS: neg for fever, chills", [("neg for", "fever, chills")]),
        ("neg: fever, chills", [("neg", "fever, chills")]),
        ("w/o fever or chills", [("w/o", "fever or chills")]),
        ("without nausea, vomiting, or fever", [("without", "nausea, vomiting, or fever")]),
        ("no hx of DM, HTN", [("no hx of", "DM, HTN")]),
        ("no evidence of trauma", [("no evidence of", "trauma")]),
        ("(-) fever, chills", [("(-)", "fever, chills")]),
        ("fever (-), chills (-)", [("(-)", "fever"), ("(-)", "chills")]),
        ("fever (-) chills (-)", [("(-)", "fever"), ("(-)", "chills")]),
        ("Ø tob, EtOH, illicits", [("Ø", "tob, EtOH, illicits")]),
        ("nil rash, nil SOB", [("nil", "rash"), ("nil", "SOB")]),
        ("FH nil", [("nil", "FH")]),
        ("0 palpitations", [("0", "palpitations")]),
        ("has not had fever, chills, sweats", [("not had", "fever, chills, sweats")]),
        ("has not vomited", [("not", "vomited")]),
        ("does not have fever or chills", [("does not have", "fever or chills")]),
        ("doesn't smoke, drinks 2 beers", [("doesn't", "smoke")]),
        ("did not pass urine or stool", [("did not", "pass urine or stool")]),
        ("never smoked", [("Never".lower(), "smoked")]),
        ("pain is not sharp, comes and goes", [("not", "sharp")]),
        ("neither tremor nor incontinence", [("neither", "tremor nor incontinence")]),
        ("Denies: fever, chills", [("Denies", "fever, chills")]),
        ("Pertinent negatives: fever, chills", [("Pertinent negatives", "fever, chills")]),
        ("denies she has fever", [("denies", "she has fever")]),
        ("denies fever, 2 episodes of emesis", [("denies", "fever")]),
        ("no smoking, 2 beers/wk, no drugs", [("no", "smoking"), ("no", "drugs")]),
        ("no longer drinks", [("no longer", "drinks")]),
        ("nonsmoker", [("non", "smoker")]),
        ("non-smoker, occ whisky", [("non", "smoker")]),
        ("Denies fever,\nchills, rash", [("Denies", "fever,\nchills, rash")]),
        ("no fever (Tmax 99), chills", [("no", "fever (Tmax 99), chills")]),
        ("(no fever) cough", [("no", "fever")]),
        ("no LE swelling -> came to clinic", [("no", "LE swelling")]),
        ("Denies:\n- fever\n- chills\nHas cough", [("Denies", "fever"), ("Denies", "chills")]),
        ("CP x 2 mos - no, 3 mos", []),
        ("Neither rest nor heat has helped", [("Neither", "rest nor heat has helped")]),
        (
            "has not traveled, eaten out, or used drugs",
            [("not", "traveled, eaten out, or used drugs")],
        ),
        ("no surgeries uncle died young", [("no", "surgeries")]),
        ("denies prior history of MI", [("denies", "prior history of MI")]),
        ("+cough -fever -chills", [("-", "fever"), ("-", "chills")]),
    ],
)
def test_scopes_after_the_cue(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rash: none", [("none", "Rash")]),
        ("fever - neg", [("neg", "fever")]),
        ("Fever: no. Cough: yes", [("no", "Fever")]),
        ("fever: no, chills: no", [("no", "fever"), ("no", "chills")]),
        ("Hallucinations are absent.", [("absent", "Hallucinations")]),
        ("Hallucinations denied.", [("denied", "Hallucinations")]),
        ("Cranial trauma is denied.", [("denied", "Cranial trauma")]),
        ("Fever, chills and rash were denied", [("denied", "Fever, chills and rash")]),
        (
            "Syncope is denied, as are nausea and edema.",
            [("denied", "Syncope"), ("denied", "nausea and edema")],
        ),
        ("urine HCG negative", [("negative", "urine HCG")]),
        ("PE ruled out", [("ruled out", "PE")]),
        ("cough, fever not present", [("not present", "fever")]),
        ("patient denied fever", [("denied", "fever")]),
    ],
)
def test_scopes_before_the_cue(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "not only the knee but the hip",
        "cannot rule out PE",
        "PE not ruled out",
        "no doubt it is viral",
        "does not deny smoking",
        "not sure about fever",
        "gram negative rods",
        "Normal appetite",
        "None",
        "",
    ],
)
def test_what_only_looks_negative(text: str) -> None:
    assert pairs(text) == []


@pytest.mark.parametrize("text", ["not only the knee", "not only fever, no chills"])
def test_a_pseudo_cue_negates_nothing_and_ends_there(text: str) -> None:
    assert pairs(text) == [("no", "chills")] * ("chills" in text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("no relief with antacids", "relief"),
        ("No change in appetite, weight", "change"),
        ("ibuprofen with no effect", "effect"),
    ],
)
def test_narrow_negation_spares_what_follows(text: str, word: str) -> None:
    [scope] = find_negations(text)
    assert scope.kind == "narrow"
    assert scope.scope_span.text(text) == word


WORDS = (
    "no denies denied without not never fever chills N/V rash , . ; but and or has she reports"
    " absent : none neg (-) + is are \n 3 pain with nor neither - / ( ) however"
)
PLAIN_ENDS = {".", ";", "but", "however", "+"}


@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=14))
def test_scopes_are_valid_and_hold_no_end(words: list[str]) -> None:
    text = " ".join(words)
    for negation in find_negations(text):
        cue, scope = negation.cue_span, negation.scope_span
        assert scope.end <= len(text) and cue.end <= len(text)
        assert scope.text(text).strip() == scope.text(text) != ""
        assert not cue.overlaps(scope)
        assert not PLAIN_ENDS & set(scope.text(text).split())


@given(st.text(max_size=80))
def test_any_text_is_accepted(text: str) -> None:
    for negation in find_negations(text):
        assert negation.scope_span.end <= len(text)


@given(st.lists(st.sampled_from(["fever", "chills", "joint pain", "SOB", "N/V"]), min_size=1))
def test_denies_reaches_over_a_whole_list(items: list[str]) -> None:
    text = f"Pt denies {', '.join(items)}. Has cough."
    [negation] = find_negations(text)
    assert negation.scope_span.text(text) == ", ".join(items)


@pytest.mark.parametrize(
    ("wording", "denial"),
    [
        ("Nondrinker", True),
        ("No wheeze", True),
        ("Abdomen non-tender", True),
        ("Nonradiating flank pain", False),
        ("Nonbloody stools", False),
    ],
)
def test_a_quality_that_is_denied_is_no_denial_of_the_matter(wording: str, denial: bool) -> None:
    assert asks_for_denial(wording, find_tokens(wording)) is denial


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Palps -, syncope -.", [("-", "Palps"), ("-", "syncope")]),
        ("guarding -/rigidity -, Murphy +", [("-", "guarding"), ("-", "rigidity")]),
        ("S3- S4-, JVD -", [("-", "S3"), ("-", "S4"), ("-", "JVD")]),
        ("HTN -\nDM +\nfever -", [("-", "HTN"), ("-", "fever")]),
        ("joint x-ray -, CT chest -", [("-", "joint x-ray"), ("-", "CT chest")]),
        ("blood group O-, antibody screen +", []),
        ("pre- and post-meal dizziness, cough +, rash +", []),
        ("Rash - itchy. Cough - dry", []),
        ("Meds -\nlisinopril", []),
    ],
)
def test_a_minus_behind_words_denies_them(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "No evening passes without itching",
        "hardly an hour w/o hiccups",
        "not without tingling",
        "cannot stop sneezing",
        "has not stopped wheezing",
        "cannot keep from scratching",
    ],
)
def test_a_denial_that_is_undone_denies_nothing(text: str) -> None:
    assert pairs(text) == []


def test_each_of_two_denials_holds_where_neither_undoes_the_other() -> None:
    assert pairs("no rash, without itching") == [("no", "rash"), ("without", "itching")]


def test_painless_denies_pain() -> None:
    assert pairs("painless lump") == [("less", "pain")]
    assert asks_for_denial("Painless", find_tokens("Painless"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Afebrile today", [("A", "febrile")]),
        ("weight unchanged", [("un", "changed")]),
        ("anicteric sclerae", [("an", "icteric")]),
        ("unchangeable, and annoyed", []),
    ],
)
def test_syllables_that_deny(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected
    assert all(one.is_one_word for one in find_negations(text))
