"""Find drift in notes and decisions between two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.errors import ArgumentError, Fault, InputError
from rubricate.progress import Progress, silent, watched
from rubricate.reading.tokens import find_words
from rubricate.run.reading import ScoredRun
from rubricate.stats import adjust_p_values
from rubricate.trust.changes import FeatureDrift, feature_rates

Design = Literal["same notes", "different notes"]
#: Values relabelled at a time.
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class DriftSettings:
    """Limits for drift: a small p value and a large effect are both needed.

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
        ArgumentError.raise_any(faults)


@dataclass(frozen=True, slots=True)
class MeasureDrift:
    """Change of a measure of whole notes."""

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
    #: For each case, its notes before and after.
    case_mix: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def drifted(self) -> bool:
        """True if anything is flagged."""
        return any(f.flag for f in self.features) or any(m.flag for m in self.measures)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "drifted": self.drifted,
            "design": self.design,
            "notes_before": self.n_before,
            "notes_after": self.n_after,
            "settings": asdict(self.settings),
            "case_mix": {
                case: {"before": before, "after": after}
                for case, (before, after) in self.case_mix.items()
            },
            "measures": [asdict(one) for one in self.measures],
            "features": [asdict(one) for one in self.features],
        }


def measure_drift(
    before: ScoredRun,
    after: ScoredRun,
    *,
    texts: tuple[Mapping[str, str], Mapping[str, str]] | None = None,
    settings: DriftSettings | None = None,
    progress: Progress = silent,
) -> Drift:
    """Compare an earlier and a later run: feature rates, scores, confidence, and the notes.

    Each feature's rate is tested by Fisher's exact test (1922), or McNemar's exact test (1947)
    when both runs hold the same notes, with Benjamini & Hochberg's (1995) correction. Measures
    of notes are tested by the Kolmogorov-Smirnov distance under random relabelling of whole
    notes (swaps within a note when they are the same), p = (1 + b) / (1 + m) (Phipson & Smyth
    2010), with Holm's (1979) correction. A flag needs a small p value and an effect of at least
    the size in ``settings``: with enough notes everything is significant.

    Another mix of cases is no drift. Notes of different runs are compared and relabelled within
    their case, and the cases put together in the mix of both runs; a case that one run alone holds
    is left out. (Features belong to a case anyway.)

    >>> cases, most = ("0",) * 40, np.full(40, 10.0)
    >>> before = ScoredRun(tuple(f"a{i}" for i in range(40)), cases, np.full(40, 5.0), most)
    >>> after = ScoredRun(tuple(f"b{i}" for i in range(40)), cases, np.full(40, 9.0), most)
    >>> drift = measure_drift(before, after)
    >>> [(m.measure, m.distance, m.flag) for m in drift.measures]
    [('score', 1.0, True)]
    """
    settings = settings or DriftSettings()
    if not len(before) or not len(after):
        raise InputError("a run without notes cannot be compared")
    same = sorted(before.notes) == sorted(after.notes)
    if same:
        after = after.with_notes_like(before)
    pairs = _note_measures(before, after, texts)
    cases = None if same else _shared_cases(before, after)
    measures = [
        _compare(name, *pair, cases, settings)
        for name, pair in watched(pairs.items(), progress, "looking for drift", len(pairs))
    ]
    adjusted = adjust_p_values([one.p_value for one in measures])
    return Drift(
        design="same notes" if same else "different notes",
        n_before=len(before),
        n_after=len(after),
        features=feature_rates(before, after, same, settings.alpha, settings.min_rate,
                               settings.confidence),
        measures=tuple(
            replace(one, adjusted=float(p), flag=bool(
                p <= settings.alpha and one.distance >= settings.min_distance))
            for one, p in zip(measures, adjusted, strict=True)
        ),
        settings=settings,
        case_mix={
            case: (before.cases.count(case), after.cases.count(case))
            for case in sorted({*before.cases, *after.cases})
        },
    )  # fmt: skip


def _shared_cases(before: ScoredRun, after: ScoredRun) -> tuple[I64, I64]:
    """Return the number of each note's case; -1 for one that the other run does not hold."""
    shared = sorted(set(before.cases) & set(after.cases))
    number = {case: i for i, case in enumerate(shared)}
    one, two = (np.array([number.get(c, -1) for c in run.cases]) for run in (before, after))
    return one, two


