"""The decisions of a run, with person and score, are kept over every later run."""

import csv
import json
import shutil
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rubricate import Corpus, Feature, Note, Rubric
from rubricate.cli import main
from rubricate.errors import InputError
from rubricate.matchers import Matcher, fit_matcher
from rubricate.run import read_results
from rubricate.run.writing import LOG, read_log
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.trust import run_history, verify_run

openpyxl = pytest.importorskip("openpyxl")
RUBRIC = Rubric(
    "Case 1",
    (
        Feature("a", "Case 1", "Chest pain", weight=2.0),
        Feature("b", "Case 1", "Sweating", group="either"),
        Feature("c", "Case 1", "Nausea", group="either"),
        Feature("d", "Case 1", "No fever"),
    ),
)
NOTE = Note("n1", "Case 1", "58 yo man with chest pain and nausea. no fever. pmh htn.")
OTHER = Note("n2", "Case 1", "58 yo man with sweating and chest pain since Monday. pmh htn.")


def score(
    out: Path, corrections: str | Path = "", *, notes: tuple[Note, ...] = (NOTE, OTHER)
) -> None:
    path: Path | None = None
    if isinstance(corrections, Path):
        path = corrections
    elif corrections:
        path = out.parent / "corrections.csv"
        path.write_text(f"note,feature,found,by,at,comment\n{corrections}", encoding="utf-8")
    corpus = Corpus(notes, (RUBRIC,))
    settings = ScoreSettings(overwrite=True, any_text=True)
    score_notes(corpus, out, model=matcher(), corrections=path, settings=settings)


@cache
def matcher() -> Matcher:
    return fit_matcher("lexicon", Corpus((), (RUBRIC,)))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def scores(out: Path) -> dict[str, float | None]:
    return {r.note: r.total and r.total.score for r in read_results(out)}


def test_a_student_number_shows_the_notes_of_all_stations(tmp_path: Path) -> None:
    other = Rubric("Case 2", (Feature("e", "Case 2", "Nausea"),))
    notes = (
        Note("M26-Case 1", "Case 1", NOTE.text),
        Note("M26-Case 2", "Case 2", NOTE.text),
        Note("M27-Case 2", "Case 2", OTHER.text),
    )
    settings = ScoreSettings(any_text=True)
    out = tmp_path / "out"
    score_notes(Corpus(notes, (RUBRIC, other)), out, model=matcher(), settings=settings)
    assert {one.note for one in run_history(out, "M26")} == {"M26-Case 1", "M26-Case 2"}
    assert {one.note for one in run_history(out, "M27-Case 2")} == {"M27-Case 2"}
    shown = run("trust", "history", out, "--note", "M26").stdout
    assert "M26-Case 1" in shown and "M26-Case 2" in shown and "M27" not in shown
    assert run("trust", "history", out, "--note", "M2").exit_code == 2


def test_a_superseded_decision_stays_and_every_score_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out)
    assert scores(out) == {"n1": 4.0, "n2": 3.0}
    score(out, "n1,a,no,Ann,2026-11-14,not of the chest\n")
    before = (out / LOG).read_bytes()
    score(out, "n1,Chest pain,yes,Chief,15/11/2026,it is\nn2,b,yes,Chief,15/11/2026,\n")
    assert (out / LOG).read_bytes().startswith(before)
    told = [(one.note, one.feature, one.by, one.found, one.why, one.score, one.standing)
            for one in run_history(out)]  # fmt: skip
    assert told == [
        ("n1", "a", "Ann", False, "not of the chest", 2.0, "superseded"),
        ("n1", "a", "Chief", True, "it is", 4.0, "holds"),
        ("n2", "b", "Chief", True, "", 3.0, "holds"),
    ]
    whole = run_history(out, "n1")
    machine = {one.feature: (one.found, one.standing) for one in whole if one.machine}
    assert machine == {"a": (True, "confirmed"), "b": (False, "holds"), "c": (True, "holds"),
                       "d": (True, "holds")}  # fmt: skip
    assert [one.by for one in whole if not one.machine] == ["Ann", "Chief"]


