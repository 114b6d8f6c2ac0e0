"""The loop that teaches a network: seeded, resumable, with running averages of the weights."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rubricate.errors import Fault, InputError
from rubricate.neural.checkpoints import (
    Checkpoint,
    load_parameters,
    parameters_of,
    read_checkpoint,
    write_checkpoint,
)
from rubricate.neural.losses import LossWeights, row_loss
from rubricate.neural.network import Network
from rubricate.neural.passes import Lesson, Lessons
from rubricate.neural.scoring_torch import tensors


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained.

    Parameters
    ----------
    steps : int
        Steps in all.
    seconds : float, optional
        Stop when this time is used up; the learning rate falls accordingly. Without it the
        result depends on the seed alone.
    rate, scorer_rate : float
        Highest learning rate of the encoder and of the scorer.
    layer_decay : float
        Each layer nearer to the words learns this much slower.
    warm_up : float
        Share of the steps in which the rate rises.
    average : float
        Decay of the running average of the weights; 0 takes the last weights.
    perturbed : float
        Size of the adversarial weight perturbation; 0 is none.
    perturbed_from : float
        Share of the steps after which the perturbation begins.
    twice : float
        Weight of the disagreement of two passes with different dropout; 0 is one pass.
    frozen : int
        How many of the lowest encoder layers (with the words) do not learn.
    """

    steps: int = 1000
    seconds: float | None = None
    rate: float = 1.5e-4
    scorer_rate: float = 6e-4
    layer_decay: float = 0.95
    warm_up: float = 0.06
    weight_decay: float = 0.01
    average: float = 0.998
    perturbed: float = 0.0
    perturbed_from: float = 1 / 3
    twice: float = 0.0
    frozen: int = 0
    clip: float = 1.0
    seed: int = 0
    weights: LossWeights = field(default_factory=LossWeights)


@dataclass(frozen=True, slots=True)
class Progress:
    """What a training run has done so far."""

    step: int
    steps: int
    loss: float
    seconds: float


#: Called now and then with the progress and the averaged network; may return figures to keep in
#: the history. ``{"stop": True}`` among them ends the training.
Watch = Callable[[Progress, Network], "dict[str, Any] | None"]


