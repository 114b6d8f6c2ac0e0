from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora

from rubricate import Corpus, Note
from rubricate.errors import InputError
from rubricate.formats import _refuse_lone_surrogates, write_corpus
from rubricate.formats.annotations import (
    SPLIT,
    Utf16Map,
    from_utf16,
    has_fragments,
    linked_groups,
    located_text,
    to_utf16,
)
from rubricate.formats.frame import judged_notes
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
        _refuse_lone_surrogates(corpus)


TEXTS = st.text(st.sampled_from("ab é\u0301\r\n中😀𝒳\U0010ffff\U00010000\uffff\u200d"), max_size=20)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(text=TEXTS)
def test_offsets_are_those_of_python_s_own_encoder(text: str) -> None:
    assert to_utf16(text).tolist() == [units(text[:i]) for i in range(len(text) + 1)]


@given(text=TEXTS)
def test_the_two_directions_are_inverse(text: str) -> None:
    there, back = to_utf16(text), from_utf16(text)
    assert back[there].tolist() == list(range(len(text) + 1))
    assert sorted(set(range(len(back))) - set(there.tolist())) == [
        i for i, point in enumerate(back) if point == SPLIT
    ]


@given(text=TEXTS, offset=st.integers(-5, 50))
def test_a_map_keeps_every_code_point_offset_even_outside_the_text(text: str, offset: int) -> None:
    offsets = Utf16Map(text)
    assert offsets.from_utf16(offsets.to_utf16(offset)) == offset
    assert offsets.n_units == units(text)


@given(text=TEXTS, offset=st.integers(0, 50))
def test_a_map_agrees_with_the_arrays(text: str, offset: int) -> None:
    offsets, back = Utf16Map(text), from_utf16(text)
    if offset < len(back) and back[offset] == SPLIT:
        with pytest.raises(ValueError, match="inside a surrogate pair"):
            offsets.from_utf16(offset)
    elif offset < len(back):
        assert offsets.from_utf16(offset) == back[offset]
    else:
        assert offsets.from_utf16(offset) - len(text) == offset - units(text)


def test_the_message_of_a_split_pair_holds_no_text() -> None:
    with pytest.raises(ValueError, match="UTF-16 offset 7") as caught:
        Utf16Map("secret😀").from_utf16(7)
    assert "secret" not in str(caught.value)


def test_half_a_surrogate_pair_counts_as_one_unit() -> None:
    assert to_utf16("a\ud83db").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("char", ["\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"])
def test_a_text_of_one_character_has_its_units(char: str) -> None:
    assert Utf16Map(char).n_units == Utf16Map(char).to_utf16(1) == units(char)
