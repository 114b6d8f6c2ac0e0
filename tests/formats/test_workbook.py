import gc
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rubricate.formats import workbook
from rubricate.formats.workbook import OpenSheet, SheetColumn, Workbook
from rubricate.run.tables import Value, cell_text

openpyxl = pytest.importorskip("openpyxl")


def fill(sheet: OpenSheet, rows: Sequence[Sequence[Value]]) -> None:
    for row in rows:
        sheet.add(row, [cell_text(value) for value in row])


def test_texts_stay_texts_and_numbers_numbers(tmp_path: Path) -> None:
    hard = ["=1+1", "-x", "@a", "#N/A", "<b>&amp;\"'", "é😀", " lead", "a\nb", "0012"]
    with Workbook(tmp_path / "t.xlsx") as book:
        first, second = (
            book.sheet("a & b", [SheetColumn(name) for name in ("note", "score", "ok")]),
            book.sheet("items", [SheetColumn("x")]),
        )
        # Sheets are filled side by side.
        fill(first, [[hard[0], 0.1, True]])
        fill(second, [[None]])
        fill(first, [[text, 0.1, True] for text in hard[1:]])
    read = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert read.sheetnames == ["a & b", "items"]
    cells = list(read["a & b"].iter_rows(min_row=2))
    assert [row[0].value for row in cells] == hard
    assert {row[0].data_type for row in cells} == {"s"}
    assert cells[0][1].value == 0.1
    assert cells[0][2].value == "yes"
    assert cells[0][0].quotePrefix


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Workbook(tmp_path / name) as book:
            fill(book.sheet("s", [SheetColumn("x")]), [["text"]])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_long_tables_go_on_in_a_second_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 4)
    with Workbook(tmp_path / "t.xlsx") as book:
        fill(book.sheet("s", [SheetColumn("x")]), [[float(i)] for i in range(7)])
    read = openpyxl.load_workbook(tmp_path / "t.xlsx")
    values = [row[0].value for sheet in read for row in sheet.iter_rows(min_row=2)]
    assert values == list(range(7))
    assert read.sheetnames[:2] == ["s", "s 2"]


def test_what_excel_cannot_hold_is_cut_or_numbered(tmp_path: Path) -> None:
    with Workbook(tmp_path / "t.xlsx") as book:
        fill(book.sheet("s", [SheetColumn("x")]), [["y" * 40_000], ["a\x00\ud800b"]])
    long, strange = (
        row[0].value
        for row in openpyxl.load_workbook(tmp_path / "t.xlsx")["s"].iter_rows(min_row=2)
    )
    assert len(long) == workbook.MOST_CHARACTERS
    assert strange == "a_x0000__xD800_b"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_full_disk_leaves_nothing_that_speaks_up_later(monkeypatch: pytest.MonkeyPatch) -> None:
    later: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)

    def write() -> None:
        with Workbook(Path("/dev/full")) as book:
            fill(book.sheet("scores", [SheetColumn("note")]), [["fever"]] * 50_000)

    with pytest.raises(OSError, match="No space"):
        write()
    gc.collect()
    assert later == []
