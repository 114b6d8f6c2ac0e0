from pathlib import Path

import numpy as np
import pytest

from rubricate import CorpusBuilder, Feature, Note, Score, load_corpus
from rubricate.errors import InputError
from rubricate.trust import Run, compare_runs, read_run, run_of_corpus, run_of_scores
from rubricate.trust.run_files import read_evidence
from rubricate.trust.runs import total_of

SCORES = "note,case,status,score,maximum\n'=a,c,scored,1.5,2\nb,c,not scored,,\n"
ITEMS = (
    "note,feature,found,probability,confidence,spans,review\n"
    "'=a,f,yes,0.8,0.9,0 5;8 12|20 25,no\n'=a,g,no,0.3,,,yes\nb,f,,,,,no\n"
)


def write(folder: Path, scores: str = SCORES, items: str = ITEMS) -> Path:
    (folder / "scores.csv").write_text(scores, encoding="utf-8")
    (folder / "items.csv").write_text(items, encoding="utf-8")
    return folder


def test_a_run_is_read_with_guards_taken_away(tmp_path: Path) -> None:
    run = read_run(write(tmp_path))
    assert run.notes == ("=a", "b")
    assert run.percentage[0] == 75.0
    assert np.isnan(run.percentage[1])
    assert run.items.found.tolist() == [True, False]
    assert run.items.needs_review.tolist() == [False, True]
    assert run.items.confidence.tolist() == pytest.approx([0.8, 0.7])
    evidence = read_evidence(tmp_path)["=a"]["f"]
    assert [s.start for s in evidence.spans] == [0, 8, 20]


def test_what_the_scorer_writes_is_read(tmp_path: Path) -> None:
    scoring = pytest.importorskip("rubricate.scoring.run")
    corpus = load_corpus("open-notes").select(cases=["0"])
    settings = scoring.ScoreSettings(matcher="exact")
    scoring.score_notes(corpus.select(annotators=()), tmp_path / "run", settings=settings)
    run = read_run(tmp_path / "run")
    assert run.notes == tuple(note.id for note in corpus.notes)
    totals = np.bincount(run.items.note[run.items.found], minlength=len(run))
    assert run.score.tolist() == totals.tolist()
    assert len(run.items) == 16 * len(run)


@pytest.mark.parametrize(
    ("scores", "items", "message"),
    [
        (SCORES.replace("1.5", "high"), ITEMS, "row 1: score"),
        (SCORES.replace("score,", "points,"), ITEMS, "'score' is missing"),
        (SCORES, ITEMS.replace("yes,0.8", "maybe,0.8"), "row 1: found"),
        (SCORES, ITEMS.replace("'=a,g", "z,g"), "row 2: the note has no row"),
    ],
)
def test_faults_name_their_row(tmp_path: Path, scores: str, items: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_run(write(tmp_path, scores, items))


def test_wrong_spans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1: spans"):
        read_evidence(write(tmp_path, items=ITEMS.replace("8 12", "12 8")))


def test_totals_are_those_of_the_scorer() -> None:
    totals = pytest.importorskip("rubricate.scoring.totals")
    builder = CorpusBuilder()
    for i, (weight, group) in enumerate([(2, ""), (1, "g"), (0.5, "g"), (-1, ""), (3, "h")]):
        builder.add_feature(Feature(str(i), "c", f"f{i}", weight, group=group))
    rubric = builder.build().rubrics[0]
    for mask in range(32):
        found = {str(i) for i in range(5) if mask >> i & 1}
        expected = totals.total_score(rubric, found)
        assert total_of(rubric, found) == expected.score
        assert total_of(rubric) == expected.maximum


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
    with pytest.raises(InputError, match="there are: ann"):
        run_of_corpus(corpus, "bob")


def test_changes_are_listed() -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    after = run_of_corpus(corpus)
    found = after.items.found.copy()
    found[0] = not found[0]
    items = type(after.items)(after.items.note, after.items.feature, after.items.features, found,
                              after.items.confidence, after.items.needs_review)  # fmt: skip
    score = after.score.copy()
    score[0] -= 1
    before = Run(after.notes, after.cases, score, after.maximum, items)
    changes = compare_runs(before, after)
    assert list(changes.scores) == [after.notes[0]]
    assert [(c.note, c.feature) for c in changes.decisions] == [(after.notes[0], "0")]
    assert compare_runs(after, after).to_dict()["decisions_changed"] == 0
