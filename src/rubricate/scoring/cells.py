"""The columns of scores.csv and items.csv, and how values are written and read there."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.formats.rubric_csv import FORMULA
from rubricate.scoring.evidence import Spans

#: Column → what it holds: text, number, or yes/no. One row a note.
SCORE_COLUMNS = {
    "note": "text",
    "case": "text",
    "status": "text",
    "reason": "text",
    "score": "number",
    "maximum": "number",
    "percentage": "number",
    "features": "number",
    "found": "number",
    "review_items": "number",
    "corrected_items": "number",
    "same_as": "text",
}
#: One row a note and feature of its rubric.
ITEM_COLUMNS = {
    "note": "text",
    "case": "text",
    "feature": "text",
    "feature_text": "text",
    "group": "text",
    "weight": "number",
    "found": "yes/no",
    "points": "number",
    "probability": "number",
    "confidence": "number",
    "spans": "text",
    "text": "text",
    "reason": "text",
    "review": "yes/no",
    "review_reason": "text",
    "corrected_by": "text",
    "corrected_at": "text",
    "comment": "text",
}
#: Between the words of two annotations.
BETWEEN = " | "


def number_text(value: float | None) -> str:
    """Return a number as short as it can be; nothing where there is none.

    Examples
    --------
    >>> number_text(2.0), number_text(0.1 + 0.2), number_text(None)
    ('2', '0.3', '')
    """
    return "" if value is None or math.isnan(value) else f"{value:.10g}"


def guarded(text: str) -> str:
    """Return the text so that no spreadsheet program takes it for a formula.

    Examples
    --------
    >>> guarded("=1+1"), guarded("- fever"), guarded("fever")
    ("'=1+1", "'- fever", 'fever')
    """
    return f"'{text}" if FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Inverse of `guarded`.

    Examples
    --------
    >>> unguarded(guarded("'=1")) == "'=1"
    True
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def spans_text(spans: Spans) -> str:
    """Return spans as text: ``;`` between fragments, ``|`` between annotations.

    Examples
    --------
    >>> spans_text((((0, 5), (8, 12)), ((20, 25),)))
    '0 5;8 12|20 25'
    """
    return "|".join(";".join(f"{s} {e}" for s, e in one) for one in spans)


def parse_spans(text: str) -> Spans:
    """Inverse of `spans_text`; ValueError where a span is none.

    Examples
    --------
    >>> parse_spans("0 5;8 12|20 25")
    (((0, 5), (8, 12)), ((20, 25),))
    """
    found = []
    for annotation in text.split("|") if text else ():
        spans = []
        for part in annotation.split(";"):
            start, end = (int(offset) for offset in part.split())
            if not 0 <= start < end:
                raise ValueError("need 0 <= start < end")
            spans.append((start, end))
        found.append(tuple(spans))
    return tuple(found)


def read_rows(path: Path, columns: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a scores.csv or items.csv as values: text, float or None, bool or None.

    Raises
    ------
    InputError
        If the file's columns are others.
    """
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        if next(rows, None) != list(columns):
            raise InputError([Fault(f"its columns must be {', '.join(columns)}", path)])
        kinds = list(columns.items())
        for row in rows:
            yield {name: _value(cell, kind) for (name, kind), cell in zip(kinds, row, strict=True)}


def _value(cell: str, kind: str) -> Any:
    if kind == "text":
        return unguarded(cell)
    if not cell:
        return None
    return cell == "yes" if kind == "yes/no" else float(cell)
