"""The ``crf`` matcher: a linear-chain CRF over hand-made features, without torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.sequence.matcher import Origin, SequenceMatcher, SequenceModel
from rubricate.neural.sequence.states import (
    Chain,
    Context,
    Scheme,
    SchemeName,
    TokenRule,
    Tokens,
    expect,
)
from rubricate.neural.sequence.vocabulary import SHAPES, normal_form, shape_of
from rubricate.progress import Progress, silent

if TYPE_CHECKING:
    from scipy.sparse import csr_array


#: Sequences of about one length worked on at once.
_AT_ONCE = 512
#: How far to either side words are looked at.
_SHIFTS = (-3, -2, -1, 1, 2, 3)


def token_features(tokens: Tokens) -> Iterator[list[str]]:
    """Yield, for each token of a sequence, the names of what holds for it.

    >>> from rubricate.neural.sequence.states import cut_text
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
    """Give a number to each feature that occurs at least ``least`` times, frequent ones first."""
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
    """Weights of features for states (features, states), and the chain's own."""

    numbers: Mapping[str, int]
    weights: F64
    chain: Chain

    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of states."""
        scores = feature_table(sequences, self.numbers) @ self.weights
        ends = np.cumsum([len(one.words) for one in sequences])
        return np.split(scores, ends[:-1])


class _Objective:
    """The penalised negative log-likelihood of labelled sequences, and its gradient."""

    def __init__(self, table: csr_array, states: Sequence[I64], scheme: Scheme, c2: float) -> None:
        self.table, self.back, self.c2 = table, table.T.tocsr(), c2
        self.n_states = len(scheme.states)
        self.first, self.step = scheme.first_scores(), scheme.step_scores()
        flat = np.concatenate(states)
        self.lengths = np.array([len(one) for one in states], dtype=np.int64)
        starts = np.cumsum(self.lengths) - self.lengths
        one_hot = np.eye(self.n_states)[flat]
        first, last = one_hot[starts], one_hot[starts + self.lengths - 1]
        steps = np.zeros((self.n_states, self.n_states))
        inner = np.ones(len(flat), dtype=bool)
        inner[starts] = False
        np.add.at(steps, (flat[np.flatnonzero(inner) - 1], flat[inner]), 1.0)
        self.observed = (one_hot, first.sum(axis=0), steps, last.sum(axis=0))
        self.flat, self.starts, self.inner = flat, starts, inner
        order = np.argsort(self.lengths, kind="stable")
        self.groups = [order[i : i + _AT_ONCE] for i in range(0, len(order), _AT_ONCE)]

    def unpack(self, w: F64) -> tuple[F64, Chain]:
        k = self.n_states
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
    states: Sequence[I64],
    scheme: Scheme,
    *,
    c2: float = 1.0,
    least: int = 2,
    iterations: int = 100,
    progress: Progress = silent,
) -> LinearModel:
    """Learn the weights of all features that occur at least ``least`` times.

    F. Sha and F. Pereira (2003). Shallow parsing with conditional random fields. NAACL.
    """
    from scipy.optimize import OptimizeResult, minimize

    numbers = number_features(sequences, least)
    objective = _Objective(feature_table(sequences, numbers), states, scheme, c2)
    k = len(scheme.states)
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


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class LinearCrfModel(SequenceModel):
    """Learned weights with the labels they are for, and what they were learned from."""

    linear: LinearModel

    @property
    def chain(self) -> Chain:
        """Scores of the chain of states."""
        return self.linear.chain

    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of states."""
        return self.linear.emit(sequences)


class LinearCrfMatcher(SequenceMatcher[LinearCrfModel]):
    """Labels every token with one feature by weighed words, word ends, shapes and neighbours.

    The light equal of ``bilstm-crf``: what it says about tokens with several features, lines,
    bonus, confidence and presence holds here too. Training is convex and needs no seed.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = LinearCrfMatcher(iterations=20).fit(corpus).predict(corpus)
    >>> found.annotators[0].id
    'crf'
    """

    name: ClassVar[str] = "crf"
    values_file: ClassVar[str] = "features.json"

    def __init__(
        self,
        *,
        tokens: TokenRule = "words",
        context: Context = "line",
        scheme: SchemeName = "BIO",
        c2: float = 1.0,
        least: int = 1,
        iterations: int = 100,
        held_out: float = 0.1,
    ) -> None:
        super().__init__(tokens=tokens, context=context, scheme=scheme)
        self.c2 = c2
        self.least = least
        self.iterations = iterations
        self.held_out = held_out

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Learn from the notes in which the annotator judged every feature."""
        lessons = self._lessons(corpus, annotator, held_out=self.held_out, seed=0)
        linear = learn_linear(
            [one.tokens for one in lessons.labelled],
            [one.states for one in lessons.labelled],
            lessons.scheme,
            c2=self.c2,
            least=self.least,
            iterations=self.iterations,
            progress=progress,
        )
        self.model_ = LinearCrfModel(scheme=lessons.scheme, origin=lessons.origin, linear=linear)
        self._choose_bonus(lessons.aside, progress)
        return self

    @classmethod
    def _need_packages(cls, doing: str) -> None:
        try:
            import safetensors.numpy  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(f"{doing} a crf") from error

    def _write_model(self, weights: Path) -> dict[str, object]:
        from safetensors.numpy import save_file

        linear = self.model_.linear
        chain = linear.chain
        arrays = {
            "weights": linear.weights,
            "first": chain.first,
            "step": chain.step,
            "last": chain.last,
        }
        save_file({name: np.ascontiguousarray(value) for name, value in arrays.items()}, weights)
        return {"features": list(linear.numbers)}

    @classmethod
    def _read_model(
        cls, weights: Path, value: Mapping[str, Any], scheme: Scheme, origin: Origin
    ) -> LinearCrfModel:
        from safetensors.numpy import load_file

        arrays = load_file(weights)
        names = {str(name): i for i, name in enumerate(value["features"])}
        chain = Chain(arrays["first"], arrays["step"], arrays["last"])
        k = len(scheme.states)
        shapes = [arrays[name].shape for name in ("weights", "first", "step", "last")]
        fits = shapes == [(len(names), k), (k,), (k, k), (k,)]
        if not fits or any(np.isnan(array).any() for array in arrays.values()):
            place = weights.parent
            raise InputError([Fault("its weights do not fit its features and labels", place)])
        linear = LinearModel(names, arrays["weights"], chain)
        return LinearCrfModel(scheme=scheme, origin=origin, linear=linear)
