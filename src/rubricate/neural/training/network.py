"""The network: an encoder over note and features, and a scorer of every piece for each feature.

All features of a pass stand beside the note in one sequence. A feature's pieces see themselves
and the note, never another feature; the note sees everything. Positions start anew in each
feature. So a feature is read the same way whether it comes alone or with fifteen others, and
the number of features per pass is a dial that needs no other weights. Encoders that cannot be told
so (`Shape.separate` is False) read features in their order, and these see each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from rubricate.errors import InputError
from rubricate.neural.encoder.inference import CHANNELS
from rubricate.neural.encoder.pieces import NOBODY

#: First position of a note's pieces; features come before it, however many there are.
NOTE_FROM = 32
NOTE_OWNER = -2
#: What attention adds where a place must not be seen.
UNSEEN = -1e4
#: Positions from which on all of a note's window has positions of its own.
ENOUGH_POSITIONS = 512
#: With fewer positions than this there would be no room for a note.
FEWEST_POSITIONS = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a network; ``settings.json`` of a saved one holds them.

    ``architecture`` is None for our own encoder, otherwise the ``model_type`` of the one of the
    transformers library. ``separate`` says whether each feature is read as if it came alone,
    ``relative`` whether attention knows how far apart places are, as MPNet's does.
    """

    n_pieces: int = 30522
    dim: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    scorer_dim: int = 128
    scorer_layers: int = 0
    scorer_heads: int = 4
    separate: bool = True
    relative: bool = False
    epsilon: float = 1e-12
    dropout: float = 0.1
    architecture: str | None = None


class Logits(NamedTuple):
    """Outputs of the network, before the sigmoid.

    ``pieces`` is (pass, feature, place, channel) for the places of `Batch.note`, see
    `rubricate.neural.encoder.inference.CHANNELS`; the others are (pass, feature).
    """

    pieces: Tensor
    presence: Tensor
    contradiction: Tensor


class _ExportedAttention(torch.autograd.Function):
    """Attention as an exported file has it: one node, which takes half the time of a dozen."""

    @staticmethod
    def forward(
        context: Any, query: Tensor, key: Tensor, value: Tensor, weight: Tensor, heads: int
    ) -> Tensor:
        return torch.empty_like(query)

    @staticmethod
    def symbolic(graph: Any, query: Any, key: Any, value: Any, weight: Any, heads: int) -> Any:
        absent = graph.op("prim::Constant")
        absent.setType(torch._C.OptionalType.ofTensor())
        return graph.op(
            "com.microsoft::MultiHeadAttention", query, key, value, absent, absent, weight,
            num_heads_i=heads,
        ).setType(query.type())  # fmt: skip


class Layer(nn.Module):
    """One transformer layer with the normalisation after each part, as BERT has it."""

    def __init__(
        self, dim: int, heads: int, inner: int, dropout: float, epsilon: float = 1e-12
    ) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.mixed = nn.Linear(dim, dim)
        self.attention_norm = nn.LayerNorm(dim, eps=epsilon)
        self.wide = nn.Linear(dim, inner)
        self.narrow = nn.Linear(inner, dim)
        self.norm = nn.LayerNorm(dim, eps=epsilon)
        self.dropout = dropout

    def forward(self, states: Tensor, seen: Tensor) -> Tensor:
        """Return new states; ``seen`` says which place may look at which, or how much more."""
        dropout = self.dropout if self.training else 0.0
        mixed = self.mixed(self._attention(states, seen, dropout))
        states = self.attention_norm(states + functional.dropout(mixed, dropout, self.training))
        wide = self.narrow(functional.gelu(self.wide(states)))
        normed: Tensor = self.norm(states + functional.dropout(wide, dropout, self.training))
        return normed

    def _attention(self, states: Tensor, seen: Tensor, dropout: float) -> Tensor:
        size, length, dim = states.shape
        query, key, value = self.query(states), self.key(states), self.value(states)
        if torch.onnx.is_in_onnx_export() and seen.is_floating_point():
            own = query, key, value, seen, self.heads
            exported: Tensor = _ExportedAttention.apply(*own)  # type: ignore[no-untyped-call]
            return exported

        def split(x: Tensor) -> Tensor:
            return x.view(size, length, self.heads, dim // self.heads).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            split(query),
            split(key),
            split(value),
            attn_mask=seen,
            # A processor's fast kernel has no dropout: with it a step takes about twice as long.
            dropout_p=dropout if states.is_cuda else 0.0,
        )
        return mixed.transpose(1, 2).reshape(size, length, dim)


#: How many distances attention tells apart: those of MPNet, and two between note and feature.
BUCKETS = 34
FARTHEST = 128


