"""Weights in few bits for transport: rows of eight bits, or groups of four bits.

``python packing.py ONE OTHER OUT`` writes the mean of two networks in four bits.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

Weights = dict[str, Tensor]
#: Bytes of a part, at most.
PART = 15.5e6


def rows8(weights: Mapping[str, Tensor]) -> Weights:
    """Return matrices in eight bits, one scale for each row; all else in half precision."""
    out = {}
    for name, value in weights.items():
        if not value.is_floating_point() or "pooler" in name or "position_ids" in name:
            continue
        t = value.detach().float().cpu()
        if t.ndim == 2 and t.shape[1] >= 64:
            scale = (t.abs().amax(1, keepdim=True) / 127).clamp(min=1e-8)
            levels = (t / scale).round().clamp(-127, 127)
            out[name + "|q"] = levels.to(torch.int8).contiguous()
            out[name + "|s"] = scale.half().contiguous()
        else:
            out[name] = t.half().contiguous()
    return out


def scales4(groups: Tensor) -> Tensor:
    """Return the scale of each group of four-bit weights: its largest weight has level -8."""
    top = groups.gather(-1, groups.abs().argmax(-1, keepdim=True))
    scale = top / -8
    return torch.where(scale.abs() < 1e-8, torch.full_like(scale, 1e-8), scale).half()


def groups4(weights: Mapping[str, Tensor], group: int = 32) -> Weights:
    """Return matrices of the encoder in four bits; all else in half precision."""
    out = {}
    for name, value in weights.items():
        t = value.detach().float().cpu()
        large = t.ndim == 2 and min(t.shape) >= 64
        if large and name.startswith("encoder.") and "positions" not in name:
            x = t.reshape(t.shape[0], -1, group)
            scale = scales4(x)
            levels = (x / scale.float()).round().clamp(-8, 7) + 8
            q = levels.to(torch.uint8).reshape(t.shape)
            out[name + "|4"] = (q[:, 0::2] | (q[:, 1::2] << 4)).contiguous()
            out[name + "|g"] = scale.squeeze(-1).contiguous()
        else:
            out[name] = t.half().contiguous()
    return out


def unpack(raw: Mapping[str, Tensor]) -> Weights:
    """Return packed weights as floats."""
    out = {}
    for name, t in raw.items():
        stem = name[:-2]
        if name.endswith("|q"):
            out[stem] = t.float() * raw[stem + "|s"].float()
        elif name.endswith("|4"):
            scale = raw[stem + "|g"].float().unsqueeze(-1)
            q = torch.stack([t & 15, t >> 4], -1).reshape(t.shape[0], -1).float() - 8
            out[stem] = (q.reshape(t.shape[0], scale.shape[1], -1) * scale).reshape(t.shape[0], -1)
        elif not name.endswith(("|s", "|g")):
            out[name] = t.float()
    return out


def save_parts(packed: Weights, stem: Path, most: float) -> int:
    """Write files ``stem.0.safetensors`` and so on of at most so many bytes; return how many."""
    part: Weights = {}
    size, k = 0, 0
    for name, t in packed.items():
        more = t.numel() * t.element_size()
        if size + more > most and part:
            save_file(part, f"{stem}.{k}.safetensors")
            k += 1
            part, size = {}, 0
        part[name] = t
        size += more
    save_file(part, f"{stem}.{k}.safetensors")
    return k + 1


def load_parts(stem: Path) -> Weights:
    """Return the weights of all parts, as floats."""
    raw: Weights = {}
    for path in sorted(stem.parent.glob(f"{stem.name}.*.safetensors")):
        raw.update(load_file(path))
    if not raw:
        raise SystemExit(f"no weights {stem}.0.safetensors: give the stem of the parts")
    return unpack(raw)


if __name__ == "__main__":
    one, other = (load_parts(Path(stem)) for stem in sys.argv[1:3])
    mean = {name: (value + other[name]) / 2 for name, value in one.items()}
    print(save_parts(groups4(mean), Path(sys.argv[3]), PART), "parts")
