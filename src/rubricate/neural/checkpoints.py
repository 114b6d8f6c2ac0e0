"""A training run on disk: tensors and facts, written whole, so that a kill loses little."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """Weights, averages and optimizer state by name, and what is needed to go on."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint as one safetensors file; the old one stays until the new is whole."""
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    whole = {name: tensor.contiguous().cpu() for name, tensor in checkpoint.tensors.items()}
    save_file(whole, fresh, metadata={"facts": json.dumps(checkpoint.facts)})
    fresh.replace(path)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """Return the checkpoint at this path, or None where there is none."""
    from safetensors import safe_open

    if not path.is_file():
        return None
    with safe_open(path, framework="pt") as stored:
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        facts = json.loads(stored.metadata()["facts"])
    return Checkpoint(tensors, facts)
