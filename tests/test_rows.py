import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from strategies import corpora

from rubricate import Corpus, load_corpus
from rubricate.builder import RowsBuilder
from rubricate.rows import Contradiction, Detail, Rows


@given(corpora(contradictions=True))
def test_taking_everything_changes_nothing(corpus: Corpus) -> None:
    assert corpus.rows.take(np.arange(len(corpus.rows))) == corpus.rows


@given(corpora(contradictions=True))
def test_parts_put_together_are_the_whole(corpus: Corpus) -> None:
    even = np.arange(len(corpus.rows)) % 2 == 0
    parts = [corpus.rows.take(~even), corpus.rows.take(even)]
    assert Rows.concatenate(parts) == corpus.rows


@given(corpora(contradictions=True))
def test_relabelling_there_and_back_is_the_identity(corpus: Corpus) -> None:
    turned = np.arange(len(corpus.notes))[::-1]
    assert corpus.rows.relabel(note=turned).relabel(note=turned) == corpus.rows


def test_order_of_adding_does_not_matter() -> None:
    given_ = [
        (0, 0, 0, [(3, 5), (0, 1)], Detail(reason="b")),
        (0, 0, 0, [(0, 1), (2, 9)], Detail()),
        (0, 0, 0, [(0, 1), (2, 4)], Detail()),
        (1, 1, 0, [(4, 5)], Detail()),
    ]
    first, second = RowsBuilder(), RowsBuilder()
    for builder, items in ((first, given_), (second, given_[::-1])):
        for note, annotator, feature, spans, detail in items:
            builder.annotate(note, annotator, feature, spans, detail=detail)
    assert first.build() == second.build()


def test_judged_absent_is_a_row_without_annotations() -> None:
    builder = RowsBuilder()
    builder.judge(0, 0, 0)
    rows = builder.build()
    assert len(rows) == 1
    assert rows.n_annotations == 0
    assert len(Rows.empty()) == 0


def test_contradictions_stay_with_their_rows() -> None:
    builder = RowsBuilder()
    said = Contradiction(((5, 9), (0, 2)), 0.75, "says left")
    builder.contradict(1, 0, 1, said)
    builder.judge(1, 0, 0)
    builder.judge(0, 0, 1)
    rows = builder.build()
    kept = said._replace(spans=((0, 2), (5, 9)))
    assert rows.contradictions == {2: kept}
    assert rows.take([2]).contradictions == {0: kept}
    assert rows.take([0, 1]).contradictions == {}
    assert rows.relabel(note=[1, 0]).contradictions == {1: kept}
    assert rows != rows.take([0, 1, 2]).relabel(feature=[1, 0])


def test_half_a_million_rows_cost_megabytes() -> None:
    n = 44_000 * 14
    note = np.repeat(np.arange(44_000), 14)
    rows = Rows.build(
        note=note,
        annotator=np.zeros(n),
        feature=np.tile(np.arange(14), 44_000),
        row_of_annotation=np.arange(n),
        annotation_of_span=np.arange(n),
        start=np.zeros(n),
        end=np.ones(n),
    )
    columns = [getattr(rows, name) for name in rows.__slots__]
    assert sum(c.nbytes for c in columns if isinstance(c, np.ndarray)) < 30e6


def rows_of(*annotations: tuple[int, list[tuple[int, int]], Detail]) -> Rows:
    builder = RowsBuilder()
    for feature, spans, detail in annotations:
        builder.annotate(0, 0, feature, spans, detail=detail)
    return builder.build()


def test_annotations_of_a_row_are_those_and_no_others() -> None:
    builder = RowsBuilder()
    builder.judge(0, 0, 0)
    builder.annotate(0, 0, 1, [(3, 8), (0, 2)], confidence=0.5)
    builder.annotate(0, 0, 1, [(0, 1)], detail=Detail(reason="r"))
    builder.annotate(1, 0, 0, [(9, 4)])
    rows = builder.build()
    assert rows.annotations(0) == []
    assert [(a.spans, a.confidence, a.detail.reason) for a in rows.annotations(1)] == [
        (((0, 1),), None, "r"),
        (((0, 2), (3, 8)), 0.5, ""),
    ]
    assert [a.spans for a in rows.annotations(2)] == [((9, 4),)]


def test_annotations_are_ordered_by_all_spans_and_then_by_details() -> None:
    none = Detail()
    given = [
        (0, [(0, 2), (5, 6)], none),
        (0, [(0, 2), (3, 4)], none),
        (0, [(0, 2)], Detail(comment="b")),
        (0, [(0, 2)], Detail(comment="a")),
        (0, [(0, 1)], none),
    ]
    rows = rows_of(*given)
    assert [(a.spans, a.detail.comment) for a in rows.annotations(0)] == [
        (((0, 1),), ""),
        (((0, 2),), "a"),
        (((0, 2),), "b"),
        (((0, 2), (3, 4)), ""),
        (((0, 2), (5, 6)), ""),
    ]
    assert rows_of(*given[::-1]) == rows


def test_rows_differ_by_each_column_and_by_details() -> None:
    one = rows_of((0, [(0, 2)], Detail()))
    assert one == rows_of((0, [(0, 2)], Detail()))
    for other in (
        rows_of((1, [(0, 2)], Detail())),
        rows_of((0, [(1, 2)], Detail())),
        rows_of((0, [(0, 3)], Detail())),
        rows_of((0, [(0, 2)], Detail(comment="c"))),
        Rows.empty(),
    ):
        assert one != other
    assert one != "rows"


def test_a_column_of_unknown_values_is_no_column() -> None:
    builder = RowsBuilder()
    builder.judge(0, 0, 0)
    assert builder.build().probability is None
    builder.judge(0, 0, 1, probability=0.0)
    rows = builder.build()
    assert rows.probability is not None and np.isnan(rows.probability[0])
    assert rows.take([0]).probability is None
    assert rows.take(np.array([False, True])).probability is not None
    whole = Rows.concatenate([rows.take([0]), rows.take([1])])
    assert whole == rows
    assert Rows.concatenate([]) == Rows.empty()


def _arrays(rows: Rows) -> list[np.ndarray]:
    values = (getattr(rows, name) for name in rows.__slots__)
    return [value for value in values if isinstance(value, np.ndarray)]


def test_arrays_can_only_be_read_however_the_rows_were_made() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    made = {
        "read": corpus.rows,
        "selected": corpus.select(annotators=["reference"]).rows,
        "pickled": pickle.loads(pickle.dumps(corpus)).rows,
        "copied": copy.deepcopy(corpus).rows,
        "taken": corpus.rows.take([0, 2]),
        "put together": Rows.concatenate([corpus.rows]),
        "empty": Rows.empty(),
        "replaced": dataclasses.replace(corpus.rows, probability=np.zeros(len(corpus.rows), "f4")),
    }
    assert made["pickled"] == corpus.rows
    for how, rows in made.items():
        for array in _arrays(rows):
            assert not array.flags.writeable, how
            base = array.base
            assert not (isinstance(base, np.ndarray) and base.flags.writeable), how
        with pytest.raises((TypeError, AttributeError)):
            rows.details[0] = None  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        corpus.rows.start[0] = 3
    whole = np.arange(10, dtype=np.int32)
    rows = dataclasses.replace(made["taken"], note=whole[:2])
    whole[0] = 9
    assert rows.note[0] == 0, "the rows hold no view of what others write to"
