from pathlib import Path
from typing import Any

import pytest

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.formats.reading import Faults
from rubricate.formats.rubric.records import (
    NAMES,
    Records,
    build_rubrics,
    is_known,
    match_columns,
    need_sound,
)


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


def test_an_empty_column_gives_way_to_a_filled_one() -> None:
    names = ["Points", "text", "Max marks", "colour"]
    for empty, place in (({0}, 2), ({2}, 0)):
        faults: list[str] = []
        told: list[str] = []
        found = match_columns(names, faults.append, empty=empty, left_out=told.append)
        assert (found, faults, told) == ({1: "text", place: "weight"}, [], ["colour"])
    # An empty column is its own where no other is; nobody is told of empty ones not known.
    found = match_columns(names, print, empty={0, 2, 3}, left_out=told.append)
    assert (found, told) == ({0: "weight", 1: "text"}, ["colour"])


def build(*rows: dict[str, str], **more: Any) -> tuple[tuple[Rubric, ...], Records]:
    records = Records("file", **more)
    for line, row in enumerate(rows, start=1):
        records.add(row, "", line, "sheet: ")
    faults = Faults(Path("r.csv"), unit="row")
    return build_rubrics(records, faults), records


def refused(*rows: dict[str, str], **more: Any) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        build(*rows, **more)
    return [(fault.line, fault.message) for fault in caught.value.faults]


def test_made_ids_count_from_two() -> None:
    texts = ["Cough", "cough!", "Cough", "", "Häuser", "x" * 60]
    rows = [{"text": text or "?", "case": "c"} for text in texts]
    (rubric,), records = build(*rows, {"text": "Cough", "number": "7", "case": "c"})
    ids = ["c-cough", "c-cough-2", "c-cough-3", "c-feature", "c-hauser", "c-" + "x" * 40, "c-7"]
    assert [feature.id for feature in rubric] == ids
    (notice,) = records.notices
    assert notice.startswith("6 ") and ids[4] in notice and ids[5] not in notice
    (rubric,), records = build(*rows[:5])
    assert "..." not in records.notices[0] and ids[4] in records.notices[0]


def test_features_without_a_case_are_told() -> None:
    rubrics, records = build(
        {"text": "a", "id": "1"}, {"text": "b", "id": "2"}, {"text": "c", "id": "3", "case": "x"}
    )
    assert [(rubric.case, len(rubric)) for rubric in rubrics] == [("file", 2), ("x", 1)]
    (notice,) = records.notices
    assert notice.startswith("2 ") and "'file'" in notice


def test_an_id_that_occurs_again_names_the_first() -> None:
    found = refused({"text": "a", "id": "1"}, {"text": "b"}, {"text": "c", "id": "1"})
    assert [(line, "row 1" in message) for line, message in found] == [(3, True)]


def test_titles_and_cases_without_features() -> None:
    (rubric,), _ = build({"text": "a", "title": "T"}, {"text": "b", "title": "T"}, {"text": "c"})
    assert rubric.title == "T"
    assert refused({"text": "a", "title": "T"}, {"text": "b", "title": "U"})[0][0] == 2
    assert [line for line, _ in refused({"text": "a", "case": "c"}, cases=["c", "d"])] == [None]
    (rubric,), _ = build({"text": "a", "case": "c"}, cases=["c"], titles={"c": "V"})
    assert rubric.title == "V"
    assert len(refused()) == 1


@pytest.mark.parametrize(
    ("said", "weight"),
    [("2", 2.0), ("1,5 pts", 1.5), ("", 1.0), ("-1", -1.0), ("0", 0.0), ("½", 0.5), ("2½ pts", 2.5), ("x", None), ("nan", None),
     ("inf", None)],
)  # fmt: skip
def test_points_are_numbers(said: str, weight: float | None) -> None:
    if weight is None:
        assert [line for line, _ in refused({"text": "a", "weight": said})] == [1]
    else:
        assert build({"text": "a", "weight": said})[0][0].features[0].weight == weight


GOOD = Rubric("c", (Feature("f", "c", "Fever"), Feature("g", "c", "Cough")))


@pytest.mark.parametrize(
    ("rubrics", "faults"),
    [
        ([GOOD], 0),
        ([], 1),
        ([GOOD, Rubric("c", (Feature("h", "c", "x"),))], 1),
        ([GOOD, Rubric("d", (Feature("f", "d", "x"),))], 1),
        ([Rubric("c", ())], 1),
        ([Rubric(" ", (Feature("f", " ", "x"),))], 1),
        ([Rubric("c", (Feature("f", "c", " "),))], 1),
        ([Rubric("c", (Feature(" ", "c", "x"),))], 1),
        ([Rubric("c", (Feature("f", "c", "x", weight=float("inf")),))], 1),
        ([Rubric("c", (Feature("f", "c", "x", note="\ud800"),))], 1),
        ([Rubric("c", (Feature("f", "c", "x"),), title="\ud800")], 1),
        ([Rubric("c", (Feature("f", "c", ""), Feature("f", "c", "")))], 3),
    ],
)
def test_what_no_file_may_hold_is_refused(rubrics: list[Rubric], faults: int) -> None:
    if not faults:
        need_sound(rubrics)
        return
    with pytest.raises(InputError) as caught:
        need_sound(rubrics)
    assert len(caught.value.faults) == faults
