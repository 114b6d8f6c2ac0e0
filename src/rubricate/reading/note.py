"""A note read once, and the words of it that speak of a feature."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rubricate.reading.clauses import clause_ranges
from rubricate.reading.negation import NegationScope, find_negations
from rubricate.reading.quantities import Quantity, quantities_of
from rubricate.reading.subjects import Context, contexts_of
from rubricate.reading.tokens import RECENT_TEXTS, Token, tokens_of

#: So many words around the spans are looked at, and only within their clauses.
REACH = 30

#: So many tokens of the spans are looked at; no words that state a feature are nearly as many.
MOST_TOKENS = 200

#: A number or side outside the spans counts if at most so many words lie between.
NEAR = 3


@dataclass(frozen=True, slots=True)
class TextReading:
    """A text read once for all its features; ``clauses`` are ranges of tokens, without marks."""

    text: str
    tokens: list[Token]
    starts: list[int]
    clause: list[int]
    scope: list[int]
    cue: list[int]
    negations: list[NegationScope]
    quantities: list[Quantity]
    quantity_starts: list[int]
    clauses: list[tuple[int, int]]

    def contexts_at(self, where: Iterable[int]) -> list[Context]:
        """Return where the text speaks of relatives and others, and holds or touches a token."""
        contexts, by_token = _others(self.text)
        return [contexts[i] for i in sorted({i for t in where for i in by_token.get(t, ())})]


@dataclass(frozen=True, slots=True)
class SpokenPlace:
    """The tokens of the spans, and the range of tokens around them in their clauses.

    ``meant`` are the feature's words that they are known to stand for.
    """

    reading: TextReading
    inside: list[int]
    first: int
    end: int
    meant: frozenset[str] = frozenset()

    def around(self, reach: int) -> range:
        """Return the places of the spans and so many tokens around them, in their clauses."""
        return range(
            max(self.first, self.inside[0] - reach), min(self.end, self.inside[-1] + reach + 1)
        )


@lru_cache(maxsize=RECENT_TEXTS)
def read_text(text: str) -> TextReading:
    """Read a text: tokens, clauses, negations, quantities, and of whom it speaks."""
    raw = tokens_of(text)
    tokens = [token for token in raw if token.kind != "newline"]
    starts = [token.start for token in tokens]
    negations = find_negations(text, raw)
    quantities = list(quantities_of(text))
    clauses = [
        (bisect_left(starts, raw[first].start), bisect_left(starts, raw[end - 1].end))
        for first, end in clause_ranges(text, raw)
    ]
    clause = [0] * len(tokens)
    begins = [begin for begin, _ in clauses]
    for number, (begin, end) in enumerate(pairwise([*begins, len(tokens)]), start=1):
        clause[begin:end] = [number] * (end - begin)
    scope = _cover(starts, [(n.scope_span.start, n.scope_span.end) for n in negations])
    cue = _cover(starts, [(n.cue_span.start, n.cue_span.end) for n in negations])
    for number, one in enumerate(negations):
        if one.is_one_word:
            token = bisect_left(starts, min(one.cue_span.start, one.scope_span.start))
            scope[token], cue[token] = number, -1
    return TextReading(
        text=text,
        tokens=tokens,
        starts=starts,
        clause=clause,
        scope=scope,
        cue=cue,
        negations=negations,
        quantities=quantities,
        quantity_starts=[quantity.span.start for quantity in quantities],
        clauses=clauses,
    )


@lru_cache(maxsize=RECENT_TEXTS)
def _others(text: str) -> tuple[list[Context], dict[int, list[int]]]:
    """Return where a text speaks of relatives and others, and the numbers of these by token."""
    starts = read_text(text).starts
    contexts = [one for one in contexts_of(text) if one.kind in ("family", "other")]
    by_token: dict[int, list[int]] = {}
    for number, one in enumerate(contexts):
        first = max(0, bisect_right(starts, one.scope_span.start) - 1)
        for t in range(first, bisect_right(starts, one.scope_span.end)):
            by_token.setdefault(t, []).append(number)
    return contexts, by_token


def _cover(starts: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    column = [-1] * len(starts)
    for i, (start, end) in enumerate(spans):
        for k in range(bisect_left(starts, start), bisect_left(starts, end)):
            column[k] = i
    return column


def find_place(
    reading: TextReading, spans: Sequence[tuple[int, int]], meant: frozenset[str] = frozenset()
) -> SpokenPlace | None:
    """Return where the spans are; None when they hold no token."""
    inside: list[int] = []
    for start, end in sorted(spans):
        first = bisect_right(reading.starts, start) - 1
        if first < 0 or reading.tokens[first].end <= start:
            first += 1
        inside += range(first, bisect_left(reading.starts, end))
    if not inside:
        return None
    del inside[MOST_TOKENS:]
    clause, before, after = reading.clause, inside[0], inside[-1]
    first = bisect_left(clause, clause[before], max(0, before - REACH), before)
    end = bisect_right(clause, clause[after], after, min(len(clause), after + REACH))
    return SpokenPlace(reading, inside, first, end, meant)


def forms_at(place: SpokenPlace, where: Sequence[int]) -> list[str]:
    """Return the forms of some tokens."""
    tokens = place.reading.tokens
    return [tokens[i].form for i in where]
