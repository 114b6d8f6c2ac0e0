import numpy as np

from rubricate import Feature, Rubric
from rubricate.run import Evidence, RunItems, ScoredRun
from rubricate.run.reading import collect_run, paired_items, shared_notes
from rubricate.scoring import judge_note

RUBRIC = Rubric("c", (Feature("f", "c", "Fever"), Feature("g", "c", "Cough")))


def test_columns_hold_what_was_decided() -> None:
    found = Evidence((((0, 5),),), 0.9, 0.8)
    line = {"note": "a", "case": "c", "items": [found.to_json(), Evidence((), 0.3).to_json()]}
    run = collect_run(
        [
            judge_note(line, RUBRIC),
            judge_note({"note": "b", "case": "c", "failed": "the note is empty"}, RUBRIC),
        ]
    )
    assert run.percentage.tolist()[0] == 50.0 and np.isnan(run.percentage[1])
    assert run.items.found.tolist() == [True, False]
    assert run.items.certainty.tolist() == [0.9, 0.7]
    assert run.items.note.tolist() == [0, 0]
    assert not run.items.needs_review.any()


def run_of(notes: str, found: list[bool]) -> ScoredRun:
    n = len(notes)
    places, features = np.arange(n), np.zeros(n, dtype=np.int64)
    no = np.zeros(n, dtype=np.bool_)
    items = RunItems(places, features, ("f",), np.array(found), np.full(n, 0.9), no)
    score = np.array(found, dtype=float)
    return ScoredRun(tuple(notes), ("c",) * n, score, np.ones(n), items)


def test_runs_are_paired_by_note_whatever_their_order() -> None:
    first, second = run_of("abc", [True, False, True]), run_of("cbd", [True, True, True])
    one, two = shared_notes(first, second)
    assert [first.notes[i] for i in one] == [second.notes[i] for i in two] == ["b", "c"]
    one, two = paired_items(first, second)
    changed = first.items.found[one] != second.items.found[two]
    assert changed.tolist() == [True, False]
    turned = run_of("cab", [True, True, False]).with_notes_like(first)
    assert turned.notes == first.notes and turned.score.tolist() == first.score.tolist()
    assert turned.items.note.tolist() == [2, 0, 1]
