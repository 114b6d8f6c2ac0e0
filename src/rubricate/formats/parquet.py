"""Our own bulk format: a folder with a JSON head and the columnar arrays as Parquet; lossless."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rubricate.batch import need_polars
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import (
    Head,
    contradiction_from_json,
    contradiction_to_json,
    detail_from_json,
    head_from_json,
    head_to_json,
    metadata_from_json,
    parse_json,
    read_json,
)
from rubricate.formats.format import HOLDABLE, Format
from rubricate.formats.options import USUAL_LIMITS, USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.reading import Faults, refuse_link
from rubricate.progress import Progress, silent
from rubricate.rows import Rows
from rubricate.rubric import NO_METADATA, Metadata
from rubricate.values import write_json

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["text", "text or null", "whole number", "number"]


VERSION = 1
HEAD = "corpus.json"
_COLUMNS: dict[str, dict[str, Kind]] = {
    "notes": {"id": "text", "case": "text", "text": "text", "metadata": "text or null"},
    "rows": dict.fromkeys(("note", "annotator", "feature", "n_annotations"), "whole number"),
    "annotations": {"n_spans": "whole number"},
    "spans": {"start": "whole number", "end": "whole number"},
}
#: Columns that are there only if some row has the value.
_MORE: dict[str, dict[str, Kind]] = {
    "rows": {"probability": "number", "contradiction": "text or null"},
    "annotations": {"confidence": "number", "detail": "text or null"},
}


def looks_like_parquet(path: Path) -> bool:
    """Tell whether the folder holds our head and tables."""
    return path.is_dir() and (path / HEAD).is_file() and (path / "notes.parquet").is_file()


def write_parquet(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the corpus as a folder of Parquet tables."""
    import polars as pl

    need_polars()
    path.mkdir()
    head = {"rubricate_parquet": VERSION, **head_to_json(corpus)}
    write_json(path / HEAD, head)
    rows = corpus.rows
    said = {i: contradiction_to_json(one) for i, one in rows.contradictions.items()}
    details = {i: detail._asdict() for i, detail in rows.details.items()}
    tables = {
        "notes": pl.DataFrame(
            {
                "id": [n.id for n in corpus.notes],
                "case": [n.case for n in corpus.notes],
                "text": [n.text for n in corpus.notes],
                "metadata": [_dumped(dict(n.metadata)) for n in corpus.notes],
            },
            schema={"id": pl.String, "case": pl.String, "text": pl.String, "metadata": pl.String},
        ),
        "rows": pl.DataFrame(
            {
                "note": rows.note,
                "annotator": rows.annotator,
                "feature": rows.feature,
                "n_annotations": np.diff(rows.first_annotation).astype(np.int32),
            }
            | ({} if rows.probability is None else {"probability": rows.probability})
            | ({"contradiction": _to_column(len(rows), said)} if said else {})
        ),
        "annotations": pl.DataFrame(
            {"n_spans": np.diff(rows.first_span).astype(np.int32)}
            | ({} if rows.confidence is None else {"confidence": rows.confidence})
            | ({"detail": _to_column(rows.n_annotations, details)} if details else {})
        ),
        "spans": pl.DataFrame({"start": rows.start, "end": rows.end}),
    }
    for name, table in tables.items():
        with (path / f"{name}.parquet").open("wb") as stream:  # its name need not be UTF-8
            table.write_parquet(stream, compression="zstd", compression_level=9)


