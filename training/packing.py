"""Weights in few bits for transport: rows of eight bits, or compressed levels."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

Weights = dict[str, Tensor]
#: Bytes of a part, at most.
PART = 15.5e6
#: As in `rubricate.neural.encoder.packed`, which the machine that trains need not have.
STEP = 0.14


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


def scales(rows: Tensor) -> Tensor:
    """Return the scale of each row of packed weights, as the package has it."""
    spread = rows.float().std(1, correction=0, keepdim=True) * STEP
    return torch.maximum(spread, rows.abs().amax(1, keepdim=True) / 127).clamp(min=1e-30)


def levels5(weights: Mapping[str, Tensor]) -> Weights:
    """Return matrices of the encoder as compressed levels; all else in half precision."""
    out = {}
    for name, value in weights.items():
        t = value.detach().float().cpu()
        large = t.ndim == 2 and min(t.shape) >= 64
        if large and name.startswith("encoder.") and "positions" not in name:
            scale = scales(t)
            coder = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
            levels = (t / scale).round().to(torch.int8).numpy().tobytes()
            raw = bytearray(coder.compress(levels) + coder.flush())
            out[name + "|z"] = torch.frombuffer(raw, dtype=torch.uint8)
            out[name + "|f"] = scale
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
        elif name.endswith("|z"):
            scale = raw[stem + "|f"]
            levels = torch.frombuffer(bytearray(zlib.decompress(t.numpy())), dtype=torch.int8)
            out[stem] = levels.reshape(len(scale), -1).float() * scale
        elif not name.endswith(("|s", "|f")):
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


def mean(stems: list[Path]) -> Weights:
    """Return the mean of the weights of networks that went on from the same one."""
    networks = [load_parts(stem) for stem in stems]
    return {name: sum(own[name] for own in networks) / len(networks) for name in networks[0]}
