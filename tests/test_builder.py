import pytest

from rubricate import CorpusBuilder, Feature, Note, Rubric


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
