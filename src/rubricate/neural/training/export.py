"""Networks in model folders: written to run without torch (ONNX, in eight bits), and read back."""

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

from rubricate.arrays import F32
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.encoder.inference import PIECES
from rubricate.neural.encoder.model_folder import (
    CONFIG_FILE,
    NETWORK_FILE,
    SETTINGS_FILE,
    WEIGHTS_FILE,
    EncoderSettings,
)
from rubricate.neural.encoder.packed import (
    GROUP,
    PACKED_FILE,
    STEP,
    Arrays,
    Matrix,
    arranged,
    pack,
    packed_files,
    read_packed,
    write_packed,
)
from rubricate.neural.training.network import Logits, Network, Shape
from rubricate.neural.training.products import OURS, use_products

INPUTS = ("note", "note_length", "feature", "owner", "position", "n_features")
OPSET = 17
#: An ONNX file in full precision, from which the one in eight bits is made, is under 2 GiB.
MOST_PARAMETERS = 500_000_000
_WORDS = "encoder.words."


class _CompactWords(nn.Module):
    """Embeddings in eight bits with one scale per row; ONNX Runtime's own has one for all rows."""

    table: Tensor
    scale: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("table", (weight / scale).round().to(torch.int8))

    def forward(self, pieces: Tensor) -> Tensor:
        return self.table[pieces].float() * self.scale[pieces]


def export_onnx(network: nn.Module, path: Path, *, folded: bool = True) -> None:
    """Write the network as an ONNX file; `folded`: with what can be computed from its weights."""
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
            output_names=list(Logits._fields),
            dynamic_axes={
                "note": {0: "passes", 1: "places"},
                "note_length": {0: "passes"},
                "feature": {0: "passes", 1: "pieces_of_features"},
                "owner": {0: "passes", 1: "pieces_of_features"},
                "position": {0: "passes", 1: "pieces_of_features"},
                "n_features": {0: "features"},
                **{name: {0: "passes", 1: "features"} for name in Logits._fields},
                PIECES: {0: "passes", 1: "features", 2: "places"},
            },
            opset_version=OPSET,
            custom_opsets={OURS: 1},
            do_constant_folding=folded,
            dynamo=False,
        )


def export_int8(network: Network, path: Path) -> None:
    """Write the network as an ONNX file whose encoder has weights in eight bits.

    Matrices have one scale per column (dynamic quantisation), words one per row; the scorer, small
    and at the end, stays whole. Of the eight bits matrices use seven: processors without VNNI add
    two products of an input and a weight in sixteen bits, which larger weights would overflow
    (2 * 255 * 64 is within them, 2 * 255 * 127 is not), so that files say the same everywhere.
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
                # Seven bits: without instructions for it a processor would saturate at eight.
                reduce_range=True,
                op_types_to_quantize=["MatMul"],
                nodes_to_exclude=[n.name for n in nodes if n.name.startswith("/scorer/")],
            )
        finally:
            root.setLevel(before)


def export_packed(network: Network, folder: Path, *, step: float = STEP) -> None:
    """Write the network as a graph and compressed files of weights.

    It multiplies in rows; with a step of 0, which leaves levels of every size, in blocks.
    """
    import onnx

    products = "rows" if step else "blocks"
    arrays: Arrays = {}
    matrices: dict[str, Matrix] = {}
    for name, parameter in network.named_parameters():
        value = parameter.detach().float().cpu().numpy()
        if _is_packed(name, value):
            matrices[name] = arrays[f"{name}|levels"], arrays[f"{name}|scales"] = pack(value, step)
        else:
            arrays[name] = value.astype(np.float16)
    handed = arranged(matrices, products)
    compact = copy.deepcopy(network).cpu()
    compact.encoder.replace_words(_CompactWords(compact.encoder.word_weights.detach()))
    use_products(compact.encoder, handed)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / NETWORK_FILE
        export_onnx(compact, whole, folded=False)
        model = onnx.load(whole)
    _hand_over(model.graph, handed)
    shorten_names(model.graph)
    onnx.save(model, folder / NETWORK_FILE)
    write_packed(folder, arrays, products)


def shorten_names(graph: Any) -> None:
    """Replace names used only inside a graph by numbers: the names take a tenth of a megabyte."""
    known = {one.name for part in (graph.input, graph.output, graph.initializer) for one in part}
    short: dict[str, str] = {}
    for node in graph.node:
        node.name = ""
        for names in (node.input, node.output):
            for k, name in enumerate(names):
                if name and name not in known:
                    names[k] = short.setdefault(name, f"v{len(short)}")


def _hand_over(graph: Any, handed: Arrays) -> None:
    """Leave out what is handed to the graph when it is opened."""
    from onnx import TensorProto

    for one in graph.initializer:
        if one.name in handed:
            one.ClearField("raw_data")
            one.data_location = TensorProto.EXTERNAL
            one.external_data.add(key="location", value=PACKED_FILE)


def _is_packed(name: str, value: F32) -> bool:
    """Tell whether a parameter is packed: words, and matrices of the encoder in whole blocks."""
    matrix = name.startswith("encoder.layers.") and value.ndim == 2
    return name.startswith(_WORDS) or (matrix and value.shape[1] % GROUP == 0)


def weights_of_onnx(path: Path) -> dict[str, Tensor]:
    """Return the weights of an exported network under the names its parameters have."""
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
    """Return the module that owns the weights of a node.

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


