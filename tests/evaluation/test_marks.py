from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rubricate.builder import RowsBuilder
from rubricate.evaluation.pairing import (
    KINDS,
    DistinctMarks,
    MarkArrays,
    Pairing,
    agreeing_pairs,
    covered,
    distinct_annotations,
    gather_marks,
    merge_fragments,
    zones,
)
from rubricate.rows import Rows
from rubricate.spans import Span, merge_spans

SPAN = st.tuples(st.integers(0, 18), st.integers(1, 6)).map(lambda p: (p[0], p[0] + p[1]))


@given(st.lists(st.lists(SPAN, max_size=5), max_size=6))
def test_covered_counts_each_position_once(rows: list[list[tuple[int, int]]]) -> None:
    base = zones(np.full(len(rows), 24))
    flat = sorted((base[i] + s, base[i] + e, i) for i, spans in enumerate(rows) for s, e in spans)
    start, end, row = (np.array([x[k] for x in flat], dtype=np.int64) for k in range(3))
    expected = [len({c for s, e in spans for c in range(s, e)}) for spans in rows]
    assert covered(row, start, end, len(rows)).tolist() == expected


@given(st.lists(st.lists(SPAN, max_size=5), max_size=6))
def test_merge_fragments_is_merge_spans_in_every_annotation(
    annotations: list[list[tuple[int, int]]],
) -> None:
    flat = [span for spans in annotations for span in spans]
    marks = MarkArrays(
        np.arange(len(annotations)),
        np.cumsum([0] + [len(spans) for spans in annotations]),
        np.array([s for s, _ in flat], dtype=np.int64),
        np.array([e for _, e in flat], dtype=np.int64),
    )
    merged = merge_fragments(marks, 24)
    for i, spans in enumerate(annotations):
        own = slice(merged.first[i], merged.first[i + 1])
        found = list(zip(merged.start[own].tolist(), merged.end[own].tolist(), strict=True))
        expected = merge_spans(Span(s, e) for s, e in spans)
        if any(len(a) > 1 for a in annotations):
            assert found == [(s.start, s.end) for s in expected]
        else:
            assert found == spans


def test_gather_takes_rows_in_the_order_asked_for() -> None:
    builder = RowsBuilder()
    builder.annotate(0, 0, 0, [(0, 1)])
    builder.judge(0, 0, 1)
    builder.annotate(1, 0, 0, [(2, 3), (5, 6)])
    builder.annotate(1, 0, 0, [(7, 8)])
    rows = builder.build()
    marks = gather_marks(rows, np.array([-1, 2, 1, 0]))
    assert marks.row.tolist() == [1, 1, 3]
    assert marks.first.tolist() == [0, 2, 3, 4]
    assert marks.start.tolist() == [2, 5, 7, 0]
    assert marks.fragment_row.tolist() == [1, 1, 1, 3]
    everything = gather_marks(rows, np.arange(3))
    assert everything.start.tolist() == [0, 2, 5, 7]
    assert len(gather_marks(Rows.empty(), np.array([-1, -1]))) == 0


SHORT_SPAN = st.tuples(st.integers(0, 14), st.integers(1, 5)).map(lambda p: (p[0], p[0] + p[1]))
ANNOTATIONS = st.lists(st.lists(SHORT_SPAN, min_size=1, max_size=4), max_size=4)
ROWS = st.lists(st.tuples(ANNOTATIONS, ANNOTATIONS), min_size=1, max_size=6)
Make = Callable[..., Pairing]
Merged = tuple[tuple[int, int], ...]


def merged(fragments: list[tuple[int, int]]) -> Merged:
    return tuple((s.start, s.end) for s in merge_spans(Span(*f) for f in fragments))


def meets(kind: str, one: Merged, two: Merged) -> bool:
    """The definitions, word for word, on sets of positions."""
    positions = [{c for s, e in side for c in range(s, e)} for side in (one, two)]
    share = bool(positions[0] & positions[1])
    if kind == "exact":
        return positions[0] == positions[1]
    if kind == "one_side_boundary":
        return share and (one[0][0] == two[0][0] or one[-1][1] == two[-1][1])
    return share


def as_values(side: DistinctMarks) -> list[tuple[int, Merged]]:
    """Row and merged fragments (23 positions and a gap a row) of each distinct annotation."""
    fragments: list[list[tuple[int, int]]] = [[] for _ in range(len(side))]
    for owner, s, e in zip(
        side.fragment_annotation, side.fragment_start, side.fragment_end, strict=True
    ):
        fragments[owner].append((int(s), int(e)))
    return [
        (int(row), tuple((s - 25 * int(row), e - 25 * int(row)) for s, e in own))
        for row, own in zip(side.row, fragments, strict=True)
    ]


@given(rows=ROWS)
def test_pairs_equal_brute_force(make_pairing: Make, rows: list[Any]) -> None:
    pairing = make_pairing(rows)
    sides = distinct_annotations(pairing.reference_marks, pairing.predicted_marks, pairing.length)
    values = [as_values(side) for side in sides]
    for side, found in enumerate(values):
        assert len(found) == len(set(found))
        assert set(found) == {
            (i, merged(fragments)) for i, row in enumerate(rows) for fragments in row[side]
        }
        assert sides[side].per_row(len(rows)).tolist() == [
            len({merged(fragments) for fragments in row[side]}) for row in rows
        ]
    pairs = agreeing_pairs(*sides)
    assert tuple(pairs) == KINDS
    for kind, (one, two) in pairs.items():
        found_pairs = [(values[0][a], values[1][b]) for a, b in zip(one, two, strict=True)]
        expected = {
            (a, b) for a in values[0] for b in values[1] if a[0] == b[0] and meets(kind, a[1], b[1])
        }
        assert len(found_pairs) == len(set(found_pairs))
        assert set(found_pairs) == expected


def test_annotations_that_start_together_meet_once(make_pairing: Make) -> None:
    pairing = make_pairing([([[(2, 6)]], [[(2, 9)]]), ([[(0, 4)]], [[(0, 4)]])])
    sides = distinct_annotations(pairing.reference_marks, pairing.predicted_marks, pairing.length)
    one, two = agreeing_pairs(*sides)["token_overlap"]
    assert sorted(zip(one.tolist(), two.tolist(), strict=True)) == [(0, 0), (1, 1)]


def test_annotations_that_touch_do_not_meet(make_pairing: Make) -> None:
    pairing = make_pairing([([[(2, 6)]], [[(6, 9)]]), ([[(4, 9)]], [[(0, 4)]])])
    sides = distinct_annotations(pairing.reference_marks, pairing.predicted_marks, pairing.length)
    assert len(agreeing_pairs(*sides)["token_overlap"][0]) == 0


def test_identity_tells_prefixes_and_rows_apart(make_pairing: Make) -> None:
    long = [(0, 2), (4, 6), (8, 10)]
    rows = [([long, long[:2], long[:1]], [long[:2]]), ([long[:2]], [long])]
    pairing = make_pairing(rows)
    one, two = distinct_annotations(
        pairing.reference_marks, pairing.predicted_marks, pairing.length
    )
    assert len(set(one.identity.tolist())) == 4
    a, b = agreeing_pairs(one, two)["exact"]
    assert one.row[a].tolist() == [0]
    assert two.row[b].tolist() == [0]
