"""Each variable of a study measured: between annotators, and against the reference with weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.evaluation import CountTable, Evaluation, evaluate_pairing
from rubricate.evaluation.agreement import pair_annotators
from rubricate.evaluation.counts import (
    kappa,
    negative_predictive_value,
    prevalence,
    specificity,
)
from rubricate.evaluation.estimates import add_intervals
from rubricate.evaluation.evaluation import f1_of_notes
from rubricate.evaluation.matching import MeasureKey, four_cells
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Bootstrapped,
    Estimate,
    Resampling,
    Statistic,
    Support,
    bootstrap_interval,
    degrees_of_freedom,
    heterogeneity,
    limit_by_items,
    precision_recall_f1,
    random_effects,
    resample_sums,
    summarise,
)
from rubricate.stats.bootstrap import (
    FEW,
    ITEM_CORRELATION,
    apply,
    half_width_in_sds,
    quantile_each,
)
from rubricate.stats.calibration import sigmoid
from rubricate.stats.curves import PRIOR
from rubricate.study.population import Variable
from rubricate.study.summaries import AgreementSummary, BySite, SiteResult, VariableAgreement


def variable_counts(table: CountTable, variable: Variable) -> tuple[tuple[str, ...], I64]:
    """Return a variable's counts by note: characters or spans summed over its features.

    >>> from rubricate import load_corpus
    >>> from rubricate.evaluation import evaluate
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = evaluate(corpus, corpus, missing="skip",
    ...     reference_annotator="reference", predicted_annotator="second_rater")
    >>> ids, counts = variable_counts(found.characters, Variable("smoking", "primary", ("12",)))
    >>> counts.shape
    (20, 4)
    """
    groups = table.where(features=variable.features).by("note")
    return groups.ids, groups.values


def variable_presence(table: CountTable, variable: Variable) -> tuple[tuple[str, ...], I64]:
    """Return, for each note, which of TP, FP, FN and TN the variable is (one of them is 1).

    A variable of several features is present where any of them is.
    """
    ids, sums = variable_counts(table, variable)
    reference = (sums[:, 0] + sums[:, 2]) > 0
    predicted = (sums[:, 0] + sums[:, 1]) > 0
    return ids, four_cells(reference, predicted)


def kappa_estimate(cells: I64, settings: Resampling) -> Estimate:
    """Return Cohen's kappa on presence with an interval: bootstrap by note, percentiles.

    Where fewer than ten notes are disputed it is joined with the limits of agreement by notes
    (`rubricate.stats.limit_by_items`, kappa as twice a share, less one).

    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [40, 5, 5, 50], axis=0)
    >>> str(kappa_estimate(cells, Resampling(500)))
    '0.798 [0.672, 0.918]'
    """
    plain = replace(settings, method="percentile")
    disputed = cells[:, 1:3].any(axis=1).sum()
    support = Support(len(cells), disputed, np.inf)
    return limit_by_items(bootstrap_interval(cells, kappa, plain), support, twice=True).at()


def estimate_f1(counts: I64, settings: Resampling) -> Estimate:
    """Return F1 of presence or of characters from the counts of each note, with its interval.

    Each note in which one of both sides has something is one item. The steps of a study and the
    dashboard of the workbench show this interval, as `agree` does for each item.

    >>> import numpy as np
    >>> estimate_f1(np.array([[9, 0, 0, 5]] * 5), Resampling()).low.__round__(3)
    0.647
    """
    return f1_of_notes(counts, counts[:, :3].any(axis=1), settings)


def pair_evaluation(corpus: Corpus) -> Evaluation | None:
    """Compare every two annotators of a note; None where no note has two."""
    if len(corpus.annotators) < 2:
        return None
    try:
        return evaluate_pairing(pair_annotators(corpus, ordered=False).pairing)
    except InputError:
        return None


def measure_agreement(
    corpus: Corpus,
    variables: Sequence[Variable],
    settings: Resampling | None = None,
    *,
    threshold: float = 0.8,
    progress: Progress = silent,
) -> AgreementSummary:
    """Measure agreement on each variable, as the paper's Table 2.

    F1 of presence and of characters with a bootstrap by note (by items where few are wrong), and
    kappa on presence.
    Agreement is low where the lower of the two F1 values is below ``threshold``, and undefined
    where nobody marked the variable.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = measure_agreement(corpus, [Variable("smoking", "primary", ("12",))])
    >>> found["variables"][0]["notes"], found["low"]
    (20, [])
    """
    settings = settings or Resampling()
    evaluation = pair_evaluation(corpus)
    if evaluation is None:
        return {"notes": 0, "threshold": threshold, "variables": [], "low": [], "undefined": []}
    keys: tuple[MeasureKey, ...] = (("presence",), ("characters",))
    compared = {key: evaluation.tables[key] for key in keys}
    measured = add_intervals(replace(evaluation, tables=compared), settings)
    by_feature = {key: measured.by_group(*key, level="features") for key in compared}
    lines: list[VariableAgreement] = []
    for variable in watched(variables, progress, "agreement", len(variables)):
        ids, presence = variable_presence(evaluation.presence, variable)
        if not len(ids):
            continue
        tp, fp, fn, _ = presence.sum(axis=0).tolist()
        if len(variable.features) == 1:
            # `agree` shows these values, too: one figure has one interval.
            presence_f1, characters_f1 = (own[variable.features[0]] for own in by_feature.values())
        else:
            presence_f1 = estimate_f1(presence, settings)
            characters_f1 = estimate_f1(
                variable_counts(evaluation.characters, variable)[1], settings
            )
        lines.append(
            {
                "variable": variable.name,
                "role": variable.role,
                "notes": len(ids),
                "both": tp,
                "first_only": fn,
                "second_only": fp,
                "neither": len(ids) - tp - fp - fn,
                "presence_f1": presence_f1.to_dict(),
                "presence_kappa": float(kappa(presence.sum(axis=0))),
                "kappa": kappa_estimate(presence, settings).to_dict(),
                "characters_f1": characters_f1.to_dict(),
                "low": bool(min(presence_f1.value, characters_f1.value) < threshold),
            }
        )
    return {
        "notes": evaluation.coverage.n_notes,
        "threshold": threshold,
        "confidence": settings.confidence,
        "variables": lines,
        "low": [line["variable"] for line in lines if line["low"]],
        "undefined": [
            line["variable"]
            for line in lines
            if not (line["both"] or line["first_only"] or line["second_only"])
        ],
    }


_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class DesignNotes:
    """Sampled notes with what they turned out to be.

    ``clusters`` (notes,): number of the patient, or other unit, whose notes go together.
    """

    cells: I64
    weights: F64
    sides: Bools
    sides_are_predictions: bool = False
    clusters: I64 | None = None

    def take(self, own: Bools) -> DesignNotes:
        """Return some of the notes."""
        clusters = None if self.clusters is None else self.clusters[own]
        return replace(
            self, cells=self.cells[own], weights=self.weights[own], sides=self.sides[own],
            clusters=clusters,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WeightedMeasures:
    """The rates of the population's four-fold table, and its kappa, with their intervals."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    specificity: Estimate
    npv: Estimate
    prevalence: Estimate
    kappa: Estimate


