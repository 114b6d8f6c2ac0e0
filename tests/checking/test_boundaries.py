import pytest

from rubricate.checking.boundaries import is_joined, word_around


@pytest.mark.parametrize(
    ("text", "place", "joined"),
    [
        ("hot", 1, True),
        ("hot flash", 3, False),
        ("58M", 2, False),
        ("x3wks", 2, False),
        ("yoF", 2, False),
        ("58", 1, True),
        ("2.5", 1, True),
        ("2.5", 2, True),
        ("ends.5", 4, False),
        ("can't", 3, True),
        ("can't", 4, True),
        ("mother's", 6, False),
        ("e\u0301t", 1, True),
        ("e\u0301t", 2, False),
        ("ñandú", 1, True),
        ("中文", 1, False),
        ("👩🏽", 1, True),
        ("👩\u200d⚕", 1, True),
        ("👩\u200d⚕", 2, True),
        ("a", 0, False),
        ("a", 1, False),
        ("", 0, False),
    ],
)
def test_what_belongs_to_one_word(text: str, place: int, joined: bool) -> None:
    assert is_joined(text, place) is joined


def test_word_around_stops_at_marks_and_ends() -> None:
    assert word_around("chest-pain", 7) == (6, 10)
    assert word_around("fever", 2) == (0, 5)
    assert word_around("a, b", 1) == (1, 2)
