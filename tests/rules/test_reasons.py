"""Codes of reasons and the words that people read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rubricate.rules.reasons import Reason, in_words, reason_table

SOURCE = Path(__file__).parents[2] / "src" / "rubricate"


def test_every_code_is_given_by_a_rule_and_every_code_given_is_known() -> None:
    code = re.compile(r"Reason\(\s*f?\"([a-z_]+\.[a-z_{}]+)\"|\"(time\.(?:resolved|not_over))\"")
    given = set()
    for path in SOURCE.rglob("*.py"):
        for one, other in code.findall(path.read_text(encoding="utf-8")):
            given.add(one or other)
    kinds = {"advised", "declined", "hypothetical", "feared"}
    past = {"stopped", "past", "resolved"}
    given |= {f"modality.{kind}" for kind in kinds} | {f"time.{kind}" for kind in past}
    given -= {"modality.{kind}", "time.{kind}"}
    assert given == set(reason_table())


@pytest.mark.parametrize("code", list(reason_table()))
def test_every_reason_is_put_in_words(code: str) -> None:
    said = "x" if "{said}" in reason_table()[code].words else ""
    words = in_words(Reason(code, said))
    assert words and "{" not in words and (not said or said in words)


def test_what_is_denied_is_told_by_the_code() -> None:
    assert Reason("polarity.denied").is_denial and Reason("polarity.minus").is_denial
    assert not Reason("person.other", "mother").is_denial
    assert Reason("side.other", "left").quotes and not Reason("person.other", "mother").quotes