class Trainer:
    """Trains one network with one recipe.

    Parameters
    ----------
    network : Network
        Is changed in place; at the end it holds the averaged weights.
    lessons : Lessons
    recipe : Recipe
    """

    def __init__(self, network: Network, lessons: Lessons, recipe: Recipe) -> None:
        self.network = network
        self.lessons = lessons
        self.recipe = recipe
        self.device = next(network.parameters()).device
        self.history: list[dict[str, Any]] = []
        self._optimizer = torch.optim.AdamW(
            _groups(network, recipe), lr=recipe.rate, fused=self.device.type == "cuda"
        )
        self._averages = parameters_of(network)
        self._step = 0
        self._spent = 0.0
        self._stopped = False

    def run(
        self,
        *,
        watch: Watch | None = None,
        every: int = 100,
        checkpoint: Path | None = None,
        source: Iterable[Lesson] | None = None,
    ) -> None:
        """Train to the end, or on from where a checkpoint stopped.

        ``source`` gives the lessons of the steps in order, where they are made elsewhere.
        """
        if checkpoint is not None:
            self._resume(checkpoint)
        given = iter(source) if source is not None else None
        begun = time.monotonic() - self._spent
        while not self._finished():
            lesson = next(given) if given is not None else self.lessons.lesson(self._step)
            loss = self._learn(lesson)
            self._step += 1
            self._spent = time.monotonic() - begun
            if self._step % every == 0 or self._finished():
                total = float(loss)
                if not math.isfinite(total):
                    raise FloatingPointError(f"the loss is {total} at step {self._step}")
                self._report(total, watch)
                if checkpoint is not None:
                    write_checkpoint(checkpoint, self._checkpoint())
        self.use_averages()

    def use_averages(self) -> None:
        """Put the averaged weights into the network."""
        if self.recipe.average:
            load_parameters(self.network, self._averages)

    def _done(self) -> float:
        done = self._step / self.recipe.steps
        if self.recipe.seconds is not None:
            done = max(done, self._spent / self.recipe.seconds)
        return min(done, 1.0)

    def _finished(self) -> bool:
        return self._stopped or self._done() >= 1.0

    def _learn(self, lesson: Lesson) -> Tensor:
        recipe = self.recipe
        # Seeding each step makes a resumed run draw what an unbroken one would have drawn.
        torch.manual_seed(recipe.seed * 1_000_003 + self._step)
        self.network.train()
        factor = _rate_factor(self._done(), recipe.warm_up)
        for group in self._optimizer.param_groups:
            group["lr"] = group["base"] * factor
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._loss(lesson)
        loss.backward()  # type: ignore[no-untyped-call]
        if recipe.perturbed and self._done() > recipe.perturbed_from:
            self._perturbed_gradient(lesson)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), recipe.clip)
        self._optimizer.step()
        if recipe.average:
            self._update_averages()
        return loss.detach()

    def _loss(self, lesson: Lesson) -> Tensor:
        batch = lesson.batch
        inputs = tensors(batch, self.device)
        targets = torch.from_numpy(lesson.targets).to(self.device, non_blocking=True)
        judged = torch.from_numpy(lesson.judged).to(self.device, non_blocking=True)
        place = torch.arange(batch.note.shape[1], device=self.device)
        valid = (place > 0) & (place < inputs[1].unsqueeze(1) - 1)
        weights = self.recipe.weights
        half = self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            pieces, presence = self.network(*inputs)
            again = self.network(*inputs)[0] if self.recipe.twice else None
        loss = row_loss(pieces, presence, targets, judged, valid, weights)
        if again is not None:
            loss = loss + self.recipe.twice * _disagreement(pieces, again, judged, valid)
        return loss

    def _perturbed_gradient(self, lesson: Lesson) -> None:
        """Add the gradient at the weights moved a little towards a higher loss (AWP)."""
        moved: list[tuple[Tensor, Tensor]] = []
        with torch.no_grad():
            for parameter in self.network.parameters():
                if parameter.grad is None or parameter.ndim < 2:
                    continue
                norm = parameter.grad.norm()
                step = self.recipe.perturbed * parameter.norm() / (norm + 1e-9)
                moved.append((parameter, parameter.detach().clone()))
                parameter.add_(parameter.grad * step)
        self._loss(lesson).backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            for weight, old in moved:
                weight.copy_(old)

    @torch.no_grad()
    def _update_averages(self) -> None:
        # A young average would still hold the first weights: the decay grows with the steps.
        decay = min(self.recipe.average, (1 + self._step) / (10 + self._step))
        names = [n for n, p in self.network.named_parameters() if p.requires_grad]
        now = dict(self.network.named_parameters())
        torch._foreach_lerp_([self._averages[n] for n in names], [now[n] for n in names], 1 - decay)

    def _report(self, loss: float, watch: Watch | None) -> None:
        entry: dict[str, Any] = {"step": self._step, "loss": loss, "seconds": self._spent}
        if watch is not None:
            own = parameters_of(self.network)
            self.use_averages()
            progress = Progress(self._step, self.recipe.steps, loss, self._spent)
            entry.update(watch(progress, self.network) or {})
            load_parameters(self.network, own)
        self._stopped = bool(entry.pop("stop", False))
        self.history.append(entry)

    def _checkpoint(self) -> Checkpoint:
        tensors_: dict[str, Tensor] = {}
        for name, parameter in self.network.named_parameters():
            tensors_[f"weights.{name}"] = parameter.detach()
            tensors_[f"averages.{name}"] = self._averages[name]
            for key, value in self._optimizer.state.get(parameter, {}).items():
                tensors_[f"optimizer.{key}.{name}"] = torch.as_tensor(value)
        facts = {
            "step": self._step,
            "seconds": self._spent,
            "history": self.history,
            "stopped": self._stopped,
        }
        return Checkpoint(tensors_, facts)

    def _resume(self, path: Path) -> None:
        found = read_checkpoint(path)
        if found is None:
            return
        tensors_ = found.tensors
        if not {f"weights.{n}" for n, _ in self.network.named_parameters()} <= set(tensors_):
            raise InputError([Fault("a checkpoint of another network", path)])
        names = [n for n, _ in self.network.named_parameters()]
        load_parameters(self.network, {n: tensors_[f"weights.{n}"] for n in names})
        for name, parameter in self.network.named_parameters():
            self._averages[name] = tensors_[f"averages.{name}"].to(self.device)
            state = {
                key: tensors_[f"optimizer.{key}.{name}"].to(self.device)
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"optimizer.{key}.{name}" in tensors_
            }
            if state:
                self._optimizer.state[parameter] = state
        self._step = int(found.facts["step"])
        self._spent = float(found.facts["seconds"])
        self.history = list(found.facts["history"])
        self._stopped = bool(found.facts["stopped"])


def _disagreement(first: Tensor, second: Tensor, judged: Tensor, valid: Tensor) -> Tensor:
    """Return the mean squared difference of two passes' probabilities (after R-Drop)."""
    mask = judged.unsqueeze(2) & valid.unsqueeze(1)
    apart = (first[..., 0].float().sigmoid() - second[..., 0].float().sigmoid()) ** 2
    return torch.where(mask, apart, 0.0).sum() / judged.sum().clamp(min=1)


def _rate_factor(done: float, warm_up: float) -> float:
    if done < warm_up:
        return max(done / warm_up, 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (done - warm_up) / (1 - warm_up)))


def _groups(network: Network, recipe: Recipe) -> list[dict[str, Any]]:
    """Sort parameters by learning rate and weight decay; freeze the lowest layers."""
    layers = network.shape.layers
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in network.named_parameters():
        depth = network.depth(name)
        if depth is None:
            rate = recipe.scorer_rate
        else:
            if depth <= recipe.frozen and recipe.frozen:
                parameter.requires_grad_(False)
                continue
            rate = recipe.rate * recipe.layer_decay ** (layers - depth)
        decay = recipe.weight_decay if parameter.ndim >= 2 else 0.0
        groups.setdefault((rate, decay), []).append(parameter)
    return [
        {"params": found, "lr": rate, "base": rate, "weight_decay": decay}
        for (rate, decay), found in groups.items()
    ]
