from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.model_folder import Settings, model_files
from rubricate.neural.network import Network
from rubricate.neural.storage import read_network, write_network
from rubricate.neural.wrapped import wrapped_network

transformers = pytest.importorskip("transformers")


@pytest.fixture
def wrapped() -> Network:
    config = transformers.AutoConfig.for_model(
        "electra", vocab_size=60, hidden_size=32, embedding_size=16, num_hidden_layers=1,
        num_attention_heads=4, intermediate_size=48, max_position_embeddings=80,
        _name_or_path="somebody/model",
    )  # fmt: skip
    torch.manual_seed(0)
    return wrapped_network(transformers.AutoModel.from_config(config), scorer_dim=16)


def write(network: Network, folder: Path) -> None:
    write_network(network, folder)
    Settings(shape=asdict(network.shape)).write(folder / "settings.json")


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
    Settings(shape={"no_such_size": 1}).write(tmp_path / "settings.json")
    with pytest.raises(InputError):
        read_network(tmp_path)
