"""The rows of a note: numbered as in the rubric, with both sides' marks and what differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rubricate import CorpusBuilder, Feature, Note
from rubricate.measures import evaluate
from rubricate.reports.by_note import MarkSource, costly_notes, marked_rows
from rubricate.reports.highlight import Sides
from rubricate.rows import Detail
from rubricate.spans import Span


def make_source() -> MarkSource:
    builder = CorpusBuilder()
    for k, text in enumerate(["No fever", "Cough", "Age", "Pain"]):
        builder.add_feature(Feature(f"f{k}", "c", text))
    builder.add_note(Note("n", "c", "58 yo, no fever, cough"))
    builder.add_note(Note("quiet", "c", "nothing"))
    for annotator in ("ref", "pred"):
        for note in ("n", "quiet"):
            for k in range(4):
                builder.judge(annotator, note, f"f{k}")
    builder.annotate("ref", "n", "f0", [(7, 15)])
    builder.annotate("pred", "n", "f0", [(10, 15)], confidence=0.5, detail=Detail(reason="exact"))
    builder.annotate("ref", "n", "f1", [(17, 22)])
    builder.annotate("ref", "n", "f2", [(0, 5)])
    builder.annotate("pred", "n", "f2", [(0, 5)])
    corpus = builder.build()
    evaluation = evaluate(corpus, corpus, reference_annotator="ref", predicted_annotator="pred")
    return MarkSource(evaluation, corpus, corpus, Sides("ref", "pred"))


def test_rows_have_marks_and_costs() -> None:
    source = make_source()
    rows = marked_rows(source, source.reference.note("n"))
    assert [(r.number, r.n_missed, r.n_false) for r in rows] == [
        (1, 3, 0), (2, 5, 0), (3, 0, 0), (4, 0, 0),
    ]  # fmt: skip
    assert [(m.side, m.spans, m.remark) for m in rows[0].marks] == [
        ("reference", (Span(7, 15),), ""),
        ("predicted", (Span(10, 15),), "exact, confidence 0.50"),
    ]
    assert rows[3].marks == ()


def test_the_part_of_a_note_says_what_differs_and_what_does_not() -> None:
    html = costly_notes([make_source()], limit=5)
    assert "The sides differ in 1 notes" not in html
    assert html.count("<details") == 1  # the other note has no difference
    assert "8 characters differ: 8 ref only, 0 pred only" in html
    assert "The same on both sides: 3. Absent on both sides: 4." in html
    assert html.index('data-f="2"') < html.index('data-f="1"')  # what cost more comes first
    assert "exact, confidence 0.50" in html


def test_limit(read_page: Callable[[str], Any]) -> None:
    html = costly_notes([make_source(), make_source()], limit=1)
    assert html.count("<details") == 1
    assert "50.0 %" in html
