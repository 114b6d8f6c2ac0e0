"""One Arrow stream of others, checked before polars reads it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.formats.limits import need_within, read_whole
from rubricate.formats.parquet_table import quiet_panic

_DICTIONARY, _BATCH = 2, 3


def read_arrow(path: Path) -> Any:
    """Return an Arrow stream as a polars table."""
    import polars as pl

    raw = read_whole(path)
    try:
        rows = _check(raw)
        need_within("rows", rows, "the table has {} rows", path)
        with quiet_panic():
            return pl.read_ipc_stream(raw)
    except InputError:
        raise
    except (
        struct.error, ValueError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException
    ):  # fmt: skip
        message = "not a readable Arrow stream without compression (a Feather file is none)"
        raise InputError([Fault(message, path)]) from None


def _check(raw: bytes) -> int:
    """Return how many rows a stream has; ValueError if a part is compressed or out of place."""
    place, rows = 0, 0
    while place < len(raw):
        mark, length = struct.unpack_from("<Ii", raw, place)
        if mark != 0xFFFFFFFF or length < 0:
            raise ValueError("no message")
        if not length:
            break
        message = _Table(raw[place + 8 : place + 8 + length])
        kind, body = message.number(1, "B"), message.number(3, "q")
        place += 8 + length + body
        if body < 0 or place > len(raw):
            raise ValueError("a message goes beyond the end")
        if kind in (_DICTIONARY, _BATCH):
            batch = message.table(2)
            if kind == _DICTIONARY:
                batch = batch.table(1)
            rows += _check_batch(batch, body)
    return rows


def _check_batch(batch: _Table, body: int) -> int:
    rows = batch.number(0, "q")
    if batch.place_of(3):
        raise ValueError("compressed")
    for length, nulls in batch.pairs(1):
        if not 0 <= nulls <= length:
            raise ValueError("no such length")
        rows = max(rows, length)
    for start, length in batch.pairs(2):
        if start < 0 or length < 0 or start + length > body:
            raise ValueError("a buffer goes beyond its message")
    return rows


class _Table:
    """A table of FlatBuffers, as much as it takes to read some of its fields.

    ``Message``: 1 kind of the header, 2 header, 3 bytes of the body; ``DictionaryBatch``: 1 batch;
    ``RecordBatch``: 0 rows, 1 lengths and nulls of the columns, 2 places and lengths of the
    buffers, 3 compression (format specification of Arrow, ``Message.fbs``).
    """

    def __init__(self, raw: bytes, at: int | None = None) -> None:
        self.raw = raw
        self.at = self._read("I", 0) if at is None else at
        self.fields = self.at - self._read("i", self.at)

    def _read(self, kind: str, place: int) -> int:
        if place < 0:
            raise ValueError("out of place")
        return int(struct.unpack_from(f"<{kind}", self.raw, place)[0])

    def place_of(self, field: int) -> int:
        """Return where a field is; 0 where it is absent."""
        inside = 4 + 2 * field
        if inside >= self._read("H", self.fields):
            return 0
        offset = self._read("H", self.fields + inside)
        return self.at + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        """Return a number; 0 where it is absent."""
        place = self.place_of(field)
        return self._read(kind, place) if place else 0

    def table(self, field: int) -> _Table:
        """Return the table that a field points to."""
        place = self.place_of(field)
        return _Table(self.raw, place + self._read("I", place))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """Return a list of pairs of numbers."""
        place = self.place_of(field)
        if not place:
            return []
        first = place + self._read("I", place)
        flat = struct.unpack_from(f"<{2 * self._read('I', first)}q", self.raw, first + 4)
        return list(zip(flat[::2], flat[1::2], strict=True))