def _note_measures(
    before: ScoredRun, after: ScoredRun, texts: tuple[Mapping[str, str], Mapping[str, str]] | None
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
            before.mean_by_note(both[0].certainty), after.mean_by_note(both[1].certainty)
        )  # fmt: skip
        found["sent to review"] = (
            before.mean_by_note(both[0].needs_review), after.mean_by_note(both[1].needs_review)
        )  # fmt: skip
    return {
        name: pair for name, pair in found.items() if all((~np.isnan(side)).any() for side in pair)
    }


def _compare(
    name: str, before: F64, after: F64, cases: tuple[I64, I64] | None, settings: DriftSettings
) -> MeasureDrift:
    if cases is None:
        known = ~np.isnan(before) & ~np.isnan(after)
        before, after = before[known], after[known]
    else:
        kept = [~np.isnan(v) & (c >= 0) for v, c in zip((before, after), cases, strict=True)]
        # a case whose values are known on one side alone cannot be compared
        both = np.intersect1d(cases[0][kept[0]], cases[1][kept[1]])
        kept = [k & np.isin(c, both) for k, c in zip(kept, cases, strict=True)]
        before, after = before[kept[0]], after[kept[1]]
        cases = cases[0][kept[0]], cases[1][kept[1]]
    if not len(before):
        nothing = float("nan")
        return MeasureDrift(
            name, 0, 0, nothing, nothing, nothing, nothing, nothing, nothing, flag=False
        )
    medians = len(before), len(after), float(np.median(before)), float(np.median(after))
    permutations, seed = settings.permutations, settings.seed
    if cases is not None and len(np.unique(cases[0])) > 1:
        distance, p_value = ks_within_cases(
            before, after, cases, permutations=permutations, seed=seed
        )
        by_case = [
            (float((cases[0] == c).sum() + (cases[1] == c).sum()),
             superiority(before[cases[0] == c], after[cases[1] == c]))
            for c in np.unique(cases[0])
        ]  # fmt: skip
        weights, shares = np.array(by_case).T
        above = float(weights @ shares / weights.sum())
    else:
        distance, above = ks_distance(before, after), superiority(before, after)
        p_value = ks_p_value(
            before, after, paired=cases is None, permutations=permutations, seed=seed
        )
    return MeasureDrift(name, *medians, distance, above, p_value, float("nan"), flag=False)


