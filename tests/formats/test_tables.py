from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXT

from rubricate.errors import InputError
from rubricate.formats.reading import Faults
from rubricate.formats.tables import (
    MOST_DIGITS,
    guarded,
    is_number,
    is_plain_number,
    read_table,
    unguarded,
    write_table,
)
from shared_cases import shared_cases


@given(lines=st.lists(st.tuples(st.integers(0, 99), TEXT), max_size=5))
def test_whatever_is_written_is_read(
    lines: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("t") / "t.csv"
    write_table(place, ("n", "text"), lines, quoted=True)
    table = read_table(place, ("n", "text"), Faults(place))
    assert table is not None
    assert table.integers("n") == [n for n, _ in lines]
    assert table.column("text") == [t for _, t in lines]


@pytest.mark.parametrize(
    ("content", "n_faults"),
    [
        (b'a,b\n1,"open\n', 1),
        (b"", 1),
        (b"a,c\n1,2\n", 1),
    ],
)
def test_broken_tables_are_refused_with_their_row(
    tmp_path: Path, content: bytes, n_faults: int
) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(content)
    faults = Faults(place, unit="row")
    assert read_table(place, ("a", "b"), faults) is None
    assert len(faults.found) == n_faults


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(b'\xef\xbb\xbfa,b\r\n1,"x\r\ny"\r\n')
    table = read_table(place, ("a", "b"), Faults(place))
    assert table is not None
    assert table.column("b") == ["x\r\ny"]


def test_wrong_encoding_is_told_without_the_text(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(b"a,b\n1,caf\xe9 secret\n")
    with pytest.raises(InputError) as caught:
        read_table(place, ("a", "b"), Faults(place))
    assert "secret" not in str(caught.value)
    assert caught.value.faults[0].line == 2


def test_numbers_that_are_none_and_repeats_are_faults(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_text("a\n1\nx\n1\n", encoding="utf-8")
    faults = Faults(place, unit="row")
    table = read_table(place, ("a",), faults)
    assert table is not None
    table.integers("a", unique=True)
    assert [f.line for f in faults.found] == [3, 4]


def test_rows_of_another_width_are_named_and_the_others_read_with_their_numbers(
    tmp_path: Path,
) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(b"a,b\n1,2\n3\n4,5,6\n\n7,x\n")
    faults = Faults(place, unit="row")
    table = read_table(place, ("a", "b"), faults)
    assert table is not None
    assert [f.line for f in faults.found] == [3, 4]
    assert table.column("a") == ["1", "7"]
    table.integers("b")
    assert [f.line for f in faults.found] == [3, 4, 6]


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(b"a,b\r\n1,2\r\n\r\n3,4\r\n\r\n")
    faults = Faults(place, unit="row")
    table = read_table(place, ("a", "b"), faults)
    assert table is not None
    assert (table.column("a"), faults.found) == (["1", "3"], [])


@pytest.mark.parametrize("row", ["1,2,", "1,2,3"])
def test_a_column_that_is_needed_and_there_twice_is_a_fault(tmp_path: Path, row: str) -> None:
    place = tmp_path / "t.csv"
    place.write_text(f"a,b,b\n{row}\n", encoding="utf-8")
    faults = Faults(place)
    read_table(place, ("a",), faults)
    assert faults.found == []
    read_table(place, ("a", "b"), faults)
    assert len(faults.found) == 1


@pytest.mark.parametrize(
    ("text", "number", "plain"),
    [
        ("0", True, True),
        ("10", True, True),
        ("00", True, False),
        ("07", True, False),
        ("9" * MOST_DIGITS, True, True),
        ("9" * (MOST_DIGITS + 1), False, False),
        ("", False, False),
        ("-1", False, False),
        ("\u0663", False, False),
    ],
)
def test_numbers(text: str, number: bool, plain: bool) -> None:
    assert is_number(text) == number
    assert is_plain_number(text) == plain


def test_a_column_is_guessed_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,1\n2,x\n", encoding="utf-8")
    table = read_table(tmp_path / "t.csv", ("a", "b"), Faults(tmp_path))
    assert table is not None
    assert table.guessed("a") == [1, 2] and table.guessed("b") == ["1", "x"]
    assert list(table.lines) == [2, 3] and len(table) == 2


@pytest.mark.parametrize("case", shared_cases("formulas"), ids=lambda case: repr(case["text"]))
def test_no_cell_is_taken_for_a_formula(case: dict[str, str]) -> None:
    assert guarded(case["text"]) == case["guarded"]
    assert unguarded(case["guarded"]) == case["text"]
