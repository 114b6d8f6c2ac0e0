"""What a network is corrected by: pieces, edges, presence, and the overlap of whole rows."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

#: About how many pieces an annotation has; brings the sum over pieces to the scale of a mean.
USUAL_PIECES = 6.0


@dataclass(frozen=True, slots=True)
class LossWeights:
    """How much each part of the loss counts.

    Parameters
    ----------
    edges : float
        First and last pieces of annotations.
    presence : float
        Whether the row has any annotation.
    overlap : float
        One minus the soft F1 of each row with marks, which weighs rows and not pieces.
    positive : float
        Weight of marked pieces against the many that are not.
    """

    edges: float = 0.25
    presence: float = 0.5
    overlap: float = 0.5
    positive: float = 1.0


def row_loss(
    pieces: Tensor,
    presence: Tensor,
    targets: Tensor,
    judged: Tensor,
    valid: Tensor,
    weights: LossWeights,
) -> Tensor:
    """Return the loss of a lesson.

    Parameters
    ----------
    pieces : (pass, feature, place, 3) logits
    presence : (pass, feature) logits
    targets : (pass, feature, place)
        1 on marked pieces, or a probability.
    judged : (pass, feature) of bool
    valid : (pass, place) of bool
        The places that are pieces of the note.
    """
    mask = judged.unsqueeze(2) & valid.unsqueeze(1)
    n_rows = judged.sum().clamp(min=1)
    wanted = torch.stack([targets, *_edges(targets)], dim=-1)
    logits = pieces.float()
    each = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    if weights.positive != 1.0:
        each = each * (1 + (weights.positive - 1) * wanted)
    each = torch.where(mask.unsqueeze(-1), each, 0.0).sum((0, 1, 2)) / (n_rows * USUAL_PIECES)
    loss = each[0] + weights.edges * (each[1] + each[2])

    present = (targets.amax(-1)).float()
    known = functional.binary_cross_entropy_with_logits(presence.float(), present, reduction="none")
    loss = loss + weights.presence * torch.where(judged, known, 0.0).sum() / n_rows
    if weights.overlap:
        chance = torch.where(mask, logits[..., 0].sigmoid(), 0.0)
        shared = (chance * targets).sum(-1)
        score = (2 * shared + 1) / (chance.sum(-1) + targets.sum(-1) + 1)
        lost = torch.where(judged & (present > 0.5), 1 - score, 0.0)
        loss = loss + weights.overlap * lost.sum() / n_rows
    return loss


def _edges(targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return where runs of marked pieces begin and end."""
    before = functional.pad(targets, (1, 0))[..., :-1]
    after = functional.pad(targets, (0, 1))[..., 1:]
    return (targets - before).clamp(min=0), (targets - after).clamp(min=0)
