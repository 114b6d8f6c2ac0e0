import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.formats.annotations import SPLIT, Utf16Map, from_utf16, to_utf16

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
