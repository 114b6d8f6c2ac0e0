"""Decisions of people: read them from files and from the log of a run, and find the valid ones."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rubricate.errors import ArgumentError, Fault, did_you_mean, shown
from rubricate.formats.options import USUAL_OPTIONS
from rubricate.formats.reading import Faults, read_whole
from rubricate.formats.tables import find_csv_form, find_header, read_sheets, unguarded, write_table
from rubricate.rubric import CONTRADICTED, STATED, Feature, Rubric, folded
from rubricate.run.results import Correction
from rubricate.run.tables import ITEM_COLUMNS, REVIEW_COLUMNS
from rubricate.run.writing import Held, about, held, logged_correction, moment, read_log
from rubricate.spans import Spans, parse_spans, spans_text, words_at

#: What the columns of a table of corrections may be called.
COLUMNS = {
    "note": ("note",),
    "feature": ("feature",),
    "found": ("found", "decision"),
    "by": ("by", "who", "reviewer", "corrected_by"),
    "at": ("at", "when", "date", "corrected_at"),
    "spans": ("spans",),
    "comment": ("comment", "why"),
}
_NEEDED = ("note", "feature", "found", "by", "at")
#: What a run's own table calls them where somebody filled the review columns, or had signed before.
_FILLED = {"note": "note", "feature": "feature", **{k: k for k in ("by", "at")},
           "found": "decision", "comment": "why"}  # fmt: skip
_SIGNED = {"note": "note", "feature": "feature", "found": "found", "by": "corrected_by",
           "at": "corrected_at", "spans": "spans", "comment": "comment"}  # fmt: skip
#: Columns by which a run's own table, of this release or an earlier one, is known.
_IS_ITEMS = {"feature_text", "review_reason", "corrected_by", "corrected_at"}
_KNOWN = (
    {name for names in COLUMNS.values() for name in names}
    | {column.name for column in ITEM_COLUMNS}
    | set(REVIEW_COLUMNS)
)
_ANSWERS = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False,
            CONTRADICTED: False}  # fmt: skip
_DAY_FIRST = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?:[T ,]+(.+))?")
_WHEN = "column 'at' needs a date, e.g. 2026-11-14 or 14/11/2026 (day first), with or without 09:30"
#: How far clocks and time zones may be ahead of ours.
_AHEAD = timedelta(days=1)
Row = Mapping[str, str]


def read_decisions(path: Path, faults: Faults) -> list[tuple[Correction, int, bool]]:
    """Return the corrections of a table with their rows; what is wrong is added to the faults.

    The last value tells of a row of a run's own table that it was signed before.
    """
    found: list[tuple[Correction, int, bool]] = []
    first: dict[tuple[str, str, str], int] = {}
    for header, rows in _tables(path, faults):
        is_items = set(header) >= _IS_ITEMS
        if not is_items:
            _check_header(header, faults)
        faults.raise_any()
        for number, row in rows:
            values, echo = _values(row, number, faults, is_items=is_items)
            one = None if values is None else _correction(values, number, faults)
            if one is not None:
                key = (one.note, one.feature, one.at)
                if first.setdefault(key, number) != number:
                    message = f"the same item at the same time as in row {first[key]}: which holds?"
                    faults.add(message, line=number)
                found.append((one, number, echo))
    return found


def write_decisions(path: Path, corrections: Iterable[Correction]) -> None:
    """Write a table of corrections that `read_decisions` reads; no cell is taken for a formula."""
    lines = (
        (one.note, one.feature, "yes" if one.found else CONTRADICTED if one.spans else "no",
         one.by, one.at, spans_text(one.spans or ()), one.comment)
        for one in corrections
    )  # fmt: skip
    write_table(path, COLUMNS, lines)


def _tables(
    path: Path, faults: Faults
) -> Iterator[tuple[list[str], Iterator[tuple[int, dict[str, str]]]]]:
    """Yield the tables of a file: names of columns, and rows with the numbers people see."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        sheets = [
            (find_header([row for _, row in sheet.rows], _is_known), sheet.rows)
            for sheet in read_sheets(path, faults.how.limits)[0]
        ]
        tables = [(*map(_name, rows[at][1]),) for at, rows in sheets if rows]
        wanted = [i for i, names in enumerate(tables) if {"note", "feature"} <= set(names)]
        for i in wanted or range(min(1, len(tables))):
            at, rows = sheets[i]
            yield list(tables[i]), _by_column(tables[i], rows[at + 1 :], faults)
        if not tables:
            faults.add("the workbook is empty")
        return
    form = find_csv_form(path, _is_known)
    text = read_whole(path, faults.how.limits).decode(form.encoding, errors="replace")
    rows = list(form.rows(io.StringIO(text, newline=""), path))
    header = [_name(name) for name in rows[form.above][1]] if rows else []
    yield header, _by_column(header, rows[form.above + 1 :], faults)