def read_network(folder: Path) -> Network:
    """Return the network of a model folder.

    The weights of our own encoder are taken back from the file it runs from; an encoder of the
    transformers library (which must be installed, a hub is not asked) has them beside it.
    """
    settings = folder / SETTINGS_FILE
    try:
        shape = Shape(**EncoderSettings.read(settings).shape)
    except TypeError as error:
        raise InputError([Fault("not the sizes of a network", settings)]) from error
    if shape.architecture is not None:
        return _read_wrapped(shape, folder)
    if packed_files(folder):
        weights = {name: torch.from_numpy(value) for name, value in read_packed(folder)}
    else:
        weights = weights_of_onnx(folder / NETWORK_FILE)
    network = Network(shape)
    own = network.state_dict()
    if {n: v.shape for n, v in own.items()} != {n: v.shape for n, v in weights.items()}:
        raise InputError([Fault("a network of another version; fit it again", folder)])
    network.load_state_dict(weights)
    return network


def write_network(network: Network, folder: Path, *, packed: bool = False) -> None:
    """Write the network into a model folder; `packed`: for products in blocks, exact and slower."""
    if packed:
        # What a fit changes is less than the step of the weights it goes on from.
        export_packed(network, folder, step=0.0)
    else:
        export_int8(network, folder / NETWORK_FILE)
    if network.shape.architecture is not None:
        _write_wrapped(network, folder)


def _read_wrapped(shape: Shape, folder: Path) -> Network:
    from rubricate.neural.training.backbone import WrappedEncoder, read_weights
    from rubricate.neural.training.hub import empty_model

    network = Network(shape, WrappedEncoder(empty_model(folder)))
    stored = read_weights(folder / WEIGHTS_FILE)
    own = dict(network.named_parameters())
    if stored.keys() != own.keys() or any(stored[n].shape != p.shape for n, p in own.items()):
        raise InputError([Fault("the weights of another network", folder / WEIGHTS_FILE)])
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(stored[name].float())
    return network


def _write_wrapped(network: Network, folder: Path) -> None:
    from safetensors.torch import save_file

    from rubricate.neural.training.backbone import WrappedEncoder
    from rubricate.values import write_json

    if not isinstance(network.encoder, WrappedEncoder):
        raise TypeError("a network whose shape names an architecture has a wrapped encoder")
    write_json(folder / CONFIG_FILE, network.encoder.plain_config())
    halves = {}
    for name, parameter in network.named_parameters():
        whole = parameter.detach().cpu()
        half = whole.half()
        # A weight that half precision cannot hold stays as it is.
        halves[name] = (half if bool(half.isfinite().all()) else whole).contiguous()
    save_file(halves, folder / WEIGHTS_FILE)
