from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.encoder.pieces import PieceMaker, SpecialPieces
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.checkpoints import StageFiles
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Logits, Network
from rubricate.neural.training.passes import Lessons
from rubricate.neural.training.trainer import LookMeasure, Trainer, row_loss
from rubricate.progress import Progress

RECIPE = EncoderRecipe(
    features={"1": 0.5, "all": 0.5},
    sequences={"1": 6, "all": 4},
    every=100,
    rate=1e-3,
    scorer_rate=3e-3,
    average=0.5,
)


@pytest.fixture
def lessons(data: LearningSet, special: SpecialPieces, maker: PieceMaker) -> Lessons:
    return Lessons(data, range(6), special, maker.mask_id, recipe=RECIPE, seed=1)


def changed(lessons: Lessons, **changes: Any) -> Lessons:
    """The same lessons with another recipe, or of another seed."""
    seed = changes.pop("seed", lessons.seed)
    recipe = replace(lessons.recipe, **changes)
    return Lessons(
        lessons.data, range(6), lessons.special, lessons.mask_id, recipe=recipe, seed=seed
    )


def fresh(network: Network) -> Network:
    copy = Network(network.shape)
    copy.load_state_dict(network.state_dict())
    return copy


def same(first: Network, second: Network) -> bool:
    others = dict(second.named_parameters())
    return all(torch.equal(p, others[n]) for n, p in first.named_parameters())


def test_one_seed_one_result(network: Network, lessons: Lessons) -> None:
    first, second = fresh(network), fresh(network)
    Trainer(first, lessons, steps=8).run()
    Trainer(second, lessons, steps=8).run()
    assert same(first, second)
    third = fresh(network)
    Trainer(third, changed(lessons, seed=5), steps=8).run()
    assert not same(first, third)


def test_resumed_after_a_kill_it_ends_where_an_unbroken_run_does(
    network: Network, lessons: Lessons, tmp_path: Path
) -> None:
    unbroken, broken, resumed = fresh(network), fresh(network), fresh(network)
    Trainer(unbroken, lessons, steps=8).run()
    often = changed(lessons, every=3)
    kept = StageFiles(tmp_path / "run" / "checkpoint")

    class KilledError(Exception):
        pass

    def kill(step: int, of: int | None, _: str) -> None:
        if step == 6:
            raise KilledError

    with pytest.raises(KilledError):
        Trainer(broken, often, steps=8).run(kept=kept, progress=kill)
    again = Trainer(resumed, often, steps=8)
    again.run(kept=kept)
    assert same(unbroken, resumed)
    assert [look.step for look in again.history] == [3, 6, 8]


def test_a_checkpoint_of_another_network_is_refused(
    network: Network, lessons: Lessons, tmp_path: Path
) -> None:
    kept = StageFiles(tmp_path / "c")
    Trainer(fresh(network), lessons, steps=1).run(kept=kept)
    other = Network(replace(network.shape, layers=3))
    with pytest.raises(InputError):
        Trainer(other, lessons, steps=8).run(kept=kept)


def test_the_loss_falls(network: Network, lessons: Lessons) -> None:
    faster = changed(lessons, every=10, rate=3e-3, scorer_rate=1e-2)
    trainer = Trainer(network, faster, steps=150)
    trainer.run()
    losses = [look.loss for look in trainer.history]
    assert sum(losses[-3:]) < 0.7 * sum(losses[:3])


def test_what_is_rehearsed_is_not_forgotten(network: Network, lessons: Lessons) -> None:
    """Taught of one note alone, it says of the others what it said, where these are rehearsed."""
    learn = changed(lessons, rate=3e-3, scorer_rate=1e-2, rehearsal=0.5, masked=0.0, phrase=0.0)
    learn.notes = learn.notes[:1]
    other = changed(lessons, masked=0.0, phrase=0.0)
    other.notes = other.notes[1:]

    def moved(rehearsal: Lessons | None) -> float:
        learned = fresh(network)
        learn.rehearsal = rehearsal
        Trainer(learned, learn, steps=60).run()
        batch = tensors(other.lesson(3).batch, torch.device("cpu"))
        with torch.no_grad():
            now, then = learned.eval()(*batch), network.eval()(*batch)
        return float((now.contradiction - then.contradiction).abs().mean())

    assert moved(other) < 0.5 * moved(None)


