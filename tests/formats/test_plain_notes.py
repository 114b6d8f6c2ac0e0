import io
import zipfile
from datetime import date
from pathlib import Path

import docx
import openpyxl
import pytest

from rubricate import Note, read_corpus
from rubricate.errors import InputError
from rubricate.formats import detect_format, read_path
from rubricate.formats.notes import open_notes
from rubricate.formats.options import ReadOptions, parse_columns
from rubricate.formats.plain_notes import docx_text
from rubricate.formats.reading import ReadLimits
from rubricate.notebook import as_rubric_file
from rubricate.scoring import ScoreSettings, score_notes

ROWS = [
    ["Student ID", "Note", "Station", "School"],
    ["1001", "Müller, 45\r\nchest pain – “severe”", "Case 1", "North"],
    ["1002", "no fever; no cough", "Case 1", "South"],
    ["1001", "headache", "Case 2", "North"],
]


def as_text(rows: list[list[str]], delimiter: str) -> str:
    quoted = [[f'"{c}"' if set(c) & set("\n,;\t“") else c for c in row] for row in rows]
    return "".join(delimiter.join(row) + "\r\n" for row in quoted)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "mac_roman"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_whatever_excel_writes_is_read(encoding: str, delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / ("notes.txt" if encoding == "utf-16" else "notes.csv")
    path.write_bytes(as_text(ROWS, delimiter).encode(encoding))
    told: list[str] = []
    corpus = read_path(path, ReadOptions(tell=told.append))
    # One student wrote two notes: each has an id of its own, and the student is kept.
    assert [(n.id, n.case, n.metadata["School"]) for n in corpus.notes] == [
        ("1001-Case 1", "Case 1", "North"),
        ("1002-Case 1", "Case 1", "South"),
        ("1001-Case 2", "Case 2", "North"),
    ]
    assert corpus.notes[0].text == ROWS[1][1]
    assert corpus.notes[0].metadata["Student ID"] == "1001"
    (line,) = told
    assert line.startswith("3 notes of 2 cases; columns id=Student ID, text=Note, case=Station")


def test_a_line_for_excel_and_a_title_stand_above_the_names(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    body = as_text([["OSCE 2026", "", "", ""], ["", "", "", ""], *ROWS[:3], ["", "", "", ""]], ";")
    path.write_text(f"sep=;\r\n{body}", encoding="utf-8")
    assert [n.id for n in read_corpus(path).notes] == ["1001", "1002"]


def test_workbooks_hold_notes(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Case 1"
    for row in (["Exam of May"], [], ["Candidate no", "Note", "Date"]):
        sheet.append(row)
    sheet.append([12345, " fever_x000D_\n ", date(2026, 5, 1)])
    sheet.append([12346, "=A1", None])
    more = book.create_sheet("Case 2")
    for row in (["Candidate no", "Note"], [12345, "cough"]):
        more.append(row)
    book.create_sheet("Key").append(["nothing", "of", "use"])
    path = tmp_path / "notes.xlsx"
    book.save(path)
    with pytest.raises(InputError, match="formula"):
        read_corpus(path)
    sheet.delete_rows(5)
    book.save(path)
    first, second = read_corpus(path).notes
    assert (first.id, first.case, first.text) == ("12345-Case 1", "Case 1", " fever\r\n ")
    assert first.metadata["Date"] == "2026-05-01"
    assert (second.id, second.case) == ("12345-Case 2", "Case 2")


def test_ids_of_a_workbook_are_those_it_shows_and_formulas_are_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (["Candidate no", "Note"], [7, "no fever"], ["=A2+1", "cough"]):
        sheet.append(row)
    sheet["A2"].number_format = "000"
    path = tmp_path / "notes.xlsx"
    book.save(path)
    with pytest.raises(InputError, match=r"row 3.*A3 holds a formula"):
        read_corpus(path)
    # Nothing can be scored: the reason is the file's, not the rubric's.
    sheet["A2"] = "=1"
    book.save(path)
    with pytest.raises(InputError, match="A2 holds a formula"):
        score_notes(path, tmp_path / "run", rubric=as_rubric_file(["No fever"]))
    sheet["A2"], sheet["A3"] = 7, "8"
    book.save(path)
    assert [note.id for note in read_corpus(path).notes] == ["007", "8"]


def test_columns_and_case_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("Matrikel;Anamnese;Campus\n7;fever;A\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_corpus(path)
    message = str(raised.value)
    assert "'Matrikel', 'Anamnese', 'Campus'" in message
    assert "columns=id=COLUMN,text=COLUMN" in message
    assert "fever" not in message
    columns = parse_columns("id=Matrikel,text=anamnese,school=Campus")
    (note,) = read_path(path, ReadOptions(columns=columns, case="Case 9")).notes
    assert (note.id, note.case, note.text) == ("7", "Case 9", "fever")
    assert dict(note.metadata) == {"school": "A"}
    with pytest.raises(InputError) as raised:
        read_path(path, ReadOptions(columns={"id": "Matrikel", "text": "Notiz"}))
    assert "'Notiz'" in str(raised.value) and "Anamnese" in str(raised.value)


def test_a_case_that_overrules_those_of_the_notes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id,case,text\n1,3,fever\n2,7,cough\n", encoding="utf-8")
    told: list[str] = []
    assert {
        note.case for note in read_path(path, ReadOptions(case="3", tell=told.append)).notes
    } == {"3"}
    assert any("case replaces" in line and "'7'" in line for line in told)
    told.clear()
    read_path(path, ReadOptions(tell=told.append))
    assert not any("case replaces" in line for line in told)


def test_a_table_without_names_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("1;Mrs Smith has chest pain\n2;no fever\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_corpus(path)
    assert "Smith" not in str(raised.value) and "header" in str(raised.value)


def test_other_formats_say_themselves_what_is_what() -> None:
    # An embedded corpus is no file; a file of another format is refused.
    path = Path(__file__).parents[1] / "resources"
    with pytest.raises(InputError, match="are for tables and folders"):
        read_path(path, ReadOptions(format="jsonl", case="x"))


def test_excel_may_leave_out_or_add_empty_cells(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id;text;site\n1;fever\n2;cough;;;\n3;chills;B\n;lost;B\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_corpus(path)
    assert len(raised.value.faults) == 1 and "row 5" in str(raised.value)


@pytest.mark.parametrize(("row", "other"), [("2;cough;B;;more", "more"), ("2", "fewer")])
def test_other_fields_than_the_header_has_are_counted_in_words(
    row: str, other: str, tmp_path: Path
) -> None:
    path = tmp_path / "notes.csv"
    path.write_text(f"id;text;site\n1;chest pain;A\n{row}\n", encoding="utf-8")
    rubric = as_rubric_file(["Chest pain"])
    run = score_notes(path, tmp_path / "out", rubric=rubric, settings=ScoreSettings("lexicon"))
    # What like notes are counted under has no numbers, and must read well without them.
    assert run.run["counts"]["not_scored"] == {f"the row has {other} fields than the header": 1}


@pytest.mark.parametrize("text", ["id", "id=", "=a", "id=a,text"])
def test_columns_are_pairs(text: str) -> None:
    with pytest.raises(InputError, match="NAME=COLUMN"):
        parse_columns(text)


def test_a_table_beside_a_folder_of_brat_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("fever", encoding="utf-8")
    (tmp_path / "n.ann").write_text("T1\tFever 0 5\tfever\n", encoding="utf-8")
    (tmp_path / "notes.csv").write_text("Matrikel,Befund\n1,fever\n", encoding="utf-8")
    with pytest.raises(InputError, match="'Matrikel', 'Befund'"):
        read_corpus(tmp_path / "notes.csv")


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_bytes(b"")
    with pytest.raises(InputError, match=r"notes\.csv: the file is empty"):
        read_corpus(tmp_path / "notes.csv")


def word_file(path: Path, *lines: str) -> None:
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    document.save(str(path))


def test_subfolders_are_cases(tmp_path: Path) -> None:
    for case in ("Case 1", "Case 2"):
        (tmp_path / case).mkdir()
        word_file(tmp_path / case / "s1.docx", f"note of {case}", "second line\twith a tab")
    (tmp_path / "Case 2" / "s2.txt").write_bytes("naïve".encode("cp1252"))
    (tmp_path / "Case 2" / "~$s1.docx").write_bytes(b"lock")
    (tmp_path / "Case 2" / ".DS_Store").write_bytes(b"x")
    assert detect_format(tmp_path) == "texts"
    told: list[str] = []
    corpus = read_path(tmp_path, ReadOptions(tell=told.append))
    assert corpus.notes == (
        Note("s1-Case 1", "Case 1", "note of Case 1\nsecond line\twith a tab"),
        Note("s1-Case 2", "Case 2", "note of Case 2\nsecond line\twith a tab"),
        Note("s2-Case 2", "Case 2", "naïve"),
    )
    assert len(told) == 1 and told[0].startswith("3 notes of 2 cases")


def test_other_files_are_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fever")
    (tmp_path / "plan.pdf").write_bytes(b"%PDF")
    told: list[str] = []
    assert read_path(tmp_path, ReadOptions(case="c", tell=told.append)).notes == (
        Note("a", "c", "fever"),
    )
    assert "plan.pdf" in told[0]


def test_tables_and_boxes_of_a_word_file_are_read_once_and_struck_out_words_are_not() -> None:
    document = docx.Document()
    document.add_paragraph("first")
    document.add_table(1, 2).cell(0, 1).text = "in a cell"
    buffer = io.BytesIO()
    document.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    struck = (
        b'<w:p><w:r><w:t>kept</w:t></w:r><w:del w:id="1" w:author="x"><w:r><w:delText>gone'
        b'</w:delText></w:r></w:del><w:moveFrom w:id="2" w:author="x"><w:r><w:t>moved</w:t>'
        b"</w:r></w:moveFrom></w:p>"
    )
    body = parts["word/document.xml"].replace(b"<w:sectPr", struck + b"<w:sectPr", 1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (parts | {"word/document.xml": body}).items():
            archive.writestr(name, content)
    assert docx_text(buffer.getvalue(), Path("a.docx")).split("\n") == [
        "first", "", "in a cell", "kept",
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + b"\0" * 18, b"plain text"])
def test_what_is_no_word_file_is_one_unreadable_note(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(content)
    (tmp_path / "b.txt").write_text("fever")
    bad, good = open_notes(tmp_path).notes()
    assert "docx" in bad.reason and good == Note("b", "", "fever")  # type: ignore[union-attr]


def test_a_word_file_that_becomes_huge_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" + b" " * 20_000_000 + b"</a>")
    (tmp_path / "a.docx").write_bytes(buffer.getvalue())
    with pytest.raises(InputError, match="unpacked"):
        read_corpus(tmp_path, limits=ReadLimits(unpacked_bytes=1_000_000))
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(InputError, match="safety"):
        read_corpus(tmp_path)


def test_rows_are_numbered_as_the_opened_file_shows_them(tmp_path: Path) -> None:
    """Titles, empty rows and notes of several lines are rows; Excel's line sep= is none."""
    rows = [["Exam 2026", ""], ["", ""], ["id", "text"], ["1", "no fever\r\ncough"], ["", "rash"]]
    (tmp_path / "plain.csv").write_text(as_text(rows, ","), encoding="utf-8")
    (tmp_path / "told.csv").write_text("sep=;\r\n" + as_text(rows, ";"), encoding="utf-8")
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append([cell or None for cell in row])
    book.save(tmp_path / "notes.xlsx")
    for name in ("plain.csv", "told.csv", "notes.xlsx"):
        with pytest.raises(InputError) as raised:
            read_corpus(tmp_path / name)
        assert "row 5" in str(raised.value), name


def test_notes_without_a_case_are_counted_beside_the_cases(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id,text,case\n1,cough,a\n2,rash,b\n3,fever,\n", encoding="utf-8")
    told: list[str] = []
    read_path(path, ReadOptions(tell=told.append))
    assert told[0].startswith("3 notes of 2 cases, 1 of them without a case; ")


def test_a_column_that_was_named_and_is_not_there_is_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("Kandidat;Freitext\n1;cough\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_path(path, ReadOptions(columns=parse_columns("id=Kandidat,text=Freitxt")))
    assert len(raised.value.faults) == 1
    assert "did you mean 'Freitext'?" in str(raised.value)


@pytest.mark.parametrize("header", ["id,note,Note", "id,id,note", "id,note,case,Case"])
def test_a_column_that_is_there_twice_is_refused(header: str, tmp_path: Path) -> None:
    path = tmp_path / "n.csv"
    path.write_text(header + "\n" + ",".join("abcd"[: header.count(",") + 1]) + "\n", "utf-8")
    with pytest.raises(InputError, match="two columns"):
        read_corpus(path)


def test_an_empty_folder_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder is empty"):
        read_corpus(tmp_path)