def _dumped(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else None


def _to_column(size: int, values: Mapping[int, Any]) -> list[str | None]:
    """Return a column that has values in some of its rows."""
    return [_dumped(values.get(i)) for i in range(size)]


def read_parquet(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a corpus written by `write_parquet`."""
    return _read(path, how, how.limits)


def read_packaged(path: Path) -> Corpus:
    """Read a corpus that comes with the package: its files are as large as they say."""
    return _read(path, USUAL_OPTIONS, None)


def _read(path: Path, how: ReadOptions, table_limits: ReadLimits | None) -> Corpus:
    refuse_link(path / HEAD, path)
    value = read_json(path / HEAD, how.limits)
    if value.get("rubricate_parquet") != VERSION:
        raise InputError([Fault(f'need a head with "rubricate_parquet": {VERSION}', path / HEAD)])
    try:
        head = head_from_json(value)
    except ValueError as error:
        raise InputError([Fault(f"not a valid head: {error}", path / HEAD)]) from error
    faults, tables = Faults(path, how, unit="row"), {}
    for name, columns in _COLUMNS.items():
        place = path / f"{name}.parquet"
        try:
            refuse_link(place, path)
            more = _MORE.get(name, {})
            tables[name] = read_parquet_table(place, columns, more, limits=table_limits)
        except InputError as error:
            faults.found += error.faults
    faults.raise_any()
    try:
        corpus = _corpus(head, tables, how.limits)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = "the tables lack what they should hold; convert again from the source"
        raise InputError([Fault(message, path)]) from error
    _check(corpus, faults)
    return corpus


def _corpus(head: Head, tables: Mapping[str, pl.DataFrame], limits: ReadLimits) -> Corpus:
    notes, rows, annotations, spans = tables.values()
    known: dict[str | None, Metadata] = {None: NO_METADATA}  # equal metadata is made once
    for text in notes["metadata"].unique():
        if text is not None:
            known[text] = metadata_from_json(parse_json(text, limits))
    details = {i: detail_from_json(value) for i, value in _filled(annotations, "detail", limits)}
    said = {
        i: contradiction_from_json(value) for i, value in _filled(rows, "contradiction", limits)
    }
    return Corpus(
        notes=tuple(
            Note(i, c, t, known[m])
            for i, c, t, m in zip(*(notes[k] for k in _COLUMNS["notes"]), strict=True)
        ),
        rubrics=head.rubrics,
        annotators=head.annotators,
        rows=Rows(
            note=rows["note"].to_numpy(),
            annotator=rows["annotator"].to_numpy(),
            feature=rows["feature"].to_numpy(),
            first_annotation=_pointers(rows["n_annotations"].to_numpy()),
            first_span=_pointers(annotations["n_spans"].to_numpy()),
            start=spans["start"].to_numpy(),
            end=spans["end"].to_numpy(),
            probability=rows["probability"].to_numpy() if "probability" in rows else None,
            confidence=annotations["confidence"].to_numpy()
            if "confidence" in annotations
            else None,
            details=details,
            contradictions=said,
        ),
        scores=head.scores,
        metadata=head.metadata,
    )


def _filled(table: Any, name: str, limits: ReadLimits) -> Iterator[tuple[int, Any]]:
    """Yield the rows of an optional column that have a value."""
    for i, text in enumerate(table[name] if name in table.columns else ()):
        if text is not None:
            yield i, parse_json(text, limits)


def _pointers(counts: Any) -> Any:
    first = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=first[1:])
    return first


def _check(corpus: Corpus, faults: Faults) -> None:
    """Refuse tables that do not fit together, and (if strict) spans outside their note."""
    rows = corpus.rows
    if len(corpus.note_index) != len(corpus.notes):
        faults.add("notes.parquet: note ids occur twice")
    for name, column, size in (
        ("note", rows.note, len(corpus.notes)),
        ("annotator", rows.annotator, len(corpus.annotators)),
        ("feature", rows.feature, len(corpus.features)),
    ):
        if len(column) and not (column.min() >= 0 and column.max() < size):
            faults.add(f"rows.parquet: column {name!r} points outside its {size} entries")
    if any((np.diff(first) < 0).any() for first in (rows.first_annotation, rows.first_span)):
        faults.add("columns 'n_annotations' and 'n_spans' must be 0 or more")
    if rows.first_annotation[-1] != rows.n_annotations or rows.first_span[-1] != len(rows.start):
        faults.add("the tables rows, annotations and spans do not fit together")
    faults.raise_any()
    keys = rows.key(n_annotators=len(corpus.annotators), n_features=len(corpus.features))
    if not (np.diff(keys) > 0).all():
        faults.add("rows.parquet: rows are not in order, or occur twice")
    known = np.zeros(0) if rows.probability is None else rows.probability
    if ((known < 0) | (known > 1)).any():
        faults.add("rows.parquet: column 'probability' goes from 0 to 1")
    if faults.how.strict:
        if (np.diff(rows.first_span) < 1).any():
            faults.add("annotations.parquet: column 'n_spans' must be 1 or more")
        length = np.array([len(n.text) for n in corpus.notes], dtype=np.int64)
        note = rows.note[rows.span_row]
        wrong = (rows.start < 0) | (rows.start >= rows.end) | (rows.end > length[note])
        for i in np.flatnonzero(wrong):
            note_ = corpus.notes[int(note[i])]
            start, end = int(rows.start[i]), int(rows.end[i])
            faults.check_span(start, end, len(note_.text), note_.id, int(i) + 1)
        for row, said in rows.contradictions.items():
            note_ = corpus.notes[int(rows.note[row])]
            for start, end in said.spans:
                faults.check_span(start, end, len(note_.text), note_.id, row + 1)
    faults.raise_any()


def read_parquet_table(
    path: Path,
    columns: Mapping[str, Kind],
    more: Mapping[str, Kind] = {},
    *,
    limits: ReadLimits | None = USUAL_LIMITS,
) -> Any:
    """Return a Parquet file as a polars table that has these columns, and maybe ``more``.

    Without ``limits`` it is a file of the package, which is as large as it says.
    """
    import polars as pl

    need_polars()
    try:
        if not path.is_file():  # also a pipe, which would be waited for
            raise OSError
        if limits is not None:
            check_parquet(path, limits)
        # Polars takes no path that is not UTF-8; an open file may have any name.
        with path.open("rb") as stream:
            table = pl.read_parquet(stream)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        # Some broken files make the reader panic, which is no Exception.
        message = "not a readable Parquet file" if path.exists() else "missing"
        raise InputError([Fault(message, path)]) from None
    if limits is not None:
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


FORMAT = Format(
    name="parquet",
    summary="our own, a folder of Parquet tables; lossless, small, fast",
    looks_like=looks_like_parquet,
    read=read_parquet,
    write=write_parquet,
    made=frozenset(
        {"annotations.parquet", "corpus.json", "notes.parquet", "rows.parquet", "spans.parquet"}
    ),
    holds=frozenset(HOLDABLE),
    needs_trust=True,
)