def design_posterior(
    notes: DesignNotes, settings: Resampling | None = None, *, finite: bool = False
) -> WeightedMeasures:
    """Estimate the rates and Cohen's kappa (1960) of notes from a stratified sample.

    The estimates are ratios of Horvitz-Thompson totals (1952). For the intervals, equal-tailed
    quantiles, the shares of the four cells on a side are drawn from a Dirichlet whose counts are
    the weighted shares times Kish's effective number of notes, (sum w)^2 / sum w^2 (Kish 1965),
    plus 1/2 in each possible cell (Jeffreys), and are multiplied by the notes the side stands for.
    So they have width where no missed note was seen, unlike a bootstrap. Near 1 these limits cover
    less than they say (Brown, Cai & DasGupta 2001). Where a rate rests on e < 10 notes of its
    rarer kind, right or wrong, (1 - e / 10) / 2 moves from the prior of the right cells to that of
    the wrong ones for the lower limit, and the other way for the upper: without an error they are
    Clopper & Pearson's (1934). Many thin strata
    would each bring a prior of their own and swamp the data; the sides, at most two, do not.
    Of a finite population only the unseen notes are drawn, from a multinomial (Ericson 1969).
    Any other is itself a sample of notes like these, so the sizes of the sides are drawn, too,
    from a Dirichlet with their counts.

    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [212, 38, 6, 244], axis=0)
    >>> weights = np.repeat([4.0, 36.0], 250)
    >>> side = np.repeat([True, False], 250)
    >>> recall = design_posterior(DesignNotes(cells, weights, side, True), finite=True).recall
    >>> round(recall.value, 2), round(recall.low, 2), round(recall.high, 2)
    (0.8, 0.65, 0.91)
    """
    settings = settings or Resampling()
    estimate = table_rates((notes.cells * notes.weights[:, None]).sum(axis=0))
    tail = (1 - settings.confidence) / 2
    seen = notes.cells.sum(axis=0)
    drawn: dict[bytes, F64] = {}
    limits = []
    for place, (right, wrong) in enumerate(_RATE_CELLS):
        rarer = min(seen[list(right)].sum(), seen[list(wrong)].sum())
        moved = np.zeros(4)
        moved[list(wrong)] = max(0.0, 1 - rarer / FEW) / 2
        moved[list(right)] = -max(0.0, 1 - rarer / FEW) / 2
        for sign, q in ((1, tail), (-1, 1 - tail)):
            prior = np.maximum(PRIOR + sign * moved, _LEAST_PRIOR)
            key = prior.tobytes()
            if key not in drawn:
                drawn[key] = table_rates(_tables(notes, settings.seed, prior, finite=finite))
            limits.append(float(quantile_each(drawn[key][:, [place]], np.array([q]))[0]))
    low, high = np.array(limits).reshape(-1, 2).T
    return WeightedMeasures(
        *(
            # The prior pulls the draws towards the middle; an interval holds its estimate. Both
            # limits of an undefined estimate are undefined.
            Estimate(
                float(value), float(np.minimum(a, value)), float(np.maximum(b, value)),
                settings.confidence, "design-posterior",
            )
            for value, a, b in zip(estimate, low, high, strict=True)
        )
    )  # fmt: skip


