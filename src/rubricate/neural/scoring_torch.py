"""Probabilities of a network for the rows of a learning set, computed with torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from rubricate.neural.batching import Batch, Pass, SpecialPieces, by_length, divide, make_batch
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.measuring import Scored
from rubricate.neural.network import Network


def tensors(batch: Batch, device: torch.device) -> tuple[Tensor, ...]:
    """Return the arrays of a batch in the order `Network.forward` takes them."""
    arrays = (batch.note, batch.note_length, batch.feature, batch.owner, batch.position)
    moved = [torch.from_numpy(a).to(device, non_blocking=True) for a in arrays]
    return (*moved, torch.arange(batch.n_features, device=device))


def score_rows(
    network: Network,
    data: LearningSet,
    notes: Sequence[int],
    special: SpecialPieces,
    *,
    features_per_pass: int | None,
    budget: int = 32768,
) -> Scored:
    """Return the probabilities for every row of the notes, in the order of `Ruler`."""
    device = next(network.parameters()).device
    passes: list[Pass] = []
    rows_of: list[list[int]] = []
    for i in notes:
        own = list(data.rows(i))
        for part in divide(len(own), features_per_pass):
            rows = [own[k] for k in part]
            texts = tuple(data.feature(int(data.row_feature[r])) for r in rows)
            passes.append(Pass(data.note(i), texts))
            rows_of.append(rows)
    inside: dict[int, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    presence: dict[int, float] = {}
    network.eval()
    half = device.type == "cuda"
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
        for group in by_length([len(one) for one in passes], budget):
            batch = make_batch([passes[g] for g in group], special)
            pieces, present = network(*tensors(batch, device))
            chance = pieces[..., 0].float().sigmoid().cpu().numpy()
            chance_present = present.float().sigmoid().cpu().numpy()
            for n, g in enumerate(group):
                size = len(passes[g].note)
                for k, row in enumerate(rows_of[g]):
                    inside[row] = chance[n, k, 1 : 1 + size]
                    presence[row] = float(chance_present[n, k])
    order = [r for i in notes for r in data.rows(i)]
    nothing = np.zeros(0, np.float32)
    return Scored(
        np.array(order, np.int64),
        np.concatenate([inside[r] for r in order]) if order else nothing,
        np.array([presence[r] for r in order], np.float32),
    )
