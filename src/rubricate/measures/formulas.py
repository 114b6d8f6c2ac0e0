"""From counts to values: every formula takes counts in its last axis and keeps the other axes.

So the same function measures one corpus (``counts[k]``), all features at once
(``counts[n_features, k]``) and thousands of bootstrap resamples (``counts[n_resamples, k]``).

The rule for zero denominators: a value that cannot be computed is nan (null in JSON), never a
silent 0 or 1. Precision is undefined where nothing was predicted, recall where the reference has
nothing, F1 and Jaccard only where both have nothing (if one side has something, they are 0),
kappa where chance agreement is complete, accuracy without rows, specificity without negatives,
the negative predictive value where everything was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64
from rubricate.stats import defined
from rubricate.stats import ratio as ratio
from rubricate.stats.resampling import f1, precision, recall

#: ``statistic(counts[..., k]) -> values[...]``
Statistic = Callable[[npt.ArrayLike], F64]

CONFUSION_COLUMNS = ("tp", "fp", "fn", "tn")
SPAN_COLUMNS = ("reference", "predicted", "reference_hits", "predicted_hits")


def _columns(counts: npt.ArrayLike) -> tuple[F64, F64, F64, F64]:
    values = np.asarray(counts, dtype=np.float64)
    return values[..., 0], values[..., 1], values[..., 2], values[..., 3]


def jaccard(counts: npt.ArrayLike) -> F64:
    """Return TP / (TP + FP + FN), Jaccard's index (1912); equals F1 / (2 - F1)."""
    tp, fp, fn, _ = _columns(counts)
    return ratio(tp, tp + fp + fn)


def accuracy(counts: npt.ArrayLike) -> F64:
    """Return (TP + TN) / n of (tp, fp, fn, tn) counts."""
    tp, fp, fn, tn = _columns(counts)
    return ratio(tp + tn, tp + fp + fn + tn)


def specificity(counts: npt.ArrayLike) -> F64:
    """Return TN / (TN + FP) of (tp, fp, fn, tn) counts."""
    _, fp, _, tn = _columns(counts)
    return ratio(tn, tn + fp)


