from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural import export
from rubricate.neural.batching import Pass, SpecialPieces, make_batch
from rubricate.neural.export import export_int8, export_onnx, weights_of_onnx
from rubricate.neural.inference import OnnxEngine
from rubricate.neural.network import Network
from rubricate.neural.scoring_torch import tensors

PASSES = [
    Pass(np.arange(6, 16, dtype=np.int32), (np.array([7, 8], np.int32), np.array([9], np.int32))),
    Pass(np.arange(6, 9, dtype=np.int32), (np.array([7], np.int32),)),
]


@pytest.mark.parametrize(("write", "apart"), [(export_onnx, 1e-4), (export_int8, 0.1)])
def test_files_say_what_the_network_says(
    write, apart: float, network: Network, special: SpecialPieces, tmp_path: Path
) -> None:
    batch = make_batch(PASSES, special)
    write(network, tmp_path / "n.onnx")
    pieces, presence = OnnxEngine(tmp_path / "n.onnx", threads=1)(batch)
    with torch.no_grad():
        ours, ours_presence = network.eval()(*tensors(batch, torch.device("cpu")))
    np.testing.assert_allclose(pieces, ours.numpy(), atol=apart)
    np.testing.assert_allclose(presence, ours_presence.numpy(), atol=apart)


@pytest.mark.parametrize(("write", "apart"), [(export_onnx, 1e-7), (export_int8, 0.02)])
def test_weights_come_back(write, apart: float, network: Network, tmp_path: Path) -> None:
    write(network, tmp_path / "n.onnx")
    weights = weights_of_onnx(tmp_path / "n.onnx")
    own = dict(network.named_parameters())
    assert weights.keys() == own.keys()
    for name, value in own.items():
        assert float((weights[name] - value.detach()).abs().max()) <= apart, name


def test_a_network_too_large_for_a_file_is_an_input_error(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MOST_PARAMETERS", 10)
    with pytest.raises(InputError, match="parameters"):
        export_int8(network, tmp_path / "n.onnx")


def test_what_is_no_network_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "n.onnx").write_bytes(b"nothing")
    with pytest.raises(InputError):
        OnnxEngine(tmp_path / "n.onnx")
