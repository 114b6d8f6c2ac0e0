"""Each variable of a study measured: between annotators, and against the reference with weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.agreement import pair_annotators
from rubricate.arrays import F64, I64, Bools
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.measures import CountTable, Evaluation, evaluate_pairing
from rubricate.measures.evaluate import f1_of_notes
from rubricate.measures.families import four_cells
from rubricate.measures.formulas import (
    kappa,
    negative_predictive_value,
    prevalence,
    specificity,
)
from rubricate.progress import Progress, silent, watched
from rubricate.stats import (
    Bootstrapped,
    Estimate,
    Resampling,
    Statistic,
    degrees_of_freedom,
    f1_interval,
    heterogeneity,
    precision_recall_f1,
    resample_sums,
    summarise,
)
from rubricate.stats.bootstrap import apply, quantile_each
from rubricate.stats.curves import PRIOR
from rubricate.study.population import Variable
from rubricate.study.summaries import AgreementSummary, BySite, SiteResult, VariableAgreement


def variable_counts(table: CountTable, variable: Variable) -> tuple[tuple[str, ...], I64]:
    """Return a variable's counts by note: characters or spans summed over its features.

    >>> from rubricate import load_corpus
    >>> from rubricate.measures import evaluate
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


def presence_estimate(cells: I64, settings: Resampling) -> Estimate:
    """Return F1 of presence by note, with an interval through the Jaccard index."""
    tp, fp, fn = cells.sum(axis=0)[:3].tolist()
    return f1_interval(tp, fp, fn, confidence=settings.confidence)


def characters_estimate(counts: I64, settings: Resampling) -> Estimate:
    """Return F1 of characters by note; each note in which somebody marked is one item.

    >>> import numpy as np
    >>> characters_estimate(np.array([[9, 0, 0, 5]] * 5), Resampling()).low.__round__(3)
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

    Presence F1 with an interval through the Jaccard index (`rubricate.stats.f1_interval`), kappa
    on presence, and F1 of characters with a bootstrap by note (by items where few are wrong).
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
    lines: list[VariableAgreement] = []
    for variable in watched(variables, progress, "agreement", len(variables)):
        ids, presence = variable_presence(evaluation.presence, variable)
        if not len(ids):
            continue
        tp, fp, fn, _ = presence.sum(axis=0).tolist()
        presence_f1 = presence_estimate(presence, settings)
        characters_f1 = characters_estimate(
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
    """Sampled notes with what they turned out to be."""

    cells: I64
    weights: F64
    sides: Bools
    sides_are_predictions: bool = False


@dataclass(frozen=True, slots=True)
class WeightedMeasures:
    """The rates of the population's four-fold table with their intervals."""

    precision: Estimate
    recall: Estimate
    f1: Estimate
    specificity: Estimate
    npv: Estimate
    prevalence: Estimate


def design_posterior(
    notes: DesignNotes, settings: Resampling | None = None, *, finite: bool = False
) -> WeightedMeasures:
    """Estimate the rates of the four-fold table of notes from a stratified sample.

    The estimates are ratios of Horvitz-Thompson totals (1952). For the intervals, equal-tailed
    quantiles, the shares of the four cells on a side are drawn from a Dirichlet whose counts are
    the weighted shares times Kish's effective number of notes, (sum w)^2 / sum w^2 (Kish 1965),
    plus 1/2 in each possible cell (Jeffreys), and are multiplied by the notes the side stands for.
    So they have width where no missed note was seen, unlike a bootstrap. Many thin strata
    would each bring a prior of their own and swamp the data; the sides, at most two, do not.
    Of a finite population only the unseen notes are drawn, from a multinomial (Ericson 1969).
    Any other is itself a sample of notes like these, so the sizes of the sides are drawn, too,
    from a Dirichlet with their counts.

    >>> cells = np.repeat(np.eye(4, dtype=np.int64), [212, 38, 6, 244], axis=0)
    >>> weights = np.repeat([4.0, 36.0], 250)
    >>> side = np.repeat([True, False], 250)
    >>> recall = design_posterior(DesignNotes(cells, weights, side, True), finite=True).recall
    >>> round(recall.value, 2), round(recall.low, 2), round(recall.high, 2)
    (0.8, 0.66, 0.9)
    """
    settings = settings or Resampling()
    table = _tables(notes, settings.seed, finite=finite)
    estimate = table_rates((notes.cells * notes.weights[:, None]).sum(axis=0))
    tail = (1 - settings.confidence) / 2
    draws = table_rates(table)
    low, high = (quantile_each(draws, np.full(len(estimate), q)) for q in (tail, 1 - tail))
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
    more = (specificity, negative_predictive_value, prevalence)
    others = np.stack([rate(cells) for rate in more], axis=-1)
    return np.concatenate([precision_recall_f1(cells), others], axis=-1)


def _tables(notes: DesignNotes, seed: int, *, finite: bool) -> F64:
    """Draw four-fold tables of the population from their posterior."""
    rng = np.random.default_rng(seed)
    table = np.zeros((_DRAWS, 4))
    factors = _side_factors(notes.weights, notes.sides, rng, _DRAWS, finite=finite)
    for side, factor in factors.items():
        table += factor[:, None] * _draw(notes, notes.sides == side, rng, finite=finite)
    return table


def design_bootstrap(
    counts: npt.ArrayLike,
    statistic: Statistic,
    design: tuple[F64, Bools],
    settings: Resampling | None = None,
    *,
    finite: bool = False,
) -> Bootstrapped:
    """Bootstrap a measure of summed counts by note, inside the sides of the design.

    Notes are drawn with replacement inside their side, weighted and rescaled (Rao & Wu 1988).
    Unless the population is finite, the sides' sizes vary from resample to resample as those of
    a population drawn anew.

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
    for side, factor in factors.items():
        sums += factor[:, None] * resample_sums(weighted[sides == side], settings.resamples, rng)
    plain = replace(settings, method="percentile")
    freedom = degrees_of_freedom(sides, len(sides))
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


def _draw(notes: DesignNotes, own: Bools, rng: np.random.Generator, *, finite: bool) -> F64:
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
        shares = (cells * unseen[:, None]).sum(axis=0)[possible] / total
        drawn = rng.dirichlet(effective * shares + PRIOR, size=_DRAWS)
        if finite:
            table[:, possible] += rng.multinomial(round(float(total)), drawn)
        else:
            table[:, possible] += total * drawn
    return table


#: What is right and wrong in precision and recall, among TP, FP, FN, TN.
_OF = {"precision": (0, 1), "recall": (0, 2)}


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
        part = replace(
            notes, cells=notes.cells[own], weights=notes.weights[own], sides=notes.sides[own]
        )
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
    return {
        "sites": lines,
        "heterogeneity": {
            name: heterogeneity(*np.array(found).T).to_dict() for name, found in logits.items()
        },
    }
