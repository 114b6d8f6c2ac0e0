"""Finding faults in annotations, by named rule, and repairing what can be repaired safely."""

from __future__ import annotations

from rubricate.checking.changes import write_changes
from rubricate.checking.check import check_corpus
from rubricate.checking.findings import Change, CheckResult, Finding, Repair
from rubricate.checking.fix import fix_corpus
from rubricate.checking.judged import Rule
from rubricate.checking.rules import RULES, choose_rules

__all__ = [
    "RULES",
    "Change",
    "CheckResult",
    "Finding",
    "Repair",
    "Rule",
    "check_corpus",
    "choose_rules",
    "fix_corpus",
    "write_changes",
]
