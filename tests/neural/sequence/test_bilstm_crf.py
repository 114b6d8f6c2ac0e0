from pathlib import Path

import numpy as np
import pytest

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.neural.sequence.bilstm_crf import BiLstmCrfMatcher
from rubricate.progress import Progress

torch = pytest.importorskip("torch")

SMALL = {"epochs": 4, "batch": 8, "word": 8, "hidden": 8, "spelled": 4, "character": 4}


class KilledError(Exception):
    pass


def kill_after(epochs: int) -> Progress:
    def progress(done: int, of: int | None, label: str) -> None:
        if label == "learning" and done > epochs / SMALL["epochs"] * (of or 0):
            raise KilledError

    return progress


def test_a_resumed_run_ends_as_one_that_was_never_killed(
    trials: Corpus, more_trials: Corpus, tmp_path: Path
) -> None:
    straight = BiLstmCrfMatcher(recipe=SMALL).fit(trials)
    path = tmp_path / "run" / "checkpoint.safetensors"
    with pytest.raises(KilledError):
        BiLstmCrfMatcher(recipe=SMALL).fit(trials, checkpoint=path, progress=kill_after(2))
    seen: list[tuple[int, int | None, str]] = []
    resumed = BiLstmCrfMatcher(recipe=SMALL).fit(
        trials, checkpoint=path, progress=lambda *now: seen.append(now)
    )
    steps = [(done, of) for done, of, label in seen if label == "learning"]
    n_steps = steps[-1][1]
    assert n_steps is not None
    assert steps == [(done, n_steps) for done in range(n_steps // 2 + 1, n_steps + 1)]
    assert {label for *_, label in seen} == {"learning", "choosing the bonus"}
    assert resumed.model_.history == straight.model_.history
    one, two = straight.model_.network.weights(), resumed.model_.network.weights()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_checkpoint_of_another_run_is_refused(trials: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    BiLstmCrfMatcher(recipe={**SMALL, "epochs": 1}).fit(trials, checkpoint=path)
    for other in (
        BiLstmCrfMatcher(recipe={**SMALL, "epochs": 2}),
        BiLstmCrfMatcher(recipe={**SMALL, "epochs": 1}, seed=1),
    ):
        with pytest.raises(InputError):
            other.fit(trials, checkpoint=path)
    path.write_bytes(b"no checkpoint at all")
    with pytest.raises(InputError):
        BiLstmCrfMatcher(recipe=SMALL).fit(trials, checkpoint=path)


def test_training_stops_when_held_out_notes_get_no_better(trials: Corpus) -> None:
    recipe = {**SMALL, "epochs": 30, "patience": 2, "rate": 0.0}
    history = BiLstmCrfMatcher(recipe=recipe).fit(trials).model_.history
    assert [progress.best for progress in history] == [True, False, False]


def test_the_course_of_training_is_told_and_saved(trials: Corpus, tmp_path: Path) -> None:
    matcher = BiLstmCrfMatcher(recipe={**SMALL, "epochs": 3, "held_out": 0.25})
    assert matcher.training_report_ is None
    report = matcher.fit(trials).training_report_
    assert report is not None
    course = report.courses[0]
    history = matcher.model_.history
    assert [look.loss for look in course.looks] == [one.loss for one in history]
    assert course.n_held >= 1
    assert course.n_learned + course.n_held == matcher.model_.n_notes
    held_out = [one.held_out or 0.0 for one in history]
    assert course.chosen == held_out.index(max(held_out)) + 1
    assert report.recipe["network.hidden"] == 8
    matcher.save(tmp_path / "model")
    assert BiLstmCrfMatcher.load(tmp_path / "model").training_report_ == report


def test_without_notes_held_out_the_last_pass_is_kept(trials: Corpus) -> None:
    recipe = {**SMALL, "epochs": 2, "held_out": 0.0}
    history = BiLstmCrfMatcher(recipe=recipe).fit(trials).model_.history
    assert [(progress.held_out, progress.best) for progress in history] == [(None, True)] * 2


def test_training_does_not_disturb_the_callers_random_numbers(trials: Corpus) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    BiLstmCrfMatcher(recipe={**SMALL, "epochs": 1}).fit(trials)
    assert torch.equal(torch.rand(3), expected)


def test_vectors_reach_words_that_were_never_seen(trials: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    drugs = ["aspirin", "ibuprofen", "warfarin", "metformin", "heparin", "zzyzx"]
    rng = np.random.default_rng(0)
    lines = [f"{word} {5 + rng.random():.3f} {rng.random():.3f}" for word in drugs]
    lines += [f"{word} {-5 - rng.random():.3f} {rng.random():.3f}" for word in ("we", "gave", "to")]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    matcher = BiLstmCrfMatcher(recipe=SMALL, vectors=str(path)).fit(trials)
    assert "zzyzx" not in matcher.model_.vocabulary.words
    assert matcher.model_.vocabulary.given["zzyzx"] >= 2
    matcher.save(tmp_path / "model")
    path.unlink()
    again = BiLstmCrfMatcher.load(tmp_path / "model")
    assert again.predict(trials) == matcher.predict(trials)
