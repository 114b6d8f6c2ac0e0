"""Where a network's first weights come from: an encoder in a folder, or by name from a hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rubricate.errors import Fault, InputError
from rubricate.neural.encoder.hub import (
    ModelSource,
    find_source,
    load_model,
    load_tokenizer,
    read_config,
)
from rubricate.neural.encoder.model_folder import (
    CONFIG_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    EncoderSettings,
)
from rubricate.neural.encoder.network import Network, Shape

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
    own = dict(network.named_parameters())
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
            own[f"encoder.{ours}"].copy_(weights[theirs].float())


def read_weights(path: Path, *, sha256: str | None = None) -> dict[str, Tensor]:
    """Read a safetensors file, checking its hash first where one is given."""
    from safetensors.torch import load_file

    from rubricate.files import file_hash

    if not path.is_file():
        raise InputError([Fault("there are no weights here", path)])
    if sha256 is not None and file_hash(path) != sha256:
        raise InputError([Fault("these are not the expected weights: another sha256", path)])
    return load_file(path)


def folder_from_backbone(source: Path | str, target: Path, *, seed: int = 0) -> None:
    """Make a model folder from a pretrained encoder, its scorer not yet trained.

    ``source`` is a folder with ``config.json``, ``model.safetensors`` and a tokenizer, as model
    hubs give them, or the name of a model at the hub. Such a network knows nothing of rubrics
    before it is fitted to many notes.
    """
    from rubricate.neural.encoder.export import write_network

    found = find_source(source)
    network = network_from(found, seed=seed)
    maker = load_tokenizer(found)
    if maker.n_pieces > network.shape.n_pieces:
        raise InputError(
            [
                Fault(
                    f"the tokenizer has {maker.n_pieces} pieces, the encoder knows "
                    f"{network.shape.n_pieces}",
                    found.folder,
                )
            ]
        )
    write_network(network, target)
    maker.save(target / TOKENIZER_FILE)
    EncoderSettings(shape=asdict(network.shape)).write(target / SETTINGS_FILE)


def network_from(source: ModelSource, *, seed: int = 0) -> Network:
    """Return a network with a pretrained encoder and a new scorer.

    A plain BERT becomes our own `Encoder`, which needs no transformers to be fitted further.
    """
    path = source.folder / CONFIG_FILE
    config = read_config(source)
    if is_plain_bert(config):
        torch.manual_seed(seed)
        network = Network(shape_of_bert(config, path))
        if source.name is None:
            stored = read_weights(source.folder / "model.safetensors")
        else:
            stored = load_model(source).state_dict()
        start_from_bert(network, {name.removeprefix("bert."): w for name, w in stored.items()})
        return network
    from rubricate.neural.encoder.wrapped import ARCHITECTURES, wrapped_network

    if config.get("model_type") not in ARCHITECTURES:
        raise InputError(
            [
                Fault(
                    f"architecture {config.get('model_type')!r} cannot be read; these can: "
                    f"{', '.join(sorted(ARCHITECTURES))}",
                    path,
                )
            ]
        )
    model = load_model(source)
    torch.manual_seed(seed)
    return wrapped_network(model)


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Tell whether our own `Encoder` computes what this configuration describes.

    Examples
    --------
    >>> is_plain_bert({"model_type": "bert"}), is_plain_bert({"model_type": "roberta"})
    (True, False)
    >>> is_plain_bert({"model_type": "bert", "hidden_act": "relu"})
    False
    """
    usual = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "type_vocab_size": 2,
        "position_embedding_type": "absolute",
    }
    return "model_type" in config and all(config.get(k, v) == v for k, v in usual.items())


def shape_of_bert(config: Mapping[str, Any], path: Path) -> Shape:
    """Return the sizes a hub's ``config.json`` gives."""
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
