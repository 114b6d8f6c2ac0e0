from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from rubricate.neural.batching import SpecialPieces
from rubricate.neural.inference import WINDOW
from rubricate.neural.language import Reading, read_notes
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.network import Network
from rubricate.neural.pieces import PieceMaker


def falls(losses: list[float]) -> bool:
    return float(np.mean(losses[-10:])) < float(np.mean(losses[:10]))


def test_reading_lowers_the_loss(
    network: Network, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    how = Reading(steps=40, seed=0, size=12, rate=3e-3)
    assert falls(read_notes(network, data, range(data.n_notes), special, maker.mask_id, how))


@pytest.mark.parametrize("kind", ["albert", "deberta-v2"])
def test_other_encoders_read_too(
    kind: str, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    """Words narrower than states, a filler that is not number 0, few positions."""
    transformers = pytest.importorskip("transformers")
    from rubricate.neural.wrapped import wrapped_network

    config = transformers.AutoConfig.for_model(
        kind, vocab_size=maker.n_pieces + 1, hidden_size=32, embedding_size=16,
        num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, pad_token_id=maker.n_pieces,
    )  # fmt: skip
    torch.manual_seed(0)
    network = wrapped_network(transformers.AutoModel.from_config(config), scorer_dim=16)
    filled = replace(special, fill=maker.n_pieces)
    how = Reading(steps=40, seed=0, size=12, rate=3e-3)
    assert falls(read_notes(network, data, range(data.n_notes), filled, maker.mask_id, how))


def test_long_notes_are_read_in_parts(
    network: Network, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    long = np.tile(data.note(0), WINDOW)
    one = replace(data, note_ids=long, note_first=np.array([0, len(long)]))
    losses = read_notes(network, one, [0], special, maker.mask_id, Reading(1, 0, size=2))
    assert np.isfinite(losses).all()
