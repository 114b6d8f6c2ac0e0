from dataclasses import replace

import pytest
from hypothesis import given
from strategies import corpora

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, Score, load_corpus
from rubricate.errors import InputError
from rubricate.evaluation import evaluate
from rubricate.merge import SHOWN_IDS, join_corpora, lone_labels, share_labels


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


def marked(labels: dict[str, str], *, listed: tuple[str, ...] = (), who: str = "ann") -> Corpus:
    """Return notes as somebody marked them whole; labels that nothing lists come by their use."""
    builder = CorpusBuilder()
    for label in listed:
        builder.add_feature(Feature(label, "c", label))
    for note in ("n1", "n2"):
        builder.add_note(Note(note, "c", "Fever, cough"))
    for label in labels.values():
        if label and not builder.has_feature(label):
            builder.add_feature(Feature(label, "c", label), by_use=True)
    for note in labels:
        builder.judge_all(who, note)
        if labels[note]:
            builder.annotate(who, note, labels[note], [(0, 5)])
    return builder.build()


FEVER = marked({"n1": "Fever", "n2": ""})
COUGH = marked({"n1": "Fever", "n2": "Cough"}, who="bob")


def test_labels_known_by_use_are_those_of_all() -> None:
    for order in ([FEVER, COUGH], [COUGH, FEVER]):
        joined = join_corpora({"a": order[0], "b": order[1]})
        assert {f.id for f in joined.features} == {"Fever", "Cough"}
        assert {a: joined.annotations("n2", "Cough", a) is None for a in ("ann", "bob")} == {
            "ann": False,
            "bob": False,
        }
        assert lone_labels(joined) == lone_labels(*order) == ["Cough"]
    for one, other, recall in ((FEVER, COUGH, 1.0), (COUGH, FEVER, 0.5)):
        found = evaluate(one, other)
        assert found.presence.total().recall == recall
        assert found.coverage.n_rows == 4


def test_notes_that_nobody_looked_at_stay_unjudged() -> None:
    part = marked({"n1": "Fever"})
    [known, _] = share_labels([part, COUGH])
    assert known.annotations("n1", "Cough", "ann") == ()
    assert known.annotations("n2", "Cough", "ann") is None


def test_a_rubric_that_lists_its_features_stays_as_it_is() -> None:
    listed = marked({"n1": "Fever", "n2": ""}, listed=("Fever",))
    assert share_labels([listed, COUGH])[0] is listed
    with pytest.raises(InputError, match="Cough"):
        join_corpora({"a": listed, "b": COUGH})
    assert lone_labels(listed) == []
