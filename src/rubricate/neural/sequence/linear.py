"""A linear-chain CRF over named features: learned by L-BFGS, without torch.

Training minimises the negative log-likelihood of the tags with a penalty c2 |w|^2 (Lafferty et
al. 2001; Sha and Pereira 2003); its gradient is expected less observed feature counts, which the
forward-backward algorithm gives exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rubricate.neural.sequence.chain import Chain, expect
from rubricate.neural.sequence.tagging import Scheme, Tokens
from rubricate.neural.sequence.vocabulary import SHAPES, normal_form, shape_of
from rubricate.progress import Progress, silent

if TYPE_CHECKING:
    from scipy.sparse import csr_array

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

#: Sequences of about one length worked on at once.
_AT_ONCE = 512
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
    """Return one row per token, sequence after sequence, with a one for each feature it has."""
    from scipy.sparse import csr_array

    columns: list[int] = []
    first = [0]
    for tokens in sequences:
        for names in token_features(tokens):
            columns.extend(numbers[name] for name in names if name in numbers)
            first.append(len(columns))
    shape = (len(first) - 1, len(numbers))
    return csr_array((np.ones(len(columns)), columns, first), shape=shape)


@dataclass(frozen=True, eq=False, slots=True)
class LinearModel:
    """Weights of features for tags (features, tags), and the chain's own."""

    numbers: Mapping[str, int]
    weights: F64
    chain: Chain

    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of tags."""
        scores = feature_table(sequences, self.numbers) @ self.weights
        ends = np.cumsum([len(one.words) for one in sequences])
        return np.split(scores, ends[:-1])


class _Objective:
    """The penalised negative log-likelihood of tagged sequences, and its gradient."""

    def __init__(self, table: csr_array, tags: Sequence[I64], scheme: Scheme, c2: float) -> None:
        self.table, self.back, self.c2 = table, table.T.tocsr(), c2
        self.n_tags = len(scheme.tags)
        self.first, self.step = scheme.first_scores(), scheme.step_scores()
        flat = np.concatenate(tags)
        self.lengths = np.array([len(one) for one in tags], dtype=np.int64)
        starts = np.cumsum(self.lengths) - self.lengths
        one_hot = np.eye(self.n_tags)[flat]
        first, last = one_hot[starts], one_hot[starts + self.lengths - 1]
        steps = np.zeros((self.n_tags, self.n_tags))
        inner = np.ones(len(flat), dtype=bool)
        inner[starts] = False
        np.add.at(steps, (flat[np.flatnonzero(inner) - 1], flat[inner]), 1.0)
        self.observed = (one_hot, first.sum(axis=0), steps, last.sum(axis=0))
        self.flat, self.starts, self.inner = flat, starts, inner
        order = np.argsort(self.lengths, kind="stable")
        self.groups = [order[i : i + _AT_ONCE] for i in range(0, len(order), _AT_ONCE)]

    def unpack(self, w: F64) -> tuple[F64, Chain]:
        k = self.n_tags
        weights = w[: -k * (k + 2)].reshape(-1, k)
        first, step, last = np.split(w[-k * (k + 2) :], [k, k * (k + 1)])
        return weights, Chain(first + self.first, step.reshape(k, k) + self.step, last)

    def __call__(self, w: F64) -> tuple[float, F64]:
        weights, chain = self.unpack(w)
        scores = self.table @ weights
        one_hot, first, steps, last = self.observed
        surplus = -one_hot
        expected_first, expected_last = -first, -last
        expected_steps = -steps
        value = self.c2 * float(w @ w) - self._observed_score(scores, chain)
        for group in self.groups:
            lengths = self.lengths[group]
            place = self.starts[group][:, None] + np.arange(int(lengths.max()))
            inside = np.arange(place.shape[1]) < lengths[:, None]
            place = np.where(inside, place, 0)
            made = expect(chain, scores[place], lengths)
            value += float(made.log_z.sum())
            surplus[place[inside]] += made.marginal[inside]
            expected_first = expected_first + made.marginal[:, 0].sum(axis=0)
            ends = made.marginal[np.arange(len(group)), lengths - 1]
            expected_last = expected_last + ends.sum(axis=0)
            expected_steps = expected_steps + made.steps
        parts = (self.back @ surplus, expected_first, expected_steps, expected_last)
        gradient = np.concatenate([part.ravel() for part in parts]) + 2 * self.c2 * w
        return value, gradient

    def _observed_score(self, scores: F64, chain: Chain) -> float:
        flat = self.flat
        own = scores[np.arange(len(flat)), flat].sum()
        step = chain.step[flat[np.flatnonzero(self.inner) - 1], flat[self.inner]].sum()
        ends = chain.first[flat[self.starts]] + chain.last[flat[self.starts + self.lengths - 1]]
        return float(own + step + ends.sum())


def learn_linear(
    sequences: Sequence[Tokens],
    tags: Sequence[I64],
    scheme: Scheme,
    *,
    c2: float = 1.0,
    least: int = 2,
    iterations: int = 100,
    progress: Progress = silent,
) -> LinearModel:
    """Learn the weights of all features that occur at least ``least`` times.

    References
    ----------
    F. Sha and F. Pereira (2003). Shallow parsing with conditional random fields. NAACL.
    """
    from scipy.optimize import OptimizeResult, minimize

    numbers = number_features(sequences, least)
    objective = _Objective(feature_table(sequences, numbers), tags, scheme, c2)
    k = len(scheme.tags)
    done = 0

    def after(intermediate_result: OptimizeResult) -> None:
        nonlocal done
        done += 1
        progress(done, iterations, "learning weights")

    start = np.zeros(len(numbers) * k + k * (k + 2))
    result = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=after,
        options={"maxiter": iterations, "maxcor": 6},
    )
    weights, chain = objective.unpack(np.asarray(result["x"], dtype=np.float64))
    return LinearModel(numbers, weights, chain)
