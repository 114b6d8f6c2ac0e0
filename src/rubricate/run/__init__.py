"""The results of a run: one type per note and per item, its tables, and its columns."""

from rubricate.rubric import Outcome
from rubricate.run.reading import (
    RunItems,
    ScoredRun,
    collect_run,
    read_evidence,
    read_results,
    read_run,
)
from rubricate.run.results import (
    Correction,
    CounterEvidence,
    Evidence,
    ItemResult,
    NoteResult,
    RunCounts,
    Total,
    certainty,
    parse_spans,
    spans_text,
    total_score,
)
from rubricate.run.tables import ITEM_COLUMNS, SCORE_COLUMNS, RunColumn, read_rows, read_texts
from rubricate.run.writing import RunTables, write_tables

__all__ = [
    "ITEM_COLUMNS",
    "SCORE_COLUMNS",
    "Correction",
    "CounterEvidence",
    "Evidence",
    "ItemResult",
    "NoteResult",
    "Outcome",
    "RunColumn",
    "RunCounts",
    "RunItems",
    "RunTables",
    "ScoredRun",
    "Total",
    "certainty",
    "collect_run",
    "parse_spans",
    "read_evidence",
    "read_results",
    "read_rows",
    "read_run",
    "read_texts",
    "spans_text",
    "total_score",
    "write_tables",
]
