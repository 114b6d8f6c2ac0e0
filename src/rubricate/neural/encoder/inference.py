"""Running a saved network with ONNX Runtime: batches alike in length, windows, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from rubricate.arrays import F32, Bools
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.encoder.packed import PACKED_FILE, initialisers
from rubricate.neural.encoder.pieces import (
    Batch,
    Pass,
    Pieces,
    SpecialPieces,
    by_length,
    divide,
    make_batch,
)
from rubricate.progress import Progress, silent
from rubricate.stats.calibration import sigmoid

#: Pieces of a note read at once; positions 32 to 511 are the note's, less the two special ones.
WINDOW = 448
#: Pieces two windows of a long note share; each is believed where its nearer edge is farther.
OVERLAP = 96
#: Pieces of features read at once; a longer rubric takes several passes.
RUBRIC_WINDOW = 512
#: Pieces in a batch, padding included. Passes go one by one: a network in eight bits rounds by the
#: largest number of a batch, so other notes would change what is said of a note; nor is it slower.
BUDGET = 1


#: The names of the inputs, in the order of a `Batch`.
INPUTS = ("note", "note_length", "feature", "owner", "position", "n_features")
#: The output that a feature is present.
PRESENCE = "presence"
#: The output with an entry for each place; all others have one for each feature of a pass.
PIECES = "pieces"
#: What the channels of `PIECES` say of a place: in an annotation, its first, its last piece, and
#: among words that contradict the feature. Networks of before have the first three.
CHANNELS = ("inside", "first", "last", "contradicting")

#: Logits by the names of the outputs: `PIECES` (pass, feature, place, channel), others (pass,
#: feature).
Outputs = Mapping[str, F32]


class Engine(Protocol):
    """Protocol of engines that compute logits for a batch."""

    def __call__(self, batch: Batch) -> Outputs:
        """Return the logits of every output."""
        ...


class OnnxEngine:
    """A network in an ONNX file."""

    def __init__(self, path: Path, *, threads: int | None = None) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingExtraError("the encoder") from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if threads is not None:
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
        packed = (path.parent / PACKED_FILE).is_file()
        # The session does not copy them: they live as long as it does.
        self._given = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(value)
            for name, value in (initialisers(path.parent) if packed else {}).items()
        }
        try:
            options.add_external_initializers(list(self._given), list(self._given.values()))
            self._session: Any = onnxruntime.InferenceSession(
                str(path),
                options,
                providers=["CPUExecutionProvider"],
                # Sum and norm in one node take longer than in two: a tenth of `fast`.
                disabled_optimizers=["SkipLayerNormFusion"],
            )
        except Exception as error:  # its errors share no public root
            what = "not a network ONNX Runtime can run"
            if packed:
                what += f" with the weights that {PACKED_FILE} beside it lists"
            raise InputError([Fault(what, path)]) from error
        self._path = path
        self._names = [str(one.name) for one in self._session.get_outputs()]
        given = sorted(str(one.name) for one in self._session.get_inputs())
        if given != sorted(INPUTS) or PIECES not in self._names or PRESENCE not in self._names:
            what = f"the network has inputs {given} and outputs {sorted(self._names)}"
            need = f"need inputs {sorted(INPUTS)} and at least the outputs {[PIECES, PRESENCE]}"
            raise InputError([Fault(f"{what}; {need}", path)])

    def __call__(self, batch: Batch) -> Outputs:
        """Return the logits of a batch."""
        given = (
            batch.note,
            batch.note_length,
            batch.feature,
            batch.owner,
            batch.position,
            np.arange(batch.n_features, dtype=np.int64),
        )
        try:
            values = self._session.run(self._names, dict(zip(INPUTS, given, strict=True)))
        except Exception as error:  # its errors share no public root, and may quote numbers
            what = f"ONNX Runtime cannot run the network: {type(error).__name__}"
            raise InputError([Fault(what, self._path)]) from None
        rows = (len(batch.note), batch.n_features)
        for name, value in zip(self._names, values, strict=True):
            shape = np.shape(value)
            if name == PIECES:
                fits = len(shape) == 4 and shape[:2] == rows and shape[2] >= batch.note.shape[1]
                fits = fits and shape[3] in (len(CHANNELS) - 1, len(CHANNELS))
            else:
                fits = shape == rows
            if not fits or not np.isfinite(value).all():
                what = f"the network's output {name!r} is not of the numbers that are read from it"
                raise InputError([Fault(what, self._path)])
        return dict(zip(self._names, values, strict=True))


class RowScores(NamedTuple):
    """A network's outputs for one feature in one note, as probabilities.

    ``pieces`` is (piece of the note, channel), see `CHANNELS`; ``chances`` has the other outputs.
    """

    pieces: F32
    chances: Mapping[str, float]

    def spread(self, read: Bools) -> RowScores:
        """Return the scores of a whole note of which only these pieces were read; others have 0."""
        if read.all():
            return self
        whole = np.zeros((len(read), self.pieces.shape[1]), np.float32)
        whole[read] = self.pieces
        return RowScores(whole, self.chances)

    @property
    def inside(self) -> F32:
        """That each piece lies in an annotation."""
        return self.pieces[:, 0]

    @property
    def edges(self) -> F32:
        """That an annotation begins with each piece, and that one ends with it."""
        return self.pieces[:, 1:3]

    @property
    def contradicting(self) -> F32:
        """That each piece belongs to words that contradict the feature."""
        known = self.pieces.shape[1] > 3
        return self.pieces[:, 3] if known else np.zeros(len(self.pieces), np.float32)

    @property
    def either(self) -> F32:
        """That each piece lies in an annotation or contradicts, whichever is more probable."""
        return np.maximum(self.inside, self.contradicting)

    @property
    def presence(self) -> float:
        """That the feature is present."""
        return self.chances["presence"]

    @property
    def contradiction(self) -> float:
        """That the note contradicts the feature."""
        return self.chances.get("contradiction", 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class _Reading:
    note: int
    first: int
    features: Sequence[int]
    one: Pass


def score_notes(
    engine: Engine,
    notes: Sequence[Pieces],
    features: Sequence[Pieces],
    special: SpecialPieces,
    *,
    features_per_pass: int | None = None,
    budget: int = BUDGET,
    progress: Progress = silent,
) -> list[list[RowScores]]:
    """Return for each note the scores of each feature.

    A note longer than a window is read in windows that overlap; of the pieces two windows share
    each is taken from the window that knows more around it, and presence (like all that is said
    of a whole row) from the window most sure of it. Features that do not fit together are read in
    several passes. Nothing is cut.
    """
    tasks = _tasks(notes, features, features_per_pass)
    said = [np.zeros((len(features), len(one), len(CHANNELS)), np.float32) for one in notes]
    depth = [np.full((len(features), len(one)), -1, np.int64) for one in notes]
    chances = {"presence": np.zeros((len(notes), len(features)))}
    done = 0
    for group in by_length([len(task.one) for task in tasks], budget):
        outputs = dict(engine(make_batch([tasks[g].one for g in group], special)))
        pieces = outputs.pop(PIECES)
        if not done and pieces.shape[-1] != len(CHANNELS):
            said = [np.zeros((*one.shape[:2], pieces.shape[-1]), np.float32) for one in said]
        for n, g in enumerate(group):
            task = tasks[g]
            size = len(task.one.note)
            chance = sigmoid(pieces[n, : len(task.features), 1 : 1 + size])
            own = list(task.features)
            place = slice(task.first, task.first + size)
            known = np.minimum(np.arange(size), np.arange(size)[::-1])
            # A window that starts or ends with the note knows all there is on that side.
            if task.first == 0:
                known = np.arange(size)[::-1]
            if task.first + size == len(notes[task.note]):
                known = np.arange(size) if task.first else np.full(size, size)
            kept, deepest = said[task.note], depth[task.note]
            better = known >= deepest[own, place]
            kept[own, place] = np.where(better[..., None], chance, kept[own, place])
            deepest[own, place] = np.maximum(deepest[own, place], known)
            for name, logits in outputs.items():
                whole = chances.setdefault(name, np.zeros((len(notes), len(features))))
                seen = sigmoid(logits[n, : len(task.features)])
                whole[task.note, own] = np.maximum(whole[task.note, own], seen)
        done += len(group)
        progress(done, len(tasks), "reading notes")
    return [
        [
            RowScores(said[i][k], {name: float(all_[i, k]) for name, all_ in chances.items()})
            for k in range(len(features))
        ]
        for i in range(len(notes))
    ]


def _tasks(
    notes: Sequence[Pieces], features: Sequence[Pieces], features_per_pass: int | None
) -> list[_Reading]:
    # The features are divided as asked, and again while a group has too many pieces.
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
    tasks = []
    for i, note in enumerate(notes):
        for first in window_starts(len(note)):
            ids = note.ids[first : first + WINDOW]
            for group in groups:
                texts = tuple(features[k].ids for k in group)
                tasks.append(_Reading(i, first, group, Pass(ids, texts)))
    return tasks


def window_starts(length: int) -> list[int]:
    """Return the starts of the windows of a note with this many pieces.

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
