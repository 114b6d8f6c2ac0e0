"""A training run on disk: tensors and facts, written whole, so that a kill loses little."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rubricate.errors import Fault, InputError


@dataclass(frozen=True, eq=False, slots=True)
class Checkpoint:
    """Weights, averages and optimizer state by name, and what is needed to go on."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


#: What reading a file raises that is broken or none of ours, however it came about.
_BROKEN = (ArithmeticError, EOFError, LookupError, OSError, RuntimeError, TypeError, ValueError)


class StageFiles(NamedTuple):
    """Files in which a training run keeps its state and its best weights; None keeps neither."""

    running: Path | None = None
    best: Path | None = None


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
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as stored:
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
            facts = json.loads(stored.metadata()["facts"])
            if not isinstance(facts, dict):
                raise TypeError
            return Checkpoint(tensors, facts)
    except (SafetensorError, *_BROKEN) as error:
        raise InputError([Fault("not a checkpoint of a training run", path)]) from error


def parameters_of(network: nn.Module) -> dict[str, Tensor]:
    """Return a copy of the weights by name."""
    return {name: value.detach().clone() for name, value in network.named_parameters()}


@torch.no_grad()
def load_parameters(network: nn.Module, values: Mapping[str, Tensor]) -> None:
    """Put weights by name into a network that has the same ones."""
    for name, parameter in network.named_parameters():
        parameter.copy_(values[name])


class StageStore:
    """The stages of one fit in a folder: those finished, and the one under way."""

    def __init__(self, folder: Path | None, key: str) -> None:
        self._folder = folder
        if folder is None:
            return
        if folder.exists() and not folder.is_dir():
            raise InputError([Fault("the checkpoint is a file; need a folder", folder)])
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / "fit.json"
        if mark.is_file() and mark.read_bytes() != key.encode():
            text = "holds another fit (other notes, options or start); delete it or name another"
            raise InputError([Fault(text, folder)])
        mark.write_bytes(key.encode())

    def kept(self, stage: str) -> StageFiles:
        """Return the files in which a stage keeps its state and its best weights while it runs."""
        if self._folder is None:
            return StageFiles()
        return StageFiles(self._folder / f"{stage}.running", self._folder / f"{stage}.best")

    def finished(self, stage: str) -> Checkpoint | None:
        """Return the weights and facts a stage ended with, if it did."""
        if self._folder is None:
            return None
        return read_checkpoint(self._folder / f"{stage}.safetensors")

    def finish(self, stage: str, checkpoint: Checkpoint) -> None:
        """Keep what a stage ended with in place of its state."""
        if self._folder is None:
            return
        write_checkpoint(self._folder / f"{stage}.safetensors", checkpoint)
        for path in self.kept(stage):
            if path is not None:
                path.unlink(missing_ok=True)
