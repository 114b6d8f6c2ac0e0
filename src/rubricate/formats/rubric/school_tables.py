"""Rubrics in CSV files and Excel workbooks: the rows of any school's table as features."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rubricate.columns import plain_name
from rubricate.display import counted
from rubricate.errors import Fault, InputError, shown
from rubricate.files import packaged_text
from rubricate.formats.reading import Faults, read_whole
from rubricate.formats.rubric.records import (
    COMPETITION,
    WRITTEN,
    Records,
    feature_row,
    is_known,
    match_columns,
)
from rubricate.formats.tables import (
    MOST_CHARACTERS,
    Odd,
    excel_text,
    find_csv_form,
    find_header,
    guarded,
    plain_number,
    read_sheets,
    unguarded,
    write_table,
)
from rubricate.formats.workbook import SheetColumn, Workbook
from rubricate.rubric import Rubric, parse_weight, split_points

#: What stands before a sum: never a feature.
_TOTAL = re.compile(
    r"(?:(?:grand|overall|case|section|station|max(?:imum)?|possible)\W+)*"
    r"(?P<part>sub\W?)?(?:total|sum|max(?:imum)?)(?:\s+(?:points?|pts|marks?|scores?|possible|for|of)\b.*)?",
    re.IGNORECASE,
)
#: Columns that count the items, and what stands there that counts nothing.
_NUMBERS = ("number", "id")
_WORDS = re.compile(r"[^\W\d_]{3,}(?:\W+[^\W\d_]+)*\W*")
#: Columns whose merged cells speak of all rows they cover.
_SHARED = ("case", "kind", "group", "title")


def read_csv_records(path: Path, faults: Faults) -> Records:
    """Read a table with a header; comma, semicolon or tab between its columns."""
    records = Records(path.stem)
    raw = read_whole(path, faults.how.limits)
    form = find_csv_form(path, is_known)
    try:
        body = raw.decode(form.encoding)
    except UnicodeDecodeError as error:
        message = (
            "not UTF-8, nor of an encoding Excel writes. Save the file as UTF-8 and try again."
        )
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError([Fault(message, path, line)]) from None
    try:
        rows = [
            (number, [unguarded(cell.strip()) for cell in row])
            for number, row in form.rows(io.StringIO(body, newline=""), path)
        ]
    except InputError as error:
        faults.found += error.faults
        return records
    if any(any(row) for _, row in rows[form.above :]):
        add_table(records, SchoolTable([(n, row) for n, row in rows if any(row)]), faults)
    return records


def write_csv_records(rubrics: Sequence[Rubric], path: Path) -> None:
    """Write one row per feature; a text that looks like a formula gets ``'`` before it.

    `read_csv_records` takes the apostrophe off again.
    """
    titled = any(rubric.title for rubric in rubrics)
    lines = (
        [*(cell if isinstance(cell, str) else plain_number(cell) for cell in feature_row(feature)),
         *([rubric.title] if titled else [])]
        for rubric in rubrics
        for feature in rubric
    )  # fmt: skip
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    write_table(path, [*WRITTEN, *(["title"] if titled else [])], lines, delimiter=delimiter)


@dataclass(frozen=True, slots=True)
class SchoolTable:
    """Rows with the numbers that messages give; ``merged`` as `SheetRows` has it."""

    rows: Sequence[tuple[int, Sequence[str]]]
    case: str = ""
    place: str = ""
    merged: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)


def add_table(records: Records, table: SchoolTable, faults: Faults) -> None:
    """Add the features of one table; what stands above the columns' names is its title."""
    top = find_header([row for _, row in table.rows], is_known)
    header = [cell.strip() for cell in table.rows[top][1]]
    _TableReader(records, table, header, top, faults).read()


