import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.evaluation import CountTable, Matching, span_counts
from rubricate.evaluation.counts import By
from rubricate.evaluation.matching import character_counts, presence_counts
from rubricate.evaluation.pairing import Pairing

SPAN = st.tuples(st.integers(0, 18), st.integers(1, 6)).map(lambda p: (p[0], p[0] + p[1]))
ANNOTATIONS = st.lists(st.lists(SPAN, min_size=1, max_size=2), max_size=2)
ROWS = st.lists(st.tuples(ANNOTATIONS, ANNOTATIONS), min_size=1, max_size=12)
Make = Callable[..., Pairing]
BYS: tuple[By, ...] = ("note", "feature", "case")


def totals(table: CountTable, by: By) -> dict[str, list[int]]:
    groups = table.by(by)
    return dict(zip(groups.ids, groups.values.tolist(), strict=True))


@given(rows=ROWS, data=st.data())
def test_merging_parts_gives_the_whole(make_pairing: Make, rows: list[Any], data: Any) -> None:
    whole = character_counts(make_pairing(rows))
    part_of = data.draw(
        st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)).map(np.array)
    )
    parts = [
        CountTable(whole.measure, whole.keys.take(part_of == k), whole.values[part_of == k])
        for k in range(3)
    ]
    merged = CountTable.concatenate(pickle.loads(pickle.dumps(parts)))
    assert merged.total().counts == whole.total().counts
    for by in BYS:
        assert totals(merged, by) == totals(whole, by)


@given(rows=ROWS)
def test_every_way_of_summing_gives_the_same_total(make_pairing: Make, rows: list[Any]) -> None:
    pairing = make_pairing(rows)
    for table in (character_counts(pairing), presence_counts(pairing)):
        expected = table.values.sum(axis=0).tolist()
        assert list(table.total().counts.values()) == expected
        for by in BYS:
            assert table.by(by).values.sum(axis=0).tolist() == expected


def test_grouping_by_hand(make_pairing: Make) -> None:
    yes: list[Any] = [[(0, 3)]]
    rows = [(yes, yes), (yes, []), ([], []), ([], yes)]  # note n0: three rows, n1: one
    table = presence_counts(make_pairing(rows))
    assert totals(table, "note") == {"n0": [1, 0, 1, 1], "n1": [0, 1, 0, 0]}
    assert totals(table, "case") == {"odd": [1, 0, 1, 1], "even": [0, 1, 0, 0]}
    assert list(totals(table, "feature")) == ["odd-0", "odd-1", "odd-2", "even-0"]
    assert table.column("fn").tolist() == [0, 1, 0, 0]
    macro = table.macro()
    assert macro["features"]["recall"] == 0.5  # defined for odd-0 (1) and odd-1 (0) only
    assert macro["cases"]["precision"] == 0.5
    assert "rows" not in macro
    assert table.by("note").measured()["n0"].recall == 0.5


def test_where_keeps_the_rows_asked_for(make_pairing: Make) -> None:
    yes: list[Any] = [[(0, 3)]]
    table = presence_counts(make_pairing([(yes, yes), (yes, []), ([], []), ([], yes)]))
    assert list(totals(table.where(cases=["even"]), "note")) == ["n1"]
    assert table.where(features=["odd-1"]).total().counts["fn"] == 1
    assert len(table.where(notes=["n0"], features=["even-0"])) == 0
    assert np.isnan(table.where(notes=[]).total().f1)
    assert np.isnan(table.where(notes=[]).macro()["features"]["f1"])


def test_counts_that_differ_in_kind_do_not_add(make_pairing: Make) -> None:
    pairing = make_pairing([([[(0, 3)]], [])])
    with pytest.raises(ValueError, match="cannot be added"):
        character_counts(pairing) + presence_counts(pairing)
    exact = span_counts(pairing)["exact"]
    with pytest.raises(ValueError, match="cannot be added"):
        exact + span_counts(pairing, Matching("paper"))["exact"]
    with pytest.raises(ValueError, match="nothing to concatenate"):
        CountTable.concatenate([])
