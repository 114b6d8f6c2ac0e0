import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.formats.tables import guarded, unguarded
from rubricate.run import ITEM_COLUMNS, SCORE_COLUMNS, parse_spans, read_rows, spans_text

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
    assert not guarded(text).startswith(tuple("=+-@\t\r\n＝＋－＠"))
    assert unguarded(guarded(text)) == text
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow([guarded(text), "x"])
    assert next(csv.reader(io.StringIO(stream.getvalue(), newline="")))[0] == guarded(text)


@pytest.mark.parametrize("columns", [SCORE_COLUMNS, ITEM_COLUMNS])
def test_no_column_comes_twice(columns: tuple[tuple[str, ...], ...]) -> None:
    names = [column[0] for column in columns]
    assert len(set(names)) == len(names)


def test_rows_come_as_values_and_unknown_columns_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("\ufeffmore,note,case,score,maximum\nx,'=1,c,1.5,\n\ny,b,c\n", encoding="utf-8")
    assert list(read_rows(path, SCORE_COLUMNS)) == [
        {"note": "=1", "case": "c", "score": 1.5, "maximum": None},
        {"note": "b", "case": "c", "score": None, "maximum": None},
    ]


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(b"note,case,score,maximum\n\xff,c,1,1\n")
    with pytest.raises(InputError, match="UTF-8"):
        list(read_rows(path, SCORE_COLUMNS))
    with pytest.raises(InputError, match="no such file"):
        list(read_rows(tmp_path / "none.csv", SCORE_COLUMNS))
