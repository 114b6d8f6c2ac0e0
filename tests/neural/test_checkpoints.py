from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.checkpoints import (
    Checkpoint,
    StageStore,
    load_parameters,
    parameters_of,
    read_checkpoint,
    write_checkpoint,
)
from rubricate.neural.network import Network


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "c"
    write_checkpoint(path, Checkpoint({"a": torch.arange(6).reshape(2, 3).T}, {"x": [1, 0.1]}))
    found = read_checkpoint(path)
    assert found is not None
    assert torch.equal(found.tensors["a"], torch.arange(6).reshape(2, 3).T)
    assert found.facts == {"x": [1, 0.1]}
    assert read_checkpoint(tmp_path / "none") is None


def test_weights_go_back_into_a_network(network: Network) -> None:
    before = parameters_of(network)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1.0)
    load_parameters(network, before)
    assert all(torch.equal(p, before[n]) for n, p in network.named_parameters())


def test_a_finished_stage_leaves_no_state(tmp_path: Path) -> None:
    store = StageStore(tmp_path / "c", "key")
    running, best = store.running("one"), store.best("one")
    assert running is not None
    assert best is not None
    assert store.finished("one") is None
    for path in (running, best):
        write_checkpoint(path, Checkpoint({}, {}))
    store.finish("one", Checkpoint({"w": torch.ones(2)}, {"curve": []}))
    again = StageStore(tmp_path / "c", "key").finished("one")
    assert again is not None
    assert torch.equal(again.tensors["w"], torch.ones(2))
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == ["fit.json", "one.safetensors"]


def test_another_fit_is_refused(tmp_path: Path) -> None:
    StageStore(tmp_path / "c", "key")
    with pytest.raises(InputError):
        StageStore(tmp_path / "c", "other")


def test_without_a_folder_nothing_is_kept() -> None:
    store = StageStore(None, "key")
    store.finish("one", Checkpoint({}, {}))
    assert store.finished("one") is None
    assert store.running("one") is None
