"""Notes without de-identification marks, and with repeated text only once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import Corpus, Feature, Note, Rubric, fit_matcher
from rubricate.errors import InputError
from rubricate.knowledge.rows import check_rows
from rubricate.reading.clean import clean_text
from rubricate.reading.tokens import find_tokens

NOTE = "45 yo M w/ cough. Denies fever and chills. Smokes 1 ppd since 1990, lives alone."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("**NAME[AAA] has a cough", "has a cough"),
        ("Seen by Dr. ___ on [**2115-3-4**]", "Seen by Dr. on"),
        ("<NAME> and [NAME] and <<PATIENT_1>>", "and and"),
        ("{{first_name}} XXXX lives in [REDACTED]", "lives in"),
        ("[**Age over 90 **] M", "over 90 M"),
        ("**AGE[in 60s] F", "in 60s F"),
        ("born xx/xx/xxxx", "born"),
        ("**PLAN** rest", "**PLAN** rest"),
        ("47,XXX karyotype", "47,XXX karyotype"),
        ("BP <120, CRP <5>, ROM [full]", "BP <120, CRP <5>, ROM [full]"),
    ],
)
def test_marks_become_blanks(text: str, left: str) -> None:
    assert clean_text(text).split() == left.split()


@pytest.mark.parametrize(
    "text",
    [
        f"{NOTE}\n\n{NOTE}",
        f"{NOTE} {NOTE}",
        f"{NOTE[:-1]} {NOTE}",
        f"{NOTE}\nCOPY:\n{NOTE}",
        f"{NOTE} COPY: {NOTE}",
        f"{NOTE}\n--- copy of note ---\n{NOTE}",
        "Cough, fever, 3 days.\nCough, fever, 3 days.",
    ],
)
def test_text_that_stands_twice_is_read_once(text: str) -> None:
    assert (
        clean_text(text).split()
        == text[: text.index(text[:8], 8)]
        .replace("COPY:", "")
        .replace("--- copy of note ---", "")
        .split()
    )


def test_a_repeated_part_goes_and_what_follows_stays() -> None:
    part = "He has had a dry cough for three weeks. He denies fever, chills and sweats."
    text = f"HPI\n{part}\nExam normal.\nSummary\n{part}\nPlan: rest."
    left = clean_text(text)
    assert left.index("Plan") == text.index("Plan")
    assert left.count("dry cough") == 1


@pytest.mark.parametrize(
    "text",
    [
        "Heart: normal.\nLungs: normal.\nAbdomen: normal.",
        "FH: type 2 diabetes.\nPMH: type 2 diabetes.",
        "No chest pain. No cough. No chest pain at night.",
    ],
)
def test_short_sentences_may_stand_twice(text: str) -> None:
    assert clean_text(text) == text


@pytest.mark.parametrize("name", ["lexicon", "cascade"])
def test_evidence_keeps_the_words_of_the_note(name: str) -> None:
    rubric = Rubric("c", tuple(Feature(str(i), "c", x) for i, x in enumerate(["Cough", "Smoker"])))
    text = f"[**Hospital 3**] **NAME[AAA]\n{NOTE}\nCOPY:\n{NOTE}"
    both = Corpus((Note("plain", "c", NOTE), Note("odd", "c", text)), (rubric,))
    found = fit_matcher(name, both.select(notes=[])).predict(both)
    for feature in ("0", "1"):
        plain, odd = (
            [
                [text[s.start : s.end] for s in one.spans]
                for one in found.annotations(n, feature, name)
            ]
            for n, text in (("plain", NOTE), ("odd", text))
        )
        assert plain
        assert odd == plain
    assert all(
        s.end < text.index("COPY")
        for r in range(2, 4)
        for one in found.row_annotations(r)
        for s in one.spans
    )


WORDS = st.sampled_from(
    ["no", "cough", "and", "fever", ".", "\n", "___", "[NAME]", ":", "COPY", "é"]
)


@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_every_word_that_is_left_stands_where_it_stood(text: str) -> None:
    left = clean_text(text)
    assert len(left) == len(text)
    assert {t for t in find_tokens(left) if t.kind != "newline"} <= set(find_tokens(text))
    assert clean_text(left) == left


def test_a_row_that_stands_twice_or_fails_its_example_is_refused() -> None:
    rows = [["a", "1"], ["b", "2"], ["a", "3"], ["c", "4"]]
    with pytest.raises(InputError) as error:
        check_rows("t.tsv", rows, 1, lambda row: "odd" if row[1] == "2" else None)
    assert [fault.line for fault in error.value.faults] == [2, 3, 4]


def test_signs_of_word_processors_become_typed_ones() -> None:
    text = "\ufeffCan’t\u00a0sleep\t–\u2009says “no pain”\r\nWalks."
    assert clean_text(text) == ' Can\'t sleep - says "no pain" \nWalks.'
    assert len(clean_text(text)) == len(text)
