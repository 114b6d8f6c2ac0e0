import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.formats.tables import write_sheet
from rubricate.study.record import read_table


@pytest.fixture(autouse=True)
def usual_limit() -> Iterator[None]:
    """Readers of scored notes raise csv's limit on cells, which the whole process shares."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


def write(place: Path, content: bytes) -> Path:
    path = place / "table.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"name,tp\r\nasthma,3\r\n",
        b"\xef\xbb\xbfname,tp\nasthma,3",
        b'"name","tp"\n\n"asthma","3"\n',
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, content: bytes) -> None:
    assert read_table(write(tmp_path, content), ["tp"]) == [{"name": "asthma", "tp": "3"}]


def test_a_short_row_has_empty_cells(tmp_path: Path) -> None:
    place = write(tmp_path, b"name,tp,comment\nasthma,3\n")
    assert read_table(place) == [{"name": "asthma", "tp": "3", "comment": ""}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name;tp\nasthma;3\n", "commas"),
        (b"name\nasthma\n", "lacks the column tp"),
        (b"", "lacks the column tp"),
        (b"name,tp\nasthma,3,a comment, with a comma\n", "quotes"),
        (b"tp,tp\n1,2\n", "twice"),
        ("name,tp\nÄsthma,3\n".encode("latin-1"), "UTF-8"),
        (b"name,tp\n" + b"x" * 200_000 + b",3\n", "CSV"),
    ],
)
def test_every_fault_names_the_file(tmp_path: Path, content: bytes, words: str) -> None:
    place = write(tmp_path, content)
    with pytest.raises(InputError, match=words) as caught:
        read_table(place, ["tp"])
    assert all(fault.path == place for fault in caught.value.faults)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path / "none.csv")


def test_no_cell_of_a_written_table_is_a_formula(tmp_path: Path) -> None:
    cells = [
        "=1+1",
        "+1",
        "-1",
        "@x",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1",
        "＋1",
        "－1",
        "＠x",
        "'=1",
        "plain",
    ]
    write_sheet(tmp_path / "sample.csv", ["note", "n"], [[cell, 1] for cell in cells])
    with (tmp_path / "sample.csv").open(encoding="utf-8", newline="") as stream:
        written = [row[0] for row in csv.reader(stream)][1:]
    assert not [cell for cell in written if cell[0] in "=+-@\t\r\n＝＋－＠"]
    assert [row["note"] for row in read_table(tmp_path / "sample.csv")] == cells
