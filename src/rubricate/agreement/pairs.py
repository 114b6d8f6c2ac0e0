"""All pairs of annotators side by side, their span agreement note by note, and span lengths."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.corpus import Corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.measures import CountTable, Matching, span_counts, words
from rubricate.measures.pairing import Coverage, Pairing, row_keys
from rubricate.stats import (
    Estimate,
    Resampling,
    Support,
    bootstrap_interval,
    defined,
    limit_by_items,
    ratio,
)


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Rows of ordered pairs of annotators."""

    pairing: Pairing
    reference_annotator: I64
    predicted_annotator: I64

    def __len__(self) -> int:
        return len(self.pairing)


def pair_annotators(
    corpus: Corpus,
    *,
    reference: Collection[str] | None = None,
    predicted: Collection[str] | None = None,
    ordered: bool = True,
) -> AnnotatorPairs:
    """Put every two rows of a note and feature side by side that two annotators judged.

    ``reference``, ``predicted``: who stands on which side; everybody unless given. Nobody is paired
    with themselves.
    ``ordered``: both directions of a pair (True), or only that in which the earlier annotator of
    the corpus is the reference.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> len(pair_annotators(corpus, ordered=False))
    320
    """
    side_one = _chosen(corpus, reference)
    side_two = _chosen(corpus, predicted)
    rows = corpus.rows
    unit = rows.note.astype(np.int64) * len(corpus.features) + rows.feature
    left = np.flatnonzero(side_one[rows.annotator])
    right = np.flatnonzero(side_two[rows.annotator])
    right = right[np.argsort(unit[right], kind="stable")]
    first = np.searchsorted(unit[right], unit[left], side="left")
    count = np.searchsorted(unit[right], unit[left], side="right") - first
    one = np.repeat(left, count)
    ends = np.cumsum(count)
    step = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - count, count)
    two = right[np.repeat(first, count) + step]
    who_one, who_two = rows.annotator[one], rows.annotator[two]
    keep = who_one != who_two if ordered else who_one < who_two
    if not keep.any():
        raise InputError(
            "no two annotators judged the same feature of the same note, so there is nothing to "
            "compare. Annotators: " + (", ".join(a.id for a in corpus.annotators) or "none")
        )
    one, two = one[keep], two[keep]
    keys = row_keys(corpus, one)
    pairing = Pairing(
        corpus, corpus, "each", "each other", keys, one, two,
        Coverage(n_notes=len(np.unique(keys.note)), n_rows=len(one)),
    )  # fmt: skip
    return AnnotatorPairs(
        pairing, rows.annotator[one].astype(np.int64), rows.annotator[two].astype(np.int64)
    )


