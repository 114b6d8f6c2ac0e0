import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rubricate.errors import InputError
from rubricate.formats.encoded_names import id_to_name, name_to_id


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
