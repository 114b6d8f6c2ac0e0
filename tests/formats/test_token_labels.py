import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXT

from rubricate.formats.token_labels import align_tokens, label_runs, mark_tokens, note_tokens


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