def _by_column(
    header: Sequence[str], rows: Sequence[tuple[int, list[str]]], faults: Faults
) -> Iterator[tuple[int, dict[str, str]]]:
    for number, row in rows:
        if any(row) and len(row) != len(header):
            faults.add(f"{len(row)} fields, the header has {len(header)}", line=number)
        elif any(row):
            cells = zip(header, row, strict=True)
            yield number, {name: unguarded(str(cell)).strip() for name, cell in cells}


def _name(cell: str) -> str:
    return cell.strip().lower()


def _is_known(cell: str) -> bool:
    return _name(cell) in _KNOWN


def _check_header(header: Sequence[str], faults: Faults) -> None:
    for name in header:
        if name and name not in _KNOWN:
            faults.add(f"unknown column {name!r}; known: {', '.join(sorted(_KNOWN))}")
    for name in _NEEDED:
        if not set(COLUMNS[name]) & set(header):
            listed = " or ".join(map(repr, COLUMNS[name]))
            faults.add(
                f"column {listed} is missing; there are: {', '.join(map(shown, header)) or 'none'}"
            )


def _values(
    row: Row, number: int, faults: Faults, *, is_items: bool
) -> tuple[dict[str, str] | None, bool]:
    """Return the fields of a correction, and whether it is one that was signed before."""
    if not is_items:
        chosen = {name: next((n for n in names if n in row), "") for name, names in COLUMNS.items()}
        return {name: row.get(column, "") for name, column in chosen.items()}, False
    if any(row.get(name) for name in REVIEW_COLUMNS):
        return {name: row.get(column, "") for name, column in _FILLED.items()}, False
    if row["corrected_by"]:
        return {name: row.get(column, "") for name, column in _SIGNED.items()}, True
    decided, outcome = _ANSWERS.get(row.get("found", "").lower()), row.get("outcome")
    if outcome is not None and decided is not {"": None, STATED: True}.get(outcome, False):
        message = "'found' was changed, and nobody signed: fill in decision, by and at"
        faults.add(message, line=number)
    return None, False


def _correction(values: Mapping[str, str], row: int, faults: Faults) -> Correction | None:
    before = len(faults.found)
    for name in _NEEDED:
        if not values[name]:
            faults.add(f"column {name!r} is empty", line=row)
    found = _ANSWERS.get(values["found"].lower())
    if values["found"] and found is None:
        faults.add("column 'found' or 'decision' needs yes, no or contradicted", line=row)
    at = _iso(values["at"])
    if values["at"] and not at:
        faults.add(_WHEN, line=row)
    elif at and moment(at) > datetime.now(UTC) + _AHEAD:
        message = "lies in the future, so it would hold against every later decision: mend the date"
        faults.add(f"column 'at': {at} {message}", line=row)
    spans: Spans | None = None
    if values.get("spans"):
        try:
            spans = parse_spans(values["spans"])
        except ValueError:
            faults.add("column 'spans' needs e.g. 0 5;8 12 (0 <= start < end)", line=row)
    against = values["found"].lower() == CONTRADICTED
    if against and not values.get("spans"):
        message = "contradicted by which words? Give them as 'spans' in a table of corrections"
        faults.add(message, line=row)
    if len(faults.found) > before or found is None:
        return None
    return Correction(
        values["note"], values["feature"], found, values["by"], at,
        spans if found or against else None, values.get("comment", ""),
    )  # fmt: skip


