from __future__ import annotations

from dataclasses import fields

import pytest

from rubricate.cli.fit import parse_settings
from rubricate.errors import InputError
from rubricate.neural.recipe import (
    ALL,
    RECIPES,
    BiLstmRecipe,
    BiLstmShape,
    EncoderRecipe,
    Recipe,
    read_bilstm_recipe,
    read_encoder_recipe,
)


def test_what_the_command_passes_is_read() -> None:
    given = parse_settings(("recipe=competition",))
    assert read_encoder_recipe(given["recipe"]) == RECIPES["competition"]
    given = parse_settings(('recipe={"folds": 5, "perturbed": 0.005}',))
    assert read_encoder_recipe(given["recipe"]) == EncoderRecipe(folds=5, perturbed=0.005)


def test_nothing_said_is_the_usual() -> None:
    assert read_encoder_recipe({}) == read_encoder_recipe("usual") == EncoderRecipe()
    usual = EncoderRecipe()
    assert (usual.rate, usual.scorer_rate, usual.average) == (1e-4, 3e-4, 0.98)
    assert (usual.perturbed, usual.twice, usual.positive) == (0, 0, 1)
    assert usual.shares == {1: 0.2, 4: 0.2, ALL: 0.6}
    assert [usual.n_passes(kind) for kind in (1, 4, ALL)] == [8, 5, 4]
    assert [usual.n_steps(n) for n in (0, 10, 139, 140, 141, 1000)] == [60, 120, 894, 900, 900, 900]
    assert EncoderRecipe(steps=7).n_steps(10) == 7
    assert EncoderRecipe(sequences={"all": 2}).n_passes(1) == 8


def test_the_competition_reads_one_feature_a_pass() -> None:
    recipe = read_encoder_recipe("competition")
    assert recipe.folds == 5
    assert recipe.measured_with == 1
    assert EncoderRecipe().measured_with is None
    assert min(recipe.language_steps, recipe.perturbed, recipe.average, recipe.pseudo) > 0


def test_changes_start_from_the_recipe_named() -> None:
    recipe = read_encoder_recipe({"like": "competition", "folds": 2})
    assert recipe.folds == 2
    assert recipe.features == {"1": 1.0}


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_encoder_recipe({"like": "best", "fold": 3, "folds": 0, "twice": "yes", 1: 2})
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
        ("sequences", {"1": 0}),
        ("warm_up", 1),
    ],
)
def test_impossible_values(name: str, wrong: object) -> None:
    with pytest.raises(InputError, match=name):
        read_encoder_recipe({name: wrong})


@pytest.mark.parametrize("wrong", [None, 3, ["usual"], "unusual"])
def test_what_is_no_recipe(wrong: object) -> None:
    with pytest.raises(InputError, match="competition"):
        read_encoder_recipe(wrong)  # type: ignore[arg-type]


def test_every_option_has_limits_that_its_default_meets() -> None:
    for recipe in (*RECIPES.values(), BiLstmRecipe(), BiLstmShape()):
        for option in fields(recipe):
            if option.name != "network":
                value = getattr(recipe, option.name)
                assert option.metadata["limits"].fits(value), option.name


def test_both_networks_have_one_kind_of_recipe() -> None:
    shared = {option.name for option in fields(Recipe)}
    for kind in (EncoderRecipe, BiLstmRecipe):
        assert issubclass(kind, Recipe)
        assert shared < {option.name for option in fields(kind)}


def test_a_recognisers_recipe_has_the_sizes_of_its_network() -> None:
    recipe = read_bilstm_recipe({"batch": 4, "layers": 2})
    assert (recipe.batch, recipe.network.layers, recipe.epochs) == (4, 2, 12)
    with pytest.raises(InputError) as caught:
        read_bilstm_recipe({"hiden": 3, "epochs": 0})
    assert "'hidden'?" in str(caught.value)
    assert len(caught.value.faults) == 2
