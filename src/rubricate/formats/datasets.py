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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.files import is_plain_name
from rubricate.formats.annotations import refuse_lone_surrogates, rows_by_annotator
from rubricate.formats.arrow_stream import read_arrow
from rubricate.formats.faults import Faults, no_json
from rubricate.formats.format import Format
from rubricate.formats.frame import Frame, feature_labels, read_frame, write_frame
from rubricate.formats.json_text import parse_json
from rubricate.formats.losses import HELD_BY_FRAME
from rubricate.formats.marked_texts import (
    MarkedText,
    build_corpus,
    read_spans,
    scalars,
    span_items,
)
from rubricate.progress import Progress, silent, watched

_STATE, _INFO, _SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_DATA = "data-00000-of-00001.arrow"
_SPANS = ("spans", "entities")
_IDS = ("note", "id")
_OWN = {"text", "case", "annotator", *_SPANS, *_IDS}
_NEED = "rows of an Arrow file with a column 'text'"


def looks_like_datasets(path: Path) -> bool:
    """Tell whether this is a saved data set, or an Arrow file."""
    if path.is_dir():
        return (path / _SPLITS).is_file() or all((path / n).is_file() for n in (_STATE, _INFO))
    return path.is_file() and path.suffix.lower() == ".arrow"


def read_datasets(path: Path, *, strict: bool = True, progress: Progress = silent) -> Corpus:
    """Read the rows of a saved data set or of an Arrow file."""
    faults = Faults(path, unit="row")
    frame = read_frame(path, is_folder=path.is_dir())
    found = watched(_marked(path, frame, faults), progress, "reading notes")
    return build_corpus(found, frame, faults, need=_NEED, strict=strict)


def _marked(path: Path, frame: Frame, faults: Faults) -> Iterator[MarkedText]:
    number = 0
    for place, split in _files(path, faults):
        try:
            table = read_arrow(place)
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
            ids = (row.get(name) for name in _IDS)
            note_id = next((str(i) for i in ids if isinstance(i, str | int)), str(number))
            case, given = row.get("case"), row.get("annotator")
            who = given if isinstance(given, str) else frame.only_annotator
            yield MarkedText(
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
        names = listed(parse_json(text))
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

    refuse_lone_surrogates(corpus)
    labels = feature_labels(corpus)
    rows: list[dict[str, Any]] = []
    for note in watched(corpus.notes, progress, "writing notes", len(corpus.notes)):
        head = {"note": note.id, "case": note.case, "text": note.text}
        judged = rows_by_annotator(corpus, note.id)
        for annotator, own in judged.items():
            who, spans = corpus.annotators[annotator].id, span_items(corpus, own, labels)
            rows.append({**head, "annotator": who, "spans": spans})
        if not judged:
            rows.append({**head, "annotator": None, "spans": None})
    span = {"start": pl.Int64, "end": pl.Int64, "label": pl.String, "annotation": pl.Int64}
    texts = dict.fromkeys(("note", "case", "text", "annotator"), pl.String)
    table = pl.DataFrame(rows, schema={**texts, "spans": pl.List(pl.Struct(span))})
    path.mkdir()
    table.write_ipc_stream(path / _DATA, compat_level=pl.CompatLevel.oldest())
    state: dict[str, Any] = {
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
    read=read_datasets,
    write=write_datasets,
    holds=HELD_BY_FRAME
    | {"fragments", "overlaps", "repeats", "annotators", "unannotated", "empty notes", "newlines",
       "boundaries", "ids"},
)  # fmt: skip
