"""The model that decides which words earn the credit: its weights are bound to signs by name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from rubricate.files import packaged_text
from rubricate.matchers.lexicon.crediting import SIGNS, CreditModel, Signs


@pytest.fixture(scope="module")
def saved() -> Any:
    value = json.loads(packaged_text("matchers", "patterns", "credit.json"))
    return {**value, "words": {}}


def test_weights_follow_their_names_in_any_order(saved: Any) -> None:
    turned = list(reversed(saved["signs"]))
    rows = dict(zip(saved["signs"], saved["hidden"]["into"], strict=True))
    other = {
        **saved,
        "signs": turned,
        "weights": dict(reversed(saved["weights"].items())),
        "hidden": {**saved["hidden"], "into": [rows[name] for name in turned]},
    }
    some = np.random.default_rng(3).random((20, len(SIGNS))).astype(np.float32)
    model, same = CreditModel.from_json(saved), CreditModel.from_json(other)
    for numbers in some:
        signs = Signs(numbers, [])
        assert model(signs) == pytest.approx(same(signs), abs=1e-5)


@pytest.mark.parametrize("change", ["unknown", "missing", "renamed", "row"])
def test_a_model_with_other_signs_is_refused(saved: Any, change: str) -> None:
    value = json.loads(json.dumps(saved))
    if change == "unknown":
        value["signs"].append("of tomorrow")
        value["hidden"]["into"].append(value["hidden"]["into"][0])
        value["weights"]["of tomorrow"] = 1.0
    elif change == "missing":
        del value["weights"]["denied"]
    elif change == "renamed":
        value["signs"][4] = "of yesterday"
    else:
        value["hidden"]["into"].pop()
    with pytest.raises(ValueError, match="signs"):
        CreditModel.from_json(value)
