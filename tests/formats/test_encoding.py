"""JSON of others: what is refused, where, and how much of a file is looked at."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.formats import ReadLimits, encoding
from rubricate.formats.encoding import MOST_DIGITS, first_value, has_half, parse_json, read_json
from rubricate.values import to_plain, write_json

UNITS = [
    "a",
    "\\n",
    "\\\\",
    '\\"',
    "\\ud7ff",
    "\\ue000",
    "\\ud800",
    "\\uDBFF",
    "\\udc00",
    "\\udFff",
]


@given(st.lists(st.sampled_from(UNITS), max_size=8))
def test_halves_of_pairs_are_found_at_their_place(units: list[str]) -> None:
    text = '["' + "".join(units) + '"]'
    value = json.loads(text)
    halves = [i for i, char in enumerate(value[0]) if "\ud800" <= char <= "\udfff"]
    assert parse_json(text, halves=True) == value
    assert has_half(value, text) == bool(halves)
    if not halves:
        assert parse_json(text) == value
        return
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_json(text)
    # What is before the first half is sound, and with the half it is not.
    before = json.loads(text[: caught.value.pos] + '"]')[0]
    assert before == value[0][: halves[0]]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_as_many_levels_as_the_limit_says(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    limits = ReadLimits(depth=5)
    for levels in range(1, 9):
        text = opening * levels + ("1" if opening != "[" else "") + closing * levels
        wide = f"[{text}, {text}, []]"
        for one, deep in ((text, levels), (wide, levels + 1)):
            if deep <= 5:
                assert parse_json(one, limits) == json.loads(one)
            else:
                with pytest.raises(json.JSONDecodeError, match="levels"):
                    parse_json(one, limits)


def test_numbers_have_a_longest() -> None:
    assert parse_json("9" * MOST_DIGITS) == int("9" * MOST_DIGITS)
    assert parse_json('"' + "9" * (MOST_DIGITS + 1) + '"') == "9" * (MOST_DIGITS + 1)
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_json("9" * (MOST_DIGITS + 1))
    assert caught.value.pos == 0


@pytest.mark.parametrize("look", [16, 17, 1 << 20])
def test_the_first_value_is_found_however_little_is_looked_at(
    look: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_LOOK", look)
    value = {"a": [1, {"b": "é" * 200}]}
    body, place = json.dumps(value), tmp_path / "c.JSON"
    for text, alone, listed in (
        (body, value, value),
        (f" [\n{body}, 1]", None, value),
        (f"{body}\n{body}", value, value),
        (f"[[{body}]]", None, None),
        (body[:-1], None, None),
        ("", None, None),
        ("1", None, None),
    ):
        place.write_text(text, encoding="utf-8-sig")
        assert first_value(place, {".json"}) == alone
        assert first_value(place, {".json"}, in_list=True) == listed
    assert first_value(place, {".txt"}) is None and first_value(tmp_path, {""}) is None


@pytest.mark.parametrize(
    ("text", "line"), [('{"a": 1,\n "secret"}', 2), ("[1]", None), ("[" * 5000, 1)]
)
def test_a_file_that_holds_no_object_is_named_with_its_line(
    text: str, line: int | None, tmp_path: Path
) -> None:
    place = tmp_path / "model.json"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_json(place)
    assert [(f.path, f.line) for f in caught.value.faults] == [(place, line)]
    assert "secret" not in str(caught.value)


def test_what_is_written_for_people_is_read_again(tmp_path: Path) -> None:
    value = {"names": ["é", "😀"], "half": None, "n": 1}
    write_json(tmp_path / "a.json", value)
    assert read_json(tmp_path / "a.json") == value
    assert "😀" in (tmp_path / "a.json").read_text(encoding="utf-8")


def test_values_of_arrays_become_plain() -> None:
    values = {"a": np.float32(0.5), "b": (np.int64(3), np.nan), "c": np.bool_(True)}
    assert to_plain(values) == {"a": 0.5, "b": [3, None], "c": True}
