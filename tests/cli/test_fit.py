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
    done = RUN(
        main, ["fit", "open-notes", *PART, "--out", str(out), "--report", str(tmp_path / "report")]
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
    RUN(main, ["convert", "open-notes", str(bare), "--to", "jsonl", "--where", "case=14",
               "--annotator", "second_rater"])  # fmt: skip
    done = RUN(main, ["fit", str(bare), "--matcher", "encoder", "--out", str(tmp_path / "model"),
                      "--report", str(tmp_path / "report")])  # fmt: skip
    assert done.exit_code == 1
    assert "nothing to draw" in done.output
    assert not (tmp_path / "report").exists()
