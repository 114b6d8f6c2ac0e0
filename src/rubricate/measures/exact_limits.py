"""Exact limits by note for values of 0 and 1, which a bootstrap leaves without width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rubricate.measures.counts import CountTable, sum_groups
from rubricate.rows import I64
from rubricate.stats import Bootstrapped, Levels, exact_where_still


def widen_levels(levels: Levels, table: CountTable, *, unequal: bool = False) -> Levels:
    """Give every value of a table that never varied the exact limit of its notes.

    Where all n notes that inform a value are perfect, every resample is perfect too. The limit is
    then that of Clopper and Pearson (1934) for n of n notes; see
    `rubricate.stats.exact_where_still`.

    Parameters
    ----------
    levels : Levels
        What the bootstrap of the table gave.
    table : CountTable
        The counts.
    unequal : bool
        Whether notes carry unequal weights. Then a kind of note that was not seen may stand for
        any number of notes, and the limit is unknown (nan).
    """
    keys = table.keys
    numbers = []
    for labels, ids, index in (
        (levels.stratum_labels, keys.cases, keys.case),
        (levels.group_labels, keys.features, keys.feature),
    ):
        place = {label: i for i, label in enumerate(labels.tolist())}
        numbers.append(np.array([place.get(i, -1) for i in ids], dtype=np.int64)[index])
    return replace(
        levels,
        overall=widen_overall(levels.overall, table, unequal=unequal),
        strata=_widen(levels.strata, table, numbers[0], unequal=unequal),
        groups=_widen(levels.groups, table, numbers[1], unequal=unequal),
    )


def widen_overall(found: Bootstrapped, table: CountTable, *, unequal: bool = False) -> Bootstrapped:
    """Do the same for one value over all notes, such as a macro mean."""
    one = replace(found, estimate=found.estimate[None], low=found.low[None], high=found.high[None])
    wider = _widen(one, table, np.zeros(len(table), dtype=np.int64), unequal=unequal)
    return replace(found, low=wider.low[0], high=wider.high[0])


def _widen(found: Bootstrapped, table: CountTable, group: I64, *, unequal: bool) -> Bootstrapped:
    if not (found.low == found.high).any():
        return found
    if unequal:
        return exact_where_still(found, np.nan)
    n_notes = informing_notes(table, group, len(found.estimate)).astype(np.float64)
    if "kappa" in table.measure.statistics:
        # a kappa of 0 is chance, not none of the notes
        place = list(table.measure.statistics).index("kappa")
        n_notes[found.estimate[:, place] == 0, place] = np.nan
    return exact_where_still(found, n_notes)


def informing_notes(table: CountTable, group: I64, n_groups: int) -> I64:
    """Count the notes that inform each statistic: those whose own counts define it.

    Precision is informed by notes in which something was predicted, recall by those in which the
    reference has something. Kappa, which a single row never defines, is informed by the notes
    that inform F1.

    Parameters
    ----------
    table : CountTable
        The counts.
    group : int64 array
        The group of each row.
    n_groups : int
        How many groups there are.

    Returns
    -------
    int64 array, shape (n_groups, n_statistics)

    Examples
    --------
    >>> from rubricate.measures.counts import RowKeys
    >>> from rubricate.measures.formulas import PRESENCE
    >>> none = np.zeros(3, dtype=np.int64)
    >>> keys = RowKeys(np.arange(3), none, none, ("a", "b", "c"), ("f",), ("c",))
    >>> table = CountTable(PRESENCE, keys, np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
    >>> dict(zip(PRESENCE.statistics, informing_notes(table, none, 1)[0].tolist(), strict=True))
    {'precision': 1, 'recall': 2, 'f1': 2, 'accuracy': 3, 'kappa': 2, 'specificity': 1}
    """
    n_notes = len(table.keys.notes)
    pairs, place = np.unique(group * n_notes + table.keys.note, return_inverse=True)
    values = table.measure.values(sum_groups(place, table.values, len(pairs)))
    informs = (~np.isnan(values)).astype(np.int64)
    names = list(table.measure.statistics)
    if "kappa" in names:
        informs[:, names.index("kappa")] = informs[:, names.index("f1")]
    return sum_groups(pairs // n_notes, informs, n_groups)
