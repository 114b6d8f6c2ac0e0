"""Lengths of notes, and how many of their words were never seen before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from rubricate.text.words import find_words
from rubricate.trust.runs import F64


def word_counts(texts: Mapping[str, str]) -> F64:
    """Return each note's length in words.

    Examples
    --------
    >>> word_counts({"n": "58 yo M, no fever"}).tolist()
    [5.0]
    """
    return np.array([len(find_words(text)) for text in texts.values()], dtype=np.float64)


def unknown_shares(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[F64, F64]:
    """Return the share of each note's words that no other earlier note holds.

    A note is never compared with itself, so that earlier and later notes are treated alike: an
    earlier note's words are looked up in all other earlier notes, a later one's in all earlier
    notes with another id.

    Parameters
    ----------
    before, after : mapping
        Text by note id.

    Returns
    -------
    (ndarray, ndarray)
        Shares in the order of the mappings; NaN for a note without words.

    Examples
    --------
    >>> before = {"a": "no fever", "b": "no cough", "c": "fever"}
    >>> [side.tolist() for side in unknown_shares(before, {"d": "no pyrexia"})]
    [[0.0, 0.5, 0.0], [0.5]]
    """
    own = {note: _words(text) for note, text in before.items()}
    held = Counter(word for words in own.values() for word in set(words))
    nothing: list[str] = []
    first = [_share(words, held, set(words)) for words in own.values()]
    second = [
        _share(_words(text), held, set(own.get(note, nothing))) for note, text in after.items()
    ]
    return np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)


def _words(text: str) -> list[str]:
    return [word.form for word in find_words(text) if word.kind == "word"]


def _share(words: list[str], held: Counter[str], own: set[str]) -> float:
    if not words:
        return float("nan")
    return sum(held[word] <= (word in own) for word in words) / len(words)
