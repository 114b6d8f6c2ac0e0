"""Word vectors learned elsewhere, in the plain text form of GloVe and word2vec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError
from rubricate.formats.faults import read_text
from rubricate.neural.sequence.vocabulary import normal_form

F32 = npt.NDArray[np.float32]


def read_vectors(path: Path) -> dict[str, F32]:
    """Return the vectors of a text file: a word and its numbers a line, separated by spaces.

    A first line of two numbers (word2vec's count and length) is passed over. Words are looked up
    by their normal form; of several words with one normal form the first counts, and files give
    the frequent first.

    Raises
    ------
    InputError
        For lines that hold no numbers or another number of them than the first.
    """
    if not path.is_file():
        raise InputError([Fault("there are no word vectors here", path)])
    found: dict[str, F32] = {}
    faults: list[Fault] = []
    length = 0
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = line.split(" ")
        if not line.strip() or (number == 1 and len(fields) == 2):
            continue
        try:
            vector = np.array([float(field) for field in fields[1:] if field], dtype=np.float32)
        except ValueError:
            faults.append(Fault("need a word and numbers, separated by spaces", path, number))
            continue
        length = length or len(vector)
        if len(vector) != length or not np.isfinite(vector).all():
            faults.append(Fault(f"need {length} finite numbers after the word", path, number))
        else:
            found.setdefault(normal_form(fields[0]), vector)
    if not found and not faults:
        faults.append(Fault("the file holds no vectors", path))
    if faults:
        raise InputError(faults)
    return found


def vector_table(vectors: Mapping[str, F32]) -> F32:
    """Return the vectors in order from row 2 on, brought to unit variance; rows 0 and 1 are 0.

    Examples
    --------
    >>> vector_table({"a": np.array([2, -2], np.float32)}).tolist()
    [[0.0, 0.0], [0.0, 0.0], [1.0, -1.0]]
    """
    rows = np.stack(list(vectors.values()))
    spread = np.float32(rows.std() or 1.0)
    return np.concatenate((np.zeros((2, rows.shape[1]), np.float32), rows / spread))
