"""From evidence to a score somebody can defend: totals, review, corrections, in bulk."""

from rubricate.formats.notes import open_notes
from rubricate.scoring.job import ScoreSettings
from rubricate.scoring.policy import Policy, write_policy
from rubricate.scoring.policy_choice import RouteSettings, choose_policy
from rubricate.scoring.results import UnsureRange, judge_note
from rubricate.scoring.run import FinishedRun, score_notes

__all__ = [
    "FinishedRun",
    "Policy",
    "RouteSettings",
    "ScoreSettings",
    "UnsureRange",
    "choose_policy",
    "judge_note",
    "open_notes",
    "score_notes",
    "write_policy",
]
