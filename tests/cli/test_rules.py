"""The verb ``rules``."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from rubricate.cli.rules import rules_command
from rubricate.errors import UnknownNameError


def test_check_counts_lists_and_faults() -> None:
    result = CliRunner().invoke(rules_command, ["check", "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["faults"] == []
    assert said["entries"] > said["lists"] > 0
    assert CliRunner().invoke(rules_command, ["check"]).exit_code == 0


def test_test_asks_about_the_cases_of_the_rules_named() -> None:
    result = CliRunner().invoke(rules_command, ["test", "--rule", "side.other", "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["tables"] == 1
    assert said["cases"] > 0
    assert said["wrong"] == []
    wrong = CliRunner().invoke(rules_command, ["test", "--rule", "side.othr"])
    assert isinstance(wrong.exception, UnknownNameError)


def test_explain_names_the_rule_in_words_and_as_json(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Pain in the left knee.", encoding="utf-8")
    command = ["explain", str(note), "Right knee pain"]
    result = CliRunner().invoke(rules_command, [*command, "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["decided_by"] == "side.other"
    assert said["claims"][0]["said"] == "left"
    assert "side.other" in CliRunner().invoke(rules_command, command).output


def test_effect_compares_with_what_was_kept(tmp_path: Path) -> None:
    kept = str(tmp_path / "before.gz")
    command = ["effect", "--set", "open-notes", "--every", "1000"]
    assert CliRunner().invoke(rules_command, [*command, "--keep", kept]).exit_code == 0
    result = CliRunner().invoke(rules_command, [*command, kept, "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["changes"] == []
    assert said["effects"][0]["items"] > 0
    assert CliRunner().invoke(rules_command, command).exit_code == 2


def test_ablate_tells_what_changes_where_a_rule_is_off() -> None:
    command = ["ablate", "--set", "open-notes", "--every", "1000", "--rule", "polarity.denied"]
    result = CliRunner().invoke(rules_command, [*command, "--json"])
    assert result.exit_code == 0, result.output
    (said,) = json.loads(result.stdout)
    assert said["rules"] == "polarity.denied"
    wrong = CliRunner().invoke(rules_command, ["ablate", "--rule", "polarity.denid"])
    assert isinstance(wrong.exception, UnknownNameError)
