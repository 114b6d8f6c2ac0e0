"""From a trained network to the files that run without torch, and back: ONNX, in eight bits."""

from __future__ import annotations

import copy
import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.network import Network

INPUTS = ("note", "note_length", "feature", "owner", "position", "n_features")
OPSET = 17
#: An ONNX file in full precision, from which the one in eight bits is made, is under 2 GiB.
MOST_PARAMETERS = 500_000_000
_WORDS = "encoder.words."


class _CompactWords(nn.Module):
    """Embeddings in eight bits with one scale a row; ONNX Runtime's own has one for all rows."""

    table: Tensor
    scale: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("table", (weight / scale).round().to(torch.int8))

    def forward(self, pieces: Tensor) -> Tensor:
        return self.table[pieces].float() * self.scale[pieces]


def export_onnx(network: nn.Module, path: Path) -> None:
    """Write the network as an ONNX file in full precision."""
    # A copy: the caller's network may go on learning where it is.
    network = copy.deepcopy(network).cpu().eval()
    note = torch.randint(5, 9, (2, 11))
    feature = torch.randint(5, 9, (2, 7))
    owner = torch.tensor([[0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1, -1]])
    inputs = (note, torch.tensor([11, 9]), feature, owner, torch.zeros_like(owner), torch.arange(3))
    with warnings.catch_warnings():
        # The exporter warns of constants it folds and of its successor.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            inputs,
            str(path),
            input_names=list(INPUTS),
            output_names=["pieces", "presence"],
            dynamic_axes={
                "note": {0: "passes", 1: "places"},
                "note_length": {0: "passes"},
                "feature": {0: "passes", 1: "pieces_of_features"},
                "owner": {0: "passes", 1: "pieces_of_features"},
                "position": {0: "passes", 1: "pieces_of_features"},
                "n_features": {0: "features"},
                "pieces": {0: "passes", 1: "features", 2: "places"},
                "presence": {0: "passes", 1: "features"},
            },
            opset_version=OPSET,
            dynamo=False,
        )


def export_int8(network: Network, path: Path) -> None:
    """Write the network as an ONNX file whose encoder has weights in eight bits.

    Matrices have one scale a column (dynamic quantisation), words one a row; the scorer, small
    and at the end, stays whole.

    Raises
    ------
    InputError
        If the network is too large for such a file.
    """
    try:
        import onnx
        from onnxruntime.quantization import (
            QuantType,
            quantize_dynamic,
        )
    except ImportError as error:
        raise MissingExtraError("saving the encoder", "train") from error
    compact = copy.deepcopy(network).cpu()
    compact.encoder.replace_words(_CompactWords(compact.encoder.word_weights.detach()))
    count = sum(parameter.numel() for parameter in compact.parameters())
    if count > MOST_PARAMETERS:
        raise InputError(
            f"the network has {count:,} parameters besides its words; a file that runs without "
            f"torch holds {MOST_PARAMETERS:,}"
        )
    root = logging.getLogger()
    before = root.level
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        export_onnx(compact, whole)
        nodes = onnx.load(whole).graph.node
        # It logs advice to the root logger, which is the caller's.
        root.setLevel(logging.ERROR)
        try:
            quantize_dynamic(
                whole,
                path,
                weight_type=QuantType.QInt8,
                per_channel=True,
                op_types_to_quantize=["MatMul"],
                nodes_to_exclude=[n.name for n in nodes if n.name.startswith("/scorer/")],
            )
        finally:
            root.setLevel(before)


def weights_of_onnx(path: Path) -> dict[str, Tensor]:
    """Return the weights of an exported network under the names its parameters have.

    Raises
    ------
    InputError
        If the file is no network exported by this module.
    """
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        raise MissingExtraError("fitting the encoder", "train") from error
    graph = onnx.load(path).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for node in graph.node:
        # Tensors that are equal are stored once and lent to the others.
        if node.op_type == "Identity" and node.input[0] in stored:
            stored[node.output[0]] = stored[node.input[0]]
    weights = {n: v for n, v in stored.items() if n.startswith(("encoder.", "scorer."))}
    for node in graph.node:
        for part, value in _parts(node, stored).items():
            weights[f"{_owner(node.name)}.{part}"] = value
    if f"{_WORDS}table" in weights:
        table, scale = weights.pop(f"{_WORDS}table"), weights.pop(f"{_WORDS}scale")
        weights[f"{_WORDS}weight"] = table.astype(np.float32) * scale
    if f"{_WORDS}weight" not in weights:
        raise InputError([Fault("not a network of the encoder matcher", path)])
    return {n: torch.from_numpy(np.array(v, np.float32)) for n, v in weights.items()}


def _owner(name: str) -> str:
    """Return whose weights a node uses.

    "/encoder/layers.0/query/MatMul_quant" belongs to encoder.layers.0.query; a Sequential repeats
    its own name in "/scorer/presence/presence.0/MatMul".
    """
    parts = name.split("/")[1:-1]
    if len(parts) > 1 and parts[-1].startswith(f"{parts[-2]}."):
        del parts[-2]
    return ".".join(parts)


def _parts(node: Any, stored: dict[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the weight and the bias a node holds, where it holds any."""
    given = list(node.input)
    if node.op_type == "LayerNormalization":
        return {"weight": stored[given[1]], "bias": stored[given[2]]}
    if node.op_type == "Add" and given[0] in stored and stored[given[0]].ndim == 1:
        return {"bias": stored[given[0]]}
    if node.op_type == "MatMul" and given[1] in stored:
        return {"weight": stored[given[1]].T}
    if node.op_type == "MatMulInteger":
        base = given[1].removesuffix("_quantized")
        zero = stored[f"{base}_zero_point"].astype(np.float32)
        whole = stored[given[1]].astype(np.float32) - zero
        return {"weight": (whole * stored[f"{base}_scale"]).T}
    return {}