def table_rates(cells: F64) -> F64:
    """Return the rates of `WeightedMeasures`, in their order, of TP, FP, FN, TN."""
    more = (specificity, negative_predictive_value, prevalence, kappa)
    others = np.stack([rate(cells) for rate in more], axis=-1)
    return np.concatenate([precision_recall_f1(cells), others], axis=-1)


#: Cells (of TP, FP, FN, TN) that are right and wrong, for the rates of `WeightedMeasures`.
_RATE_CELLS = (((0,), (1,)), ((0,), (2,)), ((0,), (1, 2)), ((3,), (1,)), ((3,), (2,)),
               ((0, 2), (1, 3)), ((0, 3), (1, 2)))  # fmt: skip
#: Least prior of a cell: a Dirichlet needs more than 0.
_LEAST_PRIOR = 1e-3


def _tables(notes: DesignNotes, seed: int, prior: F64 | float = PRIOR, *, finite: bool) -> F64:
    """Draw four-fold tables of the population from their posterior."""
    rng = np.random.default_rng(seed)
    table = np.zeros((_DRAWS, 4))
    factors = _side_factors(notes.weights, notes.sides, rng, _DRAWS, finite=finite)
    for side, factor in factors.items():
        table += factor[:, None] * _draw(notes, notes.sides == side, rng, prior, finite=finite)
    return table


