"""Compare scores and errors between groups of writers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.corpus import Note
from rubricate.display import counted
from rubricate.errors import ArgumentError, Fault, InputError, Setting, did_you_mean, listed
from rubricate.files import whole_output
from rubricate.formats.tables import write_table
from rubricate.outputs import table_kind
from rubricate.progress import Progress, silent, watched
from rubricate.run.reading import ScoredRun, paired_items, shared_notes
from rubricate.run.tables import cell_text
from rubricate.stats import Estimate, Resampling, adjust_p_values, bootstrap_interval, sum_clusters
from rubricate.stats.resampling import half_width_in_sds

#: What is compared, in words; all in points of 100.
MEASURES = {
    "score": "score, per cent of the maximum",
    "score difference": "score minus the reference's, points of 100",
    "error": "decisions that differ from the reference, per cent",
    "missed": "features present in the reference and not found, per cent",
    "false": "features absent from the reference and found, per cent",
}
_RATES = ("items found", "items for review")
#: What notes that nobody put into a group are called.
NO_GROUP = "(no group)"
#: Permuted values held at a time.
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class FairnessSettings:
    """Settings of the comparison of groups."""

    min_size: int = 30
    alpha: float = 0.05
    permutations: int = 2000
    resampling: Resampling = field(default_factory=Resampling)

    def __post_init__(self) -> None:
        if self.min_size < 2 or not 0 < self.alpha < 1 or self.permutations < 1:
            raise ArgumentError(
                "need a minimum group size of 2 or more, alpha between 0 and 1, and permutations"
            )


@dataclass(frozen=True, slots=True)
class Contrast:
    """One group beside all other reported groups, on one measure."""

    measure: str
    group: str
    against: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    flag: bool


@dataclass(frozen=True, slots=True)
class Fairness:
    """Groups, their means, and how they differ."""

    sizes: dict[str, int]
    #: Per cent of the items of each group that were found, and that a person must see.
    rates: dict[str, dict[str, float]]
    #: Why a group, or some notes, are not among those compared.
    left_out: dict[str, str]
    reported: tuple[str, ...]
    means: dict[str, dict[str, tuple[float, Estimate]]]
    contrasts: tuple[Contrast, ...]
    settings: FairnessSettings

    def group_table(self) -> tuple[list[str], list[list[str | int | float | None]]]:
        """Return one line per group: its size, means with their limits, rates, why it is left out.

        Values are per cent; None where a group has none.
        """
        header = ["group", "notes"]
        for measure in self.means:
            header += [measure, f"{measure}, low", f"{measure}, high"]
        header += [*_RATES, "left out because"]
        lines: list[list[str | int | float | None]] = []
        for group, size in self.sizes.items():
            line: list[str | int | float | None] = [group, size]
            for own in self.means.values():
                if group in own:
                    value, at = own[group]
                    line += [value, at.low, at.high]
                else:
                    line += [None, None, None]
            line += [self.rates[group].get(name) if group in self.reported else None
                     for name in _RATES]  # fmt: skip
            lines.append([*line, self.left_out.get(group, "")])
        return header, lines

    @property
    def flagged(self) -> tuple[Contrast, ...]:
        """The contrasts beyond chance."""
        return tuple(one for one in self.contrasts if one.flag)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "groups": self.sizes,
            "rates": self.rates,
            "left_out": self.left_out,
            "reported": list(self.reported),
            "min_size": self.settings.min_size,
            "alpha": self.settings.alpha,
            "means": {
                measure: {
                    group: {"value": value, "interval": [interval.low, interval.high]}
                    for group, (value, interval) in groups.items()
                }
                for measure, groups in self.means.items()
            },
            "contrasts": [asdict(one) for one in self.contrasts],
        }


def compare_groups(
    predicted: ScoredRun,
    groups: Mapping[str, str],
    *,
    reference: ScoredRun | None = None,
    clusters: Mapping[str, str] | None = None,
    settings: FairnessSettings | None = None,
    progress: Progress = silent,
) -> Fairness:
    """Compare groups of notes: scores always, errors where there is a reference.

    Groups may write about different cases, and cases differ in difficulty, so the difference is
    taken among notes of the same case: with g the membership and v the value, both centred in
    each case, it is sum(g v) / sum(g²), the coefficient of g in a linear model with an effect
    for each case (Frisch & Waugh 1933). Its standard error is that of White (1980), with what
    the model leaves of each note over sqrt(1 - h), h = 1 / n + g² / sum(g²) the leverage of a note
    in a case of n: fitting takes that share of the spread away (Wu 1986, Annals of Statistics 14:
    1261). The interval takes Student's t with the degrees of freedom that this error has, few where
    a group is small (Bell & McCaffrey 2002, Survey Methodology 28: 169; Imbens & Kolesár 2016,
    Review of Economics and Statistics 98: 701). The test permutes notes within cases,
    p = (1 + b) / (1 + m) (Phipson & Smyth 2010). Holm's (1979) correction covers all
    contrasts. A difference in scores alone may be real; one in errors is unfair.

    With ``clusters``, the cluster of each note, such as its patient, the standard error and its
    degrees of freedom are those of clusters (Liang & Zeger 1986), and tests turn the sign of all
    that a cluster adds to sum(g v) at random (wild cluster bootstrap of the null hypothesis:
    Cameron, Gelbach & Miller 2008).

    >>> notes = tuple(f"n{i}" for i in range(80))
    >>> score = np.array([4.0, 6.0] * 40) + np.arange(80) % 5
    >>> run = ScoredRun(notes, ("0",) * 80, score, np.full(80, 10.0))
    >>> fair = compare_groups(run, {note: "ab"[i % 2] for i, note in enumerate(notes)})
    >>> [(c.group, c.against, round(c.difference, 1), c.flag) for c in fair.contrasts]
    [('a', 'b', -20.0, True)]
    """
    settings = settings or FairnessSettings()
    sizes = Counter(groups[note] for note in predicted.notes if note in groups)
    if not sizes:
        raise InputError("no note of the run has a group: compare the note ids")
    reported = tuple(sorted(g for g, n in sizes.items() if n >= settings.min_size))
    number = {group: i for i, group in enumerate(reported)}
    label = np.array([number.get(groups.get(note, ""), -1) for note in predicted.notes])
    values = note_values(predicted, reference)
    case_number = {case: i for i, case in enumerate(dict.fromkeys(predicted.cases))}
    case = np.array([case_number[c] for c in predicted.cases])
    cluster = None if clusters is None else _numbered(clusters, predicted.notes)
    means: dict[str, dict[str, tuple[float, Estimate]]] = {}
    contrasts: list[Contrast] = []
    for measure, value in watched(values.items(), progress, "comparing groups", len(values)):
        kept = (label >= 0) & ~np.isnan(value)
        own = None if cluster is None else cluster[kept]
        means[measure] = _means(value[kept], label[kept], reported, settings.resampling, own)
        where = label[kept], case[kept], own
        contrasts += _contrasts(measure, value[kept], where, reported, settings)
    adjusted = adjust_p_values([one.p_value for one in contrasts])
    return Fairness(
        sizes=dict(sorted(sizes.items())),
        rates=_rates(predicted, groups),
        left_out=_left_out(
            sizes, settings.min_size, [n for n in predicted.notes if n not in groups]
        ),
        reported=reported,
        means=means,
        contrasts=tuple(
            replace(one, adjusted=float(p), flag=bool(p <= settings.alpha))
            for one, p in zip(contrasts, adjusted, strict=True)
        ),
        settings=settings,
    )


#: A table of groups, as `write_groups` writes it.
GROUPS = table_kind("a table of groups", ["group", "notes"])


def write_groups(fair: Fairness, path: Path, *, overwrite: bool = False) -> Path:
    """Write the table of groups as CSV."""
    header, lines = fair.group_table()
    with whole_output(path, overwrite=overwrite, kind=GROUPS) as place:
        write_table(place, header, (map(cell_text, line) for line in lines), guard=False)
    return path


def _rates(run: ScoredRun, groups: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the share of stated items and of items for review in each group, in per cent."""
    found: dict[str, dict[str, float]] = {}
    own = np.array([groups.get(note, "") for note in run.notes])[run.items.note]
    for group in sorted({groups[note] for note in run.notes if note in groups}):
        member = own == group
        values = (run.items.found[member], run.items.needs_review[member])
        found[group] = {
            name: float(100 * one.mean())
            for name, one in zip(_RATES, values, strict=True)
            if len(one)
        }
    return found


