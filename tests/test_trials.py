from pathlib import Path

import pytest

from rubricate import load_corpus
from rubricate.errors import InputError, UnknownNameError
from rubricate.stats import Resampling
from rubricate.trials import Trial, fold_splits, learning_splits, run_trials

CORPUS = load_corpus("open-notes").select(cases=["0"])
FEW = Resampling(resamples=50)


def test_every_matcher_is_measured_on_the_same_rows() -> None:
    splits = fold_splits(CORPUS, folds=2, train_folds=1)
    result = run_trials(
        CORPUS, [Trial("exact", "exact"), Trial("fuzzy", "fuzzy")], splits, settings=FEW
    )
    found = result.of("")
    assert found["exact"].coverage.n_rows == found["fuzzy"].coverage.n_rows == 1600
    assert result.ceiling is not None
    value = result.to_dict()["groups"][""]
    assert value["comparisons"][0]["characters"]["difference"] > 0


def test_an_interrupted_run_goes_on_and_gives_the_same(tmp_path: Path) -> None:
    splits = fold_splits(CORPUS, folds=2, train_folds=1)
    trials = [Trial("exact", "exact")]
    whole = run_trials(CORPUS, trials, splits, settings=FEW).to_dict()

    def stop_after_one(done: int, of: int | None, label: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(CORPUS, trials, splits, settings=FEW, keep=tmp_path, progress=stop_after_one)
    assert len(list(tmp_path.iterdir())) == 1
    assert run_trials(CORPUS, trials, splits, settings=FEW, keep=tmp_path).to_dict() == whole


def test_more_notes_help() -> None:
    splits = learning_splits(CORPUS, folds=2, notes_per_case=[0, 5, 40])
    result = run_trials(CORPUS, [Trial("exact", "exact")], splits, settings=FEW)
    f1 = [result.of(g)["exact"].characters.total().f1 for g in result.groups]
    assert result.groups == ["0", "5", "40"]
    assert f1[0] == 0 or f1[0] != f1[0]
    assert f1[1] < f1[2]


def test_an_unknown_annotator_is_an_error() -> None:
    with pytest.raises(UnknownNameError):
        run_trials(CORPUS, [Trial("exact", "exact")], [], annotator="nobody")


def test_a_corpus_without_annotators_is_an_error() -> None:
    with pytest.raises(InputError, match="annotator"):
        run_trials(CORPUS.select(annotators=()), [Trial("exact", "exact")], [])


def test_without_items_judged_twice_there_is_no_ceiling() -> None:
    corpus = load_corpus("open-notes").select(cases=["14"])
    assert len(corpus.annotators) > 1
    splits = fold_splits(corpus, folds=2, train_folds=1)
    assert run_trials(corpus, [Trial("exact", "exact")], splits, settings=FEW).ceiling is None
