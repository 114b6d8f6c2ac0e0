import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubricate.cli import main

RUN = CliRunner().invoke
PART = ["--where", "case=14"]
SMALL = '{"epochs": 2, "word": 8, "hidden": 8, "spelled": 4, "character": 4, "held_out": 0.25}'


def test_a_trained_matcher_writes_its_curves(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    report = tmp_path / "report"
    done = RUN(
        main,
        ["fit", "open-notes", *PART, "--matcher", "bilstm-crf", "--set", f"recipe={SMALL}",
         "--out", str(tmp_path / "model"), "--report", str(report), "--json"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["report"] == str(report / "index.html")
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "bilstm-crf learned from 6 notes, with 2 held out; 2 epochs; epoch" in page
    assert "Loss against epochs" in page
    assert "mean F1 of spans against epochs" in page
    assert "network.hidden" in page
    assert "time of fitting" in page


def test_a_matcher_without_curves_is_refused_before_it_learns(tmp_path: Path) -> None:
    out = tmp_path / "model"
    report = ["--report", str(tmp_path / "report")]
    done = RUN(
        main, ["fit", "open-notes", *PART, "--matcher", "lexicon", "--out", str(out), *report]
    )
    assert done.exit_code == 1
    assert "encoder" in done.output
    assert "lexicon" in done.output
    assert not out.exists()


def test_reports_that_could_not_be_written_are_refused_before_learning(tmp_path: Path) -> None:
    out, report = tmp_path / "model", tmp_path / "report"
    asked = ["fit", "open-notes", *PART, "--matcher", "encoder", "--out", str(out)]
    report.mkdir()
    (report / "index.html").write_text("mine")
    done = RUN(main, [*asked, "--report", str(report)])
    assert done.exit_code == 1
    assert "--overwrite" in done.output
    assert (report / "index.html").read_text() == "mine"
    assert RUN(main, [*asked, "--report", str(out / "report")]).exit_code == 2
    assert not out.exists()


def test_nothing_to_learn_from_leaves_nothing_to_draw(tmp_path: Path) -> None:
    bare = tmp_path / "bare.jsonl"
    RUN(main, ["convert", "open-notes", str(bare), "--output-format", "jsonl", "--where", "case=14",
               "--annotator", "second_rater"])  # fmt: skip
    done = RUN(main, ["fit", str(bare), "--matcher", "encoder", "--out", str(tmp_path / "model"),
                      "--report", str(tmp_path / "report")])  # fmt: skip
    assert done.exit_code == 1
    assert "nothing to draw" in done.output
    assert not (tmp_path / "report").exists()


def test_fitting_goes_on_from_a_model(tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    asked = ["fit", "open-notes", *PART, "--set", "window=40", "--out", str(first)]
    assert RUN(main, [*asked, "--matcher", "exact"]).exit_code == 0
    done = RUN(main, ["fit", "open-notes", *PART, "--model", str(first), "--out", str(again),
                      "--json"])  # fmt: skip
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["matcher"], said["parameters"]["window"]) == ("exact", 40)
    wrong = ["fit", "open-notes", *PART, "--model", str(first), "--out", str(tmp_path / "x")]
    assert RUN(main, [*wrong, "--matcher", "fuzzy"]).exit_code == 2
    assert RUN(main, [*wrong, "--set", "no_such=1"]).exit_code != 0
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("network", ["fast", "accurate"])
def test_shipped_networks_can_be_gone_on_from(tmp_path: Path, network: str) -> None:
    """With no annotated note nothing is learned, and the model is the shipped one."""
    out = tmp_path / "model"
    done = RUN(main, ["fit", "open-notes", *PART, "--annotator", "second_rater",
                      "--model", network, "--out", str(out), "--json"])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["parameters"]["network"] == network
    assert (out / "model.json").is_file()
