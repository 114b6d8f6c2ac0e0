from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rubricate import Feature, Rubric
from rubricate.errors import InputError
from rubricate.run import ITEM_COLUMNS
from rubricate.run.results import Correction
from rubricate.run.writing import about
from rubricate.scoring.corrections import (
    Corrections,
    HandedIn,
    read_corrections,
    write_decisions,
)

RUBRIC = Rubric("c", (Feature("f", "c", "Fever"), Feature("g", "c", "Cough")))


def write(path: Path, body: str) -> Path:
    path.write_text(body, encoding="utf-8")
    return path


def test_the_latest_correction_holds_whatever_the_order(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.csv",
        "note,feature,found,spans,who,when,comment\n"
        "n,f,no,,Bob,2025-02-01T10:00+00:00,denied\n"
        "n,f,yes,0 5;6 9|12 14,Ann,2025-01-31,\n",
    )
    found = read_corrections(path)
    assert len(found) == 1
    one = found.of("n")["f"]
    assert (one.by, one.found, one.spans, one.comment) == ("Bob", False, None, "denied")


def test_the_spans_of_what_is_contradicted_say_otherwise(tmp_path: Path) -> None:
    head = "note,feature,found,by,at,spans\n"
    path = write(tmp_path / "c.csv", head + "n,f,Contradicted,Ann,2025-01-01,0 8\n")
    one = read_corrections(path).of("n")["f"]
    assert (one.found, one.spans) == (False, (((0, 8),),))
    write_decisions(tmp_path / "again.csv", [one])
    assert read_corrections(tmp_path / "again.csv").of("n")["f"] == one
    with pytest.raises(InputError, match="by which words"):
        read_corrections(write(tmp_path / "d.csv", head + "n,f,contradicted,Ann,2025-01-01,\n"))


def test_all_faults_at_once_with_their_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.csv",
        "note,feature,found,by,at,spans\n"
        "n,f,maybe,Ann,2025-01-01,\n"
        "n,f,yes,,2025-01-01,\n"
        "n,f,yes,Ann,yesterday,9 3\n"
        "n,f\n"
        "n,g,yes,Ann,2025-01-01,\n"
        "n,g,no,Bob,2025-01-01,\n",
    )
    with pytest.raises(InputError) as raised:
        read_corrections(path)
    assert [fault.line for fault in raised.value.faults] == [2, 3, 4, 4, 5, 7]


def test_columns_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_corrections(write(tmp_path / "c.csv", "note,feature,colour\n"))
    assert len(raised.value.faults) == 4
    with pytest.raises(InputError):
        read_corrections(write(tmp_path / "e.csv", ""))


def test_rows_of_an_items_file_count_where_somebody_signed(tmp_path: Path) -> None:
    names = [column.name for column in ITEM_COLUMNS]
    cells = dict.fromkeys(names, "")
    rows = [
        cells | {"note": "'-1", "feature": "f", "found": "no", "spans": "0 5",
                 "corrected_by": "Ann", "corrected_at": "2025-01-01"},
        cells | {"note": "m", "feature": "f", "found": "yes", "outcome": "stated"},
        cells | {"note": "m", "feature": "g", "found": "no", "outcome": "contradicted"},
        cells | {"note": "o", "feature": "g"},
    ]  # fmt: skip
    body = "\n".join([",".join(names), *(",".join(row.values()) for row in rows)])
    found = read_corrections(write(tmp_path / "items.csv", body + "\n"))
    assert [(c.note, c.found) for c in found.all()] == [("-1", False)]


