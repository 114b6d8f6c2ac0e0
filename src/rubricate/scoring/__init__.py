"""From evidence to a score somebody can defend: totals, review, corrections, in bulk."""

from rubricate.formats.notes import NoteSource, open_notes
from rubricate.scoring.corrections import Corrections, read_corrections
from rubricate.scoring.job import ScoreSettings
from rubricate.scoring.policy import Policy, is_accepted, read_policy, write_policy
from rubricate.scoring.policy_choice import RouteSettings, choose_policy
from rubricate.scoring.results import UnsureRange, judge_note
from rubricate.scoring.run import FinishedRun, score_notes

__all__ = [
    "Corrections",
    "FinishedRun",
    "NoteSource",
    "Policy",
    "RouteSettings",
    "ScoreSettings",
    "UnsureRange",
    "choose_policy",
    "is_accepted",
    "judge_note",
    "open_notes",
    "read_corrections",
    "read_policy",
    "score_notes",
    "write_policy",
]
