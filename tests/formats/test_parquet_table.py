"""Parquet tables that say less than they hold, and columns that hold something else."""

import struct
from pathlib import Path

import polars as pl
import pytest

from rubricate.errors import InputError
from rubricate.formats import ReadLimits
from rubricate.formats.limits import limits_in_force
from rubricate.formats.parquet_table import check_parquet, read_table

N = 100_000


def varint(value: int, length: int = 0) -> bytes:
    """Return a number of Thrift; padded, so that it takes the place of a longer one."""
    value, digits = value << 1, bytearray()
    while value > 0x7F or len(digits) < length - 1:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    place = tmp_path / "t.parquet"
    table = pl.DataFrame({"a": ["x" * 50] * N, "b": range(N)})
    table.write_parquet(place, compression="zstd", row_group_size=N)
    return place


def lie(place: Path, truth: int, said: int, count: int = -1) -> None:
    """Write another number into the footer, in so many of its places."""
    raw = place.read_bytes()
    start = len(raw) - 8 - struct.unpack("<I", raw[-8:-4])[0]
    old = varint(truth)
    assert old in raw[start:-8]
    footer = raw[start:-8].replace(old, varint(said, len(old)), count)
    place.write_bytes(raw[:start] + footer + raw[-8:])


def test_rows_are_those_of_the_groups(table: Path) -> None:
    lie(table, N, 2, 1)
    assert pl.read_parquet(table).height == N
    with limits_in_force(ReadLimits(rows=N)):
        check_parquet(table)
    with limits_in_force(ReadLimits(rows=N - 1)), pytest.raises(InputError, match="rows"):
        check_parquet(table)


def test_pages_say_how_large_a_table_becomes(table: Path) -> None:
    raw = table.read_bytes()
    start = len(raw) - 8 - struct.unpack("<I", raw[-8:-4])[0]
    before = pl.read_parquet(table)
    # The size of the group in the footer comes before its rows.
    at = raw.rindex(varint(N), start, len(raw) - 8)
    size = next(raw[place + 1 : at - 1] for place in range(at - 2, start, -1) if raw[place] == 0x16)
    changed = bytearray(raw)
    changed[at - 1 - len(size) : at - 1] = varint(1, len(size))
    table.write_bytes(bytes(changed))
    assert pl.read_parquet(table).equals(before)
    limits = ReadLimits(unpacked_bytes=100_000)
    with limits_in_force(limits), pytest.raises(InputError, match="unpacked_bytes"):
        check_parquet(table)


def test_rows_that_repeat_one_value_are_counted(tmp_path: Path) -> None:
    place = tmp_path / "t.parquet"
    pl.DataFrame({name: pl.repeat(1, N, eager=True) for name in "abcdefgh"}).write_parquet(place)
    limits = ReadLimits(unpacked_bytes=8 * N * 4 - 1)
    with limits_in_force(limits), pytest.raises(InputError, match="unpacked_bytes"):
        check_parquet(place)


def test_broken_tables_are_refused_by_the_reader(table: Path) -> None:
    whole = table.read_bytes()
    for cut in (0, 3, 11, len(whole) // 2, len(whole) - 1):
        table.write_bytes(whole[:cut])
        with pytest.raises(InputError, match="not a readable Parquet file"):
            read_table(table, {"a": "text"})
    with pytest.raises(InputError, match="missing"):
        read_table(table.parent / "none.parquet", {"a": "text"})


@pytest.mark.parametrize(
    ("column", "kinds"),
    [
        (pl.Series(["x", "y"]), {"text", "text or null"}),
        (pl.Series(["x", None]), {"text or null"}),
        (pl.Series([None, None]), {"text or null", "number"}),
        (pl.Series([1, 2]), {"whole number", "number"}),
        (pl.Series([1, None]), {"number"}),
        (pl.Series([1, 2**40]), {"number"}),
        (pl.Series([0.5, None]), {"number"}),
        (pl.Series([True, False]), set()),
        (pl.Series([[1], [2]]), set()),
    ],
)
def test_columns_hold_what_they_should(column: pl.Series, kinds: set[str], tmp_path: Path) -> None:
    place = tmp_path / "t.parquet"
    pl.DataFrame({"a": column}).write_parquet(place)
    for kind in ("text", "text or null", "whole number", "number"):
        for asked in ({"a": kind}, {}):
            more = {} if asked else {"a": kind}
            if kind in kinds:
                assert read_table(place, asked, more).height == 2
            else:
                with pytest.raises(InputError, match="'a'"):
                    read_table(place, asked, more)
    with pytest.raises(InputError, match="'b' is missing"):
        read_table(place, {"b": "text"})
    assert read_table(place, {}, {"b": "text"}).height == 2
