"""Running a saved network with ONNX Runtime: batches alike in length, windows, no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.batching import Batch, Pass, SpecialPieces, by_length, divide, make_batch
from rubricate.neural.pieces import Pieces

F32 = npt.NDArray[np.float32]

#: Pieces of a note read at once; positions 32 to 511 are the note's, less the two special ones.
WINDOW = 448
#: Pieces two windows of a long note share; each is believed where its nearer edge is farther.
OVERLAP = 96
#: Pieces of features read at once; a longer rubric takes several passes.
RUBRIC_WINDOW = 512
#: Pieces in a batch, padding included.
BUDGET = 4096


class Engine(Protocol):
    """What computes logits for a batch: (pass, feature, place, 3) and (pass, feature)."""

    def __call__(self, batch: Batch) -> tuple[F32, F32]:
        """Return both arrays."""
        ...


class OnnxEngine:
    """A network in an ONNX file.

    Parameters
    ----------
    path : Path
        The file.
    threads : int, optional
        How many threads a pass may use; by default as many as there are cores.
    """

    def __init__(self, path: Path, *, threads: int | None = None) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingExtraError("the encoder", "neural") from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if threads is not None:
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # its errors share no public root
            raise InputError([Fault("not a network ONNX Runtime can run", path)]) from error

    def __call__(self, batch: Batch) -> tuple[F32, F32]:
        """Return the logits of a batch."""
        pieces, presence = self._session.run(
            None,
            {
                "note": batch.note,
                "note_length": batch.note_length,
                "feature": batch.feature,
                "owner": batch.owner,
                "position": batch.position,
                "n_features": np.arange(batch.n_features, dtype=np.int64),
            },
        )
        return pieces, presence


class RowScores(NamedTuple):
    """What a network says of one feature in one note, as probabilities.

    ``inside`` has one for each piece of the note, ``edges`` two: that an annotation begins with
    it, and that one ends with it.
    """

    inside: F32
    presence: float
    edges: F32


@dataclass(frozen=True, eq=False, slots=True)
class _Task:
    note: int
    first: int
    features: range
    one: Pass


def score_notes(
    engine: Engine,
    notes: Sequence[Pieces],
    features: Sequence[Pieces],
    special: SpecialPieces,
    *,
    features_per_pass: int | None = None,
    budget: int = BUDGET,
) -> list[list[RowScores]]:
    """Return for each note the scores of each feature.

    A note longer than a window is read in windows that overlap; of the pieces two windows share
    each is taken from the window that knows more around it, and presence from the window most
    sure of it. Features that do not fit together are read in several passes. Nothing is cut.
    """
    tasks = _tasks(notes, features, features_per_pass)
    said = [np.zeros((len(features), len(one), 3), np.float32) for one in notes]
    depth = [np.full(len(one), -1, np.int64) for one in notes]
    presence = np.zeros((len(notes), len(features)))
    for group in by_length([len(task.one) for task in tasks], budget):
        batch = make_batch([tasks[g].one for g in group], special)
        pieces, present = engine(batch)
        for n, g in enumerate(group):
            task = tasks[g]
            size = len(task.one.note)
            chance = _sigmoid(pieces[n, : len(task.features), 1 : 1 + size])
            own = slice(task.features.start, task.features.stop)
            place = slice(task.first, task.first + size)
            known = np.minimum(np.arange(size), np.arange(size)[::-1])
            # A window that starts or ends with the note knows all there is on that side.
            if task.first == 0:
                known = np.arange(size)[::-1]
            if task.first + size == len(notes[task.note]):
                known = np.arange(size) if task.first else np.full(size, size)
            _keep_deeper(said[task.note], depth[task.note], chance, (own, place, known))
            seen = _sigmoid(present[n, : len(task.features)])
            presence[task.note, own] = np.maximum(presence[task.note, own], seen)
    return [
        [
            RowScores(said[i][k, :, 0], float(presence[i, k]), said[i][k, :, 1:])
            for k in range(len(features))
        ]
        for i in range(len(notes))
    ]


def _keep_deeper(
    said: F32,
    depth: npt.NDArray[np.int64],
    chance: F32,
    where: tuple[slice, slice, npt.NDArray[np.int64]],
) -> None:
    own, place, known = where
    better = known >= depth[place]
    said[own, place] = np.where(better[:, None], chance, said[own, place])
    depth[place] = np.maximum(depth[place], known)


def _tasks(
    notes: Sequence[Pieces], features: Sequence[Pieces], features_per_pass: int | None
) -> list[_Task]:
    groups = _fitting(features, features_per_pass)
    tasks = []
    for i, note in enumerate(notes):
        for first in window_starts(len(note)):
            ids = note.ids[first : first + WINDOW]
            for group in groups:
                texts = tuple(features[k].ids for k in group)
                tasks.append(_Task(i, first, group, Pass(ids, texts)))
    return tasks


def window_starts(length: int) -> list[int]:
    """Return where the windows of a note with this many pieces begin.

    Examples
    --------
    >>> window_starts(300), window_starts(700)
    ([0], [0, 252])
    >>> window_starts(0)
    []
    """
    if length == 0:
        return []
    if length <= WINDOW:
        return [0]
    count = -(-(length - OVERLAP) // (WINDOW - OVERLAP))
    last = length - WINDOW
    return [round(last * i / (count - 1)) for i in range(count)]


def _fitting(features: Sequence[Pieces], features_per_pass: int | None) -> list[range]:
    """Divide the features as asked, and again while a group has too many pieces."""
    waiting = divide(len(features), features_per_pass)
    groups = []
    while waiting:
        group = waiting.pop(0)
        size = sum(len(features[k]) + 1 for k in group)
        if size > RUBRIC_WINDOW and len(group) > 1:
            middle = (group.start + group.stop) // 2
            waiting[:0] = [range(group.start, middle), range(middle, group.stop)]
        else:
            groups.append(group)
    return groups


def _sigmoid(x: F32) -> F32:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -60, 60))), np.float32)
