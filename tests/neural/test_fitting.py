from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rubricate import Corpus, CorpusBuilder
from rubricate.errors import InputError
from rubricate.neural import folds, settling
from rubricate.neural.export import weights_of_onnx
from rubricate.neural.fitting import FitOptions, fit_folder
from rubricate.neural.folds import grouped_folds
from rubricate.neural.learning_set import learning_set
from rubricate.neural.model_folder import Settings
from rubricate.neural.pieces import PieceMaker
from rubricate.neural.recipes import FitRecipe

#: Every stage and switch, as short as can be.
EVERYTHING = FitRecipe(
    folds=2, every=2, language_steps=3, language_notes=2, pseudo=0.5, twice=1.0, perturbed=0.01
)


class KilledError(Exception):
    pass


@pytest.fixture(scope="module")
def partly(corpus: Corpus) -> Corpus:
    """The corpus with the rows of its first four notes only."""
    return corpus.with_rows(corpus.rows.take(corpus.rows.note < 4), corpus.annotators)


@pytest.fixture
def fit(model_folder: Path, tmp_path: Path) -> Callable[..., tuple[Settings, Path]]:
    def run(corpus: Corpus, options: FitOptions, name: str = "m", progress=None):  # type: ignore[no-untyped-def]
        target = tmp_path / name
        target.mkdir(exist_ok=True)
        given = replace(options, threads=1)
        return fit_folder(model_folder, target, corpus, "ann", given, progress), target

    return run


def same_networks(first: Path, second: Path) -> bool:
    paths = sorted(path.relative_to(first) for path in first.rglob("*.onnx"))
    assert paths == sorted(path.relative_to(second) for path in second.rglob("*.onnx"))
    for path in paths:
        one, two = weights_of_onnx(first / path), weights_of_onnx(second / path)
        if not all(torch.equal(value, two[name]) for name, value in one.items()):
            return False
    return True


def without_seconds(value: object) -> object:
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if k != "seconds"}
    return [without_seconds(v) for v in value] if isinstance(value, list) else value


def settings_of(folder: Path) -> list[object]:
    found = sorted(folder.rglob("settings.json"))
    return [without_seconds(json.loads(path.read_text(encoding="utf-8"))) for path in found]


def test_held_out_notes_stop_it_early_and_set_thresholds(
    fit: Callable, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folds, "FEWEST_TO_HOLD_OUT", 5)
    monkeypatch.setattr(settling, "FEWEST_ROWS", 5)
    recipe = FitRecipe(held_out=0.34, every=2, patience=2)
    settings, _ = fit(corpus, FitOptions(recipe, steps=200))
    report = settings.report
    assert report["notes"]["held_out"] == 2
    assert "characters" in report["curve"][0]
    assert len(report["curve"]) < 100
    assert set(report["held_out"]) == {"characters", "presence"}
    assert settings.calibration.slope != 1.0


def test_without_held_out_notes_nothing_is_settled(fit: Callable, corpus: Corpus) -> None:
    settings, folder = fit(corpus, FitOptions(steps=2))
    assert settings.thresholds == Settings().thresholds
    assert {"notes", "recipe", "curve", "stages"} <= set(settings.report)
    assert "held_out" not in settings.report
    assert sorted(p.name for p in folder.iterdir()) == [
        "network.onnx", "settings.json", "tokenizer.json",
    ]  # fmt: skip


def test_each_fold_has_a_network_and_a_report(
    fit: Callable, partly: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "FEWEST_ROWS", 5)
    steps: list[tuple[int, int]] = []
    settings, folder = fit(
        partly,
        FitOptions(EVERYTHING, steps=4),
        progress=lambda step, of, loss: steps.append((step, of)),
    )
    members = settings.report["members"]
    assert len(members) == 2
    for member in members:
        assert member["notes"] == {"learned_from": 2, "held_out": 2, "pseudo": 2}
        assert [stage["name"] for stage in member["stages"]] == ["language", "marks", "pseudo"]
        assert member["stages"][-1]["curve"] == member["curve"]
        assert set(member["held_out"]) == {"characters", "presence"}
        assert member["recipe"]["perturbed"] == 0.01
    assert settings.report["notes"] == {"learned_from": 4, "held_out": 4}
    assert settings.report["options"]["folds"] == 2
    assert [entry["step"] for entry in settings.report["curve"]] == [2, 4]
    assert not same_networks(folder / "member1", folder / "member2")
    assert steps[0] == (3, 19)
    assert [step for step, _ in steps] == sorted(step for step, _ in steps)
    assert steps[-1] == (19, 19)


