import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, Score, load_corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.run import ScoredRun
from rubricate.trust import compare_runs, run_of_corpus, run_of_scores


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


def test_only_notes_judged_in_full_have_a_score() -> None:
    builder = CorpusBuilder()
    for name in ("a", "b"):
        builder.add_note(Note(name, "c", "no fever"))
    for name in ("f", "g"):
        builder.add_feature(Feature(name, "c", name))
    builder.annotate("ann", "a", "f", [(0, 2)])
    builder.judge("ann", "a", "g")
    builder.annotate("ann", "b", "f", [(0, 2)])
    builder.add_score(Score("a", "x", 1, 4))
    builder.add_score(Score("a", "y", 3, 4))
    corpus = builder.build()
    assert run_of_corpus(corpus).percentage.tolist() == pytest.approx([50.0, np.nan], nan_ok=True)
    assert run_of_scores(corpus).score[0] == 2.0
    assert run_of_scores(corpus, "y").score[0] == 3.0
    with pytest.raises(InputError, match="no scores by z"):
        run_of_scores(corpus, "z")
    with pytest.raises(UnknownNameError, match=r"no annotator 'bob'\. Known: ann"):
        run_of_corpus(corpus, "bob")
    with pytest.raises(InputError, match="has no annotations"):
        run_of_corpus(Corpus(corpus.notes, corpus.rubrics))
