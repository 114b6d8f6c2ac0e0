"""Every rule has cases, and the program says of each what it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from rubricate.effects.cases import COLUMNS, LINES, Case, case_names, judge_cases, read_cases
from rubricate.errors import InputError
from rubricate.rules.precedence import rule_names

#: So many cases there are at least.
LEAST_CASES = 900
#: The least share of whole lines that are answered rightly, and not only as is known.
LEAST_RIGHT = 0.91


@pytest.mark.parametrize("name", case_names())
def test_the_program_says_what_the_cases_say(name: str) -> None:
    wrong = [str(one.fault) for one in judge_cases(read_cases(name)) if not one.is_right]
    assert not wrong, "\n".join(wrong)


def test_every_rule_has_cases() -> None:
    assert not set(rule_names()) - set(case_names())


@pytest.mark.parametrize("name", rule_names())
def test_some_case_of_a_rule_is_decided_by_it(name: str) -> None:
    assert any(case.verdict not in ("silent", "not mentioned") for case in read_cases(name))


def test_there_are_many_cases() -> None:
    assert sum(len(read_cases(name)) for name in case_names()) >= LEAST_CASES


def test_most_lines_are_answered_rightly() -> None:
    cases = read_cases(LINES)
    assert sum(not case.known for case in cases) / len(cases) >= LEAST_RIGHT


def test_a_case_of_another_rule_or_verdict_is_wrong() -> None:
    case = Case(
        "side.other", "Right knee pain", "[[Left knee pain]]", "contradicts", "left", "", "", 1
    )
    assert [one.is_right for one in judge_cases([case])] == [True]
    others = [
        case._replace(said="both"),
        case._replace(verdict="silent"),
        case._replace(note="[[Right knee pain]]"),
        case._replace(known="states"),
    ]
    assert [one.is_right for one in judge_cases(others)] == [False] * 4


def test_faulty_tables_are_refused_with_every_line(tmp_path: Path) -> None:
    path = tmp_path / "side.other.tsv"
    lines = ["\t".join(COLUMNS), "Fever\tNo fever\tperhaps", "Fever", "Fever\tx\tsilent"] * 1
    path.write_text("\n".join([*lines, "Fever\tx\tsilent"]) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_cases("side.other", tmp_path)
    assert [fault.line for fault in refused.value.faults] == [2, 3, 5]
    (tmp_path / "side.none.tsv").write_text("\t".join(COLUMNS) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="no rule"):
        read_cases("side.none", tmp_path)