def _left_out(sizes: Mapping[str, int], least: int, without: Sequence[str]) -> dict[str, str]:
    reasons = {
        group: f"{counted(n, 'note')}: too few to say something ({least} needed)"
        for group, n in sorted(sizes.items())
        if n < least
    }
    if without:
        reasons[NO_GROUP] = f"{len(without)} notes have no group: {listed(without, 5)}"
    return reasons


def groups_of_notes(notes: Sequence[Note], column: str) -> dict[str, str]:
    """Return the group of each note from its metadata; notes without one are left out.

    >>> from rubricate.rubric import Metadata
    >>> notes = [Note("a", "c", "no fever", Metadata(site="x")), Note("b", "c", "fever")]
    >>> groups_of_notes(notes, "site")
    {'a': 'x'}
    """
    known = sorted({key for note in notes for key in note.metadata})
    if column not in known:
        hint = did_you_mean(column, known)
        raise ArgumentError(
            f"no note has it{hint} There are: {', '.join(known)}",
            setting=Setting("group", column, python=f"column={column}"),
        )
    return {
        note.id: str(note.metadata[column])
        for note in notes
        if note.metadata.get(column) not in (None, "")
    }


def note_values(predicted: ScoredRun, reference: ScoredRun | None) -> dict[str, F64]:
    """Return each measure of `MEASURES` for each note of ``predicted``; NaN where undefined."""
    found = {"score": predicted.percentage}
    if reference is None:
        return found
    one, two = shared_notes(predicted, reference)
    gap = np.full(len(predicted), np.nan)
    gap[one] = predicted.percentage[one] - reference.percentage[two]
    found["score difference"] = gap
    first, second = paired_items(predicted, reference)
    if len(first):
        said, so = predicted.items.found[first], reference.items.found[second]
        note = predicted.items.note[first]
        for name, wrong, among in (
            ("error", said != so, np.ones(len(so), dtype=np.bool_)),
            ("missed", ~said, so),
            ("false", said, ~so),
        ):
            n = np.bincount(note[among], minlength=len(predicted))
            bad = np.bincount(note[among & wrong], minlength=len(predicted))
            found[name] = np.where(n > 0, 100 * bad / np.maximum(n, 1), np.nan)
    return {name: value for name, value in found.items() if (~np.isnan(value)).any()}


