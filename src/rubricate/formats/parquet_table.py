"""One Parquet table of others: how large it says it is, and what its columns hold."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from rubricate.errors import Fault, InputError
from rubricate.formats.limits import need_within

Kind = Literal["text", "text or null", "whole number", "number"]


def read_table(path: Path, columns: Mapping[str, Kind], more: Mapping[str, Kind] = {}) -> Any:
    """Return a Parquet file as a polars table that has these columns, and maybe ``more``."""
    import polars as pl

    try:
        check_parquet(path)
        with _quiet_panic():
            table = pl.read_parquet(path)
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
    need_within("unpacked_bytes", n_bytes, "the texts of the table have {} bytes", path)
    faults = []
    for name, kind in {**columns, **more}.items():
        if name in table.columns and not _is_kind(table[name], kind):
            faults.append(Fault(f"column {name!r}: need {kind} in each row", path))
        elif name in columns and name not in table.columns:
            faults.append(Fault(f"column {name!r} is missing", path))
    if faults:
        raise InputError(faults)
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


@contextmanager
def _quiet_panic() -> Iterator[None]:
    """Keep what the reader prints when it panics from the standard error of the process."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # nothing is printed where there is no standard error
        yield
        return
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def check_parquet(path: Path) -> None:
    """Raise InputError if a Parquet file says that it becomes too large; broken ones pass."""
    raw = _parquet_footer(path)
    if raw is None:
        return
    try:
        rows, unpacked = _Thrift(raw).file_size()
    except (IndexError, RecursionError):
        return
    need_within("rows", rows, "the table has {} rows", path)
    need_within("unpacked_bytes", unpacked, "the table has {} bytes when unpacked", path)


def _parquet_footer(path: Path) -> bytes | None:
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < 12:
            return None
        stream.seek(size - 8)
        length, magic = struct.unpack("<I4s", stream.read(8))
        if magic != b"PAR1" or length > size - 12:
            return None
        stream.seek(size - 8 - length)
        return stream.read(length)


class _Thrift:
    """As much of Thrift's compact protocol as it takes to skip to two numbers of the footer.

    ``FileMetaData``: 3 rows, 4 row groups; ``RowGroup``: 2 bytes when unpacked (format
    specification of Parquet, ``parquet.thrift``).
    """

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.place = 0

    def file_size(self) -> tuple[int, int]:
        rows, unpacked = 0, 0
        for field, kind in self.fields():
            if field == 3 and kind in (5, 6):
                rows = self.number()
            elif field == 4 and kind == 9:
                n_groups, _ = self.list_head()
                for _ in range(n_groups):
                    for inner, inner_kind in self.fields():
                        if inner == 2 and inner_kind in (5, 6):
                            unpacked += self.number()
                        else:
                            self.skip(inner_kind)
            else:
                self.skip(kind)
        return rows, unpacked

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
