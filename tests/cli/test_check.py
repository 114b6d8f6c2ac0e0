import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import read_corpus
from rubricate.checking import RULES
from rubricate.cli import main
from rubricate.files import file_hash

NOTE = "17 yo M has hot flashes. Denies fever, chills. He is 17."


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small competition folder with faults of several kinds."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "patient_notes.csv").write_text(
        f'pn_num,case_num,pn_history\n16,0,"{NOTE}"\n', encoding="utf-8"
    )
    (folder / "features.csv").write_text(
        "feature_num,case_num,feature_text\n0,0,17-year\n1,0,Male\n2,0,Hot-flashes\n"
        "3,0,No-chills\n4,0,No-fever\n100,1,Male\n",
        encoding="utf-8",
    )
    (folder / "train.csv").write_text(
        "id,case_num,pn_num,feature_num,annotation,location\n"
        "00016_000,0,16,0,\"['17 yo', '17']\",\"['0 5', '53 55']\"\n"
        "00016_001,0,16,1,[],[]\n"
        "00016_002,0,16,2,['ot flashes.'],['13 24']\n"
        "00016_003,0,16,3,['chills'],['39 45']\n"
        "00016_004,0,16,4,['Denies fever'],['27 39']\n"
        "00016_100,0,16,100,['M'],['6 7']\n",
        encoding="utf-8",
    )
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def test_findings_are_counted_and_shown_without_note_text(source: Path) -> None:
    done = run(source)
    assert done.exit_code == 0
    for rule in ("marked-again", "cut-word", "end-punctuation", "negation-left-out"):
        assert rule in done.output
    assert "flashes" not in done.output


def test_json_holds_every_finding(source: Path) -> None:
    result = json.loads(run(source, "--json").output)
    assert list(result["counts"]) == list(RULES)
    found = {rule: count for rule, count in result["counts"].items() if count}
    assert found == {
        "text-mismatch": 1,
        "foreign-feature": 1,
        "end-punctuation": 1,
        "cut-word": 1,
        "negation-left-out": 1,
        "marked-again": 1,
    }
    assert result["counts_by_case"] == {"0": found}
    assert len(result["findings"]) == result["n_findings"] == result["n_repairable"] == 6


def test_fix_writes_a_copy_and_a_log_and_leaves_the_source(source: Path, tmp_path: Path) -> None:
    before = file_hash(source)
    target = tmp_path / "copy"
    done = run(source, "--fix", target, "--json")
    assert done.exit_code == 0
    fixed = json.loads(done.output)["fixed"]
    assert (fixed["format"], fixed["left"], fixed["lost"]) == ("nbme", {}, {})
    assert file_hash(source) == before
    log = Path(f"{target}.changes.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(log) == fixed["n_changes"] == 6
    corpus = read_corpus(target)
    marked = {
        feature.id: [annotation.text(NOTE) for annotation in annotations]
        for _, _, feature, annotations in corpus.values()
    }
    assert marked == {
        "0": ["17 yo"],
        "1": ["M"],
        "2": ["hot flashes"],
        "3": ["Denies chills"],
        "4": ["Denies fever"],
    }
    again = run(target, "--fail")
    assert again.exit_code == 0


def test_another_format_and_a_log_as_csv(source: Path, tmp_path: Path) -> None:
    target, log = tmp_path / "copy.jsonl", tmp_path / "log.csv"
    done = run(
        source, "--fix", target, "--output-format", "jsonl", "--log", log, "--rule", "cut-word"
    )
    assert done.exit_code == 0
    assert len(log.read_text(encoding="utf-8").splitlines()) == 2
    assert "left" not in done.output
    assert len(read_corpus(target, strict=False).notes) == 1


def test_rules_are_chosen_and_skipped(source: Path) -> None:
    chosen = json.loads(run(source, "--rule", "cut-word", "--rule", "repeated", "--json").output)
    assert chosen["counts"] == {"cut-word": 1, "repeated": 0}
    skipped = json.loads(run(source, "--skip", "cut-word", "--json").output)
    assert "cut-word" not in skipped["counts"]
    wrong = run(source, "--rule", "cut-wrod")
    assert wrong.exit_code == 2
    assert "cut-word" in wrong.output


def test_help_names_every_rule() -> None:
    shown = run("--help").output
    assert all(rule in shown for rule in RULES)


def test_fail_asks_for_an_exit_code(source: Path) -> None:
    assert run(source, "--fail").exit_code == 1
    assert run(source, "--fail", "--rule", "repeated").exit_code == 0


@pytest.mark.parametrize("target", ["source", ".", "source/inside"])
def test_the_source_is_never_replaced(source: Path, tmp_path: Path, target: str) -> None:
    before = file_hash(source)
    refused = run(source, "--fix", tmp_path / target, "--overwrite")
    assert refused.exit_code == 2
    assert file_hash(source) == before


def test_neither_copy_nor_log_overwrites(source: Path, tmp_path: Path) -> None:
    target, log = tmp_path / "copy", tmp_path / "copy.changes.jsonl"
    log.write_text("mine", encoding="utf-8")
    assert run(source, "--fix", target).exit_code == 1
    assert not target.exists()
    assert run(source, "--fix", target, "--overwrite").exit_code == 2
    assert log.read_text(encoding="utf-8") == "mine", "it is no log of changes"
    log.unlink()
    assert run(source, "--fix", target).exit_code == 0
    assert run(source, "--fix", target, "--overwrite").exit_code == 0
    log.unlink()
    assert run(source, "--fix", target).exit_code == 1
    assert not log.exists()


@pytest.mark.parametrize("log", ["copy", "copy/log.csv"])
def test_the_log_may_not_lie_in_the_copy(source: Path, tmp_path: Path, log: str) -> None:
    for more in ((), ("--overwrite", "--output-format", "jsonl")):
        refused = run(source, "--fix", tmp_path / "copy", "--log", tmp_path / log, *more)
        assert refused.exit_code == 2
    assert list(tmp_path.iterdir()) == [source]


def test_there_is_no_copy_without_its_log(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    refused = run(source, "--fix", tmp_path / "copy", "--log", tmp_path / "file" / "log.csv")
    assert refused.exit_code == 1
    assert not (tmp_path / "copy").exists()


def test_options_of_the_copy_need_a_copy(source: Path) -> None:
    assert run(source, "--output-format", "jsonl").exit_code == 2
    assert run(source, "--log", "x.csv").exit_code == 2


def test_unknown_format_is_refused_before_any_work(source: Path, tmp_path: Path) -> None:
    refused = run(source, "--fix", tmp_path / "copy", "--output-format", "brta")
    assert refused.exit_code == 2
    assert "brat" in refused.output
