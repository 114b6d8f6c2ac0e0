from __future__ import annotations

import shutil
import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from rubricate import Corpus
from rubricate.errors import InputError
from rubricate.neural.encoder.inference import OnnxEngine
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.model_folder import (
    NETWORK_FILE,
    SETTINGS_FILE,
    TOKENIZER_FILE,
    EncoderSettings,
    model_files,
)
from rubricate.neural.encoder.packed import STEP, pack, packed_files, unpack
from rubricate.neural.encoder.pieces import Pass, PieceMaker, SpecialPieces, make_batch
from rubricate.neural.training.export import read_network, write_network
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Network, Shape


@pytest.fixture(scope="module")
def network(maker: PieceMaker) -> Network:
    torch.manual_seed(3)
    shape = Shape(
        n_pieces=maker.n_pieces, dim=128, layers=2, heads=4, inner=256, positions=64, scorer_dim=16,
        relative=True,
    )  # fmt: skip
    return Network(shape).eval()


@pytest.fixture(scope="module")
def folder(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    EncoderSettings(shape=asdict(network.shape)).write(folder / SETTINGS_FILE)
    write_network(network, folder, packed=True)
    return folder


def test_levels_are_half_a_step_from_the_weights() -> None:
    weight = np.random.default_rng(1).normal(size=(5, 2048)).astype(np.float32)
    weight *= np.array([[1], [10], [0.01], [0], [1]], np.float32)
    weight[4, 0] = 100.0  # Farther out than the levels go: the step of its row grows.
    levels, scales = pack(weight)
    assert levels.dtype == np.int8
    apart = np.abs(unpack(levels, scales) - weight)
    assert (apart <= scales * 0.5001).all()
    spread = weight.std(axis=1, keepdims=True)
    np.testing.assert_allclose(scales[:3], spread[:3] * STEP, rtol=1e-5)
    np.testing.assert_allclose(scales[4], 100 / 127, rtol=1e-5)


def test_a_packed_folder_says_what_the_network_says(
    network: Network, folder: Path, special: SpecialPieces
) -> None:
    note = np.arange(6, 16, dtype=np.int32)
    batch = make_batch([Pass(note, (note[:2], note[3:4])), Pass(note[:3], (note[1:2],))], special)
    rounded = read_network(folder).eval()
    with torch.no_grad():
        ours, whole = (
            net(*tensors(batch, torch.device("cpu")))._asdict() for net in (rounded, network)
        )
    said = OnnxEngine(folder / NETWORK_FILE, threads=1)(batch)
    for name, value in ours.items():
        # What the matrices are multiplied with is rounded as well.
        np.testing.assert_allclose(said[name], value.numpy(), atol=0.05)
        np.testing.assert_allclose(said[name], whole[name].numpy(), atol=0.3)


def test_weights_come_back_within_half_a_step(network: Network, folder: Path) -> None:
    back = dict(read_network(folder).named_parameters())
    assert any(file.startswith("weights-") for file in packed_files(folder))
    for name, value in network.state_dict().items():
        step = float(value.std(correction=0)) * STEP if value.ndim == 2 else 0.002
        assert float((back[name].detach() - value).abs().max()) <= max(step, 0.002), name


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_damaged_file_is_an_input_error(folder: Path, tmp_path: Path, damage: str) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    path = tmp_path / packed_files(folder)[1]
    raw = path.read_bytes()
    half = len(raw) // 2
    path.write_bytes(
        {"cut": raw[:half], "changed": raw[:half] + bytes(99) + raw[half + 99 :], "empty": b""}[
            damage
        ]
    )
    with pytest.raises(InputError, match="weights-1"):
        OnnxEngine(tmp_path / NETWORK_FILE, threads=1)


def test_weights_of_another_network_are_an_input_error(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "m")
    path = tmp_path / "m" / packed_files(folder)[1]
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    name = "encoder.layers.0.query.weight"
    for columns, where in ((100, "blocks of 128"), (256, NETWORK_FILE)):
        levels = zlib.compress(bytes(128 * columns))
        np.savez(path, **{**arrays, f"{name}|levels": np.frombuffer(levels, np.uint8)})
        with pytest.raises(InputError, match=where):
            OnnxEngine(tmp_path / "m" / NETWORK_FILE, threads=1)
    path.unlink()
    with pytest.raises(InputError, match="weights-1"):
        OnnxEngine(tmp_path / "m" / NETWORK_FILE, threads=1)


def test_a_fit_that_goes_on_from_packed_weights_packs_them_again(
    folder: Path, maker: PieceMaker, corpus: Corpus, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    maker.save(source / TOKENIZER_FILE)
    matcher = EncoderMatcher(steps=2, threads=1)
    matcher._open(source)
    matcher.fit(corpus).save(tmp_path / "fitted")
    again = EncoderMatcher.load(tmp_path / "fitted")
    assert again.predict(corpus) == matcher.predict(corpus)
    files = packed_files(tmp_path / "fitted")
    assert files == packed_files(source)
    assert set(model_files(tmp_path / "fitted")) >= set(files)
    assert any((tmp_path / "fitted" / f).read_bytes() != (source / f).read_bytes() for f in files)
    again.fit(corpus).save(tmp_path / "twice")
    assert packed_files(tmp_path / "twice") == files
    (tmp_path / "fitted" / files[1]).write_bytes(b"other")
    with pytest.raises(InputError, match=files[1]):
        EncoderMatcher.load(tmp_path / "fitted")
