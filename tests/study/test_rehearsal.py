import json
from collections.abc import Callable

import pytest

from rubricate import read_corpus
from rubricate.errors import ArgumentError, InputError, OutputExistsError
from rubricate.study.assignment import assign_study
from rubricate.study.collection import collect_study
from rubricate.study.population import define_population
from rubricate.study.record import Study
from rubricate.study.rehearsal import rehearse_study
from rubricate.study.sampling import plan_study, sample_study


@pytest.fixture
def assigned(make_study: Callable[..., Study]) -> Study:
    study = make_study("brat")
    for step in (define_population, plan_study, sample_study, assign_study):
        step(study)
    return study


def test_annotators_who_never_slip_agree_on_everything(assigned: Study) -> None:
    reference = read_corpus(assigned.folder / "notes.jsonl")
    found = rehearse_study(assigned, reference, annotator="reference", slips=0)
    assert found.slips == 0
    assert found.packages == 6  # training and two weeks, of two annotators
    summary = collect_study(assigned).summary
    assert summary["rehearsed"]
    assert all(v["characters_f1"]["value"] == 1 for v in summary["agreement"]["variables"])
    collected = read_corpus(assigned.output("collect", "annotations.jsonl"))
    for note in collected.notes:
        for who in ("ann", "bob"):
            spans = [a.spans for a in collected.annotations(note.id, "f1", who)]
            assert spans == [a.spans for a in reference.annotations(note.id, "f1", "reference")]


def test_slips_come_as_often_as_said_and_are_written_down(assigned: Study) -> None:
    reference = read_corpus(assigned.folder / "notes.jsonl")
    found = rehearse_study(assigned, reference, annotator="reference", slips=0.3)
    assert found.slips / found.marks == pytest.approx(0.6, abs=0.15)
    told = json.loads((found.folder / "rehearsal.json").read_text(encoding="utf-8"))
    files = told.pop("files")
    assert told == {"slips": 0.3, "seed": 5, "reference": "reference"}
    with pytest.raises(OutputExistsError):
        rehearse_study(assigned, reference, annotator="reference")
    rehearse_study(assigned, reference, annotator="reference", slips=0.3, overwrite=True)
    # What a person changed or added is no rehearsal any more, and stays.
    changed = found.folder / next(name for name in files if name.endswith(".ann"))
    for path in (changed, found.folder / "letter.txt"):
        before = path.read_bytes() if path.exists() else None
        path.write_text("T1\tf1 0 1\tx\n", encoding="utf-8")
        with pytest.raises(ArgumentError, match=path.name):
            rehearse_study(assigned, reference, annotator="reference", overwrite=True)
        assert path.read_text(encoding="utf-8") == "T1\tf1 0 1\tx\n"
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)
    (found.folder / "rehearsal.json").unlink()
    with pytest.raises(ArgumentError, match="people"):
        rehearse_study(assigned, reference, annotator="reference", overwrite=True)


def test_what_cannot_be_rehearsed_is_refused(assigned: Study) -> None:
    reference = read_corpus(assigned.folder / "notes.jsonl")
    with pytest.raises(InputError, match="between 0 and 1"):
        rehearse_study(assigned, reference, annotator="reference", slips=2)
    with pytest.raises(InputError, match="not in the reference"):
        rehearse_study(assigned, reference.select(notes=["n0"]), annotator="reference")
