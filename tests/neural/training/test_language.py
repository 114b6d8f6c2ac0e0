from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from rubricate.neural.encoder.inference import WINDOW
from rubricate.neural.encoder.pieces import PieceMaker, SpecialPieces
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.language import read_notes
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.network import Network

HOW = EncoderRecipe(language_steps=40, language_notes=12, language_rate=3e-3)


def falls(losses: list[float]) -> bool:
    return float(np.mean(losses[-10:])) < float(np.mean(losses[:10]))


def test_reading_lowers_the_loss(
    network: Network, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    seen: list[tuple[int, int | None]] = []
    losses = read_notes(
        network, data, range(data.n_notes), special, maker.mask_id, HOW, seed=0,
        progress=lambda done, of, _: seen.append((done, of)),
    )  # fmt: skip
    assert falls(losses)
    assert seen == [(i + 1, 40) for i in range(40)]


@pytest.mark.parametrize("kind", ["albert", "deberta-v2"])
def test_other_encoders_read_too(
    kind: str, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    """Words narrower than states, a filler that is not number 0, few positions."""
    transformers = pytest.importorskip("transformers")
    from rubricate.neural.training.backbone import wrapped_network

    config = transformers.AutoConfig.for_model(
        kind, vocab_size=maker.n_pieces + 1, hidden_size=32, embedding_size=16,
        num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, pad_token_id=maker.n_pieces,
    )  # fmt: skip
    torch.manual_seed(0)
    network = wrapped_network(transformers.AutoModel.from_config(config), scorer_dim=16)
    filled = replace(special, fill=maker.n_pieces)
    notes = range(data.n_notes)
    assert falls(read_notes(network, data, notes, filled, maker.mask_id, HOW, seed=0))


def test_long_notes_are_read_in_parts(
    network: Network, data: LearningSet, special: SpecialPieces, maker: PieceMaker
) -> None:
    long = np.tile(data.note(0), WINDOW)
    one = replace(data, note_ids=long, note_first=np.array([0, len(long)]))
    how = EncoderRecipe(language_steps=1, language_notes=2)
    losses = read_notes(network, one, [0], special, maker.mask_id, how, seed=0)
    assert np.isfinite(losses).all()
