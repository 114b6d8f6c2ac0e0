"""Training losses of a network: spans, their edges, presence and contradiction."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, pad

Tensors = dict[str, Tensor]
Said = tuple[Tensor, Tensor]
#: How much the teacher weighs, and the parts of the loss.
WEIGHTS = {"taught": 0.7, "conplace": 0.08, "presence": 1.0, "contra": 0.5}


class Wanted(NamedTuple):
    """The targets of a batch and where they are known."""

    inside: Tensor
    first: Tensor
    last: Tensor
    against: Tensor
    present: Tensor
    contra: Tensor
    against_known: Tensor
    contra_known: Tensor


def edges(inside: Tensor) -> Said:
    """Return the first and the last pieces of the spans."""
    before, after = pad(inside, (1, 0))[..., :-1], pad(inside, (0, 1))[..., 1:]
    return (inside - before).clamp(min=0), (inside - after).clamp(min=0)


def wanted(t: Tensors, judged: Tensor, valid: Tensor) -> Wanted:
    """Return the labels that the notes themselves carry."""
    inside = t["target"].float()
    contra = t["contra"].float()
    return Wanted(
        inside,
        *edges(inside),
        against=t["con"].float(),
        present=inside.amax(-1),
        contra=contra.clamp(min=0),
        against_known=(judged & t["place"]).unsqueeze(2) & valid.unsqueeze(1),
        contra_known=judged & (contra >= 0),
    )


def taught(
    own: Wanted, t: Tensors, teacher: Said, mask: Tensor, judged: Tensor, share: float
) -> Wanted:
    """Return the targets mixed with what the teacher says, which knows them everywhere.

    A batch with ``by_anchor`` has the teacher's word only for notes in their usual style.
    """
    pieces, verdict = teacher[0].sigmoid(), teacher[1].sigmoid()
    told = (t["usual"] if "by_anchor" in t else torch.ones_like(t["usual"])).unsqueeze(-1)
    b = torch.where(t["soft"], 1.0, share) * told
    bb = (torch.where(t["loose"], 1.0, b) * told).unsqueeze(-1)
    against = own.against * (1 - bb) + bb * pieces[..., 3]
    contra = own.contra * (1 - b) + b * verdict[..., 1]
    return Wanted(
        inside=own.inside * (1 - bb) + bb * pieces[..., 0],
        first=own.first * (1 - bb) + bb * pieces[..., 1],
        last=own.last * (1 - bb) + bb * pieces[..., 2],
        against=torch.where(own.against_known, against, pieces[..., 3]),
        present=own.present * (1 - b) + b * verdict[..., 0],
        contra=torch.where(own.contra_known, contra, verdict[..., 1]),
        against_known=own.against_known | (mask & told.unsqueeze(-1)),
        contra_known=own.contra_known | (judged & told),
    )


def loss_of(
    said: Said, t: Tensors, teacher: Said | None = None, weights: dict[str, float] | None = None
) -> Tensor:
    """Return the loss of what a network says of a batch."""
    w = {**WEIGHTS, **(weights or {})}
    pieces, verdict = said[0].float(), said[1].float()
    place = torch.arange(t["note"].shape[1], device=pieces.device)
    valid = (place > 0) & (place < t["length"].unsqueeze(1) - 1)
    judged = t["judged"] & ~t.get("drop", torch.zeros_like(t["judged"]))
    mask = judged.unsqueeze(2) & valid.unsqueeze(1)
    n = judged.sum().clamp(min=1)
    own = wanted(t, judged, valid)
    want = own if teacher is None else taught(own, t, teacher, mask, judged, w["taught"])
    each = binary_cross_entropy_with_logits(
        pieces,
        torch.stack([want.inside, want.first, want.last, want.against], -1),
        reduction="none",
    )
    # Which words inside a loose span matter is left to what the other notes teach.
    known = mask & ~(t["loose"].unsqueeze(2) & (own.inside > 0.5))
    if teacher is not None:
        known = mask if "by_anchor" not in t else known | (mask & t["usual"].view(-1, 1, 1))
    parts = torch.where(known.unsqueeze(-1), each[..., :3], 0.0).sum((0, 1, 2)) / (n * 6)
    against = torch.where(want.against_known, each[..., 3], 0.0).sum() / (n * 6)
    loss = parts[0] + 0.25 * (parts[1] + parts[2]) + w["conplace"] * against
    p = binary_cross_entropy_with_logits(verdict[..., 0], want.present, reduction="none")
    c = binary_cross_entropy_with_logits(verdict[..., 1], want.contra, reduction="none")
    loss = loss + w["presence"] * torch.where(judged, p, 0.0).sum() / n
    loss = loss + w["contra"] * torch.where(want.contra_known, c, 0.0).sum() / n
    chance = torch.where(mask, pieces[..., 0].sigmoid(), 0.0)
    both = chance.sum(-1) + torch.where(mask, want.inside, 0.0).sum(-1)
    score = (2 * (chance * want.inside).sum(-1) + 1) / (both + 1)
    return (
        loss
        + 0.5 * torch.where(judged & ~t["loose"] & (own.present > 0.5), 1 - score, 0.0).sum() / n
    )
