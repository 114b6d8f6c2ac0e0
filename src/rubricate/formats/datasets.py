"""Data sets of Hugging Face: a folder saved with ``save_to_disk``, or plain Arrow files.

Read: a column ``text`` and a column ``spans`` (or ``entities``), a list of ``start``, ``end`` and
``label`` in code points. A note is known by ``note`` or ``id``, else by its row; ``case`` and
``annotator`` are read where they are there, and other columns of plain values become metadata. A
row whose ``spans`` is null was not judged. The splits of a ``DatasetDict`` become the metadata
``split``. Files are Arrow streams, as the library writes them, without compression.

Written: one row per note and annotator, which ``datasets.load_from_disk`` opens. Fragments of one
annotation have the same number under ``annotation``. Nothing needs the library or the network.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubricate.batch import need_polars
from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError
from rubricate.files import is_plain_name
from rubricate.formats.encoding import Json, parse_json
from rubricate.formats.format import HELD_BY_SPANS, Format
from rubricate.formats.frame import Frame, judged_notes, write_frame
from rubricate.formats.options import USUAL_LIMITS, ReadLimits
from rubricate.formats.reading import Faults, no_json, read_whole
from rubricate.formats.tool_documents import (
    ToolDocument,
    document_reader,
    first_id,
    read_spans,
    scalars,
    span_items,
)
from rubricate.progress import Progress, silent

_DICTIONARY, _BATCH = 2, 3


def read_arrow(path: Path, limits: ReadLimits = USUAL_LIMITS) -> Any:
    """Return an Arrow stream as a polars table."""
    import polars as pl

    need_polars()
    raw = read_whole(path, limits)
    try:
        rows = _check(raw)
        limits.check("rows", rows, "the table has {} rows", path)
        return pl.read_ipc_stream(raw)
    except InputError:
        raise
    except (
        struct.error, ValueError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException
    ):  # fmt: skip
        message = "not a readable Arrow stream without compression (a Feather file is none)"
        raise InputError([Fault(message, path)]) from None


def _check(raw: bytes) -> int:
    """Return the number of rows of a stream; ValueError if a part is compressed or out of place."""
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
        """Return the offset of a field; 0 if it is absent."""
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


_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_DATA = "data-00000-of-00001.arrow"
_SPANS = ("spans", "entities")
_IDS = ("note", "id")
_OWN = {"text", "case", "annotator", *_SPANS, *_IDS}


def looks_like_datasets(path: Path) -> bool:
    """Tell whether this is a saved data set, or an Arrow file."""
    if path.is_dir():
        return (path / _SPLITS).is_file() or all((path / n).is_file() for n in (_STATE, _INFO))
    return path.is_file() and path.suffix.lower() == ".arrow"


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[ToolDocument]:
    number = 0
    for place, split in _files(path, faults):
        try:
            table = read_arrow(place, faults.how.limits)
        except InputError as error:
            faults.found.extend(error.faults)
            continue
        if "text" not in table.columns:
            faults.add("there is no column 'text'", path=place)
            continue
        named = next((name for name in _SPANS if name in table.columns), None)
        for line, row in enumerate(table.iter_rows(named=True), start=1):
            number += 1
            items = row[named] if named else None
            if not isinstance(row["text"], str) or not isinstance(items, list | None):
                faults.add("need a text, and a list of spans or null", line=line, path=place)
                continue
            note_id = first_id((row.get(name) for name in _IDS), str(number))
            case, given = row.get("case"), row.get("annotator")
            who = given if isinstance(given, str) else frame.only_annotator
            yield ToolDocument(
                note_id,
                row["text"],
                None if items is None else who,
                tuple(read_spans(items or [], line, faults)),
                line,
                place,
                case=str(case) if isinstance(case, str | int) else None,
                metadata=scalars({**row, **split}, without=_OWN),
            )


def _files(path: Path, faults: Faults) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield the Arrow files in order, each with its split."""
    if path.is_file():
        yield path, {}
    elif (path / _SPLITS).is_file():
        for split in _names(path / _SPLITS, faults, lambda value: value["splits"]):
            for place in _data_files(path / split, faults):
                yield place, {"split": split}
    else:
        for place in _data_files(path, faults):
            yield place, {}


def _data_files(folder: Path, faults: Faults) -> Iterator[Path]:
    listed = _names(
        folder / _STATE, faults, lambda value: [one["filename"] for one in value["_data_files"]]
    )
    for name in listed:
        if not faults.refuses_link(folder / name):
            yield folder / name


def _names(path: Path, faults: Faults, listed: Any) -> list[str]:
    """Return the names a JSON file lists, each of something in the file's own folder."""
    text = faults.text_of(path)
    if text is None:
        return []
    try:
        names = listed(parse_json(text, faults.how.limits))
        if all(isinstance(name, str) and is_plain_name(name) for name in names):
            return list(names)
    except json.JSONDecodeError as error:
        faults.add(no_json(error), line=error.lineno, path=path)
        return []
    except (KeyError, TypeError):
        pass
    faults.add("it does not list files of its folder as save_to_disk does", path=path)
    return []


def write_datasets(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a folder as ``save_to_disk`` does, one row per note and annotator, and the frame."""
    import polars as pl

    need_polars()
    rows: list[Json] = []
    for note, judged in judged_notes(corpus, progress):
        head = {"note": note.id, "case": note.case, "text": note.text}
        rows += [
            {**head, "annotator": who, "spans": span_items(own)} for who, own in judged.items()
        ]
        if not judged:
            rows.append({**head, "annotator": None, "spans": None})
    span = {"start": pl.Int64, "end": pl.Int64, "label": pl.String, "annotation": pl.Int64}
    texts = dict.fromkeys(("note", "case", "text", "annotator"), pl.String)
    table = pl.DataFrame(rows, schema={**texts, "spans": pl.List(pl.Struct(span))})
    path.mkdir()
    with (path / _DATA).open("wb") as stream:
        table.write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
    state: Json = {
        "_data_files": [{"filename": _DATA}],
        "_fingerprint": "0" * 16,
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    for name, value in ((_STATE, state), (_INFO, {})):
        (path / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    write_frame(corpus, path, is_folder=True)


FORMAT = Format(
    name="datasets",
    summary="data sets of Hugging Face: a folder of save_to_disk, or an Arrow file",
    looks_like=looks_like_datasets,
    read=document_reader(_marked, need="rows of an Arrow file with a column 'text'", unit="row"),
    write=write_datasets,
    made=frozenset({"data-*.arrow", "dataset_info.json", "state.json"}),
    holds=HELD_BY_SPANS,
    needs_trust=True,
)
