from __future__ import annotations

from dataclasses import fields

import pytest

from rubricate.cli.fit import parse_settings
from rubricate.errors import InputError
from rubricate.neural.passes import ALL
from rubricate.neural.recipes import _ALLOWED, RECIPES, FitRecipe, read_recipe, usual_steps


def test_what_the_command_passes_is_read() -> None:
    given = parse_settings(("recipe=competition",))
    assert read_recipe(given["recipe"]) == RECIPES["competition"]
    given = parse_settings(('recipe={"folds": 5, "perturbed": 0.005}',))
    assert read_recipe(given["recipe"]) == FitRecipe(folds=5, perturbed=0.005)


def test_nothing_said_is_the_usual() -> None:
    assert read_recipe({}) == read_recipe("usual") == FitRecipe()
    training = FitRecipe().training(120, seed=3)
    assert (training.rate, training.scorer_rate, training.average) == (1e-4, 3e-4, 0.98)
    assert (training.perturbed, training.twice, training.weights.positive) == (0, 0, 1)
    variation = FitRecipe().variation()
    assert variation.features == {1: 0.2, 4: 0.2, ALL: 0.6}
    assert variation.sequences == {1: 8, 4: 5, ALL: 4}
    assert (usual_steps(0), usual_steps(10), usual_steps(1000)) == (60, 120, 900)


def test_the_competition_reads_one_feature_a_pass() -> None:
    recipe = read_recipe("competition")
    assert recipe.folds == 5
    assert recipe.measured_with == 1
    assert FitRecipe().measured_with is None
    assert min(recipe.language_steps, recipe.perturbed, recipe.average, recipe.pseudo) > 0


def test_changes_start_from_the_recipe_named() -> None:
    recipe = read_recipe({"like": "competition", "folds": 2})
    assert recipe.folds == 2
    assert recipe.features == {"1": 1.0}


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_recipe({"like": "best", "fold": 3, "folds": 0, "twice": "yes", 1: 2})
    assert len(caught.value.faults) == 5
    text = str(caught.value)
    assert "'folds'?" in text
    assert "competition" in text
    assert "perturbed_from" in text


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("folds", 1.5),
        ("folds", True),
        ("steps", 0),
        ("patience", 0),
        ("pseudo", 1.0),
        ("average", 1.0),
        ("rate", -1e-4),
        ("rate", float("nan")),
        ("positive", 0),
        ("perturbed_from", 2),
        ("language_steps", -1),
        ("masked", "0.1"),
        ("features", {"2": 1.0}),
        ("features", {"1": 0.0}),
        ("features", "1"),
    ],
)
def test_impossible_values(name: str, wrong: object) -> None:
    with pytest.raises(InputError, match=name):
        read_recipe({name: wrong})


@pytest.mark.parametrize("wrong", [None, 3, ["usual"], "unusual"])
def test_what_is_no_recipe(wrong: object) -> None:
    with pytest.raises(InputError, match="competition"):
        read_recipe(wrong)  # type: ignore[arg-type]


def test_every_option_has_limits_that_its_default_meets() -> None:
    for recipe in RECIPES.values():
        assert {f.name for f in fields(recipe)} == set(_ALLOWED)
        for option in fields(recipe):
            assert _ALLOWED[option.name][0](getattr(recipe, option.name)), option.name
