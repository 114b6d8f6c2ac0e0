import pickle
from dataclasses import replace

import pytest
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
    Span,
)
from rubricate.errors import ArgumentError, UnknownNameError
from rubricate.rows import Contradiction


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


@given(corpora(contradictions=True))
def test_selecting_everything_changes_nothing(corpus: Corpus) -> None:
    assert corpus.select() == corpus
    assert corpus.select(cases=[r.case for r in corpus.rubrics]) == corpus


@given(corpora(contradictions=True))
def test_a_corpus_survives_pickling(corpus: Corpus) -> None:
    assert pickle.loads(pickle.dumps(corpus)) == corpus


def test_select_keeps_what_was_asked_for() -> None:
    corpus = small().select(notes=["n2"], annotators=["bob"])
    assert [n.id for n in corpus.notes] == ["n2"]
    assert corpus.annotations("n2", "fever", "bob") == ()
    assert corpus.annotators == (Annotator("bob"),)


def test_polars_form_keeps_rows_without_annotations() -> None:
    table = small().to_frame()
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


def test_a_corpus_differs_by_each_of_its_parts() -> None:
    corpus = small()
    assert corpus == small() and hash(corpus) == hash(small())
    for change in (
        {"notes": corpus.notes[:1]},
        {"rubrics": ()},
        {"annotators": corpus.annotators[::-1]},
        {"rows": corpus.rows.take([0])},
        {"scores": (Score("n1", "ann", 1.0),)},
        {"metadata": Metadata(a=1)},
    ):
        assert replace(corpus, **change) != corpus
    assert corpus != "corpus"


def test_rows_of_a_note_are_its_own() -> None:
    corpus = small()
    assert list(corpus.note_rows("n1")) == [0, 1]
    assert list(corpus.note_rows("n2")) == [2]
    assert corpus.row("n2", "fever", "bob") == 2
    assert corpus.row("n2", "chills", "bob") is None
    assert corpus.row("n1", "fever", "bob") is None


def test_scores_are_selected_with_their_note_and_annotator() -> None:
    scores = tuple(Score(note, who, 1.0) for note in ("n1", "n2") for who in ("ann", "bob"))
    corpus = replace(small(), scores=scores)
    assert corpus.select(notes=["n1"], annotators=["bob"]).scores == (scores[1],)
    assert corpus.select(cases=[]).scores == ()
    assert corpus.select(annotators=["ann"]).scores == (scores[0], scores[2])
    assert corpus.with_rows(corpus.rows).scores == ()


def test_a_note_matches_its_whole_value_or_one_of_several() -> None:
    note = Note("n", "4", "", Metadata(site="A,B", age=3, gone=None))
    assert note.value("case") == "4" and note.value("age") == 3 and note.value("x") is None
    assert note.matches("site", "A,B") and not note.matches("site", "A")
    assert note.matches("age", "2,3") and not note.matches("age", "2,33")
    assert note.matches("gone", "None")


def test_a_case_without_rubric_has_an_empty_one() -> None:
    assert len(small().rubric("unknown")) == 0
    assert len(small().rubric("c")) == 2


def test_a_contradiction_is_found_by_its_names() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "pain on the left"))
    builder.add_feature(Feature("f", "c", "Pain on the right"))
    builder.add_feature(Feature("g", "c", "Fever"))
    said = Contradiction(((0, 16),), 0.9, "says left")
    builder.contradict("a", "n", "f", said)
    corpus = builder.build()
    assert corpus.contradiction("n", "f", "a") == said
    assert corpus.contradiction("n", "g", "a") is None
    assert corpus.annotations("n", "f", "a") == ()
    assert corpus.select(notes=["n"]).contradiction("n", "f", "a") == said


def test_selecting_names_that_are_not_there_is_refused() -> None:
    corpus = small()
    with pytest.raises(UnknownNameError, match="'n1'"):
        corpus.select(notes=["n1", "n1x"])
    with pytest.raises(UnknownNameError, match="no case '77'"):
        corpus.select(cases=["77"])
    with pytest.raises(UnknownNameError, match="did you mean 'bob'"):
        corpus.select(annotators=["bobb"])
    # A text is a collection of letters, and would choose other names or none.
    with pytest.raises(ArgumentError, match="list of names"):
        corpus.select(annotators="bob")
    assert corpus.select(notes=[]).notes == ()
