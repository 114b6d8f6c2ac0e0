import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.formats.frame import LONGEST_NAME, id_to_name, name_to_id


@given(st.text(max_size=20))
@example("")
@example("%")
@example("a%20b")
@example(".hidden")
@example("a.TXT")
@example("..")
@example("\ud83d")
def test_every_id_comes_back_and_every_name_is_plain(identifier: str) -> None:
    name = id_to_name(identifier)
    assert name_to_id(name) == identifier
    assert name.isascii() and "/" not in name and not name.startswith(".")


def test_reserved_names_are_avoided_and_come_back() -> None:
    name = id_to_name("INITIAL_CAS", reserved=frozenset({"INITIAL_CAS"}))
    assert name != "INITIAL_CAS"
    assert name_to_id(name) == "INITIAL_CAS"


@pytest.mark.parametrize("name", ["50%", "note 1", "Zoë", "a%zz", "%FF"])
def test_names_nobody_encoded_stand_for_themselves(name: str) -> None:
    assert name_to_id(name) == name


def test_ids_too_long_for_a_file_are_refused() -> None:
    with pytest.raises(InputError):
        id_to_name("x" * 300)


def test_the_longest_name_is_still_a_name() -> None:
    assert len(id_to_name("x" * LONGEST_NAME)) == LONGEST_NAME
    with pytest.raises(InputError, match=str(LONGEST_NAME + 1)):
        id_to_name("x" * (LONGEST_NAME + 1))


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("a.b", "a.b"), ("a.txt", "a%2Etxt"), ("a.txt.b", "a.txt.b"), ("a.", "a%2E"), ("", "%")],
)
def test_only_dots_that_would_be_misread_are_encoded(identifier: str, name: str) -> None:
    assert id_to_name(identifier) == name
