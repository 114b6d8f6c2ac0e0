"""One Parquet table of others: how large it says it is, and what its columns hold."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Literal

from rubricate.batch import need_polars
from rubricate.errors import Fault, InputError
from rubricate.formats.options import USUAL_LIMITS, ReadLimits

Kind = Literal["text", "text or null", "whole number", "number"]


def read_table(
    path: Path,
    columns: Mapping[str, Kind],
    more: Mapping[str, Kind] = {},
    *,
    limits: ReadLimits = USUAL_LIMITS,
) -> Any:
    """Return a Parquet file as a polars table that has these columns, and maybe ``more``."""
    import polars as pl

    need_polars()
    try:
        if not path.is_file():  # also a pipe, which would be waited for
            raise OSError
        check_parquet(path, limits)
        # Polars takes no path that is not UTF-8; an open file may have any name.
        with path.open("rb") as stream:
            table = pl.read_parquet(stream)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Some broken files make the reader panic, which is no Exception.
        message = "not a readable Parquet file" if path.exists() else "missing"
        raise InputError([Fault(message, path)]) from None
    # A dictionary makes many texts of one: they are counted before they are made.
    n_bytes = sum(
        int(column.str.len_bytes().sum() or 0)
        for column in table.iter_columns()
        if column.dtype == pl.String
    )
    limits.check("unpacked_bytes", n_bytes, "the texts of the table have {} bytes", path)
    faults = []
    for name, kind in {**columns, **more}.items():
        if name in table.columns and not _is_kind(table[name], kind):
            faults.append(Fault(f"column {name!r}: need {kind} in each row", path))
        elif name in columns and name not in table.columns:
            faults.append(Fault(f"column {name!r} is missing", path))
    InputError.raise_any(faults)
    return table


def _is_kind(column: Any, kind: Kind) -> bool:
    import polars as pl

    if column.dtype == pl.Null:
        return kind in ("text or null", "number")
    if kind == "number":
        return bool(column.dtype.is_numeric())
    whole = column.null_count() == 0 or kind == "text or null"
    if kind == "whole number":
        whole = whole and bool(column.dtype.is_integer())
        return whole and bool(column.is_between(-(2**31), 2**31 - 1).all())
    return whole and column.dtype == pl.String


#: Bytes of the smallest value; a page says less where it repeats one of them many times.
_CELL = 4
#: An encoding in which each text may repeat the one before: a few bytes become any number.
_DELTA_TEXTS = 7


def check_parquet(path: Path, limits: ReadLimits = USUAL_LIMITS) -> None:
    """Raise InputError if a Parquet file becomes too large; broken ones pass.

    What the footer says need not be so: each page of a column says how large it becomes, and the
    reader believes the pages.
    """
    try:
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as raw:
            length, magic = struct.unpack("<I4s", raw[-8:])
            if magic != b"PAR1" or length > len(raw) - 12:
                return
            sizes = _Thrift(raw, len(raw) - 8 - length).sizes()
    except (IndexError, OverflowError, RecursionError, ValueError, struct.error):
        return
    limits.check("rows", sizes.rows, "the table has {} rows", path)
    unpacked = max(sizes.stated, sizes.pages, sizes.cells * _CELL)
    limits.check("unpacked_bytes", unpacked, "the table has {} bytes when unpacked", path)
    if sizes.any_length:
        message = "a column is encoded as DELTA_BYTE_ARRAY, which may become any size"
        raise InputError([Fault(f"{message}: write the table with another encoding", path)])


@dataclass(slots=True)
class _Sizes:
    """Rows and bytes a Parquet file says it has, in its footer and in its pages."""

    rows: int = 0
    stated: int = 0
    cells: int = 0
    pages: int = 0
    any_length: bool = False


class _Thrift:
    """As much of Thrift's compact protocol as it takes to find some numbers.

    ``FileMetaData``: 3 rows, 4 row groups; ``RowGroup``: 1 columns, 2 bytes when unpacked, 3 rows;
    ``ColumnMetaData``: 7 bytes in the file, 9 and 11 where they begin; ``PageHeader``: 2 bytes when
    unpacked, 3 bytes in the file, 5 and 8 with the encoding (specification of Parquet,
    ``parquet.thrift``).
    """

    def __init__(self, raw: mmap, place: int) -> None:
        self.raw = raw
        self.place = place

    def sizes(self) -> _Sizes:
        found, group_rows = _Sizes(), 0
        for field, kind in self.fields():
            if field == 3 and kind in (5, 6):
                found.rows = self.number()
            elif field == 4 and kind == 9:
                for _ in range(self.list_head()[0]):
                    group_rows += self.row_group(found)
            else:
                self.skip(kind)
        found.rows = max(found.rows, group_rows)
        return found

    def row_group(self, found: _Sizes) -> int:
        rows, n_columns = 0, 0
        for field, kind in self.fields():
            if field == 1 and kind == 9:
                n_columns = self.list_head()[0]
                for _ in range(n_columns):
                    self.column(found)
            elif field in (2, 3) and kind in (5, 6):
                number = self.number()
                rows = number if field == 3 else rows
                found.stated += number if field == 2 else 0
            else:
                self.skip(kind)
        found.cells += rows * n_columns
        return rows

    def column(self, found: _Sizes) -> None:
        numbers: dict[int, int] = {}
        for field, kind in self.fields():
            if field == 3 and kind == 12:
                for inner, inner_kind in self.fields():
                    if inner_kind in (5, 6):
                        numbers[inner] = self.number()
                    else:
                        self.skip(inner_kind)
            else:
                self.skip(kind)
        first = min(at for at in (numbers.get(9, 0), numbers.get(11, 0)) if at > 0)
        pages = _Thrift(self.raw, first)
        while pages.place < first + numbers.get(7, 0):
            pages.page(found)

    def page(self, found: _Sizes) -> None:
        sizes, encoding = {2: 0, 3: 0}, 0
        for field, kind in self.fields():
            if field in sizes and kind == 5:
                sizes[field] = self.number()
            elif field in (5, 8) and kind == 12:
                for inner, inner_kind in self.fields():
                    if (field, inner) in ((5, 2), (8, 4)) and inner_kind == 5:
                        encoding = self.number()
                    else:
                        self.skip(inner_kind)
            else:
                self.skip(kind)
        if min(sizes.values()) < 0:
            raise ValueError
        found.pages += sizes[2]
        found.any_length |= encoding == _DELTA_TEXTS
        self.place += sizes[3]

    def byte(self) -> int:
        self.place += 1
        return self.raw[self.place - 1]

    def varint(self) -> int:
        value, shift = 0, 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def number(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and kind of each field of a structure; each must be consumed."""
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 15

    def list_head(self) -> tuple[int, int]:
        head = self.byte()
        return (self.varint() if head >> 4 == 15 else head >> 4), head & 15

    def skip(self, kind: int) -> None:
        if kind in (3, 4, 5, 6):
            self.byte() if kind == 3 else self.varint()
        elif kind == 7:
            self.place += 8
        elif kind == 8:
            length = self.varint()
            self.place += length
        elif kind in (9, 10):
            size, inner = self.list_head()
            for _ in range(size):
                self.byte() if inner in (1, 2) else self.skip(inner)
        elif kind == 11 and (size := self.varint()):
            kinds = self.byte()
            for _ in range(size):
                self.skip(kinds >> 4)
                self.skip(kinds & 15)
        elif kind == 12:
            for _, inner in self.fields():
                self.skip(inner)
        elif kind not in (1, 2, 11):
            raise IndexError("no such kind")
