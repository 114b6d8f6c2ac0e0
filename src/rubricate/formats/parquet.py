"""Our own bulk format: a folder with a JSON head and the columnar arrays as Parquet; lossless."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    write_json,
)
from rubricate.formats.format import HOLDABLE, Format
from rubricate.formats.options import USUAL_OPTIONS, ReadLimits, ReadOptions
from rubricate.formats.parquet_table import Kind, read_table
from rubricate.formats.reading import Faults, refuse_link
from rubricate.progress import Progress, silent
from rubricate.rows import Rows
from rubricate.rubric import NO_METADATA, Metadata

if TYPE_CHECKING:
    import polars as pl

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
    head, tables = _read_head(path / HEAD, how.limits), _read_tables(path, how.limits)
    try:
        corpus = _corpus(head, tables, how.limits)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = "the tables lack what they should hold; convert again from the source"
        raise InputError([Fault(message, path)]) from error
    _check(corpus, Faults(path, how, unit="row"))
    return corpus


def _read_head(path: Path, limits: ReadLimits) -> Head:
    refuse_link(path, path.parent)
    value = read_json(path, limits)
    if value.get("rubricate_parquet") != VERSION:
        raise InputError([Fault(f'need a head with "rubricate_parquet": {VERSION}', path)])
    try:
        return head_from_json(value)
    except ValueError as error:
        raise InputError([Fault(f"not a valid head: {error}", path)]) from error


def _read_tables(path: Path, limits: ReadLimits) -> dict[str, pl.DataFrame]:
    faults, tables = Faults(path), {}
    for name, columns in _COLUMNS.items():
        place = path / f"{name}.parquet"
        try:
            refuse_link(place, path)
            tables[name] = read_table(place, columns, _MORE.get(name, {}), limits=limits)
        except InputError as error:
            faults.found.extend(error.faults)
    faults.raise_any()
    return tables


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
