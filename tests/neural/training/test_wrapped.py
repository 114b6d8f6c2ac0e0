from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.encoder.inference import OnnxEngine
from rubricate.neural.encoder.pieces import Pass, SpecialPieces, make_batch
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.backbone import (
    ARCHITECTURES,
    shape_of_config,
    start_from_bert,
    wrapped_network,
)
from rubricate.neural.training.export import export_int8, export_onnx
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Network
from rubricate.neural.training.trainer import _groups

transformers = pytest.importorskip("transformers")

CPU = torch.device("cpu")
SPECIAL = SpecialPieces(start=1, stop=2, fill=0)
NOTE = np.arange(6, 26, dtype=np.int32)
FEATURES = tuple(np.array(x, np.int32) for x in ([11, 12], [13], [14, 15, 16]))
SIZES = {
    "vocab_size": 60, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 48, "max_position_embeddings": 90, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
RELATIVE = {
    "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "max_relative_positions": -1,
    "position_biased_input": False, "type_vocab_size": 0,
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 16},
    "deberta": RELATIVE,
    # As DeBERTa-v3 is built.
    "deberta-v2": {**RELATIVE, "position_buckets": 8, "norm_rel_ebd": "layer_norm",
                   "share_att_key": True},
    "distilbert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48},
    "electra": {"embedding_size": 16},
    "modernbert": {"local_attention": 8, "global_attn_every_n_layers": 2, "cls_token_id": 1,
                   "sep_token_id": 2},
    "rembert": {"input_embedding_size": 16, "output_embedding_size": 16},
}  # fmt: skip


