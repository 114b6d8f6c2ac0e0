"""The interval whose coverage is simulated is the one that commands print."""

import numpy as np
import pytest

from interval_coverage import SEED, f1_of, simulate, support_of
from rubricate.evaluation.counts import CHARACTERS, PRESENCE, CountTable, RowKeys
from rubricate.evaluation.evaluation import Evaluation, add_intervals
from rubricate.evaluation.pairing import Coverage
from rubricate.stats import Resampling, bootstrap_interval, limit_by_items


@pytest.mark.parametrize(
    ("notes", "cases", "f1"), [(20, 1, 0.9), (100, 1, 0.995), (60, 3, 0.9), (20, 10, 0.995)]
)
def test_the_benchmark_simulates_what_evaluate_prints(notes: int, cases: int, f1: float) -> None:
    drawn = simulate(np.random.default_rng(SEED), notes, cases, f1 / (2 - f1), 0.3)
    settings = Resampling(400, seed=3)
    simulated = limit_by_items(
        bootstrap_interval(drawn.counts, f1_of, settings, strata=drawn.case),
        support_of(drawn.counts),
        through_jaccard=True,
    )
    # one row for each item that somebody has, as right, wrong or missed
    counts = drawn.counts.astype(np.int64)
    per_note = counts.sum(axis=1)
    note = np.repeat(np.arange(notes), per_note)
    kind = np.concatenate([np.repeat(np.arange(3), own) for own in counts])
    feature = np.arange(len(note)) - np.repeat(np.cumsum(per_note) - per_note, per_note)
    case = drawn.case.astype(np.int64)[note]
    most = int(per_note.max())
    keys = RowKeys(
        note, case * most + feature, case, tuple(f"n{i}" for i in range(notes)),
        tuple(f"f{i}" for i in range(cases * most)), tuple(f"c{i}" for i in range(cases)),
    )  # fmt: skip
    values = np.eye(4, dtype=np.int64)[kind]
    tables = {("characters",): CountTable(CHARACTERS, keys, values),
              ("presence",): CountTable(PRESENCE, keys, values)}  # fmt: skip
    evaluation = Evaluation("a", "b", Coverage(notes, len(note)), "one-to-one", "token", tables)
    found = add_intervals(evaluation, settings)
    for measure in tables:
        printed = found.overall(*measure)
        limits = float(simulated.low), float(simulated.high)
        assert (printed.low, printed.high) == pytest.approx(limits, abs=1e-9)
