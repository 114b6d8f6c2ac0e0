from __future__ import annotations

import numpy as np
import pytest

from rubricate.matchers.wording.reading import NoteColumns, read_columns
from rubricate.matchers.wording.runs import (
    TokenRun,
    breaks_a_rule,
    find_runs,
    group_runs,
    trim_run,
    whole_numbers,
)
from rubricate.reading.tokens import root
from rubricate.requirement.requirement import read_requirement


def run_of(reading: NoteColumns, words: str) -> TokenRun:
    forms = [token.form for token in reading.tokens]
    wanted = words.split()
    for i in range(len(forms)):
        if forms[i : i + len(wanted)] == wanted:
            return TokenRun(i, i + len(wanted))
    raise LookupError(words)


def broken(text: str, words: str, feature: str) -> str:
    reading = read_columns(text)
    stems = [root(token.form) for token in reading.tokens]
    profile = read_requirement(feature)
    return breaks_a_rule(run_of(reading, words), profile, reading, stems)


@pytest.mark.parametrize(
    ("text", "words", "feature", "rule"),
    [
        ("denies fever", "fever", "Fever", "denied"),
        ("has fever", "fever", "Fever", ""),
        ("has fever", "fever", "No fever", "not denied"),
        ("high temp today", "high temp", "No fever", "not denied"),
        ("high fever", "high", "No fever", "not denied"),
        ("no high temp", "high temp", "No fever", ""),
        ("temp 37", "temp", "No fever", ""),
        ("no fever", "no fever", "No fever", ""),
        ("pain for 2 weeks", "2 weeks", "Pain for 3 weeks", "wrong number"),
        ("pain for 21 days", "21 days", "Pain for 3 weeks", ""),
        ("skin is clear", "clear", "No rash", ""),
    ],
)
def test_rules(text: str, words: str, feature: str, rule: str) -> None:
    assert broken(text, words, feature) == rule


def test_runs_are_tokens_above_the_cut_with_small_gaps_closed() -> None:
    reading = read_columns("pain in the left arm today")
    logits = np.array([[2.0], [-0.5], [-0.5], [2.0], [2.0], [-4.0]])
    assert find_runs(logits, np.zeros(1), reading) == [[TokenRun(0, 5)]]
    logits[1] = -2
    assert find_runs(logits, np.zeros(1), reading) == [[TokenRun(0, 1), TokenRun(3, 5)]]
    assert find_runs(logits - 9, np.zeros(1), reading) == [[]]


def test_trimming_may_leave_nothing() -> None:
    assert trim_run(TokenRun(0, 2), read_columns("the patient")) is None


def test_numbers_are_marked_whole() -> None:
    reading = read_columns("pain x 21 days now")
    profile = read_requirement("Pain for 3 weeks")
    stretched = whole_numbers(run_of(reading, "21"), profile, reading)
    assert reading.tokens[stretched.end - 1].form == "days"


def test_a_denial_belongs_to_each_of_its_items() -> None:
    reading = read_columns("denies fever, chills")
    profile = read_requirement("No fever OR no chills")
    cue, fever, chills = (run_of(reading, w) for w in ("denies", "fever", "chills"))
    assert group_runs([cue, fever, chills], profile, reading) == [(cue, fever), (cue, chills)]


def test_age_is_grouped_to_its_first_mention() -> None:
    reading = read_columns("58 yo, is 58")
    profile = read_requirement("58 year")
    assert group_runs([TokenRun(0, 2), TokenRun(4, 5)], profile, reading) == [(TokenRun(0, 2),)]


def test_a_sign_of_the_item_before_is_cut_off() -> None:
    reading = read_columns("rebound +, guarding -, fever +")
    trimmed = trim_run(TokenRun(1, 5), reading)
    assert trimmed is not None
    assert [token.form for token in reading.tokens[trimmed.first : trimmed.end]] == [
        "guarding",
        "-",
    ]