def test_killed_anywhere_it_ends_where_an_unbroken_fit_does(
    fit: Callable, partly: Corpus, tmp_path: Path
) -> None:
    _, unbroken = fit(partly, FitOptions(EVERYTHING, steps=4), "unbroken")
    options = FitOptions(EVERYTHING, steps=4, checkpoint=tmp_path / "c")
    # After the language stage, within and at the end of both stages of both networks.
    for last in (3, 5, 7, 9, 13, 15, 19):

        def kill(step: int, of: int, loss: float, last: int = last) -> None:
            if step >= last:
                raise KilledError

        with pytest.raises(KilledError):
            fit(partly, options, "broken", progress=kill)
    _, broken = fit(partly, options, "broken")
    assert same_networks(unbroken, broken)
    assert settings_of(unbroken) == settings_of(broken)


def test_early_stopping_outlives_a_kill(
    fit: Callable, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folds, "FEWEST_TO_HOLD_OUT", 5)
    # With such a rate the first look is the best for long.
    recipe = FitRecipe(held_out=0.34, every=2, patience=4, rate=0.1, scorer_rate=0.1)
    unbroken, folder = fit(corpus, FitOptions(recipe, steps=60))
    n_looks = len(unbroken.report["curve"])
    options = FitOptions(recipe, steps=60, checkpoint=tmp_path / "c")

    def kill(step: int, of: int, loss: float) -> None:
        if step == 2 * (n_looks - 1):
            raise KilledError

    with pytest.raises(KilledError):
        fit(corpus, options, "broken", progress=kill)
    resumed, broken = fit(corpus, options, "broken")
    assert len(resumed.report["curve"]) == n_looks
    assert same_networks(folder, broken)


def test_a_checkpoint_of_another_fit_is_refused(
    fit: Callable, corpus: Corpus, tmp_path: Path
) -> None:
    options = FitOptions(steps=2, checkpoint=tmp_path / "c")
    fit(corpus, options)
    for other in (replace(options, seed=1), replace(options, recipe=FitRecipe(twice=1.0))):
        with pytest.raises(InputError, match="another fit"):
            fit(corpus, other)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        fit(corpus, replace(options, checkpoint=tmp_path / "file"))


def test_a_network_knows_nothing_of_its_held_out_notes(
    fit: Callable, partly: Corpus, maker: PieceMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their annotations, changed, change its fold's network neither directly nor by labels."""
    monkeypatch.setattr(settling, "WORTH_WHOLE", float("inf"))
    # One look at the end: no earlier step can be chosen on the held-out notes.
    options = FitOptions(replace(EVERYTHING, every=50), steps=4)
    first, _ = grouped_folds(learning_set(partly, "ann", maker), 2, options.seed)
    builder = CorpusBuilder()
    for feature in partly.features:
        builder.add_feature(feature)
    for i, note in enumerate(partly.notes):
        builder.add_note(note)
        if i < 4:
            builder.judge_all("ann", note.id)
    for note, _, feature, marked in partly.values():
        if partly.note_index[note.id] in first.held:
            builder.annotate("ann", note.id, feature.id, [(0, 4)])
        else:
            for one in marked:
                builder.annotate("ann", note.id, feature.id, one.spans)
    altered = builder.build()
    _, before = fit(partly, options, "before")
    _, after = fit(altered, options, "after")
    assert same_networks(before / "member1", after / "member1")
    assert not same_networks(before / "member2", after / "member2")


def test_too_few_notes_for_the_folds(fit: Callable, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="6 different notes"):
        fit(corpus, FitOptions(FitRecipe(folds=7)))


@pytest.mark.parametrize("worth", [-1.0, float("inf")])
def test_full_precision_is_kept_where_eight_bits_cost_too_much(
    fit: Callable, corpus: Corpus, worth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "WORTH_WHOLE", worth)
    settings, folder = fit(corpus, FitOptions(FitRecipe(folds=2), steps=1))
    precision = settings.report["precision"]
    whole = worth < 0
    assert precision["kept"] == ("full" if whole else "eight bits")
    assert {"full", "eight_bits"} < set(precision)
    names = {path.name for path in folder.rglob("*.onnx")}
    assert names == {"network.onnx"}
    stored = b"MatMulInteger" in (folder / "member1" / "network.onnx").read_bytes()
    assert stored != whole


def test_a_network_in_full_precision_is_fitted_further(
    fit: Callable, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folds, "FEWEST_TO_HOLD_OUT", 5)
    monkeypatch.setattr(settling, "WORTH_WHOLE", -1.0)
    options = FitOptions(FitRecipe(held_out=0.34), steps=2, threads=1)
    settings, first = fit(corpus, options)
    assert settings.report["precision"]["kept"] == "full"
    (tmp_path / "again").mkdir()
    fit_folder(first, tmp_path / "again", corpus, "ann", options)
    assert not same_networks(first, tmp_path / "again")
