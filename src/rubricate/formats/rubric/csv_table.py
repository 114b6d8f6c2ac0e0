"""Rubrics in CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from rubricate.errors import Fault, InputError
from rubricate.formats.faults import Faults
from rubricate.formats.limits import read_whole
from rubricate.formats.rubric.columns import is_known
from rubricate.formats.rubric.records import WRITTEN, Records, feature_row
from rubricate.formats.rubric.table_rows import SchoolTable, add_table
from rubricate.formats.spreadsheets import find_csv_form, plain_number
from rubricate.formats.tables import guarded, unguarded
from rubricate.rubric import Rubric


def read_csv_records(path: Path, faults: Faults) -> Records:
    """Read a table with a header; comma, semicolon or tab between its columns."""
    records = Records(path.stem)
    raw = read_whole(path)
    form = find_csv_form(path, is_known)
    try:
        body = raw.decode(form.encoding)
    except UnicodeDecodeError as error:
        message = (
            "not UTF-8, nor of an encoding Excel writes. Save the file as UTF-8 and try again."
        )
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError([Fault(message, path, line)]) from None
    lines = csv.reader(io.StringIO(body, newline=""), delimiter=form.delimiter, strict=True)
    try:
        rows = [[unguarded(cell.strip()) for cell in row] for row in lines]
    except csv.Error as error:
        faults.add(f"not valid CSV near line {lines.line_num}: {error}")
        return records
    # Rows count from the first below the names.
    numbered = [(i - form.above, row) for i, row in enumerate(rows) if any(row)]
    if any(number >= 0 for number, _ in numbered):
        add_table(records, SchoolTable(numbered), faults)
    return records


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