def design_bootstrap(
    counts: npt.ArrayLike,
    statistic: Statistic,
    design: tuple[F64, Bools],
    settings: Resampling | None = None,
    *,
    finite: bool = False,
    clusters: I64 | None = None,
) -> Bootstrapped:
    """Bootstrap a measure of summed counts by note, inside the sides of the design.

    Notes are drawn with replacement inside their side, weighted and rescaled (Rao & Wu 1988).
    Unless the population is finite, the sides' sizes vary from resample to resample as those of
    a population drawn anew. With ``clusters`` the notes of a cluster on a side are drawn together.

    >>> counts = np.array([[3, 1, 0], [2, 0, 2], [5, 1, 1], [4, 0, 1]])
    >>> design = np.array([2.0, 2.0, 5.0, 5.0]), np.array([True, True, False, False])
    >>> from rubricate.stats import precision_recall_f1
    >>> found = design_bootstrap(counts, precision_recall_f1, design, Resampling(resamples=99))
    >>> found.estimate.round(2).tolist()
    [0.89, 0.8, 0.84]
    """
    settings = settings or Resampling()
    weights, sides = design
    weighted = np.asarray(counts, dtype=np.float64) * weights[:, None]
    rng = np.random.default_rng(settings.seed)
    sums = np.zeros((settings.resamples, weighted.shape[1]))
    factors = _side_factors(weights, sides, rng, settings.resamples, finite=finite)
    drawn, of_side = weighted, sides
    if clusters is not None:
        keys, place = np.unique(np.stack([clusters, sides]), axis=1, return_inverse=True)
        drawn = np.zeros((keys.shape[1], weighted.shape[1]))
        np.add.at(drawn, place, weighted)
        of_side = keys[1].astype(np.bool_)
    for side, factor in factors.items():
        sums += factor[:, None] * resample_sums(drawn[of_side == side], settings.resamples, rng)
    plain = replace(settings, method="percentile")
    freedom = degrees_of_freedom(of_side, len(of_side))
    total = apply(statistic, weighted.sum(axis=0))
    return summarise(total, apply(statistic, sums), plain, freedom=freedom)


def _side_factors(
    weights: F64, sides: Bools, rng: np.random.Generator, draws: int, *, finite: bool
) -> dict[bool, F64]:
    """Return, for each side with notes, by how much its size in each draw differs from ours."""
    sizes = {side: float(weights[sides == side].sum()) for side in (True, False)}
    present = {side: size for side, size in sizes.items() if size > 0}
    if finite or len(present) < 2:
        return {side: np.ones(draws) for side in present}
    total = sum(present.values())
    shares = rng.dirichlet(list(present.values()), size=draws)
    return {side: shares[:, i] * total / size for i, (side, size) in enumerate(present.items())}


def _draw(
    notes: DesignNotes, own: Bools, rng: np.random.Generator, prior: F64 | float, *, finite: bool
) -> F64:
    """Draw the whole table of one side."""
    cells, weights = notes.cells[own].astype(np.float64), notes.weights[own]
    side = bool(notes.sides[own][0])
    possible = np.arange(4)
    if notes.sides_are_predictions:
        possible = np.array([0, 1]) if side else np.array([2, 3])
    unseen = np.maximum(weights - 1, 0.0) if finite else weights
    total = unseen.sum()
    table = np.tile(cells.sum(axis=0) if finite else np.zeros(4), (_DRAWS, 1))
    if total > 0:
        effective = total**2 / (unseen**2).sum()
        if notes.clusters is not None:
            effective /= _cluster_effect(cells, unseen, notes.clusters[own])
        shares = (cells * unseen[:, None]).sum(axis=0)[possible] / total
        before = np.broadcast_to(np.asarray(prior, dtype=np.float64), 4)[possible]
        drawn = rng.dirichlet(effective * shares + before, size=_DRAWS)
        if finite:
            table[:, possible] += rng.multinomial(round(float(total)), drawn)
        else:
            table[:, possible] += total * drawn
    return table


