from collections.abc import Callable
from pathlib import Path

import pandas
import polars
import pytest

from rubricate.errors import InputError
from rubricate.study.collection import collect_study
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.sampling import plan_study, sample_study
from rubricate.study.status import new_study, stale_warnings, study_status


def states(study: Study) -> dict[str, str]:
    return {step.step: step.state for step in study_status(study).steps}


def edit(study: Study, old: str, new: str) -> Study:
    """Change ``study.toml`` and read it again."""
    place = study.folder / "study.toml"
    text = place.read_text(encoding="utf-8")
    assert old in text
    place.write_text(text.replace(old, new), encoding="utf-8")
    return Study.open(study.folder)


def test_steps_go_from_open_to_done(make_study: Callable[..., Study]) -> None:
    study = make_study()
    assert set(states(study).values()) == {"open"}
    define_population(study)
    status = study_status(study)
    assert status.steps[0].state == "done"
    assert status.next_step == "plan"
    assert status.command == f"rubricate study plan {study.folder}"


def test_a_changed_setting_makes_the_steps_that_rest_on_it_stale(
    make_study: Callable[..., Study],
) -> None:
    study = make_study()
    for step in (define_population, plan_study, sample_study):
        step(study)
    changed = edit(study, "half_width = 0.2", "half_width = 0.1")
    found = study_status(changed)
    assert states(changed)["population"] == "done"
    assert found.next_step == "plan"
    assert "study.toml" in found.advice
    assert "--overwrite" in found.command
    plan_study(changed, overwrite=True)
    assert states(changed)["plan"] == "done"
    assert states(changed)["sample"] == "stale"
    assert "'plan'" in study_status(changed).advice


def test_a_changed_file_makes_its_step_stale(returned_study: Callable[..., Study]) -> None:
    study = returned_study()
    collect_study(study)
    assert states(study)["collect"] == "done"
    returned = next((study.folder / "3-annotation" / "returned").rglob("*.ann"))
    returned.write_text("T1\tf1 0 6\tsmokes\n", encoding="utf-8")
    assert states(study)["collect"] == "stale"
    (study.folder / "notes.jsonl").unlink()
    assert "gone" in study_status(study).advice


def test_a_study_in_the_working_directory_is_watched_too(
    make_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_study().folder)
    study = Study.open(".")
    define_population(study)
    assert states(study)["population"] == "done"
    Path("notes.jsonl").write_text("{}\n", encoding="utf-8")
    assert states(study)["population"] == "stale"


def test_a_finite_population_changes_the_plan(make_study: Callable[..., Study]) -> None:
    study = make_study()
    define_population(study)
    total = plan_study(study).summary["total"]
    finite = edit(study, 'site = "site"', 'site = "site"\nfinite = true')
    define_population(finite, overwrite=True)
    with pytest.raises(InputError, match="population"):
        plan_study(finite)
    assert plan_study(finite, overwrite=True).summary["total"] < total


def test_a_stale_step_makes_those_after_it_stale(returned_study: Callable[..., Study]) -> None:
    study = returned_study()
    collect_study(study)
    assert stale_warnings(study, "report") == []
    # Another sampling: sample is out of date, and so is all that was built on it.
    changed = edit(study, "half_width = 0.2", "half_width = 0.19")
    found = states(changed)
    assert [found[step] for step in ("plan", "sample", "assign", "collect")] == ["stale"] * 4
    why = {step.step: step.why for step in study_status(changed).steps}
    assert "'plan'" in why["collect"]
    warnings = stale_warnings(changed, "report")
    assert len(warnings) == 4
    assert "'collect'" in warnings[-1]
    assert stale_warnings(changed, "plan") == []


def test_a_frequency_far_from_the_detected_one_is_a_warning(
    make_study: Callable[..., Study],
) -> None:
    # 54 of 120 notes have a detection: .45 (.36 to .54).
    def warnings(study: Study) -> list[str]:
        found = plan_study(study, overwrite=True).summary["warnings"]
        return [one for one in found if "counts on" in one]

    study = make_study()
    define_population(study)
    assert warnings(study) == []
    near = edit(study, "half_width = 0.2", "frequency = 0.48\nhalf_width = 0.2")
    assert warnings(near) == []
    (warning,) = warnings(edit(near, "frequency = 0.48", "frequency = 0.3"))
    assert "30.0%" in warning and "45.0%" in warning


NOTES = {
    "note": ["a", "b", "c"],
    "text": ["smokes", "no tobacco", "fever"],
    "site": ["X", "Y", "X"],
}


def start(folder: Path, corpus: object) -> dict:
    place = new_study(folder, corpus=corpus)
    chosen = '[population]\nrubric = "rubric.csv"\nsite = "site"\n'
    text = place.read_text(encoding="utf-8").replace("[population]\n", chosen)
    place.write_text(text.replace("the whole text of a feature", "Smoking"), encoding="utf-8")
    rubric = "case,feature,text\nc,1,Smoking\n"
    (folder / "rubric.csv").write_text(rubric, encoding="utf-8")
    return define_population(Study.open(folder)).summary


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame])
def test_a_study_can_start_from_a_data_frame_and_a_rubric(kind: type, tmp_path: Path) -> None:
    summary = start(tmp_path / "s", kind(NOTES))
    assert summary["sites"] == {"X": 2, "Y": 1}
    assert summary["cases"] == 1


def test_a_study_can_start_from_a_csv_file(tmp_path: Path) -> None:
    polars.DataFrame(NOTES).write_csv(tmp_path / "notes.csv")
    assert start(tmp_path / "s", "../notes.csv")["notes"] == 3


def test_a_table_without_a_rubric_is_refused(tmp_path: Path) -> None:
    polars.DataFrame(NOTES).write_csv(tmp_path / "notes.csv")
    place = new_study(tmp_path / "s", corpus="../notes.csv")
    with pytest.raises(InputError):
        define_population(Study.open(place.parent))
