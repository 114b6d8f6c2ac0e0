"""The design of a sample of notes, and the intervals that follow from unequal chances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64, Bools
from rubricate.corpus import Corpus
from rubricate.errors import Advice, ArgumentError, Fault, InputError, Setting, did_you_mean
from rubricate.evaluation.counts import (
    CountTable,
    accuracy,
    gwet_ac1,
    kappa,
    negative_predictive_value,
    pabak,
    prevalence,
    specificity,
)
from rubricate.evaluation.counts import Statistic as Formula
from rubricate.stats import (
    Bootstrapped,
    Estimate,
    Resampling,
    Statistic,
    degrees_of_freedom,
    resample_sums,
    summarise,
)
from rubricate.stats.curves import PRIOR
from rubricate.stats.resampling import (
    FEW,
    ITEM_CORRELATION,
    apply,
    f1,
    half_width_in_sds,
    precision,
    quantile_each,
    recall,
)

#: Where a sample keeps each note's probability of having been drawn.
INCLUSION = "inclusion_probability"


#: Where a study keeps what the system said of a note before it was drawn, and the word for yes.
SIDE, POSITIVE = "side", "positive"


@dataclass(frozen=True, slots=True)
class SampleDesign:
    """The way in which the measured notes were drawn; without anything, as they come.

    ``weights``: 1 / the probability with which each note was drawn.
    ``sides``: the stratum of each note, by what a system said of it before notes were drawn.
    ``of_system``: that system is measured; False where annotators are compared.
    ``finite``: these are all the notes that there will ever be.
    ``clusters``: the patient, or other unit, whose notes go together.
    """

    weights: Mapping[str, float] | None = None
    sides: Mapping[str, bool] | None = None
    finite: bool = False
    clusters: Mapping[str, str] | None = None
    of_system: bool = True

    @classmethod
    def of_sample(cls, corpus: Corpus, *, finite: bool = False, cluster: str = "") -> SampleDesign:
        """Read the design from the metadata of the notes that a study drew."""
        InputError.raise_any(
            [
                Fault(f"note {n.id} has no {name} in its metadata: it was not drawn by this study")
                for n in corpus.notes
                for name in (INCLUSION, SIDE)
                if name not in n.metadata
            ]
        )
        return cls(
            {n.id: 1 / float(n.metadata[INCLUSION] or 1.0) for n in corpus.notes},
            {n.id: n.metadata[SIDE] == POSITIVE for n in corpus.notes},
            finite,
            clusters_of(corpus, cluster) if cluster else None,
        )

    @classmethod
    def of_column(cls, corpus: Corpus, column: str = INCLUSION) -> SampleDesign:
        """Read the weights from a field of the notes, and the sides where a study noted them."""
        known = corpus.notes and all(SIDE in note.metadata for note in corpus.notes)
        sides = {n.id: n.metadata[SIDE] == POSITIVE for n in corpus.notes} if known else None
        return cls(note_weights(corpus, column), sides)

    def is_unequal(self, ids: Sequence[str]) -> bool:
        """Tell whether some notes count more than others, or the population is finite."""
        weights = self.weights
        return self.finite or (weights is not None and len({weights[i] for i in ids}) > 1)

    def notes_of(self, table: CountTable) -> DesignNotes:
        """Return the notes of a table of presence that has one row for each.

        Where the sides are what was predicted, no note of a side has the other prediction.
        """
        by_note = table.by("note")
        weights, sides = self.of_notes(by_note.ids)
        predicted = by_note.values[:, :2].any(axis=1)
        known = self.of_system and self.sides is not None
        fixed = known and bool(np.array_equal(predicted, sides))
        return DesignNotes(by_note.values, weights, sides, fixed, self.cluster_of(by_note.ids))

    def of_notes(self, ids: Sequence[str]) -> tuple[F64, Bools]:
        """Return weights and sides of some notes."""
        weights, sides = self.weights, self.sides
        return (
            np.array([1.0 if weights is None else weights[i] for i in ids], dtype=np.float64),
            np.array([True if sides is None else sides[i] for i in ids], dtype=bool),
        )

    def cluster_of(self, ids: Sequence[str]) -> I64 | None:
        """Return the number of the cluster of some notes; None where notes stand alone."""
        if self.clusters is None:
            return None
        names = [self.clusters[i] for i in ids]
        return np.asarray(np.unique(names, return_inverse=True)[1], dtype=np.int64)


#: The design of notes that were not drawn: all count alike, each for itself.
AS_THEY_COME = SampleDesign()


def clusters_of(corpus: Corpus, field: str) -> dict[str, str]:
    """Return the cluster of each note, from a field of its metadata.

    >>> from rubricate import CorpusBuilder, Metadata, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "", Metadata(patient="p7")))
    >>> clusters_of(builder.build(), "patient")
    {'n': 'p7'}
    """
    known = sorted({name for note in corpus.notes for name in note.metadata})
    if corpus.notes and field not in known:
        hint, listed = did_you_mean(field, known), ", ".join(known) if known else "none"
        raise ArgumentError(f"no note has {field!r} in its metadata{hint} There are: {listed}")
    InputError.raise_any(
        [
            Fault(f"note {note.id} has no {field!r} in its metadata: every note needs its cluster")
            for note in corpus.notes
            if note.metadata.get(field) in (None, "")
        ]
    )
    return {note.id: str(note.metadata[field]) for note in corpus.notes}


def note_weights(corpus: Corpus, column: str = INCLUSION) -> dict[str, float]:
    """Return each note's design weight, 1 / its inclusion probability (Horvitz & Thompson 1952).

    >>> from rubricate import CorpusBuilder, Metadata, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "", Metadata(inclusion_probability=0.25)))
    >>> note_weights(builder.build())
    {'n': 4.0}
    """
    if corpus.notes and not any(column in note.metadata for note in corpus.notes):
        known = sorted({name for note in corpus.notes for name in note.metadata})
        hint, listed = did_you_mean(column, known), ", ".join(known) if known else "none"
        raise ArgumentError(f"no note has {column!r} in its metadata{hint} There are: {listed}")
    weights, faults = {}, []
    for note in corpus.notes:
        value = note.metadata.get(column)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 < float(value) <= 1:  # type: ignore[arg-type]
            weights[note.id] = 1.0 / float(value)  # type: ignore[arg-type]
        else:
            faults.append(Fault(f"note {note.id}: {column!r} must be a number above 0, up to 1"))
    InputError.raise_any(faults)
    return weights


def refuse_unweighted(corpus: Corpus) -> None:
    """Raise if the notes were drawn with unequal probabilities and no weights are in use.

    A sample that oversampled positives makes plain recall far too high: with 250 + 250 notes at a
    frequency of .10 it says .97 for a true .80.
    """
    found = {note.metadata.get(INCLUSION) for note in corpus.notes} - {None}
    if len(found) > 1:
        raise InputError(
            f"the notes were sampled with {len(found)} different inclusion probabilities, so plain "
            "recall would be wrong.",
            advice=Advice("Use the weights: {}", (Setting("weights", INCLUSION),)),
        )


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


def design_posterior(
    notes: DesignNotes, settings: Resampling | None = None, *, finite: bool = False
) -> dict[str, Estimate]:
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
    >>> recall = design_posterior(DesignNotes(cells, weights, side, True), finite=True)["recall"]
    >>> round(recall.value, 2), round(recall.low, 2), round(recall.high, 2)
    (0.8, 0.65, 0.91)
    """
    settings = settings or Resampling()
    estimate = table_rates((notes.cells * notes.weights[:, None]).sum(axis=0))
    tail = (1 - settings.confidence) / 2
    seen = notes.cells.sum(axis=0)
    drawn: dict[bytes, F64] = {}
    found: dict[str, Estimate] = {}
    for place, (name, (formula, right, wrong)) in enumerate(_RATES.items()):
        rarer = min(seen[list(right)].sum(), seen[list(wrong)].sum())
        moved = np.zeros(4)
        moved[list(wrong)] = max(0.0, 1 - rarer / FEW) / 2
        moved[list(right)] = -max(0.0, 1 - rarer / FEW) / 2
        limits = []
        for sign, q in ((1, tail), (-1, 1 - tail)):
            prior = np.maximum(PRIOR + sign * moved, _LEAST_PRIOR)
            key = prior.tobytes()
            if key not in drawn:
                drawn[key] = population_tables(notes, settings.seed, prior, finite=finite)
            rates = formula(drawn[key])[:, None]
            limits.append(float(quantile_each(rates, np.array([q]))[0]))
        value = float(estimate[place])
        # The prior pulls the draws towards the middle; an interval holds its estimate. Both
        # limits of an undefined estimate are undefined.
        low, high = float(np.minimum(limits[0], value)), float(np.maximum(limits[1], value))
        found[name] = Estimate(value, low, high, settings.confidence, "design-posterior")
    return found


