from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora

from rubricate import Corpus, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.annotations import (
    has_fragments,
    linked_groups,
    located_text,
    refuse_lone_surrogates,
)
from rubricate.formats.marked_texts import judged_notes
from rubricate.progress import silent


@given(corpus=corpora())
def test_plain_annotations_are_those_of_the_corpus(corpus: Corpus) -> None:
    assert has_fragments(corpus) == any(
        len(a.spans) > 1 for *_, own in corpus.values() for a in own
    )
    for row in range(len(corpus.rows)):
        plain, values = corpus.rows.annotations(row), corpus.row_annotations(row)
        assert [a.spans for a in plain] == [
            tuple((s.start, s.end) for s in v.spans) for v in values
        ]
        assert [(a.confidence, a.detail) for a in plain] == [
            (v.confidence, v.detail) for v in values
        ]


@given(corpus=corpora())
def test_everything_marked_is_under_its_annotator(corpus: Corpus) -> None:
    for note, judged in judged_notes(corpus, silent):
        rows = corpus.note_rows(note.id)
        assert list(judged) == list(
            dict.fromkeys(corpus.annotators[int(corpus.rows.annotator[row])].id for row in rows)
        )
        for who, own in judged.items():
            mine = [r for r in rows if corpus.annotators[int(corpus.rows.annotator[r])].id == who]
            assert [a for _, a in own] == [a for r in mine for a in corpus.rows.annotations(r)]


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))))  # fmt: skip
def test_groups_are_a_partition_that_keeps_links_together(
    given_: tuple[int, list[tuple[int, int]]],
) -> None:
    n, links = given_
    groups = linked_groups(n, links)
    assert sorted(i for group in groups for i in group) == list(range(n))
    assert groups == sorted(sorted(group) for group in groups)
    assert all(any(a in g and b in g for g in groups) for a, b in links)


def test_a_wrong_span_locates_nothing() -> None:
    assert located_text("abc", [(-2, 2), (0, 1), (2, 9)]) == " a "


@pytest.mark.parametrize("name", ["doccano", "labelstudio", "cas"])
def test_texts_no_file_can_hold_are_refused(name: str, tmp_path: Path) -> None:
    corpus = Corpus(notes=(Note("n", "c", "secret\ud83d"), Note("m", "c", "x")), rubrics=())
    with pytest.raises(InputError, match="note 'n'") as caught:
        write_corpus(corpus, tmp_path / "c", format=name)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "c").exists()
    with pytest.raises(InputError):
        refuse_lone_surrogates(corpus)
