"""Rubrics as schools write them, in CSV files and in Excel."""

from datetime import date
from pathlib import Path

import openpyxl
import pytest

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.formats.rubric import RubricFile, read_rubric_file, read_rubrics, write_rubrics
from rubricate.formats.rubric.school_tables import names_no_case, sheet_names
from rubricate.rubric import odd_features
from rubricate.run.results import total_score


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
        (["Case 1", "Case 2"], ["Case 1", "Case 2", "1"], None),
        (["Case 1 - Chest pain"], ["1", "Case 1"], ["Case 1"]),
        (["Case 1 - Chest pain"], ["Case 1", "1"], ["Case 1"]),
    ],
)
def test_a_sheet_may_begin_with_its_case(
    sheets: list[str], cases: list[str], expected: list[str] | None
) -> None:
    found = RubricFile(tuple(Rubric(name, ()) for name in sheets))
    assert [rubric.case for rubric in found.for_cases(cases)] == (expected or sheets)


@pytest.mark.parametrize("sheet", ["Sheet1", "Rubric", "SCORING_RUBRIC", "Checklist 2"])
def test_a_file_that_names_no_case_has_the_only_one(tmp_path: Path, sheet: str) -> None:
    rows: list[list[object]] = [["Item", "Points"], ["Cough", 1]]
    found = read_rubric_file(workbook(tmp_path / "r.xlsx", {sheet: rows}))
    assert [rubric.case for rubric in found.for_cases(["Case 7"])] == ["Case 7"]
    assert [rubric.case for rubric in found.for_cases(["a", "b"])] == ["r"]


def test_names_of_sheets_that_name_no_case() -> None:
    assert [example for _, _, example in sheet_names() if not names_no_case(example)] == []
    names = [name for name, _, _ in sheet_names()]
    assert names == sorted(set(names))
    assert not any(map(names_no_case, ["Case 1", "Rubric chest pain", "Headache", "7"]))


