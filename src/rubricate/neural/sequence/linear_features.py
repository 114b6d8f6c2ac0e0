"""What the ``crf`` matcher looks at: a token's word, shape and ends, and its neighbours'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rubricate.neural.sequence.tagging import Tokens
from rubricate.neural.sequence.vocabulary import SHAPES, normal_form, shape_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array
#: How far to either side words are looked at.
_SHIFTS = (-3, -2, -1, 1, 2, 3)


def token_features(tokens: Tokens) -> Iterator[list[str]]:
    """Yield, for each token of a sequence, the names of what holds for it.

    Examples
    --------
    >>> from rubricate.neural.sequence.tagging import cut_text
    >>> names = list(token_features(cut_text("no chest pain")[0]))
    >>> [name for name in names[0] if name.startswith("w")]
    ['w=no', 'w+1=chest', 'w+2=pain']
    """
    forms = [normal_form(word) for word in tokens.words]
    shapes = [SHAPES[shape_of(word) - 2] for word in tokens.words]
    n = len(forms)
    lines = tokens.lines
    head = ""
    for i, form in enumerate(forms):
        if i == 0 or lines[i] != lines[i - 1]:
            head = form
        place, rest = divmod(tokens.standings[i], 8)
        names = [f"w={form}", f"s={shapes[i]}", "bias", f"head={head}", f"place={place}"]
        names += [f"note={rest}", f"note={rest}|{shapes[i]}", f"note={rest}|{form[-3:]}"]
        names += [f"end{k}={form[-k:]}" for k in (2, 3, 4) if len(form) > k]
        names += [f"begin{k}={form[:k]}" for k in (2, 3) if len(form) > k]
        for shift in _SHIFTS:
            j = i + shift
            if 0 <= j < n and lines[j] == lines[i]:
                names.append(f"w{shift:+}={forms[j]}")
                if abs(shift) == 1:
                    names += [f"s{shift:+}={shapes[j]}", f"end{shift:+}={forms[j][-3:]}"]
            elif abs(shift) == 1:
                names.append(f"edge{shift:+}")
        if i > 0:
            names.append(f"two-={forms[i - 1]}|{form}")
        if i + 1 < n:
            names.append(f"two+={form}|{forms[i + 1]}")
        yield names


def number_features(sequences: Sequence[Tokens], least: int) -> dict[str, int]:
    """Number the features that occur at least ``least`` times, the frequent first."""
    counts: Counter[str] = Counter()
    for tokens in sequences:
        for names in token_features(tokens):
            counts.update(names)
    kept = [name for name, count in counts.items() if count >= least]
    kept.sort(key=lambda name: (-counts[name], name))
    return {name: i for i, name in enumerate(kept)}


def feature_table(sequences: Sequence[Tokens], numbers: Mapping[str, int]) -> csr_array:
    """Return one row a token, sequence after sequence, with a one for each feature it has."""
    from scipy.sparse import csr_array

    columns: list[int] = []
    first = [0]
    for tokens in sequences:
        for names in token_features(tokens):
            columns.extend(numbers[name] for name in names if name in numbers)
            first.append(len(columns))
    shape = (len(first) - 1, len(numbers))
    return csr_array((np.ones(len(columns)), columns, first), shape=shape)
