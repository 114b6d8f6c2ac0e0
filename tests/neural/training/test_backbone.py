from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import EncoderSettings
from rubricate.neural.encoder.pieces import PieceMaker, SpecialPieces
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.backbone import (
    folder_from_backbone,
    network_from,
    read_weights,
    shape_of_bert,
    start_from_bert,
)
from rubricate.neural.training.hub import ModelSource
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.network import Network
from rubricate.neural.training.passes import Lessons
from rubricate.neural.training.trainer import Trainer

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


@pytest.fixture
def roberta(maker: PieceMaker, tmp_path: Path) -> Path:
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(
        "roberta", vocab_size=maker.n_pieces, hidden_size=32, num_hidden_layers=1,
        num_attention_heads=4, intermediate_size=48, max_position_embeddings=130,
        pad_token_id=maker.fill_id, bos_token_id=maker.start_id, eos_token_id=maker.stop_id,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "roberta")
    maker.save(tmp_path / "roberta" / "tokenizer.json")
    return tmp_path / "roberta"


def test_another_encoder_can_be_fitted_saved_and_fitted_further(
    roberta: Path, corpus: Corpus, tmp_path: Path
) -> None:
    matcher = EncoderMatcher(backbone=str(roberta), steps=2, threads=1).fit(corpus)
    found = matcher.predict(corpus)
    assert len(found.rows) == 18
    matcher.save(tmp_path / "saved")
    shape = EncoderSettings.read(tmp_path / "saved" / "settings.json").shape
    assert (shape["architecture"], shape["positions"]) == ("roberta", 129)
    again = EncoderMatcher.load(tmp_path / "saved")
    assert again.predict(corpus) == found
    again.fit(corpus)
    assert len(again.predict(corpus).rows) == 18


WITHOUT_TORCH = """
import sys
for name in ("torch", "transformers", "onnx", "safetensors"):
    sys.modules[name] = None
from rubricate.formats import read_corpus
from rubricate.neural.encoder.matcher import EncoderMatcher
print(len(EncoderMatcher.load("saved").predict(read_corpus("corpus.jsonl")).rows))
"""


def test_another_encoder_runs_without_torch(roberta: Path, corpus: Corpus, tmp_path: Path) -> None:
    EncoderMatcher(backbone=str(roberta), steps=1, threads=1).fit(corpus).save(tmp_path / "saved")
    write_corpus(corpus, tmp_path / "corpus.jsonl", format="jsonl")
    done = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_TORCH],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.strip() == "18"


def test_a_network_learns_with_another_encoder(
    roberta: Path, data: LearningSet, maker: PieceMaker, special: SpecialPieces
) -> None:
    network = network_from(ModelSource(roberta), seed=1)
    recipe = EncoderRecipe(
        sequences={"1": 8, "4": 8, "all": 8}, every=10, rate=2e-3, scorer_rate=5e-3, average=0.0
    )
    lessons = Lessons(
        data, range(data.n_notes), special, maker.mask_id,
        recipe=recipe, seed=0,
    )  # fmt: skip
    trainer = Trainer(network, lessons, steps=30)
    trainer.run()
    losses = [look.loss for look in trainer.history]
    assert losses[-1] < losses[0]


def test_a_tokenizer_of_another_model_is_refused(roberta: Path, tmp_path: Path) -> None:
    path = roberta / "config.json"
    changed = {**json.loads(path.read_text(encoding="utf-8")), "vocab_size": 30}
    path.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(InputError):
        folder_from_backbone(str(roberta), tmp_path)


def test_a_bert_with_other_parts_is_wrapped(bert: Path) -> None:
    pytest.importorskip("transformers")
    assert network_from(ModelSource(bert)).shape.architecture is None
    config = json.loads((bert / "config.json").read_text(encoding="utf-8"))
    (bert / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
    assert network_from(ModelSource(bert)).shape.architecture == "bert"
