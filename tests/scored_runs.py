"""Runs made of a table of what was found, and groups of their notes."""

import numpy as np

from rubricate.run import RunItems, ScoredRun


def run_of(found: object, cases: tuple[str, ...] | None = None) -> ScoredRun:
    table = np.asarray(found, dtype=np.bool_)
    n, m = table.shape
    items = RunItems(
        np.repeat(np.arange(n), m), np.tile(np.arange(m), n), tuple(f"f{k}" for k in range(m)),
        table.ravel(), np.full(n * m, np.nan), np.zeros(n * m, dtype=np.bool_),
    )  # fmt: skip
    notes = tuple(f"n{i}" for i in range(n))
    score, most = table.sum(axis=1).astype(float), np.full(n, float(m))
    return ScoredRun(notes, cases or ("c",) * n, score, most, items)


def groups_of(run: ScoredRun, names: str) -> dict[str, str]:
    return {note: names[i % len(names)] for i, note in enumerate(run.notes)}
