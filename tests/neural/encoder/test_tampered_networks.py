"""A network that somebody changed is refused with the file that is wrong, and ends no process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")
pytestmark = pytest.mark.engine

#: Damaged networks of each run; the long variant takes more.
TAMPERED = int(os.environ.get("RUBRICATE_TAMPERED", "6"))

READ = """
import random, sys
from pathlib import Path
import numpy as np
from rubricate.errors import InputError
from rubricate.neural.encoder.inference import OnnxEngine
from rubricate.neural.encoder.pieces import Pass, SpecialPieces, make_batch

sound, scratch, number = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]), int(sys.argv[3])
batch = make_batch(
    [Pass(np.array([7, 8, 9]), (np.array([5]), np.array([6, 9])))], SpecialPieces(1, 2, 0)
)
for seed in range(number):
    rng = random.Random(seed)
    raw = bytearray(sound)
    way = ("cut", "flip", "flip at an end", "zeros", "twice")[seed % 5]
    at = rng.randrange(len(raw))
    if way == "cut":
        del raw[at:]
    elif way == "zeros":
        raw[at : at + 4096] = bytes(len(raw[at : at + 4096]))
    elif way == "twice":
        raw[at:at] = raw[at : at + 512]
    else:
        for _ in range(20):
            near = rng.choice((rng.randrange(4000), -1 - rng.randrange(4000)))
            raw[near if way == "flip at an end" else rng.randrange(len(raw))] = rng.randrange(256)
    scratch.write_bytes(raw)
    try:
        said = OnnxEngine(scratch, threads=1)(batch)
        assert all(np.isfinite(one).all() for one in said.values())
        print("read")
    except InputError as error:
        assert scratch.name in str(error)
        print("refused")
    sys.stdout.flush()
"""


def shipped() -> Path:
    import rubricate.neural.encoder

    return Path(rubricate.neural.encoder.__file__).parents[1] / "models" / "fast" / "network.onnx"


def test_damaged_networks_are_read_or_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", READ, str(shipped()), str(tmp_path / "n.onnx"), str(TAMPERED)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.split()
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert len(said) == TAMPERED and set(said) <= {"read", "refused"} and "refused" in said


def renamed_input(model: onnx.ModelProto) -> None:
    model.graph.input[0].name = "text"
    for node in model.graph.node:
        node.input[:] = ["text" if name == "note" else name for name in node.input]


def without_presence(model: onnx.ModelProto) -> None:
    (own,) = [one for one in model.graph.output if one.name == "presence"]
    model.graph.output.remove(own)


def no_numbers(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.output[:] = ["sound" if name == "presence" else name for name in node.output]
    nan = onnx.helper.make_tensor("nan", onnx.TensorProto.FLOAT, [1], [float("nan")])
    model.graph.initializer.append(nan)
    model.graph.node.append(onnx.helper.make_node("Mul", ["sound", "nan"], ["presence"]))


def another_form(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.output[:] = ["sound" if name == "pieces" else name for name in node.output]
    model.graph.node.append(onnx.helper.make_node("Flatten", ["sound"], ["pieces"], axis=1))
    (own,) = [one for one in model.graph.output if one.name == "pieces"]
    del own.type.tensor_type.shape.dim[2:]


def weights_elsewhere(model: onnx.ModelProto) -> None:
    largest = max(model.graph.initializer, key=lambda one: len(one.raw_data))
    onnx.external_data_helper.set_external_data(largest, location="../../secret.bin")
    largest.ClearField("raw_data")
    largest.data_location = onnx.TensorProto.EXTERNAL


@pytest.mark.parametrize(
    "tamper", [renamed_input, without_presence, no_numbers, another_form, weights_elsewhere]
)
def test_another_network_is_refused(
    tamper: Callable[[onnx.ModelProto], None], tmp_path: Path
) -> None:
    import numpy as np

    from rubricate.errors import InputError
    from rubricate.neural.encoder.inference import OnnxEngine
    from rubricate.neural.encoder.pieces import Pass, SpecialPieces, make_batch

    model = onnx.load(shipped())
    tamper(model)
    path = tmp_path / "network.onnx"
    onnx.save(model, path)
    batch = make_batch(
        [Pass(np.array([7, 8]), (np.array([5]), np.array([6, 9])))], SpecialPieces(1, 2, 0)
    )
    with pytest.raises(InputError, match=r"network\.onnx"):
        OnnxEngine(path, threads=1)(batch)
