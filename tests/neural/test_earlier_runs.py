"""The runs of the first networks: what they learn from and with."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rubricate.neural.encoder.pieces import PieceMaker, SpecialPieces
from rubricate.neural.recipe import EncoderRecipe, read_encoder_recipe
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.passes import Lessons, Taught

SCRIPTS = Path(__file__).parents[2] / "training" / "earlier"


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import experiment

    return experiment


@pytest.fixture
def make_runs(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    sys.modules.pop("make_runs", None)
    import make_runs

    return make_runs


def test_every_run_has_a_recipe_that_can_be_read(experiment: Any) -> None:
    runs = json.loads((SCRIPTS / "runs.json").read_text(encoding="utf-8"))
    for run in runs:
        read_encoder_recipe(run["recipe"])
        recipe = replace(experiment.ON_A_GPU, **run["recipe"])
        assert recipe.steps == run["recipe"]["steps"]
        given = {k: v for k, v in run.items() if k != "scheme"}
        assert experiment.Experiment(learn=[], measure={}, **given).name == run["name"]


def test_the_runs_are_those_that_are_made(make_runs: Any) -> None:
    runs = json.loads((SCRIPTS / "runs.json").read_text(encoding="utf-8"))
    assert runs[0] == {"name": "final", "scheme": "final", **make_runs.FINAL}
    assert make_runs.fit("new10", "new10", 300) in runs


def test_a_teacher_judges_what_nobody_did(
    experiment: Any, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    # All features of this corpus are judged in all its notes: drop the last row of each note.
    kept = np.arange(len(data.row_feature)) % 3 != 2
    sizes = np.diff(data.mark_first)[kept]
    fewer = replace(
        data,
        row_first=data.row_first // 3 * 2,
        row_feature=data.row_feature[kept],
        row_marked=data.row_marked[kept],
        mark_first=np.cumsum([0, *sizes]),
        marked=np.concatenate([data.marks(r)[0] for r in np.flatnonzero(kept)]),
        marked_after=np.concatenate([data.marks(r)[1] for r in np.flatnonzero(kept)]),
    )
    fewer = replace(
        fewer, row_feature=np.where(np.arange(12) < 6, 0, 1) * 1 + fewer.row_feature * 0
    )
    wider = experiment.with_foreign_rows(fewer, range(6), 1, seed=0)
    assert np.diff(wider.row_first).tolist() == [3] * 6
    taught = Taught(np.full(len(wider.marked), 0.25, np.float16), np.full(6, 2))
    recipe = EncoderRecipe(
        features={"all": 1.0}, sequences={"all": 4}, phrase=0, masked=0, foreign=1.0, taught=0.0
    )
    lesson = Lessons(
        wider, range(6), special, maker.mask_id, recipe=recipe, seed=0, taught=taught
    ).lesson(0)
    values = set(np.unique(lesson.targets).tolist())
    assert 0.25 in values
    assert values <= {0.0, 0.25, 1.0}
