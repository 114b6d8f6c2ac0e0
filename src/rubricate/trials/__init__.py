"""Matchers side by side: folds by note, unseen cases, learning curves, all on the same splits."""

from rubricate.trials.run import Trial, TrialResult, run_trials
from rubricate.trials.splits import Split, case_splits, fold_splits, learning_splits

__all__ = [
    "Split",
    "Trial",
    "TrialResult",
    "case_splits",
    "fold_splits",
    "learning_splits",
    "run_trials",
]
