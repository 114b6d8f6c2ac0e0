"""Whether the notes, or what is found in them, drifted between two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rubricate.errors import Fault, InputError
from rubricate.stats import adjust_p_values
from rubricate.trust.distributions import ks_distance, ks_p_value, superiority
from rubricate.trust.rates import FeatureDrift, feature_rates
from rubricate.trust.runs import F64, Run
from rubricate.trust.vocabulary import unknown_shares, word_counts

Design = Literal["same notes", "different notes"]


@dataclass(frozen=True, slots=True)
class DriftSettings:
    """What counts as drift: both a small enough p value and a large enough effect.

    Parameters
    ----------
    alpha : float
        Largest adjusted p value of a flag.
    min_rate : float
        Least difference between a feature's rates that is flagged.
    min_distance : float
        Least Kolmogorov-Smirnov distance that is flagged.
    permutations : int
        Random relabellings of the permutation tests.
    confidence : float
        Confidence of the intervals.
    seed : int
        Seed of the relabellings.

    Raises
    ------
    InputError
        If a value is not allowed.

    Examples
    --------
    >>> DriftSettings().min_rate
    0.1
    """

    alpha: float = 0.05
    min_rate: float = 0.1
    min_distance: float = 0.1
    permutations: int = 1000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        faults = [
            Fault(f"{name} must lie between 0 and 1, not {value}")
            for name in ("alpha", "min_rate", "min_distance", "confidence")
            if not 0 < (value := getattr(self, name)) < 1
        ]
        if self.permutations < 1 or self.seed < 0:
            faults.append(Fault("permutations must be 1 or more, and seed 0 or more"))
        if faults:
            raise InputError(faults)


@dataclass(frozen=True, slots=True)
class MeasureDrift:
    """How a measure of whole notes moved.

    Parameters
    ----------
    measure : str
        Which.
    n_before, n_after : int
        Notes that have it.
    before, after : float
        Medians.
    distance : float
        Kolmogorov-Smirnov distance between the two distributions, 0 to 1.
    superiority : float
        Chance that a later note has more than an earlier one (ties half).
    p_value, adjusted : float
        Of the permutation test, and after Holm's correction.
    flag : bool
        Whether it drifted.
    """

    measure: str
    n_before: int
    n_after: int
    before: float
    after: float
    distance: float
    superiority: float
    p_value: float
    adjusted: float
    flag: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """All comparisons of two runs; ``drifted`` if any of them is flagged."""

    design: Design
    n_before: int
    n_after: int
    features: tuple[FeatureDrift, ...]
    measures: tuple[MeasureDrift, ...]
    settings: DriftSettings = field(default_factory=DriftSettings)

    @property
    def drifted(self) -> bool:
        """Whether anything is flagged."""
        return any(f.flag for f in self.features) or any(m.flag for m in self.measures)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "drifted": self.drifted,
            "design": self.design,
            "notes_before": self.n_before,
            "notes_after": self.n_after,
            "settings": asdict(self.settings),
            "measures": [asdict(one) for one in self.measures],
            "features": [asdict(one) for one in self.features],
        }


def measure_drift(
    before: Run,
    after: Run,
    *,
    texts: tuple[Mapping[str, str], Mapping[str, str]] | None = None,
    settings: DriftSettings | None = None,
) -> Drift:
    """Compare an earlier and a later run: feature rates, scores, confidence, and the notes.

    Each feature's rate is tested by Fisher's exact test (1922), or McNemar's exact test (1947)
    when both runs hold the same notes, with Benjamini & Hochberg's (1995) correction. Measures
    of notes are tested by the Kolmogorov-Smirnov distance under random relabelling of whole
    notes (swaps within a note when they are the same), p = (1 + b) / (1 + m) (Phipson & Smyth
    2010), with Holm's (1979) correction. A flag needs a small p value and an effect of at least
    the size in ``settings``: with enough notes everything is significant.

    Parameters
    ----------
    before, after : Run
        The two runs.
    texts : pair of mappings, optional
        Text by note id of both runs, for lengths and unknown words.
    settings : DriftSettings, optional
        What is flagged.

    Raises
    ------
    InputError
        If a run has no note.

    Examples
    --------
    >>> cases, most = ("0",) * 40, np.full(40, 10.0)
    >>> before = Run(tuple(f"a{i}" for i in range(40)), cases, np.full(40, 5.0), most)
    >>> after = Run(tuple(f"b{i}" for i in range(40)), cases, np.full(40, 9.0), most)
    >>> drift = measure_drift(before, after)
    >>> [(m.measure, m.distance, m.flag) for m in drift.measures]
    [('score', 1.0, True)]
    """
    settings = settings or DriftSettings()
    if not len(before) or not len(after):
        raise InputError("a run without notes cannot be compared")
    same = sorted(before.notes) == sorted(after.notes)
    if same:
        after = _reordered(after, before)
    pairs = _note_measures(before, after, texts)
    measures = [_compare(name, *pair, same, settings) for name, pair in pairs.items()]
    adjusted = adjust_p_values([one.p_value for one in measures])
    return Drift(
        design="same notes" if same else "different notes",
        n_before=len(before),
        n_after=len(after),
        features=feature_rates(before, after, same, settings.alpha, settings.min_rate,
                               settings.confidence),
        measures=tuple(_judged(one, float(p), settings)
                       for one, p in zip(measures, adjusted, strict=True)),
        settings=settings,
    )  # fmt: skip


def _reordered(run: Run, like: Run) -> Run:
    """Return the run with its notes in the order of another."""
    places: dict[str, list[int]] = {}
    for i, note in enumerate(run.notes):
        places.setdefault(note, []).append(i)
    # Notes with one id keep their order.
    order = np.array([places[note].pop(0) for note in like.notes], dtype=np.int64)
    place = np.argsort(order)
    items = run.items
    moved = type(items)(
        place[items.note], items.feature, items.features, items.found, items.confidence,
        items.needs_review,
    )  # fmt: skip
    return Run(
        like.notes, tuple(run.cases[i] for i in order), run.score[order], run.maximum[order], moved
    )


def _note_measures(
    before: Run, after: Run, texts: tuple[Mapping[str, str], Mapping[str, str]] | None
) -> dict[str, tuple[F64, F64]]:
    found: dict[str, tuple[F64, F64]] = {}
    if texts is not None:
        known = [{note: text.get(note, "") for note in run.notes}
                 for run, text in zip((before, after), texts, strict=True)]  # fmt: skip
        found["length in words"] = word_counts(known[0]), word_counts(known[1])
        found["unknown words"] = unknown_shares(known[0], known[1])
    found["score"] = before.percentage, after.percentage
    both = [before.items, after.items]
    if all(len(items) for items in both):
        found["confidence"] = (
            before.mean_by_note(both[0].confidence), after.mean_by_note(both[1].confidence)
        )  # fmt: skip
        found["sent to review"] = (
            before.mean_by_note(both[0].needs_review), after.mean_by_note(both[1].needs_review)
        )  # fmt: skip
    return {
        name: pair for name, pair in found.items() if all((~np.isnan(side)).any() for side in pair)
    }


def _compare(
    name: str, before: F64, after: F64, same: bool, settings: DriftSettings
) -> MeasureDrift:
    if same:
        known = ~np.isnan(before) & ~np.isnan(after)
        before, after = before[known], after[known]
    else:
        before, after = before[~np.isnan(before)], after[~np.isnan(after)]
    if not len(before):
        nothing = float("nan")
        return MeasureDrift(
            name, 0, 0, nothing, nothing, nothing, nothing, nothing, nothing, flag=False
        )
    p_value = ks_p_value(
        before, after, paired=same, permutations=settings.permutations, seed=settings.seed
    )
    return MeasureDrift(
        name, len(before), len(after), float(np.median(before)), float(np.median(after)),
        ks_distance(before, after), superiority(before, after), p_value, float("nan"), flag=False,
    )  # fmt: skip


def _judged(one: MeasureDrift, adjusted: float, settings: DriftSettings) -> MeasureDrift:
    flag = adjusted <= settings.alpha and one.distance >= settings.min_distance
    return replace(one, adjusted=adjusted, flag=bool(flag))
