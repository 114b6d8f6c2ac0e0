"""One network taught its part of the annotated notes: stage by stage, early-stopped, resumable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from rubricate.neural.batching import SpecialPieces
from rubricate.neural.checkpoints import (
    Checkpoint,
    StageStore,
    load_parameters,
    parameters_of,
    read_checkpoint,
    write_checkpoint,
)
from rubricate.neural.decoding import Thresholds
from rubricate.neural.folds import Part, unjudged_in
from rubricate.neural.language import Reading, read_notes
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.measuring import Ruler
from rubricate.neural.network import Network
from rubricate.neural.passes import Lessons, Taught
from rubricate.neural.pseudo import pseudo_labels, with_case_rows
from rubricate.neural.recipes import FitRecipe, usual_steps
from rubricate.neural.scoring_torch import score_rows
from rubricate.neural.training import Progress, Trainer

#: Called with the step, the number of steps and the loss.
Report = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True)
class FitPlan:
    """What all networks of a fit share.

    Parameters
    ----------
    data : LearningSet
        All notes, annotated or not.
    features_of_case : mapping
        The numbers of the features that notes of each case are judged for.
    steps : int, optional
        Most steps of a stage, whatever the recipe says.
    """

    data: LearningSet
    features_of_case: dict[int, list[int]]
    special: SpecialPieces
    mask_id: int
    recipe: FitRecipe
    steps: int | None
    seed: int

    def n_steps(self, part: Part) -> int:
        """Return the most steps of a stage on these notes."""
        return self.steps or self.recipe.steps or usual_steps(len(part.learn))


class Clock:
    """Counts the steps of all stages for whoever watches."""

    def __init__(self, report: Report | None, total: int) -> None:
        self._report = report
        self._total = total
        self._before = 0

    def show(self, step: int, loss: float) -> None:
        """Tell the step of the stage under way."""
        if self._report is not None:
            self._report(self._before + step, self._total, loss)

    def pass_stage(self, steps: int) -> None:
        """Count a stage of so many steps as done, however early it stopped."""
        self._before += steps


def read_language(network: Network, shared: FitPlan, store: StageStore, clock: Clock) -> list[Any]:
    """Let the network guess hidden words of all notes; return the report of the stage."""
    recipe = shared.recipe
    if not recipe.language_steps:
        return []
    done = store.finished("language")
    if done is None:
        notes = [i for i in range(shared.data.n_notes) if len(shared.data.note(i))]
        how = Reading(
            recipe.language_steps, shared.seed, recipe.language_notes, recipe.language_rate
        )
        # The weights that guess are drawn before the first step seeds anything.
        torch.manual_seed(shared.seed)
        losses = read_notes(network, shared.data, notes, shared.special, shared.mask_id, how)
        done = Checkpoint(parameters_of(network), {"loss": losses})
        store.finish("language", done)
    load_parameters(network, done.tensors)
    losses = done.facts["loss"]
    clock.show(recipe.language_steps, losses[-1])
    clock.pass_stage(recipe.language_steps)
    return [{"name": "language", "steps": len(losses), "loss": losses}]


def teach(
    network: Network, part: Part, name: str, shared: FitPlan, store: StageStore, clock: Clock
) -> dict[str, Any]:
    """Teach the network its part, with labels of its own in a second round if asked for.

    At the end it holds the best weights. Labels are made by the first round's network of the
    same part, so none comes from a network that was taught the notes held out here.
    """
    stages = []
    start = parameters_of(network)
    marks = _Stage(f"{name}-marks", part, shared)
    stages.append({"name": "marks", **marks.run(network, store, clock)})
    strangers = [
        i
        for i in unjudged_in(shared.data)
        if shared.features_of_case.get(int(shared.data.note_case[i]))
    ]
    if shared.recipe.pseudo and strangers:
        wider = with_case_rows(shared.data, strangers, shared.features_of_case)
        both = Part([*part.learn, *strangers], part.held)
        second = _Stage(f"{name}-pseudo", both, replace(shared, data=wider))
        second.steps = marks.steps
        if store.finished(second.name) is None:
            second.taught = pseudo_labels(
                network, wider, strangers, shared.special,
                features_per_pass=shared.recipe.measured_with,
            )  # fmt: skip
        load_parameters(network, start)
        stages.append({"name": "pseudo", **second.run(network, store, clock)})
    return {
        "notes": {
            "learned_from": len(part.learn),
            "held_out": len(part.held),
            "pseudo": len(strangers) if shared.recipe.pseudo else 0,
        },
        "recipe": asdict(shared.recipe.training(marks.steps, shared.seed)),
        "curve": stages[-1]["curve"],
        "stages": stages,
    }


class _Stage:
    """One run of the training loop: the best weights so far, and when to stop."""

    def __init__(self, name: str, part: Part, shared: FitPlan) -> None:
        self.name = name
        self.part = part
        self.shared = shared
        self.steps = shared.n_steps(part)
        self.taught: Taught | None = None
        self.best: dict[str, torch.Tensor] | None = None

    def run(self, network: Network, store: StageStore, clock: Clock) -> dict[str, Any]:
        """Learn, or take what an earlier run of this stage ended with; return its report."""
        done = store.finished(self.name)
        if done is None:
            history = self._learn(network, store, clock)
            done = Checkpoint(parameters_of(network), {"curve": history})
            store.finish(self.name, done)
        load_parameters(network, done.tensors)
        clock.pass_stage(self.steps)
        curve = done.facts["curve"]
        return {"steps": curve[-1]["step"], "curve": curve}

    def _learn(self, network: Network, store: StageStore, clock: Clock) -> list[dict[str, Any]]:
        shared, recipe = self.shared, self.shared.recipe
        share = recipe.pseudo if self.taught is not None else 0.0
        lessons = Lessons(
            shared.data, self.part.learn, shared.special, shared.mask_id,
            variation=replace(recipe.variation(), pseudo=share), seed=shared.seed,
            taught=self.taught,
        )  # fmt: skip
        trainer = Trainer(network, lessons, recipe.training(self.steps, shared.seed))

        def watch(now: Progress, current: Network) -> dict[str, Any]:
            clock.show(now.step, now.loss)
            return self._look(current, trainer.history, store)

        kept = store.best(self.name)
        found = None if kept is None else read_checkpoint(kept)
        self.best = None if found is None else found.tensors
        trainer.run(watch=watch, every=recipe.every, checkpoint=store.running(self.name))
        if self.best is not None:
            load_parameters(network, self.best)
        return trainer.history

    def _look(
        self, current: Network, past: Sequence[dict[str, Any]], store: StageStore
    ) -> dict[str, Any]:
        """Measure on the held-out notes and keep the best weights."""
        if not self.part.held:
            return {}
        scored = score_rows(
            current, self.shared.data, self.part.held, self.shared.special,
            features_per_pass=self.shared.recipe.measured_with, budget=4096,
        )  # fmt: skip
        found = Ruler(self.shared.data, self.part.held).figures(scored, Thresholds())
        # All is worked out from the history, which a resumed run has too.
        worth = [one["characters"] + one["presence"] for one in past]
        worth.append(found.characters + found.presence)
        waited = len(worth) - 1 - worth.index(max(worth))
        if not waited:
            self.best = parameters_of(current)
            kept = store.best(self.name)
            if kept is not None:
                write_checkpoint(kept, Checkpoint(self.best, {}))
        return {
            "characters": found.characters,
            "presence": found.presence,
            "stop": waited >= self.shared.recipe.patience,
        }
