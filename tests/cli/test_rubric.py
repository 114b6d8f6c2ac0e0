import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubricate import Feature, Rubric, odd_features, read_corpus, read_rubrics
from rubricate.cli import main

RUN = CliRunner().invoke


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "notes.csv").write_bytes(
        "Matrikel;Befund;Station\r\n1;chest pain, naïve;Case 1\r\n2;no fever;Case 1\r\n".encode(
            "cp1252"
        )
    )
    (tmp_path / "rubric.csv").write_text(
        "Case;Item;Points\nCase 1 - Chest;Chest pain;2 pts\nCase 1 - Chest;No fever;1 pt\n"
        "Case 1 - Chest;chest pain!;1\nCase 1 - Chest;TOTAL;9\n",
        encoding="utf-8",
    )
    return tmp_path


def test_a_rubric_is_shown_and_converted(files: Path) -> None:
    done = RUN(
        main, ["rubric", str(files / "rubric.csv"), "--out", str(files / "r.yaml"), "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (case,) = found["cases"]
    assert case["case"] == "Case 1 - Chest" and case["maximum"] == 4.0
    assert len(case["odd"]) == 1 and any("9" in notice for notice in found["notices"])
    assert [f.weight for f in read_rubrics(files / "r.yaml")[0]] == [2.0, 1.0, 1.0]
    plain = RUN(main, ["rubric", str(files / "rubric.csv")])
    assert plain.exit_code == 0 and "3 features, at most 4 points" in plain.stdout
    assert (
        RUN(main, ["rubric", str(files / "r.yaml"), "--out", str(files / "r.yaml")]).exit_code == 2
    )


def test_points_are_shown_as_people_write_them(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("Item;Points\nFever;0,5\nCough;2\n", encoding="utf-8")
    shown = RUN(main, ["rubric", str(path)]).stdout.splitlines()
    assert [line.split()[-1] for line in shown if line.startswith("r-")] == ["0.5", "2"]


def test_every_verb_takes_the_table_and_the_rubric(files: Path) -> None:
    notes, out = str(files / "notes.csv"), files / "out"
    how = ["--columns", "id=Matrikel,text=Befund", "--rubric", str(files / "rubric.csv")]
    for verb, target, more in (
        ("match", "found.jsonl", ["--matcher", "exact"]),
        ("convert", "notes.jsonl", ["--output-format", "jsonl"]),
        ("fit", "model", ["--matcher", "exact"]),
        ("score", "run", ["--matcher", "exact", "--no-report"]),
    ):
        place = str(out / target)
        where = [place] if verb == "convert" else ["--out", place]
        done = RUN(main, [verb, notes, *where, *more, *how])
        assert done.exit_code == 0, done.output
        assert "2 notes of case 'Case 1'; columns id=Matrikel, text=Befund" in done.stderr
        assert "the total says 9" in done.stderr
    corpus = read_corpus(out / "notes.jsonl")
    assert [(r.case, len(r)) for r in corpus.rubrics] == [("Case 1", 3)]
    assert [note.text for note in corpus.notes] == ["chest pain, naïve", "no fever"]


def test_a_study_reads_the_table_and_the_rubric(files: Path) -> None:
    study = files / "study"
    made = RUN(main, ["study", "new", str(study), "--corpus", str(files / "notes.csv"),
                      "--rubric", str(files / "rubric.csv")])  # fmt: skip
    assert made.exit_code == 0, made.output
    settings = (study / "study.toml").read_text(encoding="utf-8")
    settings = settings.replace("the whole text of a feature", "No fever").replace(
        '# columns = "id=student_id,text=note,case=station"', 'columns = "id=Matrikel,text=Befund"'
    )
    (study / "study.toml").write_text(settings, encoding="utf-8")
    done = RUN(main, ["study", "population", str(study), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["summary"]["notes"] == 2


def test_options_that_do_not_fit_are_refused() -> None:
    bad = RUN(main, ["describe", "open-notes", "--columns", "nothing"])
    assert bad.exit_code == 2 and "NAME=COLUMN" in bad.output


@pytest.mark.parametrize("name", ["rubric.xls", "rubric.pdf", "rubric.docx"])
def test_a_file_of_another_kind_is_told_the_kinds_of_rubrics(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0 no rubric")
    done = RUN(main, ["rubric", str(tmp_path / name)])
    assert done.exit_code == 2
    assert ".xlsx" in done.output and "--input-format" not in done.output


def test_what_looks_odd() -> None:
    def odd(*texts: str, group: str = "") -> int:
        features = tuple(Feature(str(i), "c", text, group=group) for i, text in enumerate(texts))
        return sum(1 for _ in odd_features(Rubric("c", features)))

    assert odd("Chest pain", "chest pain.") == 1
    assert odd("Chest pain", "chest pain.", group="g") == 0
    assert odd("Pain for 2 weeks", "Pain for 3 weeks") == 0
    assert odd("Fever", "Fever and chills") == 1
    assert odd("No fever", "Cough OR", "Wheeze or stridor", "Any of: rash, itch") == 3


def test_a_feature_without_a_word_is_named(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,text\n1,Cough\n2,?\n", encoding="utf-8")
    done = RUN(main, ["rubric", str(tmp_path / "r.csv"), "--json"])
    assert done.exit_code == 0, done.output
    (odd,) = json.loads(done.stdout)["cases"][0]["odd"]
    assert "'2'" in odd


@pytest.mark.parametrize("weight", ["1e308", "-1e300", "10001", "1e400", "nan"])
def test_weights_out_of_range_are_refused_with_their_row(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"id,text,weight\n1,Cough,1\n2,Fever,{weight}\n", encoding="utf-8")
    done = RUN(main, ["rubric", str(path)])
    assert done.exit_code != 0
    assert "r.csv" in done.stderr and "row 3" in done.stderr and "10,000" in done.stderr


def test_what_holds_no_rubric_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no fever", encoding="utf-8")
    done = RUN(main, ["rubric", str(tmp_path)])
    assert done.exit_code == 1 and "no rubric" in done.output
