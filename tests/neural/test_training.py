from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.language import Reading, read_notes
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.network import Network
from rubricate.neural.passes import ALL, Lessons, Variation
from rubricate.neural.pieces import PieceMaker
from rubricate.neural.training import Recipe, Trainer

VARIATION = Variation(features={1: 0.5, ALL: 0.5}, sequences={1: 6, ALL: 4})
RECIPE = Recipe(steps=8, rate=1e-3, scorer_rate=3e-3, average=0.5)


@pytest.fixture
def lessons(data: LearningSet, special: SpecialPieces, maker: PieceMaker) -> Lessons:
    return Lessons(data, range(6), special, maker.mask_id, variation=VARIATION, seed=1)


def fresh(network: Network) -> Network:
    copy = Network(network.shape)
    copy.load_state_dict(network.state_dict())
    return copy


def same(first: Network, second: Network) -> bool:
    others = dict(second.named_parameters())
    return all(torch.equal(p, others[n]) for n, p in first.named_parameters())


def test_one_seed_one_result(network: Network, lessons: Lessons) -> None:
    first, second = fresh(network), fresh(network)
    Trainer(first, lessons, RECIPE).run()
    Trainer(second, lessons, RECIPE).run()
    assert same(first, second)
    third = fresh(network)
    Trainer(third, lessons, replace(RECIPE, seed=5)).run()
    assert not same(first, third)


def test_resumed_after_a_kill_it_ends_where_an_unbroken_run_does(
    network: Network, lessons: Lessons, tmp_path: Path
) -> None:
    unbroken, broken, resumed = fresh(network), fresh(network), fresh(network)
    Trainer(unbroken, lessons, RECIPE).run()
    path = tmp_path / "run" / "checkpoint"

    class KilledError(Exception):
        pass

    def kill(progress: object, _: Network) -> None:
        if progress.step == 6:  # type: ignore[attr-defined]
            raise KilledError

    with pytest.raises(KilledError):
        Trainer(broken, lessons, RECIPE).run(watch=kill, every=3, checkpoint=path)
    again = Trainer(resumed, lessons, RECIPE)
    again.run(every=3, checkpoint=path)
    assert same(unbroken, resumed)
    assert [entry["step"] for entry in again.history] == [3, 6, 8]


def test_a_checkpoint_of_another_network_is_refused(
    network: Network, lessons: Lessons, tmp_path: Path
) -> None:
    Trainer(fresh(network), lessons, replace(RECIPE, steps=1)).run(checkpoint=tmp_path / "c")
    other = Network(replace(network.shape, layers=3))
    with pytest.raises(InputError):
        Trainer(other, lessons, RECIPE).run(checkpoint=tmp_path / "c")


def test_the_loss_falls(network: Network, lessons: Lessons) -> None:
    recipe = replace(RECIPE, steps=150, rate=3e-3, scorer_rate=1e-2)
    trainer = Trainer(network, lessons, recipe)
    trainer.run(every=10)
    losses = [entry["loss"] for entry in trainer.history]
    assert sum(losses[-3:]) < 0.7 * sum(losses[:3])


@pytest.mark.parametrize(
    "change", [{"perturbed": 0.01}, {"twice": 1.0}, {"average": 0.0}, {"frozen": 1}]
)
def test_switches(network: Network, lessons: Lessons, change: dict) -> None:
    before = fresh(network)
    Trainer(network, lessons, replace(RECIPE, **change)).run()
    words = torch.equal(before.encoder.words.weight, network.encoder.words.weight)
    assert words == ("frozen" in change)
    assert not same(before, network)


def test_it_stops_when_told(network: Network, lessons: Lessons) -> None:
    trainer = Trainer(network, lessons, RECIPE)
    trainer.run(every=2, watch=lambda progress, _: {"stop": progress.step >= 4})
    assert trainer.history[-1]["step"] == 4


def test_reading_notes_learns_the_language(
    network: Network, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    how = Reading(steps=40, seed=0, size=8, rate=3e-3)
    losses = read_notes(network, data, range(6), special, maker.mask_id, how)
    assert sum(losses[-10:]) < sum(losses[:10])