def kappa(counts: npt.ArrayLike) -> F64:
    """Return Cohen's kappa (1960), (p_o - p_e) / (1 - p_e), of (tp, fp, fn, tn) counts.

    p_o is the share of agreement and p_e the agreement expected from both sides' own shares.
    For two categories it equals 2 (TP TN - FP FN) / ((TP+FP)(FP+TN) + (TP+FN)(FN+TN)), the form
    used here because it does not cancel when p_e is near 1.

    >>> round(float(kappa([20, 5, 10, 15])), 3)
    0.4
    """
    tp, fp, fn, tn = _columns(counts)
    return ratio(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def prevalence(counts: npt.ArrayLike) -> F64:
    """Return (TP + FN) / n of (tp, fp, fn, tn) counts: the share of rows that the reference has."""
    tp, fp, fn, tn = _columns(counts)
    return ratio(tp + fn, tp + fp + fn + tn)


def negative_predictive_value(counts: npt.ArrayLike) -> F64:
    """Return TN / (TN + FN) of (tp, fp, fn, tn) counts: the share of absent findings that hold."""
    _, _, fn, tn = _columns(counts)
    return ratio(tn, tn + fn)


def pabak(counts: npt.ArrayLike) -> F64:
    """Return kappa adjusted for prevalence and bias, 2 p_o - 1 (Byrt, Bishop & Carlin 1993).

    >>> float(pabak([90, 5, 5, 0])), round(float(kappa([90, 5, 5, 0])), 3)
    (0.8, -0.053)
    """
    return 2 * accuracy(counts) - 1


def gwet_ac1(counts: npt.ArrayLike) -> F64:
    """Return Gwet's AC1 (2008), (p_o - p_e) / (1 - p_e) with p_e = 2 q (1 - q).

    q is the mean of both sides' shares of present rows. Where nearly all rows are present, or
    absent, kappa falls although the sides agree as often (the prevalence paradox: Feinstein &
    Cicchetti 1990); AC1 does not. With two categories AC2 is the same.

    >>> round(float(gwet_ac1([90, 5, 5, 0])), 3)
    0.89
    """
    tp, fp, fn, tn = _columns(counts)
    n = tp + fp + fn + tn
    share = ratio(2 * tp + fp + fn, 2 * n)
    chance = 2 * share * (1 - share)
    return ratio(accuracy(counts) - chance, 1 - chance)


def span_precision(counts: npt.ArrayLike) -> F64:
    """Return predicted hits / predicted annotations (columns as in ``SPAN_COLUMNS``)."""
    _, predicted, _, predicted_hits = _columns(counts)
    return ratio(predicted_hits, predicted)


def span_recall(counts: npt.ArrayLike) -> F64:
    """Return reference hits / reference annotations (columns as in ``SPAN_COLUMNS``)."""
    reference, _, reference_hits, _ = _columns(counts)
    return ratio(reference_hits, reference)


def span_f1(counts: npt.ArrayLike) -> F64:
    """Return the harmonic mean of span precision and recall.

    0 where nothing hits, also if one side is empty; nan where both are. With one number of hits
    for both sides it is 2 hits / (reference + predicted).

    >>> span_f1([[2, 3, 2, 2], [2, 0, 0, 0], [0, 0, 0, 0]]).tolist()
    [0.8, 0.0, nan]
    """
    reference, predicted, reference_hits, predicted_hits = _columns(counts)
    value = ratio(
        2 * predicted_hits * reference_hits, predicted_hits * reference + reference_hits * predicted
    )
    nothing_hits = (predicted_hits == 0) & (reference_hits == 0) & (reference + predicted > 0)
    return np.where(nothing_hits, 0.0, value)


@dataclass(frozen=True, slots=True)
class Measure:
    """A family of statistics over one set of count columns.

    ``name``: ``"characters"``, ``"presence"`` or ``"spans.exact"`` and the like.
    ``columns``: what the last axis of the counts holds.
    ``statistics``: in the order in which they are reported.
    ``row_means``: statistics whose mean over rows is reported too, empty against empty counting as
    1.
    ``settings``: what else makes counts comparable (protocol and unit of spans).
    """

    name: str
    columns: tuple[str, ...]
    statistics: Mapping[str, Statistic] = field(repr=False)
    row_means: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def values(self, counts: npt.ArrayLike) -> F64:
        """Return all statistics in a new last axis, so that one bootstrap serves them all.

        >>> CHARACTERS.values([[3, 2, 2, 4], [5, 0, 0, 1]]).round(2).tolist()
        [[0.6, 0.6, 0.6, 0.43, 0.27], [1.0, 1.0, 1.0, 1.0, 1.0]]
        """
        return np.stack([formula(counts) for formula in self.statistics.values()], axis=-1)


_RATES: dict[str, Statistic] = {"precision": precision, "recall": recall, "f1": f1}

CHARACTERS = Measure(
    "characters",
    CONFUSION_COLUMNS,
    {**_RATES, "jaccard": jaccard, "kappa": kappa},
    row_means=("f1", "jaccard"),
)
PRESENCE = Measure(
    "presence",
    CONFUSION_COLUMNS,
    {
        **_RATES,
        "accuracy": accuracy,
        "kappa": kappa,
        "specificity": specificity,
        "npv": negative_predictive_value,
        "pabak": pabak,
        "ac1": gwet_ac1,
    },
)
SPANS = Measure(
    "spans",
    SPAN_COLUMNS,
    {"precision": span_precision, "recall": span_recall, "f1": span_f1},
    row_means=("f1",),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """The counts of one measure and the values that follow from them; undefined ones are nan.

    >>> measured = Measured.of(CHARACTERS, [3, 2, 2, 4])
    >>> measured.f1, measured.counts["fn"]
    (0.6, 2)
    """

    counts: Mapping[str, int]
    values: Mapping[str, float]

    @classmethod
    def of(cls, measure: Measure, counts: npt.ArrayLike) -> Measured:
        """Compute every statistic of the measure from one line of counts."""
        line = np.asarray(counts)
        return cls(
            {name: int(count) for name, count in zip(measure.columns, line, strict=True)},
            dict(zip(measure.statistics, measure.values(line).tolist(), strict=True)),
        )

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right."""
        return self.values["precision"]

    @property
    def recall(self) -> float:
        """The share of the reference that was found."""
        return self.values["recall"]

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self.values["f1"]

    def to_dict(self) -> dict[str, float | int | None]:
        """Return values, then counts, ready for JSON: undefined values are None."""
        values = {name: defined(value) for name, value in self.values.items()}
        return {**values, **self.counts}


def mean_defined(
    values: npt.ArrayLike, axis: int = -1, *, weights: npt.ArrayLike | None = None
) -> F64:
    """Return the mean of what is defined along the axis; nan where nothing is.

    ``weights``, one for each entry along the axis, make it a weighted mean.

    >>> float(mean_defined([1.0, float("nan"), 0.5]))
    0.75
    >>> float(mean_defined([1.0, float("nan"), 0.5], weights=[1, 5, 3]))
    0.625
    """
    array = np.asarray(values, dtype=np.float64)
    known = (~np.isnan(array)).astype(np.float64)
    if weights is not None:
        shape = [1] * array.ndim
        shape[axis] = -1
        known *= np.asarray(weights, dtype=np.float64).reshape(shape)
    total = (np.nan_to_num(array, nan=0.0) * known).sum(axis=axis)
    return ratio(total, known.sum(axis=axis))