class _TableReader:
    """Goes through the rows of one table."""

    def __init__(
        self, records: Records, table: SchoolTable, header: list[str], top: int, faults: Faults
    ) -> None:
        self.records, self.table, self.header, self.faults = records, table, header, faults
        self.above, self.rows = table.rows[:top], table.rows[top + 1 :]
        empty = {i for i in range(len(header)) if not any(_cell(row, i) for _, row in self.rows)}
        self.columns = match_columns(
            header,
            lambda message: faults.add(table.place + message),
            empty=empty,
            left_out=lambda name: self.notice(f"column {name!r} is not known and was left out"),
        )
        self.place_of = {name: i for i, name in self.columns.items()}
        self.cells = dict(table.rows)
        numbers = [i for i, name in self.columns.items() if name in _NUMBERS]
        points, text = (self.place_of.get(name, len(header)) for name in ("weight", "text"))
        whole = [row for _, row in self.rows if _cell(row, points) and _cell(row, text)]
        self.mostly_numbered = 2 * sum(any(_cell(row, i) for i in numbers) for row in whole) > sum(
            bool(_cell(row, text)) for _, row in self.rows
        )
        #: Rows whose points stand in their wording, as "(2 points)".
        self.worded = [row for _, row in self.rows if split_points(_cell(row, text))[1]]
        self.has_points = bool(whole or self.worded)
        self.heading = ""
        #: Points and groups since the last subtotal, and since the last total.
        self.part: list[tuple[float, str]] = []
        self.whole: list[tuple[float, str]] = []

    def notice(self, message: str) -> None:
        self.records.notices.append(self.table.place + message)

    def read(self) -> None:
        if "text" not in self.place_of:
            named = [name for name in self.header if name and len(name) <= 40]
            hint = "; hide the sheet if it is no rubric" if self.table.place else ""
            self.faults.add(
                f"{self.table.place}no column holds the features' texts: name it 'text' or "
                f"'feature'; there are {', '.join(map(shown, named)) or 'none with a name'}{hint}"
            )
            return
        self.read_title()
        hyphens = {plain_name(name) for name in self.header} >= COMPETITION
        for number, row in self.rows:
            values = {n: str(cell) for i, n in self.columns.items() if (cell := _cell(row, i))}
            if self.is_total(number, row, values) or self.is_heading(number, row, values):
                continue
            for i in self.columns:
                if i < len(row) and isinstance(cell := row[i], Odd):
                    self.faults.add(f"{self.table.place}{cell.why}", line=number)
            self.check_beyond(number, row)
            self.fill_merged(number, values)
            if hyphens and " " not in values.get("text", ""):
                values["text"] = values.get("text", "").replace("-", " ")
            if values and not self.goes_on(number, values):
                self.add(number, values)

    def read_title(self) -> None:
        """Take the first line above the names for the title; tell of the others."""
        lines = [" ".join(cell.strip() for cell in row if cell.strip()) for _, row in self.above]
        lines = [line for line in lines if line]
        if lines and "title" not in self.place_of and "case" not in self.place_of:
            self.records.titles[self.table.case or self.records.default_case] = lines.pop(0)
        if lines:
            said = counted(len(lines), "line")
            self.notice(f"left out above the names of the columns: {said}")

    def is_total(self, number: int, row: Sequence[str], values: Mapping[str, str]) -> bool:
        """Tell whether the row is a sum, and tell people where it is a wrong one."""
        label = values.get("text") or next((cell.strip() for cell in row if cell.strip()), "")
        label, said = split_points(label)
        found = _TOTAL.fullmatch(label.strip(" :=*"))
        if found is None or "id" in values:
            return False
        summed = self.part if found["part"] else self.whole
        numbers = [parse_weight(cell.strip()) for cell in (said, *row) if cell.strip()]
        stated = [one for one in numbers if isinstance(one, float)]
        likely = _sums(summed)
        if stated and not any(math.isclose(stated[-1], one, abs_tol=1e-9) for one in likely):
            kind = "subtotal" if found["part"] else "total"
            self.notice(
                f"row {number}: the {kind} says {stated[-1]:g}, and the features above have "
                f"{' or '.join(f'{one:g}' for one in likely)} points"
            )
        self.part = []
        if not found["part"]:
            self.whole = []
        return True

    def is_heading(self, number: int, row: Sequence[str], values: Mapping[str, str]) -> bool:
        """Tell whether the row has but a heading, which is the kind of the features below it."""
        filled = [i for i, cell in enumerate(row) if cell.strip()]
        if len(filled) != 1 or not ("weight" in self.place_of or self.worded):
            return False
        (place,) = filled
        text = row[place].strip()
        if split_points(text)[1]:
            return False
        wide = any(first == (number, place) for cell, first in self.table.merged.items()
                   if cell[0] == number)  # fmt: skip
        if not wide and not self.reads_like_heading(self.columns.get(place, ""), text):
            return False
        if not wide:
            self.notice(f"row {number}: {text!r} has no points and was taken for a heading")
        self.heading = text.rstrip(" :")
        return True

    def reads_like_heading(self, column: str, text: str) -> bool:
        """Tell whether words that stand alone in a row are a heading, not a feature."""
        if column == "text":
            # Where rows have numbers and points, one with neither is no item.
            return text.isupper() or text[-1] == ":" or self.mostly_numbered
        return column in _NUMBERS and bool(_WORDS.fullmatch(text))

    def check_beyond(self, number: int, row: Sequence[str]) -> None:
        beyond = [i for i, cell in enumerate(row) if cell and not _cell(self.header, i)]
        message = f"{len(beyond)} cells have no column name above"
        if beyond and self.table.place:
            self.notice(f"row {number}: {message} and were left out")
        elif beyond:
            self.faults.add(message, line=number)

    def fill_merged(self, number: int, values: dict[str, str]) -> None:
        """Fill in what a merged cell says for this row; shared points count once, as a group."""
        for i, name in self.columns.items():
            first = self.table.merged.get((number, i))
            if first is None or first[1] != i:
                continue
            said = _cell(self.cells.get(first[0], ()), i)
            if name in _SHARED and said:
                values[name] = said
            elif name == "weight" and "group" not in values:
                values |= {"group": f"any of row {first[0]}"} | ({name: said} if said else {})
        below = (number + 1, self.place_of.get("weight", -1))
        if self.table.merged.get(below) == (number, below[1]) and "group" not in values:
            values["group"] = f"any of row {number}"
            self.notice(f"row {number}: its points are one merged cell with those below: any of "
                        "these rows counts, once")  # fmt: skip

    def goes_on(self, number: int, values: Mapping[str, str]) -> bool:
        """Tell whether the row is nothing but the rest of a merged text above."""
        own = values.keys() - {*_SHARED, "weight", "note"}
        return not own and (number, self.place_of["text"]) in self.table.merged

    def add(self, number: int, values: dict[str, str]) -> None:
        if self.heading:
            values.setdefault("kind", self.heading)
        if "weight" not in values and (said := split_points(values.get("text", ""))[1]):
            values["weight"] = said
            self.records.worded.append(values["text"])
        self.records.add(values, self.table.case, number, self.table.place)
        if self.has_points and "weight" not in values and values.get("text"):
            self.notice(f"row {number}: {shown(values['text'])} has no points; it counts 1")
        weight = parse_weight(values.get("weight", ""))
        if isinstance(weight, float):
            self.part.append((weight, values.get("group", "")))
            self.whole.append((weight, values.get("group", "")))


