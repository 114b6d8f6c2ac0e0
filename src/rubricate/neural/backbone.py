"""Where a network's first weights come from: the default encoder, or any BERT on disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rubricate.errors import Fault, InputError
from rubricate.neural.network import Network, Shape

#: sha256 of model.safetensors of all-MiniLM-L6-v2 (Apache-2.0); four independent wheels agree.
MINILM_HASH = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_EMBEDDINGS = {
    "words.weight": "embeddings.word_embeddings.weight",
    "positions.weight": "embeddings.position_embeddings.weight",
    "sides.weight": "embeddings.token_type_embeddings.weight",
    "norm.weight": "embeddings.LayerNorm.weight",
    "norm.bias": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}


def start_from_bert(network: Network, weights: Mapping[str, Tensor]) -> None:
    """Copy the weights of a BERT model, by their usual names, into the network's encoder."""
    own = dict(network.encoder.named_parameters())
    names = dict(_EMBEDDINGS)
    for i in range(network.shape.layers):
        for ours, theirs in _LAYER.items():
            for part in ("weight", "bias"):
                names[f"layers.{i}.{ours}.{part}"] = f"encoder.layer.{i}.{theirs}.{part}"
    missing = [theirs for theirs in names.values() if theirs not in weights]
    if missing:
        raise InputError(f"these are not the weights of a BERT encoder: no {missing[0]}")
    with torch.no_grad():
        for ours, theirs in names.items():
            own[ours].copy_(weights[theirs].float())


def read_weights(path: Path, *, sha256: str | None = None) -> dict[str, Tensor]:
    """Read a safetensors file, checking its hash first where one is given."""
    from safetensors.torch import load_file

    from rubricate.files import file_hash

    if not path.is_file():
        raise InputError([Fault("there are no weights here", path)])
    if sha256 is not None and file_hash(path) != sha256:
        raise InputError([Fault("these are not the expected weights: another sha256", path)])
    return load_file(path)


def folder_from_backbone(source: Path, target: Path, *, seed: int = 0) -> None:
    """Make a model folder from a BERT-like encoder on disk, its scorer not yet trained.

    ``source`` holds ``model.safetensors``, ``config.json`` and ``tokenizer.json``, as model hubs
    give them. Such a model knows nothing of rubrics before it is fitted to many notes.

    Raises
    ------
    InputError
        If a file is missing or the architecture is another.
    """
    from rubricate.matchers.model_files import read_json
    from rubricate.neural.export import export_int8
    from rubricate.neural.model_folder import NETWORK_FILE, SETTINGS_FILE, TOKENIZER_FILE, Settings
    from rubricate.neural.pieces import PieceMaker

    maker = PieceMaker.from_file(source / TOKENIZER_FILE)
    shape = shape_of_bert(read_json(source / "config.json"), source / "config.json")
    torch.manual_seed(seed)
    network = Network(shape)
    stored = read_weights(source / "model.safetensors")
    start_from_bert(network, {name.removeprefix("bert."): w for name, w in stored.items()})
    export_int8(network, target / NETWORK_FILE)
    maker.save(target / TOKENIZER_FILE)
    Settings(shape=asdict(shape)).write(target / SETTINGS_FILE)


def shape_of_bert(config: Mapping[str, Any], path: Path) -> Shape:
    """Return the sizes a hub's ``config.json`` gives."""
    if config.get("model_type") != "bert":
        raise InputError(
            [Fault(f"architecture {config.get('model_type')!r}; only 'bert' can be read", path)]
        )
    try:
        return Shape(
            n_pieces=int(config["vocab_size"]),
            dim=int(config["hidden_size"]),
            layers=int(config["num_hidden_layers"]),
            heads=int(config["num_attention_heads"]),
            inner=int(config["intermediate_size"]),
            positions=int(config["max_position_embeddings"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError([Fault("a size of the encoder is missing", path)]) from error
