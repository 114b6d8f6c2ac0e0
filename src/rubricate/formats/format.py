"""Formats: detection, reader, optional writer and stream, what is lost, and earlier output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from rubricate.arrays import F32, I64, Bools
from rubricate.corpus import Corpus, Note
from rubricate.errors import ArgumentError, Fault, RubricateError, listed, shown
from rubricate.formats.encoding import Head
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, first_bytes
from rubricate.formats.tables import is_plain_number
from rubricate.outputs import Kind, foreign_files, is_empty
from rubricate.progress import Progress, silent, watched
from rubricate.rows import Rows, ranges
from rubricate.rubric import SYSTEM, Rubric

#: Everything a format may or may not hold, with what the count counts.
HOLDABLE = {
    "fragments": "annotations of several fragments",
    "overlaps": "annotations that share words with another",
    "repeats": "annotations given twice in the same row",
    "annotators": "annotators beyond the first",
    "rubrics": "features whose id, wording, weight, kind, group or note is simplified",
    "metadata": "notes, rubrics and annotators with metadata",
    "groups": "annotators with a group",
    "unjudged": "rows missing from otherwise judged notes",
    "unannotated": "notes that nobody judged",
    "empty notes": "notes without text",
    "foreign": "rows whose feature belongs to another case",
    "newlines": "annotations that run across a line break",
    "confidence": "annotations with a confidence",
    "probability": "rows with a probability",
    "contradictions": "rows whose feature the note contradicts",
    "reasons": "annotations with a reason",
    "comments": "annotations with a comment",
    "attributes": "annotations with attributes",
    "stated text": "annotations whose stated text differs from the note",
    "boundaries": "annotations that begin or end inside a token",
    "touching": "annotations with no token between them and the next",
    "scores": "scores given to notes",
    "ids": "note and feature ids that are not numbers",
}

#: What a format keeps thanks to the frame file beside it (see `rubricate.formats.frame`).
HELD_BY_FRAME = frozenset({"rubrics", "metadata", "groups", "unjudged", "scores", "foreign"})

#: What a list of labelled spans by annotator holds, with a frame.
HELD_BY_SPANS = HELD_BY_FRAME | {
    "fragments", "overlaps", "repeats", "annotators", "unannotated", "empty notes", "newlines",
    "boundaries", "ids",
}  # fmt: skip

#: What tools that know of comments and attributes, too, hold.
HELD_BY_TOOLS = HELD_BY_SPANS | {
    "confidence", "reasons", "comments", "attributes", "stated text",
}  # fmt: skip


def count_losses(corpus: Corpus, holds: frozenset[str]) -> dict[str, int]:
    """Return the number of items that would be lost, by kind, if there are any.

    Losses that depend on a format's tokens (``boundaries``, ``touching``) are counted by the format
    itself; `Format.losses` gives all of them.

    >>> from rubricate.builder import CorpusBuilder
    >>> from rubricate import Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, chills"))
    >>> builder.add_feature(Feature("f", "c", "No chills"))
    >>> builder.annotate("a", "n", "f", [(0, 2), (10, 16)])
    >>> count_losses(builder.build(), frozenset({"rubrics", "ids"}))
    {'fragments': 1}
    """
    counters: dict[str, Callable[[], int]] = {
        "fragments": lambda: int(np.sum(np.diff(corpus.rows.first_span) > 1)),
        "overlaps": lambda: len(overlapping_annotations(corpus.rows)),
        "repeats": lambda: len(repeated_annotations(corpus.rows)),
        "annotators": lambda: max(0, len(corpus.annotators) - 1),
        "rubrics": lambda: len(corpus.features),
        "metadata": lambda: _with_metadata(corpus),
        "groups": lambda: sum(bool(a.group) for a in corpus.annotators),
        "unjudged": lambda: _unjudged(corpus),
        "unannotated": lambda: len(corpus.notes) - len(np.unique(corpus.rows.note)),
        "empty notes": lambda: sum(not note.text for note in corpus.notes),
        "foreign": lambda: int(np.sum(foreign_rows(corpus))),
        "newlines": lambda: _across_newlines(corpus),
        "confidence": lambda: _known(corpus.rows.confidence),
        "probability": lambda: _known(corpus.rows.probability),
        "contradictions": lambda: len(corpus.rows.contradictions),
        "reasons": lambda: sum(bool(d.reason) for d in corpus.rows.details.values()),
        "comments": lambda: sum(bool(d.comment) for d in corpus.rows.details.values()),
        "attributes": lambda: sum(bool(d.attributes) for d in corpus.rows.details.values()),
        "stated text": lambda: sum(d.stated_text is not None for d in corpus.rows.details.values()),
        "scores": lambda: len(corpus.scores),
        "ids": lambda: (
            sum(not is_plain_number(n.id) for n in corpus.notes)
            + sum(not is_plain_number(f.id) for f in corpus.features)
        ),
    }
    counted = {name: count() for name, count in counters.items() if name not in holds}
    return {name: count for name, count in counted.items() if count}


def foreign_rows(corpus: Corpus) -> Bools:
    """Return a mask of the rows whose feature belongs to another case than the note."""
    cases = {case: i for i, case in enumerate({n.case for n in corpus.notes})}
    note_case = np.array([cases[n.case] for n in corpus.notes], dtype=np.int64)
    feature_case = np.array([cases.get(f.case, -1) for f in corpus.features], dtype=np.int64)
    foreign: Bools = note_case[corpus.rows.note] != feature_case[corpus.rows.feature]
    return foreign


def overlapping_annotations(rows: Rows) -> I64:
    """Return the annotations that share a character with another of the same annotator and note.

    Spans that end before they start or begin before the note cover nothing.
    """
    covering = np.flatnonzero((rows.start >= 0) & (rows.start < rows.end))
    if len(covering) < 2:
        return np.zeros(0, dtype=np.int64)
    row = rows.span_row[covering]
    note, annotator = rows.note[row], rows.annotator[row]
    start, end = rows.start[covering].astype(np.int64), rows.end[covering].astype(np.int64)
    order = np.lexsort((end, start, annotator, note))
    note, annotator, owner = note[order], annotator[order], rows.span_annotation[covering][order]
    start, end = start[order], end[order]
    new_block = np.concatenate(
        ([True], (note[1:] != note[:-1]) | (annotator[1:] != annotator[:-1]))
    )
    block = np.cumsum(new_block)
    # One axis for all notes: spans of different blocks can never meet.
    width = int(end.max()) + 1
    start, end = start + block * width, end + block * width
    last = np.searchsorted(start, end, side="left")
    n_hits = last - np.arange(len(start)) - 1
    left = np.repeat(np.arange(len(start)), n_hits)
    right = ranges(np.arange(1, len(start) + 1), n_hits)
    apart = owner[left] != owner[right]
    return np.unique(np.concatenate((owner[left][apart], owner[right][apart])))


def repeated_annotations(rows: Rows) -> list[int]:
    """Return the annotations that an equal annotation of the same row precedes."""
    repeated = []
    n_in_row = np.diff(rows.first_annotation)
    for row in np.flatnonzero(n_in_row > 1):
        seen = set()
        for i in range(int(rows.first_annotation[row]), int(rows.first_annotation[row + 1])):
            own = slice(int(rows.first_span[i]), int(rows.first_span[i + 1]))
            key = (rows.start[own].tobytes(), rows.end[own].tobytes())
            if key in seen:
                repeated.append(i)
            seen.add(key)
    return repeated


def _with_metadata(corpus: Corpus) -> int:
    return (
        sum(bool(n.metadata) for n in corpus.notes)
        + sum(bool(r.metadata) for r in corpus.rubrics)
        + sum(bool(a.metadata) for a in corpus.annotators)
    )


def _unjudged(corpus: Corpus) -> int:
    """Count the rows that are missing where an annotator judged part of a note's rubric."""
    size = {rubric.case: len(rubric) for rubric in corpus.rubrics}
    expected = np.array([size.get(n.case, 0) for n in corpus.notes], dtype=np.int64)
    own = ~foreign_rows(corpus)
    pair = corpus.rows.note.astype(np.int64) * max(1, len(corpus.annotators))
    pair = pair + corpus.rows.annotator
    touched = np.unique(pair)
    found = np.bincount(np.searchsorted(touched, pair[own]), minlength=len(touched))
    return int((expected[touched // max(1, len(corpus.annotators))] - found).sum())


def _across_newlines(corpus: Corpus) -> int:
    rows = corpus.rows
    note = rows.note[rows.span_row]
    across = [
        owner
        for owner, n, s, e in zip(rows.span_annotation, note, rows.start, rows.end, strict=True)
        if "\n" in corpus.notes[n].text[s:e]
    ]
    return len(set(across))


def _known(column: F32 | None) -> int:
    return 0 if column is None else int(np.sum(~np.isnan(column)))


class Reader(Protocol):
    """Reads a corpus."""

    def __call__(self, path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
        """Read the corpus at this path."""
        ...


class NoteOpener(Protocol):
    """Opens a corpus for reading one note at a time."""

    def __call__(self, path: Path, how: ReadOptions = USUAL_OPTIONS) -> NoteStream:
        """Return the notes at this path, to be read as often as needed."""
        ...


class Writer(Protocol):
    """Writes a corpus to a path that does not exist yet (a file or a folder)."""

    def __call__(self, corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
        """Write the corpus to this path."""
        ...


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A note that is there and cannot be read."""

    id: str
    case: str
    reason: str


def same_ids(placed: Iterable[tuple[str, str]], path: Path | None = None) -> list[Fault]:
    """Return a fault for every note that has the id of an earlier one, from ids and places.

    >>> [str(one) for one in same_ids([("7", "row 2"), ("7", "row 5")], Path("notes.csv"))]
    ["notes.csv: row 5 has the same id as row 2, '7': give every note its own"]
    """
    first: dict[str, str] = {}
    return [
        Fault(f"{place} has the same id as {first[note]}, {shown(note)}: give every note its own",
              path)
        for note, place in placed
        if first.setdefault(note, place) != place
    ]  # fmt: skip


def numbered_places() -> Iterator[str]:
    """Yield where notes stand of which nothing better is known: by their number."""
    return (f"note {number}" for number in count(1))


class NoteStream(NamedTuple):
    """Notes that are read one at a time, as often as needed, and the rubrics that come first.

    ``places`` says of each note, in words for messages, where it stands.
    """

    rubrics: tuple[Rubric, ...]
    read: Callable[[], Iterator[Note | Unreadable]]
    places: Callable[[], Iterator[str]] = numbered_places

    def corpus(self, path: Path, progress: Progress) -> Corpus:
        """Read all notes; InputError with every one that cannot be read or has another's id."""
        faults = Faults(path)
        builder = Head(self.rubrics).builder()
        again = False
        for note in watched(self.read(), progress, "reading notes"):
            if isinstance(note, Unreadable):
                faults.add(f"note {shown(note.id)} cannot be read: {note.reason}")
            elif note.id in builder.notes:
                again = True
            else:
                builder.add_note(note)
        if again:
            placed = zip(self.read(), self.places(), strict=False)
            faults.found += same_ids(((note.id, place) for note, place in placed), path)
        faults.raise_any()
        return builder.build()


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    ``name``: what ``--input-format`` and ``--output-format`` call it.
    ``summary``: one line for the list of formats.
    ``looks_like``: tells from the path (and a first look inside) whether it could be this format.
    ``read``: raises InputError with every fault of the input.
    ``write``: absent in a format that is read only.
    ``holds``: what survives writing (names from `rubricate.formats.format.HOLDABLE`).
    ``count_more``: counts losses that only the format itself can see, such as annotations that cut
    a token.
    ``has_notes``: false for files about the notes of another corpus (`ReadOptions.like`).
    ``stream``: opens a path for reading one note at a time; without it, notes are read whole.
    ``made``: patterns of the files in a folder of this format, beside its frame; empty where it is
    one file.
    ``needs_trust``: tables of bytes, which libraries read that a damaged file can end, and what
    says what others decided. A server reads neither from strangers.
    """

    name: str
    summary: str
    looks_like: Callable[[Path], bool]
    read: Reader
    write: Writer | None = None
    holds: frozenset[str] = frozenset()
    count_more: Callable[[Corpus], Mapping[str, int]] | None = None
    has_notes: bool = True
    stream: NoteOpener | None = None
    made: frozenset[str] = frozenset()
    needs_trust: bool = False

    def losses(self, corpus: Corpus) -> dict[str, int]:
        """Return the number of items that writing would lose, by kind, if there are any."""
        lost = count_losses(corpus, self.holds)
        if self.count_more is not None:
            lost |= self.count_more(corpus)
        return lost


#: The file in a folder, or the end of the name of one beside a file, that holds the frame.
FRAME_NAME = "rubricate.json"
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
