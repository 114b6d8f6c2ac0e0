from __future__ import annotations

import numpy as np
import pytest
import torch

from rubricate.neural.encoder.pieces import Pass, SpecialPieces, make_batch
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Network, Shape

CPU = torch.device("cpu")


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def run(network: Network, passes: list[Pass], special: SpecialPieces) -> tuple:
    network.eval()
    with torch.no_grad():
        pieces, presence, _ = network(*tensors(make_batch(passes, special), CPU))
    return pieces.numpy(), presence.numpy()


NOTE = ids(6, 7, 8, 9, 10)
FEATURES = (ids(11, 12), ids(13), ids(14, 15, 16))


def test_the_order_of_features_does_not_matter(network: Network, special: SpecialPieces) -> None:
    pieces, presence = run(network, [Pass(NOTE, FEATURES)], special)
    again, presence_again = run(network, [Pass(NOTE, FEATURES[::-1])], special)
    np.testing.assert_allclose(pieces, again[:, ::-1], atol=1e-5)
    np.testing.assert_allclose(presence, presence_again[:, ::-1], atol=1e-5)


def test_padding_does_not_matter(network: Network, special: SpecialPieces) -> None:
    short = Pass(NOTE, FEATURES[:1])
    alone, presence = run(network, [short], special)
    both, presence_both = run(network, [short, Pass(np.tile(NOTE, 4), FEATURES)], special)
    np.testing.assert_allclose(alone[0, 0, :7], both[0, 0, :7], atol=1e-5)
    np.testing.assert_allclose(presence[0, 0], presence_both[0, 0], atol=1e-5)


@pytest.mark.parametrize("shape", [{"separate": False}, {"scorer_layers": 1}, {"relative": True}])
def test_variants_run_and_are_finite(shape: dict, special: SpecialPieces) -> None:
    network = Network(
        Shape(n_pieces=50, dim=32, layers=1, heads=4, inner=64, scorer_dim=16, **shape)
    )
    pieces, presence = run(network, [Pass(NOTE, FEATURES), Pass(NOTE[:1], FEATURES[:1])], special)
    assert pieces.shape == (2, 3, 7, 4)
    assert np.isfinite(pieces).all()
    assert np.isfinite(presence).all()
