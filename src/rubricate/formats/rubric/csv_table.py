"""Rubrics in CSV files, and the rows of any table as features."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from rubricate.formats.faults import Faults, read_text
from rubricate.formats.rubric.columns import has_hyphens, is_known, match_columns
from rubricate.formats.rubric.records import (
    WRITTEN,
    Records,
    feature_row,
    plain_number,
)
from rubricate.formats.tables import guarded, unguarded
from rubricate.rubric import Rubric

_DELIMITERS = ",;\t"


def read_csv_records(path: Path, faults: Faults) -> Records:
    """Read a table with a header; comma, semicolon or tab between its columns."""
    body = read_text(path)
    delimiter = _find_delimiter(body)
    lines = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [[unguarded(cell.strip()) for cell in row] for row in lines]
    except csv.Error as error:
        faults.add(f"not valid CSV near line {lines.line_num}: {error}")
        return Records(path.stem)
    while rows and not any(rows[0]):
        del rows[0]
    records = Records(path.stem)
    if not rows:
        return records
    header = rows[0]
    numbered = [(number, row) for number, row in enumerate(rows[1:], start=1) if any(row)]
    add_rows(records, header, numbered, ("", ""), faults)
    return records


def _find_delimiter(body: str) -> str:
    """Return the delimiter that makes the most known columns of the header."""

    def known(delimiter: str) -> tuple[int, int]:
        lines = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter)
        try:
            header = next((row for row in lines if any(cell.strip() for cell in row)), [])
        except csv.Error:
            header = []
        return sum(map(is_known, header)), len(header)

    return max(_DELIMITERS, key=known)


def add_rows(
    records: Records,
    header: Sequence[str],
    rows: Iterable[tuple[int, Sequence[str]]],
    where: tuple[str, str],
    faults: Faults,
) -> None:
    """Add the features of one table; ``where`` is their case and what messages begin with.

    Rows come with the numbers that messages give.
    """
    case, place = where
    columns = match_columns(header, lambda message: faults.add(place + message))
    if "text" not in columns.values():
        faults.add(f"{place}no column holds the features' texts: name it 'text' or 'feature'")
        return
    hyphens = has_hyphens(header)
    for number, row in rows:
        beyond = [cell for i, cell in enumerate(row) if cell and not _named(header, i)]
        if beyond:
            faults.add(f"{place}{len(beyond)} cells have no column name above", line=number)
        values = {name: row[i] for i, name in columns.items() if i < len(row) and row[i]}
        if hyphens and " " not in values.get("text", ""):
            values["text"] = values.get("text", "").replace("-", " ")
        if values:
            records.add(values, case, number, place)


def _named(header: Sequence[str], place: int) -> bool:
    return place < len(header) and bool(header[place])


def write_csv_records(rubrics: Sequence[Rubric], path: Path) -> None:
    """Write one row per feature; a text that looks like a formula gets ``'`` before it.

    `read_csv_records` takes the apostrophe off again.
    """
    titled = any(rubric.title for rubric in rubrics)
    with path.open("w", encoding="utf-8", newline="") as stream:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        # With this line end, csv also quotes texts that hold a lone "\r".
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow([*WRITTEN, *(["title"] if titled else [])])
        for rubric in rubrics:
            for feature in rubric:
                cells = [
                    guarded(cell) if isinstance(cell, str) else plain_number(cell)
                    for cell in feature_row(feature)
                ]
                writer.writerow([*cells, *([guarded(rubric.title)] if titled else [])])