def _cluster_effect(cells: F64, weights: F64, clusters: I64) -> float:
    """Return the factor by which clusters increase the variance of a side's shares.

    With r the weighted deviation of a note from the share, sum over clusters of (sum r)^2 over the
    sum of r^2, times k / (k - 1) for k clusters (Cochran 1977; Rao & Scott 1992) and the square of
    Student's t of k clusters over that of all notes (Korn & Graubard 1998). Some dozen clusters say
    little of that: it is at least the mean of it and of 1 + (m - 1) rho, m the notes that a note
    meets in its cluster and rho their correlation, assumed to be 0.3. Where e < 10 notes are of the
    rarer kind it is at least 1 + (m - 1) rho (1 - e / 10).
    """
    names, place = np.unique(clusters, return_inverse=True)
    k, n = len(names), len(cells)
    if k == n:
        return 1.0
    size = np.bincount(place).astype(np.float64)
    counts = cells.sum(axis=0)
    rarer = np.sort(counts)[:-1].sum()
    met = float((size**2).sum() / size.sum())
    assumed = 1 + (met - 1) * ITEM_CORRELATION
    least = 1 + (assumed - 1) * max(0.0, 1 - rarer / FEW)
    shares = (cells * weights[:, None]).sum(axis=0) / weights.sum()
    gaps = (cells - shares) * weights[:, None]
    sums = np.zeros((k, gaps.shape[1]))
    np.add.at(sums, place, gaps)
    squares = float((gaps**2).sum())
    effect = k / max(k - 1, 1) * float((sums**2).sum()) / squares if squares > 0 else 1.0
    t_clusters, t_notes = (half_width_in_sds(0.95, one - 1) for one in (k, n))
    grown = max(effect, (effect + assumed) / 2, least, 1.0)
    return float(grown * (t_clusters / t_notes) ** 2)


#: What is right and wrong in precision and recall, among TP, FP, FN, TN.
_OF = {"precision": (0, 1), "recall": (0, 2)}


def _rate_of_logit(one: Estimate) -> Estimate:
    value, low, high = (
        float(sigmoid(np.array(x))) if x == x else x for x in (one.value, one.low, one.high)
    )
    return replace(one, value=value, low=low, high=high)


def measure_sites(
    notes: DesignNotes, sites: Sequence[str], settings: Resampling, *, finite: bool
) -> BySite:
    """Measure each site as if it were the study, and compare the sites with Cochran's Q.

    The logits of a site's precision and recall and their variances are those of its posterior
    (`design_posterior`, of notes like these), which knows how unequal the weights are;
    `rubricate.stats.heterogeneity` has the formulas.

    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [40, 10, 10, 40], axis=0)
    >>> notes = DesignNotes(cells, np.ones(100), cells[:, :2].any(axis=1), True)
    >>> found = measure_sites(notes, list("AB") * 50, Resampling(), finite=False)
    >>> [(line["site"], line["tp"]) for line in found["sites"]]
    [('A', 20), ('B', 20)]
    >>> found["heterogeneity"]["recall"]["i_squared"]
    0.0
    """
    of = np.asarray(sites)
    lines: list[SiteResult] = []
    logits: dict[str, list[tuple[float, float]]] = {name: [] for name in _OF}
    for site in sorted(set(sites)):
        own = of == site
        part = notes.take(own)
        measured = design_posterior(part, settings, finite=finite)
        tp, fp, fn, tn = part.cells.sum(axis=0).tolist()
        lines.append(
            {
                "site": site, "notes": int(own.sum()), "tp": tp, "fp": fp, "fn": fn, "tn": tn,
                "precision": measured.precision.to_dict(), "recall": measured.recall.to_dict(),
            }
        )  # fmt: skip
        drawn = np.maximum(_tables(part, settings.seed, finite=False), np.finfo(float).tiny)
        for name, (right, wrong) in _OF.items():
            logit = np.log(drawn[:, right]) - np.log(drawn[:, wrong])
            known = part.cells[:, [right, wrong]].any()
            logits[name].append((float(logit.mean()) if known else np.nan, float(logit.var())))
    pooled = {
        name: random_effects(*np.array(found).T, confidence=settings.confidence)
        for name, found in logits.items()
    }
    return {
        "sites": lines,
        "mean": {name: _rate_of_logit(found.mean).to_dict() for name, found in pooled.items()},
        "prediction": {
            name: _rate_of_logit(found.prediction).to_dict() for name, found in pooled.items()
        },
        "heterogeneity": {
            name: heterogeneity(*np.array(found).T).to_dict() for name, found in logits.items()
        },
    }
