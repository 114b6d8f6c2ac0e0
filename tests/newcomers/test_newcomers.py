"""Three people who have never seen the program, each with the files they have.

Every command runs as they would type it, and none of them may fail.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import docx
import openpyxl

from rubricate import CorpusBuilder, read_corpus, write_corpus

NOTES = {
    ("1001", "Case 1"): "Mr Müller, 58 y/o man with crushing chest pain radiating to the left arm."
    "\nHe denies fever. He is sweating.",
    ("1002", "Case 1"): "58 year old man. Pain in the chest since 2 hours, no fever, no cough.",
    ("1003", "Case 1"): "Patient – “very anxious” – with cough and fever. I prescribe antibiotics.",
    (
        "1001",
        "Case 2",
    ): "24 year old woman with throbbing headache and nausea. Light hurts her eyes.",
    ("1002", "Case 2"): "Headache for 3 days, vomited twice. No neck stiffness.",
}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "rubricate", *command],
        cwd=folder, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def make_checklists(path: Path) -> None:
    """Write a workbook as schools keep them: titles, merged cells, units, sums, a penalty."""
    book = openpyxl.Workbook()
    chest = book.worksheets[0]
    chest.title = "Case 1 - Chest pain"
    for row in (
        ["OSCE May 2026 – Station 1: Chest pain"],
        [],
        ["No.", "Checklist item", "Max. points", "Examiner"],
        ["HISTORY"],
        [1, "Chest pain", "2 points"],
        [2, "No fever", "1 pt"],
        [3, "Sweating OR diaphoresis", "1 pt"],
        [],
        [None, "TREATMENT"],
        [4, "Antibiotics prescribed", "-1 pt"],
        [None, "TOTAL", "=SUM(C5:C8)"],
    ):
        chest.append(row)
    chest.merge_cells("A1:D1")
    chest.merge_cells("A4:D4")
    head = book.create_sheet("Case 2 (Headache)")
    for row in (["Feature", "Points"], ["Headache", 1], ["Nausea OR vomiting", 1], ["Total", 2]):
        head.append(row)
    book.create_sheet("Notes for examiners").sheet_state = "hidden"
    book.save(path)


def test_an_administrator_gets_final_scores(tmp_path: Path) -> None:
    # Excel in Germany: "CSV (Trennzeichen-getrennt)".
    lines = [["student_id", "note", "station", "school"]]
    lines += [[student, text, case, "North"] for (student, case), text in NOTES.items()]
    with (tmp_path / "exam.csv").open("w", encoding="cp1252", newline="") as stream:
        csv.writer(stream, delimiter=";", lineterminator="\r\n").writerows(lines)
    make_checklists(tmp_path / "checklists.xlsx")

    looked = run(tmp_path, "rubric", "checklists.xlsx")
    assert "case 'Case 1 - Chest pain'" in looked.stdout and "at most 4 points" in looked.stdout
    scoring = ["score", "exam.csv", "--rubric", "checklists.xlsx", "--matcher", "lexicon"]
    done = run(tmp_path, *scoring, "--out", "scores")
    assert "5 notes of 2 cases; columns id=student_id, text=note, case=station" in done.stderr
    first = {row["note"]: row for row in rows_of(tmp_path / "scores" / "scores.csv")}
    assert {row["status"] for row in first.values()} == {"scored"}
    assert first["1001-Case 1"]["maximum"] == "4" and first["1001-Case 2"]["maximum"] == "2"
    assert (tmp_path / "scores" / "report.html").exists()

    # Somebody looks, and sees it otherwise.
    items = rows_of(tmp_path / "scores" / "items.csv")
    item = next(
        one for one in items if one["note"] == "1002-Case 1" and "Sweating" in one["feature_text"]
    )
    assert item["found"] == "no"
    with (tmp_path / "corrections.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["note", "feature", "found", "by", "at", "comment"])
        writer.writerow([item["note"], item["feature"], "yes", "Dr Weber", "2026-05-14", "said so"])
    run(tmp_path, *scoring, "--out", "scores", "--corrections", "corrections.csv", "--overwrite")
    last = {row["note"]: row for row in rows_of(tmp_path / "scores" / "scores.csv")}
    before, after = (float(one["1002-Case 1"]["score"]) for one in (first, last))
    assert after == before + 1
    assert last["1002-Case 1"]["corrected_items"] == "1"
    run(tmp_path, "trust", "verify", "scores")


def test_an_educator_teaches_a_new_case(tmp_path: Path) -> None:
    for (student, case), text in NOTES.items():
        folder = tmp_path / "notes" / case
        folder.mkdir(parents=True, exist_ok=True)
        document = docx.Document()
        for line in text.split("\n"):
            document.add_paragraph(line)
        document.save(str(folder / f"{student}.docx"))
    make_checklists(tmp_path / "checklists.xlsx")
    files = ["notes", "--rubric", "checklists.xlsx"]

    run(tmp_path, "annotate", *files, "--annotator", "ann", "--out", "marks.html")
    assert (tmp_path / "marks.html").exists()
    # What the page saves when the educator has marked everything: a corpus file.
    run(
        tmp_path,
        "convert",
        "notes",
        "blank.jsonl",
        "--rubric",
        "checklists.xlsx",
        "--output-format",
        "jsonl",
    )
    blank = read_corpus(tmp_path / "blank.jsonl")
    builder = CorpusBuilder()
    for rubric in blank.rubrics:
        builder.add_rubric(rubric)
    phrases = {"Chest pain": ["chest pain", "Pain in the chest"], "No fever": ["denies fever", "no fever"],
               "Headache": ["headache", "Headache"], "Nausea OR vomiting": ["nausea", "vomited"],
               "Sweating OR diaphoresis": ["sweating"]}  # fmt: skip
    for note in blank.notes:
        builder.add_note(note)
        builder.judge_all("ann", note.id)
        for feature in blank.rubric(note.case):
            for phrase in phrases.get(feature.text, []):
                if (start := note.text.find(phrase)) >= 0:
                    builder.annotate("ann", note.id, feature.id, [(start, start + len(phrase))])
    write_corpus(builder.build(), tmp_path / "ann.jsonl", format="jsonl")

    run(tmp_path, "fit", "ann.jsonl", "--matcher", "exact", "--out", "model")
    run(tmp_path, "match", *files, "--model", "model", "--out", "found.jsonl")
    measured = run(tmp_path, "evaluate", "ann.jsonl", "found.jsonl", "--resamples", "50", "--json")
    assert json.loads(measured.stdout)["presence"]["f1"] > 0.9
    run(tmp_path, "score", *files, "--model", "model", "--out", "scores")
    scores = {row["note"]: row["score"] for row in rows_of(tmp_path / "scores" / "scores.csv")}
    assert scores["1001-Case 1"] == "4" and scores["1001-Case 2"] == "2"


DEVELOPER = """
import pandas
import rubricate as r

frame = pandas.read_csv("exam.csv", sep=";", encoding="cp1252")
found = r.score(frame, "checklists.xlsx", matcher="lexicon")
scores = frame.assign(score=list(found.scores["score"]), maximum=list(found.scores["maximum"]))
assert scores.groupby("station")["maximum"].max().to_dict() == {"Case 1": 4.0, "Case 2": 2.0}
worst = found.items[found.items["outcome"] == "not mentioned"].groupby("feature").size()
assert len(worst)
assert "<mark" in found.note("1001-Case 1")._repr_html_()
assert r.plot(found).startswith("<svg")
found.save("scores")
print(len(scores))
"""


def test_a_developer_stays_in_data_frames(tmp_path: Path) -> None:
    lines = [["student_id", "note", "station"]]
    lines += [[student, text, case] for (student, case), text in NOTES.items()]
    with (tmp_path / "exam.csv").open("w", encoding="cp1252", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows(lines)
    make_checklists(tmp_path / "checklists.xlsx")
    (tmp_path / "script.py").write_text(DEVELOPER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "5"
    assert (tmp_path / "scores" / "report.html").exists()
