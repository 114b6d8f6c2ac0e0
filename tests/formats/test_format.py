from hypothesis import given
from strategies import corpora

from rubricate import (
    Annotator,
    Corpus,
    CorpusBuilder,
    Feature,
    Metadata,
    Note,
    Rubric,
    Score,
    load_corpus,
)
from rubricate.formats.format import (
    HOLDABLE,
    count_losses,
    foreign_rows,
    overlapping_annotations,
    repeated_annotations,
)
from rubricate.rows import Contradiction, Detail


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
    builder.contradict("a", "n", "g", Contradiction(((0, 2),), 0.9, "says otherwise"))
    lost = count_losses(builder.build(), frozenset())
    assert lost == {
        "fragments": 1,
        "overlaps": 4,
        "repeats": 1,
        "annotators": 1,
        "rubrics": 3,
        "unjudged": 1,
        "unannotated": 1,
        "empty notes": 1,
        "foreign": 1,
        "newlines": 1,
        "confidence": 1,
        "contradictions": 1,
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


def lost(corpus: Corpus, kind: str) -> int:
    return count_losses(corpus, frozenset(HOLDABLE) - {kind}).get(kind, 0)


def test_unjudged_rows_are_those_missing_from_a_rubric_somebody_began() -> None:
    builder = CorpusBuilder()
    for note, case in (("n", "c"), ("m", "c"), ("o", "unknown"), ("p", "d")):
        builder.add_note(Note(note, case, "text"))
    for feature, case in (("f", "c"), ("g", "c"), ("h", "c"), ("x", "d")):
        builder.add_feature(Feature(feature, case, feature))
    assert lost(builder.build(), "unjudged") == 0
    builder.judge("a", "n", "f")
    assert lost(builder.build(), "unjudged") == 2
    builder.judge("b", "n", "g")
    assert lost(builder.build(), "unjudged") == 4
    builder.judge("b", "m", "x")  # another case's feature: m was begun, its three rows are missing
    assert lost(builder.build(), "unjudged") == 7
    builder.judge("a", "o", "f")  # a case without rubric misses nothing
    assert lost(builder.build(), "unjudged") == 7
    builder.judge("a", "p", "x")
    assert lost(builder.build(), "unjudged") == 7
    assert foreign_rows(builder.build()).tolist() == [False, False, True, True, False]


def test_details_metadata_and_scores_are_counted() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("1", "c", "a\nb c", Metadata(site="A")))
    builder.add_rubric(Rubric("c", (Feature("2", "c", "F"),), metadata=Metadata(level=1)))
    builder.add_annotator(Annotator("a", "expert", Metadata(years=3)))
    details = [
        Detail(reason="r"),
        Detail(comment="c"),
        Detail(attributes=(("n", "v"),)),
        Detail(stated_text=""),
    ]
    for i, detail in enumerate(details):
        builder.annotate("a", "1", "2", [(i, i + 1)], detail=detail)
    builder.judge("a", "1", "2", probability=0.0)
    builder.add_score(Score("1", "a", 2.0))
    assert count_losses(builder.build(), frozenset()) == {
        "rubrics": 1,
        "metadata": 3,
        "groups": 1,
        "newlines": 1,
        "probability": 1,
        "reasons": 1,
        "comments": 1,
        "attributes": 1,
        "stated text": 1,
        "scores": 1,
    }


def test_only_a_break_inside_a_span_is_across_lines() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "a\nb"))
    builder.add_feature(Feature("f", "c", "F"))
    builder.annotate("a", "n", "f", [(0, 1), (2, 3)])
    assert lost(builder.build(), "newlines") == 0
    builder.annotate("a", "n", "f", [(0, 2), (1, 3)])
    builder.annotate("a", "n", "f", [(1, 2)])
    assert lost(builder.build(), "newlines") == 2


def test_repeats_are_equal_in_all_fragments_and_of_one_row() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "no fever"))
    for feature in "fg":
        builder.add_feature(Feature(feature, "c", feature))
        builder.annotate("a", "n", feature, [(0, 2), (3, 8)])
    assert repeated_annotations(builder.build().rows) == []
    builder.annotate("a", "n", "f", [(0, 2)])
    builder.annotate("a", "n", "f", [(0, 2), (3, 7)])
    assert repeated_annotations(builder.build().rows) == []
    for _ in range(2):
        builder.annotate("a", "n", "f", [(0, 2), (3, 8)])
    assert len(repeated_annotations(builder.build().rows)) == 2
