from hypothesis import given
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note, load_corpus
from rubricate.formats.losses import HOLDABLE, count_losses, overlapping_annotations


def test_a_format_that_holds_everything_loses_nothing() -> None:
    assert count_losses(load_corpus("open-notes"), frozenset(HOLDABLE)) == {}


def test_losses_are_counted_by_hand() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "no fever,\nchills"))
    builder.add_note(Note("m", "c", ""))
    for name in ("f", "g"):
        builder.add_feature(Feature(name, "c", name))
    builder.add_feature(Feature("h", "d", "other case"))
    builder.annotate("a", "n", "f", [(0, 8)], confidence=0.5)
    builder.annotate("a", "n", "f", [(0, 8)])
    builder.annotate("b", "n", "g", [(0, 2), (10, 16)])
    builder.annotate("b", "n", "h", [(3, 12)])
    lost = count_losses(builder.build(), frozenset())
    assert lost == {
        "fragments": 1,
        "overlaps": 4,
        "repeats": 1,
        "annotators": 1,
        "rubrics": 3,
        "unjudged": 2,
        "unannotated": 1,
        "empty notes": 1,
        "foreign": 1,
        "newlines": 1,
        "confidence": 1,
        "ids": 5,
    }


def test_spans_that_cover_nothing_overlap_nothing() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "no fever"))
    builder.add_feature(Feature("f", "c", "No fever"))
    for span in ((5, 2), (0, 3), (2, 4), (-3, 9), (900, 1), (3, 3)):
        builder.annotate("a", "n", "f", [span])
    assert count_losses(builder.build(), frozenset(HOLDABLE) - {"overlaps"}) == {"overlaps": 2}


@given(corpora())
def test_overlaps_against_brute_force(corpus: Corpus) -> None:
    rows = corpus.rows
    spans = [
        (int(rows.note[r]), int(rows.annotator[r]), int(a), int(s), int(e))
        for r, a, s, e in zip(
            rows.span_row, rows.span_annotation, rows.start, rows.end, strict=True
        )
    ]
    expected = sorted(
        {
            x[2]
            for x in spans
            for y in spans
            if x[:2] == y[:2] and x[2] != y[2] and x[3] < y[4] and y[3] < x[4]
        }
    )
    assert overlapping_annotations(rows).tolist() == expected
