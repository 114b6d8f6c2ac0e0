"""Simulate several notes of each patient: how often intervals by cluster hold.

``python benchmarks/cluster_coverage.py --studies 1000`` prints coverage of the intervals that
`--cluster` gives, and of those by note, nominal .95. Patients have three notes whose values go
together (correlation .3).
"""

from __future__ import annotations

import argparse

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.evaluation.counts import CHARACTERS, PRESENCE, CountTable, RowKeys
from rubricate.evaluation.design import DesignNotes, SampleDesign, design_posterior
from rubricate.evaluation.evaluation import Evaluation, add_intervals
from rubricate.evaluation.pairing import Coverage
from rubricate.run.reading import ScoredRun
from rubricate.stats import Resampling, score_agreement
from rubricate.trust import compare_groups
from rubricate.trust.fairness import FairnessSettings

NOTES_EACH, CORRELATION = 3, 0.3
ITEMS, PRESENT = 6, 0.8
PATIENTS = (20, 60)


def shares(rng: np.random.Generator, patients: int, mean: float) -> F64:
    """Draw a share for each patient, so that items of one correlate (beta-binomial)."""
    total = 1 / CORRELATION - 1
    return rng.beta(mean * total, (1 - mean) * total, size=patients)


def evaluation(rng: np.random.Generator, patients: int, right: float) -> Evaluation:
    """Draw what a system found in the notes of some patients; features are wrong by patient."""
    patient = np.repeat(np.arange(patients), NOTES_EACH)
    note = np.repeat(np.arange(len(patient)), ITEMS)
    correct = rng.random(len(note)) < shares(rng, patients, right)[patient][note]
    there = rng.random(len(note)) < PRESENT
    cells = [there & correct, ~there & ~correct, there & ~correct, ~there & correct]
    values = np.stack(cells, axis=1).astype(np.int64)
    feature = np.tile(np.arange(ITEMS), len(patient))
    keys = RowKeys(
        note, feature, np.zeros(len(note), dtype=np.int64),
        tuple(f"n{i}" for i in range(len(patient))), tuple(f"f{i}" for i in range(ITEMS)), ("c",),
    )  # fmt: skip
    tables = {("characters",): CountTable(CHARACTERS, keys, values),
              ("presence",): CountTable(PRESENCE, keys, values)}  # fmt: skip
    return Evaluation("a", "b", Coverage(len(patient), len(note)), "one-to-one", "token", tables)


def patients_of(patients: int) -> dict[str, str]:
    """Return the patient of each note."""
    return {f"n{i}": f"p{i // NOTES_EACH}" for i in range(patients * NOTES_EACH)}


Limits = tuple[float, float]


def f1_study(
    rng: np.random.Generator, patients: int, right: float, seed: int, *, by_patient: bool
) -> Limits:
    """Return the limits of presence F1."""
    drawn = evaluation(rng, patients, right)
    design = SampleDesign(clusters=patients_of(patients) if by_patient else None)
    f1 = add_intervals(drawn, Resampling(400, seed=seed), design=design).overall("presence")
    return f1.low, f1.high


def design_study(
    rng: np.random.Generator, patients: int, right: float, seed: int, *, by_patient: bool
) -> Limits:
    """Return the limits of the precision that `study evaluate` reports."""
    patient: I64 = np.repeat(np.arange(patients), NOTES_EACH)
    correct = rng.random(len(patient)) < shares(rng, patients, right)[patient]
    cells = np.where(correct[:, None], [1, 0, 0, 0], [0, 1, 0, 0])
    notes = DesignNotes(
        cells, np.ones(len(cells)), np.ones(len(cells), dtype=np.bool_), True,
        patient if by_patient else None,
    )  # fmt: skip
    one = design_posterior(notes, Resampling(seed=seed))["precision"]
    return one.low, one.high


def fairness_study(
    rng: np.random.Generator, patients: int, right: float, seed: int, *, by_patient: bool
) -> Limits:
    """Return the limits of the difference between groups of patients, which is 0.

    ``right``: the share of patients of one group.
    """
    notes = patients * NOTES_EACH
    patient = np.repeat(np.arange(patients), NOTES_EACH)
    group = (rng.permutation(patients) < right * patients)[patient]
    score = 60 + rng.normal(0, CORRELATION**0.5, patients)[patient] * 10
    score = score + rng.normal(0, (1 - CORRELATION) ** 0.5, notes) * 10
    names = tuple(f"n{i}" for i in range(notes))
    run = ScoredRun(names, ("c",) * notes, score, np.full(notes, 100.0))
    groups = {name: "ab"[int(one)] for name, one in zip(names, group.tolist(), strict=True)}
    settings = FairnessSettings(5, permutations=1, resampling=Resampling(9, seed=seed))
    clusters = patients_of(patients) if by_patient else None
    one = compare_groups(run, groups, clusters=clusters, settings=settings).contrasts[0]
    return one.low, one.high


def icc_study(
    rng: np.random.Generator, patients: int, right: float, seed: int, *, by_patient: bool
) -> Limits:
    """Return the limits of ICC(C,1) of two raters; a note's level and error go by patient.

    ``right``: the true coefficient.
    """
    patient = np.repeat(np.arange(patients), NOTES_EACH)

    def part(spread: float, raters: int) -> F64:
        own = rng.normal(0, CORRELATION**0.5, (patients, raters))[patient]
        rest = rng.normal(0, (1 - CORRELATION) ** 0.5, (len(patient), raters))
        return spread * (own + rest)

    scores = part((right / (1 - right)) ** 0.5, 1) + part(1.0, 2)
    one = score_agreement(scores, clusters=patient if by_patient else None)[1]
    return one.low, one.high


def f1_of_share(right: float) -> float:
    """Return the F1 of a share of right items."""
    return 2 * PRESENT * right / (2 * PRESENT * right + 1 - right)


#: What is simulated, its true value, and what the study is told of it.
STUDIES = {
    "F1 .9": (f1_study, f1_of_share(0.85), 0.85),
    "F1 .98": (f1_study, f1_of_share(0.97), 0.97),
    "precision .85, study": (design_study, 0.85, 0.85),
    "precision .97, study": (design_study, 0.97, 0.97),
    "difference of groups": (fairness_study, 0.0, 0.5),
    "difference of a small group": (fairness_study, 0.0, 0.2),
    "ICC(C,1) .5": (icc_study, 0.5, 0.5),
    "ICC(C,1) .8": (icc_study, 0.8, 0.8),
    "ICC(C,1) .95": (icc_study, 0.95, 0.95),
}


def coverage(name: str, patients: int, studies: int, *, by_patient: bool = True) -> float:
    """Return the share of intervals that hold the true value."""
    study, true, told = STUDIES[name]
    rng = np.random.default_rng(4)
    limits = np.array(
        [study(rng, patients, told, seed, by_patient=by_patient) for seed in range(studies)]
    )
    return float(((limits[:, 0] <= true) & (true <= limits[:, 1])).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--only", help="simulate values whose name holds this")
    given = parser.parse_args()
    print("| value | patients | by note | by patient |")
    print("|---|---:|---:|---:|")
    for name in STUDIES:
        for patients in PATIENTS:
            if given.only and given.only not in name:
                continue
            by_note, by_patient = (
                coverage(name, patients, given.studies, by_patient=one) for one in (False, True)
            )
            print(f"| {name} | {patients} × 3 | {by_note:.3f} | {by_patient:.3f} |", flush=True)


if __name__ == "__main__":
    main()
