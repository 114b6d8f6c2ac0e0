import pytest

from rubricate.formats.rubric.records import NAMES, is_known, match_columns


@pytest.mark.parametrize("column", NAMES)
def test_every_name_of_a_column_is_understood(column: str) -> None:
    for name in NAMES[column]:
        faults: list[str] = []
        assert match_columns([name.upper().replace(" ", "_")], faults.append) == {0: column}
        assert faults == []
        assert is_known(name)


def test_no_name_means_two_columns() -> None:
    names = [name for own in NAMES.values() for name in own]
    assert len(names) == len(set(names))


def test_feature_is_the_id_where_there_is_a_text() -> None:
    assert match_columns(["Text", "Feature"], print) == {0: "text", 1: "id"}
    assert match_columns(["Feature", "Points"], print) == {0: "text", 1: "weight"}


def test_two_names_of_one_column_are_a_fault() -> None:
    faults: list[str] = []
    assert match_columns(["Points", "text", "Max marks"], faults.append) == {0: "weight", 1: "text"}
    assert len(faults) == 1
