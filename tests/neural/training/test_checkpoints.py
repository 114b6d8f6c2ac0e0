from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rubricate.errors import InputError
from rubricate.neural.training.checkpoints import (
    Checkpoint,
    StageStore,
    load_parameters,
    parameters_of,
    read_checkpoint,
    write_checkpoint,
)
from rubricate.neural.training.network import Network


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
    running, best = store.kept("one")
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
    assert store.kept("one") == (None, None)


def test_a_file_that_is_no_checkpoint_is_told(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"no checkpoint at all")
    with pytest.raises(InputError, match="checkpoint"):
        read_checkpoint(tmp_path / "c")


def header_of(body: bytes, header: bytes) -> bytes:
    """Return a file with another header before the same tensors."""
    length = int.from_bytes(body[:8], "little")
    return len(header).to_bytes(8, "little") + header + body[8 + length :]


HEADERS = {
    "empty": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "nothing": b"{}",
    "nested": b"[" * 100_000,
    "no facts": b'{"__metadata__":{}}',
    "facts that are text": b'{"__metadata__":{"facts":"5"}}',
    "facts that are no JSON": b'{"__metadata__":{"facts":"{"}}',
    "facts nested too deeply": b'{"__metadata__":{"facts":"' + b"[" * 100_000 + b'"}}',
    "a long number": b'{"__metadata__":{"facts":"' + b"9" * 5_000 + b'"}}',
    "metadata that are none": b'{"__metadata__":5}',
    "a tensor past the end": b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}',
    "a tensor of another kind": b'{"a":{"dtype":"X9","shape":[1],"data_offsets":[0,4]}}',
    "a tensor of no size": b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}',
    "a tensor without a shape": b'{"a":{"dtype":"F32"}}',
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_broken_header_is_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "c"
    write_checkpoint(path, Checkpoint({"a": torch.ones(1)}, {}))
    path.write_bytes(header_of(path.read_bytes(), header))
    with pytest.raises(InputError, match="not a checkpoint"):
        read_checkpoint(path)


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**63, 2**64 - 1])
def test_a_header_of_any_length_is_refused(tmp_path: Path, length: int) -> None:
    (tmp_path / "c").write_bytes(length.to_bytes(8, "little") + b"{}")
    with pytest.raises(InputError, match="not a checkpoint"):
        read_checkpoint(tmp_path / "c")


def test_a_mark_that_is_no_text_is_another_fit(tmp_path: Path) -> None:
    (tmp_path / "fit.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="another fit"):
        StageStore(tmp_path, "key")
