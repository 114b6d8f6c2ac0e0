import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubricate import CorpusBuilder, Feature, Note, load_corpus, write_corpus
from rubricate.cli import main

RUN = CliRunner().invoke
FAST = ["--resamples", "50"]


def test_json_has_what_was_promised(tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    RUN(
        main,
        ["convert", "open-notes", str(place), "--output-format", "submission", "--where", "case=0"],
    )
    result = RUN(main, ["evaluate", "open-notes", str(place), "--where", "case=0", "--json", *FAST])
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    measures = [value["characters"], value["presence"]]
    measures += [value["spans"][k] for k in ("exact", "one_side_boundary", "token_overlap")]
    for measure in measures:
        assert {"precision", "recall", "f1", "interval"} <= set(measure)
    assert value["characters"]["f1"] == 1
    assert set(value["cases"]) == {"0"}
    assert len(value["features"]) == 16


def test_a_corpus_that_is_measured_against_itself_is_warned_of() -> None:
    same = ["evaluate", "open-notes", "open-notes", "--where", "case=0", *FAST]
    done = RUN(main, [*same, "--predicted-annotator", "reference"])
    assert done.exit_code == 0 and "against itself" in done.stderr
    other = RUN(main, [*same, "--predicted-annotator", "second_rater", "--missing", "skip"])
    assert other.exit_code == 0 and "against itself" not in other.stderr


def test_decisions_are_counted_in_one_sentence(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    for feature in ("a", "b"):
        builder.add_feature(Feature(feature, "c", feature))
    for i, (truth, found) in enumerate((("ab", "ab"), ("a", "ab"), ("ab", "a"), ("", ""))):
        builder.add_note(Note(f"n{i}", "c", "a b"))
        for who, has in (("truth", truth), ("system", found)):
            for feature in ("a", "b"):
                builder.judge(who, f"n{i}", feature)
            for feature in has:
                builder.annotate(who, f"n{i}", feature, [(0, 1) if feature == "a" else (2, 3)])
    path = str(tmp_path / "both.jsonl")
    write_corpus(builder.build(), path, format="jsonl")
    asked = ["--reference-annotator", "truth", "--predicted-annotator", "system", *FAST]
    done = RUN(main, ["evaluate", path, path, *asked])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Of 8 decisions 2 were wrong: 1 credited, 1 missed.")
    value = json.loads(RUN(main, ["evaluate", path, path, "--json", *asked]).stdout)
    assert value["decisions"] == "Of 8 decisions 2 were wrong: 1 credited, 1 missed."


def test_items_that_the_reference_does_not_have_can_be_left_out(tmp_path: Path) -> None:
    paths = []
    for who, features in (("truth", "a"), ("system", "ab")):
        builder = CorpusBuilder()
        builder.add_note(Note("n", "c", "a b"))
        for feature in features:
            builder.add_feature(Feature(feature, "c", feature))
            builder.annotate(who, "n", feature, [(0, 1)])
        paths.append(str(tmp_path / f"{who}.jsonl"))
        write_corpus(builder.build(), paths[-1], format="jsonl")
    asked = ["evaluate", *paths, *FAST]
    assert RUN(main, asked).exit_code == 1
    done = RUN(main, [*asked, "--unknown", "skip", "--json"])
    assert done.exit_code == 0, done.output
    assert list(json.loads(done.stdout)["features"]) == ["a"]


def test_two_systems_are_compared(tmp_path: Path) -> None:
    for name in ("reference", "second_rater"):
        RUN(main, ["convert", "open-notes", str(tmp_path / f"{name}.jsonl"), "--output-format", "jsonl",
                   "--annotator", name, "--where", "case=0"])  # fmt: skip
    result = RUN(
        main,
        ["evaluate", "open-notes", str(tmp_path / "reference.jsonl"),
         str(tmp_path / "second_rater.jsonl"), "--where", "case=0", "--json", *FAST],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert list(value["systems"]) == ["reference", "second_rater"]
    assert value["comparisons"][0]["characters"]["difference"] > 0


def test_the_ceiling_is_reported() -> None:
    result = RUN(
        main,
        ["evaluate", "open-notes", "open-notes", "--predicted-annotator", "second_rater",
         "--missing", "skip", "--ceiling", "open-notes", "--where", "case=0", "--json", *FAST],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    below = json.loads(result.stdout)["below_ceiling"]
    assert below["characters"]["difference"] == pytest.approx(0)
    assert below["characters"]["same_notes"]


def test_corpora_about_other_notes_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "other.jsonl"
    RUN(
        main, ["convert", "open-notes", str(place), "--output-format", "jsonl", "--where", "case=1"]
    )
    result = RUN(
        main, ["evaluate", "open-notes", str(place), "--predicted-annotator", "reference", *FAST]
    )
    assert result.exit_code == 0
    part = tmp_path / "part.jsonl"
    RUN(main, ["convert", "open-notes", str(part), "--output-format", "jsonl", "--where", "case=0"])
    result = RUN(main, ["evaluate", str(part), str(place), "--predicted-annotator", "reference"])
    assert result.exit_code == 1


def test_agree_takes_one_corpus_or_several(tmp_path: Path) -> None:
    for name in ("reference", "second_rater"):
        RUN(main, ["convert", "open-notes", str(tmp_path / f"{name}.jsonl"), "--output-format", "jsonl",
                   "--annotator", name, "--where", "case=0"])  # fmt: skip
    inside = RUN(main, ["agree", "open-notes", "--where", "case=0", "--json", *FAST])
    apart = RUN(main, ["agree", str(tmp_path / "reference.jsonl"),
                       str(tmp_path / "second_rater.jsonl"), "--json", *FAST])  # fmt: skip
    one, two = json.loads(inside.stdout), json.loads(apart.stdout)
    assert one["overall"]["characters"] == two["overall"]["characters"]
    assert one["case_table"] == two["case_table"]
    shown = RUN(main, ["agree", "open-notes", "--where", "part=depth", *FAST])
    assert shown.exit_code == 0
    assert "0.961" in shown.stdout


def test_agree_says_which_notes_are_left_out_and_refuses_a_corpus_twice(tmp_path: Path) -> None:
    paths = []
    for name, cases in (("reference", ["0"]), ("second_rater", ["0", "1"])):
        part = load_corpus("open-notes").select(cases=cases, annotators=[name])
        paths.append(str(tmp_path / f"{name}.jsonl"))
        write_corpus(part, paths[-1], format="jsonl")
    done = RUN(main, ["agree", *paths, "--json", "--resamples", "20"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["overall"]["characters"]["f1"] > 0.9
    assert done.stderr.startswith("warning: ")
    assert RUN(main, ["agree", paths[0], paths[0]]).exit_code == 2


def test_a_submission_about_all_notes_serves_a_part_of_them(tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    RUN(
        main,
        [
            "convert",
            "open-notes",
            str(place),
            "--output-format",
            "submission",
            "--where",
            "part=depth",
        ],
    )
    chosen = ["--where", "part=depth", "--where", "split=test"]
    done = RUN(main, ["evaluate", "open-notes", str(place), *chosen, "--json", *FAST])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert value["characters"]["f1"] == 1
    assert value["n_missing_rows"] == 0


def test_probabilities_are_calibrated_for_each_system_that_has_them(tmp_path: Path) -> None:
    model, found, plain = (str(tmp_path / name) for name in ("model", "found.jsonl", "plain.jsonl"))
    part = ["--where", "case=4"]
    learn, test = [*part, "--where", "split=train"], [*part, "--where", "split=test"]
    fit = ["fit", "open-notes", *learn, "--matcher", "lexicon", "--folds", "0", "--out", model]
    assert RUN(main, fit).exit_code == 0
    RUN(main, ["match", "open-notes", *test, "--model", model, "--out", found])
    RUN(
        main,
        [
            "convert",
            "open-notes",
            plain,
            "--output-format",
            "jsonl",
            "--annotator",
            "second_rater",
            *test,
        ],
    )
    report = tmp_path / "report"
    asked = ["evaluate", "open-notes", found, plain, *test, *FAST]
    done = RUN(main, [*asked, "--json", "--report", str(report)])
    assert done.exit_code == 0, done.output
    systems = json.loads(done.stdout)["systems"]
    assert "calibration" not in systems["plain"]
    calibration = systems["found"]["calibration"]
    assert calibration["n_rows"] == 320
    assert sum(one["n_rows"] for one in calibration["bins"]) == 320
    for name in ("brier", "ece"):
        estimate = calibration["intervals"][name]
        low, high = estimate["low"], estimate["high"]
        assert 0 <= low <= calibration[name] <= high <= 1
    features = systems["found"]["features"].values()
    assert sum(one["calibration"]["n_rows"] for one in features) == 320
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "Reliability of probabilities: found" in page
    assert "Reliability of probabilities: plain" not in page
    shown = RUN(main, asked).stdout
    assert shown.count("probabilities: Brier") == 1
