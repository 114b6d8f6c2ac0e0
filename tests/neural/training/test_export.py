from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.encoder.inference import OnnxEngine
from rubricate.neural.encoder.model_folder import EncoderSettings, model_files
from rubricate.neural.encoder.pieces import Pass, SpecialPieces, make_batch
from rubricate.neural.training import export
from rubricate.neural.training.backbone import wrapped_network
from rubricate.neural.training.export import (
    export_int8,
    export_onnx,
    read_network,
    weights_of_onnx,
    write_network,
)
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Network

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
    said = OnnxEngine(tmp_path / "n.onnx", threads=1)(batch)
    with torch.no_grad():
        ours = network.eval()(*tensors(batch, torch.device("cpu")))
    assert tuple(said) == ours._fields
    for name, value in ours._asdict().items():
        np.testing.assert_allclose(said[name], value.numpy(), atol=apart)


@pytest.mark.parametrize(("write", "apart"), [(export_onnx, 1e-7), (export_int8, 0.02)])
def test_weights_come_back(write, apart: float, network: Network, tmp_path: Path) -> None:
    write(network, tmp_path / "n.onnx")
    weights = weights_of_onnx(tmp_path / "n.onnx")
    own = dict(network.named_parameters())
    assert weights.keys() == own.keys()
    for name, value in own.items():
        assert float((weights[name] - value.detach()).abs().max()) <= apart, name


def test_no_two_products_overflow_sixteen_bits(network: Network, tmp_path: Path) -> None:
    """Processors without VNNI add them there; with larger weights they would say something else."""
    onnx = pytest.importorskip("onnx")
    export_int8(network, tmp_path / "n.onnx")
    graph = onnx.load(tmp_path / "n.onnx").graph
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    weights = [stored[n.input[1]] for n in graph.node if n.op_type == "MatMulInteger"]
    assert weights
    assert all(weight.dtype == np.int8 for weight in weights)
    largest = max(int(np.abs(weight.astype(int)).max()) for weight in weights)
    assert 2 * 255 * largest <= np.iinfo(np.int16).max


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


@pytest.fixture
def wrapped() -> Network:
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(
        "electra", vocab_size=60, hidden_size=32, embedding_size=16, num_hidden_layers=1,
        num_attention_heads=4, intermediate_size=48, max_position_embeddings=80,
        _name_or_path="somebody/model",
    )  # fmt: skip
    torch.manual_seed(0)
    return wrapped_network(transformers.AutoModel.from_config(config), scorer_dim=16)


def write(network: Network, folder: Path) -> None:
    write_network(network, folder)
    EncoderSettings(shape=asdict(network.shape)).write(folder / "settings.json")


def test_a_wrapped_network_comes_back(wrapped: Network, tmp_path: Path) -> None:
    with torch.no_grad():
        wrapped.scorer.peak.fill_(1e6)  # more than half precision holds
    write(wrapped, tmp_path)
    again = read_network(tmp_path)
    assert again.shape == wrapped.shape
    own = dict(again.named_parameters())
    for name, parameter in wrapped.named_parameters():
        torch.testing.assert_close(own[name], parameter, atol=1e-3, rtol=1e-3)
    assert "somebody" not in (tmp_path / "config.json").read_text(encoding="utf-8")
    assert model_files(tmp_path)[3:] == ["config.json", "weights.safetensors"]


def test_our_own_network_needs_no_more_files(network: Network, tmp_path: Path) -> None:
    write(network, tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["network.onnx", "settings.json"]
    assert read_network(tmp_path).shape == network.shape


def test_files_of_another_network_are_refused(wrapped: Network, tmp_path: Path) -> None:
    write(wrapped, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(
        json.dumps({**config, "num_hidden_layers": 2}), encoding="utf-8"
    )
    with pytest.raises(InputError, match="another network"):
        read_network(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(InputError):
        read_network(tmp_path)
    EncoderSettings(shape={"no_such_size": 1}).write(tmp_path / "settings.json")
    with pytest.raises(InputError):
        read_network(tmp_path)