def ks_within_cases(
    before: F64, after: F64, cases: tuple[I64, I64], *, permutations: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance in the same mix of cases, and its p value.

    D = max |sum of w (F(x) - G(x))| over x, with F and G the shares below x of a case before and
    after, and w its share of all notes (direct standardisation). Labels are moved within cases; p
    as for `ks_p_value`.

    >>> before, after = np.array([1.0, 1.0, 1.0, 5.0]), np.array([1.0, 5.0, 5.0, 5.0])
    >>> cases = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    >>> ks_distance(before, after), ks_within_cases(before, after, cases, permutations=9)
    (0.5, (0.0, 1.0))
    """
    values, case = np.concatenate([before, after]), np.concatenate(cases)
    first = np.repeat([True, False], [len(before), len(after)])
    order = np.argsort(case, kind="stable")
    values, case, first = values[order], case[order], first[order]
    sizes = np.bincount(case)
    share = sizes / len(case)
    ones, twos = np.bincount(case[first]), np.bincount(case[~first])
    up, down = (share / np.maximum(n, 1) for n in (ones, twos))
    by_value = np.argsort(values, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(values[by_value]) > 0), len(values) - 1)

    def distances(labels: Bools) -> F64:
        steps = np.where(labels, up[case], -down[case])[:, by_value]
        return np.asarray(np.abs(np.cumsum(steps, axis=1)[:, ends]).max(axis=1))

    observed = float(distances(first[None])[0])
    blocks = np.split(first, np.cumsum(sizes[sizes > 0])[:-1])
    rng = np.random.default_rng(seed)
    as_large, step = 0, max(1, _CHUNK // len(case))
    for start in range(0, permutations, step):
        draws = min(step, permutations - start)
        labels = np.concatenate(
            [rng.permuted(np.tile(block, (draws, 1)), axis=1) for block in blocks], axis=1
        )
        as_large += int((distances(labels) >= observed - 1e-9).sum())
    # sums of shares differ from 0 in the last digits alone
    return (observed if observed > 1e-12 else 0.0), (1 + as_large) / (1 + permutations)


def word_counts(texts: Mapping[str, str]) -> F64:
    """Return each note's length in words.

    >>> word_counts({"n": "58 yo M, no fever"}).tolist()
    [5.0]
    """
    return np.array([len(find_words(text)) for text in texts.values()], dtype=np.float64)


def unknown_shares(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[F64, F64]:
    """Return the share of each note's words that no other earlier note holds.

    A note is never compared with itself, so that earlier and later notes are treated alike: an
    earlier note's words are looked up in all other earlier notes, a later one's in all earlier
    notes with another id.

    >>> before = {"a": "no fever", "b": "no cough", "c": "fever"}
    >>> [side.tolist() for side in unknown_shares(before, {"d": "no pyrexia"})]
    [[0.0, 0.5, 0.0], [0.5]]
    """
    own = {note: _words(text) for note, text in before.items()}
    held = Counter(word for words in own.values() for word in set(words))
    nothing: list[str] = []
    first = [_share(words, held, set(words)) for words in own.values()]
    second = [
        _share(_words(text), held, set(own.get(note, nothing))) for note, text in after.items()
    ]
    return np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)


def _words(text: str) -> list[str]:
    return [word.form for word in find_words(text) if word.kind == "word"]


def _share(words: list[str], held: Counter[str], own: set[str]) -> float:
    if not words:
        return float("nan")
    return sum(held[word] <= (word in own) for word in words) / len(words)


def ks_distance(before: F64, after: F64) -> float:
    """Return the Kolmogorov-Smirnov distance: the largest gap between the two shares below x.

    D = max |F(x) - G(x)| over x (Smirnov 1939).

    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    order, ends = _pooled(before, after)
    return float(_distances(order < len(before), ends)[0])


def ks_p_value(
    before: F64, after: F64, *, paired: bool = False, permutations: int = 1000, seed: int = 0
) -> float:
    """Test the Kolmogorov-Smirnov distance by relabelling notes at random.

    p = (1 + b) / (1 + m) with b of m relabellings at least as far apart (Phipson & Smyth 2010).
    Ties, which make the textbook distribution wrong, do no harm.

    >>> ks_p_value(np.arange(30.0), np.arange(30.0) + 40, permutations=99)
    0.01
    """
    order, ends = _pooled(before, after)
    n, total = len(before), len(order)
    observed = ks_distance(before, after)
    rng = np.random.default_rng(seed)
    first = np.repeat([True, False], [n, total - n])
    as_large, step = 0, max(1, _CHUNK // total)
    for start in range(0, permutations, step):
        draws = min(step, permutations - start)
        if paired:
            coins = rng.random((draws, n)) < 0.5
            labels = np.concatenate([coins, ~coins], axis=1)
        else:
            labels = rng.permuted(np.tile(first, (draws, 1)), axis=1)
        as_large += int((_distances(labels[:, order], ends) >= observed - 1e-9).sum())
    return (1 + as_large) / (1 + permutations)


def superiority(before: F64, after: F64) -> float:
    """Return the chance that a later value exceeds an earlier one, ties counting half.

    A = U / (m n), the Mann-Whitney statistic over its maximum (Vargha & Delaney 2000); 0.5 means
    no shift.

    >>> superiority(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    ordered = np.sort(before)
    below = np.searchsorted(ordered, after, side="left")
    upto = np.searchsorted(ordered, after, side="right")
    return float((below + upto).sum() / (2 * len(before) * len(after)))


def _distances(first: Bools, ends: npt.NDArray[np.intp]) -> F64:
    """Return the distance for each row of labels, which say whose each ordered value is.

    Values are counted, not shares added up, so that equal samples are exactly 0 apart.
    """
    labels = np.atleast_2d(first)
    ours = np.cumsum(labels, axis=1, dtype=np.int64)
    n, total = ours[:, -1:], labels.shape[1]
    below = ours[:, ends]
    return np.asarray(np.abs(below / n - (ends + 1 - below) / (total - n)).max(axis=1))


def _pooled(before: F64, after: F64) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the order of both samples together, and where runs of equal values end."""
    values = np.concatenate([before, after])
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    return order, np.append(np.flatnonzero(np.diff(ordered) > 0), len(ordered) - 1)
