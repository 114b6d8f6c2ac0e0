from __future__ import annotations

import pytest
import torch

from rubricate.neural.batching import SpecialPieces
from rubricate.neural.checkpoints import StageStore, parameters_of
from rubricate.neural.folds import Part
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.network import Network
from rubricate.neural.pieces import PieceMaker
from rubricate.neural.recipes import FitRecipe
from rubricate.neural.teaching import Clock, FitPlan, read_language, teach


@pytest.fixture
def plan(data: LearningSet, special: SpecialPieces, maker: PieceMaker) -> FitPlan:
    return FitPlan(data, {0: [0, 1, 2]}, special, maker.mask_id, FitRecipe(every=2), 4, 0)


def changed(plan: FitPlan, **options: object) -> FitPlan:
    from dataclasses import replace

    return replace(plan, recipe=replace(plan.recipe, **options))  # type: ignore[arg-type]


def weights_after(network: Network, plan: FitPlan, start: dict) -> dict[str, torch.Tensor]:
    from rubricate.neural.checkpoints import load_parameters

    load_parameters(network, start)
    teach(network, Part([0, 1, 2], [3, 4]), "m", plan, StageStore(None, ""), Clock(None, 4))
    return parameters_of(network)


def test_steps_come_from_who_says_them(plan: FitPlan) -> None:
    from dataclasses import replace

    part = Part(list(range(10)), [])
    assert plan.n_steps(part) == 4
    assert changed(replace(plan, steps=None), steps=7).n_steps(part) == 7
    assert replace(plan, steps=None).n_steps(part) == 120


@pytest.mark.parametrize(
    "option",
    [
        {"perturbed": 0.1, "perturbed_from": 0.0},
        {"twice": 5.0},
        {"average": 0.0},
        {"positive": 5.0},
        {"layer_decay": 0.5},
        {"rate": 1e-3},
        {"masked": 0.5},
        {"features": {"1": 1.0}},
    ],
)
def test_every_switch_does_something(network: Network, plan: FitPlan, option: dict) -> None:
    start = parameters_of(network)
    usual = weights_after(network, plan, start)
    again = weights_after(network, plan, start)
    other = weights_after(network, changed(plan, **option), start)
    assert all(torch.equal(value, again[name]) for name, value in usual.items())
    assert not all(torch.equal(value, other[name]) for name, value in usual.items())


def test_without_unlabelled_notes_there_is_no_second_round(network: Network, plan: FitPlan) -> None:
    part = Part([0, 1, 2], [3, 4, 5])
    store, clock = StageStore(None, ""), Clock(None, 8)
    report = teach(network, part, "m", changed(plan, pseudo=0.5), store, clock)
    assert [stage["name"] for stage in report["stages"]] == ["marks"]
    assert [entry["step"] for entry in report["curve"]] == [2, 4]


def test_reading_the_language_is_a_stage(network: Network, plan: FitPlan) -> None:
    before = parameters_of(network)
    seen: list[tuple[int, int]] = []
    clock = Clock(lambda step, of, loss: seen.append((step, of)), 9)
    assert read_language(network, plan, StageStore(None, ""), clock) == []
    longer = changed(plan, language_steps=5, language_notes=2)
    (stage,) = read_language(network, longer, StageStore(None, ""), clock)
    assert (stage["name"], stage["steps"], len(stage["loss"])) == ("language", 5, 5)
    assert seen == [(5, 9)]
    now = parameters_of(network)
    assert all(torch.equal(now[n], v) for n, v in before.items() if n.startswith("scorer."))
    assert not all(torch.equal(now[n], v) for n, v in before.items())
