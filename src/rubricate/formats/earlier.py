"""Earlier output in a format: how it is known, and what people judged in it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import ArgumentError, RubricateError, listed
from rubricate.formats.format import Format
from rubricate.formats.frame import FRAME_NAME
from rubricate.formats.options import ReadOptions
from rubricate.formats.reading import first_bytes
from rubricate.outputs import Kind, foreign_files, is_empty
from rubricate.rubric import SYSTEM

_FRAME = b'"rubricate_frame"'
#: What our own formats write into their first file in place of a frame.
_HEADS = {"parquet": ("corpus.json", b"{")}
_BEGINS = {"jsonl": b'{"rubricate"', "submission": b"id,location"}
#: How the companions of a file begin, by the end of their names.
_COMPANIONS = {f".{FRAME_NAME}": _FRAME, ".config.xml": b"<View"}


def output_kind(format: Format) -> Kind:  # noqa: A002
    """Return the kind of an earlier output in a format: its frame or its own head tells it."""

    def fault(path: Path) -> str:
        for end, begin in _COMPANIONS.items():
            if path.name.endswith(end):
                return "" if begin in first_bytes(path) else "it begins otherwise"
        if not format.made:
            is_own = (
                _begins(path.with_name(f"{path.name}.{FRAME_NAME}"), _FRAME)
                or format.looks_like(path)
                or (format.name in _BEGINS and _begins(path, _BEGINS[format.name]))
            )
            return "" if path.is_file() and is_own else "it is in no such format"
        name, begin = _HEADS.get(format.name, (FRAME_NAME, _FRAME))
        if not path.is_dir() or not _begins(path / name, begin):
            return f"there is no {name} of ours in it"
        patterns = {*format.made, FRAME_NAME}
        return foreign_files(path, lambda one: any(fnmatchcase(one, own) for own in patterns))

    return Kind(f"a corpus in the format {format.name}", fault)


def _begins(path: Path, begin: bytes) -> bool:
    return path.is_file() and begin in first_bytes(path)


def refuse_judged(path: Path, format: Format, now: Path | None = None) -> None:  # noqa: A002
    """Refuse to replace a corpus with judgements of people that are not in the new one.

    People may have gone on in what was written here. ``now`` is the new corpus; without it none of
    their judgements would be left. What a program marked may be replaced.
    """
    if not path.exists() or is_empty(path) or not format.has_notes:
        return
    how = ReadOptions(strict=False)
    try:
        old = format.read(path, how)
        new = None if now is None else format.read(now, how)
    except (RubricateError, OSError) as error:
        raise ArgumentError(
            f"{path} is not replaced: whether people judged something in it cannot be read. "
            "Delete or move it yourself, or choose another"
        ) from error
    kept = set() if new is None else _judgements(new)
    lost = _judgements(old) - kept
    if lost:
        who = listed(sorted({annotator for _, annotator, *_ in lost}), 3)
        raise ArgumentError(
            f"{path} is not replaced: it holds {len(lost):,} judgements of people ({who}) that the "
            "new output does not hold. Delete or move it yourself, or choose another"
        )


def _judgements(corpus: Corpus) -> set[tuple[str, str, str, tuple[tuple[int, int], ...]]]:
    """Return people's judgements: note, annotator, feature and all spans."""
    rows = corpus.rows
    machine = [k for k, one in enumerate(corpus.annotators) if one.group == SYSTEM]
    found = set()
    for row in np.flatnonzero(~np.isin(rows.annotator, machine)).tolist():
        first, last = rows.first_span[rows.first_annotation[row : row + 2]].tolist()
        spans = zip(rows.start[first:last].tolist(), rows.end[first:last].tolist(), strict=True)
        found.add((
            corpus.notes[rows.note[row]].id,
            corpus.annotators[rows.annotator[row]].id,
            corpus.features[rows.feature[row]].id,
            tuple(spans),
        ))  # fmt: skip
    return found
