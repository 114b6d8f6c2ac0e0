"""The verb ``lexicon``: building, showing, refusing."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from rubricate.cli.lexicon import lexicon_command
from rubricate.errors import OutputExistsError, UnknownNameError


def test_show_says_what_the_embedded_lexicon_holds() -> None:
    result = CliRunner().invoke(lexicon_command, ["show", "--json"])
    assert result.exit_code == 0
    shown = json.loads(result.stdout)
    assert {source["name"] for source in shown["sources"]} == {
        "lay_terms",
        "abbreviations",
        "drug_classes",
        "bank",
    }
    assert CliRunner().invoke(lexicon_command, ["show"]).output.count("\n") > 3


def test_show_a_phrase() -> None:
    result = CliRunner().invoke(lexicon_command, ["show", "--phrase", "SOB", "--json"])
    shown = json.loads(result.stdout)
    assert {"phrase": "dyspnea", "source": "lay_terms"} in shown["synonyms"]
    assert "dyspnea" in CliRunner().invoke(lexicon_command, ["show", "--phrase", "SOB"]).output
    assert CliRunner().invoke(lexicon_command, ["show", "--phrase", "zzz"]).exit_code == 0


def test_build_from_one_source_and_show_it(tmp_path: Path) -> None:
    umls = tmp_path / "MRCONSO.RRF"
    row = "C1|ENG|P|L1|PF|S1|Y|A1||||MSH|PT|D1|{}|0|N|256|"
    umls.write_text("\n".join(row.format(name) for name in ("Zebra pain", "Zebralgia")) + "\n")
    out = tmp_path / "lexicon"
    command = ["build", "--out", str(out), "--umls", str(umls), "--source", "umls"]
    result = CliRunner().invoke(lexicon_command, [*command, "--json"])
    assert result.exit_code == 0, result.output
    counts = {source["name"]: source["phrases"] for source in json.loads(result.stdout)["sources"]}
    assert counts["umls"] == 2
    shown = CliRunner().invoke(lexicon_command, ["show", str(out), "--phrase", "zebra pain"])
    assert "Zebralgia" in shown.output
    again = CliRunner().invoke(lexicon_command, command)
    assert isinstance(again.exception, OutputExistsError)
    assert CliRunner().invoke(lexicon_command, [*command, "--overwrite"]).exit_code == 0


def test_an_unknown_source_is_refused(tmp_path: Path) -> None:
    command = ["build", "--out", str(tmp_path / "x"), "--source", "wordnut"]
    result = CliRunner().invoke(lexicon_command, command)
    assert isinstance(result.exception, UnknownNameError)
    assert not (tmp_path / "x").exists()
