import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubricate import load_corpus, read_corpus, write_corpus
from rubricate.cli import main

RUN = CliRunner().invoke


def test_fit_then_match_then_evaluate(tmp_path: Path) -> None:
    model, found = tmp_path / "model", tmp_path / "found.jsonl"
    done = RUN(main, ["fit", "open-notes", "--matcher", "exact", "--out", str(model),
                      "--where", "case=0", "--where", "split=train"])  # fmt: skip
    assert done.exit_code == 0, done.output
    match = [
        "match",
        "open-notes",
        "--where",
        "case=0",
        "--where",
        "split=test",
        "--model",
        str(model),
    ]
    done = RUN(main, [*match, "--out", str(found), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"] == 20 * 16
    corpus = read_corpus(found)
    assert corpus.rows.confidence is not None
    assert all(d.reason for d in corpus.rows.details.values())
    submission = tmp_path / "submission.csv"
    assert RUN(main, [*match, "--out", str(submission)]).exit_code == 0
    for place in (found, submission):
        done = RUN(main, ["evaluate", "open-notes", str(place), "--where", "case=0",
                          "--where", "split=test", "--json", "--resamples", "20"])  # fmt: skip
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["characters"]["f1"] > 0.2


def test_nothing_is_overwritten_and_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    refused = RUN(
        main, ["fit", "open-notes", "--matcher", "exact", "--out", str(tmp_path / "model")]
    )
    assert refused.exit_code == 1
    wrong = RUN(main, ["fit", "open-notes", "--matcher", "exakt", "--out", str(tmp_path / "m")])
    assert wrong.exit_code == 2
    assert "exact" in wrong.output
    assert RUN(main, ["match", "open-notes", "--matcher", "exact", "--out", "x.pdf"]).exit_code == 2
    both = ["match", "open-notes", "--model", "fast", "--matcher", "exact"]
    assert RUN(main, [*both, "--out", str(tmp_path / "x.jsonl")]).exit_code == 2


def test_fit_says_how_many_notes_it_could_learn_from(tmp_path: Path) -> None:
    place = ["fit", "open-notes", "--matcher", "exact", "--where", "case=0", "--out"]
    done = RUN(main, [*place, str(tmp_path / "m"), "--annotator", "second_rater", "--json"])
    assert json.loads(done.stdout)["notes"] == 20 and "warning" not in done.stderr
    notes = load_corpus("open-notes").select(cases=["0"], annotators=())
    write_corpus(notes, tmp_path / "notes.jsonl", format="jsonl")
    fit = ["fit", str(tmp_path / "notes.jsonl"), "--matcher", "lexicon", "--out"]
    done = RUN(main, [*fit, str(tmp_path / "n")])
    assert done.exit_code == 0 and "rubric only" in done.stderr, done.output


def test_compare_prints_a_table_and_json(tmp_path: Path) -> None:
    arguments = ["compare", "open-notes", "--where", "case=0", "--matchers", "exact", "--folds", "2",
                 "--resamples", "20"]  # fmt: skip
    shown = RUN(main, arguments)
    assert shown.exit_code == 0, shown.output
    assert "annotators" in shown.stdout
    value = json.loads(RUN(main, [*arguments, "--notes-per-case", "5,10", "--json"]).stdout)
    assert list(value["groups"]) == ["5", "10"]
    assert RUN(main, [*arguments, "--notes-per-case", "5,x"]).exit_code == 2
    assert RUN(main, ["compare", "open-notes", "--matchers", "nope"]).exit_code == 2


def test_nothing_found_is_said_on_standard_error(tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    done = RUN(main, ["match", "open-notes", "--where", "case=0", "--where", "split=test",
                      "--matcher", "fuzzy", "--out", str(out), "--json"])  # fmt: skip
    assert done.exit_code == 0
    assert json.loads(done.stdout)["annotations"] == 0
    assert "--model" in done.stderr


def test_several_models_are_averaged(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    from rubricate.neural.encoder.matcher import EncoderMatcher

    for name in ("a", "b"):
        EncoderMatcher(threads=1).save(tmp_path / name)
    notes = load_corpus("open-notes").select(cases=["14"], annotators=())
    few = tmp_path / "few.jsonl"
    write_corpus(notes.select(notes=[n.id for n in notes.notes[:1]]), few, format="jsonl")
    found = []
    for out, models in (("one", ["a"]), ("two", ["a", "b"])):
        given = [part for name in models for part in ("--model", str(tmp_path / name))]
        done = RUN(main, ["match", str(few), "--out", str(tmp_path / f"{out}.jsonl"), *given])
        assert done.exit_code == 0, done.output
        found.append(read_corpus(tmp_path / f"{out}.jsonl"))
    assert found[0].rows.start.tolist() == found[1].rows.start.tolist()
    assert found[0].rows.end.tolist() == found[1].rows.end.tolist()


def test_only_encoders_are_averaged(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    for name in ("a", "b"):
        RUN(main, ["fit", "open-notes", "--matcher", "exact", "--where", "case=30",
                   "--out", str(tmp_path / name)])  # fmt: skip
    done = RUN(main, ["match", "open-notes", "--where", "case=30", "--model", str(tmp_path / "a"),
                      "--model", str(tmp_path / "b"), "--out", str(tmp_path / "x.jsonl")])  # fmt: skip
    assert done.exit_code == 1
    assert "exact" in done.stderr


@pytest.mark.parametrize("model", ["fast", "cascade"])
def test_the_encoder_seeks_as_many_features_a_pass_as_asked(tmp_path: Path, model: str) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    note = load_corpus("open-notes").select(cases=["14"]).notes[0]
    one = tmp_path / "one.jsonl"
    corpus = load_corpus("open-notes").select(notes=[note.id], cases=["14"])
    write_corpus(corpus, one, format="jsonl")
    probabilities = []
    for per_pass in ("1", "all"):
        out = tmp_path / f"{per_pass}.jsonl"
        done = RUN(main, ["match", str(one), "--model", model, "--features-per-pass", per_pass,
                          "--out", str(out)])  # fmt: skip
        assert done.exit_code == 0, done.output
        rows = read_corpus(out).rows
        assert rows.probability is not None
        probabilities.append(rows.probability.tolist())
    assert probabilities[0] != probabilities[1]
    for wrong in (["--features-per-pass", "0"], ["--matcher", "exact", "--features-per-pass", "2"]):
        done = RUN(main, ["match", str(one), *wrong, "--out", str(tmp_path / "no.jsonl")])
        assert done.exit_code == 2
    assert not (tmp_path / "no.jsonl").exists()
