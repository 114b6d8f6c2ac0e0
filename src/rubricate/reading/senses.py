"""Meanings of abbreviations and words that have several, where their surroundings tell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from rubricate.knowledge.rows import table_rows
from rubricate.knowledge.tables import words
from rubricate.reading.clauses import begins_item, begins_line, is_dash
from rubricate.reading.tokens import Token

#: A word at most so far away may tell the meaning.
NEAR = 7
_STOPS = words("senses.stops") | {"\n"}
#: How much the kinds of cues count: a heading, a word beside it, a word near it.
_HEADING, _BESIDE, _NEAR = 3, 2, 1


class Sense(NamedTuple):
    """One meaning of a word: the words of a rubric it may stand for, and what shows it."""

    word: str
    name: str
    means: frozenset[str]
    before: frozenset[str]
    after: frozenset[str]
    near: frozenset[str]
    heading: bool

    @property
    def key(self) -> str:
        """The meaning's own name."""
        return f"{self.word}: {self.name}"


@cache
def _senses() -> dict[str, list[Sense]]:
    """Return the meanings of each word.

    A word that the table has with capitals has its meanings only where it is written so.
    """
    found: dict[str, list[Sense]] = {}
    for word, name, means, cues in table_rows("senses.tsv"):
        by_kind = {
            kind: frozenset(cue[1:] for cue in cues.split() if cue[0] == kind) for kind in "<>~"
        }
        sense = Sense(
            word, name, frozenset(means.split()), by_kind["<"], by_kind[">"], by_kind["~"],
            ":" in cues.split(),
        )  # fmt: skip
        found.setdefault(word.lower(), []).append(sense)
    return found


@cache
def meant_by(key: str) -> frozenset[str]:
    """Return the words of a rubric that a meaning may stand for, by its key.

    >>> sorted(meant_by("ra: arthritis"))
    ['arthritis', 'ra', 'rheumatoid']
    """
    return next(one.means for own in _senses().values() for one in own if one.key == key)


def find_senses(text: str, tokens: Sequence[Token]) -> dict[int, Sense]:
    """Return the likeliest meanings of words that have several, by their places.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "PE: lungs clear, SpO2 98% RA. Prior PE, RA on methotrexate."
    >>> [(i, sense.name) for i, sense in find_senses(text, find_tokens(text)).items()]
    [(0, 'examination'), (8, 'room air'), (11, 'embolism'), (13, 'arthritis')]
    """
    table, found = _senses(), dict[int, Sense]()
    for i, token in enumerate(tokens):
        if token.form in table:
            written = text[token.start : token.end]
            scored = [
                (_weigh(sense, text, tokens, i), sense)
                for sense in table[token.form]
                if sense.word.islower() or sense.word == written
            ]
            scored.sort(key=lambda one: -one[0])
            if scored and scored[0][0] > 0 and (len(scored) == 1 or scored[1][0] < scored[0][0]):
                found[i] = scored[0][1]
    return found


def _weigh(sense: Sense, text: str, tokens: Sequence[Token], i: int) -> float:
    """Return the weight of a meaning of the word at ``i``."""
    total = 0.0
    if sense.heading and _is_heading(text, tokens, i):
        total += _HEADING
    before = tokens[i - 1] if i else None
    after = tokens[i + 1] if i + 1 < len(tokens) else None
    total += _BESIDE * (_tells(before, sense.before) + _tells(after, sense.after))
    if sense.near:
        total += _NEAR * sum(token.form in sense.near for token in _around(text, tokens, i))
    return total


def _tells(token: Token | None, cues: frozenset[str]) -> bool:
    return token is not None and (token.form in cues or ("#" in cues and token.kind == "number"))


def _is_heading(text: str, tokens: Sequence[Token], i: int) -> bool:
    """Tell whether a word begins a sentence or an item and is set off by a colon or a dash."""
    if i + 1 >= len(tokens) or not begins_item(text, tokens, i):
        return False
    after = tokens[i + 1]
    return after.form in (":", "=") or (after.form == "-" and is_dash(text, after))


def _around(text: str, tokens: Sequence[Token], i: int) -> list[Token]:
    """Return the words around one, in its sentence and line."""
    first, end = i, i + 1
    while first > max(0, i - NEAR):
        if tokens[first - 1].form in _STOPS or begins_line(text, tokens, first):
            break
        first -= 1
    while end < min(len(tokens), i + 1 + NEAR):
        if tokens[end].form in _STOPS or begins_line(text, tokens, end):
            break
        end += 1
    return [*tokens[first:i], *tokens[i + 1 : end]]
