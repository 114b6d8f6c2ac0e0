import numpy as np
from hypothesis import given
from strategies import corpora

from rubricate import Corpus
from rubricate.builder import RowsBuilder
from rubricate.rows import Detail, Rows


@given(corpora())
def test_taking_everything_changes_nothing(corpus: Corpus) -> None:
    assert corpus.rows.take(np.arange(len(corpus.rows))) == corpus.rows


@given(corpora())
def test_parts_put_together_are_the_whole(corpus: Corpus) -> None:
    even = np.arange(len(corpus.rows)) % 2 == 0
    parts = [corpus.rows.take(~even), corpus.rows.take(even)]
    assert Rows.concatenate(parts) == corpus.rows


@given(corpora())
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