def test_one_of_several_sheets_is_a_case_whatever_its_name(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Item", "Points"], ["Cough", 1]]
    found = read_rubric_file(workbook(tmp_path / "r.xlsx", {"Rubric": rows, "Cough": rows}))
    assert [rubric.case for rubric in found.rubrics] == ["Rubric", "Cough"]


RESOURCES = Path(__file__).parents[2] / "resources" / "rubrics"


def test_school_s_csv() -> None:
    chest, headache = read_rubrics(RESOURCES / "school.csv")
    assert (chest.case, headache.case) == ("Chest pain", "Headache")
    assert [(f.text, f.weight, f.group, f.note) for f in chest] == [
        ("Crushing pain, left arm", 2.0, "", 'ask "where"'),
        ("Dyspnoea OR breathless", 0.5, "breath", ""),
        ("Orthopnoea", 0.5, "breath", ""),
    ]
    assert [(f.id, f.text, f.weight) for f in headache] == [("Headache-aura", "Aura 😀", 1.0)]


def test_competition_s_features() -> None:
    first, second = read_rubrics(RESOURCES / "features.csv")
    assert [(f.id, f.text) for f in first] == [
        ("0", "Family history of MI OR Family history of myocardial infarction"),
        ("1", "58 year"),
    ]
    assert [(f.id, f.case) for f in second] == [("100", "1")]


def test_made_ids_are_unique(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("id,text\n,Cough\n,Cough\nc-cough-2,Wheeze\n,!\n", "utf-8")
    (rubric,) = read_rubrics(tmp_path / "c.csv")
    assert [f.id for f in rubric] == ["c-cough", "c-cough-3", "c-cough-2", "c-feature"]


def test_every_fault_of_a_table_is_reported(tmp_path: Path) -> None:
    place = tmp_path / "r.csv"
    place.write_text(
        "case,id,text,wieght,points,_seen\n"
        "c,1,,,1,\n"
        "c,2,Cough,,two,\n"
        "\n"
        "c,2,Fever,,inf,\n"
        "c,3,Wheeze,,nan,x,y\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_rubrics(place)
    assert sorted(fault.line or 0 for fault in caught.value.faults) == [0, 2, 3, 5, 5, 6, 6]
    assert all(fault.path == place for fault in caught.value.faults)
    assert "did you mean 'weight'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "no features"),
        ("case,text\n", "no features"),
        ("case,weight\nc,1\n", "texts"),
        ("text,Feature text\na,b\n", "both mean"),
        ('text\n"open', "CSV"),
        ("case,text,title\nc,a,T\nc,b,U\n", "another title"),
    ],
)
def test_tables_that_are_no_rubric(content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=expected):
        read_rubrics(tmp_path / "r.csv")


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
    assert [notice.split()[1] for notice in found.notices] == [
        "'Old'", "'Chest", "'Sheet3'", "feature"
    ]  # fmt: skip


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


@pytest.mark.parametrize(
    ("row", "is_heading"),
    [
        ("HISTORY,", True), ("History:,", True), ("HISTORY: ,", True), ("History,", False),
        ("HISTORY,1", False), (",HISTORY", False),
    ],
)  # fmt: skip
def test_capitals_or_a_colon_make_a_heading(row: str, is_heading: bool, tmp_path: Path) -> None:
    place = tmp_path / "r.csv"
    place.write_text(f"Feature,Points\nCough,1\n{row}\nFever,2\n", encoding="utf-8")
    try:
        found = read_rubric_file(place)
    except InputError as error:  # a feature without a text, points that are none
        assert not is_heading and [fault.line for fault in error.faults] == [3, 3]
        return
    (rubric,) = found.rubrics
    assert len(rubric) == 3 - is_heading
    assert rubric.features[-1].kind.upper() == ("HISTORY" if is_heading else "")
    assert any("heading" in notice for notice in found.notices) == is_heading
    # A feature without points among others that have some is told, too.
    assert any("row 3" in notice for notice in found.notices) == (row[-1] != "1")


def test_words_without_number_and_points_are_headings(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["No.", "Checklist item", "Marks"],
        ["History"],
        [1, "Cough", "½"],
        [None, "Physical examination"],
        [2, "Wheeze", 1],
        [3, "Rash"],
        [4, "Rales", 2],
    ]
    (rubric,) = read_rubrics(workbook(tmp_path / "r.xlsx", {"Chest": rows}))
    assert [(f.text, f.weight, f.kind) for f in rubric] == [
        ("Cough", 0.5, "History"),
        ("Wheeze", 1.0, "Physical examination"),
        ("Rash", 1.0, "Physical examination"),
        ("Rales", 2.0, "Physical examination"),
    ]
    rows.append([5])  # a number is no heading: the text was forgotten
    with pytest.raises(InputError) as caught:
        read_rubrics(workbook(tmp_path / "s.xlsx", {"Chest": rows}))
    assert [fault.line for fault in caught.value.faults] == [8]


def test_sheets_that_are_no_rubric_are_left_out_and_named(tmp_path: Path) -> None:
    sheets: dict[str, list[list[object]]] = {
        "Read me": [["Please score each item."], ["Half points are allowed."]],
        "Chest": [["Item", "Points"], ["Cough", 1]],
        "Grades": [["Grade", "From"], ["A", 12]],
    }
    found = read_rubric_file(workbook(tmp_path / "r.xlsx", sheets))
    assert [rubric.case for rubric in found.rubrics] == ["Chest"]
    assert [notice.split("'")[1] for notice in found.notices[:2]] == ["Read me", "Grades"]
    # A sheet whose columns are nearly called as a rubric's is one that must be mended.
    sheets["Head"] = [["Itme", "Pionts"], ["Aura", 1]]
    with pytest.raises(InputError, match=r"'Head'.*did you mean"):
        read_rubrics(workbook(tmp_path / "s.xlsx", sheets))
    del sheets["Chest"], sheets["Head"]
    with pytest.raises(InputError, match="texts"):
        read_rubrics(workbook(tmp_path / "t.xlsx", sheets))


def test_rows_are_numbered_as_the_opened_file_shows_them(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Checklist"], [], ["Item", "Points"], ["Cough", 1], ["Rash", "x"]]
    text = "\n".join(";".join(map(str, row)) for row in rows)
    (tmp_path / "plain.csv").write_text(text, encoding="utf-8")
    (tmp_path / "told.csv").write_text(f"sep=;\n{text}", encoding="utf-8")
    workbook(tmp_path / "r.xlsx", {"Chest": rows})
    for name in ("plain.csv", "told.csv", "r.xlsx"):
        with pytest.raises(InputError) as caught:
            read_rubrics(tmp_path / name)
        assert [fault.line for fault in caught.value.faults] == [5], name


WORDED = """Checklist item
History:
1. Chest pain (2 points)
2. Onset 3 days ago [½ pt]
3. Cough - 1/2 mark
4. Diagnosed as pneumonia (\u2212 1 pt)
5. Smokes (max. 2 pts)
6. GCS: 15 points
7. Rash -2 pts
Total (5 points)
"""


def test_points_in_the_wording_count_where_no_column_has_them(tmp_path: Path) -> None:
    (tmp_path / "worded.csv").write_text(WORDED, encoding="utf-8")
    found = read_rubric_file(tmp_path / "worded.csv")
    (rubric,) = found.rubrics
    assert [feature.weight for feature in rubric] == [2, 0.5, 0.5, -1, 2, 1, 1]
    assert {feature.kind for feature in rubric} == {"History"}
    assert any(notice.startswith("5 features have points in the wording") for notice in
               found.notices)  # fmt: skip
    # A hyphen at the number may be a minus, and "15 points" a finding: people are told of both.
    told = [notice for notice in found.notices if "it counts 1" in notice]
    assert [notice.split(":")[0] for notice in told] == ["row 8", "row 9"]
    assert any("the total says 5, and the features above have 7" in one for one in found.notices)


def test_a_column_of_points_holds_against_the_wording(tmp_path: Path) -> None:
    text = "Item,Points\nFever (2 pts),1\nCough (1 pt),1\nRash (3 pts),\n"
    (tmp_path / "both.csv").write_text(text, encoding="utf-8")
    (rubric,) = read_rubrics(tmp_path / "both.csv")
    assert [feature.weight for feature in rubric] == [1, 1, 3]
    assert list(odd_features(rubric)) == [
        "'both-fever-2-pts' is worth 1, and its wording says '2 pts': mend one of them"
    ]


@pytest.mark.parametrize("points", ["Pts", "Pts.", "Marks available", "Max. pts"])
def test_short_names_of_the_points_are_understood(points: str, tmp_path: Path) -> None:
    """Points in a column that is left out would all count one."""
    rows: list[list[object]] = [["Items", points], ["Cough", 3], ["Fever", 2]]
    (rubric,) = read_rubrics(workbook(tmp_path / "r.xlsx", {"c": rows}))
    assert [feature.weight for feature in rubric] == [3, 2]


def test_a_merged_cell_without_points_is_a_group_as_well(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Item", "Points"], ["Cough", None], ["Sneezing"], ["Fever", 2]]
    found = read_rubric_file(workbook(tmp_path / "r.xlsx", {"c": rows}, "B2:B3"))
    cough, sneezing, fever = found.rubrics[0]
    assert cough.group == sneezing.group != "" and fever.group == ""
    assert total_score(found.rubrics[0], ()).maximum == 3


def test_rows_that_are_hidden_or_struck_out_count_and_are_told(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Item", "Points"], ["Cough", 1], ["Fever", 1], ["Rash", 1]]
    path = workbook(tmp_path / "r.xlsx", {"c": rows})
    assert not any("row" in one for one in read_rubric_file(path).notices)
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    sheet.row_dimensions[3].hidden = True
    sheet["A4"].font = openpyxl.styles.Font(strike=True)
    book.save(path)
    found = read_rubric_file(path)
    assert len(found.rubrics[0]) == 3
    assert any("hidden" in one and "row 3" in one for one in found.notices)
    assert any("struck out" in one and "row 4" in one for one in found.notices)


def test_boxes_for_yes_and_no_are_no_numbers(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Item", "Yes", "No", "Points"],
        ["Cough", "☐", "☐", 2],
        ["Rash", "☐", "☐", 1],
    ]
    (rubric,) = read_rubrics(workbook(tmp_path / "r.xlsx", {"c": rows}))
    assert [(feature.text, feature.weight) for feature in rubric] == [("Cough", 2), ("Rash", 1)]
