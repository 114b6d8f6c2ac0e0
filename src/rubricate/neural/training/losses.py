"""What a network is corrected by: pieces, edges, presence, and the overlap of whole rows."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from rubricate.neural.encoder.network import Logits
from rubricate.neural.recipe import EncoderRecipe

#: About how many pieces an annotation has; brings the sum over pieces to the scale of a mean.
USUAL_PIECES = 6.0


def row_loss(
    said: Logits, targets: Tensor, judged: Tensor, valid: Tensor, weights: EncoderRecipe
) -> Tensor:
    """Return the loss of a lesson; how much each part of it counts is the recipe's."""
    mask = judged.unsqueeze(2) & valid.unsqueeze(1)
    n_rows = judged.sum().clamp(min=1)
    wanted = torch.stack([targets, *_edges(targets)], dim=-1)
    # Whoever marks evidence says nothing about contradictions: those channels learn elsewhere.
    logits = said.pieces[..., :3].float()
    each = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    if weights.positive != 1.0:
        each = each * (1 + (weights.positive - 1) * wanted)
    each = torch.where(mask.unsqueeze(-1), each, 0.0).sum((0, 1, 2)) / (n_rows * USUAL_PIECES)
    loss = each[0] + weights.edges * (each[1] + each[2])

    present = (targets.amax(-1)).float()
    known = functional.binary_cross_entropy_with_logits(
        said.presence.float(), present, reduction="none"
    )
    loss = loss + weights.presence * torch.where(judged, known, 0.0).sum() / n_rows
    if weights.overlap:
        chance = torch.where(mask, logits[..., 0].sigmoid(), 0.0)
        shared = (chance * targets).sum(-1)
        score = (2 * shared + 1) / (chance.sum(-1) + targets.sum(-1) + 1)
        lost = torch.where(judged & (present > 0.5), 1 - score, 0.0)
        loss = loss + weights.overlap * lost.sum() / n_rows
    return loss


def kept_loss(said: Logits, before: Logits, judged: Tensor, valid: Tensor) -> Tensor:
    """Return how far a network is from what it said before it learned, in all it says.

    Learning without forgetting (Li and Hoiem 2016): the earlier probabilities are the targets.
    """
    mask = (judged.unsqueeze(2) & valid.unsqueeze(1)).unsqueeze(-1)
    n_rows = judged.sum().clamp(min=1)

    def apart(now: Tensor, then: Tensor, where: Tensor) -> Tensor:
        each = functional.binary_cross_entropy_with_logits(
            now.float(), then.float().sigmoid(), reduction="none"
        )
        return torch.where(where, each, 0.0).sum() / n_rows

    return (
        apart(said.pieces, before.pieces, mask) / USUAL_PIECES
        + apart(said.presence, before.presence, judged)
        + apart(said.contradiction, before.contradiction, judged)
    )


def _edges(targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return where runs of marked pieces begin and end."""
    before = functional.pad(targets, (1, 0))[..., :-1]
    after = functional.pad(targets, (0, 1))[..., 1:]
    return (targets - before).clamp(min=0), (targets - after).clamp(min=0)
