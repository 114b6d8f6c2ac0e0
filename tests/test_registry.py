import pytest

from rubricate.errors import UnknownNameError
from rubricate.formats import FORMATS
from rubricate.formats.format import HOLDABLE, Format
from rubricate.matchers import MATCHERS
from rubricate.registry import Registry


def test_every_format_is_whole() -> None:
    for name in FORMATS:
        found = FORMATS[name]
        assert isinstance(found, Format)
        assert found.name == name
        assert found.holds <= set(HOLDABLE)
        assert found.summary


def test_every_matcher_is_named_as_registered() -> None:
    for name in MATCHERS:
        if name in {"encoder", "bilstm-crf"}:
            continue  # needs optional packages
        assert MATCHERS[name].name == name


def test_unknown_names_get_the_nearest_known() -> None:
    with pytest.raises(UnknownNameError, match="brat"):
        FORMATS["bratt"]
    assert "brat" in FORMATS
    assert "bratt" not in FORMATS


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    table = Registry("thing", {"broken": "no.such.module:thing"})
    assert list(table) == ["broken"]
    assert len(table) == 1
    with pytest.raises(ModuleNotFoundError):
        table["broken"]
