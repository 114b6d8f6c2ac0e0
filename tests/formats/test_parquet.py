"""Parquet tables that say less than they hold, and columns that hold something else."""

import os
import struct
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rubricate.errors import InputError
from rubricate.formats import ReadLimits
from rubricate.formats.parquet import check_parquet, read_parquet_table

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
    check_parquet(table, ReadLimits(rows=N))
    with pytest.raises(InputError, match="rows"):
        check_parquet(table, ReadLimits(rows=N - 1))


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
    with pytest.raises(InputError, match="unpacked_bytes"):
        check_parquet(table, limits)


def test_rows_that_repeat_one_value_are_counted(tmp_path: Path) -> None:
    place = tmp_path / "t.parquet"
    pl.DataFrame({name: pl.repeat(1, N, eager=True) for name in "abcdefgh"}).write_parquet(place)
    limits = ReadLimits(unpacked_bytes=8 * N * 4 - 1)
    with pytest.raises(InputError, match="unpacked_bytes"):
        check_parquet(place, limits)


def test_broken_tables_are_refused_by_the_reader(table: Path) -> None:
    whole = table.read_bytes()
    for cut in (0, 3, 11, len(whole) // 2, len(whole) - 1):
        table.write_bytes(whole[:cut])
        with pytest.raises(InputError, match="not a readable Parquet file"):
            read_parquet_table(table, {"a": "text"})
    with pytest.raises(InputError, match="missing"):
        read_parquet_table(table.parent / "none.parquet", {"a": "text"})


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
                assert read_parquet_table(place, asked, more).height == 2
            else:
                with pytest.raises(InputError, match="'a'"):
                    read_parquet_table(place, asked, more)
    with pytest.raises(InputError, match="'b' is missing"):
        read_parquet_table(place, {"b": "text"})
    assert read_parquet_table(place, {}, {"b": "text"}).height == 2


# A file of our own making: each number the check reads stands among fields of every kind.

Fields = dict[Any, Any]
TYPES = {bool: 1, int: 6, bytes: 8, list: 9, dict: 12, float: 7, set: 11}


def whole(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def thrift(value: object, kind: int) -> bytes:
    """Write a value as Thrift's compact protocol does."""
    match value:
        case dict():
            return structure(value)
        case list():
            inner = TYPES[type(value[0])] if value else 12
            head = [len(value) << 4 | inner] if len(value) < 15 else [0xF0 | inner]
            more = b"" if len(value) < 15 else whole(len(value))
            return bytes(head) + more + b"".join(thrift(one, -inner) for one in value)
        case bool():
            return bytes([1 if value else 2]) if kind < 0 else b""  # a field's kind is its value
        case int():
            return (
                bytes([value & 0x7F])
                if kind == 3
                else whole(value * 2 if value >= 0 else -2 * value - 1)
            )
        case float():
            return struct.pack("<d", value)
        case set():
            # A map; one number and one text in each place, or nothing at all.
            pairs = b"".join(thrift(one, 6) + thrift(b"ab", 8) for one in sorted(value))
            return whole(len(value)) + (b"\x68" + pairs if value else b"")
    assert isinstance(value, bytes)
    return whole(len(value)) + value


def structure(fields: Fields) -> bytes:
    """Write a structure; a field is its number, or its number and the kind it is written as."""
    body, last = b"", 0
    for name, value in fields.items():
        number, kind = name if isinstance(name, tuple) else (name, TYPES[type(value)])
        kind = 2 if value is False else kind
        short = 0 < number - last < 16
        body += bytes([(number - last) << 4 | kind]) if short else bytes([kind]) + thrift(number, 6)
        body, last = body + thrift(value, kind), number
    return body + b"\0"


NOISE: Fields = {
    40: True, 41: False, (42, 3): 9, (43, 4): 300, (44, 5): 70_000, 45: -3, 46: 1.5, 47: b"\x15\x16",
    48: [5, 300], 49: [True, False], 50: [b"a", b""], 51: [], (52, 10): [{1: 7}] * 20, 53: {1: {2: 3}},
    54: {7, 400}, 55: set(), 90: 1,
}  # fmt: skip


def page(size: int = 500, *, encoding: int = 0, version: int = 5, packed: int = 6) -> bytes:
    place = {5: 2, 8: 4}[version]
    header = {(place, 5): encoding, (6 - place, 5): 7, **NOISE}
    fields = {
        (1, 5): 0,
        (2, 5): size,
        (3, 5): packed,
        version: dict(sorted_fields(header)),
        **NOISE,
    }
    return structure(fields) + b"\x19" * packed


def sorted_fields(fields: Fields) -> list[tuple[Any, Any]]:
    return sorted(
        fields.items(), key=lambda pair: pair[0][0] if isinstance(pair[0], tuple) else pair[0]
    )


def parquet(
    path: Path, *columns: list[bytes], rows: int = 0, group_rows: int = 1, stated: int = 0,
    dictionary: bool = False, kind: int = 6,
) -> Path:  # fmt: skip
    described: list[Fields] = []
    raw = b"PAR1"
    for pages in columns:
        start = {(11, kind): len(raw)} if dictionary else {}
        data = {(9, kind): len(raw) + len(pages[0]) if dictionary else len(raw)}
        meta = {(1, 5): 6, (7, kind): sum(map(len, pages)), **data, 10: 0, **start, **NOISE}
        described.append({1: b"elsewhere", 2: 4, 3: meta, **NOISE})
        raw += b"".join(pages)
    group = {1: described, (2, kind): stated, (3, kind): group_rows, **NOISE}
    footer = structure(
        {(1, 5): 1, 2: [{4: b"schema"}], (3, kind): rows, 4: [group, group], **NOISE}
    )
    path.write_bytes(raw + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


def sizes(path: Path) -> tuple[int, int]:
    """Return the numbers of rows and bytes that must be allowed before a table passes."""
    found = []
    for name in ("rows", "unpacked_bytes"):
        low, high = 0, 10**9
        while low < high:
            middle = (low + high) // 2
            try:
                check_parquet(path, ReadLimits(**{name: middle}))
                high = middle
            except InputError:
                low = middle + 1
        found.append(low)
    return found[0], found[1]


@pytest.mark.parametrize("kind", [5, 6])
def test_every_number_is_found_among_fields_of_every_kind(kind: int, tmp_path: Path) -> None:
    place, made = tmp_path / "t.parquet", partial(parquet, kind=kind)
    # Two groups tell of the same columns.
    assert sizes(made(place, [page(3000), page(40)], [page(7)])) == (2, 2 * 3047)
    assert sizes(made(place, [page(9)], rows=3)) == (3, 18)
    assert sizes(made(place, [page(9)], rows=1)) == (2, 18)
    assert sizes(made(place, [page(9)], stated=400)) == (2, 800)
    assert sizes(made(place, [page(9)], [page(9)], group_rows=50)) == (100, 2 * 2 * 50 * 4)
    assert sizes(made(place, *[[page(1, version=8)]] * 20)) == (2, 2 * 20 * 4)
    # The pages of a column begin with its dictionary.
    assert sizes(made(place, [page(900), page(30)], dictionary=True)) == (2, 2 * 930)


@pytest.mark.parametrize("version", [5, 8])
def test_texts_that_repeat_others_are_refused(version: int, tmp_path: Path) -> None:
    for encoding in range(10):
        first, second = page(encoding=0), page(encoding=encoding, version=version)
        place = parquet(tmp_path / "t.parquet", [first, second], [first])
        if encoding == 7:
            with pytest.raises(InputError, match="DELTA_BYTE_ARRAY"):
                check_parquet(place)
        else:
            check_parquet(place)


def test_pages_of_negative_size_count_as_broken(tmp_path: Path) -> None:
    for broken in (page(-1), page(packed=-1)):
        place = parquet(tmp_path / "t.parquet", [broken], group_rows=10**6)
        check_parquet(place, ReadLimits(rows=5))


def test_reading_in_threads_leaves_the_standard_error_alone(table: Path) -> None:
    own, kept = os.fstat(2), os.dup(2)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in pool.map(lambda _: read_parquet_table(table, {}), range(64)):
                there = os.fstat(2)
                assert (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
