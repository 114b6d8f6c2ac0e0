"""The study: five phases from a question to a figure that can be trusted.

A study is a folder with ``study.toml`` and one sub-folder per phase. Every step reads files, writes
files whole or not at all, and records what it did (inputs by hash, seed, version), so that it can
be run again without harm.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Imported on first use: a sample size needs no reports.
_PLACES = {
    "Study": "rubricate.study.record",
    "assign_study": "rubricate.study.assignment",
    "audit_table": "rubricate.study.audit",
    "collect_study": "rubricate.study.collection",
    "curate_study": "rubricate.study.decisions",
    "define_population": "rubricate.study.population",
    "evaluate_study": "rubricate.study.evaluation",
    "new_study": "rubricate.study.status",
    "plan_study": "rubricate.study.sampling",
    "report_study": "rubricate.study.report",
    "sample_study": "rubricate.study.sampling",
    "study_status": "rubricate.study.status",
}

__all__ = [
    "Study",
    "assign_study",
    "audit_table",
    "collect_study",
    "curate_study",
    "define_population",
    "evaluate_study",
    "new_study",
    "plan_study",
    "report_study",
    "sample_study",
    "study_status",
]

if TYPE_CHECKING:
    from rubricate.study.assignment import assign_study
    from rubricate.study.audit import audit_table
    from rubricate.study.collection import collect_study
    from rubricate.study.decisions import curate_study
    from rubricate.study.evaluation import evaluate_study
    from rubricate.study.population import define_population
    from rubricate.study.record import Study
    from rubricate.study.report import report_study
    from rubricate.study.sampling import plan_study, sample_study
    from rubricate.study.status import new_study, study_status


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'rubricate.study' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)
