import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.formats.tables import write_table
from rubricate.study.record import Study, input_hash, read_numbered, run_step
from rubricate.study.settings import StudySettings
from rubricate.values import write_json


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "in.txt").write_text("a", encoding="utf-8")
    return Study(tmp_path, StudySettings())


def work(place: Path) -> dict:
    (place / "out.txt").write_text("b", encoding="utf-8")
    return {"n": 1, "share": float("nan")}


def run(study: Study, seed: int = 1, overwrite: bool = False, what=work):
    return run_step(
        study, "plan", what,
        inputs={"in": study.folder / "in.txt"}, settings={"seed": seed}, overwrite=overwrite,
    )  # fmt: skip


def test_a_step_records_inputs_seed_version_and_time(study: Study) -> None:
    assert run(study).changed
    record = study.done("plan")
    assert record["inputs"]["in"] == input_hash(study.folder / "in.txt")
    assert record["settings"] == {"seed": 1}
    assert record["version"]
    assert record["time"]
    assert record["summary"] == {"n": 1, "share": None}
    assert list(record["outputs"]) == ["out.txt", "plan.json"]


def test_the_same_inputs_change_nothing(study: Study) -> None:
    run(study)
    before = (study.output("plan") / "record.json").read_bytes()
    assert not run(study).changed
    assert not run(study, overwrite=True).changed
    assert (study.output("plan") / "record.json").read_bytes() == before


def test_what_changed_is_named(study: Study) -> None:
    run(study)
    with pytest.raises(InputError, match="seed"):
        run(study, seed=2)
    (study.folder / "in.txt").write_text("c", encoding="utf-8")
    with pytest.raises(InputError, match="inputs changed"):
        run(study)
    assert run(study, overwrite=True).changed


def test_touched_output_is_noticed(study: Study) -> None:
    run(study)
    study.output("plan", "out.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"out\.txt"):
        run(study)


def test_a_step_that_fails_leaves_nothing(study: Study) -> None:
    def fails(place: Path) -> dict:
        (place / "half.txt").write_text("x", encoding="utf-8")
        raise InputError("no")

    with pytest.raises(InputError):
        run(study, what=fails)
    assert not study.output("plan").exists()


def test_a_step_that_was_not_run_names_its_command(study: Study) -> None:
    with pytest.raises(InputError, match="rubricate study sample"):
        study.need("sample")


def test_hash_of_a_step_ignores_when_it_ran(study: Study) -> None:
    run(study)
    before = input_hash(study.output("plan"))
    record = study.done("plan")
    write_json(study.output("plan", "record.json"), record | {"time": "later"})
    assert input_hash(study.output("plan")) == before
    assert json.loads(study.output("plan", "record.json").read_text())["time"] == "later"


def test_missing_inputs_are_faults(study: Study) -> None:
    with pytest.raises(InputError, match="no such"):
        input_hash(study.folder / "nowhere")


def test_dates_of_the_settings_file_are_kept_as_text(study: Study) -> None:
    import datetime

    when = {"from": datetime.date(2017, 1, 1), "to": datetime.datetime(2018, 1, 1, 12)}
    settings = {"where": when}
    run_step(study, "plan", work, inputs={}, settings=settings)
    assert not run_step(study, "plan", work, inputs={}, settings=settings).changed
    assert study.done("plan")["settings"]["where"]["from"] == "2017-01-01"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_broken_record_is_named(study: Study, text: str) -> None:
    run(study)
    place = study.output("plan") / "record.json"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        run(study)
    assert caught.value.faults[0].path == place


@pytest.fixture(autouse=True)
def usual_limit() -> Iterator[None]:
    """Readers of scored notes raise csv's limit on cells, which the whole process shares."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


def write(place: Path, content: bytes) -> Path:
    path = place / "table.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        b"name,tp\r\nasthma,3\r\n",
        b"\xef\xbb\xbfname,tp\nasthma,3",
        b'"name","tp"\n\n"asthma","3"\n',
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, content: bytes) -> None:
    rows = read_numbered(write(tmp_path, content), ["tp"])
    assert [cells for _, cells in rows] == [{"name": "asthma", "tp": "3"}]


def test_a_short_row_has_empty_cells(tmp_path: Path) -> None:
    place = write(tmp_path, b"name,tp,comment\nasthma,3\n")
    assert read_numbered(place) == [(2, {"name": "asthma", "tp": "3", "comment": ""})]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name;tp\nasthma;3\n", "commas"),
        (b"name\nasthma\n", "lacks the column tp"),
        (b"", "lacks the column tp"),
        (b"name,tp\nasthma,3,a comment, with a comma\n", "quotes"),
        (b"tp,tp\n1,2\n", "twice"),
        ("name,tp\nÄsthma,3\n".encode("latin-1"), "UTF-8"),
        (b'name,tp\n"asthma,3\n', "CSV"),
    ],
)
def test_every_fault_names_the_file(tmp_path: Path, content: bytes, words: str) -> None:
    place = write(tmp_path, content)
    with pytest.raises(InputError, match=words) as caught:
        read_numbered(place, ["tp"])
    assert all(fault.path == place for fault in caught.value.faults)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        read_numbered(tmp_path / "none.csv")


def test_no_cell_of_a_written_table_is_a_formula(tmp_path: Path) -> None:
    cells = [
        "=1+1",
        "+1",
        "-1",
        "@x",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1",
        "＋1",
        "－1",
        "＠x",
        "'=1",
        "plain",
    ]
    write_table(tmp_path / "sample.csv", ["note", "n"], [[cell, 1] for cell in cells])
    with (tmp_path / "sample.csv").open(encoding="utf-8", newline="") as stream:
        written = [row[0] for row in csv.reader(stream)][1:]
    assert not [cell for cell in written if cell[0] in "=+-@\t\r\n＝＋－＠"]
    assert [row["note"] for _, row in read_numbered(tmp_path / "sample.csv")] == cells
