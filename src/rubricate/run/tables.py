"""The columns of scores.csv and items.csv: name, kind and where the value comes from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic, Literal, NamedTuple, TypeVar

from rubricate.errors import ArgumentError, Fault, InputError
from rubricate.formats.format import same_ids
from rubricate.formats.reading import Faults
from rubricate.formats.tables import csv_rows, guarded, number_rows, unguarded
from rubricate.run.results import CounterEvidence, ItemResult, NoteResult
from rubricate.spans import fragments_text, spans_text

Kind = Literal["text", "number", "yes/no"]
#: What a cell holds; None where it is empty and no text.
Value = str | float | bool | None
R = TypeVar("R")
#: Between the words of two annotations.
BETWEEN = " | "
_YES = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}


class RunColumn(NamedTuple, Generic[R]):
    """One column of a table; a table without a ``needed`` one is refused when it is read."""

    name: str
    kind: Kind
    get: Callable[[R], Value]
    needed: bool = False


#: One row per note.
SCORE_COLUMNS: tuple[RunColumn[NoteResult], ...] = (
    RunColumn("note", "text", lambda r: r.note, needed=True),
    RunColumn("case", "text", lambda r: r.case, needed=True),
    RunColumn("status", "text", lambda r: r.status),
    RunColumn("reason", "text", lambda r: r.reason),
    RunColumn("score", "number", lambda r: r.total.score if r.total else None, needed=True),
    RunColumn("maximum", "number", lambda r: r.total.maximum if r.total else None, needed=True),
    RunColumn("percentage", "number", lambda r: round(r.total.percentage, 2) if r.total else None),
    RunColumn("features", "number", lambda r: len(r.items)),
    RunColumn("found", "number", lambda r: r.n_found if r.total else None),
    RunColumn("review_items", "number", lambda r: r.n_review),
    RunColumn("corrected_items", "number", lambda r: r.n_corrected),
    RunColumn("same_as", "text", lambda r: r.same_as),
)
#: What a reviewer fills in beside the items in the workbook.
REVIEW_COLUMNS = ("decision", "by", "at", "why")
ItemRow = tuple[NoteResult, ItemResult]
_NOTHING_AGAINST = CounterEvidence(())


def _against(row: ItemRow) -> CounterEvidence:
    return row[1].evidence.against or _NOTHING_AGAINST


#: One row per note and feature of its rubric.
ITEM_COLUMNS: tuple[RunColumn[ItemRow], ...] = (
    RunColumn("note", "text", lambda r: r[0].note, needed=True),
    RunColumn("case", "text", lambda r: r[0].case),
    RunColumn("feature", "text", lambda r: r[1].feature.id, needed=True),
    RunColumn("feature_text", "text", lambda r: r[1].feature.text),
    RunColumn("group", "text", lambda r: r[1].feature.group),
    RunColumn("weight", "number", lambda r: r[1].feature.weight),
    RunColumn("found", "yes/no", lambda r: r[1].found, needed=True),
    RunColumn("points", "number", lambda r: r[1].points),
    RunColumn("probability", "number", lambda r: r[1].evidence.probability),
    RunColumn("confidence", "number", lambda r: r[1].evidence.confidence),
    RunColumn("spans", "text", lambda r: spans_text(r[1].evidence.spans)),
    RunColumn("text", "text", lambda r: BETWEEN.join(r[1].evidence.text)),
    RunColumn("reason", "text", lambda r: r[1].evidence.reason),
    RunColumn("review", "yes/no", lambda r: bool(r[1].review_reason)),
    RunColumn("review_reason", "text", lambda r: r[1].review_reason),
    RunColumn("corrected_by", "text", lambda r: r[1].correction.by if r[1].correction else ""),
    RunColumn("corrected_at", "text", lambda r: r[1].correction.at if r[1].correction else ""),
    RunColumn("comment", "text", lambda r: r[1].correction.comment if r[1].correction else ""),
    RunColumn("outcome", "text", lambda r: r[1].outcome or ""),
    RunColumn("contradicted_by", "text", lambda r: _against(r).text),
    RunColumn("contradicted_spans", "text", lambda r: fragments_text(_against(r).spans)),
    RunColumn("contradicted_reason", "text", lambda r: _against(r).reason),
    RunColumn("contradicted_probability", "number", lambda r: _against(r).probability),
)

#: Of the workbook, by sheet and column: the width in characters, and the meaning.
EXPLAINED: dict[str, dict[str, tuple[int, str]]] = {
    "scores": {
        "note": (14, "the id of the note"),
        "case": (12, "the case whose rubric the note is scored by"),
        "status": (15, "scored; scored by hand: a person judged every item; not scored; for "
                       "review: it does not read like a clinical note"),
        "reason": (30, "why there is no score"),
        "score": (9, "the sum of the points of its items; at least 0, unless "
                     "the rubric says floor: none"),
        "maximum": (12, "the maximum possible score; each group counts once"),
        "percentage": (13, "the score in per cent of the maximum"),
        "features": (11, "items of the rubric"),
        "found": (9, "items that the note states"),
        "review_items": (15, "items that a person must review"),
        "corrected_items": (17, "items that a person decided"),
        "same_as": (14, "an earlier note of the same case with the same text"),
    },
    "items": {
        "note": (14, "the id of the note"),
        "case": (12, "the case of the note"),
        "feature": (12, "the id of the rubric's item"),
        "feature_text": (38, "the words of the rubric"),
        "group": (12, "items of one group count once: the stated item with most points"),
        "weight": (10, "the points of the item where it counts"),
        "found": (9, "yes: the note states the item; no: it does not; empty: not decided"),
        "points": (10, "what the item adds to the score"),
        "probability": (13, "the model's probability that the note states the item (0.02: 98 % "
                            "certain that it does not)"),
        "confidence": (13, "the model's confidence in the words that it found"),
        "spans": (16, "where the words are: first character and end; ; between the parts of one "
                      "place, | between places"),
        "text": (44, "the words in the note"),
        "reason": (36, "why the model chose these words; by hand: a person chose them"),
        "review": (9, "yes: a person must review the item"),
        "review_reason": (34, "why a person must review the item"),
        "corrected_by": (16, "name of the person who decided"),
        "corrected_at": (20, "date and time of this decision"),
        "comment": (30, "reason, in the words of that person"),
        "outcome": (15, "stated, contradicted or not mentioned"),
        "contradicted_by": (30, "words that contradict the item"),
        "contradicted_spans": (20, "where these words are"),
        "contradicted_reason": (22, "why they contradict it"),
        "contradicted_probability": (26, "its probability; empty if a rule decided"),
        "decision": (12, "to fill in: yes (the item is in the note) or no; the same as found "
                         "confirms it"),
        "by": (18, "to fill in: your name"),
        "at": (14, "to fill in: the date, e.g. 2026-11-14 or 14/11/2026 (day first)"),
        "why": (40, "to fill in, if you like: your reason"),
    },
    "": {
        "to hand decisions back": (0, "fill in the yellow columns of items, save, and run the same "
                                      "command with --corrections scores.xlsx --overwrite"),
    },
}  # fmt: skip


def number_text(value: float | None) -> str:
    """Return a number as short as it can be; nothing where there is none.

    >>> number_text(2.0), number_text(0.1 + 0.2), number_text(None)
    ('2', '0.3', '')
    """
    return "" if value is None or math.isnan(value) else f"{value:.10g}"


def cell_text(value: Value) -> str:
    """Return a value as text for a CSV file.

    >>> cell_text("=1"), cell_text(True), cell_text(2.0), cell_text(None)
    ("'=1", 'yes', '2', '')
    """
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number_text(value)


def refuse_same_ids(notes: Iterable[str], path: Path) -> None:
    """Raise InputError if the rows of a table are about one note several times."""
    faults = same_ids(((note, f"row {number}") for number, note in number_rows(notes)), path)
    InputError.raise_any(faults)


def read_rows(path: str | Path, columns: Sequence[RunColumn[R]]) -> Iterator[dict[str, Value]]:
    """Yield the rows of a table as values by column; guards against formulas are taken away.

    Columns that the file lacks, and are not needed, are left out; those it has beside them are
    passed over. Faults of all rows are raised together at the end.
    """
    place = Path(path)
    if not place.is_file():
        raise ArgumentError(f"{place}: no such file. Give the folder that `rubricate score` wrote.")
    faults = Faults(place, unit="row")
    with place.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv_rows(stream, place, strict=False)
        try:
            _, header = next(rows, (1, []))
            for column in columns:
                if column.needed and column.name not in header:
                    listed = ", ".join(header)
                    faults.add(f"column {column.name!r} is missing; there are {listed}")
            faults.raise_any()
            present = [(c.name, c.kind, header.index(c.name)) for c in columns if c.name in header]
            for number, row in rows:
                if row:
                    row += [""] * (len(header) - len(row))
                    yield {n: _value(row[i], k, n, number, faults) for n, k, i in present}
        except UnicodeDecodeError:
            raise InputError([Fault("not a CSV file in UTF-8", place)]) from None
    faults.raise_any()


def _value(cell: str, kind: Kind, name: str, row: int, faults: Faults) -> Value:
    if kind == "text":
        return unguarded(cell) if cell else ""
    if not cell:
        return None
    if kind == "yes/no":
        answer = _YES.get(cell.lower())
        if answer is None:
            faults.add(f"{name}: need true or false", line=row)
        return answer
    try:
        return float(cell)
    except ValueError:
        faults.add(f"{name}: need a number", line=row)
        return None


def read_texts(path: str | Path, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield some columns of any CSV table as text, row by row."""
    columns: list[RunColumn[str]] = [RunColumn(name, "text", str, needed=True) for name in names]
    for row in read_rows(path, columns):
        yield tuple(str(row[name]) for name in names)