@pytest.mark.parametrize(
    "change", [{"perturbed": 0.01}, {"twice": 1.0}, {"average": 0.0}, {"frozen": 1}]
)
def test_switches(network: Network, lessons: Lessons, change: dict) -> None:
    before = fresh(network)
    Trainer(network, changed(lessons, **change), steps=8).run()
    words = torch.equal(before.encoder.words.weight, network.encoder.words.weight)
    assert words == ("frozen" in change)
    assert not same(before, network)


@pytest.mark.parametrize(("patience", "steps"), [(1, 4), (2, 6), (9, 8)])
def test_it_stops_when_looks_get_no_better(
    network: Network, lessons: Lessons, patience: int, steps: int
) -> None:
    """The first look is the best; of equal looks, too, the first is kept."""
    first: list[Network] = []

    def of(current: Network, progress: Progress) -> dict[str, float]:
        first.append(fresh(current))
        return {"characters": 0.5}

    patient = changed(lessons, every=2, patience=patience)
    trainer = Trainer(network, patient, steps=8, measure=LookMeasure(of))
    trainer.run()
    assert trainer.history[-1].step == steps
    assert same(network, first[0])


def test_without_early_stopping_the_last_weights_are_kept(
    network: Network, lessons: Lessons
) -> None:
    last = fresh(network)
    Trainer(last, lessons, steps=8).run()
    impatient = changed(lessons, every=2, patience=1)
    measure = LookMeasure(lambda *_: {"characters": 0.5})
    trainer = Trainer(network, impatient, steps=8, measure=measure, early_stop=False)
    trainer.run()
    assert [look.step for look in trainer.history] == [2, 4, 6, 8]
    assert same(network, last)


def test_progress_counts_steps_and_looks(network: Network, lessons: Lessons) -> None:
    def of(current: Network, progress: Progress) -> dict[str, float]:
        for done in (1, 2):
            progress(done, 2, "notes")
        return {"characters": 0.5}

    seen: list[tuple[int, int | None, str]] = []
    trainer = Trainer(network, changed(lessons, every=2), steps=3, measure=LookMeasure(of, 10))
    trainer.run(progress=lambda *now: seen.append(now), label="one")
    assert [done for done, _, _ in seen] == [1, 2, 7, 12, 13, 18, 23, 23]
    assert {of for _, of, _ in seen} == {23}
    assert {label for *_, label in seen} == {"one"}


def make(strength: float) -> tuple[torch.Tensor, ...]:
    targets = torch.tensor([[[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]])
    edges = torch.tensor([[[0.0, 1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0, 0.0]]])
    wanted = torch.stack(
        [
            targets[0],
            torch.cat([edges[0], torch.zeros(1, 4)]),
            torch.cat([edges[1], torch.zeros(1, 4)]),
        ],
        dim=-1,
    ).unsqueeze(0)
    pieces = (2 * wanted - 1) * strength
    presence = torch.tensor([[strength, -strength]])
    return pieces, presence, targets


def test_right_answers_cost_nothing_and_wrong_ones_do() -> None:
    judged, valid = torch.ones(1, 2, dtype=torch.bool), torch.ones(1, 4, dtype=torch.bool)
    pieces, presence, targets = make(20.0)
    right = Logits(pieces, presence, presence)
    assert row_loss(right, targets, judged, valid, EncoderRecipe()) < 1e-3
    assert (
        row_loss(Logits(-pieces, -presence, -presence), targets, judged, valid, EncoderRecipe()) > 1
    )


def test_rows_nobody_judged_do_not_count() -> None:
    valid = torch.ones(1, 4, dtype=torch.bool)
    judged = torch.tensor([[True, False]])
    pieces, presence, targets = make(20.0)
    pieces[:, 1], presence[:, 1] = 30.0, 30.0
    weights = EncoderRecipe(positive=2.0)
    assert row_loss(Logits(pieces, presence, presence), targets, judged, valid, weights) < 1e-3
