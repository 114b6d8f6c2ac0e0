"""Features that favour the notes of one group, given what else was found in them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from rubricate.arrays import F64, I64, Bools
from rubricate.errors import InputError
from rubricate.run.reading import RunItems, ScoredRun
from rubricate.stats import adjust_p_values, ratio

#: How large a bias is: negligible, moderate, large.
Size = Literal["A", "B", "C"]
#: Log odds ratios as the delta of the Educational Testing Service (Holland & Thayer 1988).
_DELTA = 2.35
#: Changes of R² from which a bias is moderate, and large.
JODOIN_GIERL, ZUMBO_THOMAS = (0.035, 0.070), (0.13, 0.26)
#: Rounds of purification at most, and features of a case that stay whatever they show.
_ROUNDS, _FEWEST_ITEMS = 10, 4
#: Newton steps of a logistic regression at most. Where a group separates, likelihood stands still.
_STEPS = 30


@dataclass(frozen=True, slots=True)
class ItemBias:
    """A feature's differential functioning for one group.

    ``odds_ratio``, ``low``, ``high``, ``delta``, ``p_value``, ``adjusted``, ``size``: by Mantel and
    Haenszel, which see what is alike at all scores; ``adjusted`` for the number of tests.
    ``p_uniform``, ``p_non_uniform``, ``p_logistic``: by logistic regression, that the group
    matters, that it matters more at some scores than at others, and both together;
    ``adjusted_logistic`` is the last, adjusted.
    ``r2_change``: how much of Nagelkerke's R² is the group's; ``r2_size`` its size by Jodoin &
    Gierl, ``r2_size_zumbo`` by Zumbo & Thomas.
    ``purified``: features left out of the scores by which notes were matched.
    """

    feature: str
    group: str
    n_group: int
    n_others: int
    odds_ratio: float
    low: float
    high: float
    delta: float
    p_value: float
    adjusted: float
    size: Size
    p_uniform: float
    p_non_uniform: float
    p_logistic: float
    adjusted_logistic: float
    r2_change: float
    r2_size: Size
    r2_size_zumbo: Size
    purified: int

    @property
    def is_large(self) -> bool:
        """True if either test finds more than a negligible bias."""
        return self.size != "A" or self.r2_size != "A"

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON; undefined numbers are None."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def differential_items(
    run: ScoredRun, groups: Mapping[str, str], *, min_size: int = 30, alpha: float = 0.05
) -> tuple[ItemBias, ...]:
    """Find features that work differently for a group, given the score.

    Notes are matched by how many features were found in them, the one studied among them: without
    it, groups of unlike ability look biased (Holland & Thayer 1988; Zwick 1990, Journal of
    Educational Statistics 15: 185). Features that prove biased are taken out of that score and all
    are tested again, until nothing changes (purification: Holland & Thayer 1988; Lord 1980). At
    least half of a case's features stay, those with the least bias.

    Mantel & Haenszel (1959): with a of n1 found in the group's and b of n0 in the others' notes of
    a score that N notes have, the common odds ratio is sum(a (n0 - b) / N) / sum(b (n1 - a) / N),
    tested by their chi-square with correction for continuity; its interval uses the variance of
    Robins, Breslow & Greenland (1986). Sizes follow Zieky (1993): C where |delta| is 1.5 or more
    and beyond 1 by its interval, A where it is below 1 or not significant, else B.

    Logistic regression (Swaminathan & Rogers 1990, Journal of Educational Measurement 27: 361):
    logit p = b0 + b1 s + b2 g + b3 s g, g the group and s the logit of the score,
    log((x + .5) / (m - x + .5)) for x of m features. (With x itself groups of unlike ability look
    biased at its ends, where p is no longer straight in it.) Likelihood ratio tests of b2 (uniform
    bias), of b3 (non-uniform) and of both. The size is what both add to
    R² = (1 - exp(2 (L0 - L) / n)) / (1 - exp(2 L0 / n)) (Nagelkerke 1991, Biometrika 78: 691): B
    from .035 and C from .070 on (Jodoin & Gierl 2001, Applied Measurement in Education 14: 329), or
    .13 and .26 (Zumbo & Thomas 1997; Zumbo 1999); A where it is less or not significant.

    P values are adjusted for the number of features and groups (Benjamini & Hochberg 1995), those
    of both ways apart.

    >>> from rubricate import load_corpus
    >>> from rubricate.trust import run_of_corpus
    >>> run = run_of_corpus(load_corpus("open-notes").select(cases=["0"]))
    >>> found = differential_items(run, {n: "ab"[i % 2] for i, n in enumerate(run.notes)})
    >>> len(found), {bias.size for bias in found}
    (16, {'A'})
    """
    items = run.items
    sizes = Counter(groups[note] for note in run.notes if note in groups)
    if not len(items) or not sizes:
        raise InputError("need decisions on features, and a group for the notes")
    names = sorted(group for group, n in sizes.items() if n >= min_size)
    number = {group: i for i, group in enumerate(names)}
    label = np.array([number.get(groups.get(note, ""), -1) for note in run.notes])
    cases = {name: i for i, name in enumerate(dict.fromkeys(run.cases))}
    case = np.zeros(len(items.features), dtype=np.int64)
    case[items.feature] = np.array([cases[name] for name in run.cases])[items.note]
    # Of two groups, the second's odds ratio is the first's turned over
    tested = names[:1] if len(names) == 2 else names if len(names) > 2 else []
    parts = [_test_group(items, label, number[group], min_size, alpha, case) for group in tested]
    p_values = [
        adjust_p_values(
            np.concatenate([getattr(one, name)[one.enough] for one in parts] or [np.zeros(0)]),
            method="benjamini-hochberg",
        )
        for name in ("p_value", "p_logistic")
    ]
    found, at = [], 0
    for group, tests in zip(tested, parts, strict=True):
        for k in np.flatnonzero(tests.enough).tolist():
            adjusted, logistic = (float(one[at]) for one in p_values)
            found.append(_bias(items.features[k], group, tests, k, adjusted, logistic, alpha))
            at += 1
    place = {feature: i for i, feature in enumerate(items.features)}
    return tuple(sorted(found, key=lambda one: place[one.feature]))


@dataclass(frozen=True, eq=False, slots=True)
class _Tests:
    """The tests of all features for one group, one entry per feature."""

    n_group: I64
    n_others: I64
    enough: Bools
    odds_ratio: F64
    log_variance: F64
    p_value: F64
    p_uniform: F64
    p_non_uniform: F64
    p_logistic: F64
    r2_change: F64
    left_out: Bools


def _test_group(
    items: RunItems, label: I64, group: int, min_size: int, alpha: float, case: I64
) -> _Tests:
    """Test every feature, matched by scores that leave out the features found biased before."""
    notes, left_out = len(label), np.zeros(len(items.features), dtype=np.bool_)
    seen = {left_out.tobytes()}
    while True:
        kept = items.found & ~left_out[items.feature]
        anchor = np.bincount(items.note[kept], minlength=notes)
        score = anchor[items.note] + (items.found & left_out[items.feature])
        held = np.bincount(items.note[~left_out[items.feature]], minlength=notes)[items.note]
        most = np.zeros(len(left_out), dtype=np.int64)
        np.maximum.at(most, items.feature, held + left_out[items.feature])
        tests = _tests(items, (score, most), label[items.note], group, min_size, left_out)
        biased = tests.enough & (
            ((tests.p_value <= alpha) & (np.abs(_deltas(tests.odds_ratio)) >= 1))
            | ((tests.p_logistic <= alpha) & (tests.r2_change >= JODOIN_GIERL[0]))
        )
        left_out = _most_biased(biased, np.abs(_deltas(tests.odds_ratio)), case)
        if left_out.tobytes() in seen or len(seen) > _ROUNDS:
            return tests
        seen.add(left_out.tobytes())


def _most_biased(biased: Bools, delta: F64, case: I64) -> Bools:
    """Return the features to leave out: of each case the most biased, at most half of it."""
    order = np.lexsort((-np.nan_to_num(delta), ~biased, case))
    own = np.bincount(case)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - (np.cumsum(own) - own)[case[order]]
    return biased & (rank < own[case] - np.maximum(_FEWEST_ITEMS, (own[case] + 1) // 2))


def _tests(
    items: RunItems,
    matched: tuple[I64, I64],
    label: I64,
    group: int,
    min_size: int,
    left_out: Bools,
) -> _Tests:
    """Test all features at once, from counts by feature, score, group and finding.

    ``matched``: the score of each decision's note, and the highest score of each feature.
    """
    score, most = matched
    kept = label >= 0
    shape = (len(items.features), int(score.max(initial=0)) + 1, 2, 2)
    place = np.ravel_multi_index(
        (items.feature[kept], score[kept], (label[kept] == group) * 1, items.found[kept] * 1), shape
    )
    table = np.bincount(place, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
    ours, others = table[:, :, 1].sum(axis=-1), table[:, :, 0].sum(axis=-1)
    # Scores that only one side has say nothing of the other
    both = (ours > 0) & (others > 0)
    odds, log_variance, p_value = _mantel_haenszel(table * both[..., None, None])
    p_uniform, p_non_uniform, p_logistic, r2 = _logistic_tests(table, most)
    n_group, n_others = (side.sum(axis=1).astype(np.int64) for side in (ours, others))
    return _Tests(
        n_group, n_others, np.minimum(n_group, n_others) >= min_size, odds, log_variance, p_value,
        p_uniform, p_non_uniform, p_logistic, r2, left_out,
    )  # fmt: skip


def _mantel_haenszel(table: F64) -> tuple[F64, F64, F64]:
    """Return the common odds ratio, the variance of its logarithm, and the p value."""
    from scipy.special import chdtrc

    b, a = table[:, :, 0, 1], table[:, :, 1, 1]
    n0, n1 = table[:, :, 0].sum(axis=-1), table[:, :, 1].sum(axis=-1)
    n = np.maximum(n0 + n1, 1)
    up, down = a * (n0 - b) / n, b * (n1 - a) / n
    variance = (n1 * n0 * (a + b) * (n - a - b) / (n**2 * np.maximum(n - 1, 1))).sum(axis=1)
    gap = np.abs((a - n1 * (a + b) / n).sum(axis=1))
    chi = ratio(np.maximum(gap - 0.5, 0.0) ** 2, np.where(variance > 0, variance, 0.0))
    same, other = (a + n0 - b) / n, (b + n1 - a) / n
    ups, downs = up.sum(axis=1), down.sum(axis=1)
    log_variance = (
        ratio((same * up).sum(axis=1), 2 * ups**2)
        + ratio((same * down + other * up).sum(axis=1), 2 * ups * downs)
        + ratio((other * down).sum(axis=1), 2 * downs**2)
    )
    odds = np.where((downs == 0) & (ups > 0), np.inf, ratio(ups, downs))
    known = ~np.isnan(chi)
    p_value = np.where(known, chdtrc(1, np.where(known, chi, 0.0)), np.nan)
    return np.where(known, odds, np.nan), log_variance, p_value


def _logistic_tests(table: F64, most: I64) -> tuple[F64, F64, F64, F64]:
    """Return p values of uniform bias, non-uniform bias and both, and the change of R²."""
    from scipy.special import chdtrc

    features, scores = table.shape[:2]
    n, y = (
        one.reshape(features, -1) for one in (table.sum(axis=-1), table[..., 1])
    )  # fmt: skip
    x, m = np.repeat(np.arange(scores), 2), most[:, None]
    score = np.log((x + 0.5) / (np.maximum(m - x, 0) + 0.5))
    group = np.tile([0.0, 1.0], scores)
    total = np.maximum(n.sum(axis=1, keepdims=True), 1)
    centre = (n * score).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((n * (score - centre) ** 2).sum(axis=1, keepdims=True) / total)
    scaled = (score - centre) / np.where(spread > 0, spread, 1.0)
    own = group - (n * group).sum(axis=1, keepdims=True) / total
    columns = np.stack([np.ones_like(n), scaled, own, scaled * own], axis=-1)
    empty, matched, uniform, full = (
        _log_likelihood(n, y, columns[..., :width]) for width in (1, 2, 3, 4)
    )
    varies = (empty < -1e-9) & (spread[:, 0] > 0)

    def tested(small: F64, large: F64, freedom: int) -> F64:
        p_value = chdtrc(freedom, np.maximum(2 * (large - small), 0.0))
        return np.where(varies, p_value, np.nan)

    size = total[:, 0]
    most = 1 - np.exp(2 * empty / size)
    # R² of the larger minus that of the smaller model
    gained = (np.exp(2 * (empty - matched) / size) - np.exp(2 * (empty - full) / size)) / np.where(
        varies, most, np.nan
    )
    return (
        tested(matched, uniform, 1), tested(uniform, full, 1), tested(matched, full, 2), gained,
    )  # fmt: skip


def _log_likelihood(n: F64, y: F64, columns: F64) -> F64:
    """Return the largest log likelihood of many logistic regressions, by Newton's steps.

    ``n``, ``y`` (regressions, cells): trials and successes. ``columns`` (regressions, cells, p).
    """
    slopes = np.zeros((len(n), columns.shape[-1]))
    ridge = 1e-9 * np.eye(columns.shape[-1])

    def likelihood(at: F64) -> F64:
        logit = (columns @ at[..., None])[..., 0]
        return np.asarray((y * logit - n * np.logaddexp(0.0, logit)).sum(axis=1))

    best = likelihood(slopes)
    for _ in range(_STEPS):
        share = 1 / (1 + np.exp(-np.clip((columns @ slopes[..., None])[..., 0], -30, 30)))
        gradient = ((y - n * share)[..., None] * columns).sum(axis=1)
        weight = (n * share * (1 - share))[..., None]
        hessian = columns.transpose(0, 2, 1) @ (weight * columns) + ridge
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # a step that overshoots is halved until it does not
        for _ in range(20):
            reached = likelihood(slopes + step)
            worse = reached < best - 1e-12
            if not worse.any():
                break
            step[worse] /= 2
        moved = reached >= best
        slopes[moved] += step[moved]
        gained = np.where(moved, reached - best, 0.0)
        best = np.maximum(best, reached)
        if gained.max(initial=0.0) < 1e-10:
            break
    return best


def _deltas(odds: F64) -> F64:
    with np.errstate(divide="ignore"):
        return np.asarray(_DELTA * np.log(odds))


def _bias(
    feature: str, group: str, tests: _Tests, k: int, adjusted: float, logistic: float, alpha: float
) -> ItemBias:
    from scipy.special import ndtri

    odds, delta = float(tests.odds_ratio[k]), float(_deltas(tests.odds_ratio[k : k + 1])[0])
    low = high = math.nan
    if math.isfinite(delta):
        half = float(ndtri(0.975)) * math.sqrt(float(tests.log_variance[k]))
        low, high = odds * math.exp(-half), odds * math.exp(half)
    size: Size = "A"
    if adjusted <= alpha and abs(delta) >= 1:
        beyond = min(
            (abs(_DELTA * math.log(limit)) for limit in (low, high) if limit == limit),
            default=math.inf,
        )
        size = "C" if abs(delta) >= 1.5 and beyond > 1 and not low < 1 < high else "B"
    change = float(tests.r2_change[k])
    r2_size, zumbo = (
        _size_of_change(change, ends) if logistic <= alpha else "A"
        for ends in (JODOIN_GIERL, ZUMBO_THOMAS)
    )
    return ItemBias(
        feature, group, int(tests.n_group[k]), int(tests.n_others[k]), odds, low, high, delta,
        float(tests.p_value[k]), adjusted, size, float(tests.p_uniform[k]),
        float(tests.p_non_uniform[k]), float(tests.p_logistic[k]), logistic, change, r2_size,
        zumbo, int(tests.left_out.sum()),
    )  # fmt: skip


def _size_of_change(change: float, ends: tuple[float, float]) -> Size:
    return "A" if change < ends[0] else "B" if change < ends[1] else "C"
