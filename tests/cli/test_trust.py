import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import Corpus, load_corpus, write_corpus
from rubricate.cli.trust import trust_command
from rubricate.errors import InputError, OutputExistsError


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(trust_command, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus("open-notes").select(cases=["0"])


def write_run(folder: Path, corpus: Corpus, *, lose: str = "") -> Path:
    folder.mkdir()
    with (
        (folder / "scores.csv").open("w", encoding="utf-8", newline="") as scores,
        (folder / "items.csv").open("w", encoding="utf-8", newline="") as items,
    ):
        score_rows, item_rows = csv.writer(scores), csv.writer(items)
        score_rows.writerow(["note", "case", "score", "maximum"])
        item_rows.writerow(["note", "feature", "found", "probability", "spans", "review"])
        for note in corpus.notes:
            total = 0
            for feature in corpus.rubric(note.case):
                found = corpus.annotations(note.id, feature.id, "reference") or ()
                found = () if feature.id == lose else found
                total += bool(found)
                spans = "|".join(";".join(f"{s.start} {s.end}" for s in a.spans) for a in found)
                answer = "yes" if found else "no"
                item_rows.writerow(
                    [note.id, feature.id, answer, "0.9" if found else "0.1", spans, "no"]
                )
            score_rows.writerow([note.id, note.case, total, 16])
    return folder


@pytest.fixture(scope="module")
def folders(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("runs")
    return write_run(place / "whole", corpus), write_run(place / "less", corpus, lose="5")


def test_leniency_against_annotations(folders: tuple[Path, Path]) -> None:
    arguments = ["--reference", "open-notes", "--resamples", "100"]
    found = json.loads(run("leniency", folders[1], *arguments, "--json").stdout)
    assert found["verdict"] == "severe"
    assert found["notes"] == 100
    same = run("leniency", folders[0], *arguments)
    assert same.exit_code == 0
    assert same.stdout.startswith("neither")


def test_drift_flags_the_feature_and_can_fail(folders: tuple[Path, Path]) -> None:
    found = json.loads(run("drift", *folders, "--json").stdout)
    assert found["drifted"]
    assert [f["feature"] for f in found["features"] if f["flag"]] == ["5"]
    assert run("drift", *folders).exit_code == 0
    assert run("drift", *folders, "--fail").exit_code == 1
    assert run("drift", folders[0], folders[0], "--fail").exit_code == 0


def test_drift_names_the_notes_that_changed_most(folders: tuple[Path, Path]) -> None:
    found = json.loads(run("drift", *folders, "--json").stdout)["changes"]
    most = found["changed_most"]
    assert 0 < len(most) <= found["scores_changed"]
    changes = [abs(one["change"]) for one in most]
    assert changes == sorted(changes, reverse=True)
    shown = run("drift", *folders)
    assert most[0]["note"] in shown.stdout and "another score" in shown.stdout


def test_drift_reads_the_notes_of_both_or_of_none(folders: tuple[Path, Path]) -> None:
    both = ["--notes-before", "open-notes", "--notes-after", "open-notes"]
    found = json.loads(run("drift", *folders, *both, "--json").stdout)
    assert {m["measure"] for m in found["measures"]} >= {"length in words", "unknown words"}
    assert run("drift", *folders, *both[:2]).exit_code == 2


def test_fairness_by_metadata_and_by_table(
    folders: tuple[Path, Path], corpus: Corpus, tmp_path: Path
) -> None:
    arguments = ["--group", "site", "--resamples", "50", "--json"]
    table = tmp_path / "groups.csv"
    lines = [f"{note.id},{'ab'[i % 2]}" for i, note in enumerate(corpus.notes)]
    table.write_text("\n".join(["note,site", *lines]), encoding="utf-8")
    found = json.loads(
        run(
            "fairness", folders[1], *arguments, "--groups", table, "--reference", "open-notes"
        ).stdout
    )
    assert found["groups"] == {"a": 50, "b": 50}
    assert {c["measure"] for c in found["contrasts"]} >= {"score", "error", "missed"}
    assert len(found["features"]) == 16
    assert set(found["rates"]["a"]) == {"items found", "items for review"}
    assert found["left_out"] == {}
    shown = run(
        "fairness", folders[0], "--group", "fold", "--notes", "open-notes", "--min-size", "10"
    )
    assert shown.exit_code == 0, shown.output
    assert "beyond chance" in shown.stdout
    assert run("fairness", folders[0], "--group", "site").exit_code == 2
    # A group that is too small, and notes without one, are named with the reason.
    few = [f"{note.id},{'small' if i < 5 else 'large'}" for i, note in enumerate(corpus.notes[9:])]
    table.write_text("\n".join(["note,site", *few]), encoding="utf-8")
    wanted = ["fairness", folders[0], "--group", "site", "--groups", table, "--resamples", "50"]
    written = ["--out", tmp_path / "groups.out.csv", "--report", tmp_path / "page"]
    shown = run(*wanted, *written)
    assert shown.exit_code == 0, shown.output
    assert "too few" in shown.stdout and "9 notes have no group" in shown.stdout
    lines = (tmp_path / "groups.out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("group,notes,score,") and len(lines) == 3
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "too few" in page and "large" in page
    assert isinstance(run(*wanted, *written).exception, OutputExistsError)
    unknown = run("fairness", folders[0], "--group", "site", "--notes", "open-notes")
    assert isinstance(unknown.exception, InputError)


def test_duplicates_prints_ids_only(corpus: Corpus, tmp_path: Path) -> None:
    from dataclasses import replace

    notes = list(corpus.notes)
    notes[1] = replace(notes[1], text=notes[0].text)
    twice = Corpus(tuple(notes), corpus.rubrics)
    write_corpus(twice, tmp_path / "notes.jsonl", format="jsonl")
    shown = run("duplicates", tmp_path / "notes.jsonl")
    assert "10000 10001" in shown.stdout
    assert "chest" not in shown.stdout
    found = json.loads(run("duplicates", "open-notes", "--where", "case=0", "--json").stdout)
    assert found == {"notes": 100, "clusters": []}


def test_gaming_with_and_without_a_run(folders: tuple[Path, Path]) -> None:
    plain = json.loads(run("gaming", "open-notes", "--where", "case=0", "--json").stdout)
    assert plain == {"notes": 100, "flags": []}
    assert run("gaming", "open-notes", "--where", "case=0", "--run", folders[0]).exit_code == 0


def test_report_is_written_once(corpus: Corpus, folders: tuple[Path, Path], tmp_path: Path) -> None:
    place = write_run(tmp_path / "run", corpus)
    done = run("report", place, "open-notes", "--where", "case=0", "--previous", folders[1])
    assert done.exit_code == 0, done.output
    assert (place / "report.html").is_file()
    assert run("report", place, "open-notes", "--where", "case=0").exit_code == 1
    assert run("report", place, "open-notes", "--where", "case=0", "--overwrite").exit_code == 0


def test_the_page_about_a_run_can_be_had_in_word_and_markdown(
    corpus: Corpus, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    place = write_run(tmp_path / "run", corpus)
    arguments = ("report", place, "open-notes", "--where", "case=0", "--overwrite", "--copy")
    assert run(*arguments, tmp_path / "scores.pdf").exit_code == 2
    assert not (place / "report.html").exists()
    for name in ("scores.docx", "scores.md"):
        done = run(*arguments, tmp_path / name)
        assert done.exit_code == 0, done.output
        assert (tmp_path / name).stat().st_size > 1_000
    text = (tmp_path / "scores.md").read_text("utf-8")
    assert "## At a glance" in text and "](scores-figures/figure-1.svg)" in text


@pytest.mark.parametrize(
    "name", ["leniency", "drift", "fairness", "duplicates", "gaming", "report"]
)
def test_every_command_has_an_example(name: str) -> None:
    assert f"Example: rubricate trust {name}" in run(name, "--help").output


def test_tables_that_can_be_scored_can_be_looked_at(tmp_path: Path) -> None:
    notes, rubric = tmp_path / "notes.csv", tmp_path / "rubric.csv"
    text = "chest pain since the morning with no fever at all"
    notes.write_text(f"note,text\n1,{text}\n2,{text}\n")
    rubric.write_text("case,feature,text\nc,f,Chest pain\n")
    run = CliRunner().invoke
    found = json.loads(run(trust_command, ["duplicates", str(notes), "--json"]).stdout)
    assert [cluster["notes"] for cluster in found["clusters"]] == [["1", "2"]]
    flags = run(trust_command, ["gaming", str(notes), "--rubric", str(rubric), "--json"])
    assert json.loads(flags.stdout) == {"notes": 2, "flags": []}
    assert run(trust_command, ["gaming", str(notes)]).exit_code == 1


def test_drift_words_its_features_and_fairness_says_that_nothing_is_compared(
    tmp_path: Path,
) -> None:
    for name, found in (("before", "yes"), ("after", "no")):
        place = tmp_path / name
        place.mkdir()
        notes = [f"{name}{i}" for i in range(40)]
        scores = ["note,case,score,maximum", *(f"{note},c,1,1" for note in notes)]
        items = ["note,case,feature,feature_text,found,probability,spans,review"]
        spans = "0 2" if found == "yes" else ""
        items += [f"{note},c,c-1,Chest pain,{found},0.9,{spans},no" for note in notes]
        (place / "scores.csv").write_text("\n".join(scores), encoding="utf-8")
        (place / "items.csv").write_text("\n".join(items), encoding="utf-8")
        groups = [f"{note},{'a' if i < 35 else 'b'}" for i, note in enumerate(notes)]
        (place / "groups.csv").write_text("\n".join(["note,site", *groups]), encoding="utf-8")
    shown = run("drift", tmp_path / "before", tmp_path / "after").stdout
    assert "Chest pain" in shown and "<0.001" in shown and "c-1" not in shown
    after = tmp_path / "after"
    told = run("fairness", after, "--group", "site", "--groups", after / "groups.csv").stdout
    assert told.startswith("1 of 2 groups large enough: nothing can be compared")
    assert "no feature was tested" in told