def _cell(row: Sequence[str], place: int) -> str:
    return row[place].strip() if place < len(row) else ""


def _sums(points: Sequence[tuple[float, str]]) -> list[float]:
    """Return the possible totals: groups counted once or not, penalties counted or not."""
    best: dict[str, float] = {}
    for number, (weight, group) in enumerate(points):
        name = f"group {group}" if group else str(number)
        best[name] = max(best.get(name, weight), weight)
    ways = [list(best.values()), [weight for weight, _ in points]]
    sums = [math.fsum(w for w in way if w > 0) for way in ways] + [math.fsum(w) for w in ways]
    return list(dict.fromkeys(sums))


_SHEET_NAME = re.compile(r"[^\[\]:*?/\\']{1,31}")


@cache
def sheet_names() -> list[list[str]]:
    """Return the names of sheets that name no case, each with its kind and an example."""
    lines = packaged_text("formats.rubric", "sheet_names.tsv").splitlines()[1:]
    return [line.split("\t") for line in lines]


def names_no_case(sheet: str) -> bool:
    """Tell whether the name of a sheet says nothing of its case, with or without a number.

    >>> names_no_case("Sheet1"), names_no_case("Rubric"), names_no_case("Chest pain")
    (True, True, False)
    """
    plain = " ".join(re.sub(r"\d+$", "", sheet.strip()).replace("_", " ").split()).casefold()
    return plain in {name for name, *_ in sheet_names()}


