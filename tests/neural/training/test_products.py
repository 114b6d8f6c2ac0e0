from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from rubricate.errors import InputError
from rubricate.neural.encoder.inference import OnnxEngine
from rubricate.neural.encoder.model_folder import NETWORK_FILE, SETTINGS_FILE, EncoderSettings
from rubricate.neural.encoder.packed import PACKED_FILE, PRODUCTS, STEP, pack, unpack
from rubricate.neural.encoder.pieces import Pass, PieceMaker, make_batch
from rubricate.neural.training.export import OPSET, export_packed, read_network
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Network, Shape
from rubricate.neural.training.products import LOW, MIDDLE, OURS, AfterNorm, InRows


def off(maker: PieceMaker, folder: Path, *, step: float) -> float:
    """Write a network, and return how far its logits are from those of its rounded weights."""
    torch.manual_seed(3)
    shape = Shape(
        n_pieces=maker.n_pieces, dim=128, layers=2, heads=4, inner=256, positions=64, scorer_dim=16,
        relative=True,
    )  # fmt: skip
    EncoderSettings(shape=asdict(shape)).write(folder / SETTINGS_FILE)
    export_packed(Network(shape).eval(), folder, step=step)
    note = np.arange(6, 46, dtype=np.int32)
    batch = make_batch([Pass(note, (note[:2], note[3:4])), Pass(note, (note[1:2],))], maker.special)
    with torch.no_grad():
        ours = read_network(folder).eval()(*tensors(batch, torch.device("cpu")))
    said = OnnxEngine(folder / NETWORK_FILE, threads=1)(batch)
    return float(np.abs(said["pieces"] - ours.pieces.numpy())[:, 0].max())


def product_error(module: nn.Module, given: Tensor, wanted: Tensor, path: Path) -> float:
    """Return the difference of an exported module from the product, as a share of the product."""
    torch.onnx.export(
        module, (given,), str(path), input_names=["given"], dynamo=False, opset_version=OPSET,
        custom_opsets={OURS: 1},
    )  # fmt: skip
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (said,) = session.run(None, {"given": given.numpy()})
    return float(np.linalg.norm(said - wanted.numpy()) / np.linalg.norm(wanted.numpy()))


@pytest.mark.parametrize("step", [STEP, 0.0])
def test_products_are_those_of_the_rounded_matrices(
    maker: PieceMaker, tmp_path: Path, step: float
) -> None:
    assert off(maker, tmp_path, step=step) < 0.05
    kind = json.loads((tmp_path / PACKED_FILE).read_text())["products"]
    assert kind == ("rows" if step else "blocks")


@pytest.mark.filterwarnings("ignore")
def test_a_few_large_numbers_leave_the_others_their_levels(tmp_path: Path) -> None:
    torch.manual_seed(3)
    linear, norm = nn.Linear(256, 128), nn.LayerNorm(256)
    with torch.no_grad():
        norm.weight[[5, 77]] *= 40
        levels, scales = pack(linear.weight.numpy())
        linear.weight.copy_(torch.from_numpy(unpack(levels, scales)))
        given = norm(torch.randn(1, 9, 256))
        wanted = linear(given)
    handed = PRODUCTS["rows"](levels, scales)
    path = tmp_path / "one.onnx"
    rows, whole = (
        product_error(module, given, wanted, path)
        for module in (InRows(linear, handed), AfterNorm(linear, handed, norm))
    )
    assert whole < 0.003 < 3 * whole < rows


@pytest.mark.filterwarnings("ignore")
def test_after_gelu_nearly_all_levels_are_for_what_is_above_zero(tmp_path: Path) -> None:
    torch.manual_seed(3)
    linear = nn.Linear(256, 128)
    with torch.no_grad():
        levels, scales = pack(linear.weight.numpy())
        linear.weight.copy_(torch.from_numpy(unpack(levels, scales)))
        given = functional.gelu(3 * torch.randn(1, 9, 256))
        given[0, 0] = 0.0
        wanted = linear(given)
    handed = PRODUCTS["rows"](levels, scales)
    path = tmp_path / "one.onnx"
    middle, low = (
        product_error(InRows(linear, handed, zero=zero), given, wanted, path)
        for zero in (MIDDLE, LOW)
    )
    assert low < 0.7 * middle < 0.01


def test_files_of_before_multiply_in_blocks(maker: PieceMaker, tmp_path: Path) -> None:
    off(maker, tmp_path, step=0.0)
    path = tmp_path / PACKED_FILE
    listed = json.loads(path.read_text())
    del listed["products"]
    path.write_text(json.dumps(listed))
    OnnxEngine(tmp_path / NETWORK_FILE, threads=1)
    path.write_text(json.dumps({**listed, "products": "columns"}))
    with pytest.raises(InputError, match="rows or blocks"):
        OnnxEngine(tmp_path / NETWORK_FILE, threads=1)
