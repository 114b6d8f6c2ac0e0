"""First weights of a network: from a folder or a hub, in our form or transformers'."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import Json
from rubricate.neural.encoder.model_folder import (
    CONFIG_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    EncoderSettings,
)
from rubricate.neural.training.hub import (
    ModelSource,
    find_source,
    load_model,
    load_tokenizer,
    read_config,
)
from rubricate.neural.training.network import Network, Shape

#: Added to the attention of pieces that are not seen; bfloat16 holds it too.
UNSEEN = -1e9
_LAYER_NUMBER = re.compile(r"(?:^|\.)layers?\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class Architecture:
    """Form in which an architecture takes the place of a piece and the pieces it may see."""

    after_padding: bool = False
    ordered: bool = False


#: The architectures that can be read, by the name ``config.json`` gives as ``model_type``.
ARCHITECTURES: Mapping[str, Architecture] = {
    "albert": Architecture(),
    "bert": Architecture(),
    "camembert": Architecture(after_padding=True),
    "data2vec-text": Architecture(after_padding=True),
    "deberta": Architecture(ordered=True),
    "deberta-v2": Architecture(ordered=True),
    "distilbert": Architecture(),
    "electra": Architecture(),
    "ernie": Architecture(),
    "megatron-bert": Architecture(),
    "modernbert": Architecture(),
    "mpnet": Architecture(after_padding=True),
    "nomic_bert": Architecture(),
    "rembert": Architecture(),
    "roberta": Architecture(after_padding=True),
    "roberta-prelayernorm": Architecture(after_padding=True),
    "xlm-roberta": Architecture(after_padding=True),
    "xlm-roberta-xl": Architecture(after_padding=True),
}


class WrappedEncoder(nn.Module):
    """A model of the transformers library, called like our own `Encoder`."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        if getattr(model, "pooler", None) is not None:
            model.pooler = None
        self.model: Any = model.float()
        self.config = model.config
        how = ARCHITECTURES[model.config.model_type]
        self._ordered = how.ordered
        words = model.get_input_embeddings()
        self._first = int(words.padding_idx) + 1 if how.after_padding else 0
        taken = inspect.signature(model.forward).parameters
        types = int(getattr(model.config, "type_vocab_size", 0) or 0)
        self._n_sides = types if "token_type_ids" in taken else 0

    @property
    def word_weights(self) -> Tensor:
        """Embeddings of the words before the first layer, one row per piece."""
        weight: Tensor = self.model.get_input_embeddings().weight
        return weight

    def replace_words(self, words: nn.Module) -> None:
        """Let another module look words up."""
        self.model.set_input_embeddings(words)

    @property
    def first_position(self) -> int:
        """The number the model knows our first position by."""
        return self._first

    def plain_config(self) -> Json:
        """Return the configuration as ``config.json`` holds it, without where it came from."""
        plain = dict(self.config.to_diff_dict())
        plain.pop("_name_or_path", None)
        return plain

    def depth(self, name: str) -> int:
        """Return the number of layers up to and with the one of this parameter; 0 for words."""
        found = _LAYER_NUMBER.search(name)
        if found is not None:
            return int(found.group(1)) + 1
        below = "embed" in name or "relative_attention_bias" in name
        return 0 if below else int(self.config.num_hidden_layers)

    def forward(self, pieces: Tensor, positions: Tensor, sides: Tensor, seen: Tensor) -> Tensor:
        """Return the last layer's states."""
        if self._ordered:
            return self._in_order(pieces, positions, sides, seen)
        mask = self._mask(pieces, positions, seen)
        return self._run(pieces, positions, sides, mask)

    def _run(self, pieces: Tensor, positions: Tensor, sides: Tensor, mask: Any) -> Tensor:
        given = {
            "input_ids": pieces,
            "position_ids": positions + self._first,
            "attention_mask": mask,
        }
        if self._n_sides:
            given["token_type_ids"] = sides.clamp(max=self._n_sides - 1)
        with self._precision(pieces.device.type):
            last: Tensor = self.model(**given).last_hidden_state
        return last

    def _precision(self, device: str) -> contextlib.AbstractContextManager[Any]:
        if self.config.model_type != "deberta":
            return contextlib.nullcontext()
        # The first DeBERTa hides pieces with a number that half precision cannot hold.
        return torch.autocast(device, enabled=False)

    def _in_order(self, pieces: Tensor, positions: Tensor, sides: Tensor, seen: Tensor) -> Tensor:
        """Run with the padding at the end: in between it would move the features away."""
        # The start piece sees everything that is no padding. Positions, which some of these
        # architectures do not ask for, must stay among the inputs of an exported network.
        valid = seen[:, 0, 0] & (positions >= 0)
        before = valid.long().cumsum(1)
        place = torch.arange(valid.shape[1], device=pieces.device).unsqueeze(0)
        moved = torch.where(valid, before - 1, before[:, -1:] + place - before)
        order = torch.zeros_like(moved).scatter(1, moved, place.expand_as(moved))
        states = self._run(
            pieces.gather(1, order),
            positions.gather(1, order),
            sides.gather(1, order),
            valid.long().gather(1, order),
        )
        return states.gather(1, moved.unsqueeze(2).expand(-1, -1, states.shape[2]))

    def _mask(self, pieces: Tensor, positions: Tensor, seen: Tensor) -> Any:
        if self.config.model_type == "mpnet":
            return self._added(seen) + self._moved_bias(pieces, positions)
        if "sliding_attention" in (getattr(self.config, "layer_types", None) or ()):
            apart = (positions.unsqueeze(1) - positions.unsqueeze(2)).abs().unsqueeze(1)
            near = seen & (apart <= self.config.sliding_window)
            return {"full_attention": self._for(seen), "sliding_attention": self._for(near)}
        return self._for(seen)

    def _for(self, seen: Tensor) -> Tensor:
        return seen if self.config._attn_implementation == "sdpa" else self._added(seen)

    def _added(self, seen: Tensor) -> Tensor:
        return torch.zeros_like(seen, dtype=torch.float32).masked_fill(~seen, UNSEEN)

    def _moved_bias(self, pieces: Tensor, positions: Tensor) -> Tensor:
        """Return the map from MPNet's bias by place in the sequence to a bias by position."""
        encoder = self.model.encoder
        apart = positions.unsqueeze(1) - positions.unsqueeze(2)
        wanted = encoder.relative_attention_bias(encoder.relative_position_bucket(apart))
        moved: Tensor = wanted.permute(0, 3, 1, 2) - encoder.compute_position_bias(pieces)
        return moved


def shape_of_config(config: Any, *, first: int = 0, **scorer: Any) -> Shape:
    """Return the sizes of a network around the encoder a configuration describes."""
    how = ARCHITECTURES[config.model_type]
    return Shape(
        n_pieces=int(config.vocab_size),
        dim=int(config.hidden_size),
        layers=int(config.num_hidden_layers),
        heads=int(config.num_attention_heads),
        inner=int(getattr(config, "intermediate_size", None) or config.hidden_dim),
        positions=int(config.max_position_embeddings) - first,
        separate=not how.ordered,
        architecture=str(config.model_type),
        **scorer,
    )


def wrapped_network(model: Any, **scorer: Any) -> Network:
    """Return a network whose encoder is a model of the transformers library, its scorer new."""
    encoder = WrappedEncoder(model)
    return Network(shape_of_config(model.config, first=encoder.first_position, **scorer), encoder)


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
    from rubricate.neural.training.export import write_network

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
