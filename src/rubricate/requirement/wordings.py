"""A wording of a feature read once for all who ask what it says."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rubricate.reading.negation import asks_for_denial
from rubricate.reading.quantities import Quantity, find_quantities
from rubricate.reading.tokens import Token, find_tokens


class ReadWording(NamedTuple):
    """A wording's tokens, its words among them, its numbers, and whether it asks for a denial."""

    tokens: tuple[Token, ...]
    words: tuple[Token, ...]
    quantities: tuple[Quantity, ...]
    denies: bool


@lru_cache(maxsize=4096)
def read_wording(text: str) -> ReadWording:
    """Read a wording.

    >>> wording = read_wording("No cough for 3 weeks")
    >>> [word.form for word in wording.words], wording.quantities[0].unit, wording.denies
    (['no', 'cough', 'for', '3', 'weeks'], 'day', True)
    """
    tokens = tuple(find_tokens(text))
    return ReadWording(
        tokens,
        tuple(token for token in tokens if token.kind in ("word", "number")),
        tuple(find_quantities(text, tokens)),
        asks_for_denial(text, tokens),
    )
