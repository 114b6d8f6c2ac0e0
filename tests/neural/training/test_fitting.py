from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from rubricate import Corpus, CorpusBuilder
from rubricate.errors import InputError
from rubricate.neural.encoder.model_folder import UNSEEN, EncoderSettings
from rubricate.neural.encoder.pieces import PieceMaker
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training import calibrate, fitting
from rubricate.neural.training.export import read_network, weights_of_onnx
from rubricate.neural.training.fitting import FitOptions, fit_folder, fit_parts, pseudo_labels
from rubricate.neural.training.learning_set import learning_set
from rubricate.neural.training.measuring import score_rows
from rubricate.neural.training.network import Network
from rubricate.neural.training.passes import Lessons
from rubricate.progress import Progress, silent

#: Every stage and switch, as short as can be.
EVERYTHING = EncoderRecipe(
    folds=2, every=2, steps=4, language_steps=3, language_notes=2, pseudo=0.5, twice=1.0,
    perturbed=0.01,
)  # fmt: skip


class KilledError(Exception):
    pass


@pytest.fixture(scope="module")
def partly(corpus: Corpus) -> Corpus:
    """The corpus with the rows of its first four notes only."""
    return corpus.with_rows(corpus.rows.take(corpus.rows.note < 4), corpus.annotators)


@pytest.fixture
def fit(model_folder: Path, tmp_path: Path) -> Callable[..., tuple[EncoderSettings, Path]]:
    def run(corpus: Corpus, options: FitOptions, name: str = "m", progress: Progress = silent):  # type: ignore[no-untyped-def]
        target = tmp_path / name
        target.mkdir(exist_ok=True)
        given = replace(options, threads=1)
        return fit_folder(model_folder, target, corpus, "ann", given, progress=progress), target

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
    monkeypatch.setattr(fitting, "FEWEST_TO_HOLD_OUT", 5)
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 5)
    recipe = EncoderRecipe(held_out=0.34, every=2, patience=2, steps=200)
    settings, _ = fit(corpus, FitOptions(recipe))
    report = settings.report
    assert report["notes"]["held_out"] == 2
    assert "characters" in report["curve"][0]
    assert len(report["curve"]) < 100
    assert set(report["held_out"]) == {"characters", "presence"}
    assert settings.calibration.slope != 1.0


def test_only_a_network_that_reads_rehearses(
    model_folder: Path, tmp_path: Path, corpus: Corpus, maker: PieceMaker
) -> None:
    """A fitted network still detects contradictions, and credits as much as before."""
    found = {}
    for at in (1.0, 0.5):
        source, target = tmp_path / f"source{at}", tmp_path / f"target{at}"
        shutil.copytree(model_folder, source)
        target.mkdir()
        settings = EncoderSettings.read(source / "settings.json")
        # About the middle of what this network says of other cases.
        thresholds = replace(settings.thresholds, presence=0.63)
        settings = replace(settings, contradiction=at, thresholds=thresholds)
        settings.write(source / "settings.json")
        recipe = EncoderRecipe(steps=6, rehearsal=0.5, scorer_rate=0.01)
        fit_folder(source, target, corpus, "ann", FitOptions(recipe, threads=1))
        found[at] = target
        written = EncoderSettings.read(target / "settings.json")
        assert (written.contradiction, written.reads) == (at, at < 1)
        assert written.report["recipe"]["frozen"] == (0 if at < 1 else None)
        assert (written.thresholds == settings.thresholds) == (at == 1)
    assert not same_networks(*found.values())
    unseen = fitting.other_cases(UNSEEN, maker)
    credited = []
    for folder, own in ((source, settings), (target, written)):
        said = score_rows(
            read_network(folder), unseen, range(unseen.n_notes), maker.special,
            features_per_pass=None,
        )  # fmt: skip
        credited.append(np.mean(said.presence >= own.thresholds.presence))
    # The file is in eight bits, and what was settled is not.
    assert credited[1] == pytest.approx(credited[0], abs=0.1)


def test_without_held_out_notes_nothing_is_settled(fit: Callable, corpus: Corpus) -> None:
    settings, folder = fit(corpus, FitOptions(EncoderRecipe(steps=2)))
    assert settings.thresholds == EncoderSettings().thresholds
    assert {"notes", "recipe", "curve", "stages"} <= set(settings.report)
    assert "held_out" not in settings.report
    assert sorted(p.name for p in folder.iterdir()) == [
        "network.onnx", "settings.json", "tokenizer.json",
    ]  # fmt: skip


