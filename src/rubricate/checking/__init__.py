"""Finding faults in annotations, by named rule, and repairing what can be repaired safely."""

from __future__ import annotations

from rubricate.checking.findings import CheckResult, Finding, write_changes
from rubricate.checking.fix import RULES, check_corpus, choose_rules, fix_corpus

__all__ = [
    "RULES",
    "CheckResult",
    "Finding",
    "check_corpus",
    "choose_rules",
    "fix_corpus",
    "write_changes",
]
