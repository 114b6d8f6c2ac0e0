from collections.abc import Callable
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.study.collection import collect_study
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.sampling import plan_study, sample_study
from rubricate.study.status import study_status


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