def test_each_fold_has_a_network_and_a_report(
    fit: Callable, partly: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 5)
    settings, folder = fit(partly, FitOptions(EVERYTHING))
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


def test_killed_anywhere_it_ends_where_an_unbroken_fit_does(
    fit: Callable, partly: Corpus, tmp_path: Path
) -> None:
    calls: list[tuple[int, int | None, str]] = []
    _, unbroken = fit(
        partly, FitOptions(EVERYTHING), "unbroken", progress=lambda *now: calls.append(now)
    )
    options = FitOptions(EVERYTHING, checkpoint=tmp_path / "c")
    n_killed = 0
    while n_killed < 50:
        # A little farther each time: within every stage of both networks, and between them.
        left = 7

        def kill(done: int, of: int | None, label: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                raise KilledError

        try:
            fit(partly, options, "broken", progress=kill)
        except KilledError:
            n_killed += 1
            shutil.rmtree(tmp_path / "broken")
            if n_killed > 8:
                break
    _, broken = fit(partly, options, "broken")
    assert same_networks(unbroken, broken)
    assert settings_of(unbroken) == settings_of(broken)


def test_early_stopping_outlives_a_kill(
    fit: Callable, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "FEWEST_TO_HOLD_OUT", 5)
    # With such a rate the first look is the best for long.
    recipe = EncoderRecipe(held_out=0.34, every=2, patience=4, rate=0.1, scorer_rate=0.1, steps=60)
    unbroken, folder = fit(corpus, FitOptions(recipe))
    n_looks = len(unbroken.report["curve"])
    options = FitOptions(recipe, checkpoint=tmp_path / "c")

    last = 2 * (n_looks - 1) + 2 * (n_looks - 2)  # steps, and two notes for each look before

    def kill(done: int, of: int | None, label: str) -> None:
        if label == "learning" and done == last:
            raise KilledError

    with pytest.raises(KilledError):
        fit(corpus, options, "broken", progress=kill)
    resumed, broken = fit(corpus, options, "broken")
    assert len(resumed.report["curve"]) == n_looks
    assert same_networks(folder, broken)


def test_a_checkpoint_of_another_fit_is_refused(
    fit: Callable, corpus: Corpus, tmp_path: Path
) -> None:
    options = FitOptions(EncoderRecipe(steps=2), checkpoint=tmp_path / "c")
    fit(corpus, options)
    for other in (
        replace(options, seed=1),
        replace(options, recipe=EncoderRecipe(steps=2, twice=1.0)),
    ):
        with pytest.raises(InputError, match="another fit"):
            fit(corpus, other)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        fit(corpus, replace(options, checkpoint=tmp_path / "file"))


def test_a_network_knows_nothing_of_its_held_out_notes(
    fit: Callable, partly: Corpus, maker: PieceMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their annotations, changed, change its fold's network neither directly nor by labels."""
    monkeypatch.setattr(calibrate, "WORTH_WHOLE", float("inf"))
    # One look at the end: no earlier step can be chosen on the held-out notes.
    options = FitOptions(replace(EVERYTHING, every=50))
    first, _ = fit_parts(learning_set(partly, "ann", maker), options.recipe, options.seed)
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
        fit(corpus, FitOptions(EncoderRecipe(folds=7)))


@pytest.mark.parametrize("worth", [-1.0, float("inf")])
def test_full_precision_is_kept_where_eight_bits_cost_too_much(
    fit: Callable, corpus: Corpus, worth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "WORTH_WHOLE", worth)
    settings, folder = fit(corpus, FitOptions(EncoderRecipe(folds=2, steps=1)))
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
    monkeypatch.setattr(fitting, "FEWEST_TO_HOLD_OUT", 5)
    monkeypatch.setattr(calibrate, "WORTH_WHOLE", -1.0)
    options = FitOptions(EncoderRecipe(held_out=0.34, steps=2), threads=1)
    settings, first = fit(corpus, options)
    assert settings.report["precision"]["kept"] == "full"
    (tmp_path / "again").mkdir()
    fit_folder(first, tmp_path / "again", corpus, "ann", options)
    assert not same_networks(first, tmp_path / "again")


def test_every_stage_tells_how_far_it_is(
    fit: Callable, partly: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "FEWEST_ROWS", 5)
    calls: list[tuple[int, int | None, str]] = []
    fit(partly, FitOptions(EVERYTHING), progress=lambda *now: calls.append(now))
    told: dict[str, list[tuple[int, int | None]]] = {}
    for done, of, label in calls:
        told.setdefault(label, []).append((done, of))
    of_each = ["learning", "labelling notes", "learning again", "writing", "measuring"]
    assert list(told) == [
        "guessing hidden words",
        *(f"{what}, network {k} of 2" for k in (1, 2) for what in of_each),
        "choosing thresholds",
        "choosing edges",
    ]
    for label, course in told.items():
        assert [done for done, _ in course] == sorted(done for done, _ in course), label
        assert course[-1][0] == course[-1][1], label
        assert len({of for _, of in course}) == 1, label
    # Four steps, two looks at two notes each.
    assert told["learning, network 1 of 2"][-1] == (8, 8)


@pytest.mark.parametrize(
    "option",
    [
        {"perturbed": 0.1, "perturbed_from": 0.0},
        {"twice": 5.0},
        {"average": 0.0},
        {"positive": 5.0},
        {"layer_decay": 0.5},
        {"rate": 1e-2},
        {"masked": 0.5},
        {"features": {"1": 1.0}},
        {"warm_up": 0.5},
        {"decay": 0.5},
        {"clip": 0.001},
        {"language_steps": 2, "language_notes": 2},
    ],
)
def test_every_switch_does_something(fit: Callable, corpus: Corpus, option: dict) -> None:
    short = EncoderRecipe(steps=4, rate=1e-3, scorer_rate=1e-2)
    _, usual = fit(corpus, FitOptions(short), "usual")
    _, other = fit(corpus, FitOptions(replace(short, **option)), "other")
    assert not same_networks(usual, other)


def test_without_unlabelled_notes_there_is_no_second_round(fit: Callable, corpus: Corpus) -> None:
    settings, _ = fit(corpus, FitOptions(EncoderRecipe(steps=4, every=2, pseudo=0.5)))
    assert [stage["name"] for stage in settings.report["stages"]] == ["marks"]
    assert [entry["step"] for entry in settings.report["curve"]] == [2, 4]


def test_labels_are_what_the_network_says(
    partly: Corpus, maker: PieceMaker, network: Network
) -> None:
    some = learning_set(partly, "ann", maker)
    notes = some.with_text(judged=False)
    assert notes == [4, 5]
    wider = some.with_rows({i: [0, 1, 2] for i in notes})
    said = score_rows(network, wider, notes, maker.special, features_per_pass=None)
    taught = pseudo_labels(wider, notes, said)
    assert taught.n_judged.tolist() == [3, 3, 3, 3, 0, 0]
    first = int(wider.mark_first[12])
    np.testing.assert_allclose(taught.inside[first:], said.inside, atol=1e-3)
    assert not taught.inside[:first].any()


@pytest.mark.parametrize("share", [0.25, 0.75])
def test_passes_over_them_come_as_often_as_asked(
    partly: Corpus, maker: PieceMaker, network: Network, share: float
) -> None:
    wider = learning_set(partly, "ann", maker).with_rows({i: [0, 1, 2] for i in (4, 5)})
    said = score_rows(network, wider, [4, 5], maker.special, features_per_pass=None)
    recipe = EncoderRecipe(
        features={"all": 0.5, "1": 0.5}, sequences={"all": 4, "1": 4}, phrase=0, masked=0,
        pseudo=share,
    )  # fmt: skip
    lessons = Lessons(
        wider, range(6), maker.special, maker.mask_id, recipe=recipe, seed=0,
        taught=pseudo_labels(wider, [4, 5], said),
    )  # fmt: skip
    soft = known = 0
    for step in range(200):
        targets = lessons.lesson(step).targets
        doubtful = ((targets > 0) & (targets < 1)).any(axis=(1, 2))
        soft += int(doubtful.sum())
        known += int((~doubtful).sum())
    assert abs(soft / (soft + known) - share) < 0.1