def tiny_model(kind: str, **changes: Any) -> Any:
    sizes = {**SIZES, **OWN.get(kind, {}), **changes}
    if kind == "distilbert":
        renamed = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        sizes = {k: v for k, v in sizes.items() if k not in renamed}
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(kind, **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            # The usual first weights are so small that attention hardly matters.
            if parameter.ndim >= 2:
                parameter.mul_(4)
    return model.eval()


def run(network: Network, passes: list[Pass]) -> tuple[np.ndarray, np.ndarray]:
    with torch.no_grad():
        pieces, presence, _ = network.eval()(*tensors(make_batch(passes, SPECIAL), CPU))
    return pieces.float().numpy(), presence.float().numpy()


@pytest.fixture(params=sorted(ARCHITECTURES))
def network(request: pytest.FixtureRequest) -> Network:
    torch.manual_seed(0)
    return wrapped_network(tiny_model(request.param), scorer_dim=16).eval()


def test_every_architecture(network: Network, tmp_path: Path) -> None:
    """One test for all, since making the networks is what takes the time."""
    check_plain_states(network)
    check_features_and_padding(network)
    check_half_precision(network)
    assert network.state_dict().keys() == dict(network.named_parameters()).keys()
    depths = {network.depth(n) for n, _ in network.encoder.named_parameters(prefix="encoder")}
    assert {0, 2} <= depths <= {0, 1, 2}
    export_onnx(network, tmp_path / "n.onnx")
    compare(network, tmp_path / "n.onnx", 1e-4)


def check_plain_states(network: Network) -> None:
    """A text alone is read as the library itself reads it."""
    pieces = torch.randint(5, 59, (2, 12))
    place = torch.arange(12).expand(2, 12)
    every = torch.ones(2, 1, 12, 12, dtype=torch.bool)
    with torch.no_grad():
        ours = network.encoder(pieces, place, torch.zeros_like(pieces), every)
        theirs = network.encoder.model(input_ids=pieces).last_hidden_state
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def check_features_and_padding(network: Network) -> None:
    """Features are read as if each came alone, or the shape says that they are not."""
    pieces, _ = run(network, [Pass(NOTE, FEATURES)])
    turned, _ = run(network, [Pass(NOTE, FEATURES[::-1])])
    alike = np.allclose(pieces, turned[:, ::-1], atol=1e-5)
    assert alike == network.shape.separate
    alone, presence = run(network, [Pass(NOTE, FEATURES[:1])])
    both, presences = run(network, [Pass(NOTE, FEATURES[:1]), Pass(np.tile(NOTE, 2), FEATURES)])
    np.testing.assert_allclose(alone[0, 0, :22], both[0, 0, :22], atol=1e-5)
    np.testing.assert_allclose(presence[0, 0], presences[0, 0], atol=1e-5)


def check_half_precision(network: Network) -> None:
    """As on a GPU: nothing overflows, and little changes."""
    passes = [Pass(NOTE, FEATURES), Pass(NOTE[:4], FEATURES[:1])]
    with torch.autocast("cpu", torch.bfloat16):
        halves, _ = run(network, passes)
    whole, _ = run(network, passes)
    np.testing.assert_allclose(halves, whole, atol=0.15)


def compare(network: Network, path: Path, apart: float) -> None:
    """The file says what the network says, for other sizes than it was exported with."""
    passes = [Pass(np.tile(NOTE, 2), FEATURES), Pass(NOTE[:3], FEATURES[:1])]
    batch = make_batch(passes, SPECIAL)
    with torch.no_grad():
        expected = network.eval()(*tensors(batch, CPU))
    said = OnnxEngine(path, threads=1)(batch)
    assert tuple(said) == expected._fields
    for name, value in expected._asdict().items():
        np.testing.assert_allclose(said[name], value.numpy(), atol=apart)


@pytest.mark.parametrize("kind", ["albert", "deberta-v2", "mpnet", "xlm-roberta"])
def test_eight_bits(kind: str, tmp_path: Path) -> None:
    network = wrapped_network(tiny_model(kind), scorer_dim=16)
    export_int8(network, tmp_path / "n.onnx")
    compare(network, tmp_path / "n.onnx", 0.1)


@pytest.mark.parametrize(
    "changes",
    [
        {"share_att_key": False, "position_buckets": -1},
        {"position_biased_input": True, "type_vocab_size": 2},
        {"conv_kernel_size": 3, "conv_act": "gelu"},
    ],
)
def test_other_debertas(changes: dict[str, Any], tmp_path: Path) -> None:
    network = wrapped_network(tiny_model("deberta-v2", **changes), scorer_dim=16).eval()
    check_plain_states(network)
    check_features_and_padding(network)
    export_onnx(network, tmp_path / "n.onnx")
    compare(network, tmp_path / "n.onnx", 1e-4)


@pytest.mark.parametrize("positions", [512, 64])
def test_a_bert_says_the_same_wrapped_and_as_ours(positions: int) -> None:
    model = tiny_model("bert", max_position_embeddings=positions)
    wrapped = wrapped_network(model, scorer_dim=16)
    ours = Network(replace(wrapped.shape, architecture=None))
    start_from_bert(ours, model.state_dict())
    ours.scorer.load_state_dict(wrapped.scorer.state_dict())
    passes = [Pass(np.tile(NOTE, 5), FEATURES), Pass(NOTE, FEATURES[:2])]
    for one, other in zip(run(wrapped, passes), run(ours, passes), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_positions_are_those_the_model_can_have() -> None:
    config = transformers.AutoConfig.for_model("roberta", max_position_embeddings=514)
    assert shape_of_config(config, first=2).positions == 512
    with pytest.raises(InputError):
        wrapped_network(tiny_model("bert", max_position_embeddings=40))


def test_lower_layers_learn_slower_or_not_at_all() -> None:
    network = wrapped_network(tiny_model("electra"), scorer_dim=16)
    groups = _groups(network, EncoderRecipe(rate=1.0, layer_decay=0.5, scorer_rate=3.0, frozen=1))
    assert {group["base"] for group in groups} == {1.0, 3.0}
    frozen = [n for n, p in network.named_parameters() if not p.requires_grad]
    assert frozen
    assert all("layer.1." not in name and not name.startswith("scorer.") for name in frozen)
