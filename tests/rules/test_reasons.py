"""Codes of reasons and the words that people read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rubricate.rules.reasons import Reason, in_words, reason_table

SOURCE = Path(__file__).parents[2] / "src" / "rubricate"


def test_every_code_is_given_in_the_program_and_every_code_given_is_known() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    written = {code for text in texts for code in re.findall(r"\"([a-z]+\.[a-z_]+)\"", text)}
    kinds = {"advised", "declined", "hypothetical", "feared"}
    past = {"stopped", "past", "resolved"}
    written |= {f"modality.{kind}" for kind in kinds} | {f"time.{kind}" for kind in past}
    assert set(reason_table()) <= written
    given = {
        code
        for text in texts
        for code in re.findall(r"(?:Reason|Claim)\(\s*\"([a-z]+\.[a-z_]+)\"", text)
    }
    assert given <= set(reason_table())


@pytest.mark.parametrize("code", list(reason_table()))
def test_every_reason_is_put_in_words(code: str) -> None:
    form = reason_table()[code].words
    said, also = ("x" * ("{said}" in form), "y" * ("{also}" in form))
    words = in_words(Reason(code, said, also))
    assert words and "{" not in words and said in words and also in words


def test_what_is_denied_is_told_by_the_code() -> None:
    assert Reason("polarity.denied").is_denial and Reason("polarity.minus").is_denial
    assert not Reason("person.other", "mother").is_denial
    assert Reason("side.other", "left").quotes and not Reason("person.other", "mother").quotes
