from rubricate import load_corpus
from rubricate.run import ScoredRun
from rubricate.trust import compare_runs, run_of_corpus


def test_changes_are_listed() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    after = run_of_corpus(corpus)
    found = after.items.found.copy()
    found[0] = not found[0]
    items = type(after.items)(after.items.note, after.items.feature, after.items.features, found,
                              after.items.certainty, after.items.needs_review)  # fmt: skip
    score = after.score.copy()
    score[0] -= 1
    before = ScoredRun(after.notes, after.cases, score, after.maximum, items)
    changes = compare_runs(before, after)
    assert list(changes.scores) == [after.notes[0]]
    assert [(c.note, c.feature) for c in changes.decisions] == [(after.notes[0], "0")]
    assert compare_runs(after, after).to_dict()["decisions_changed"] == 0
