"""The loop that teaches the ``bilstm-crf`` network: seeded, watched, stopped early, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.errors import Fault, InputError
from rubricate.neural.sequence.bilstm import Recogniser, Shape, hide_words, import_torch
from rubricate.neural.sequence.vocabulary import Batch, Encoded, make_batch

if TYPE_CHECKING:
    from torch import Tensor

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the network is trained.

    Parameters
    ----------
    epochs, patience : int
        Passes over the training notes at most, and passes without a better result on the notes
        held out after which training ends.
    held_out : float
        Share of the notes held out to choose the best pass; 0 takes the last one.
    batch : int
        Sequences a step.
    rate, decay : float
        Highest learning rate and weight decay of AdamW. The rate falls to a tenth by a half
        cosine over all epochs.
    clip : float
        Longest gradient allowed.
    hide : float
        A word that occurs n times is made unseen with probability hide / (hide + n) (after
        Kiperwasser and Goldberg 2016).
    average : float
        Decay of the running average of the weights that is kept; 0 keeps the weights themselves.
    """

    epochs: int = 12
    patience: int = 4
    held_out: float = 0.1
    batch: int = 32
    rate: float = 3e-3
    decay: float = 0.01
    clip: float = 5.0
    hide: float = 1.0
    average: float = 0.99
    network: Shape = field(default_factory=Shape)


class Progress(NamedTuple):
    """One pass over the training notes: its number from 1, mean loss, result held out."""

    epoch: int
    loss: float
    held_out: float | None
    best: bool


class Lesson(NamedTuple):
    """A sequence in numbers and its tags."""

    encoded: Encoded
    tags: I64


#: Says how good the network now is on notes held out; larger is better.
Judge = Callable[[Recogniser], float]
Watch = Callable[[Progress], None]


class Run:
    """A training run: what it has done so far and how it goes on.

    Parameters
    ----------
    network : Recogniser
        The network to teach; afterwards it has the best weights found.
    recipe : Recipe
        How.
    seed : int
        The order of batches, dropout and hidden words follow from it alone.
    identity : str
        What is being trained on; a checkpoint of something else is refused.
    """

    def __init__(self, network: Recogniser, recipe: Recipe, *, seed: int, identity: str) -> None:
        torch = import_torch()
        self.network, self.recipe = network, recipe
        self.seed, self.identity = seed, identity
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=recipe.rate, weight_decay=recipe.decay
        )
        self.history: list[Progress] = []
        self.average = {name: value.clone() for name, value in network.weights().items()}
        self.best = dict(self.average)
        self.steps = 0

    def train(
        self,
        lessons: Sequence[Lesson],
        judge: Judge | None,
        *,
        watch: Watch | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        """Train until the epochs or the patience are used up."""
        if checkpoint is not None:
            self._resume(checkpoint)
        while len(self.history) < self.recipe.epochs and not self._is_stuck():
            loss = self._epoch(lessons)
            self._after_epoch(loss, judge)
            if watch is not None:
                watch(self.history[-1])
            if checkpoint is not None:
                self._write(checkpoint)
        self.network.load_weights(self.best)

    def _is_stuck(self) -> bool:
        since = 0
        for progress in reversed(self.history):
            if progress.best:
                break
            since += 1
        return since >= self.recipe.patience

    def _epoch(self, lessons: Sequence[Lesson]) -> float:
        torch = import_torch()
        number = len(self.history)
        # Seeded anew each epoch, so that a resumed run goes on exactly as it would have.
        rng = np.random.default_rng([self.seed, number])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            losses = []
            chances = hiding_chances(lessons, self.recipe.hide)
            batches = list(_batches(lessons, self.recipe.batch, rng))
            for i, (batch, tags) in enumerate(batches):
                self._set_rate((number + i / len(batches)) / self.recipe.epochs)
                losses.append(self._step(hide_words(batch, chances, rng), tags))
        return float(np.mean(losses))

    def _set_rate(self, done: float) -> None:
        factor = 0.1 + 0.9 * 0.5 * (1 + np.cos(np.pi * done))
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate * factor

    def _step(self, batch: Batch, tags: I64) -> float:
        torch = import_torch()
        loss = self.network.loss(batch, tags)
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
        self.history.append(Progress(len(self.history) + 1, loss, result, better))
        self.network.load_weights(own)

    def _write(self, path: Path) -> None:
        from safetensors.torch import save_file

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
            "history": [list(progress) for progress in self.history],
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".new")
        save_file(tensors, fresh, metadata={"facts": json.dumps(facts)})
        fresh.replace(path)

    def _resume(self, path: Path) -> None:
        if not path.is_file():
            return
        tensors, facts = _read_checkpoint(path)
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
        self.history = [Progress(*one) for one in facts["history"]]


def _read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as stored:
            names = stored.keys()
            facts = json.loads(stored.metadata()["facts"])
            return {name: stored.get_tensor(name) for name in names}, facts
    except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise InputError([Fault("not a checkpoint of a training run", path)]) from error


def hiding_chances(lessons: Sequence[Lesson], hide: float) -> npt.NDArray[np.float64]:
    """Return, by number, the probability that a word is made unseen in training."""
    counts = np.bincount(np.concatenate([lesson.encoded.columns[:, 0] for lesson in lessons]))
    chances: npt.NDArray[np.float64] = hide / (hide + np.maximum(counts, 1))
    return chances


def _batches(
    lessons: Sequence[Lesson], size: int, rng: np.random.Generator
) -> Iterator[tuple[Batch, I64]]:
    """Yield batches of sequences of about one length, in random order."""
    lengths = np.array([len(lesson.tags) for lesson in lessons])
    order = np.argsort(lengths + 6 * rng.random(len(lessons)), kind="stable")
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    for g in rng.permutation(len(groups)).tolist():
        own = [lessons[i] for i in groups[g].tolist()]
        batch = make_batch([lesson.encoded for lesson in own])
        tags = np.zeros(batch.mask.shape, dtype=np.int64)
        for row, lesson in zip(tags, own, strict=True):
            row[: len(lesson.tags)] = lesson.tags
        yield batch, tags
