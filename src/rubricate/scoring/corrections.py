"""What reviewers changed: read from a file, checked, and kept with who and when."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rubricate.errors import Fault, InputError
from rubricate.formats.faults import Faults, read_text
from rubricate.formats.tables import unguarded
from rubricate.rubric import Rubric
from rubricate.run.evidence import Spans, parse_spans
from rubricate.run.results import Correction
from rubricate.run.tables import ITEM_COLUMNS

#: What the columns may be called; those of items.csv will do.
COLUMNS = {
    "note": ("note",),
    "feature": ("feature",),
    "found": ("found",),
    "by": ("by", "who", "corrected_by"),
    "at": ("at", "when", "corrected_at"),
    "spans": ("spans",),
    "comment": ("comment",),
}
_NEEDED = ("note", "feature", "found", "by", "at")
#: Columns by which a copy of items.csv, of this release or an earlier one, is known.
_IS_ITEMS = {"feature_text", "review_reason", "corrected_by", "corrected_at"}
_ANSWERS = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}


class Corrections:
    """The latest correction of each item.

    Examples
    --------
    >>> early = Correction("n1", "f1", True, "Ann", "2025-01-01")
    >>> late = Correction("n1", "f1", False, "Bob", "2025-01-02")
    >>> Corrections([late, early]).of("n1")["f1"].by
    'Bob'
    """

    def __init__(self, corrections: Iterable[Correction], path: Path | None = None) -> None:
        self._path = path
        self._of: dict[str, dict[str, Correction]] = {}
        for one in sorted(corrections, key=lambda c: _moment(c.at)):
            self._of.setdefault(one.note, {})[one.feature] = one
        self._seen: set[str] = set()

    def __len__(self) -> int:
        return sum(len(own) for own in self._of.values())

    def of(self, note_id: str) -> Mapping[str, Correction]:
        """Return the corrections of one note, by feature."""
        return self._of.get(note_id, {})

    def all(self) -> list[Correction]:
        """Return all of them, by note and feature."""
        return [self._of[n][f] for n in sorted(self._of) for f in sorted(self._of[n])]

    def check(self, note_id: str, rubric: Rubric | None, text: str) -> list[Fault]:
        """Return what is wrong with the corrections of a note, and note the words they mark.

        They are the first note's where several have the id.
        """
        own = self._of.get(note_id)
        if own is None or note_id in self._seen:
            return []
        self._seen.add(note_id)
        known = {feature.id for feature in rubric or ()}
        faults = []
        for one in list(own.values()):
            if one.feature not in known:
                message = f"note {note_id!r}: its rubric has no feature {one.feature!r}"
                faults.append(Fault(message, self._path))
            for start, end in (span for spans in one.spans or () for span in spans):
                if end > len(text):
                    message = f"note {note_id!r}, feature {one.feature!r}: span {start} {end}"
                    faults.append(Fault(f"{message} is past the end ({len(text)})", self._path))
            words = tuple(" ".join(text[s:e] for s, e in spans) for spans in one.spans or ())
            own[one.feature] = replace(one, text=words)
        return faults

    def unseen(self) -> list[Fault]:
        """Return a fault for each note that was corrected and is not there."""
        strangers = sorted(set(self._of) - self._seen)
        return [Fault(f"there is no note {note_id!r}", self._path) for note_id in strangers]


def read_corrections(path: str | Path) -> Corrections:
    """Read a CSV file of corrections.

    Columns: ``note``, ``feature``, ``found`` (yes or no), ``by`` and ``at`` (who and when, ISO
    8601); optionally ``spans`` (``start end;start end|start end``: ``;`` between fragments, ``|``
    between annotations) and ``comment``. A copy of items.csv will do: rows without ``by`` are
    left as they are. Of several corrections of one item the latest holds.
    """
    place = Path(path)
    faults = Faults(place, unit="row")
    reader = csv.reader(io.StringIO(read_text(place), newline=""), strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise InputError([Fault(f"not valid CSV: {error}", place, reader.line_num)]) from None
    columns = _columns(rows[0] if rows else [], faults)
    faults.raise_any()
    found: list[Correction] = []
    first: dict[tuple[str, str, str], int] = {}
    for number, row in enumerate(rows[1:], start=1):
        if not any(row):
            continue
        if len(row) != len(rows[0]):
            faults.add(f"{len(row)} fields, the header has {len(rows[0])}", line=number)
            continue
        values = {name: unguarded(row[i]).strip() for name, i in columns.items()}
        if not values["by"] and set(rows[0]) >= _IS_ITEMS:
            continue
        one = _correction(values, number, faults)
        if one is not None:
            key = (one.note, one.feature, one.at)
            if first.setdefault(key, number) != number:
                message = f"the same item at the same time as in row {first[key]}: which one holds?"
                faults.add(message, line=number)
            found.append(one)
    faults.raise_any()
    return Corrections(found, place)


def _columns(header: Sequence[str], faults: Faults) -> dict[str, int]:
    columns: dict[str, int] = {}
    known = {name for names in COLUMNS.values() for name in names}
    known |= {column.name for column in ITEM_COLUMNS}
    for name in header:
        if name not in known:
            faults.add(f"unknown column {name!r}; known: {', '.join(sorted(known))}")
    for name, names in COLUMNS.items():
        places = [header.index(one) for one in names if one in header]
        if places:
            columns[name] = places[0]
        elif name in _NEEDED:
            faults.add(f"column {name!r} is missing")
    return columns


def _correction(values: Mapping[str, str], row: int, faults: Faults) -> Correction | None:
    before = len(faults.found)
    for name in _NEEDED:
        if not values[name]:
            faults.add(f"column {name!r} is empty", line=row)
    found = _ANSWERS.get(values["found"].lower())
    if values["found"] and found is None:
        faults.add("column 'found' needs yes or no", line=row)
    if values["at"]:
        try:
            _moment(values["at"])
        except ValueError:
            faults.add("column 'at' needs a date or time, e.g. 2025-01-31T09:30", line=row)
    spans: Spans | None = None
    if values.get("spans"):
        try:
            spans = parse_spans(values["spans"])
        except ValueError:
            faults.add("column 'spans' needs e.g. 0 5;8 12 (0 <= start < end)", line=row)
    if len(faults.found) > before or found is None:
        return None
    return Correction(
        values["note"], values["feature"], found, values["by"], values["at"],
        spans if found else None, values.get("comment", ""),
    )  # fmt: skip


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
