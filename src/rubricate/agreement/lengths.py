"""How long annotators' spans are, by feature and group."""

from __future__ import annotations

from typing import Any

import numpy as np

from rubricate.corpus import Corpus
from rubricate.measures.formulas import defined
from rubricate.measures.tokens import words


def span_lengths(corpus: Corpus) -> dict[str, dict[str, dict[str, Any]]]:
    """Return tokens and characters a span: mean and sample SD, by group and feature.

    As the PICO paper's Table 4, which compares experts with crowd workers. Each fragment counts as
    a span. Annotators without a group form the group ``""``.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> found = span_lengths(load_corpus("open-notes").select(cases=["0"]))
    >>> sorted(found), found["rater"]["1"]["n_spans"]
    (['rater', 'writer'], 18)
    """
    rows = corpus.rows
    row = rows.span_row
    tokens = _tokens_in_spans(corpus)
    characters = rows.end - rows.start
    groups = sorted({a.group for a in corpus.annotators})
    group_of = np.array([groups.index(a.group) for a in corpus.annotators], dtype=np.int64)
    group, feature = group_of[rows.annotator[row]], rows.feature[row]
    result: dict[str, dict[str, dict[str, Any]]] = {}
    for g, name in enumerate(groups):
        for f in np.unique(feature[group == g]).tolist():
            own = (group == g) & (feature == f)
            result.setdefault(name, {})[corpus.features[f].id] = {
                "n_spans": int(own.sum()),
                "tokens": _mean_sd(tokens[own]),
                "characters": _mean_sd(characters[own]),
            }
    return result


def _tokens_in_spans(corpus: Corpus) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Count the words each span shares a character with."""
    rows = corpus.rows
    note = rows.note[rows.span_row]
    counts = np.zeros(len(note), dtype=np.int64)
    for i in np.unique(note).tolist():
        own = np.flatnonzero(note == i)
        pieces = np.array(words(corpus.notes[i].text), dtype=np.int64).reshape(-1, 2)
        first = np.searchsorted(pieces[:, 1], rows.start[own], side="right")
        last = np.searchsorted(pieces[:, 0], rows.end[own], side="left")
        counts[own] = np.maximum(last - first, 0)
    return counts


def _mean_sd(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[str, float | None]:
    sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return {"mean": defined(float(values.mean())), "sd": defined(sd)}
