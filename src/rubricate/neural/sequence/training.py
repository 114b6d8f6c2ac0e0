"""The loop that teaches the ``bilstm-crf`` network: seeded, stopped early, resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rubricate.arrays import F64, I64
from rubricate.errors import Fault, InputError
from rubricate.neural.recipe import BiLstmRecipe
from rubricate.neural.sequence.bilstm import Recogniser, hide_words
from rubricate.neural.sequence.bilstm_crf import Epoch
from rubricate.neural.sequence.vocabulary import Encoded, TokenBatch, make_batch
from rubricate.neural.training.checkpoints import Checkpoint, read_checkpoint, write_checkpoint
from rubricate.progress import Progress, silent


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
