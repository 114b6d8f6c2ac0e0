"""Products in the file of a packed network: with matrices of levels, in eight bits.

What a matrix is multiplied with is rounded when the network runs. One scale for a whole text is
too coarse, since a few numbers of every place are twenty times as large as the others. Two ways
are finer:

- in rows: one scale for each place, and the few large numbers in full precision. It takes two
  thirds of the time of the other. Processors that add products in sixteen bits need small levels
  for it, as those that are `rubricate.neural.encoder.packed.STEP` apart are.
- in blocks: one scale for every `GROUP` numbers of a place, for levels of any size.

The modules here are exported and never run by torch: what they return has the right shape and no
more.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rubricate.neural.encoder.packed import GROUP, Arrays

#: Name that ONNX Runtime has for the operations that are its own.
OURS = "com.microsoft"
#: ONNX Runtime's number for products in eight bits that are summed in full precision.
EIGHT_BIT_SUMS = 4
#: Numbers of a place after a norm that are multiplied in full precision. Products are off by 2.2 %
#: with none, .5 % with 4 and .4 % with 16; in blocks by 1 % (seven notes, all layers).
N_WHOLE = 4
#: The level of 0: the middle one, and a low one after GELU, which is never below `LEAST_GELU`.
MIDDLE, LOW, HIGHEST = 128, 32, 255
LEAST_GELU = -0.17
#: Scale of a place with nothing but zeros, by which they are divided.
SMALLEST = 1e-12


def _shaped(product: Any, given: Any, width: int) -> Any:
    """Tell the exporter a shape it cannot find out: passes and places vary."""
    return product.setType(given.type().with_sizes([None, None, width]))


class _RowProduct(torch.autograd.Function):
    """The product of each place, rounded with a scale of its own, and a matrix of levels."""

    @staticmethod
    def forward(context: Any, given: Tensor, levels: Tensor, scales: Tensor, zero: int) -> Tensor:
        return given.new_empty((*given.shape[:-1], len(scales)))

    @staticmethod
    def symbolic(graph: Any, given: Any, levels: Any, scales: Any, zero: int) -> Any:
        def number(value: Tensor) -> Any:
            return graph.op("Constant", value_t=value)

        least = SMALLEST if zero == MIDDLE else LEAST_GELU / -zero
        size = graph.op("Abs", given) if zero == MIDDLE else given
        largest = graph.op("ReduceMax", size, axes_i=[-1], keepdims_i=1)
        fitting = graph.op("Div", largest, number(torch.tensor(float(HIGHEST - zero))))
        scale = graph.op("Max", fitting, number(torch.tensor(least)))
        one, nothing = number(torch.tensor(1.0)), number(torch.tensor(zero, dtype=torch.uint8))
        rounded = graph.op("QuantizeLinear", graph.op("Div", given, scale), one, nothing)
        product = graph.op(f"{OURS}::MatMulIntegerToFloat", rounded, levels, one, scales, nothing)
        return _shaped(graph.op("Mul", product, scale), given, scales.type().sizes()[0])


class _Product(nn.Module):
    """A linear layer with arrays that are handed to the file when it is opened."""

    scales: Tensor

    def __init__(self, linear: nn.Linear, handed: Arrays) -> None:
        super().__init__()
        for name, value in handed.items():
            self.register_buffer(name, torch.from_numpy(value))
        self.bias = linear.bias


class InRows(_Product):
    """A linear layer that multiplies place by place; ``zero`` is the level of 0."""

    levels: Tensor

    def __init__(self, linear: nn.Linear, handed: Arrays, *, zero: int = MIDDLE) -> None:
        super().__init__(linear, handed)
        self.zero = zero

    def forward(self, given: Tensor) -> Tensor:
        """Return a tensor of the right shape; the exported nodes compute it."""
        own = given, self.levels, self.scales, self.zero
        product: Tensor = _RowProduct.apply(*own)  # type: ignore[no-untyped-call]
        return product + self.bias


class AfterNorm(InRows):
    """A linear layer that multiplies place by place, the largest numbers of a norm in full."""

    columns: Tensor
    others: Tensor

    def __init__(self, linear: nn.Linear, handed: Arrays, norm: nn.LayerNorm) -> None:
        super().__init__(linear, handed)
        # What a norm makes of numbers within three standard deviations.
        reach = norm.bias.detach().abs() + 3 * norm.weight.detach().abs()
        columns = reach.topk(N_WHOLE).indices.sort().values
        self.register_buffer("columns", columns)
        self.register_buffer("others", torch.ones_like(reach).index_fill(0, columns, 0.0))

    def forward(self, given: Tensor) -> Tensor:
        """Return a tensor of the right shape; the exported nodes compute it."""
        # Taken from the levels when the file is opened, so that it need not hold them as well.
        whole = self.levels[self.columns].float() * self.scales
        return super().forward(given * self.others) + given[..., self.columns] @ whole


class _BlockProduct(torch.autograd.Function):
    """The product of places, rounded in blocks, and a matrix of blocks."""

    @staticmethod
    def forward(context: Any, given: Tensor, blocks: Tensor, scales: Tensor) -> Tensor:
        return given.new_empty((*given.shape[:-1], len(blocks)))

    @staticmethod
    def symbolic(graph: Any, given: Any, blocks: Any, scales: Any) -> Any:
        n_out, n_groups, _ = blocks.type().sizes()
        product = graph.op(
            f"{OURS}::MatMulNBits", given, blocks, scales, K_i=n_groups * GROUP, N_i=n_out,
            bits_i=8, block_size_i=GROUP, accuracy_level_i=EIGHT_BIT_SUMS,
        )  # fmt: skip
        return _shaped(product, given, n_out)


class InBlocks(_Product):
    """A linear layer that multiplies block by block."""

    blocks: Tensor

    def forward(self, given: Tensor) -> Tensor:
        """Return a tensor of the right shape; the exported node computes it."""
        own = given, self.blocks, self.scales
        product: Tensor = _BlockProduct.apply(*own)  # type: ignore[no-untyped-call]
        return product + self.bias


def use_products(encoder: Any, handed: Arrays) -> None:
    """Let the layers of an encoder multiply with what is handed to their file."""
    for number, layer in enumerate(encoder.layers):
        for name, linear in list(layer.named_children()):
            owner = f"encoder.layers.{number}.{name}."
            own = {key.removeprefix(owner): v for key, v in handed.items() if key.startswith(owner)}
            if "blocks" in own:
                setattr(layer, name, InBlocks(linear, own))
            elif own and name == "wide":
                setattr(layer, name, AfterNorm(linear, own, layer.attention_norm))
            elif own:
                setattr(layer, name, InRows(linear, own, zero=LOW if name == "narrow" else MIDDLE))
