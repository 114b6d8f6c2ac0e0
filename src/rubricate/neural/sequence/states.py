"""Notes as labelled tokens: cutting texts into sequences, and spans into states and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F64, I64
from rubricate.corpus import Annotation
from rubricate.errors import UnknownNameError

SchemeName = Literal["IO", "BIO"]
TokenRule = Literal["words", "spaces"]
Context = Literal["line", "note"]

#: Added to the score of what may not be; finite, so that gradients stay finite too.
FORBIDDEN = -1e4

_TOKENS = {"words": re.compile(r"\n|\d+|[^\W\d_]+|[^\w\s]|_"), "spaces": re.compile(r"\n|\S+")}


class Tokens(NamedTuple):
    """The tokens of one sequence: words, half-open places, the line each is in, and standings.

    A standing says how a token stands in the whole note; see `STANDINGS`.
    """

    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    lines: tuple[int, ...]
    standings: tuple[int, ...] = ()


#: Where the line is (first, then fifths of the note), how often the word occurs in the note (1,
#: 2, 3 or 4, more), and whether it is in the first line: what a title and repetition tell.
STANDINGS = 6 * 4 * 2


class LabelRun(NamedTuple):
    """Tokens ``first`` up to ``last`` (not included) that carry one label."""

    label: int
    first: int
    last: int


def check_choice(kind: str, value: str, allowed: object) -> None:
    """Raise UnknownNameError when a value is none of a Literal's."""
    known = [str(name) for name in get_args(allowed)]
    if value not in known:
        raise UnknownNameError(kind, value, known)


def cut_text(text: str, *, tokens: TokenRule = "words", context: Context = "line") -> list[Tokens]:
    r"""Cut a text into sequences of tokens: one per line, or one for the whole note.

    Examples
    --------
    >>> [line.words for line in cut_text("58yo M\ndenies CP")]
    [('58', 'yo', 'M'), ('denies', 'CP')]
    >>> cut_text("58yo M\ndenies CP", tokens="spaces", context="note")[0].lines
    (0, 0, 1, 1)
    """
    check_choice("tokens", tokens, TokenRule)
    check_choice("context", context, Context)
    words: list[str] = []
    places: list[tuple[int, int]] = []
    lines: list[int] = []
    line = 0
    for match in _TOKENS[tokens].finditer(text):
        if match[0] == "\n":
            line += 1
        else:
            words.append(match[0])
            places.append(match.span())
            lines.append(line)
    standings = _standings(words, lines)
    cuts = [i for i in range(1, len(words)) if context == "line" and lines[i] != lines[i - 1]]
    return [
        Tokens(tuple(words[a:b]), tuple(places[a:b]), tuple(lines[a:b]), tuple(standings[a:b]))
        for a, b in pairwise([0, *cuts, len(words)])
        if a < b
    ]


