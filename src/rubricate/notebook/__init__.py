"""The commands as functions of data frames: what `import rubricate as r` offers in a notebook."""

from __future__ import annotations

from rubricate.notebook.inputs import Notes, Rubrics, as_corpus, as_rubric_file, odd_features
from rubricate.notebook.measuring import Drawing, agree, evaluate, plan, plot, route
from rubricate.notebook.scoring import NoteView, ScoredNotes, fit, match, score, show_note

__all__ = [
    "Drawing",
    "NoteView",
    "Notes",
    "Rubrics",
    "ScoredNotes",
    "agree",
    "as_corpus",
    "as_rubric_file",
    "evaluate",
    "fit",
    "match",
    "odd_features",
    "plan",
    "plot",
    "route",
    "score",
    "show_note",
]
