"""Score patient notes against a rubric, with evidence, and measure how far to trust it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

#: Public names by module, imported on first use so that the command starts fast.
_NAMES = {
    "rubricate.builder": ("CorpusBuilder",),
    "rubricate.corpus": ("Annotation", "Annotator", "Corpus", "Note", "Score"),
    "rubricate.errors": ("RubricateError",),
    "rubricate.formats": ("load_corpus", "read_corpus", "write_corpus"),
    "rubricate.formats.rubric": ("read_rubrics", "with_rubrics", "write_rubrics"),
    "rubricate.matchers": ("fit_matcher", "load_matcher"),
    "rubricate.notebook": (
        "agree", "evaluate", "fit", "match", "odd_features", "plan", "plot", "route", "score",
        "show_note",
    ),
    "rubricate.rubric": ("Feature", "Metadata", "Rubric"),
    "rubricate.spans": ("Span",),
}  # fmt: skip
_PLACES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Annotation",
    "Annotator",
    "Corpus",
    "CorpusBuilder",
    "Feature",
    "Metadata",
    "Note",
    "Rubric",
    "RubricateError",
    "Score",
    "Span",
    "__version__",
    "agree",
    "evaluate",
    "fit",
    "fit_matcher",
    "load_corpus",
    "load_matcher",
    "match",
    "odd_features",
    "plan",
    "plot",
    "read_corpus",
    "read_rubrics",
    "route",
    "score",
    "show_note",
    "with_rubrics",
    "write_corpus",
    "write_rubrics",
]

if TYPE_CHECKING:
    from rubricate.builder import CorpusBuilder
    from rubricate.corpus import Annotation, Annotator, Corpus, Note, Score
    from rubricate.errors import RubricateError
    from rubricate.formats import load_corpus, read_corpus, write_corpus
    from rubricate.formats.rubric import read_rubrics, with_rubrics, write_rubrics
    from rubricate.matchers import fit_matcher, load_matcher
    from rubricate.notebook import (
        agree,
        evaluate,
        fit,
        match,
        odd_features,
        plan,
        plot,
        route,
        score,
        show_note,
    )
    from rubricate.rubric import Feature, Metadata, Rubric
    from rubricate.spans import Span


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'rubricate' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