def _standings(words: Sequence[str], lines: Sequence[int]) -> list[int]:
    """Return each token's standing in its note, below `STANDINGS`."""
    if not words:
        return []
    forms = [word.lower() for word in words]
    counts = Counter(forms)
    title = {form for form, line in zip(forms, lines, strict=True) if line == lines[0]}
    span = max(lines[-1] - lines[0], 1)
    found = []
    for form, line in zip(forms, lines, strict=True):
        place = 0 if line == lines[0] else 1 + min(5 * (line - lines[0] - 1) // span, 4)
        often = min(counts[form].bit_length() - (counts[form].bit_count() == 1), 3)
        found.append((place * 4 + often) * 2 + (form in title))
    return found


@dataclass(frozen=True)
class Scheme:
    """How labels are written as states, and which state may follow which.

    State 0 is "outside". Under ``IO`` label k is state k + 1, and labels that touch become one run.
    Under ``BIO`` it is state 2k + 1 where an annotation begins and 2k + 2 inside it; a sequence
    cannot begin inside, and an inside state follows only its own label.

    Examples
    --------
    >>> Scheme(("P", "I"), "BIO").states
    ('O', 'B-P', 'I-P', 'B-I', 'I-I')
    """

    labels: tuple[str, ...]
    kind: SchemeName = "BIO"

    def __post_init__(self) -> None:
        check_choice("scheme", self.kind, SchemeName)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The names of the states, by number."""
        prefixes = ("B", "I") if self.kind == "BIO" else ("I",)
        return ("O", *(f"{p}-{label}" for label in self.labels for p in prefixes))

    @cached_property
    def label_of_state(self) -> I64:
        """The number of each state's label; -1 for outside."""
        width = 2 if self.kind == "BIO" else 1
        return np.concatenate(([-1], np.repeat(np.arange(len(self.labels)), width)))

    def first_scores(self) -> F64:
        """Return `FORBIDDEN` for the states a sequence may not begin with, 0 for others."""
        inside = [self.kind == "BIO" and state.startswith("I-") for state in self.states]
        return np.where(inside, FORBIDDEN, 0.0)

    def step_scores(self) -> F64:
        """Return `FORBIDDEN` where the state of a column may not follow that of a row, else 0."""
        same = self.label_of_state[:, None] == self.label_of_state[None, :]
        return np.where(same, 0.0, self.first_scores()[None, :])

    def beginnings(self) -> F64:
        """Return 1 where a step from a row's state to a column's begins an annotation, else 0."""
        label = self.label_of_state
        begins = np.array([state.startswith("B-") for state in self.states])
        new = begins[None, :] | (label[:, None] != label[None, :])
        return np.where(new & (label[None, :] >= 0), 1.0, 0.0)

    def encode(
        self, tokens: Tokens, marked: Mapping[str, Iterable[Annotation]]
    ) -> tuple[I64, npt.NDArray[np.bool_]]:
        """Return the state of each token, and which tokens had to drop a further label.

        A token belongs to an annotation if they share a character. An annotation with several
        fragments, or over several lines, begins anew with each of them.
        """
        states = np.zeros(len(tokens.words), dtype=np.int64)
        dropped = np.zeros(len(tokens.words), dtype=bool)
        starts = np.array([place[0] for place in tokens.places])
        ends = np.array([place[1] for place in tokens.places])
        width = 2 if self.kind == "BIO" else 1
        for k, label in enumerate(self.labels):
            free = states == 0
            for annotation in marked.get(label, ()):
                for span in annotation.spans:
                    own = (starts < span.end) & (ends > span.start)
                    dropped |= own & ~free
                    own &= states == 0
                    states[own] = (k + 1) * width
                    if self.kind == "BIO" and own.any():
                        states[_beginnings(own, tokens.lines)] = 2 * k + 1
        return states, dropped

    def decode(self, states: I64, lines: Sequence[int]) -> list[LabelRun]:
        """Return the runs of a state sequence; a run never crosses the end of a line.

        Examples
        --------
        >>> runs = Scheme(("P", "I"), "BIO").decode(np.array([1, 2, 1, 0, 3]), [0] * 5)
        >>> [tuple(run) for run in runs]
        [(0, 0, 2), (0, 2, 3), (1, 4, 5)]
        """
        runs: list[LabelRun] = []
        labels = self.label_of_state[states]
        begins = self.kind == "BIO"
        first = 0
        for i in range(1, len(states) + 1):
            same = (
                i < len(states)
                and labels[i] == labels[first]
                and lines[i] == lines[i - 1]
                and not (begins and states[i] % 2 == 1)
            )
            if not same:
                if labels[first] >= 0:
                    runs.append(LabelRun(int(labels[first]), first, i))
                first = i
        return runs


def _beginnings(own: npt.NDArray[np.bool_], lines: Sequence[int]) -> I64:
    """Return the places where a run of true values, or a line within it, begins."""
    places = np.flatnonzero(own)
    line = np.asarray(lines)[places]
    new = np.ones(len(places), dtype=bool)
    new[1:] = (np.diff(places) > 1) | (np.diff(line) > 0)
    return places[new]