def bucket(distance: Tensor) -> Tensor:
    """Return the number of each distance as MPNet counts them, after T5 (Raffel et al. 2020).

    Distances under 8 have a number each, larger ones share it by powers, from 128 on all do;
    places before and after are told apart.

    >>> bucket(torch.tensor([0, 1, -1, 7, 100, 500])).tolist()
    [0, 17, 1, 23, 31, 31]
    """
    size = distance.abs()
    power = torch.log(size.clamp(min=1).float() / 8) / math.log(FARTHEST / 8) * 8
    far = (8 + power.long()).clamp(max=15)
    return torch.where(distance > 0, 16, 0) + torch.where(size < 8, size, far)


class Encoder(nn.Module):
    """BERT's embeddings and layers, with positions and visibility given from outside.

    With ``Shape.relative`` it is MPNet's: attention also weighs how far apart two places are. A
    feature and the note have no distance: each direction between them has a bucket of its own.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.n_pieces, shape.dim)
        self.positions = nn.Embedding(shape.positions, shape.dim)
        self.sides = nn.Embedding(2, shape.dim)
        self.norm = nn.LayerNorm(shape.dim, eps=shape.epsilon)
        self.layers = nn.ModuleList(
            Layer(shape.dim, shape.heads, shape.inner, shape.dropout, shape.epsilon)
            for _ in range(shape.layers)
        )
        self.relative = nn.Embedding(BUCKETS, shape.heads) if shape.relative else None
        self.dropout = shape.dropout

    def forward(self, pieces: Tensor, positions: Tensor, sides: Tensor, seen: Tensor) -> Tensor:
        """Return the last layer's states."""
        states = self.words(pieces) + self.positions(positions) + self.sides(sides)
        states = functional.dropout(self.norm(states), self.dropout, self.training)
        if self.relative is not None:
            own, other = sides.unsqueeze(2), sides.unsqueeze(1)
            apart = bucket(positions.unsqueeze(1) - positions.unsqueeze(2))
            apart = torch.where(own == other, apart, BUCKETS - 2 + own)
            weight = self.relative(apart).permute(0, 3, 1, 2)
            if torch.is_autocast_enabled(states.device.type):
                weight = weight.to(torch.get_autocast_dtype(states.device.type))
            seen = weight.masked_fill(~seen, UNSEEN)
        elif torch.onnx.is_in_onnx_export():
            seen = torch.zeros_like(seen, dtype=states.dtype).masked_fill(~seen, UNSEEN)
        for layer in self.layers:
            states = layer(states, seen)
        last: Tensor = states
        return last

    @property
    def word_weights(self) -> Tensor:
        """Embeddings of the words before the first layer, one row per piece."""
        return self.words.weight

    def replace_words(self, words: nn.Module) -> None:
        """Let another module look words up."""
        self.words = words  # type: ignore[assignment]

    def depth(self, name: str) -> int:
        """Return the number of layers up to and with the one of this parameter; 0 for words."""
        parts = name.split(".")
        return int(parts[1]) + 1 if parts[0] == "layers" else 0


class Scorer(nn.Module):
    """Scores every piece of the note for each feature, each feature's pieces among themselves.

    A piece and a feature meet as a sum and as a product. Small transformer layers may let the
    pieces compare themselves for each feature; they brought nothing on our notes, so there are
    none unless asked for.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        dim, width = shape.dim, shape.scorer_dim
        self.piece = nn.Linear(dim, width)
        self.feature = nn.Linear(dim, width)
        self.piece_gate = nn.Linear(dim, width)
        self.feature_gate = nn.Linear(dim, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            Layer(width, shape.scorer_heads, 2 * width, shape.dropout)
            for _ in range(shape.scorer_layers)
        )
        self.out = nn.Linear(width, len(CHANNELS))
        self.attend = nn.Linear(width, 1)
        # Two verdicts: the feature is present, and the note contradicts it.
        self.presence = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, 2))
        self.peak = nn.Parameter(torch.tensor([0.5, 0.5]))

    def forward(self, note: Tensor, features: Tensor, valid: Tensor) -> Logits:
        """Return logits for (pass, feature, place)."""
        size, length, _ = note.shape
        count = features.shape[1]
        own = self.feature(features)
        gated = self.piece_gate(note).unsqueeze(1) * self.feature_gate(features).unsqueeze(2)
        states = self.norm(self.piece(note).unsqueeze(1) + own.unsqueeze(2) + gated)
        states = states.view(size * count, length, -1)
        seen = valid.view(size, 1, 1, 1, length).expand(size, count, 1, 1, length)
        seen = seen.reshape(size * count, 1, 1, length)
        for layer in self.layers:
            states = layer(states, seen)
        states = states.view(size, count, length, -1)
        pieces = self.out(states)
        outside = ~valid.view(size, 1, length)
        weight = self.attend(states)[..., 0].float().masked_fill(outside, -1e4).softmax(-1)
        pooled = (weight.unsqueeze(-1).to(states.dtype) * states).sum(2)
        # Of the channels the first and the fourth: inside, and among contradicting words.
        highest = pieces[..., 0::3].masked_fill(outside.unsqueeze(-1), UNSEEN).amax(2)
        verdicts = self.presence(torch.cat([pooled, own], dim=-1)) + self.peak * highest
        return Logits(pieces, verdicts[..., 0], verdicts[..., 1])


class AnyEncoder(Protocol):
    """Protocol that a network's encoder follows, ours or another's."""

    @property
    def word_weights(self) -> Tensor:
        """Embeddings of the words before the first layer, one row per piece."""
        ...

    def replace_words(self, words: nn.Module) -> None:
        """Let another module look words up."""
        ...

    def depth(self, name: str) -> int:
        """Return the number of layers up to and with the one of this parameter; 0 for words."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """Return all that is learned."""
        ...

    def __call__(self, pieces: Tensor, positions: Tensor, sides: Tensor, seen: Tensor) -> Tensor:
        """Return the last layer's states."""
        ...