def _iso(text: str) -> str:
    """Return a date or time as ISO 8601; empty where it is none.

    >>> _iso("14/11/2026"), _iso("14.11.2026 9:30"), _iso("2026-11-14T09:30Z"), _iso("11/14/2026")
    ('2026-11-14', '2026-11-14T09:30', '2026-11-14T09:30Z', '')
    """
    if match := _DAY_FIRST.fullmatch(text):
        day, month, year, clock = match.groups()
        hour = f"T{clock.zfill(5) if clock[1:2] == ':' else clock}" if clock else ""
        text = f"{year}-{int(month):02}-{int(day):02}{hour}"
    try:
        day = datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return ""
    return day + (f"T{text[11:]}" if text.startswith(day) and text[10:] else "")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A correction, where it comes from, and what it is about.

    ``about`` is known of decisions in the log, and of others once their note was seen. An ``echo``
    is a row of a run's own table: the decision that led to it may be in the log already.
    """

    correction: Correction
    row: int | None = None
    about: str = ""
    logged: bool = False
    echo: bool = False


class Corrections:
    """All decisions of people, and for each item the one that holds.

    Of two decisions the later one holds: by the clock where both have a time, else by the day, and
    of those of one day the one that was handed in later.

    >>> early = Correction("n1", "f1", True, "Ann", "2025-01-01")
    >>> late = Correction("n1", "f1", False, "Bob", "2025-01-02")
    >>> Corrections([HandedIn(late), HandedIn(early)]).of("n1")["f1"].by
    'Bob'
    """

    def __init__(self, decisions: Iterable[HandedIn] = (), path: Path | None = None) -> None:
        self._path = path
        self._all: dict[str, list[HandedIn]] = {}
        for one in sorted(decisions, key=_handed_in):
            self._all.setdefault(one.correction.note, []).append(one)
        self._seen: set[str] = set()
        #: Decisions of the log on a text or wording that is no longer there.
        self.outdated = 0

    def __len__(self) -> int:
        return len(self.all())

    def of(self, note_id: str) -> Held:
        """Return the corrections of one note that hold, by feature."""
        return held(one.correction for one in self._all.get(note_id, ()))

    def all(self) -> list[Correction]:
        """Return all that hold, by note and feature."""
        return [own[f] for n in sorted(self._all) for own in [self.of(n)] for f in sorted(own)]

    def steps(self, note_id: str) -> Iterator[tuple[HandedIn, Correction | None, Held]]:
        """Yield each decision on a note that is not in the log yet.

        With it, the decision on the item that held before, and all that hold then.
        """
        known = self._all.get(note_id, ())
        for number, one in enumerate(known):
            if not one.logged:
                before = held(other.correction for other in known[:number])
                after = held(other.correction for other in known[: number + 1])
                yield one, before.get(one.correction.feature), after

    def check(self, note_id: str, rubric: Rubric | None, text: str) -> list[Fault]:
        """Return the faults of the corrections of a note, and store the words that they mark.

        A second note of the same id is not looked at: it is a fault of the notes.
        """
        own = self._all.get(note_id)
        if own is None or note_id in self._seen:
            return []
        self._seen.add(note_id)
        faults: list[Fault] = []
        kept: list[HandedIn] = []
        for one in own:
            fitting = self._fitted(one, list(rubric or ()), text, faults)
            if fitting is None:
                self.outdated += one.logged
            elif not any(_same(fitting, other) for other in kept if other.logged):
                kept.append(fitting)
        self._all[note_id] = kept
        return faults

    def _fitted(
        self, one: HandedIn, features: Sequence[Feature], text: str, faults: list[Fault]
    ) -> HandedIn | None:
        """Return a decision with its feature's id and its words; None where it does not fit."""
        given = one.correction
        found = _named(given.feature, features)
        if one.logged:
            if len(found) != 1 or one.about != about(text, found[0].text):
                return None
        elif problem := _problem(given, found, features, text):
            message = f"note {given.note!r}, {problem}"
            faults.append(Fault(message, self._path, one.row, "row"))
            return None
        words = tuple(words_at(spans, text) for spans in given.spans or ())
        fitted = replace(given, feature=found[0].id, text=words)
        return replace(one, correction=fitted, about=about(text, found[0].text))

    def unseen(self) -> list[Fault]:
        """Return a fault for each correction of a note that is not there."""
        return [
            Fault(f"there is no note {note_id!r}", self._path, one.row, "row")
            for note_id in sorted(set(self._all) - self._seen)
            for one in self._all[note_id]
            if not one.logged
        ]


