"""Inputs of a run: opened, checked, cut into batches, and recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rubricate import Corpus, Feature, Note, Rubric
from rubricate.errors import InputError
from rubricate.formats.notes import NoteSource
from rubricate.matchers import model_of_name
from rubricate.run.results import RunCounts
from rubricate.scoring import ScoreSettings, score_notes
from rubricate.scoring.job import Given, Job, evidence_plan, model_of_run, open_job, run_record

RUBRICS = (
    Rubric("c", (Feature("f", "c", "Fever"), Feature("g", "c", "Cough"))),
    Rubric("d", (Feature("h", "d", "Chest pain"),)),
)
NOTES = [
    Note("1", "c", "Patient has fever and a dry cough."), Note("2", "d", "Chest pain since Monday."),
    Note("3", "c", "Patient has fever and a dry cough."), Note("4", "c", "No fever, some cough."),
    Note("5", "d", "No chest pain today."),
]  # fmt: skip


def opened(
    tmp_path: Path, notes: list[Note] | None = None, rubrics: tuple[Rubric, ...] = RUBRICS,
    given: Given | None = None, **settings: Any,
) -> Job:  # fmt: skip
    own = NOTES if notes is None else notes
    source = NoteSource("notes.jsonl", rubrics, lambda: iter(own), "", True)
    chosen = ScoreSettings(**({"matcher": "exact", "batch_size": 2} | settings))
    return open_job(source, tmp_path, given or Given(), chosen, tmp_path / "earlier")


@pytest.mark.parametrize(
    ("name", "least"),
    [("batch_size", 1), ("longest", 1), ("seed", 0), ("workers", 0), ("note_seconds", 0)],
)
def test_settings_have_a_least_value(name: str, least: int) -> None:
    assert getattr(ScoreSettings(**{name: least}), name) == least  # type: ignore[arg-type]
    with pytest.raises(InputError, match=name):
        ScoreSettings(**{name: least - 1})  # type: ignore[arg-type]


def test_the_usual_settings_are_those_that_are_documented() -> None:
    usual = ScoreSettings()
    assert (usual.batch_size, usual.longest, usual.seed, usual.workers) == (200, 100_000, 0, 0)


@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_batches_are_the_notes_in_order(size: int, tmp_path: Path) -> None:
    job = opened(tmp_path, batch_size=size)
    batches = list(job.batches())
    assert [note for batch in batches for note in batch] == NOTES
    assert len(batches) == len(job.survey.batches) == -(-5 // size)
    assert all(len(batch) == size for batch in batches[:-1])


def test_notes_that_change_while_they_are_scored_are_told_by_number(tmp_path: Path) -> None:
    notes = list(NOTES)
    job = opened(tmp_path, notes)
    notes[2] = Note("3", "c", "Something else entirely happened.")
    with pytest.raises(InputError, match="in notes 3 to 4 "):
        list(job.batches())
    notes[2:] = [*NOTES[2:4], Note("5", "d", "Other words.")]
    with pytest.raises(InputError, match="in notes 5 to 5 "):
        list(job.batches())
    notes[4:] = NOTES[4:]
    job = opened(tmp_path / "one", notes, batch_size=5)
    notes.append(Note("6", "c", "Late."))
    with pytest.raises(InputError, match="from note 6 on"):
        list(job.batches())


def test_kept_evidence_must_be_of_this_run(tmp_path: Path) -> None:
    job = opened(tmp_path)
    first: list[dict[str, Any]] = [
        {"note": "1", "case": "c", "items": [1, 2]}, {"note": "2", "case": "d", "items": [1]}
    ]  # fmt: skip
    second: list[dict[str, Any]] = [
        {"note": "3", "case": "c", "same_as": 0}, {"note": "4", "case": "c", "failed": "why"}
    ]  # fmt: skip
    assert job.check_lines(0, first) == job.check_lines(1, second) == ""
    for key, lines, place, change, said in (
        (0, first, 0, {"items": [1]}, "of another rubric"),
        (0, first, 1, {"note": "9"}, "of other notes"),
        (1, second, 0, {"same_as": 1}, "of other notes"),
        (1, second, 1, {"failed": 5}, "not evidence"),
    ):
        changed = [line | change if i == place else line for i, line in enumerate(lines)]
        assert job.check_lines(key, changed) == said
    assert job.check_lines(1, first) == "of other notes"
    assert job.check_lines(7, first) == job.check_lines(0, [5]) == "not evidence"
    assert job.check_lines(0, [{"note": "1", "case": "c"}, first[1]]) == "not evidence"


def test_what_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the input has no notes"):
        opened(tmp_path, [])
    with pytest.raises(InputError, match=r"'z'.*'c', 'd'\. Use the same names"):
        opened(tmp_path, [Note("1", "z", "Fever and cough.")])
    many = [Note(str(i), f"z{i:02}", "Fever and cough.") for i in range(11)]
    with pytest.raises(InputError, match=r"'z09', \.\.\. and 1 more;"):
        opened(tmp_path, many)
    with pytest.raises(InputError, match="'z09'; cases with"):
        opened(tmp_path, many[:10])
    again = (*RUBRICS, Rubric("e", (Feature("f", "e", "x"), Feature("k", "e", "\ud800"))))
    with pytest.raises(InputError) as caught:
        opened(tmp_path, rubrics=again)
    assert len(caught.value.faults) == 2


def test_evidence_depends_on_notes_rubrics_and_settings(tmp_path: Path) -> None:
    plan = evidence_plan(opened(tmp_path / "a"))
    assert plan == evidence_plan(opened(tmp_path / "b"))
    for i, other in enumerate(
        [
            opened(tmp_path / "c", NOTES[:4]), opened(tmp_path / "d", seed=1),
            opened(tmp_path / "e", batch_size=3), opened(tmp_path / "f", longest=99),
            opened(tmp_path / "g", note_seconds=1), opened(tmp_path / "h", rubrics=RUBRICS[:1]),
        ]
    ):  # fmt: skip
        assert evidence_plan(other) != plan, i


def test_the_record_names_everything_given(tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text("note,feature,found,by,at\n1,f,no,Ann,2025-01-01\n", encoding="utf-8")
    given = Given(corrections=table)
    job = opened(tmp_path / "m", given=given)
    record: Any = run_record(job, given, RunCounts())
    assert record["rubric"]["cases"] == 2 and record["rubric"]["features"] == 3
    assert record["input"]["name"] == record["rubric"]["name"] == "notes.jsonl"
    assert "sha256" not in record["input"] and "policy" not in record
    assert record["corrections"]["name"] == "c.csv" and record["corrections"]["outdated"] == 0
    assert [one["note"] for one in record["corrections"]["items"]] == ["1"]
    assert set(record["versions"]) == {"python", "numpy", "scipy"} and "unsure" in record
    plain: Any = run_record(opened(tmp_path / "n", unsure=None), Given(), RunCounts())
    assert "corrections" not in plain and "unsure" not in plain


def test_a_run_from_notes_to_its_record(tmp_path: Path) -> None:
    corpus = Corpus(tuple(NOTES), RUBRICS)
    run: Any = score_notes(corpus, tmp_path / "out", settings=ScoreSettings(matcher="exact")).run
    assert run["counts"]["notes"] == 5 and run["matcher"] == "exact"
    assert run["model"]["name"] == "model" and (tmp_path / "out" / "model").exists()


def test_a_run_names_the_model_of_the_package_and_copies_none(tmp_path: Path) -> None:
    settings, out = ScoreSettings(matcher="encoder"), tmp_path / "out"
    corpus = Corpus(tuple(NOTES), RUBRICS)
    run: Any = score_notes(corpus, out, settings=settings).run
    known = model_of_name("fast")
    assert known is not None
    assert run["model"] == {"name": "fast", "sha256": known.hash}
    assert not (out / "model").exists() and "model" not in run["outputs"]
    assert model_of_run(out) == known
    named: Any = score_notes(corpus, tmp_path / "named", model="fast").run
    assert named["model"] == run["model"]
    record = json.loads((out / "run.json").read_text(encoding="utf-8"))
    record["model"]["sha256"] = "0" * 64
    (out / "run.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match="another version of the model 'fast'"):
        model_of_run(out)


def test_a_model_with_other_parameters_has_another_hash() -> None:
    hashes = {
        model_of_name(name).hash for name in ("cascade", "cascade=0.2,0.8", "fast", "accurate")
    }  # type: ignore[union-attr]
    assert len(hashes) == 4
