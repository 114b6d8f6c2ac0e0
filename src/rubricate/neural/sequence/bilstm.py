"""The network of ``bilstm-crf``, and the loop that teaches it: seeded, stopped early, resumable.

It reads words, letters, endings and shapes in both directions.

After Lample et al. (2016): each word is a learned vector beside what an LSTM makes of its letters
from both ends; an LSTM over the words in both directions gives every state a score; a CRF scores
the chain of states. Endings and shapes are ours, and so are fixed word vectors where there are any.

A chain of T tokens and K states has the score (Lafferty et al. 2001; Lample et al. 2016, eq. 1)

    s(x, y) = first[y_1] + sum_t emission[t, y_t] + sum_t step[y_(t-1), y_t] + last[y_T]

and p(y | x) = exp(s(x, y)) / Z(x), with Z(x) summed over all K^T state sequences by the forward
algorithm. Best states and marginals, which need no gradient, are in ``chain``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rubricate.arrays import F32, F64, I64
from rubricate.errors import Fault, InputError
from rubricate.neural.recipe import BiLstmRecipe, BiLstmShape
from rubricate.neural.sequence.bilstm_crf import Epoch
from rubricate.neural.sequence.states import Chain, Scheme
from rubricate.neural.sequence.vocabulary import COLUMNS, UNSEEN, Encoded, TokenBatch, make_batch
from rubricate.progress import Progress, silent


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: for networks this small, more only wait for each other.

    It also makes results independent of the number of cores.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class ChainScores(NamedTuple):
    """Scores of the chain itself: its first state (K), each step (K, K), its last state (K)."""

    first: Tensor
    step: Tensor
    last: Tensor


def path_scores(emissions: Tensor, states: Tensor, mask: Tensor, scores: ChainScores) -> Tensor:
    """Return s(x, y) of the given states, one per sequence."""
    own = emissions.gather(2, states.unsqueeze(2)).squeeze(2).masked_fill(~mask, 0.0).sum(1)
    steps = scores.step[states[:, :-1], states[:, 1:]].masked_fill(~mask[:, 1:], 0.0).sum(1)
    end = states.gather(1, (mask.sum(1) - 1).unsqueeze(1)).squeeze(1)
    return own + steps + scores.first[states[:, 0]] + scores.last[end]


def log_partition(emissions: Tensor, mask: Tensor, scores: ChainScores) -> Tensor:
    """Return log Z(x) of each sequence by the forward algorithm; arguments as `path_scores`."""
    alpha = scores.first + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        through = (alpha.unsqueeze(2) + scores.step).logsumexp(1) + emissions[:, t]
        alpha = through.where(mask[:, t].unsqueeze(1), alpha)
    return (alpha + scores.last).logsumexp(1)


def log_likelihood(emissions: Tensor, states: Tensor, mask: Tensor, scores: ChainScores) -> Tensor:
    """Return log p(y | x) of each sequence; arguments as for `path_scores`.

    J. Lafferty, A. McCallum and F. Pereira (2001). Conditional random fields. ICML.
    G. Lample et al. (2016). Neural architectures for named entity recognition. NAACL.

    >>> scores = ChainScores(torch.zeros(2), torch.zeros(2, 2), torch.zeros(2))
    >>> states, mask = torch.tensor([[0, 1, 1]]), torch.ones(1, 3, dtype=torch.bool)
    >>> round(float(log_likelihood(torch.zeros(1, 3, 2), states, mask, scores).exp()), 6)
    0.125
    """
    return path_scores(emissions, states, mask, scores) - log_partition(emissions, mask, scores)


class Recogniser:
    """A BiLSTM-CRF: parts with weights, and what is computed from them."""

    def __init__(
        self,
        shape: BiLstmShape,
        sizes: Mapping[str, int],
        scheme: Scheme,
        vectors: F32 | None = None,
    ) -> None:
        self.shape, self.scheme = shape, scheme
        lengths = {
            "words": shape.word,
            "endings": shape.ending,
            "shapes": shape.shape,
            "standings": shape.standing,
        }
        self.embedded = [name for name, length in lengths.items() if length]
        parts: dict[str, nn.Module] = {
            n: nn.Embedding(sizes[n], lengths[n], padding_idx=0) for n in self.embedded
        }
        width = sum(lengths.values())
        if shape.spelled:
            parts["characters"] = nn.Embedding(sizes["characters"], shape.character, padding_idx=0)
            parts["speller"] = nn.LSTM(
                shape.character, shape.spelled, batch_first=True, bidirectional=True
            )
            width += 2 * shape.spelled
        self.vectors = None if vectors is None else torch.from_numpy(vectors)
        if vectors is not None:
            parts["fixed"] = nn.Linear(vectors.shape[1], shape.fixed)
            width += shape.fixed
        parts["reader"] = nn.LSTM(
            width,
            shape.hidden,
            num_layers=shape.layers,
            batch_first=True,
            bidirectional=True,
            dropout=shape.dropout if shape.layers > 1 else 0.0,
        )
        parts["tags"] = nn.Linear(2 * shape.hidden, len(scheme.states))
        self.parts = nn.ModuleDict(parts)
        self.chain = nn.ParameterDict(
            {
                "first": torch.zeros(len(scheme.states)),
                "step": torch.zeros(len(scheme.states), len(scheme.states)),
                "last": torch.zeros(len(scheme.states)),
            }
        )
        for name in (*self.embedded, "characters"):
            if name in parts:
                weight: Any = self.parts[name].weight
                nn.init.normal_(weight, std=0.1)
                with torch.no_grad():
                    weight[0] = 0
        self._first = torch.from_numpy(scheme.first_scores()).float()
        self._step = torch.from_numpy(scheme.step_scores()).float()

    def emissions(self, batch: TokenBatch, *, train: bool = False) -> Tensor:
        """Return the score of every state at every token (n, T, K)."""
        rnn = torch.nn.utils.rnn
        drop = torch.nn.functional.dropout
        self.parts.train(train)
        column = dict(zip(COLUMNS, torch.from_numpy(batch.columns).unbind(2), strict=True))
        inputs = [self.parts[name](column[name]) for name in self.embedded]
        if self.shape.spelled:
            inputs.append(self._spelled(batch)[torch.from_numpy(batch.spelling)])
        if self.vectors is not None:
            inputs.append(self.parts["fixed"](self.vectors[column["given"]]))
        joined = drop(torch.cat(inputs, dim=2), self.shape.dropout, train)
        lengths = torch.from_numpy(batch.mask.sum(axis=1))
        packed = rnn.pack_padded_sequence(joined, lengths, batch_first=True, enforce_sorted=False)
        read, _ = rnn.pad_packed_sequence(
            self.parts["reader"](packed)[0], batch_first=True, total_length=batch.mask.shape[1]
        )
        emissions: Tensor = self.parts["tags"](drop(read, self.shape.dropout, train))
        return emissions

    def _spelled(self, batch: TokenBatch) -> Tensor:
        """Return the last state of the letters' LSTM, from both sides, for each spelling."""
        letters = torch.from_numpy(batch.characters)
        # Padding is spelled too; a length of 0 is not allowed.
        lengths = (letters > 0).sum(1).clamp(min=1)
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            self.parts["characters"](letters), lengths, batch_first=True, enforce_sorted=False
        )
        _, (ends, _) = self.parts["speller"](packed)
        joined: Tensor = torch.cat((ends[0], ends[1]), dim=1)
        return joined

    def scores(self) -> ChainScores:
        """Return the chain's scores, with what is not allowed forbidden."""
        chain = self.chain
        return ChainScores(chain["first"] + self._first, chain["step"] + self._step, chain["last"])

    def loss(self, batch: TokenBatch, states: I64) -> Tensor:
        """Return the mean negative log-likelihood of a training batch's states, per sequence."""
        emissions = self.emissions(batch, train=True)
        mask = torch.from_numpy(batch.mask)
        return -log_likelihood(emissions, torch.from_numpy(states), mask, self.scores()).mean()

    def numpy_chain(self) -> Chain:
        """Return the chain for finding best states and marginals."""
        first, step, last = (part.detach().double().numpy() for part in self.scores())
        return Chain(first, step, last)

    def parameters(self) -> list[Tensor]:
        """Return everything that is trained."""
        return [*self.parts.parameters(), *self.chain.parameters()]

    def weights(self) -> dict[str, Tensor]:
        """Return all weights by name, without the fixed vectors."""
        found = {f"parts.{name}": value for name, value in self.parts.state_dict().items()}
        found.update({f"chain.{name}": value for name, value in self.chain.state_dict().items()})
        return found

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Take over weights of `weights`; InputError when they do not fit."""
        own = self.weights()
        if set(own) != set(weights) or any(own[n].shape != weights[n].shape for n in own):
            raise InputError("the weights do not fit the network that model.json describes")
        with torch.no_grad():
            for name, value in own.items():
                value.copy_(weights[name])


def hide_words(batch: TokenBatch, chances: F64, rng: np.random.Generator) -> TokenBatch:
    """Return the batch with some words made unseen, each by its chance, so that unseen is learned.

    Letters, endings and given vectors stay, as they do for a word that really was never seen.
    """
    columns = batch.columns.copy()
    words = columns[:, :, 0]
    words[rng.random(words.shape) < chances[words]] = UNSEEN
    return batch._replace(columns=columns)


class SequenceLesson(NamedTuple):
    """A sequence in numbers and its states."""

    encoded: Encoded
    states: I64


#: Says how good the network now is on notes held out; larger is better.
Judge = Callable[[Recogniser], float]


class BiLstmTraining:
    """The training of one network: what it has done so far and how it goes on."""

    def __init__(
        self, network: Recogniser, recipe: BiLstmRecipe, *, seed: int, identity: str
    ) -> None:
        self.network, self.recipe = network, recipe
        self.seed, self.identity = seed, identity
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=recipe.rate, weight_decay=recipe.decay
        )
        self.history: list[Epoch] = []
        self.average = {name: value.clone() for name, value in network.weights().items()}
        self.best = dict(self.average)
        self.steps = 0

    def train(
        self,
        lessons: Sequence[SequenceLesson],
        judge: Judge | None,
        *,
        checkpoint: Path | None = None,
        progress: Progress = silent,
    ) -> None:
        """Train until the epochs or the patience are used up."""
        if checkpoint is not None:
            self._resume(checkpoint)
        while len(self.history) < self.recipe.epochs and not self._is_stuck():
            loss = self._epoch(lessons, progress)
            self._after_epoch(loss, judge)
            if checkpoint is not None:
                self._write(checkpoint)
        self.network.load_weights(self.best)

    def _is_stuck(self) -> bool:
        since = 0
        for epoch in reversed(self.history):
            if epoch.best:
                break
            since += 1
        return since >= self.recipe.patience

    def _epoch(self, lessons: Sequence[SequenceLesson], progress: Progress) -> float:
        number = len(self.history)
        # Seeded anew each epoch, so that a resumed run goes on exactly as it would have.
        rng = np.random.default_rng([self.seed, number])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            losses = []
            chances = hiding_chances(lessons, self.recipe.hide)
            batches = list(_batches(lessons, self.recipe.batch, rng))
            for i, (batch, states) in enumerate(batches):
                self._set_rate((number + i / len(batches)) / self.recipe.epochs)
                losses.append(self._step(hide_words(batch, chances, rng), states))
                done, total = number * len(batches) + i + 1, self.recipe.epochs * len(batches)
                progress(done, total, "learning")
        return float(np.mean(losses))

    def _set_rate(self, done: float) -> None:
        factor = 0.1 + 0.9 * 0.5 * (1 + np.cos(np.pi * done))
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate * factor

    def _step(self, batch: TokenBatch, states: I64) -> float:
        loss = self.network.loss(batch, states)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.clip)
        self.optimizer.step()
        self.steps += 1
        # Early on the average would be of the first, random weights.
        decay = min(self.recipe.average, self.steps / (self.steps + 10))
        keep = 1 - decay if self.recipe.average else 1.0
        for name, value in self.network.weights().items():
            self.average[name].lerp_(value, keep)
        return float(loss.detach())

    def _after_epoch(self, loss: float, judge: Judge | None) -> None:
        own = {name: value.clone() for name, value in self.network.weights().items()}
        self.network.load_weights(self.average)
        result = None if judge is None else judge(self.network)
        before = [p.held_out for p in self.history if p.held_out is not None]
        better = result is None or result > max(before, default=-1.0)
        if better:
            self.best = {name: value.clone() for name, value in self.average.items()}
        self.history.append(Epoch(len(self.history) + 1, loss, result, better))
        self.network.load_weights(own)

    def _write(self, path: Path) -> None:
        from rubricate.neural.training.checkpoints import Checkpoint, write_checkpoint

        tensors: dict[str, Tensor] = {}
        for part, weights in (
            ("own", self.network.weights()),
            ("average", self.average),
            ("best", self.best),
        ):
            tensors |= {f"{part}.{name}": value.clone() for name, value in weights.items()}
        for i, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": value for name, value in state.items()}
        facts = {
            "identity": self.identity,
            "recipe": asdict(self.recipe),
            "steps": self.steps,
            "history": [list(epoch) for epoch in self.history],
        }
        write_checkpoint(path, Checkpoint(tensors, facts))

    def _resume(self, path: Path) -> None:
        from rubricate.neural.training.checkpoints import read_checkpoint

        found = read_checkpoint(path)
        if found is None:
            return
        tensors, facts = found.tensors, found.facts
        if facts["identity"] != self.identity or facts["recipe"] != asdict(self.recipe):
            raise InputError(
                [Fault("the checkpoint is of another training run: remove it first", path)]
            )
        parts: dict[str, dict[str, Tensor]] = {}
        states: dict[int, dict[str, Tensor]] = {}
        for full, value in tensors.items():
            part, _, name = full.partition(".")
            if part == "optimizer":
                number, _, name = name.partition(".")
                states.setdefault(int(number), {})[name] = value
            else:
                parts.setdefault(part, {})[name] = value
        self.network.load_weights(parts["own"])
        self.average, self.best = parts["average"], parts["best"]
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": states, "param_groups": groups})
        self.steps = int(facts["steps"])
        self.history = [Epoch(*one) for one in facts["history"]]


def hiding_chances(lessons: Sequence[SequenceLesson], hide: float) -> F64:
    """Return, by number, the probability that a word is made unseen in training."""
    counts = np.bincount(np.concatenate([lesson.encoded.columns[:, 0] for lesson in lessons]))
    chances: F64 = hide / (hide + np.maximum(counts, 1))
    return chances


def _batches(
    lessons: Sequence[SequenceLesson], size: int, rng: np.random.Generator
) -> Iterator[tuple[TokenBatch, I64]]:
    """Yield batches of sequences of about one length, in random order."""
    lengths = np.array([len(lesson.states) for lesson in lessons])
    order = np.argsort(lengths + 6 * rng.random(len(lessons)), kind="stable")
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    for g in rng.permutation(len(groups)).tolist():
        own = [lessons[i] for i in groups[g].tolist()]
        batch = make_batch([lesson.encoded for lesson in own])
        states = np.zeros(batch.mask.shape, dtype=np.int64)
        for row, lesson in zip(states, own, strict=True):
            row[: len(lesson.states)] = lesson.states
        yield batch, states
