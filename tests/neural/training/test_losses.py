from __future__ import annotations

import torch

from rubricate.neural.encoder.network import Logits
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.losses import row_loss


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