def read_excel_records(path: Path, faults: Faults) -> Records:
    """Read a workbook: one sheet per case, named after it; messages give the rows Excel shows."""
    records = Records(path.stem)
    sheets, hidden = read_sheets(path, faults.how.limits)
    records.notices += [f"sheet {title!r} is hidden and was left out" for title in hidden]
    tables = [sheet for sheet in sheets if _is_table(sheet.rows)]
    for sheet in sheets:
        if not sheet.rows:
            records.notices.append(f"sheet {sheet.title!r} is empty and was left out")
            continue
        if tables and sheet not in tables:
            # Instructions, grades: schools keep them beside the checklist.
            records.notices.append(
                f"sheet {sheet.title!r} has no column of a rubric and was left out"
            )
            continue
        case = sheet.title.strip()
        if len(tables) <= 1 and names_no_case(case):
            case = ""
        before = len(records.features), len(faults.found)
        place = f"sheet {sheet.title!r}: "
        records.notices += [place + one for one in sheet.unseen]
        add_table(records, SchoolTable(sheet.rows, case, place, sheet.merged), faults)
        if (len(records.features), len(faults.found)) == before:
            records.cases.append(case)
    return records


def _is_table(rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Tell whether a sheet has texts or points of features, or columns nearly called so."""
    if not rows:
        return False
    near: list[str] = []
    header = rows[find_header([row for _, row in rows], is_known)][1]
    columns = match_columns(header, near.append, left_out=lambda name: None)
    return bool(near or {"text", "weight"} & set(columns.values()))


def write_excel_records(rubrics: Sequence[Rubric], path: Path) -> None:
    """Write one sheet per case; a case that is no sheet name is also in a column.

    Every text is stored as text, also one that begins with ``=`` or ``-``.
    """
    _need_short_texts(rubrics)
    taken: set[str] = set()
    with Workbook(path) as book:
        for rubric in rubrics:
            name = _sheet_name(rubric.case, taken)
            # The sheet's name is the case, unless Excel cannot hold it as it is.
            skip = 1 if name == rubric.case else 0
            titled = [rubric.title] if rubric.title else []
            names = [*WRITTEN[skip:], *("title" for _ in titled)]
            sheet = book.sheet(name, [SheetColumn(one, _WIDTHS.get(one, 12)) for one in names])
            for feature in rubric:
                row = [*map(_held, feature_row(feature)[skip:]), *titled]
                sheet.add(row, [guarded(str(cell)) for cell in row])


#: Characters of a long text that a column shows; other columns show twelve.
_WIDTHS = {"text": 60, "note": 30, "title": 30}


def _held(value: str | float) -> str | float:
    """Return a number with more than the 15 digits that a workbook holds as text."""
    if isinstance(value, str) or float(f"{value:.15g}") == value:
        return value
    return plain_number(value)


def _need_short_texts(rubrics: Sequence[Rubric]) -> None:
    most = f"a cell of an Excel file holds at most {MOST_CHARACTERS} characters"
    faults = [
        Fault(f"feature {feature.id!r}: {most}")
        for rubric in rubrics
        for feature in rubric
        if max(len(excel_text(cell)) for cell in (feature.text, feature.note)) > MOST_CHARACTERS
    ]
    InputError.raise_any(faults)


def _sheet_name(case: str, taken: set[str]) -> str:
    """Return the case, or a name like it that Excel takes."""
    plain = re.sub(r"[\[\]:*?/\\'\x00-\x1f]", "-", case)[:31].strip() or "case"
    sound = _SHEET_NAME.fullmatch(case) and case.casefold() != "history"
    name, n = (case if sound and case == plain else f"{plain[:28]} 1"), 2
    while name.casefold() in taken:
        name, n = f"{plain[:27]} {n}", n + 1
    taken.add(name.casefold())
    return name
