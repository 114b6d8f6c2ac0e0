from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.neural.backbone import (
    folder_from_backbone,
    read_weights,
    shape_of_bert,
    start_from_bert,
)
from rubricate.neural.encoder import EncoderMatcher
from rubricate.neural.network import Network
from rubricate.neural.pieces import PieceMaker

CONFIG = {
    "model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4,
    "intermediate_size": 64, "max_position_embeddings": 512, "vocab_size": 0,
}  # fmt: skip


@pytest.fixture
def bert(maker: PieceMaker, tmp_path: Path) -> Path:
    config = {**CONFIG, "vocab_size": maker.n_pieces}
    sizes = {
        "embeddings.word_embeddings.weight": (maker.n_pieces, 32),
        "embeddings.position_embeddings.weight": (512, 32),
        "embeddings.token_type_embeddings.weight": (2, 32),
    }
    layer = {
        "attention.self.query": (32, 32), "attention.self.key": (32, 32),
        "attention.self.value": (32, 32), "attention.output.dense": (32, 32),
        "intermediate.dense": (64, 32), "output.dense": (32, 64),
    }  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for name, size in layer.items():
        sizes[f"encoder.layer.0.{name}.weight"] = size
        sizes[f"encoder.layer.0.{name}.bias"] = size[:1]
    norms += [f"encoder.layer.0.{n}.LayerNorm" for n in ("attention.output", "output")]
    weights = {f"bert.{n}": torch.randn(size) * 0.05 for n, size in sizes.items()}
    for norm in norms:
        weights[f"bert.{norm}.weight"], weights[f"bert.{norm}.bias"] = (
            torch.ones(32),
            torch.zeros(32),
        )
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    maker.save(tmp_path / "tokenizer.json")
    return tmp_path


def test_a_bert_on_disk_can_be_fitted(bert: Path, corpus: Corpus) -> None:
    matcher = EncoderMatcher(backbone=str(bert), steps=2, threads=1).fit(corpus)
    assert len(matcher.predict(corpus).rows) == 18


def test_the_encoder_is_bert(bert: Path) -> None:
    """The same states as the reference implementation, where it is installed."""
    transformers = pytest.importorskip("transformers")
    config = json.loads((bert / "config.json").read_text(encoding="utf-8"))
    stored = {
        n.removeprefix("bert."): w for n, w in read_weights(bert / "model.safetensors").items()
    }
    network = Network(shape_of_bert(config, bert))
    start_from_bert(network, stored)
    sizes = {k: v for k, v in config.items() if k != "model_type"}
    theirs = transformers.BertModel(transformers.BertConfig(**sizes), add_pooling_layer=False)
    theirs.load_state_dict(stored, strict=False)
    pieces = torch.tensor([[2, 6, 7, 8, 3]])
    position = torch.arange(5).unsqueeze(0)
    seen = torch.ones(1, 1, 5, 5, dtype=torch.bool)
    with torch.no_grad():
        ours = network.eval().encoder(pieces, position, torch.zeros_like(pieces), seen)
        reference = theirs.eval()(input_ids=pieces).last_hidden_state
    torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-4)


def test_other_weights_are_refused(bert: Path, network: Network, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_weights(bert / "model.safetensors", sha256="0" * 64)
    with pytest.raises(InputError):
        read_weights(bert / "none.safetensors")
    with pytest.raises(InputError):
        start_from_bert(network, {})
    (bert / "config.json").write_text('{"model_type": "gpt"}', encoding="utf-8")
    with pytest.raises(InputError):
        folder_from_backbone(bert, tmp_path)
