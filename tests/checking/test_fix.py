from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note, Score
from rubricate.checking import RULES, check_corpus, fix_corpus
from rubricate.rows import Detail


def builder_with(text: str, *features: str) -> CorpusBuilder:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", text))
    for number, feature in enumerate(features):
        builder.add_feature(Feature(f"f{number}", "c", feature))
    return builder


def spans_of(corpus: Corpus, feature: str = "f0") -> list[tuple[tuple[int, int], ...]]:
    found = corpus.annotations("n", feature, "a") or ()
    return [tuple((span.start, span.end) for span in one.spans) for one in found]


def test_a_corpus_without_faults_comes_back_as_it_is() -> None:
    builder = builder_with("has fever", "Fever")
    builder.annotate("a", "n", "f0", [(4, 9)])
    corpus = builder.build()
    fixed, log = fix_corpus(corpus, check_corpus(corpus))
    assert fixed is corpus
    assert log == ()


def test_repairs_follow_one_another_and_are_all_logged() -> None:
    builder = builder_with("She has hot flashes. ", "Hot flashes")
    builder.annotate("a", "n", "f0", [(0, 21)])
    builder.annotate("a", "n", "f0", [(4, 18)])
    corpus = builder.build()
    fixed, log = fix_corpus(corpus, check_corpus(corpus))
    assert spans_of(fixed) == [((4, 19),)]
    assert {change.rule for change in log} == {
        "white-space",
        "end-punctuation",
        "cut-word",
        "leading-reference",
        "repeated",
    }
    assert spans_of(corpus) == [((0, 21),), ((4, 18),)]
    removed = [change for change in log if change.new_feature_id is None]
    assert [change.new_spans for change in removed] == [()]


def test_a_moved_annotation_joins_the_own_feature_and_its_row_goes() -> None:
    builder = builder_with("58 F, female", "Female")
    builder.add_feature(Feature("g0", "d", "Female"))
    builder.judge("a", "n", "f0", probability=0.25)
    builder.annotate("a", "n", "g0", [(3, 5)], confidence=0.5)
    builder.annotate("a", "n", "g0", [(6, 12)])
    corpus = builder.build()
    fixed, log = fix_corpus(corpus, check_corpus(corpus))
    assert spans_of(fixed) == [((3, 4),)]
    assert fixed.annotations("n", "g0", "a") is None
    assert [change.rule for change in log].count("foreign-feature") == 2
    assert fixed.rows.probability is not None
    assert fixed.rows.probability.tolist() == [0.25]
    assert fixed.rows.confidence is not None
    assert fixed.rows.confidence.tolist() == [0.5]


def test_a_moved_annotation_makes_the_row_nobody_judged() -> None:
    builder = builder_with("58 F", "Female")
    builder.add_feature(Feature("g0", "d", "Female"))
    builder.annotate("a", "n", "g0", [(3, 4)])
    fixed, _ = fix_corpus(builder.build(), check_corpus(builder.build()))
    assert spans_of(fixed) == [((3, 4),)]
    assert len(fixed.rows) == 1


def test_only_the_findings_given_are_repaired() -> None:
    builder = builder_with(" fever. cough. ", "Fever", "Cough")
    builder.annotate("a", "n", "f0", [(0, 7)])
    builder.annotate("a", "n", "f0", [(8, 14)])
    corpus = builder.build()
    findings = check_corpus(corpus).findings
    chosen = [f for f in findings if f.rule == "white-space" or f.annotation == 1]
    fixed, _ = fix_corpus(corpus, chosen)
    assert spans_of(fixed) == [((1, 7),), ((8, 13),)]


def test_what_was_stated_is_forgotten_once_it_is_found() -> None:
    builder = builder_with("has fever", "Fever")
    detail = Detail(comment="keep", stated_text="fever")
    builder.annotate("a", "n", "f0", [(3, 8)], detail=detail)
    corpus = builder.build()
    fixed, (change,) = fix_corpus(corpus, check_corpus(corpus))
    assert spans_of(fixed) == [((4, 9),)]
    assert fixed.row_annotations(0)[0].detail == Detail(comment="keep")
    assert (change.old_spans, change.new_spans) == (((3, 8),), ((4, 9),))


def test_scores_and_the_rest_of_the_corpus_survive() -> None:
    builder = builder_with("has fever ", "Fever")
    builder.annotate("a", "n", "f0", [(4, 10)])
    builder.add_score(Score("n", "a", 1.0))
    corpus = builder.build()
    fixed, _ = fix_corpus(corpus, check_corpus(corpus))
    assert replace(fixed, rows=corpus.rows) == corpus


def test_unsafe_repairs_are_left_to_a_person() -> None:
    builder = builder_with("has fever", "Fever")
    builder.annotate("a", "n", "f0", [(4, 10)])
    corpus = builder.build()
    assert fix_corpus(corpus, check_corpus(corpus)) == (corpus, ())


@st.composite
def wrong_offsets(draw: st.DrawFn) -> Corpus:
    """A random corpus, some of whose offsets are moved."""
    corpus = draw(corpora(contradictions=True))
    rows = corpus.rows
    moved = [
        np.asarray([x + draw(st.sampled_from([0, 0, -1, 1, 2])) for x in column], dtype=np.int32)
        for column in (rows.start, rows.end)
    ]
    return replace(corpus, rows=replace(rows, start=moved[0], end=moved[1]).relabel())


@given(wrong_offsets(), st.sets(st.sampled_from(sorted(RULES)), min_size=1) | st.none())
@settings(deadline=None, max_examples=200)
def test_nothing_repairable_is_left(corpus: Corpus, rules: set[str] | None) -> None:
    before = corpus.rows.relabel()
    fixed, log = fix_corpus(corpus, check_corpus(corpus, rules=rules))
    assert not any(finding.is_repairable for finding in check_corpus(fixed, rules=rules))
    assert corpus.rows == before
    if not log:
        assert fixed == corpus
    # No safe repair makes absent what was present, or the other way round.
    if rules is None or "foreign-feature" not in rules:
        present = np.diff(corpus.rows.first_annotation) > 0
        assert np.array_equal(present, np.diff(fixed.rows.first_annotation) > 0)
