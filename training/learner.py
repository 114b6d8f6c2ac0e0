"""A network that learns, with the mean of its weights."""

from __future__ import annotations

import copy
from typing import Any

import torch
from losses import Said, Tensors, loss_of
from net import Network
from torch import Tensor

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def fetch(queue: Any, ready: Any) -> None:
    """Hand batches on from the workers, in memory that a device copies from without waiting."""
    while True:
        kind, b = queue.get()
        if kind == "batch":
            own = {k: torch.from_numpy(v) for k, v in b.items() if k != "F"}
            pinned = {k: v.pin_memory() for k, v in own.items()} if DEVICE == "cuda" else own
            b = {**pinned, "F": b["F"]}
        ready.put((kind, b))


def tensors(batch: dict[str, Any]) -> Tensors:
    """Return the arrays of a batch on the device."""
    own = {k: torch.as_tensor(v) for k, v in batch.items() if k != "F"}
    return {k: v.to(DEVICE, non_blocking=True) for k, v in own.items()}


def say(net: Network, t: Tensors, n: int) -> Said:
    """Return a network's outputs for a batch, in half precision."""
    with torch.autocast(DEVICE, torch.bfloat16):
        said: Said = net(t["note"], t["length"], t["feature"], t["owner"], t["position"], n)
    return said


class Learner:
    """One network, its optimiser and the mean of its weights, which is what is kept."""

    def __init__(
        self,
        net: Network,
        rate: float,
        scorer_rate: float,
        decay: float = 0.95,
        average: float = 0.9985,
        compiled: bool = False,
        frozen: int = 0,
    ) -> None:
        self.net, self.average = net.to(DEVICE), average
        groups: dict[tuple[float, float], list[Tensor]] = {}
        if net.shape.relative:
            # It hardly moves, and its gradient takes half of a step's time.
            net.encoder.relative.weight.requires_grad_(False)
        for name, p in net.named_parameters():
            parts = name.split(".")
            if parts[0] == "scorer":
                r = scorer_rate
            else:
                depth = int(parts[2]) + 1 if parts[1] == "layers" else 0
                if depth <= frozen and frozen:
                    p.requires_grad_(False)
                r = rate * decay ** (net.shape.layers - depth)
            groups.setdefault((r, 0.01 if p.ndim >= 2 else 0.0), []).append(p)
        self.optimiser = torch.optim.AdamW(
            [
                {"params": own, "lr": r, "base": r, "weight_decay": wd}
                for (r, wd), own in groups.items()
            ],
            fused=DEVICE == "cuda",
        )
        self.mean = copy.deepcopy(net).eval()
        # The mean is not compiled: what was compiled to judge once said "absent" of nearly all.
        for layer in self.net.encoder.layers if compiled else ():
            layer.compile(dynamic=True)
        self.steps = 0
        self.loss = 0.0

    def learn(
        self,
        t: Tensors,
        n: int,
        factor: float,
        teacher: Said | None = None,
        weights: dict[str, float] | None = None,
    ) -> Said:
        """Take one step; return what the network said before it."""
        self.net.train()
        for group in self.optimiser.param_groups:
            group["lr"] = group["base"] * factor
        self.optimiser.zero_grad(set_to_none=True)
        said = say(self.net, t, n)
        loss = loss_of(said, t, teacher, weights)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimiser.step()
        self.steps += 1
        keep = min(self.average, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            mean, now = list(self.mean.parameters()), list(self.net.parameters())
            torch._foreach_lerp_(mean, now, 1 - keep)
        if self.steps % 50 == 0:
            self.loss = float(loss)
        return said[0].detach(), said[1].detach()

    @torch.no_grad()
    def judge(self, t: Tensors, n: int) -> Said:
        """Return the mean network's outputs for a batch."""
        self.mean.eval()
        return say(self.mean, t, n)
