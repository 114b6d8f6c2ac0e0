"""Scores of two sides, note by note: their differences drawn, and how far they may lie apart."""

from __future__ import annotations

import numpy as np

from rubricate.corpus import Corpus
from rubricate.measures import Evaluation
from rubricate.reports.page import figure, paragraph
from rubricate.reports.plots import Labels, difference_plot
from rubricate.stats import limits_of_agreement
from rubricate.stats.limits import F64


def presence_scores(found: Evaluation, corpus: Corpus) -> tuple[F64, F64]:
    """Return each note's score on both sides: the weights of the features that are present.

    Only features that both sides judged count.
    """
    keys, cells = found.presence.keys, found.presence.values
    weight = np.array([corpus.feature(feature).weight for feature in keys.features])[keys.feature]
    notes, note = np.unique(keys.note, return_inverse=True)
    first, second = (
        np.bincount(note, weight * cells[:, columns].sum(axis=1), len(notes)).astype(np.float64)
        for columns in ([0, 2], [0, 1])
    )
    return first, second


def difference_figure(first: F64, second: F64, names: tuple[str, str], confidence: float) -> str:
    """Draw the differences of two sides' scores; "" where fewer than two notes have them."""
    if len(first) < 2:
        return ""
    if (first == second).all():
        same = f"{names[0]} and {names[1]} give each of {len(first):,} notes the same score."
        return paragraph(same)
    found = limits_of_agreement(first, second, confidence=confidence)
    one, two = names
    lines = [("bias", found.bias), ("lower", found.low), ("upper", found.high)]
    said = (
        f"{two} gives {found.bias.value:+.2f} points on average compared with {one}; 95 % of the "
        f"differences lie between {found.low.value:+.2f} and {found.high.value:+.2f}"
    )
    labels = Labels(f"Scores: {two} minus {one}", "mean of both scores", "difference", f"{said}.")
    caption = (
        f"{said} ({len(first):,} notes; Bland & Altman 1986). Bands are {100 * confidence:g} % "
        "intervals; larger dots are several notes. A score is the sum of the weights of the "
        "features that are present, of those both sides judged."
    )
    drawing = difference_plot(first.tolist(), second.tolist(), lines, labels)
    return paragraph("Scores, note by note", class_="subhead") + figure(drawing, caption)
