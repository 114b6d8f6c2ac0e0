from datetime import date
from pathlib import Path

import openpyxl
import pytest

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.formats.rubric.files import read_rubric_file, read_rubrics, write_rubrics

RESOURCES = Path(__file__).parents[2] / "resources" / "rubrics"


def test_school_s_workbook() -> None:
    # Made by hand as Excel writes: shared and rich strings, a formula with its value, blank rows.
    found = read_rubric_file(RESOURCES / "school.xlsx")
    chest, headache = found.rubrics
    assert [(f.id, f.text, f.weight, f.note) for f in chest] == [
        ("Chest pain-1", "Crushing pain\r\nleft arm", 2.0, "ask twice"),
        ("Chest pain-2", "=not a formula", 0.5, ""),
        ("Chest pain-3", "Dyspnoea", 1.0, ""),
    ]
    assert [(f.id, f.text) for f in headache] == [("Headache-aura", "Aura 😀")]
    assert [notice.split()[1] for notice in found.notices] == ["'Old'", "'Sheet3'", "features"]


def test_every_fault_of_a_workbook_is_reported(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "one"
    for row in [["id", "text", "points"], [1, "=A1", 1], [2, "Cough", "many"], [2, "#REF!", 1]]:
        sheet.append(row)
    sheet.append([3, "Fever", date(2020, 1, 2)])
    book.create_sheet("two").append(["text"])
    book.save(tmp_path / "r.xlsx")
    with pytest.raises(InputError) as caught:
        read_rubrics(tmp_path / "r.xlsx")
    places = {(f.line, f.message.split(":")[0].split(" of ")[0]) for f in caught.value.faults}
    assert places == {
        (2, "sheet 'one'"),
        (3, "sheet 'one'"),
        (4, "sheet 'one'"),
        (5, "sheet 'one'"),
        (None, "the rubric"),
    }


def test_a_sheet_s_case_column_wins(tmp_path: Path) -> None:
    long_case = "history/of: " + "x" * 40
    written = tuple(
        Rubric(case, (Feature(case, case, "F"),)) for case in (long_case, "History", "a", "A")
    )
    write_rubrics(written, tmp_path / "r.xlsx")
    assert read_rubrics(tmp_path / "r.xlsx") == written


def test_texts_are_no_formulas_in_the_files(tmp_path: Path) -> None:
    rubric = Rubric("c", (Feature("-1", "c", "=1+1", note="@x"),))
    write_rubrics([rubric], tmp_path / "r.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "r.xlsx").worksheets[0]
    assert {cell.data_type for row in sheet.iter_rows(min_row=2) for cell in row} <= {"s", "n"}
    write_rubrics([rubric], tmp_path / "r.csv")
    assert "c,'-1,'=1+1,1,,,'@x" in (tmp_path / "r.csv").read_text(encoding="utf-8")


def test_a_cell_holds_only_so_much(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="32767"):
        write_rubrics([Rubric("c", (Feature("f", "c", "x" * 40_000),))], tmp_path / "r.xlsx")


def test_an_archive_whose_parts_lie_before_its_beginning_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "r.xlsx"
    write_rubrics([Rubric("c", (Feature("f", "c", "Fever"),))], place)
    raw = bytearray(place.read_bytes())
    end = raw.rindex(b"PK\x05\x06")
    raw[end + 16 : end + 20] = (2**31 - 1).to_bytes(4, "little")
    place.write_bytes(raw)
    with pytest.raises(InputError, match="not an Excel workbook"):
        read_rubrics(place)
