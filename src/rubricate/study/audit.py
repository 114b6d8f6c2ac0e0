"""Recompute a published table of precision, recall and F1 from its counts, and flag what is off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rubricate.errors import Fault, InputError, at_least, inside_unit, one_of, raise_if_any
from rubricate.stats import METHODS, Method, f1_corner_interval, f1_interval, proportion_interval
from rubricate.study.record import read_numbered

#: Cells a table may print, by column.
CELLS = tuple(
    f"{name}{part}" for name in ("precision", "recall", "f1") for part in ("", "_low", "_high")
)
_COUNTS = ("tp", "fp", "fn", "detections", "manual")


@dataclass(frozen=True, slots=True)
class AuditedCell:
    """A printed value beside what the counts give.

    ``state`` is ``ok``, ``differs`` (not what the counts give) or ``impossible`` (no counts at
    all could give it beside the other cells of its row).
    """

    row: str
    cell: str
    printed: float
    recomputed: float
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """A row's counts, and every cell recomputed from them."""

    name: str
    tp: int
    fp: int
    fn: int
    values: Mapping[str, float]

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return {"name": self.name, "tp": self.tp, "fp": self.fp, "fn": self.fn, **self.values}


@dataclass(frozen=True, slots=True)
class Audit:
    """All rows recomputed, every printed cell judged, and the decimals each column was read with.

    ``given`` says whether the decimals were stated, or taken from the longest cell of the column.
    """

    rows: tuple[AuditedRow, ...]
    cells: tuple[AuditedCell, ...]
    decimals: Mapping[str, int]
    given: bool = False

    @property
    def assumption(self) -> str:
        """Assumption about rounding, in words."""
        if not self.decimals:
            return "no cell is printed"
        by_number: dict[int, list[str]] = {}
        for column, number in self.decimals.items():
            by_number.setdefault(number, []).append(column)
        parts = [f"{number} ({', '.join(names)})" for number, names in by_number.items()]
        why = "as stated" if self.given else "from the longest cell of each column"
        return f"decimals printed, {why}: {'; '.join(parts)}"

    @property
    def flagged(self) -> tuple[AuditedCell, ...]:
        """Cells that do not follow from the counts."""
        return tuple(cell for cell in self.cells if cell.state != "ok")

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "checked": len(self.cells),
            "decimals": dict(self.decimals),
            "assumption": self.assumption,
            "flagged": [asdict(cell) for cell in self.flagged],
        }


def recompute(
    tp: int, fp: int, fn: int, *, method: Method = "clopper-pearson", confidence: float = 0.95
) -> dict[str, float]:
    """Return every cell from counts, F1 limits by the paper's rule and by the better one.

    ``f1_low`` and ``f1_high`` are F1 of the lower and of the upper limits of precision and
    recall (Canales et al. 2021); ``f1_j_low`` and ``f1_j_high`` go through the Jaccard index
    (`rubricate.stats.f1_interval`), which keeps the nominal coverage.

    >>> cells = recompute(271, 18, 10)
    >>> round(cells["f1"], 2), round(cells["f1_low"], 2), round(cells["f1_high"], 2)
    (0.95, 0.92, 0.97)
    """
    found: dict[str, float] = {}
    for name, total in (("precision", tp + fp), ("recall", tp + fn)):
        interval = proportion_interval(tp, total, method=method, confidence=confidence)
        found[name] = interval.value
        found[f"{name}_low"], found[f"{name}_high"] = interval.low, interval.high
    corner = f1_corner_interval(tp, fp, fn, method=method, confidence=confidence)
    better = f1_interval(tp, fp, fn, method=method, confidence=confidence)
    found["f1"] = corner.value
    found["f1_low"], found["f1_high"] = corner.low, corner.high
    found["f1_j_low"], found["f1_j_high"] = better.low, better.high
    return found


def audit_table(
    path: str | Path,
    *,
    method: str = "clopper-pearson",
    confidence: float = 0.95,
    decimals: int | None = None,
) -> Audit:
    r"""Recompute a CSV of published values.

    Columns: a name (first column), counts (``tp`` with ``detections`` and ``manual``, or with
    ``fp`` and ``fn``), and any of ``precision``, ``recall``, ``f1`` with ``_low`` and ``_high``
    as printed. A printed cell is right if the recomputed value rounds to it with the decimals of
    its column, halves up or to even; limits of F1 may follow either rule of `recompute`. A column
    has as many ``decimals`` as its longest cell, unless they are stated: spreadsheets save .90 as
    0.9 and 1.00 as 1.0, so a cell alone does not say how it was printed.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = place.write_text("name,tp,detections,manual,f1\nx,78,80,147,.96\n")
    >>> audit_table(place).flagged[0].cell
    'f1'
    """
    place = Path(path)
    raise_if_any(
        one_of("method", method, METHODS)
        + inside_unit("confidence", confidence)
        + ([] if decimals is None else at_least("decimals", decimals, 1))
    )
    lines = read_numbered(place)
    faults = _header_faults(lines[0][1] if lines else {}, place)
    read: list[tuple[str, tuple[int, int, int], dict[str, tuple[float, int]]]] = []
    for number, line in lines if not faults else []:
        try:
            counts, printed = _counts(line), _printed(line)
        except ValueError as error:
            faults.append(Fault(str(error), place, number, "row"))
            continue
        read.append((next(iter(line.values())) or f"row {number}", counts, printed))
    InputError.raise_any(faults)
    places = {
        column: max(own[column][1] for _, _, own in read if column in own)
        if decimals is None
        else decimals
        for column in CELLS
        if any(column in own for _, _, own in read)
    }
    rows: list[AuditedRow] = []
    cells: list[AuditedCell] = []
    for name, counts, printed in read:
        values = recompute(*counts, method=method, confidence=confidence)  # type: ignore[arg-type]
        rows.append(AuditedRow(name, *counts, values))
        shown = {column: (value, places[column]) for column, (value, _) in printed.items()}
        cells += _judge(name, shown, values)
    return Audit(tuple(rows), tuple(cells), places, decimals is not None)


