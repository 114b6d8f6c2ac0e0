import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXT

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.formats import FORMATS
from rubricate.formats.token_labels import (
    align_tokens,
    count_cut_and_merged,
    label_runs,
    mark_tokens,
    note_tokens,
    tokens_of,
)


@given(text=TEXT)
def test_tokens_hold_all_but_white_space(text: str) -> None:
    places = note_tokens(text)
    assert "".join(text[start:end] for start, end in places) == "".join(text.split())
    assert not any(char.isspace() for start, end in places for char in text[start:end])


@given(text=TEXT)
def test_tokens_are_found_where_they_were_cut(text: str) -> None:
    places = note_tokens(text)
    assert align_tokens([text[start:end] for start, end in places], text) == places


@given(text=TEXT, spaces=st.sampled_from(["", " ", "\n\n", "\u00a0"]))
def test_white_space_may_differ_in_every_way(text: str, spaces: str) -> None:
    tokens = [text[start:end] for start, end in note_tokens(text)]
    other = spaces.join(tokens)
    places = align_tokens(tokens, other)
    assert [other[start:end] for start, end in places] == tokens


@pytest.mark.parametrize(
    ("tokens", "text", "covered"),
    [
        (["``", "well", "''"], "“well”", ["“", "well", "”"]),
        (["-LRB-", "5", "-RRB-"], "(5)", ["(", "5", ")"]),
        (["don't", "co-treat"], "don’t co–treat", ["don’t", "co–treat"]),
        (["10mg"], "10 mg", ["10 mg"]),
        (["a", "b"], "a® b", ["a", "b"]),
        (["a", "", "b"], "a b", ["a", "", "b"]),
        (["a", "..."], "a …", ["a", "…"]),
    ],
)
def test_other_spellings_are_found(tokens: list[str], text: str, covered: list[str]) -> None:
    assert [text[start:end] for start, end in align_tokens(tokens, text)] == covered


@pytest.mark.parametrize(
    ("tokens", "text", "n_found"),
    [(["a", "c"], "a b c", 1), (["a", "b"], "a", 1), (["b"], "ab", 0), (["x"], "", 0)],
)
def test_words_are_never_passed_over(tokens: list[str], text: str, n_found: int) -> None:
    assert len(align_tokens(tokens, text)) == n_found


@given(labels=st.lists(st.integers(0, 1), max_size=12))
def test_runs_give_the_labels_back(labels: list[int]) -> None:
    places = [(2 * i, 2 * i + 1) for i in range(len(labels))]
    runs = [span for _, span in label_runs(labels, places)]
    assert mark_tokens(runs, places) == labels


def test_a_run_of_tokens_without_text_is_nothing() -> None:
    assert list(label_runs([1, 1, 0], [(3, 3), (3, 3), (4, 5)])) == []


def corpus_of(text: str, *annotations: list[tuple[int, int]]) -> Corpus:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", text))
    builder.add_feature(Feature("f", "c", "Feature"))
    for spans in annotations:
        builder.annotate("a", "n", "f", spans)
    return builder.build()


@pytest.mark.parametrize(
    ("annotations", "cut", "merged"),
    [
        ([[(0, 3)]], 0, 0),
        ([[(0, 3)], [(8, 12)]], 0, 0),  # a token between them
        ([[(0, 3)], [(4, 7)]], 0, 2),  # both flow into one run
        ([[(0, 3)], [(4, 7)], [(8, 12)]], 0, 3),
        ([[(0, 7)], [(4, 7)]], 0, 1),  # the shorter one is within the run of the longer
        ([[(0, 3), (8, 12)]], 0, 0),  # fragments become runs of their own
        ([[(0, 3), (8, 12)], [(4, 7)]], 0, 1),  # a word between fragments joins their runs
        ([[(0, 3), (4, 7)]], 0, 0),  # fragments are never counted as merged
        ([[(1, 3)]], 1, 0),
        ([[(0, 2)]], 1, 0),
        ([[(0, 4)]], 1, 0),  # ends beside a token
        ([[(3, 7)]], 1, 0),
        ([[(0, 3), (5, 7)]], 1, 0),  # any cut fragment cuts the annotation
        ([[(1, 3)], [(4, 7)]], 1, 1),
    ],
)
def test_cut_and_merged_annotations_are_counted(
    annotations: list[list[tuple[int, int]]], cut: int, merged: int
) -> None:
    corpus = corpus_of("hot dry skin", *annotations)
    assert count_cut_and_merged(corpus) == (cut, merged)
    expected = {"boundaries": cut, "touching": merged}
    more = FORMATS["ebmnlp"].count_more
    assert more(corpus) == {kind: n for kind, n in expected.items() if n}
    more = FORMATS["conll"].count_more
    assert more(corpus) == ({"boundaries": cut} if cut else {})


def test_notes_are_cut_each_at_its_own_tokens() -> None:
    builder = CorpusBuilder()
    for note, text in (("1", "hot skin"), ("2", "no fever")):
        builder.add_note(Note(note, "c", text))
    for feature in "fg":
        builder.add_feature(Feature(feature, "c", feature))
    builder.annotate("a", "1", "f", [(0, 3)])
    builder.annotate("a", "1", "g", [(4, 8)])
    builder.annotate("a", "2", "f", [(0, 3)])
    builder.annotate("a", "2", "g", [(3, 8)])
    assert count_cut_and_merged(builder.build()) == (1, 0)


@pytest.mark.parametrize(
    ("span", "tokens"),
    [
        ((0, 2), [0]), ((1, 2), [0]), ((2, 3), []), ((2, 4), [1]), ((0, 3), [0]), ((0, 4), [0, 1]),
        ((3, 5), [1]), ((5, 6), [2]), ((4, 6), [1, 2]), ((6, 9), []), ((0, 9), [0, 1, 2]),
        ((4, 4), [1]), ((5, 3), []),
    ],
)  # fmt: skip
def test_tokens_of_a_span_share_a_character_with_it(
    span: tuple[int, int], tokens: list[int]
) -> None:
    assert list(tokens_of(span, [(0, 2), (3, 5), (5, 6)])) == tokens


def test_runs_keep_their_label_and_leave_out_empty_ends() -> None:
    places = [(0, 0), (1, 2), (2, 2), (3, 4), (5, 6)]
    assert list(label_runs([2, 2, 2, 1, 1], places)) == [(2, (1, 2)), (1, (3, 6))]
    assert list(label_runs([], [])) == []


@pytest.mark.parametrize(
    ("tokens", "text", "places"),
    [
        (["a", " ", "b"], "a b", [(0, 1), (1, 1), (2, 3)]),
        (["ab"], "a\n b", [(0, 4)]),
        (["ab"], "a", []),
        (["b"], "...b", [(3, 4)]),
        (["b"], "1b", []),
    ],
)
def test_tokens_are_placed(tokens: list[str], text: str, places: list[tuple[int, int]]) -> None:
    assert align_tokens(tokens, text) == places
