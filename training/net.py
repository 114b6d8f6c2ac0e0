"""The network as it is trained: parameters named as in the package, weights in few bits on demand.

Encoder (BERT, or MPNet with relative places) and scorer with four channels and two verdicts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from packing import scales
from torch import Tensor, nn
from torch.nn.functional import (
    dropout,
    embedding,
    gelu,
    linear,
    scaled_dot_product_attention,
)

NOTE_FROM, NOTE_OWNER, NOBODY = 32, -2, -1
#: Near and far places, and two more for a feature's view of the note and the note's of a feature.
BUCKETS = 34


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    n_pieces: int = 30522
    dim: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    scorer_dim: int = 128
    relative: bool = False
    eps: float = 1e-12
    dropout: float = 0.1


MINI = Shape()
MPNET = Shape(dim=768, layers=12, heads=12, inner=3072, scorer_dim=256, relative=True, eps=1e-5)
SHAPES = {"mini": MINI, "mpnet": MPNET}


def fake5(weight: Tensor) -> Tensor:
    """Round to the levels that packed weights have; gradients pass."""
    w = weight.detach()
    scale = scales(w)
    return weight + ((w / scale).round() * scale - w)


def fake7(weight: Tensor) -> Tensor:
    """Round to the levels -64 to 64, one scale per row, as the file in eight bits does."""
    w = weight.detach()
    scale = w.abs().amax(1, keepdim=True).clamp(min=1e-8) / 64
    return weight + ((w / scale).round() * scale - w)


def fake8(x: Tensor) -> Tensor:
    """Round to 256 levels from the least to the most of a whole batch, as ONNX Runtime does."""
    own = x.detach().float()
    low, high = own.amin().clamp(max=0), own.amax().clamp(min=0)
    scale = ((high - low) / 255).clamp(min=1e-8)
    zero = (-low / scale).round()
    rounded = ((own / scale).round().clamp(-zero, 255 - zero)) * scale
    return x + (rounded - own).to(x.dtype)


class Linear(nn.Linear):
    """A matrix that can be had in five bits, or in eight with what it is multiplied with."""

    bits = 32

    def forward(self, x: Tensor) -> Tensor:
        """Multiply."""
        if self.bits == 8:
            return linear(fake8(x), fake7(self.weight), self.bias)
        return linear(x, fake5(self.weight) if self.bits == 5 else self.weight, self.bias)


class Words(nn.Embedding):
    """Word vectors that can be had in five bits."""

    bits = 32

    def forward(self, i: Tensor) -> Tensor:
        """Look up."""
        return embedding(i, fake5(self.weight) if self.bits == 5 else self.weight)


def few_bits(net: Network, bits: int) -> None:
    """Have the encoder compute in five or eight bits, or whole (32)."""
    for module in net.encoder.modules():
        if isinstance(module, Linear | Words):
            module.bits = bits


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, s: Shape) -> None:
        super().__init__()
        d = s.dim
        self.heads, self.dropout = s.heads, s.dropout
        self.query, self.key, self.value = Linear(d, d), Linear(d, d), Linear(d, d)
        self.mixed = Linear(d, d)
        self.attention_norm = nn.LayerNorm(d, eps=s.eps)
        self.wide, self.narrow = Linear(d, s.inner), Linear(s.inner, d)
        self.norm = nn.LayerNorm(d, eps=s.eps)

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        """Return the states after this layer."""
        count, long, wide = x.shape
        drop = self.dropout if self.training else 0.0
        query, key, value = (
            part(x).view(count, long, self.heads, wide // self.heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        m = scaled_dot_product_attention(query, key, value, attn_mask=seen, dropout_p=drop)
        mixed = self.mixed(m.transpose(1, 2).reshape(count, long, wide))
        x = self.attention_norm(x + dropout(mixed, drop, self.training))
        return self.norm(x + dropout(self.narrow(gelu(self.wide(x))), drop, self.training))


def bucket(distance: Tensor) -> Tensor:
    """Return the bucket of a distance between two places, as MPNet has them."""
    n = -distance
    out = (n < 0).long() * 16
    n = n.abs()
    far = (8 + (torch.log(n.clamp(min=1).float() / 8) / math.log(16) * 8).long()).clamp(max=15)
    return out + torch.where(n < 8, n, far)


class Encoder(nn.Module):
    """Words, places and layers."""

    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.shape = s
        self.words = Words(s.n_pieces, s.dim)
        self.positions = nn.Embedding(s.positions, s.dim)
        self.norm = nn.LayerNorm(s.dim, eps=s.eps)
        self.sides = nn.Embedding(2, s.dim)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        if s.relative:
            self.relative = nn.Embedding(BUCKETS, s.heads)

    def forward(self, pieces: Tensor, positions: Tensor, sides: Tensor, seen: Tensor) -> Tensor:
        """Return the state of each piece."""
        x = self.words(pieces) + self.positions(positions) + self.sides(sides)
        x = dropout(self.norm(x), self.shape.dropout, self.training)
        if self.shape.relative:
            b = bucket(positions.unsqueeze(1) - positions.unsqueeze(2))
            mine, theirs = sides.unsqueeze(2), sides.unsqueeze(1)
            b = torch.where(mine == theirs, b, 32 + mine)
            half = torch.get_autocast_dtype("cuda") if torch.is_autocast_enabled() else x.dtype
            bias = embedding(b, self.relative.weight.to(half)).permute(0, 3, 1, 2)
            seen = bias.masked_fill(~seen, -1e4).contiguous()
        for layer in self.layers:
            x = layer(x, seen)
        return x


class Scorer(nn.Module):
    """Outputs for each feature and piece, and for each feature."""

    def __init__(self, s: Shape) -> None:
        super().__init__()
        d, w = s.dim, s.scorer_dim
        self.piece, self.feature = nn.Linear(d, w), nn.Linear(d, w)
        self.piece_gate, self.feature_gate = nn.Linear(d, w), nn.Linear(d, w)
        self.norm = nn.LayerNorm(w)
        self.out = nn.Linear(w, 4)
        self.attend = nn.Linear(w, 1)
        self.presence = nn.Sequential(nn.Linear(2 * w, w), nn.GELU(), nn.Linear(w, 2))
        self.peak = nn.Parameter(torch.tensor([0.5, 0.5]))

    def forward(self, note: Tensor, features: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        """Return channels (inside, first, last, against) and verdicts (present, contradicted)."""
        own = self.feature(features)
        gated = self.piece_gate(note).unsqueeze(1) * self.feature_gate(features).unsqueeze(2)
        x = self.norm(self.piece(note).unsqueeze(1) + own.unsqueeze(2) + gated)
        pieces = self.out(x)
        outside = ~valid.view(note.shape[0], 1, note.shape[1])
        weight = self.attend(x).squeeze(-1).float().masked_fill(outside, -1e4).softmax(-1)
        pooled = (weight.unsqueeze(-1).to(x.dtype) * x).sum(2)
        high = pieces[..., 0::3].masked_fill(outside.unsqueeze(-1), -1e4).amax(2)
        return pieces, self.presence(torch.cat([pooled, own], -1)) + self.peak * high


class Network(nn.Module):
    """Encoder and scorer."""

    def __init__(self, s: Shape) -> None:
        super().__init__()
        self.shape = s
        self.encoder = Encoder(s)
        self.scorer = Scorer(s)

    def forward(
        self,
        note: Tensor,
        length: Tensor,
        feature: Tensor,
        owner: Tensor,
        position: Tensor,
        n: int,
    ) -> tuple[Tensor, Tensor]:
        """Return the outputs for notes and `n` features each, read together."""
        long, last = note.shape[1], self.shape.positions - 1
        place = torch.arange(long, device=note.device)
        valid = place.unsqueeze(0) < length.unsqueeze(1)
        owners = torch.cat([torch.where(valid, NOTE_OWNER, NOBODY), owner], 1)
        own = torch.where(place > 0, place + NOTE_FROM - 1, place).clamp(max=last)
        positions = [own.unsqueeze(0).expand_as(note), (position + 1).clamp(max=last)]
        sides = torch.cat([torch.ones_like(note), torch.zeros_like(feature)], 1)
        pieces = torch.cat([note, feature], 1)
        x = self.encoder(pieces, torch.cat(positions, 1), sides, sees(owners))
        numbers = torch.arange(n, device=note.device).view(1, -1, 1)
        mine = (owner.unsqueeze(1) == numbers).to(x.dtype)
        features = torch.matmul(mine, x[:, long:]) / mine.sum(2, keepdim=True).clamp(min=1.0)
        inner = valid & (place > 0) & (place < length.unsqueeze(1) - 1)
        return self.scorer(x[:, :long], features, inner)


def sees(owners: Tensor) -> Tensor:
    """Return the attention mask of pieces: a note sees all, a feature sees itself and the note."""
    looked = (owners != NOBODY).unsqueeze(1)
    same = owners.unsqueeze(2) == owners.unsqueeze(1)
    is_note = owners == NOTE_OWNER
    with_note = is_note.unsqueeze(1) | is_note.unsqueeze(2)
    return ((same | with_note) & looked | (same & ~looked)).unsqueeze(1)
