import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rubricate.builder import RowsBuilder
from rubricate.measures.marks import Marks, covered, gather_marks, merge_fragments, zones
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
    marks = Marks(
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
