"""The rows of a note: numbered as in the rubric, with both sides' marks and what differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rubricate import CorpusBuilder, Feature, Note
from rubricate.evaluation import evaluate
from rubricate.evaluation.agreement import agree
from rubricate.evaluation.evaluation import add_intervals
from rubricate.reports.agreement import agreement_report
from rubricate.reports.blocks import blocks_html, to_html
from rubricate.reports.by_note import MarkSource, costly_notes, marked_rows, presence_scores
from rubricate.reports.evaluation import evaluation_report
from rubricate.reports.highlight import Sides
from rubricate.rows import Detail
from rubricate.spans import Span
from rubricate.stats import Resampling


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
    html = blocks_html(costly_notes([make_source()], limit=5))
    assert "The sides differ in 1 notes" not in html
    assert html.count("<details") == 1  # the other note has no difference
    assert "8 characters differ: 8 ref only, 0 pred only" in html
    assert "The same on both sides: 3. Absent on both sides: 4." in html
    assert html.index('data-f="2"') < html.index('data-f="1"')  # what cost more comes first
    assert "exact, confidence 0.50" in html


def test_limit(read_page: Callable[[str], Any]) -> None:
    html = blocks_html(costly_notes([make_source(), make_source()], limit=1))
    assert html.count("<details") == 1
    assert "50.0 %" in html


@pytest.fixture
def corpus():
    builder = CorpusBuilder()
    for i, weight in enumerate((1.0, 2.0, 4.0)):
        builder.add_feature(Feature(str(i), "c", f"F{i}", weight=weight))
    for n in range(12):
        builder.add_note(Note(str(n), "c", "x" * 10))
        for who, marked in (("a", n % 4), ("b", n % 3)):
            builder.judge_all(who, str(n))
            for i in range(marked):
                builder.annotate(who, str(n), str(i), [(0, 2)])
    return builder.build()


def test_scores_are_sums_of_weights(corpus) -> None:
    found = evaluate(corpus, corpus, reference_annotator="a", predicted_annotator="b")
    first, second = presence_scores(found, corpus)
    points = np.array([0, 1, 3, 7])
    assert first.tolist() == points[np.arange(12) % 4].tolist()
    assert second.tolist() == points[np.arange(12) % 3].tolist()


def test_pages_draw_differences_of_scores(corpus, read_page) -> None:
    agreement = agree(corpus, settings=Resampling(resamples=50))
    page = to_html(agreement_report(agreement, worst=1))
    assert "Scores: b minus a" in page
    assert "AC2" in page
    found = evaluate(corpus, corpus, reference_annotator="a", predicted_annotator="b")
    measured = {"b": add_intervals(found, Resampling(resamples=50))}
    assert "Scores: b minus a" in to_html(
        evaluation_report(measured, corpus, {"b": corpus}, worst=1)
    )
    bias = agreement.scores.limits.bias
    assert bias.value == pytest.approx(16 / 12 - 33 / 12)


def test_equal_scores_have_neither_a_drawing_nor_an_interval_without_width(corpus) -> None:
    both = corpus.select(annotators=["a"])
    builder = CorpusBuilder()
    for rubric in both.rubrics:
        builder.add_rubric(rubric)
    for note in both.notes:
        builder.add_note(note)
        for who in ("a", "b"):
            builder.judge_all(who, note.id)
            for feature in both.features:
                for found in both.annotations(note.id, feature.id, "a"):
                    builder.annotate(who, note.id, feature.id, found.spans)
    agreement = agree(builder.build(), settings=Resampling(resamples=50))
    assert agreement.scores.absolute.value == 1
    assert not agreement.scores.absolute.has_interval
    page = to_html(agreement_report(agreement, worst=1))
    assert "the same score" in page
    assert "Scores: b minus a" not in page
