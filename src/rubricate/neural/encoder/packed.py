"""Weights of a network in about five bits, in files of limited size, and the graph that runs them.

A large network ships as a graph without its matrices and as compressed files of their levels: whole
numbers, a step of `STEP` standard deviations apart, one scale per row. Most levels are small, so
compression leaves five of their eight bits. They are handed to ONNX Runtime when the network is
opened, arranged as its graph multiplies (`rubricate.neural.training.products`).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32
from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import read_json
from rubricate.values import write_json

Arrays = dict[str, npt.NDArray[Any]]
#: Levels, and the scale of each row.
Matrix = tuple[npt.NDArray[np.int8], F32]

#: Lists the files of packed weights, and says how the graph multiplies with them.
PACKED_FILE = "packed.json"
#: Whose table is unpacked: one row for each piece of the vocabulary.
WORDS = "encoder.words"
#: Weights of a row that are multiplied as one block with numbers that share a scale.
GROUP = 128
#: From one level to the next, in standard deviations of a row: a third of the error of four bits.
STEP = 0.14
#: Bytes from which on a file is full; hosts of code refuse 50 MB and more.
MOST_BYTES = 30_000_000

_DAMAGE = (OSError, EOFError, TypeError, ValueError, KeyError, zipfile.BadZipFile, zlib.error)


def pack(weight: F32, step: float = STEP) -> Matrix:
    """Return the levels of a matrix and the scale of each row; of step 0 as fine as eight bits are.

    >>> levels, scales = pack(np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 64))
    >>> levels.shape, scales.shape
    ((1, 64), (1, 1))
    >>> round(float(unpack(levels, scales)[0, 0]), 1)
    -1.0
    """
    rows = np.maximum(
        weight.std(axis=1, keepdims=True) * step, np.abs(weight).max(axis=1, keepdims=True) / 127
    )
    scales = np.maximum(rows, np.finfo(np.float32).tiny).astype(np.float32)
    return np.round(weight / scales).astype(np.int8), scales


def unpack(levels: npt.NDArray[np.int8], scales: F32) -> F32:
    """Inverse of `pack`, as far as the levels tell."""
    return levels.astype(np.float32) * scales


def _as_rows(levels: npt.NDArray[np.int8], scales: F32) -> Arrays:
    return {"levels": np.ascontiguousarray(levels.T), "scales": scales.ravel()}


def _as_blocks(levels: npt.NDArray[np.int8], scales: F32) -> Arrays:
    blocks = (len(levels), levels.shape[1] // GROUP, GROUP)
    # Blocks have no sign: their 0 is 128.
    unsigned = (levels.view(np.uint8) ^ 128).reshape(blocks)
    return {"blocks": unsigned, "scales": np.repeat(scales, blocks[1])}


#: How graphs multiply, see `rubricate.neural.training.products`.
PRODUCTS = {"rows": _as_rows, "blocks": _as_blocks}


def arranged(matrices: Mapping[str, Matrix], products: str) -> Arrays:
    """Return matrices and the table of words by the names that a graph has for them."""
    arrays: Arrays = {}
    for name, (levels, scales) in matrices.items():
        owner = name.removesuffix(".weight")
        words: Arrays = {"table": levels, "scale": scales}
        parts = words if owner == WORDS else PRODUCTS[products](levels, scales)
        arrays |= {f"{owner}.{part}": array for part, array in parts.items()}
    return arrays


def write_packed(folder: Path, arrays: Arrays, products: str) -> None:
    """Write packed weights as files of limited size, and the list of them."""
    files: list[str] = []
    part: dict[str, Any] = {}
    for name, value in (*arrays.items(), ("", None)):
        size = sum(one.nbytes for one in part.values())
        # The scales of a matrix go into its file.
        full = size > MOST_BYTES and not name.endswith("|scales")
        if part and (value is None or full):
            files.append(f"weights-{len(files) + 1}.npz")
            np.savez(folder / files[-1], **part)
            part = {}
        if value is not None:
            part[name] = _deflate(value) if name.endswith("|levels") else value
    write_json(folder / PACKED_FILE, {"files": files, "products": products})


def _deflate(levels: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """Return the compressed bytes of levels, in which no sequence comes twice: Huffman codes."""
    coder = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    return np.frombuffer(coder.compress(levels.tobytes()) + coder.flush(), np.uint8)


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
    """Return the arrays that the graph of a folder lacks, by name."""
    path = folder / PACKED_FILE
    # Files of before say nothing and mean blocks.
    products = read_json(path).get("products", "blocks")
    if products not in PRODUCTS:
        raise InputError([Fault(f"unknown products; need {' or '.join(PRODUCTS)}", path)])
    matrices: dict[str, Matrix] = {}
    for name, levels, scales in _stored(folder):
        if scales is None:
            continue
        if not name.startswith(WORDS) and levels.shape[1] % GROUP:
            raise InputError([Fault(f"{name} is not in blocks of {GROUP}", folder)])
        matrices[name] = levels, scales
    return arranged(matrices, products)


def _stored(
    folder: Path,
) -> Iterator[tuple[str, npt.NDArray[Any], F32 | None]]:
    """Yield name and value of every stored weight, with the scales of those that are packed."""
    for part in packed_files(folder)[1:]:
        if not (folder / part).is_file():
            raise InputError([Fault("is missing from the model", folder / part)])
        try:
            with (folder / part).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                for key in stored.files:
                    name, _, kind = key.partition("|")
                    if not kind:
                        yield name, stored[key], None
                    elif kind == "levels":
                        scales = stored[f"{name}|scales"]
                        levels = np.frombuffer(zlib.decompress(stored[key]), np.int8)
                        yield name, levels.reshape(len(scales), -1), scales
        except _DAMAGE as error:
            raise InputError([Fault("not a file of packed weights", folder / part)]) from error