def test_words_that_say_otherwise_are_told(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("note,feature,found,by,at,spans\nn1,a,contradicted,Ann,2026-11-14,15 25\n")
    score(tmp_path / "out", table)
    assert "contradicted at 15 25" in run("trust", "audit", tmp_path / "out").output


def test_decisions_hold_on_without_being_handed_in_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n1,d,no,Ann,2026-11-14,\n")
    lines = len(list(read_log(out)))
    score(out)  # neither lost nor logged twice
    assert scores(out)["n1"] == 3.0
    assert [entry["kind"] for entry in read_log(out)][lines:] == ["run", "tables"]
    score(out, "n1,d,no,Ann,2026-11-14,\n")
    assert len(run_history(out)) == 1


def test_a_decision_is_about_one_text(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n1,d,no,Ann,2026-11-14,\n")
    score(out, notes=(Note("n1", "Case 1", "58 yo man. chest pain. no fever. pmh htn."), OTHER))
    assert scores(out)["n1"] == 3.0
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert record["corrections"] == {"items": [], "outdated": 1}
    [one] = run_history(out)
    assert one.standing == "no longer about this note or rubric"
    score(out)
    assert [one.standing for one in run_history(out)] == ["holds"]


def test_a_decision_is_of_one_note_since_no_two_may_have_its_id(tmp_path: Path) -> None:
    out = tmp_path / "out"
    again = Note("n1", "Case 1", "Chest pain. pmh htn.")
    with pytest.raises(InputError, match="same id"):
        score(out, "n1,d,no,Ann,2026-11-14,\n", notes=(NOTE, OTHER, again))
    assert not out.exists()


def test_of_one_day_the_decision_handed_in_later_holds(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n1,d,no,Ann,2026-11-14T16:00,\n")
    score(out, "n1,d,yes,Bob,14/11/2026,\n")
    assert scores(out)["n1"] == 4.0
    score(out, "n1,d,no,Cy,13/11/2026,\n")  # too late: it is older
    assert scores(out)["n1"] == 4.0
    assert [one.standing for one in run_history(out)] == ["superseded", "holds", "superseded"]


def test_all_faults_of_corrections_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        score(tmp_path / "out", "n1,a,maybe,Ann,2026-11-14,\nn1,x,yes,Ann,2026-11-14,\n"
              "n9,a,yes,Ann,2026-11-14,\nn1,a,yes,,never,\n")  # fmt: skip
    assert [fault.line for fault in raised.value.faults] == [2, 3, 4, 5, 5]
    assert not (tmp_path / "out" / "run.json").exists()


def test_the_workbook_is_filled_in_and_handed_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n2,d,yes,Ann,2026-11-13,heard\n")
    book = openpyxl.load_workbook(out / "scores.xlsx")
    sheet = book["items"]
    heads = {cell.value: cell.column for cell in sheet[1]}
    values = ("no", "Zoë", datetime(2026, 11, 14), "=why")
    for row in range(2, sheet.max_row + 1):
        if [sheet.cell(row, heads[name]).value for name in ("note", "feature")] == ["n1", "a"]:
            for name, value in zip(("decision", "by", "at", "why"), values, strict=True):
                sheet.cell(row, heads[name]).value = value
                sheet.cell(row, heads[name]).data_type = "s" if name != "at" else "d"
    book.save(tmp_path / "filled.xlsx")
    score(out, tmp_path / "filled.xlsx")
    assert [(one.note, one.feature, one.by, one.at, one.why) for one in run_history(out)] == [
        ("n2", "d", "Ann", "2026-11-13", "heard"),
        ("n1", "a", "Zoë", "2026-11-14", "=why"),
    ]
    # Into a folder without the log, too, what was signed before comes along.
    score(tmp_path / "new", tmp_path / "filled.xlsx")
    assert scores(tmp_path / "new") == scores(out) == {"n1": 2.0, "n2": 4.0}


def test_the_workbook_filters_and_explains_itself(tmp_path: Path) -> None:
    score(tmp_path / "out")
    book = openpyxl.load_workbook(tmp_path / "out" / "scores.xlsx")
    explained = {(row[0].value, row[1].value) for row in book["columns"].iter_rows(min_row=2)}
    for name in ("scores", "items"):
        sheet = book[name]
        heads = [cell.value for cell in sheet[1]]
        assert {(name, head) for head in heads} <= explained
        assert sheet.freeze_panes == "A2"
        last = sheet.cell(sheet.max_row, len(heads)).coordinate
        assert sheet.auto_filter.ref == f"A1:{last}"
        assert all(sheet.column_dimensions[cell.column_letter].width > 8 for cell in sheet[1])
    assert [check.formula1 for check in book["items"].data_validations.dataValidation] == [
        '"yes,no"'
    ]


@pytest.mark.parametrize("harm", ["changed", "left out", "cut", "swapped", "tables"])
def test_no_line_can_be_changed_unseen(tmp_path: Path, harm: str) -> None:
    out = tmp_path / "out"
    score(out, "n1,a,no,Ann,2026-11-14,\n")
    assert not verify_run(out).differing
    path = out / LOG
    lines = path.read_bytes().splitlines(keepends=True)
    if harm == "changed":
        lines[2] = lines[2].replace(b"Ann", b"Bob")
    elif harm == "left out":
        del lines[2]
    elif harm == "cut":
        del lines[-2:]
    elif harm == "swapped":
        lines[1], lines[3] = lines[3], lines[1]
    else:
        record = json.loads((out / "run.json").read_text(encoding="utf-8"))
        record["outputs"]["items.csv"] = "0" * 64
        (out / "run.json").write_text(json.dumps(record), encoding="utf-8")
    path.write_bytes(b"".join(lines))
    assert LOG in {one.name for one in verify_run(out).differing}
    done = run("trust", "verify", out)
    assert done.exit_code == 1
    if harm not in ("cut", "tables"):
        with pytest.raises(InputError):
            run_history(out)
        with pytest.raises(InputError):
            score(out)


def test_the_log_holds_no_note_text(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n1,a,no,Ann,2026-11-14,\n")
    assert b"chest pain" not in (out / LOG).read_bytes()


def test_the_command_prints_and_names_what_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n1,a,no,Ann,2026-11-14,too vague\n")
    done = run("trust", "audit", out, "--note", "n1")
    assert done.exit_code == 0, done.output
    assert "Ann" in done.output and "too vague" in done.output and "2 of 4" in done.output
    found = json.loads(run("trust", "audit", out, "--json").stdout)
    assert [one["by"] for one in found["decisions"]] == ["Ann"]
    assert run("trust", "audit", out, "--note", "n3").exit_code == 2
    shutil.copytree(out, tmp_path / "bare", ignore=lambda *_: [LOG])
    done = run("trust", "audit", tmp_path / "bare")
    assert done.exit_code == 1 and "--accept-log" in done.output
    done = run("trust", "audit", tmp_path)
    assert done.exit_code == 1 and "it is no run" in done.output


def test_tables_say_who_decided_and_that_no_machine_is_sure(tmp_path: Path) -> None:
    out = tmp_path / "out"
    score(out, "n1,a,no,Ann,2026-11-14,too vague\n")
    with (out / "items.csv").open(encoding="utf-8", newline="") as stream:
        row = next(r for r in csv.DictReader(stream) if (r["note"], r["feature"]) == ("n1", "a"))
    assert (row["corrected_by"], row["corrected_at"], row["comment"]) == (
        "Ann", "2026-11-14", "too vague")  # fmt: skip
    item = next(i for r in read_results(out) for i in r.items if i.correction)
    assert item.certainty is None
