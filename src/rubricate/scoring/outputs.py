"""Writing what a run found: scores.csv, items.csv, scores.xlsx and run.json."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubricate.files import file_hash
from rubricate.scoring.cells import ITEM_COLUMNS, SCORE_COLUMNS, read_rows
from rubricate.scoring.judging import NOT_SCORED, NoteResult
from rubricate.scoring.workbook import Workbook

SCORES, ITEMS, WORKBOOK = "scores.csv", "items.csv", "scores.xlsx"
RUN, TIMES = "run.json", "times.json"
#: What a run writes besides its evidence; the last says that the run is complete.
PRODUCTS = (SCORES, ITEMS, WORKBOOK, TIMES, RUN)


@dataclass(slots=True)
class RunCounts:
    """What is counted while results are written."""

    notes: int = 0
    scored: int = 0
    identical: int = 0
    items: int = 0
    found: int = 0
    review: int = 0
    corrected: int = 0
    percentage: float = 0.0
    not_scored: Counter[str] = field(default_factory=Counter)

    def add(self, result: NoteResult) -> None:
        """Count one note."""
        self.notes += 1
        self.identical += bool(result.same_as)
        self.items += len(result.items)
        self.found += result.n_found
        self.review += result.n_review
        self.corrected += result.n_corrected
        if result.status == NOT_SCORED:
            self.not_scored[_kind(result.reason)] += 1
        else:
            self.scored += 1
            total = result.total
            self.percentage += 0.0 if total is None or not total.maximum else total.percentage

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        mean = self.percentage / self.scored if self.scored else None
        return {
            "notes": self.notes,
            "scored": self.scored,
            "not_scored": dict(sorted(self.not_scored.items())),
            "identical": self.identical,
            "items": self.items,
            "found": self.found,
            "review": self.review,
            "corrected": self.corrected,
            "mean_percentage": None if mean is None else round(mean, 4),
        }


def _kind(reason: str) -> str:
    """Return a reason without its numbers and names, so that like ones are counted together."""
    head = reason.partition(":")[0].partition(";")[0]
    return "no rubric for its case" if head.startswith("no rubric") else _without_numbers(head)


def _without_numbers(text: str) -> str:
    return " ".join(word for word in text.split() if not word[0].isdigit())


def write_tables(results: Iterable[NoteResult], folder: Path) -> RunCounts:
    """Write scores.csv and items.csv row by row, then both as sheets of scores.xlsx.

    Each file replaces an older one only when it is complete.
    """
    counts = RunCounts()
    parts = {name: folder / f".{name}.part" for name in (SCORES, ITEMS, WORKBOOK)}
    with (
        parts[SCORES].open("w", encoding="utf-8", newline="") as scores,
        parts[ITEMS].open("w", encoding="utf-8", newline="") as items,
    ):
        # With this line end, csv also quotes texts that hold a lone "\r".
        score_rows = csv.writer(scores, lineterminator="\r\n")
        item_rows = csv.writer(items, lineterminator="\r\n")
        score_rows.writerow(SCORE_COLUMNS)
        item_rows.writerow(ITEM_COLUMNS)
        for result in results:
            counts.add(result)
            score_rows.writerow(result.cells())
            item_rows.writerows(item.cells(result.note, result.case) for item in result.items)
    with Workbook(parts[WORKBOOK]) as book:
        book.add_sheet("scores", SCORE_COLUMNS, read_rows(parts[SCORES], SCORE_COLUMNS))
        book.add_sheet("items", ITEM_COLUMNS, read_rows(parts[ITEMS], ITEM_COLUMNS))
    for name, part in parts.items():
        part.replace(folder / name)
    return counts


def write_run(folder: Path, run: Mapping[str, Any], times: Mapping[str, Any]) -> dict[str, Any]:
    """Write times.json, then run.json with the hashes of the tables; return the latter."""
    outputs = {name: file_hash(folder / name) for name in (SCORES, ITEMS, WORKBOOK)}
    value = {**run, "outputs": outputs}
    for name, content in ((TIMES, times), (RUN, value)):
        part = folder / f".{name}.part"
        text = json.dumps(content, ensure_ascii=False, indent=1, default=_plain)
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(folder / name)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value)
