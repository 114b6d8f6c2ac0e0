"""How far scores can be trusted: untouched files, leniency, drift, fairness, copies, gaming."""

from rubricate.trust.changes import Changes, compare_runs, run_of_corpus, run_of_scores
from rubricate.trust.drift import Drift, measure_drift
from rubricate.trust.duplicates import Cluster, find_duplicates
from rubricate.trust.fairness import Fairness, compare_groups
from rubricate.trust.gaming import Flag, flag_note, flag_notes
from rubricate.trust.leniency import ItemBias, differential_items, measure_leniency
from rubricate.trust.verification import AuditLine, audit_run, check_tables, verify_run

__all__ = [
    "AuditLine",
    "Changes",
    "Cluster",
    "Drift",
    "Fairness",
    "Flag",
    "ItemBias",
    "audit_run",
    "check_tables",
    "compare_groups",
    "compare_runs",
    "differential_items",
    "find_duplicates",
    "flag_note",
    "flag_notes",
    "measure_drift",
    "measure_leniency",
    "run_of_corpus",
    "run_of_scores",
    "verify_run",
]
