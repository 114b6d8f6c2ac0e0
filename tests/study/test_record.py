import json
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.study.record import Study, input_hash, run_step, write_summary
from rubricate.study.settings import StudySettings


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
    assert list(record["outputs"]) == ["out.txt"]


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
    write_summary(study.output("plan", "record.json"), record | {"time": "later"})
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
