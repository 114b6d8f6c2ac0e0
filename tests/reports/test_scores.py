import numpy as np
import pytest

from rubricate import CorpusBuilder, Feature, Note
from rubricate.agreement import agree
from rubricate.measures import evaluate
from rubricate.measures.intervals import add_intervals
from rubricate.reports import agreement_page
from rubricate.reports.by_note import presence_scores
from rubricate.reports.evaluation import evaluation_page
from rubricate.stats import Resampling


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
    page = agreement_page(agreement, worst=1)
    assert "Scores: b minus a" in page
    assert "AC2" in page
    found = evaluate(corpus, corpus, reference_annotator="a", predicted_annotator="b")
    measured = {"b": add_intervals(found, Resampling(resamples=50))}
    assert "Scores: b minus a" in evaluation_page(measured, corpus, {"b": corpus}, worst=1)
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
    page = agreement_page(agreement, worst=1)
    assert "the same score" in page
    assert "Scores: b minus a" not in page
