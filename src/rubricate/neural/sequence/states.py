"""Notes as labelled tokens, spans as states and back, and the chain over states in numpy.

The chain gives best states, marginals, and the probability that a label occurs at all. Its scores
are those of ``bilstm``; all sequences of a batch are padded to the longest and worked on at once.
Everything here is exact (Rabiner 1989 for the recursions).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np

from rubricate.arrays import F64, I64, Bools
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
    """Encoding of labels as states, and the allowed successors of each state.

    State 0 is "outside". Under ``IO`` label k is state k + 1, and labels that touch become one run.
    Under ``BIO`` it is state 2k + 1 where an annotation begins and 2k + 2 inside it; a sequence
    cannot begin inside, and an inside state follows only its own label.

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
    ) -> tuple[I64, Bools]:
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


def _beginnings(own: Bools, lines: Sequence[int]) -> I64:
    """Return the places where a run of true values, or a line within it, begins."""
    places = np.flatnonzero(own)
    line = np.asarray(lines)[places]
    new = np.ones(len(places), dtype=bool)
    new[1:] = (np.diff(places) > 1) | (np.diff(line) > 0)
    return places[new]


@dataclass(frozen=True, eq=False, slots=True)
class Chain:
    """A chain's own scores, of its first state (K), each step (K, K) and its last state (K)."""

    first: F64
    step: F64
    last: F64


@dataclass(frozen=True, eq=False, slots=True)
class ChainExpectation:
    """Expectations of a chain for each sequence.

    ``log_z`` (n) is the log of the summed scores of all state sequences, ``marginal`` (n, T, K) the
    probability of each state at each token (0 beyond a sequence's end), ``steps`` (K, K) the
    expected number of each step, summed over all sequences.
    """

    log_z: F64
    marginal: F64
    steps: F64


def log_sum_exp(values: F64, axis: int) -> F64:
    """Return log(sum(exp(values))) along an axis, without overflow."""
    highest = values.max(axis=axis, keepdims=True)
    total: F64 = np.log(np.exp(values - highest).sum(axis=axis)) + highest.squeeze(axis)
    return total


def pad_emissions(emissions: Sequence[F64]) -> tuple[F64, I64]:
    """Stack (T_i, K) arrays to one (n, T, K), and return the lengths beside it."""
    lengths = np.array([len(one) for one in emissions], dtype=np.int64)
    padded = np.zeros((len(emissions), int(lengths.max()), emissions[0].shape[1]))
    for row, one in zip(padded, emissions, strict=True):
        row[: len(one)] = one
    return padded, lengths


def forward(chain: Chain, emissions: F64, lengths: I64) -> tuple[F64, F64]:
    """Return the forward scores (n, T, K) and log Z (n)."""
    alpha = np.empty_like(emissions)
    alpha[:, 0] = chain.first + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        through = log_sum_exp(alpha[:, t - 1, :, None] + chain.step, axis=1) + emissions[:, t]
        alpha[:, t] = np.where((t < lengths)[:, None], through, alpha[:, t - 1])
    return alpha, log_sum_exp(alpha[:, -1] + chain.last, axis=1)


def expect(chain: Chain, emissions: F64, lengths: I64) -> ChainExpectation:
    """Return log Z, marginals and expected steps by the forward-backward algorithm.

    >>> flat = Chain(np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    >>> expect(flat, np.zeros((1, 3, 2)), np.array([3])).marginal[0, 0].round(6).tolist()
    [0.5, 0.5]
    """
    alpha, log_z = forward(chain, emissions, lengths)
    beta = np.broadcast_to(chain.last, alpha[:, 0].shape)
    marginal = np.zeros_like(alpha)
    steps = np.zeros_like(chain.step)
    for t in range(emissions.shape[1] - 1, -1, -1):
        inside = (t < lengths)[:, None]
        marginal[:, t] = np.where(inside, np.exp(alpha[:, t] + beta - log_z[:, None]), 0.0)
        if t == 0:
            break
        ahead = (emissions[:, t] + beta)[:, None, :] + chain.step
        both = np.exp(alpha[:, t - 1, :, None] + ahead - log_z[:, None, None])
        steps += both[t < lengths].sum(axis=0)
        beta = np.where(inside, log_sum_exp(ahead, axis=2), beta)
    return ChainExpectation(log_z, marginal, steps)


def best_states(chain: Chain, emissions: F64, lengths: I64) -> list[I64]:
    """Return the likeliest state sequences by the algorithm of Viterbi (1967).

    Of equally likely ones the state with the smaller number is taken, from the end backwards.

    >>> sticky = Chain(np.zeros(2), np.eye(2), np.zeros(2))
    >>> best_states(sticky, np.array([[[0.0, 2.0], [0.5, 0.0]]]), np.array([2]))[0].tolist()
    [1, 1]
    """
    n, longest, n_states = emissions.shape
    came_from = np.zeros((n, longest, n_states), dtype=np.int64)
    score = chain.first + emissions[:, 0]
    for t in range(1, longest):
        through = score[:, :, None] + chain.step
        came_from[:, t] = through.argmax(axis=1)
        score = np.where((t < lengths)[:, None], through.max(axis=1) + emissions[:, t], score)
    state = (score + chain.last).argmax(axis=1)
    states = np.zeros((n, longest), dtype=np.int64)
    every = np.arange(n)
    for t in range(longest - 1, -1, -1):
        states[:, t] = state
        state = np.where(t < lengths, came_from[every, t, state], state)
    return [row[:length] for row, length in zip(states, lengths.tolist(), strict=True)]


def log_absence(chain: Chain, emissions: F64, lengths: I64, label_of_state: I64, log_z: F64) -> F64:
    """Return the log probability that no token of a sequence carries a label (n, labels).

    It is log Z with the label's states forbidden, less log Z: exact, unlike any combination of the
    tokens' marginals.
    """
    found = []
    for label in range(int(label_of_state.max()) + 1):
        barred = np.where(label_of_state == label, FORBIDDEN, 0.0)
        found.append(forward(chain, emissions + barred, lengths)[1] - log_z)
    return np.minimum(np.stack(found, axis=1), 0.0)
