import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubricate.cli import main

TWO_CASES = ["compare", "open-notes", "--where", "case=0,1", "--where", "split=test",
             "--folds", "2", "--resamples", "50"]  # fmt: skip


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, [*TWO_CASES, *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_each_case_is_printed_beside_the_whole() -> None:
    code, output = run("--matchers", "exact,fuzzy")
    assert code == 0
    lines = [line.split("  ") for line in output.splitlines()]
    assert [line[0] for line in lines if line[0] in ("0", "1")] == ["0", "1"]
    assert "nan" not in output


def test_a_matcher_named_twice_is_tried_once() -> None:
    _, once = run("--matchers", "exact", "--json")
    _, twice = run("--matchers", "exact,exact", "--json")
    assert json.loads(once) == json.loads(twice)


def test_intervals_about_other_cases_are_wider() -> None:
    printed = {
        population: run("--matchers", "exact", "--population", population)[1].splitlines()[2]
        for population in ("these-cases", "cases-like-these")
    }
    low, high = zip(*(line.split(" to ")[:2] for line in printed.values()), strict=True)
    ends = [float(text.split()[-1]) for text in low], [float(text.split()[0]) for text in high]
    assert ends[0][0] > ends[0][1]
    assert ends[1][0] < ends[1][1]


@pytest.mark.parametrize(
    "wrong",
    [
        ["--matchers", " , "],
        ["--matchers", "exact", "--model", "no such model"],
        ["--matchers", "exact", "--set", "lexicon.near=0.4"],
        ["--matchers", "exact", "--set", "near=0.4"],
        ["--notes-per-case", "5,x"],
    ],
)
def test_wrong_usage_is_told(wrong: list[str]) -> None:
    code, output = run(*wrong)
    assert code == 2
    assert wrong[-2] in output


def test_a_report_that_is_there_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    code, output = run("--matchers", "no such matcher", "--report", str(tmp_path))
    assert code == 1
    assert "--overwrite" in output
    assert (tmp_path / "index.html").read_text() == "mine"


def test_models_are_compared_beside_matchers(tmp_path: Path) -> None:
    model = tmp_path / "mine"
    fitted = ["fit", "open-notes", "--where", "case=0,1", "--matcher", "exact", "--set",
              "window=40", "--out", str(model)]  # fmt: skip
    assert CliRunner().invoke(main, fitted).exit_code == 0
    code, output = run("--matchers", "exact", "--model", str(model), "--json")
    assert code == 0
    matchers = json.loads(output)["groups"][""]["matchers"]
    assert list(matchers) == ["exact", "mine"]
    assert run("--model", str(model), "--model", str(model))[0] == 2
