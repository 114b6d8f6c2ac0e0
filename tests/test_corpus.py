import pickle

import pytest
from hypothesis import given
from strategies import corpora

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Metadata, Note, Rubric, Span


def small() -> Corpus:
    builder = CorpusBuilder()
    builder.add_note(Note("n1", "c", "denies fever, chills"))
    builder.add_note(Note("n2", "c", "well"))
    builder.add_feature(Feature("fever", "c", "No fever"))
    builder.add_feature(Feature("chills", "c", "No chills"))
    builder.annotate("ann", "n1", "chills", [(14, 20), Span(0, 6)])
    builder.judge("ann", "n1", "fever")
    builder.judge("bob", "n2", "fever")
    return builder.build()


def test_not_judged_is_not_judged_absent() -> None:
    corpus = small()
    assert corpus.annotations("n1", "fever", "ann") == ()
    assert corpus.annotations("n1", "fever", "bob") is None
    assert corpus.annotations("n2", "chills", "bob") is None


def test_fragments_belong_to_one_annotation_and_are_sorted() -> None:
    (annotation,) = small().annotations("n1", "chills", "ann") or ()
    assert annotation.spans == (Span(0, 6), Span(14, 20))
    assert annotation.text("denies fever, chills") == "denies chills"


@given(corpora())
def test_values_say_what_the_columns_say(corpus: Corpus) -> None:
    builder = CorpusBuilder(corpus.metadata)
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for note in corpus.notes:
        builder.add_note(note)
    for annotator in corpus.annotators:
        builder.add_annotator(annotator)
    for score in corpus.scores:
        builder.add_score(score)
    for note, annotator, feature, annotations in corpus.values():
        builder.judge(annotator.id, note.id, feature.id)
        for a in annotations:
            builder.annotate(
                annotator.id, note.id, feature.id, a.spans, confidence=a.confidence, detail=a.detail
            )
    assert builder.build() == corpus


@given(corpora())
def test_selecting_everything_changes_nothing(corpus: Corpus) -> None:
    assert corpus.select() == corpus
    assert corpus.select(cases=[r.case for r in corpus.rubrics]) == corpus


@given(corpora())
def test_a_corpus_survives_pickling(corpus: Corpus) -> None:
    assert pickle.loads(pickle.dumps(corpus)) == corpus


def test_select_keeps_what_was_asked_for() -> None:
    corpus = small().select(notes=["n2"], annotators=["bob"])
    assert [n.id for n in corpus.notes] == ["n2"]
    assert corpus.annotations("n2", "fever", "bob") == ()
    assert corpus.annotators == (Annotator("bob"),)


def test_polars_form_keeps_rows_without_annotations() -> None:
    table = small().to_polars()
    assert table.height == 4
    assert table["start"].null_count() == 2


def test_values_are_frozen_and_checked() -> None:
    with pytest.raises(AttributeError):
        small().notes[0].text = ""  # type: ignore[misc]
    with pytest.raises(ValueError, match="start < end"):
        Span(3, 3)
    with pytest.raises(ValueError, match="others"):
        Rubric("c", (Feature("f", "other", "x"),))
    with pytest.raises(ValueError, match="already"):
        builder = CorpusBuilder()
        builder.add_note(Note("n", "c", ""))
        builder.add_note(Note("n", "c", ""))
    assert hash(Metadata(a=1)) == hash(Metadata({"a": 1}))
