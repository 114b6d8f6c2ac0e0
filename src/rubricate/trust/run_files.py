"""Reading the tables that a finished run left in its folder."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rubricate.errors import Fault, InputError
from rubricate.formats.rubric_csv import FORMULA
from rubricate.spans import Span
from rubricate.trust.runs import F64, Items, Run, Truth
from rubricate.trust.writing import Found

if TYPE_CHECKING:
    import polars

#: Columns a run's tables must have; others are read where they are there.
SCORE_COLUMNS = ("note", "case", "score", "maximum")
ITEM_COLUMNS = ("note", "feature", "found")
_TRUE = ("1", "true", "yes")
_FALSE = ("0", "false", "no")


def read_run(folder: str | Path) -> Run:
    r"""Read the ``scores.csv`` and ``items.csv`` of a finished run.

    Parameters
    ----------
    folder : str or Path
        What ``rubricate score --out`` was given.

    Raises
    ------
    InputError
        If a file is missing, lacks a column or holds a value that cannot be read; the row is
        named, never its text.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "scores.csv").write_text("note,case,score,maximum\nn1,c,1,2\n")
    >>> _ = (folder / "items.csv").write_text("note,feature,found\nn1,f,1\nn1,g,0\n")
    >>> read_run(folder).items.found.tolist()
    [True, False]
    """
    place = Path(folder)
    scores = read_table(place / "scores.csv", SCORE_COLUMNS)
    notes = tuple(scores["note"].to_list())
    run = Run(
        notes,
        tuple(scores["case"].to_list()),
        _numbers(scores, "score", place / "scores.csv"),
        _numbers(scores, "maximum", place / "scores.csv"),
    )
    path = place / "items.csv"
    table = read_table(path, ITEM_COLUMNS, ("probability", "confidence", "review"))
    # What a note that was not scored would have had is there, and not decided
    table = table.filter(table["found"] != "")
    index = run.note_index
    strangers = [i for i, note in enumerate(table["note"], 1) if note not in index]
    if strangers:
        raise InputError(
            [Fault("the note has no row in scores.csv", path, i, "row") for i in strangers]
        )
    features = tuple(dict.fromkeys(table["feature"].to_list()))
    number = {feature: i for i, feature in enumerate(features)}
    found = _truths(table, "found", path)
    items = Items(
        np.array([index[note] for note in table["note"]], dtype=np.int64),
        np.array([number[feature] for feature in table["feature"]], dtype=np.int64),
        features,
        found,
        _certainty(table, found, path),
        _truths(table, "review", path),
    )
    return Run(run.notes, run.cases, run.score, run.maximum, items)


def read_evidence(folder: str | Path) -> dict[str, dict[str, Found]]:
    """Return where each feature was found in each note of a finished run, by note and feature.

    Raises
    ------
    InputError
        If ``items.csv`` is missing, or a cell of spans cannot be read.
    """
    path = Path(folder) / "items.csv"
    table = read_table(path, (*ITEM_COLUMNS, "spans"), ("confidence",))
    confidence = _numbers(table, "confidence", path).tolist()
    found: dict[str, dict[str, Found]] = {}
    faults = []
    rows = zip(
        *(table[name].to_list() for name in ("note", "feature", "found", "spans")), strict=True
    )
    for i, (note, feature, said, cell) in enumerate(rows):
        own = found.setdefault(note, {})
        if said.casefold() in _TRUE:
            try:
                sure = None if np.isnan(confidence[i]) else confidence[i]
                own[feature] = Found(parse_spans(cell), sure)
            except ValueError:
                message = "spans: need e.g. 0 5;8 12 (0 <= start < end)"
                faults.append(Fault(message, path, i + 1, "row"))
    if faults:
        raise InputError(faults)
    return found


def read_rows_as_text(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a run's table one at a time, guards against formulas taken away."""
    csv.field_size_limit(sys.maxsize)
    guard = re.compile(f"^'(?={FORMULA.pattern})")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for row in csv.DictReader(stream):
            yield {name: guard.sub("", cell or "") for name, cell in row.items()}


def parse_spans(cell: str) -> tuple[Span, ...]:
    """Return the spans in a cell, those of all annotations; ValueError where one is none.

    Examples
    --------
    >>> [(span.start, span.end) for span in parse_spans("0 5;8 12|20 25")]
    [(0, 5), (8, 12), (20, 25)]
    """
    parts = (part.split() for part in cell.replace("|", ";").split(";") if part.strip())
    return tuple(Span(int(start), int(end)) for start, end in parts)


def read_table(
    path: Path, columns: Sequence[str], optional: Sequence[str] = ()
) -> polars.DataFrame:
    """Read columns of a CSV file as text; a missing file or column is an InputError.

    ``optional`` columns are read where they are there.
    """
    import polars

    if not path.is_file():
        raise InputError(f"{path}: no such file. Give the folder that `rubricate score` wrote.")
    try:
        known = polars.read_csv(path, infer_schema=False, encoding="utf8", n_rows=0).columns
        wanted = [name for name in known if name in (*columns, *optional)]
        table = polars.read_csv(path, infer_schema=False, encoding="utf8", columns=wanted)
    except polars.exceptions.PolarsError as error:
        raise InputError(f"{path}: not a CSV file in UTF-8") from error
    missing = [name for name in columns if name not in known]
    if missing:
        listed = ", ".join(known)
        raise InputError(
            [Fault(f"column {name!r} is missing; there are {listed}", path) for name in missing]
        )
    # An apostrophe keeps spreadsheet programs from taking a cell for a formula
    guard = f"^'({FORMULA.pattern})"
    return table.with_columns(polars.all().fill_null("").str.replace(guard, "$1"))


def _certainty(table: polars.DataFrame, found: Truth, path: Path) -> F64:
    """Return the probability of what was decided, or else the confidence of what was found."""
    probability = _numbers(table, "probability", path)
    confidence = _numbers(table, "confidence", path)
    of_presence = np.where(np.isnan(probability), confidence, probability)
    return np.where(found, of_presence, 1.0 - probability)


def _numbers(table: polars.DataFrame, name: str, path: Path) -> F64:
    import polars

    if name not in table.columns:
        return np.full(len(table), np.nan)
    values = table[name].cast(polars.Float64, strict=False)
    wrong = np.flatnonzero((values.is_null() & (table[name] != "")).to_numpy())
    if len(wrong):
        raise InputError([Fault(f"{name}: need a number", path, int(i) + 1, "row") for i in wrong])
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def _truths(table: polars.DataFrame, name: str, path: Path) -> Truth:
    if name not in table.columns:
        return np.zeros(len(table), dtype=np.bool_)
    texts = table[name].str.to_lowercase()
    known = texts.is_in([*_TRUE, *_FALSE, ""]).to_numpy()
    if not known.all():
        wrong = np.flatnonzero(~known)
        raise InputError(
            [Fault(f"{name}: need true or false", path, int(i) + 1, "row") for i in wrong]
        )
    return np.asarray(texts.is_in(list(_TRUE)).to_numpy(), dtype=np.bool_)
