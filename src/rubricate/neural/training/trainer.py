"""Losses of a network, and the loop: seeded, resumable, early-stopped, averaged."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rubricate.errors import Fault, InputError
from rubricate.matchers.training_report import Look
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.checkpoints import (
    Checkpoint,
    StageFiles,
    load_parameters,
    parameters_of,
    read_checkpoint,
    write_checkpoint,
)
from rubricate.neural.training.measuring import tensors
from rubricate.neural.training.network import Logits, Network
from rubricate.neural.training.passes import Lesson, Lessons
from rubricate.progress import Progress, silent

#: About how many pieces an annotation has; brings the sum over pieces to the scale of a mean.
USUAL_PIECES = 6.0


def row_loss(
    said: Logits, targets: Tensor, judged: Tensor, valid: Tensor, weights: EncoderRecipe
) -> Tensor:
    """Return the loss of a lesson; how much each part of it counts is the recipe's."""
    mask = judged.unsqueeze(2) & valid.unsqueeze(1)
    n_rows = judged.sum().clamp(min=1)
    wanted = torch.stack([targets, *_edges(targets)], dim=-1)
    # Whoever marks evidence says nothing about contradictions: those channels learn elsewhere.
    logits = said.pieces[..., :3].float()
    each = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    if weights.positive != 1.0:
        each = each * (1 + (weights.positive - 1) * wanted)
    each = torch.where(mask.unsqueeze(-1), each, 0.0).sum((0, 1, 2)) / (n_rows * USUAL_PIECES)
    loss = each[0] + weights.edges * (each[1] + each[2])

    present = (targets.amax(-1)).float()
    known = functional.binary_cross_entropy_with_logits(
        said.presence.float(), present, reduction="none"
    )
    loss = loss + weights.presence * torch.where(judged, known, 0.0).sum() / n_rows
    if weights.overlap:
        chance = torch.where(mask, logits[..., 0].sigmoid(), 0.0)
        shared = (chance * targets).sum(-1)
        score = (2 * shared + 1) / (chance.sum(-1) + targets.sum(-1) + 1)
        lost = torch.where(judged & (present > 0.5), 1 - score, 0.0)
        loss = loss + weights.overlap * lost.sum() / n_rows
    return loss


def kept_loss(said: Logits, before: Logits, judged: Tensor, valid: Tensor) -> Tensor:
    """Return the distance of a network's outputs from those before it learned.

    Learning without forgetting (Li and Hoiem 2016): the earlier probabilities are the targets.
    """
    mask = (judged.unsqueeze(2) & valid.unsqueeze(1)).unsqueeze(-1)
    n_rows = judged.sum().clamp(min=1)

    def apart(now: Tensor, then: Tensor, where: Tensor) -> Tensor:
        each = functional.binary_cross_entropy_with_logits(
            now.float(), then.float().sigmoid(), reduction="none"
        )
        return torch.where(where, each, 0.0).sum() / n_rows

    return (
        apart(said.pieces, before.pieces, mask) / USUAL_PIECES
        + apart(said.presence, before.presence, judged)
        + apart(said.contradiction, before.contradiction, judged)
    )