def _numbered(clusters: Mapping[str, str], notes: Sequence[str]) -> I64:
    """Return the number of each note's cluster; notes without one are faults."""
    InputError.raise_any(
        [
            Fault(f"note {note} has no cluster: every note needs one")
            for note in notes
            if note not in clusters
        ]
    )
    _, number = np.unique([clusters[note] for note in notes], return_inverse=True)
    return number


def _means(
    value: F64, label: I64, reported: tuple[str, ...], settings: Resampling, cluster: I64 | None
) -> dict[str, tuple[float, Estimate]]:
    if not len(value) or not reported:
        return {}
    member = (label[:, None] == np.arange(len(reported))).astype(np.float64)
    counts = np.stack([member * value[:, None], member], axis=-1)
    # clusters may hold notes of several groups, which are then no strata
    strata = label if cluster is None else None
    done = bootstrap_interval(counts, _ratio, settings, strata=strata, clusters=cluster)
    return {g: (float(done.estimate[k]), done.at(k)) for k, g in enumerate(reported)}


def _contrasts(
    measure: str,
    value: F64,
    where: tuple[I64, I64, I64 | None],
    reported: tuple[str, ...],
    settings: FairnessSettings,
) -> list[Contrast]:
    label, case, cluster = where
    if len(reported) < 2 or not len(value):
        return []
    # Of two groups, the second's contrast is the first's with another sign: one test, not two
    tested = reported[:1] if len(reported) == 2 else reported
    centred = _centred(value[:, None], case)[:, 0]
    member = (label[:, None] == np.arange(len(tested))).astype(np.float64)
    member = _centred(member, case)
    unit = np.arange(len(value)) if cluster is None else cluster
    slope, reach = _slopes(centred, member, case, unit, settings.resampling.confidence)
    if cluster is None:
        p_values = _p_values(centred, member, case, settings)
    else:
        p_values = _cluster_p_values(centred[:, None] * member, cluster, settings)
    against = reported[1] if len(reported) == 2 else "others"
    return [
        Contrast(measure, group, against, float(slope[k]), float(slope[k] - reach[k]),
                 float(slope[k] + reach[k]), float(p_values[k]), float("nan"), flag=False)
        for k, group in enumerate(tested)
    ]  # fmt: skip


def _centred(values: F64, case: I64) -> F64:
    n = np.bincount(case)
    means = np.stack([np.bincount(case, weights=column) for column in values.T], axis=1)
    return np.asarray(values - (means / np.maximum(n, 1)[:, None])[case])


