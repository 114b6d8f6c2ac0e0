"""The same chain in numpy: best states, marginals, and the probability that a label occurs at all.

Scores are those of ``bilstm``; all sequences of a batch are padded to the longest and worked on at
once. Everything here is exact (Rabiner 1989 for the recursions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.neural.sequence.states import FORBIDDEN


@dataclass(frozen=True, eq=False, slots=True)
class Chain:
    """A chain's own scores, of its first state (K), each step (K, K) and its last state (K)."""

    first: F64
    step: F64
    last: F64


@dataclass(frozen=True, eq=False, slots=True)
class ChainExpectation:
    """What a chain expects of each sequence.

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

    Examples
    --------
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

    Examples
    --------
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
