"""Rubrics as schools write them in Excel."""

from pathlib import Path

import openpyxl
import pytest

from rubricate import Rubric, read_rubrics
from rubricate.errors import InputError
from rubricate.formats.rubric.files import RubricFile, read_rubric_file
from rubricate.run.totals import total_score


def workbook(path: Path, sheets: dict[str, list[list[object]]], *merged: str) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for area in merged:
            sheet.merge_cells(area)
    book.save(path)
    return path


CHEST: list[list[object]] = [
    ["OSCE 2026 – chest pain checklist"],
    [],
    ["No.", "Checklist item", "Max. points", "Examiner", "Seen by"],
    ["HISTORY"],
    [1, "Chest pain", "2 points", None, "x"],
    [2, "No fever", "1 pt"],
    [None, "Subtotal", 3],
    [],
    [None, "EXAMINATION"],
    [3, "Sweating", "1"],
    [4, "Nausea"],
    [5, "Prescribes antibiotics", "−1 pt"],
    [None, "TOTAL", "=SUM(C5:C12)"],
]


def test_titles_headings_units_penalties_and_totals(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "r.xlsx", {"Case 1 - Chest pain": CHEST}, "A1:D1", "A4:D4", "C10:C11"
    )
    found = read_rubric_file(path)
    (rubric,) = found.rubrics
    assert rubric.title == "OSCE 2026 – chest pain checklist"
    assert [(f.text, f.weight, f.kind) for f in rubric] == [
        ("Chest pain", 2.0, "HISTORY"),
        ("No fever", 1.0, "HISTORY"),
        ("Sweating", 1.0, "EXAMINATION"),
        ("Nausea", 1.0, "EXAMINATION"),
        ("Prescribes antibiotics", -1.0, "EXAMINATION"),
    ]
    # A merged cell of points is got once, whichever of its rows is found.
    ids = [f.id for f in rubric]
    assert rubric.features[2].group == rubric.features[3].group != ""
    assert total_score(rubric, ()).maximum == 4.0
    assert total_score(rubric, ids).score == 3.0
    assert any("heading" in notice for notice in found.notices)
    assert not any("total" in notice for notice in found.notices)
    assert any("'Seen by'" in notice for notice in found.notices)


@pytest.mark.parametrize("label", ["TOTAL", "Total:", "Total points", "Maximum score", "Sum"])
def test_a_total_is_checked_and_never_scored(label: str, tmp_path: Path) -> None:
    rows: list[list[object]] = [["Feature", "Points"], ["Cough", 1], ["Fever", 2], [label, 21]]
    found = read_rubric_file(workbook(tmp_path / "r.xlsx", {"c": rows}))
    assert len(found.rubrics[0]) == 2
    assert any("21" in notice and "3 points" in notice for notice in found.notices)
    rows[-1] = [label, 3]
    found = read_rubric_file(workbook(tmp_path / "s.xlsx", {"c": rows}))
    assert not any("total" in notice for notice in found.notices)


def test_a_feature_that_begins_like_a_total_stays_one(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Feature", "Points"], ["Total hysterectomy", 1], ["Summary", 1]]
    assert len(read_rubrics(workbook(tmp_path / "r.xlsx", {"c": rows}))[0]) == 2


def test_merged_cases_and_groups_speak_of_all_their_rows(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Station", "Group", "Item", "Points"],
        ["Case 1", "pain", "Chest pain", 2],
        [None, None, "Chest pressure", 1],
        ["Case 2", None, "Headache", 1],
    ]
    one, two = read_rubrics(workbook(tmp_path / "r.xlsx", {"All": rows}, "A2:A3", "B2:B3"))
    assert [f.group for f in one] == ["pain", "pain"] and len(two) == 1


def test_csv_of_excel_with_a_title(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(
        "Prüfung 2026;\r\n;\r\nItem;Points\r\nFièvre;1,5 pts\r\nTOTAL;1,5\r\n".encode("cp1252")
    )
    (rubric,) = read_rubrics(path)
    assert rubric.title == "Prüfung 2026"
    assert [(f.text, f.weight) for f in rubric] == [("Fièvre", 1.5)]


def test_bad_cells_matter_only_where_they_are_used(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Item", "Points", "Mean"], ["Cough", "many", "=A1"]]
    with pytest.raises(InputError) as caught:
        read_rubrics(workbook(tmp_path / "r.xlsx", {"c": rows}))
    assert [fault.line for fault in caught.value.faults] == [2]


@pytest.mark.parametrize(
    ("sheets", "cases", "expected"),
    [
        (["Case 1 - Chest pain", "Case 10"], ["Case 1", "Case 10"], ["Case 1", "Case 10"]),
        (["Case 1 - Chest pain"], ["1"], ["1"]),
        (["Case 1 - Chest pain", "Case 1 - Again"], ["Case 1"], None),
        (["Station 12: Headache"], ["station 12"], ["station 12"]),
        (["Chest pain"], ["Chest"], ["Chest"]),
        (["Chestpain"], ["Chest"], None),
        (["Case 1", "Case 1 - old"], ["Case 1"], None),
    ],
)
def test_a_sheet_may_begin_with_its_case(
    sheets: list[str], cases: list[str], expected: list[str] | None
) -> None:
    found = RubricFile(tuple(Rubric(name, ()) for name in sheets))
    assert [rubric.case for rubric in found.for_cases(cases)] == (expected or sheets)


def test_a_file_that_names_no_case_has_the_only_one(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Item", "Points"], ["Cough", 1]]
    found = read_rubric_file(workbook(tmp_path / "r.xlsx", {"Sheet1": rows}))
    assert [rubric.case for rubric in found.for_cases(["Case 7"])] == ["Case 7"]
    assert [rubric.case for rubric in found.for_cases(["a", "b"])] == ["r"]