#: Rates of a four-fold table: the formula, and the cells (of TP, FP, FN, TN) that are right and
#: wrong in it.
_RATES: Mapping[str, tuple[Formula, tuple[int, ...], tuple[int, ...]]] = {
    "precision": (precision, (0,), (1,)),
    "recall": (recall, (0,), (2,)),
    "f1": (f1, (0,), (1, 2)),
    "specificity": (specificity, (3,), (1,)),
    "npv": (negative_predictive_value, (3,), (2,)),
    "prevalence": (prevalence, (0, 2), (1, 3)),
    **{
        name: (formula, (0, 3), (1, 2))
        for name, formula in (
            ("kappa", kappa), ("accuracy", accuracy), ("pabak", pabak), ("ac1", gwet_ac1)
        )
    },
}  # fmt: skip


def table_rates(cells: F64) -> F64:
    """Return the rates that `design_posterior` estimates, in their order, of TP, FP, FN, TN."""
    return np.stack([formula(cells) for formula, _, _ in _RATES.values()], axis=-1)


#: Least prior of a cell: a Dirichlet needs more than 0.
_LEAST_PRIOR = 1e-3


def population_tables(
    notes: DesignNotes, seed: int, prior: F64 | float = PRIOR, *, finite: bool
) -> F64:
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
