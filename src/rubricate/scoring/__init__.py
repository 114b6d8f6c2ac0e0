"""From evidence to a score somebody can defend: totals, review, corrections, in bulk."""

from rubricate.scoring.cells import ITEM_COLUMNS, SCORE_COLUMNS, parse_spans, read_rows
from rubricate.scoring.choosing import RouteSettings, choose_policy
from rubricate.scoring.corrections import Correction, Corrections, read_corrections
from rubricate.scoring.evidence import Evidence
from rubricate.scoring.job import ScoreSettings
from rubricate.scoring.judging import NoteResult, judge_note
from rubricate.scoring.notes import NoteSource, open_notes
from rubricate.scoring.routing import Policy, read_policy, write_policy
from rubricate.scoring.run import ScoreRun, score_notes
from rubricate.scoring.totals import Total, total_score

__all__ = [
    "ITEM_COLUMNS",
    "SCORE_COLUMNS",
    "Correction",
    "Corrections",
    "Evidence",
    "NoteResult",
    "NoteSource",
    "Policy",
    "RouteSettings",
    "ScoreRun",
    "ScoreSettings",
    "Total",
    "choose_policy",
    "judge_note",
    "open_notes",
    "parse_spans",
    "read_corrections",
    "read_policy",
    "read_rows",
    "score_notes",
    "total_score",
    "write_policy",
]