class Network(nn.Module):
    """Encoder and scorer; its inputs are the arrays of a `Batch`."""

    encoder: AnyEncoder

    def __init__(self, shape: Shape, encoder: nn.Module | None = None) -> None:
        super().__init__()
        if shape.positions < FEWEST_POSITIONS:
            raise InputError(
                f"the encoder has {shape.positions} positions; need at least {FEWEST_POSITIONS}"
            )
        self.shape = shape
        self.encoder = Encoder(shape) if encoder is None else encoder  # type: ignore[assignment]
        self.scorer = Scorer(shape)

    def forward(
        self,
        note: Tensor,
        note_length: Tensor,
        feature: Tensor,
        owner: Tensor,
        position: Tensor,
        n_features: Tensor,
    ) -> Logits:
        """Return the logits of every output; ``n_features`` is an arange."""
        length = note.shape[1]
        place = torch.arange(length, device=note.device)
        valid = place.unsqueeze(0) < note_length.unsqueeze(1)
        note_owner = torch.where(valid, NOTE_OWNER, NOBODY)
        owners = torch.cat([note_owner, owner], dim=1)
        note_position, block = self.note_places(place)
        feature_position = (position + 1).clamp(max=self.shape.positions - 1)
        positions = torch.cat([note_position.unsqueeze(0).expand_as(note), feature_position], dim=1)
        sides = torch.cat([torch.ones_like(note), torch.zeros_like(feature)], dim=1)
        seen = self._seen(owners)
        if block is not None:
            blocks = torch.cat([block, torch.zeros_like(feature[0])])
            seen = seen & sees_block(blocks)
        states = self.encoder(torch.cat([note, feature], dim=1), positions, sides, seen)
        features = _pooled(states[:, length:], owner, n_features)
        # The start and stop pieces are no part of a note: no annotation may lie on them.
        inner = valid & (place > 0) & (place < note_length.unsqueeze(1) - 1)
        logits: Logits = self.scorer(states[:, :length], features, inner)
        return logits

    def depth(self, name: str) -> int | None:
        """Return the layer a parameter of the encoder is in, from 1 up; 0 is below all layers.

        None is a parameter of the scorer.
        """
        part, _, own = name.partition(".")
        return self.encoder.depth(own) if part == "encoder" else None

    def note_places(self, place: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the positions of a note's places, and the block each is in, where there are any.

        A model with few positions reads a note in blocks: positions begin anew in each, and no
        block sees another. Block 0 is the start piece, which sees and is seen by all.
        """
        if self.shape.positions >= ENOUGH_POSITIONS:
            position = torch.where(place > 0, place + (NOTE_FROM - 1), place)
            return position.clamp(max=self.shape.positions - 1), None
        room = self.shape.positions - NOTE_FROM
        inner = (place - 1).clamp(min=0)
        position = torch.where(place > 0, inner % room + NOTE_FROM, place)
        return position, torch.where(place > 0, inner // room + 1, place)

    def _seen(self, owners: Tensor) -> Tensor:
        """Attention mask: all pieces see the note, the note sees all, a feature sees itself."""
        looked_at = (owners != NOBODY).unsqueeze(1)
        if not self.shape.separate:
            return looked_at.expand(-1, owners.shape[1], -1).unsqueeze(1)
        same = owners.unsqueeze(2) == owners.unsqueeze(1)
        with_note = (owners == NOTE_OWNER).unsqueeze(1) | (owners == NOTE_OWNER).unsqueeze(2)
        return ((same | with_note) & looked_at | (same & ~looked_at)).unsqueeze(1)


def sees_block(block: Tensor) -> Tensor:
    """Tell which places of a sequence may see which, for the blocks they are in.

    >>> sees_block(torch.tensor([0, 1, 2])).int().tolist()
    [[1, 1, 1], [1, 1, 0], [1, 0, 1]]
    """
    own, other = block.unsqueeze(1), block.unsqueeze(0)
    return (own == other) | (own == 0) | (other == 0)


def _pooled(states: Tensor, owner: Tensor, n_features: Tensor) -> Tensor:
    """Return the mean state of each feature's pieces."""
    mine = (owner.unsqueeze(1) == n_features.view(1, -1, 1)).to(states.dtype)
    return torch.matmul(mine, states) / mine.sum(2, keepdim=True).clamp(min=1.0)
