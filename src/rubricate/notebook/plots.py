"""One line per plot: SVG that a notebook shows, and that can be written to a file."""

from __future__ import annotations

from pathlib import Path

from rubricate.agreement import Agreement
from rubricate.errors import InputError
from rubricate.evaluation import SystemsEvaluation
from rubricate.files import whole_output
from rubricate.measures.intervals import EvaluationWithIntervals
from rubricate.notebook.scoring import ScoredNotes
from rubricate.reports.plots import (
    UNDEFINED,
    ForestGroup,
    ForestRow,
    Labels,
    Line,
    Point,
    curve_plot,
    forest_plot,
    histogram,
)
from rubricate.scoring import Policy


class Drawing(str):
    """A plot as the text of an SVG file; a notebook shows it."""

    def _repr_html_(self) -> str:
        return str(self)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the plot to an .svg file and return its path."""
        with whole_output(Path(path), overwrite=overwrite) as place:
            place.write_text(self, encoding="utf-8")
        return Path(path)


def plot(value: ScoredNotes | SystemsEvaluation | Agreement | Policy) -> Drawing:
    """Draw what matters most of a result.

    Scores as a histogram, evaluations and agreement by feature with their intervals, a policy's
    error against the share that people see.

    Examples
    --------
    >>> from rubricate.notebook.scoring import score
    >>> drawn = plot(score(["Pt denies fever."], ["No fever"], matcher="lexicon"))
    >>> drawn.startswith("<svg")
    True
    """
    if isinstance(value, ScoredNotes):
        scores = [100 * r.total.score / r.total.maximum
                  for r in value.results if r.total and r.total.maximum]  # fmt: skip
        return Drawing(histogram(scores, Labels("Scores", x="% of the maximum", y="notes")))
    if isinstance(value, SystemsEvaluation):
        return _by_feature(dict(value.systems), "F1 of presence by feature")
    if isinstance(value, Agreement):
        return _by_feature({"annotators": value.pooled}, "Agreement on presence by feature (F1)")
    if isinstance(value, Policy):
        known = [p for p in value.curve if p.error_rate is not None]
        shares = tuple(p.review_share for p in known)
        lines = [
            Line("error of the rest", shares, tuple(Point(p.error_rate or 0.0) for p in known)),
            Line("upper limit", shares, tuple(Point(p.upper) for p in known)),
        ]
        labels = Labels("Error against review", x="share that people see", y="error of the rest")
        return Drawing(curve_plot(lines, labels))
    raise InputError("plot draws results of score, evaluate, agree and route")


def _by_feature(systems: dict[str, EvaluationWithIntervals], title: str) -> Drawing:
    values = {n: one.by_group("presence", level="features") for n, one in systems.items()}
    features = dict.fromkeys(feature for own in values.values() for feature in own)
    rows = tuple(
        ForestRow(feature, tuple(own.get(feature, UNDEFINED) for own in values.values()))
        for feature in features
    )
    return Drawing(forest_plot([ForestGroup("", rows)], list(values), Labels(title)))
