"""Probabilities of a network for the rows of a learning set, computed with torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rubricate.neural.batching import Batch, SpecialPieces
from rubricate.neural.inference import Engine, RowScores, score_notes
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.measuring import Scored
from rubricate.neural.network import Network
from rubricate.neural.pieces import Pieces

F32 = npt.NDArray[np.float32]
I32 = npt.NDArray[np.int32]


def tensors(batch: Batch, device: torch.device) -> tuple[Tensor, ...]:
    """Return the arrays of a batch in the order `Network.forward` takes them."""
    arrays = (batch.note, batch.note_length, batch.feature, batch.owner, batch.position)
    moved = [torch.from_numpy(a).to(device, non_blocking=True) for a in arrays]
    return (*moved, torch.arange(batch.n_features, device=device))


class TorchEngine:
    """A network as what computes the logits of a batch, in half precision on a GPU."""

    def __init__(self, network: Network) -> None:
        self._network = network.eval()
        self._device = next(network.parameters()).device

    def __call__(self, batch: Batch) -> tuple[F32, F32]:
        """Return the logits of a batch."""
        half = self._device.type == "cuda"
        with torch.no_grad(), torch.autocast(self._device.type, torch.bfloat16, enabled=half):
            pieces, presence = self._network(*tensors(batch, self._device))
        return pieces.float().cpu().numpy(), presence.float().cpu().numpy()


def score_rows(
    network: Network | Engine,
    data: LearningSet,
    notes: Sequence[int],
    special: SpecialPieces,
    *,
    features_per_pass: int | None,
    budget: int = 32768,
) -> Scored:
    """Return the probabilities for every row of the notes, in the order of `Ruler`.

    ``network`` may be anything that computes logits, such as a network in a file.
    """
    engine = TorchEngine(network) if isinstance(network, Network) else network
    alike: dict[tuple[int, ...], list[int]] = {}
    for i in notes:
        alike.setdefault(tuple(data.row_feature[list(data.rows(i))].tolist()), []).append(i)
    said: dict[int, RowScores] = {}
    for features, own in alike.items():
        scores = score_notes(
            engine,
            [data.pieces(i) for i in own],
            [_bare(data.feature(f)) for f in features],
            special,
            features_per_pass=features_per_pass,
            budget=budget,
        )
        for i, found in zip(own, scores, strict=True):
            said.update(zip(data.rows(i), found, strict=True))
    return Scored.of({r: said[r] for i in notes for r in data.rows(i)})


def _bare(ids: I32) -> Pieces:
    """Return pieces whose places nobody asks for."""
    return Pieces(ids, np.zeros_like(ids), np.zeros_like(ids))
