"""Checks of scores: unchanged files, leniency, drift, fairness, copies and gaming."""

from rubricate.trust.changes import Changes, compare_runs, run_of_corpus, run_of_scores
from rubricate.trust.drift import Drift, measure_drift
from rubricate.trust.duplicates import Cluster, find_duplicates
from rubricate.trust.fairness import Fairness, compare_groups
from rubricate.trust.gaming import Flag, flag_note, flag_notes
from rubricate.trust.item_bias import ItemBias, differential_items
from rubricate.trust.leniency import measure_leniency
from rubricate.trust.verification import HistoryLine, check_tables, run_history, verify_run

__all__ = [
    "Changes",
    "Cluster",
    "Drift",
    "Fairness",
    "Flag",
    "HistoryLine",
    "ItemBias",
    "check_tables",
    "compare_groups",
    "compare_runs",
    "differential_items",
    "find_duplicates",
    "flag_note",
    "flag_notes",
    "measure_drift",
    "measure_leniency",
    "run_history",
    "run_of_corpus",
    "run_of_scores",
    "verify_run",
]