def _chosen(
    corpus: Corpus, ids: Collection[str] | None
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    known = [a.id for a in corpus.annotators]
    for name in ids or ():
        if name not in corpus.annotator_index:
            raise UnknownNameError("annotator", name, known)
    return np.array([ids is None or i in ids for i in known], dtype=bool)


#: What an annotator without a span in a row does to the row's value.
Empty = Literal["zero", "agree", "skip"]
STATISTICS = ("precision", "recall", "f1")


@dataclass(frozen=True, eq=False)
class NoteMeans:
    """Mean and sample standard deviation over notes of one kind of span agreement.

    ``f1``: the mean F1 with its bootstrap interval, by note.
    ``n_notes``, ``n_pairs``: notes, and ordered pairs of annotators in them.
    """

    mean: dict[str, float]
    sd: dict[str, float]
    f1: Estimate
    n_notes: int
    n_pairs: int

    def to_dict(self) -> dict[str, object]:
        """Return everything, ready for JSON."""
        return {
            **{name: defined(value) for name, value in self.mean.items()},
            "sd": {name: defined(value) for name, value in self.sd.items()},
            "interval": self.f1.to_dict(),
            "n_notes": self.n_notes,
            "n_pairs": self.n_pairs,
        }


class MeanSd(TypedDict):
    """Mean and sample SD; None where undefined."""

    mean: float | None
    sd: float | None


class SpanLengths(TypedDict):
    """Lengths of some spans."""

    n_spans: int
    tokens: MeanSd
    characters: MeanSd


def note_means(
    pairs: AnnotatorPairs,
    matching: Matching,
    *,
    empty: Empty = "zero",
    settings: Resampling | None = None,
    clusters: Mapping[str, str] | None = None,
) -> dict[str, dict[str, NoteMeans]]:
    """Average span precision, recall and F1 over ordered pairs in a note, then over notes.

    This is the PICO paper's way (Lee and Sun 2019, section 3), which makes a long note count as
    much as a short one.
    """
    tables = span_counts(pairs.pairing, matching)
    found: dict[str, dict[str, NoteMeans]] = {}
    ids = [note.id for note in pairs.pairing.reference.notes]
    of = None if clusters is None else np.array([clusters[i] for i in ids])
    for kind, table in tables.items():
        values, keep = _row_values(table, empty)
        note, feature = table.keys.note[keep], table.keys.feature[keep]
        for place in [-1, *np.unique(feature).tolist()]:
            own = np.ones(len(note), dtype=bool) if place < 0 else feature == place
            name = "" if place < 0 else table.keys.features[place]
            means = _over_notes(values[keep][own], note[own], settings or Resampling(), of)
            found.setdefault(name, {})[kind] = means
    return found


def _row_values(table: CountTable, empty: Empty) -> tuple[F64, Bools]:
    """Return precision, recall and F1 of each row, and which rows count."""
    values = np.nan_to_num(table.measure.values(table.values), nan=0.0)
    nothing = (table.column("reference") == 0, table.column("predicted") == 0)
    keep = np.ones(len(table), dtype=bool)
    if empty == "agree":
        values[nothing[0] & nothing[1]] = 1.0
    elif empty == "skip":
        keep = ~(nothing[0] | nothing[1])
    return values, keep


def _over_notes(
    values: F64, note: I64, settings: Resampling, of: npt.NDArray[np.str_] | None
) -> NoteMeans:
    notes, place = np.unique(note, return_inverse=True)
    n_pairs = np.bincount(place, minlength=len(notes)).astype(np.float64)
    by_note = np.stack(
        [np.bincount(place, weights=column, minlength=len(notes)) / n_pairs for column in values.T],
        axis=-1,
    )
    mean = by_note.mean(axis=0) if len(notes) else np.full(3, np.nan)
    sd = by_note.std(axis=0, ddof=1) if len(notes) > 1 else np.full(3, np.nan)
    f1 = Estimate(float(mean[2]))
    if len(notes) > 1:
        # A mean over notes is a ratio of sums over notes: (value, 1) add like any counts.
        counts = np.stack([by_note[:, 2], np.ones(len(notes))], axis=-1)
        drawn = limit_by_items(
            bootstrap_interval(
                counts,
                lambda sums: ratio(sums[..., 0], sums[..., 1]),
                settings,
                clusters=None if of is None else of[notes],
            ),
            Support(len(notes), (by_note[:, 2] < 1).sum(), (by_note[:, 2] > 0).sum()),
        )
        f1 = replace(drawn.at(), value=f1.value)
    return NoteMeans(
        dict(zip(STATISTICS, mean.tolist(), strict=True)),
        dict(zip(STATISTICS, sd.tolist(), strict=True)),
        f1,
        len(notes),
        len(values),
    )


def span_lengths(
    corpus: Corpus, tokens: Mapping[str, npt.ArrayLike] | None = None
) -> dict[str, dict[str, SpanLengths]]:
    """Return tokens and characters per span: mean and sample SD, by group and feature.

    As the PICO paper's Table 4, which compares experts with crowd workers. Each fragment counts as
    a span. Annotators without a group form the group ``""``. ``tokens`` are the corpus's own, by
    note id (`rubricate.formats.stored_tokens`); notes that have none are cut into words.

    >>> from rubricate import load_corpus
    >>> found = span_lengths(load_corpus("open-notes").select(cases=["0"]))
    >>> sorted(found), found["rater"]["1"]["n_spans"]
    (['rater', 'writer'], 18)
    """
    rows = corpus.rows
    row = rows.span_row
    lengths = _tokens_in_spans(corpus, tokens or {})
    characters = rows.end - rows.start
    groups = sorted({a.group for a in corpus.annotators})
    group_of = np.array([groups.index(a.group) for a in corpus.annotators], dtype=np.int64)
    group, feature = group_of[rows.annotator[row]], rows.feature[row]
    result: dict[str, dict[str, SpanLengths]] = {}
    for g, name in enumerate(groups):
        for f in np.unique(feature[group == g]).tolist():
            own = (group == g) & (feature == f)
            result.setdefault(name, {})[corpus.features[f].id] = {
                "n_spans": int(own.sum()),
                "tokens": _mean_sd(lengths[own]),
                "characters": _mean_sd(characters[own]),
            }
    return result


def _tokens_in_spans(corpus: Corpus, tokens: Mapping[str, npt.ArrayLike]) -> I64:
    """Count the tokens each span shares a character with."""
    rows = corpus.rows
    note = rows.note[rows.span_row]
    counts = np.zeros(len(note), dtype=np.int64)
    for i in np.unique(note).tolist():
        own = np.flatnonzero(note == i)
        known = corpus.notes[i]
        given = tokens[known.id] if known.id in tokens else words(known.text)
        pieces = np.asarray(given, dtype=np.int64).reshape(-1, 2)
        first = np.searchsorted(pieces[:, 1], rows.start[own], side="right")
        last = np.searchsorted(pieces[:, 0], rows.end[own], side="left")
        counts[own] = np.maximum(last - first, 0)
    return counts


def _mean_sd(values: I64) -> MeanSd:
    sd = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return {"mean": defined(float(values.mean())), "sd": defined(sd)}
