import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.scoring.cells import guarded, parse_spans, spans_text, unguarded

SPAN = st.tuples(st.integers(0, 50), st.integers(1, 9)).map(lambda p: (p[0], p[0] + p[1]))
SPANS = st.lists(st.lists(SPAN, min_size=1, max_size=3).map(tuple), max_size=3).map(tuple)


@given(SPANS)
def test_spans_come_back(spans: tuple[tuple[tuple[int, int], ...], ...]) -> None:
    assert parse_spans(spans_text(spans)) == spans


@pytest.mark.parametrize("text", ["5", "5 5", "6 5", "a b", "-1 4", "1 2;;3 4"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_spans(text)


@given(st.text("=+-@'a \r\n\",", max_size=6))
def test_no_cell_begins_like_a_formula_and_all_come_back(text: str) -> None:
    assert not guarded(text).startswith(("=", "+", "-", "@"))
    assert unguarded(guarded(text)) == text
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow([guarded(text), "x"])
    assert next(csv.reader(io.StringIO(stream.getvalue(), newline="")))[0] == guarded(text)
