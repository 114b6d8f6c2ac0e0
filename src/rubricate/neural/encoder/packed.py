"""Weights of a network in four bits, in files of limited size, and the graph that runs them.

A large network ships as a graph without its matrices and as files of packed weights: sixteen
levels, one scale for each 32 weights of a row. ONNX Runtime multiplies with such blocks itself
(``MatMulNBits``); they are handed to it when the network is opened, and only the words are
unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.matchers.model_files import read_json, write_json

F32 = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any]]

#: Lists the files of packed weights.
PACKED_FILE = "packed.json"
#: Whose table is unpacked: one row for each piece of the vocabulary.
WORDS = "encoder.words"
#: Weights that share a scale.
GROUP = 32
#: Bytes from which on a file of packed weights is full; hosts of code refuse 50 MB and more.
MOST_BYTES = 32_000_000


def pack(weight: F32) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float16]]:
    """Return a matrix in four bits, two weights in each byte, and the scales of its groups.

    The weight of each group farthest from nought is kept exactly (but for the scale's precision):
    it becomes level -8.

    Examples
    --------
    >>> levels, scales = pack(np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64))
    >>> levels.shape, scales.shape
    ((1, 32), (1, 2))
    >>> float(unpack(levels, scales)[0, 0])
    -1.0
    """
    groups = weight.reshape(len(weight), -1, GROUP)
    farthest = np.abs(groups).argmax(-1)[..., None]
    scales: npt.NDArray[np.float16] = np.asarray(
        np.take_along_axis(groups, farthest, -1)[..., 0] / -8, np.float16
    )
    # The smallest number of half precision stands for a scale too small for it.
    scales[scales == 0] = np.finfo(np.float16).smallest_subnormal
    level = np.clip(np.round(groups / scales.astype(np.float32)[..., None]), -8, 7) + 8
    level = level.reshape(weight.shape).astype(np.uint8)
    return level[:, 0::2] | (level[:, 1::2] << 4), scales


def unpack(levels: npt.NDArray[np.uint8], scales: npt.NDArray[np.float16]) -> F32:
    """Inverse of `pack`, as far as four bits tell."""
    both = np.stack([levels & 15, levels >> 4], axis=-1).reshape(len(levels), -1)
    groups = both.reshape(len(levels), -1, GROUP).astype(np.float32) - 8
    return (groups * scales.astype(np.float32)[..., None]).reshape(len(levels), -1)


def write_packed(folder: Path, arrays: Arrays) -> None:
    """Write packed weights as files of limited size, and the list of them."""
    from safetensors.numpy import save_file

    files: list[str] = []
    part: Arrays = {}
    for name, value in (*arrays.items(), ("", None)):
        size = sum(one.nbytes for one in part.values())
        # The scales of a matrix go into its file.
        full = size > MOST_BYTES and not name.endswith("|scales")
        if part and (value is None or full):
            files.append(f"weights-{len(files) + 1}.safetensors")
            save_file(part, folder / files[-1])
            part = {}
        if value is not None:
            part[name] = np.ascontiguousarray(value)
    write_json(folder / PACKED_FILE, {"files": files})


def packed_files(folder: Path) -> list[str]:
    """Return the names of the files of packed weights of a folder; none where it has none."""
    path = folder / PACKED_FILE
    if not path.is_file():
        return []
    names = read_json(path).get("files")
    if not isinstance(names, list) or not names:
        raise InputError([Fault("not a list of packed weights", path)])
    if any(not isinstance(name, str) or Path(name).name != name for name in names):
        raise InputError([Fault("names a file outside its folder", path)])
    return [PACKED_FILE, *names]


def read_packed(folder: Path) -> Iterator[tuple[str, F32]]:
    """Yield the name and the value of every weight, unpacked, one at a time."""
    for name, value, scales in _stored(folder):
        yield name, value.astype(np.float32) if scales is None else unpack(value, scales)


def initialisers(folder: Path) -> Arrays:
    """Return what the graph of a folder lacks, by name: blocks of matrices, and words."""
    arrays: Arrays = {}
    for name, value, scales in _stored(folder):
        owner = name.removesuffix(".weight")
        if scales is None:
            continue
        if owner == WORDS:
            words = unpack(value, scales)
            largest = np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-12) / 127
            arrays[f"{owner}.table"] = np.round(words / largest).astype(np.int8)
            arrays[f"{owner}.scale"] = largest.astype(np.float32)
        else:
            arrays[f"{owner}.blocks"] = value.reshape(*scales.shape, GROUP // 2)
            arrays[f"{owner}.scales"] = scales.astype(np.float32).reshape(-1)
    return arrays


def _stored(
    folder: Path,
) -> Iterator[tuple[str, npt.NDArray[Any], npt.NDArray[np.float16] | None]]:
    """Yield name and value of every stored weight, with the scales of those that are packed."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise MissingExtraError("the encoder", "neural") from error
    for part in packed_files(folder)[1:]:
        try:
            with safe_open(folder / part, framework="numpy") as stored:
                for key in stored.keys():  # noqa: SIM118 - not a mapping
                    name, _, kind = key.partition("|")
                    if kind != "scales":
                        scales = stored.get_tensor(f"{name}|scales") if kind else None
                        yield name, stored.get_tensor(key), scales
        except (OSError, SafetensorError) as error:
            raise InputError([Fault("not a file of packed weights", folder / part)]) from error