def _header_faults(line: Mapping[str, str], path: Path) -> list[Fault]:
    columns = list(line)
    if not columns:
        return [Fault("the file has no rows", path)]
    known = {columns[0], *CELLS, *_COUNTS}
    faults = [
        Fault(f"unknown column {c!r}; allowed: {', '.join([*_COUNTS, *CELLS])}", path)
        for c in columns
        if c not in known
    ]
    pairs = ({"tp", "fp", "fn"}, {"tp", "detections", "manual"})
    if not any(pair <= set(columns) for pair in pairs):
        faults.append(Fault("needs the columns tp, detections, manual or tp, fp, fn", path))
    return faults


def _counts(line: Mapping[str, str]) -> tuple[int, int, int]:
    numbers: dict[str, int] = {}
    for name in _COUNTS:
        if name in line:
            try:
                numbers[name] = int(str(line[name]).strip())
            except ValueError:
                raise ValueError(f"{name} is {line[name]!r}: it must be a whole number") from None
            if numbers[name] < 0:
                raise ValueError(f"{name} is {numbers[name]}: it must not be negative")
    tp = numbers["tp"]
    fp = numbers["fp"] if "fp" in numbers else numbers["detections"] - tp
    fn = numbers["fn"] if "fn" in numbers else numbers["manual"] - tp
    for name, total in (("detections", tp + fp), ("manual", tp + fn)):
        if numbers.get(name, total) != total:
            raise ValueError(f"{name} is {numbers[name]}, but tp, fp and fn make it {total}")
    if fp < 0 or fn < 0:
        raise ValueError(f"tp is {tp}, more than there are detections or manual annotations")
    return tp, fp, fn


def _printed(line: Mapping[str, str]) -> dict[str, tuple[float, int]]:
    """Return the printed cells as value and number of decimals."""
    found = {}
    for name in CELLS:
        text = str(line.get(name) or "").strip()
        if text:
            try:
                found[name] = float(text), len(text.partition(".")[2])
            except ValueError:
                raise ValueError(
                    f"{name} is {text!r}: it must be a share written as a number, like 0.97"
                ) from None
    return found


def _judge(
    name: str, printed: Mapping[str, tuple[float, int]], values: Mapping[str, float]
) -> list[AuditedCell]:
    cells = []
    for cell, (value, decimals) in printed.items():
        state, reason = "ok", ""
        rules = [values[cell], values.get(cell.replace("f1_", "f1_j_"), values[cell])]
        if not any(_rounds_to(rule, value, decimals) for rule in rules):
            shown = f"the counts give {_half_up(values[cell], decimals):.{decimals}f}"
            undefined = "the counts leave it undefined"
            state, reason = "differs", undefined if math.isnan(values[cell]) else shown
        impossible = _impossible(cell, {k: v for k, (v, _) in printed.items()}, decimals)
        if impossible and state != "ok":
            state, reason = "impossible", f"{impossible}; {reason}"
        cells.append(AuditedCell(name, cell, value, values[cell], state, reason))
    return cells


def _impossible(cell: str, printed: Mapping[str, float], decimals: int) -> str:
    """Say why no counts could give this cell beside the others of its row."""
    value, slack = printed[cell], 10.0**-decimals
    name, _, part = cell.partition("_")
    if not 0 <= value <= 1:
        return "it lies outside 0 to 1 (shares are wanted, no percentages)"
    if part == "low" and name in printed and value > printed[name] + slack:
        return f"the lower limit is above the {name}"
    if part == "high" and name in printed and value < printed[name] - slack:
        return f"the upper limit is below the {name}"
    sides = [printed.get(f"{side}_{part}" if part else side) for side in ("precision", "recall")]
    if name == "f1" and None not in sides:
        top, bottom = 2 * math.prod(sides), sum(sides)  # type: ignore[arg-type]
        mean = top / bottom if bottom else 0.0
        if not part and abs(value - mean) > 2 * slack:
            return "it is not the harmonic mean of precision and recall"
        # F1 rises with both, so inside their limits it stays inside the F1 of the limits.
        beyond = value - mean if part == "high" else mean - value
        if part and beyond > 2 * slack:
            return "F1 cannot go so far while precision and recall keep to their limits"
    return ""


def _rounds_to(value: float, printed: float, decimals: int) -> bool:
    if math.isnan(value):
        return False
    options = {_half_up(value, decimals), round(value, decimals)}
    return any(abs(option - printed) < 0.1 * 10.0**-decimals for option in options)


def _half_up(value: float, decimals: int) -> float:
    scale = 10**decimals
    return math.floor(value * scale + 0.5 + 1e-9) / scale if math.isfinite(value) else value