def read_corrections(
    path: str | Path | None, *, folder: str | Path | None = None, faults: Faults | None = None
) -> Corrections:
    """Read what people decided: a file, and the log of the run in a folder.

    The file is a table (CSV as spreadsheet programs write it, or .xlsx) with the columns ``note``,
    ``feature`` (its id or its wording), ``found`` (yes, no, or contradicted: no, and ``spans`` are
    the words that say otherwise), ``by`` and ``at`` (who and when: 2026-11-14 or 14/11/2026, with
    or without a time); optionally ``spans`` (``start end;start end|start end``: ``;`` between
    fragments, ``|`` between annotations) and ``comment``. Or it is the items.csv or scores.xlsx of
    a run: rows that nobody signed are left as they are.

    InputError with all faults of the file; with ``faults`` they are added there instead.
    """
    place = None if path is None else Path(path)
    if place is not None and place.exists() and not place.is_file():
        # A pipe would be waited for, and read twice.
        raise ArgumentError(f"{place}: need a file with decisions; it is a folder or a pipe")
    found = [] if faults is None else faults.found
    decisions = []
    if folder is not None:
        for entry in read_log(folder):
            if entry["kind"] == "person":
                one = logged_correction(entry)
                decisions.append(HandedIn(one, about=entry["about"], logged=True))
    if place is not None:
        own = Faults(place, USUAL_OPTIONS if faults is None else faults.how, unit="row")
        rows = read_decisions(place, own)
        if faults is None:
            own.raise_any()
        found += own.found
        decisions += [HandedIn(one, row, echo=echo) for one, row, echo in rows]
    return Corrections(decisions, place)


def _handed_in(one: HandedIn) -> tuple[bool, datetime]:
    # The log has its own order; what comes after it, that of its times.
    first = datetime.min.replace(tzinfo=UTC)
    return (False, first) if one.logged else (True, moment(one.correction.at))


def _named(name: str, features: Sequence[Feature]) -> list[Feature]:
    """Return the feature with this id, or those with this wording."""
    by_id = [one for one in features if one.id == name]
    return by_id or [one for one in features if folded(one.text) == folded(name)]


def _problem(
    given: Correction, found: Sequence[Feature], features: Sequence[Feature], text: str
) -> str:
    if not found:
        known = [name for one in features for name in (one.id, one.text)]
        hint = did_you_mean(given.feature, known, otherwise="")
        return f"feature {given.feature!r}: its rubric has no such feature (id or wording){hint}"
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        return f"feature {given.feature!r}: {len(found)} features have this wording ({ids})"
    past = [end for spans in given.spans or () for _, end in spans if end > len(text)]
    if past:
        return f"feature {given.feature!r}: span end {past[0]} is past the end ({len(text)})"
    return ""


def _same(new: HandedIn, old: HandedIn) -> bool:
    """Tell whether a decision is one that the log has."""
    one, other = new.correction, old.correction
    # Rows of a table have the words that held in the end, not those that a person gave.
    words = new.echo or (one.spans, one.comment) == (other.spans, other.comment)
    return words and (one.feature, one.by, one.at, one.found) == (
        other.feature, other.by, other.at, other.found
    )  # fmt: skip