def test_a_decision_that_nobody_signed_is_not_passed_over(tmp_path: Path) -> None:
    names = [column.name for column in ITEM_COLUMNS]
    row = dict.fromkeys(names, "") | {"note": "m", "feature": "f", "found": "no"}
    body = f"{','.join(names)}\n{','.join((row | {'outcome': 'stated'}).values())}\n"
    with pytest.raises(InputError) as raised:
        read_corrections(write(tmp_path / "items.csv", body))
    assert [fault.line for fault in raised.value.faults] == [2]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_tables_as_spreadsheet_programs_write_them(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "c.csv"
    body = (
        "Note;Feature;Decision;Reviewer;Date;Why\r\n"
        "n;  cough ;Yes;Zoë;14/11/2026;heard\r\n"
        "n;f;FALSE;Zoë;2026-11-14 09:30;\r\n"
    )
    path.write_bytes(body.encode(encoding))
    found = read_corrections(path)
    assert found.check("n", RUBRIC, "fever cold") == []
    own = found.of("n")
    assert {f: (c.found, c.by, c.at) for f, c in own.items()} == {
        "g": (True, "Zoë", "2026-11-14"),
        "f": (False, "Zoë", "2026-11-14T09:30"),
    }


def test_features_of_one_wording_need_their_id(tmp_path: Path) -> None:
    rubric = Rubric("c", (Feature("f", "c", "Fever"), Feature("g", "c", "fever ")))
    path = write(tmp_path / "c.csv", "note,feature,found,by,at\nn,FEVER,yes,Ann,2025-01-01\n")
    [fault] = read_corrections(path).check("n", rubric, "fever")
    assert fault.line == 2


def test_corrections_must_fit_the_notes(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.csv",
        "note,feature,found,by,at,spans\n"
        "n,h,yes,Ann,2025-01-01,\n"
        "n,f,yes,Ann,2025-01-01,0 5;6 11\n"
        "n,g,yes,Ann,2025-01-01,0 5;6 10\n"
        "lost,f,yes,Ann,2025-01-01,\n",
    )
    found = read_corrections(path)
    faults = found.check("n", RUBRIC, "fever cold") + found.check("other", RUBRIC, "")
    assert len(faults) == 2
    assert [fault.line for fault in faults] == [2, 3]
    assert [(fault.path, fault.line) for fault in found.unseen()] == [(path, 5)]
    assert found.of("n")["g"].text == ("fever cold",)


@pytest.mark.parametrize("echo", [True, False])
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({}, "same"), ({"comment": "why"}, "words"), ({"spans": (((0, 5),),)}, "words"),
        ({"by": "Bob"}, "other"), ({"at": "2025-01-02"}, "other"), ({"found": False}, "other"),
        ({"feature": "g"}, "other"),
    ],
)  # fmt: skip
def test_a_decision_of_the_log_is_not_taken_twice(
    echo: bool, change: dict[str, Any], kind: str
) -> None:
    text, logged = "fever cold", Correction("n", "f", True, "Ann", "2025-01-01")
    again = HandedIn(replace(logged, **change), 1, echo=echo)
    old = HandedIn(logged, about=about(text, "Fever"), logged=True)
    found = Corrections([again, old])
    assert found.check("n", RUBRIC, text) == []
    # A row of a run's table has the words that held in the end: other words are no other decision.
    new = kind == "other" or (kind == "words" and not echo)
    steps = list(found.steps("n"))
    assert len(steps) == new
    for one, before, after in steps:
        assert one.row == 1 and after[one.correction.feature].by == one.correction.by
        assert (before is None) == (one.correction.feature == "g")


def test_decisions_on_another_text_or_wording_are_outdated() -> None:
    logged = Correction("n", "f", True, "Ann", "2025-01-01")
    for said in (about("fever", "Fever"), about("other", "Fever"), about("fever", "Chill")):
        found = Corrections([HandedIn(logged, about=said, logged=True)])
        assert found.check("n", RUBRIC, "fever") == []
        assert found.outdated == (said != about("fever", "Fever")) == 1 - len(found)
        # A second note of the same id is not looked at.
        assert found.check("n", None, "other") == [] and found.unseen() == []


def test_a_feature_that_is_misspelt_is_told_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("note,feature,found,by,at\nn,Fevr,yes,Ann,2026-11-14\n", encoding="utf-8")
    rubric = Rubric("c", (Feature("f1", "c", "Fever"), Feature("f2", "c", "Cough")))
    (fault,) = read_corrections(path).check("n", rubric, "fever")
    assert "did you mean 'Fever'?" in fault.message


def test_a_date_in_the_future_is_refused_however_far_clocks_differ(tmp_path: Path) -> None:
    head = "note,feature,found,by,at\n"
    soon, later = (datetime.now(UTC) + timedelta(hours=hours) for hours in (12, 60))
    path = write(tmp_path / "c.csv", f"{head}n,f,yes,Ann,{soon.isoformat()}\n")
    assert read_corrections(path).of("n")["f"].by == "Ann"
    rows = f"n,f,yes,Ann,2999-01-01\nn,g,yes,Ann,{later.isoformat()}\n"
    with pytest.raises(InputError) as caught:
        read_corrections(write(tmp_path / "d.csv", head + rows))
    assert [fault.line for fault in caught.value.faults] == [2, 3]
