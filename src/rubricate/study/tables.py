"""Tables that people fill in by hand: read whole, with every fault named by file and row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from rubricate.errors import Fault, InputError
from rubricate.formats.faults import read_text
from rubricate.formats.tables import guarded, unguarded


def read_table(path: str | Path, needed: Sequence[str] = ()) -> list[dict[str, str]]:
    r"""Read a CSV with a header as one mapping per row; an absent cell is an empty one.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = place.write_text("name,tp\nasthma,271\n")
    >>> read_table(place, ["name"])
    [{'name': 'asthma', 'tp': '271'}]
    """
    place = Path(path)
    reader = csv.reader(io.StringIO(read_text(place), newline=""))
    try:
        header, *lines = [line for line in reader if line] or [[]]
    except csv.Error as error:
        raise InputError([Fault(f"is no CSV: {error}", place, reader.line_num)]) from error
    absent = [name for name in needed if name not in header]
    if absent:
        raise InputError([_no_columns(absent, header, place)])
    twice = sorted({name for name in header if header.count(name) > 1})
    faults = [Fault(f"column {name!r} is there twice", place) for name in twice]
    faults += [
        Fault(
            f"has {len(line)} cells under {len(header)} columns; text with commas needs quotes",
            place, number, "row",
        )
        for number, line in enumerate(lines, start=1)
        if len(line) > len(header)
    ]  # fmt: skip
    if faults:
        raise InputError(faults)
    short = [line + [""] * (len(header) - len(line)) for line in lines]
    return [dict(zip(header, map(unguarded, line), strict=True)) for line in short]


def write_table(path: Path, header: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    r"""Write a CSV that people open in a spreadsheet program: no cell is taken for a formula.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> write_table(place, ["note", "n"], [["=1+1", 2]])
    >>> read_table(place)
    [{'note': '=1+1', 'n': '2'}]
    """
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        for line in (header, *lines):
            writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in line])


def _no_columns(absent: Sequence[str], header: Sequence[str], path: Path) -> Fault:
    what = f"lacks the column{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        return Fault(f"{what}; cells must be separated by commas", path)
    return Fault(what, path)
