"""The results of a run: one type per note and per item, its tables, and its columns."""

from rubricate.run.reading import RunItems, ScoredRun, read_evidence, read_results, read_run
from rubricate.run.results import (
    Correction,
    Evidence,
    ItemResult,
    NoteResult,
    total_score,
)
from rubricate.run.tables import ITEM_COLUMNS, SCORE_COLUMNS, RunColumn, read_rows, read_texts
from rubricate.spans import parse_spans, spans_text

__all__ = [
    "ITEM_COLUMNS",
    "SCORE_COLUMNS",
    "Correction",
    "Evidence",
    "ItemResult",
    "NoteResult",
    "RunColumn",
    "RunItems",
    "ScoredRun",
    "parse_spans",
    "read_evidence",
    "read_results",
    "read_rows",
    "read_run",
    "read_texts",
    "spans_text",
    "total_score",
]
