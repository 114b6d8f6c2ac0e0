from dataclasses import replace

import pytest
from hypothesis import given
from strategies import corpora

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, Rubric, Score, load_corpus
from rubricate.builder import SHOWN_IDS, join_corpora
from rubricate.errors import InputError


@pytest.fixture
def builder() -> CorpusBuilder:
    made = CorpusBuilder()
    made.add_note(Note("n", "c", "no fever"))
    made.add_feature(Feature("f", "c", "No fever"))
    return made


def test_what_was_not_added_is_named(builder: CorpusBuilder) -> None:
    with pytest.raises(KeyError, match="note 'm' was not added"):
        builder.annotate("a", "m", "f", [(0, 8)])
    with pytest.raises(KeyError, match="feature 'g' was not added"):
        builder.judge("a", "n", "g")


def test_an_annotation_without_a_span_is_refused(builder: CorpusBuilder) -> None:
    with pytest.raises(ValueError, match="judge"):
        builder.annotate("a", "n", "f", [])
    builder.judge("a", "n", "f")
    assert builder.build().annotations("n", "f", "a") == ()


def test_the_same_id_twice_is_refused(builder: CorpusBuilder) -> None:
    with pytest.raises(ValueError, match="'n'"):
        builder.add_note(Note("n", "c", "other"))
    with pytest.raises(ValueError, match="'f'"):
        builder.add_feature(Feature("f", "d", "Other"))
    with pytest.raises(ValueError, match="'c'"):
        builder.add_rubric(Rubric("c", (), title="Fever"))


def test_features_added_out_of_order_keep_their_rows() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "d", "cough"))
    for feature in (Feature("1", "c", "A"), Feature("2", "d", "B"), Feature("3", "c", "C")):
        builder.add_feature(feature)
    builder.annotate("a", "n", "2", [(0, 5)])
    corpus = builder.build()
    assert [f.id for f in corpus.features] == ["1", "3", "2"]
    assert len(corpus.annotations("n", "2", "a") or ()) == 1


@given(corpora(contradictions=True))
def test_annotators_taken_apart_join_to_the_same_corpus(corpus: Corpus) -> None:
    if not corpus.annotators:
        return
    parts = {a.id: corpus.select(annotators=[a.id]) for a in corpus.annotators}
    assert join_corpora(parts) == corpus


def test_the_same_annotator_twice_gets_two_names() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    joined = join_corpora({"a": corpus, "b": corpus})
    assert [a.id for a in joined.annotators] == ["a:reference", "b:reference"]
    assert len(joined.rows) == 2 * len(corpus.rows)


def test_changed_text_is_named_by_note_id_only() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    note = replace(corpus.notes[3], text="entirely different")
    changed = replace(corpus, notes=(*corpus.notes[:3], note, *corpus.notes[4:]))
    with pytest.raises(InputError) as caught:
        join_corpora({"a": corpus, "b": changed})
    assert note.id in str(caught.value)
    assert "different" not in str(caught.value).replace("differs", "")


def test_no_common_note_is_an_error() -> None:
    corpus = load_corpus("open-notes")
    with pytest.raises(InputError):
        join_corpora({"a": corpus.select(cases=["0"]), "b": corpus.select(cases=["1"])})


def test_features_of_notes_that_are_not_shared_do_not_matter() -> None:
    corpus = load_corpus("open-notes").select(cases=["0", "1"])
    first = corpus.select(cases=["0"], annotators=["reference"])
    second = corpus.select(annotators=["second_rater"])
    joined = join_corpora({"first": first, "second": second})
    assert joined == corpus.select(cases=["0"])


def test_scores_go_with_their_annotator() -> None:
    scores = (Score("n", "a", 3.0), Score("n", "examiner", 4.0), Score("m", "a", 5.0))
    notes = (Note("n", "c", "fever"), Note("m", "c", "cough"))
    first = Corpus(notes, (), (Annotator("a"),), scores=scores)
    joined = join_corpora({"x": first, "y": first.select(notes=["n"])})
    assert [(s.note, s.annotator) for s in joined.scores] == [
        ("n", "x:a"), ("n", "examiner"), ("n", "y:a"), ("n", "examiner"),
    ]  # fmt: skip
    assert {s.annotator for s in first.select(annotators=["a"]).scores} == {"a"}


@pytest.mark.parametrize(("n", "more"), [(SHOWN_IDS, False), (SHOWN_IDS + 1, True)])
def test_a_message_names_so_many_ids_and_counts_the_rest(n: int, more: bool) -> None:
    first = Corpus(tuple(Note(f"note-{i}", "c", "a") for i in range(n)), ())
    second = Corpus(tuple(Note(f"note-{i}", "c", "b") for i in range(n)), ())
    with pytest.raises(InputError) as caught:
        join_corpora({"one": first, "two": second})
    message = str(caught.value)
    assert f"note-{SHOWN_IDS - 1}" in message
    assert ("and 1 more" in message) == more and (f"note-{SHOWN_IDS}" in message) is False
