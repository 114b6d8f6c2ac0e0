import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import Corpus, Feature, Note, Rubric, load_corpus, write_corpus
from rubricate.cli import main
from rubricate.cli.failures import in_flags
from rubricate.cli.route import route_command
from rubricate.cli.score import score_command
from rubricate.errors import RubricateError
from rubricate.formats.rubric import write_rubrics
from rubricate.matchers import fit_matcher, load_matcher

NOTES = ["open-notes", "--where", "case=0", "--where", "split=test"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "exact"
    corpus = load_corpus("open-notes").select(cases=["0"])
    train = corpus.select(notes=lambda note: note.metadata["split"] == "train")
    fit_matcher("exact", train, annotator="reference").save(folder)
    return folder


def score(*arguments: str) -> Result:
    return CliRunner().invoke(score_command, list(arguments))


def test_score_prints_what_it_did(model: Path, tmp_path: Path) -> None:
    done = score(*NOTES, "--model", str(model), "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert "20" in done.stdout
    assert (tmp_path / "out" / "scores.xlsx").exists()


def test_json_goes_to_standard_output(model: Path, tmp_path: Path) -> None:
    done = score(*NOTES, "--model", str(model), "--out", str(tmp_path / "out"), "--json")
    value = json.loads(done.stdout)
    assert value["counts"]["scored"] == 20
    assert value["matcher"] == "exact"
    assert value["times"]["seconds"]["all"] > 0


def test_a_policy_sends_items_to_review(model: Path, tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    found, policy = tmp_path / "found.jsonl", tmp_path / "policy.json"
    write_corpus(load_matcher(model).predict(corpus), found, format="jsonl")
    arguments = ["open-notes", str(found), "--where", "case=0", "--out", str(policy),
                 "--reference-annotator", "reference", "--max-error", "0.1"]  # fmt: skip
    routed = CliRunner().invoke(route_command, arguments)
    assert routed.exit_code == 0, routed.output
    assert "upper limit" in routed.stdout
    assert CliRunner().invoke(route_command, arguments).exit_code == 1
    value = json.loads(
        CliRunner().invoke(route_command, [*arguments, "--overwrite", "--json"]).stdout
    )
    assert value["curve"]
    done = score(*NOTES, "--model", str(model), "--policy", str(policy), "--out",
                 str(tmp_path / "out"), "--json")  # fmt: skip
    counts = json.loads(done.stdout)["counts"]
    assert 0 < counts["review"] <= counts["items"]


def test_doubt_is_said_and_can_be_changed(model: Path, tmp_path: Path) -> None:
    arguments = [*NOTES, "--matcher", "lexicon", "--no-report"]
    done = score(*arguments, "--out", str(tmp_path / "a"))
    assert "between 0.2 and 0.8" in done.stdout
    assert "no error guarantee" in done.stdout
    assert all(word in done.stdout for word in ("stated", "contradicted", "not mentioned"))
    wide = json.loads(
        score(*arguments, "--out", str(tmp_path / "b"), "--unsure", "0,1", "--json").stdout
    )
    off = json.loads(
        score(*arguments, "--out", str(tmp_path / "c"), "--unsure", "off", "--json").stdout
    )
    assert wide["unsure"] == {"low": 0.0, "high": 1.0}
    assert wide["counts"]["unsure"] > off["counts"]["unsure"] == off["counts"]["review"] == 0
    assert "unsure" not in off
    for wrong in ("0.2", "high,low", "0.6,0.8"):
        assert score(*arguments, "--out", str(tmp_path / "d"), "--unsure", wrong).exit_code != 0


def test_texts_that_are_no_notes_are_for_review_unless_told(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    recipe = Path(__file__).parents[1] / "resources" / "no_notes" / "pancakes.txt"
    (texts / "recipe.txt").write_text(recipe.read_text(encoding="utf-8"), encoding="utf-8")
    rubric = tmp_path / "rubric.csv"
    rubric.write_text("Item\nChest pain\nNo fever\nVomiting for two days\nFather had a stroke\n")
    arguments = [str(texts), "--rubric", str(rubric), "--matcher", "lexicon", "--json"]
    value = json.loads(score(*arguments, "--out", str(tmp_path / "a")).stdout)
    assert sum(value["counts"]["for_review"].values()) == 1
    assert (value["counts"]["scored"], value["counts"]["review"]) == (0, 4)
    value = json.loads(score(*arguments, "--out", str(tmp_path / "b"), "--any-text").stdout)
    assert (value["counts"]["scored"], value["counts"]["for_review"]) == (1, {})


def test_wrong_settings_are_refused(model: Path, tmp_path: Path) -> None:
    out = ["--model", str(model), "--out", str(tmp_path / "out")]
    assert score(*NOTES, *out, "--batch-size", "0").exit_code == 2
    assert score(*NOTES, *out, "--workers", "1", "--dask", "tcp://127.0.0.1:9").exit_code == 1
    assert score("open-notes", "--where", "split", *out).exit_code == 2
    assert not (tmp_path / "out" / "run.json").exists()


def test_a_run_that_lacks_its_report_says_how_to_get_it(model: Path, tmp_path: Path) -> None:
    arguments = [*NOTES, "--model", str(model), "--out", str(tmp_path / "out")]
    assert score(*arguments, "--no-report").exit_code == 0
    again = score(*arguments)
    assert again.exit_code == 1
    assert "trust report" in str(again.exception) + again.output
    assert score(*arguments, "--overwrite").exit_code == 0
    assert (tmp_path / "out" / "report.html").exists()


def test_several_encoders_are_averaged(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    from rubricate.neural.encoder.matcher import EncoderMatcher

    saved = tmp_path / "saved"
    EncoderMatcher().save(saved)
    notes = ["open-notes", "--where", "case=14", "--no-report", "--json"]
    alone = score(*notes, "--model", str(saved), "--out", str(tmp_path / "one"))
    both = score(
        *notes, "--model", str(saved), "--model", str(saved), "--out", str(tmp_path / "two")
    )
    assert both.exit_code == 0, both.output
    counts = json.loads(both.stdout)["counts"]
    assert counts["found"] == json.loads(alone.stdout)["counts"]["found"] > 0
    assert (tmp_path / "two" / "model" / "members.json").is_file()
    again = score(
        *notes, "--model", str(saved), "--model", str(saved), "--out", str(tmp_path / "two")
    )
    assert again.exit_code == 1


def test_other_matchers_cannot_be_averaged(model: Path, tmp_path: Path) -> None:
    done = score(
        *NOTES, "--model", str(model), "--model", str(model), "--out", str(tmp_path / "out")
    )
    assert done.exit_code == 1
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())


def test_terminal_report_and_record_tell_the_same_counts(model: Path, tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    notes = [
        *corpus.notes[:6],
        Note("lorem", "0", "lorem ipsum dolor sit amet " * 12),
        Note("empty", "0", ""),
        Note("copy", "0", corpus.notes[0].text),
    ]
    write_corpus(Corpus(tuple(notes), corpus.rubrics), tmp_path / "n.jsonl", format="jsonl")
    out = tmp_path / "out"
    fixed = tmp_path / "corrections.csv"
    fixed.write_text(f"note,feature,found,by,at\n{notes[1].id},1,no,Ann,2026-11-14\n")
    done = score(str(tmp_path / "n.jsonl"), "--model", str(model), "--out", str(out),
                 "--corrections", str(fixed))  # fmt: skip
    assert done.exit_code == 0, done.output
    counts = json.loads((out / "run.json").read_text(encoding="utf-8"))["counts"]
    page = (out / "report.html").read_text(encoding="utf-8")
    glance = page[page.index('id="overview"') : page.index('id="scores"')]
    shown = dict(re.findall(r"<th[^>]*>([^<]+)</th><td[^>]*>([\d,]+)", glance))
    names = {"notes": "notes", "scored": "scored", "items": "items", "stated": "stated",
             "contradicted": "contradicted", "not mentioned": "not_mentioned",
             "items for review": "review", "items decided by hand": "corrected",
             "identical to an earlier one": "identical"}  # fmt: skip
    assert {n: shown[n] for n in names} == {n: f"{counts[k]:,}" for n, k in names.items()}
    assert counts["items"] > counts["stated"] + counts["contradicted"] + counts["not_mentioned"]
    assert f"of {counts['items']:,} items {counts['stated']:,} stated" in done.stdout
    assert f"{counts['review']:,} (" in done.stdout and "1 corrected" in done.stdout
    assert f"{counts['review']:,} items need review" in page
    assert "There is no review policy" in page
    warned = page[page.index('class="warnings"') : page.index("</aside>")]
    for note in ("lorem", "empty", "copy"):
        assert f">{note}</a>" in warned


@pytest.mark.parametrize(
    "options",
    [
        ["--workers", "-1"],
        ["--batch-size", "0"],
        ["--max-chars", "0"],
        ["--note-timeout", "-1"],
        ["--unsure", ".9,1"],
    ],
)
def test_options_that_make_no_sense_are_usage_errors(options: list[str], tmp_path: Path) -> None:
    done = score(*NOTES, "--out", str(tmp_path / "out"), *options)
    assert done.exit_code == 2 and options[-2] in done.output
    assert not (tmp_path / "out").exists()


def test_a_matcher_beside_a_model_is_wrong_usage(tmp_path: Path) -> None:
    options = ["--out", str(tmp_path / "out"), "--model", "fast", "--matcher", "lexicon"]
    done = CliRunner().invoke(main, ["score", *NOTES, *options])
    assert done.exit_code == 2 and "--model and --matcher cannot be used together" in done.output
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    assert score(*NOTES, "--out", str(tmp_path / "out"), "--overwrite").exit_code == 2
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_who_stops_a_run_is_told_how_it_goes_on(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rubricate.scoring.score_notes", stop)
    done = score(*NOTES, "--model", str(model), "--out", str(tmp_path / "out"))
    assert done.exit_code == 1 and "to continue" in done.stderr


def test_notes_that_name_no_case_are_told_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("id,text\n1,fever\n", encoding="utf-8")
    (tmp_path / "rubric.csv").write_text("case,item\na,Fever\nb,Cough\n", encoding="utf-8")
    files = [str(tmp_path / "notes.csv"), "--rubric", str(tmp_path / "rubric.csv")]
    done = score(*files, "--matcher", "exact", "--out", str(tmp_path / "out"))
    assert isinstance(done.exception, RubricateError)
    assert "--assign-case NAME" in done.exception.worded(in_flags)


WORDS = "45M with fever and cough for three days, no chest pain, denies shortness of breath."


@pytest.mark.parametrize("kind", ["table", "other names", "texts", "workbook"])
def test_notes_and_rubric_given_for_each_other_are_told(kind: str, tmp_path: Path) -> None:
    rubric, notes = tmp_path / "rubric.csv", tmp_path / "notes.csv"
    rubric.write_text("case,id,text\nc,f1,Fever\nc,f2,Chest pain\n", encoding="utf-8")
    notes.write_text(f'id,case,text\n1,c,"{WORDS}"\n2,c,"{WORDS}"\n', encoding="utf-8")
    if kind == "other names":
        rubric.write_text("Item,Points\nFever,1\nChest pain,2\n", encoding="utf-8")
    if kind == "texts":
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "1.txt").write_text(WORDS, encoding="utf-8")
    if kind == "workbook":
        rubric = tmp_path / "rubric.xlsx"
        write_rubrics([Rubric("c", (Feature("f", "c", "Fever"),))], rubric)
    out = tmp_path / "out"
    for command in ([str(rubric), "--rubric", str(notes)], [str(notes), "--rubric", str(rubric)]):
        done = score(*command, "--matcher", "exact", "--out", str(out))
        swapped = command[0] == str(rubric)
        assert ("swapped" in f"{done.output}{done.exception}") == swapped, done.output
        assert out.exists() != swapped
        # Without a group around it, the command itself does not turn our errors into exit codes.
        assert bool(done.exception) == swapped


def test_a_run_without_any_score_fails_and_one_with_some_says_why_not_all(tmp_path: Path) -> None:
    note = "58 yo man with chest pain and nausea since Monday. no fever. pmh htn. "
    rubric = tmp_path / "rubric.csv"
    rubric.write_text("case,text\nc,Chest pain\n", encoding="utf-8")

    def scored(name: str, texts: list[str], *more: str) -> Result:
        table = tmp_path / f"{name}.csv"
        rows = "".join(f"n{k},c,{text}\n" for k, text in enumerate(texts))
        table.write_text(f"id,case,text\n{rows}", encoding="utf-8")
        return score(str(table), "--rubric", str(rubric), "--matcher", "exact", "--no-report",
                     "--max-chars", "100", "--out", str(tmp_path / name), *more)  # fmt: skip

    long = note * 3
    for name, more in (("none", ()), ("none as json", ("--json",))):
        done = scored(name, [long, long[:150], ""], *more)
        assert done.exit_code == 1, done.output
        assert "no note has a score" in done.stderr
        assert "(2)" in done.stderr and "(1)" in done.stderr, "reasons with counts"
        assert (tmp_path / name / "scores.csv").exists(), "what is known is written"
    done = scored("some", [note, long])
    assert done.exit_code == 0, done.output
    assert "1 of 2 notes" in done.stderr and "(1)" in done.stderr
    assert scored("strict", [note, long], "--strict").exit_code == 1
    done = scored("all", [note], "--strict")
    assert done.exit_code == 0 and "score" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_corrections_from_a_pipe_are_refused_and_not_waited_for(
    model: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = score(*NOTES, "--model", str(model), "--out", str(tmp_path / "out"),
                 "--corrections", str(tmp_path / "pipe"))  # fmt: skip
    assert done.exit_code == 2 and "pipe" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are set by the shell")
def test_where_there_is_no_room_for_a_workbook_it_is_named(tmp_path: Path) -> None:
    """The library that writes it has an error of its own for that."""
    shell = 'ulimit -f 4; exec "$0" -P -m rubricate rubric open-notes --out out.xlsx'
    done = subprocess.run(["sh", "-c", shell, sys.executable], cwd=tmp_path, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 1 and done.stderr.startswith("Error: out.xlsx cannot be written")
    assert len(done.stderr.splitlines()) == 1, "nothing is said about a file left open"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are set by the shell")
@pytest.mark.parametrize(
    "command",
    ["convert open-notes out --output-format parquet --where case=0", "fit open-notes --where case=0 --where split=test --matcher lexicon --folds 0 --out out",
     "convert open-notes out --output-format brat --where case=0"],
)  # fmt: skip
def test_where_there_is_no_room_the_output_is_named(command: str, tmp_path: Path) -> None:
    shell = f'ulimit -f 4; exec "$0" -P -m rubricate {command}'
    done = subprocess.run(["sh", "-c", shell, sys.executable], cwd=tmp_path, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "out cannot be written" in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