def _edges(targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the starts and ends of runs of marked pieces."""
    before = functional.pad(targets, (1, 0))[..., :-1]
    after = functional.pad(targets, (0, 1))[..., 1:]
    return (targets - before).clamp(min=0), (targets - after).clamp(min=0)


class LookMeasure(NamedTuple):
    """Measure that is taken at each look, on the averaged network.

    ``units`` is how much of the progress one look is, beside steps of one unit each.
    """

    of: Callable[[Network, Progress], Mapping[str, float]]
    units: int = 0


class Trainer:
    """Trains one network with the lessons' recipe.

    With ``early_stop`` the network ends with the weights of the best look, and the training with
    the recipe's patience; otherwise with the last weights after all steps.
    """

    def __init__(
        self,
        network: Network,
        lessons: Lessons,
        *,
        steps: int,
        measure: LookMeasure | None = None,
        early_stop: bool = True,
    ) -> None:
        self.network = network
        self.lessons = lessons
        self.recipe = lessons.recipe
        self.steps = steps
        self.measure = measure
        self.early_stop = early_stop and measure is not None
        self.device = next(network.parameters()).device
        self.history: list[Look] = []
        self._before = None if lessons.rehearsal is None else copy.deepcopy(network).eval()
        self._half = self.device.type == "cuda" or _multiplies_in_half()
        self._optimizer = torch.optim.AdamW(
            _groups(network, self.recipe), lr=self.recipe.rate, fused=self.device.type == "cuda"
        )
        self._averages = parameters_of(network)
        self._best: dict[str, Tensor] | None = None
        self._step = 0
        self._spent = 0.0
        self._stopped = False

    def run(
        self,
        *,
        kept: StageFiles | None = None,
        source: Iterable[Lesson] | None = None,
        progress: Progress = silent,
        label: str = "learning",
    ) -> None:
        """Train to the end, or on from where a checkpoint stopped.

        ``source`` gives the lessons of the steps in order, where they are made elsewhere.
        """
        kept = kept or StageFiles()
        self._resume(kept)
        given = iter(source) if source is not None else None
        begun = time.monotonic() - self._spent
        every = self.recipe.every
        look = self.measure.units if self.measure else 0
        total = self.steps + -(-self.steps // every) * look
        while not self._finished():
            lesson = next(given) if given is not None else self.lessons.lesson(self._step)
            loss = self._learn(lesson)
            self._step += 1
            self._spent = time.monotonic() - begun
            done = self._step + (self._step - 1) // every * look
            progress(done, total, label)
            if self._step % every == 0 or self._finished():
                value = float(loss)
                if not math.isfinite(value):
                    raise FloatingPointError(f"the loss is {value} at step {self._step}")

                def tell(n: int, of: int | None, _: str, done: int = done) -> None:
                    progress(done + look * n // (of or 1), total, label)

                self._look(value, kept, tell)
                if kept.running is not None:
                    write_checkpoint(kept.running, self._checkpoint())
        progress(total, total, label)
        self._use_averages()
        if self._best is not None:
            load_parameters(self.network, self._best)

    def _use_averages(self) -> None:
        if self.recipe.average:
            load_parameters(self.network, self._averages)

    def _done(self) -> float:
        return min(self._step / self.steps, 1.0)

    def _finished(self) -> bool:
        return self._stopped or self._step >= self.steps

    def _learn(self, lesson: Lesson) -> Tensor:
        recipe = self.recipe
        # Seeding each step makes a resumed run draw what an unbroken one would have drawn.
        torch.manual_seed(self.lessons.seed * 1_000_003 + self._step)
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
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._half):
            said = self.network(*inputs)
            if lesson.rehearsed and self._before is not None:
                with torch.no_grad():
                    before = self._before(*inputs)
                return kept_loss(said, before, judged, valid)
            again = self.network(*inputs).pieces if self.recipe.twice else None
        loss = row_loss(said, targets, judged, valid, self.recipe)
        if again is not None:
            loss = loss + self.recipe.twice * _disagreement(said.pieces, again, judged, valid)
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

    def _look(self, loss: float, kept: StageFiles, progress: Progress) -> None:
        """Note the loss, measure the averaged network, and keep the best weights."""
        measured: Mapping[str, float] = {}
        if self.measure is not None:
            own = parameters_of(self.network)
            self._use_averages()
            measured = self.measure.of(self.network, progress)
            # All is worked out from the history, which a resumed run has too.
            worth = [sum(one.measured.values()) for one in self.history] + [sum(measured.values())]
            waited = len(worth) - 1 - worth.index(max(worth))
            if self.early_stop and not waited:
                self._best = parameters_of(self.network)
                if kept.best is not None:
                    write_checkpoint(kept.best, Checkpoint(self._best, {}))
            self._stopped = self.early_stop and waited >= self.recipe.patience
            load_parameters(self.network, own)
        self.history.append(Look(self._step, loss, self._spent, measured))

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
            "history": [list(_fields(look)) for look in self.history],
            "stopped": self._stopped,
        }
        return Checkpoint(tensors_, facts)

    def _resume(self, kept: StageFiles) -> None:
        best = None if kept.best is None else read_checkpoint(kept.best)
        self._best = None if best is None else best.tensors
        found = None if kept.running is None else read_checkpoint(kept.running)
        if found is None:
            return
        tensors_ = found.tensors
        if not {f"weights.{n}" for n, _ in self.network.named_parameters()} <= set(tensors_):
            raise InputError([Fault("a checkpoint of another network", kept.running)])
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
        self.history = [Look(*one) for one in found.facts["history"]]
        self._stopped = bool(found.facts["stopped"])


def _fields(look: Look) -> tuple[int, float, float | None, dict[str, float]]:
    return look.step, look.loss, look.seconds, dict(look.measured)


def _disagreement(first: Tensor, second: Tensor, judged: Tensor, valid: Tensor) -> Tensor:
    """Return the mean squared difference of two passes' probabilities (after R-Drop)."""
    mask = judged.unsqueeze(2) & valid.unsqueeze(1)
    apart = (first[..., 0].float().sigmoid() - second[..., 0].float().sigmoid()) ** 2
    return torch.where(mask, apart, 0.0).sum() / judged.sum().clamp(min=1)


def _multiplies_in_half() -> bool:
    """Tell whether this processor multiplies in half precision: a step takes half the time."""
    can = torch.cpu.get_capabilities()
    return bool(can.get("avx512_bf16") or can.get("amx_bf16"))


def _rate_factor(done: float, warm_up: float) -> float:
    if done < warm_up:
        return max(done / warm_up, 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (done - warm_up) / (1 - warm_up)))


def _groups(network: Network, recipe: EncoderRecipe) -> list[dict[str, Any]]:
    """Sort parameters by learning rate and weight decay; freeze the lowest layers."""
    layers = network.shape.layers
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in network.named_parameters():
        depth = network.depth(name)
        if depth is None:
            rate = recipe.scorer_rate
        else:
            if recipe.frozen and depth <= recipe.frozen:
                parameter.requires_grad_(False)
                continue
            rate = recipe.rate * recipe.layer_decay ** (layers - depth)
        decay = recipe.decay if parameter.ndim >= 2 else 0.0
        groups.setdefault((rate, decay), []).append(parameter)
    return [
        {"params": found, "lr": rate, "base": rate, "weight_decay": decay}
        for (rate, decay), found in groups.items()
    ]