def _slopes(centred: F64, member: F64, case: I64, unit: I64, confidence: float) -> tuple[F64, F64]:
    """Return the coefficient of each group, and the half width of its interval.

    The notes of a unit in a case have the leverage of their mean, which is that of all of them.
    """
    _, unit = np.unique(unit, return_inverse=True)
    total = (member**2).sum(axis=0)
    total = np.where(total > 1e-12, total, np.nan)
    slope = (centred @ member) / total
    _, place = np.unique(np.stack([unit, case]), axis=1, return_inverse=True)
    together = np.bincount(place)[place] / np.bincount(case)[case]
    leverage = together[:, None] + sum_clusters(member**2, unit)[0][unit] / total
    pull = member / np.sqrt(np.where(leverage < 1, 1 - leverage, 1))
    left, _ = sum_clusters(pull * (centred[:, None] - slope * member), unit)
    error = np.sqrt((left**2).sum(axis=0)) / total
    freedom = [_freedom(*pair, case, unit) for pair in zip(pull.T, member.T, strict=True)]
    return slope, np.array([half_width_in_sds(confidence, one) for one in freedom]) * error


def _freedom(pull: F64, member: F64, case: I64, unit: I64) -> float:
    """Return the degrees of freedom of a squared standard error (Bell & McCaffrey 2002).

    With G_g = (I - H)_g a_g, a_g the pull of unit g and H the projection on cases and membership,
    they are tr(G'G)² / tr((G'G)²) by Satterthwaite's approximation. G'G is D - SS' - tt': D has the
    squared pulls of each unit, S its pull in each case over the root of the case's size, and t its
    pull along the membership.
    """
    from scipy.sparse import coo_array

    squares, along = (np.bincount(unit, weights=pull * one) for one in (pull, member))
    along = along / np.sqrt((member**2).sum() or np.nan)
    sizes = np.maximum(np.bincount(case), 1)
    by_case = coo_array((pull / np.sqrt(sizes)[case], (unit, case))).tocsr()
    lengths: F64 = np.asarray(by_case.power(2).sum(axis=1)).ravel()
    trace = squares.sum() - lengths.sum() - along @ along
    both = (squares**2).sum() - 2 * (squares * (lengths + along**2)).sum()
    both += (by_case.T @ by_case).power(2).sum() + 2 * ((by_case.T @ along) ** 2).sum()
    both += (along @ along) ** 2
    return float(trace**2 / both) if both > 0 else 1.0


def _ratio(sums: F64) -> F64:
    below = sums[..., 1]
    return np.asarray(sums[..., 0] / np.where(below > 1e-12, below, np.nan))


def _p_values(value: F64, member: F64, case: I64, settings: FairnessSettings) -> F64:
    """Permute the values within cases; all groups are tested on the same permutations."""
    order = np.argsort(case, kind="stable")
    value, member = value[order], member[order]
    blocks = np.split(value, np.flatnonzero(np.diff(case[order])) + 1)
    observed = np.abs(value @ member)
    rng = np.random.default_rng(settings.resampling.seed)
    as_large: F64 = np.zeros(member.shape[1])
    step = max(1, _CHUNK // max(1, len(value)))
    for start in range(0, settings.permutations, step):
        draws = min(step, settings.permutations - start)
        moved = np.concatenate(
            [rng.permuted(np.tile(block, (draws, 1)), axis=1) for block in blocks], axis=1
        )
        as_large += (np.abs(moved @ member) >= observed - 1e-9).sum(axis=0)
    p_values = (1 + as_large) / (1 + settings.permutations)
    return np.where((member**2).sum(axis=0) > 1e-12, p_values, np.nan)


def _cluster_p_values(parts: F64, cluster: I64, settings: FairnessSettings) -> F64:
    """Turn the sign of each cluster's part at random; p = (1 + b) / (1 + m)."""
    sums, _ = sum_clusters(parts, cluster)
    observed = np.abs(sums.sum(axis=0))
    rng = np.random.default_rng(settings.resampling.seed)
    as_large: F64 = np.zeros(sums.shape[1])
    step = max(1, _CHUNK // max(1, len(sums)))
    for start in range(0, settings.permutations, step):
        draws = min(step, settings.permutations - start)
        signs = rng.integers(0, 2, size=(draws, len(sums))) * 2.0 - 1
        as_large += (np.abs(signs @ sums) >= observed - 1e-9).sum(axis=0)
    p_values = (1 + as_large) / (1 + settings.permutations)
    return np.where((parts**2).sum(axis=0) > 0, p_values, np.nan)
