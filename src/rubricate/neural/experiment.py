"""One training run from a description: what is learned from, what is measured, with what."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

from rubricate.neural.backbone import read_weights, start_from_bert
from rubricate.neural.batching import SpecialPieces
from rubricate.neural.decoding import Thresholds
from rubricate.neural.language import Reading, read_notes
from rubricate.neural.learning_set import LearningSet
from rubricate.neural.losses import LossWeights
from rubricate.neural.measuring import Ruler, Scored
from rubricate.neural.network import Network, Shape
from rubricate.neural.passes import Lesson, Lessons, Taught, Variation, with_foreign_rows
from rubricate.neural.runs import Runs
from rubricate.neural.scoring_torch import score_rows
from rubricate.neural.training import Recipe, Trainer

#: Pieces of BERT's vocabulary that mean something to a network.
BERT_SPECIAL = SpecialPieces(start=101, stop=102, fill=0)
BERT_MASK = 103


@dataclass(frozen=True, slots=True)
class Run:
    """A training run.

    Parameters
    ----------
    name : str
    learn : sequence of int
        Notes to learn from.
    measure : mapping from name to notes
        What to measure on.
    shape, variation, recipe : mappings
        What differs from the defaults of `Shape`, `Variation` and `Recipe`.
    start : str, optional
        Weights of a network of ours to start from, instead of the backbone's.
    teacher : str, optional
        Weights of a network of ours that judges one feature a pass; its probabilities are
        learned with the marks, and judge ``foreign_rows`` features of other cases a note.
    read_steps : int
        Steps of masked-language-model training on the notes before all else.
    """

    name: str
    learn: Sequence[int]
    measure: Mapping[str, Sequence[int]]
    shape: Mapping[str, Any] = field(default_factory=dict)
    variation: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    start: str | None = None
    teacher: str | None = None
    foreign_rows: int = 8
    read_steps: int = 0
    modes: Sequence[int] = (1, 4, 0)
    workers: int = 2
    every: int = 400


def make_recipe(values: Mapping[str, Any]) -> Recipe:
    """Return a recipe from plain values."""
    plain = dict(values)
    return Recipe(**{**plain, "weights": LossWeights(**plain.get("weights", {}))})


def make_variation(values: Mapping[str, Any]) -> Variation:
    """Return a variation from plain values, whose keys JSON made texts."""
    plain = dict(values)
    for name in ("features", "sequences"):
        if name in plain:
            plain[name] = {int(key): value for key, value in plain[name].items()}
    return Variation(**plain)


def do_run(run: Run, data: LearningSet, backbone: Path, out: Path, device: str) -> dict[str, Any]:
    """Train, measure, and write ``<name>.safetensors`` and ``<name>.json`` into ``out``."""
    from safetensors.torch import save_file

    begun = time.monotonic()
    recipe, variation = make_recipe(run.recipe), make_variation(run.variation)
    torch.manual_seed(recipe.seed)
    network = Network(Shape(**run.shape))
    if run.start:
        load_network(network, Path(run.start))
    else:
        start_from_bert(network, read_weights(backbone))
    network.to(device)
    if run.read_steps:
        how = Reading(run.read_steps, recipe.seed)
        read_notes(network, data, run.learn, BERT_SPECIAL, BERT_MASK, how)
    learned, taught = data, None
    if run.teacher:
        learned, taught = _taught(run, data, device)
    lessons = Lessons(
        learned, run.learn, BERT_SPECIAL, BERT_MASK,
        variation=variation, seed=recipe.seed, taught=taught,
    )  # fmt: skip
    trainer = Trainer(network, lessons, recipe)

    def watch(progress: Any, current: Network) -> dict[str, Any]:
        if progress.step % run.every:
            return {}
        return {"figures": _figures(run, current, data, modes=run.modes[-1:])}

    trainer.run(watch=watch, every=100, source=_source(lessons, recipe.steps, run.workers))
    result = {
        "name": run.name,
        "figures": _figures(run, network, data, modes=run.modes),
        "steps": trainer.history[-1]["step"],
        "history": trainer.history,
        "seconds": time.monotonic() - begun,
        "settings": {"shape": dict(run.shape), "variation": dict(run.variation),
                     "recipe": dict(run.recipe), "start": run.start, "teacher": run.teacher,
                     "read_steps": run.read_steps},
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    halves = {n: p.detach().half().cpu().contiguous() for n, p in network.named_parameters()}
    (out / f"{run.name}.json").write_text(json.dumps(result), encoding="utf-8")
    # Other runs wait for the weights: they must appear whole.
    save_file(halves, out / f"{run.name}.part")
    (out / f"{run.name}.part").replace(out / f"{run.name}.safetensors")
    return result


def load_network(network: Network, path: Path) -> None:
    """Put saved weights into a network of the same shape."""
    stored = {name: value.float() for name, value in read_weights(path).items()}
    network.load_state_dict(stored)


def _taught(run: Run, data: LearningSet, device: str) -> tuple[LearningSet, Taught]:
    """Let the teacher judge all rows, and some of other cases, one feature a pass."""
    teacher = Network(Shape(**run.shape))
    load_network(teacher, Path(str(run.teacher)))
    teacher.to(device)
    wider = with_foreign_rows(data, run.learn, run.foreign_rows, seed=7)
    scored = score_rows(teacher, wider, run.learn, BERT_SPECIAL, features_per_pass=1, budget=65536)
    return wider, Taught.of(wider, scored, np.diff(data.row_first))


def _figures(
    run: Run, network: Network, data: LearningSet, *, modes: Sequence[int]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, notes in run.measure.items():
        ruler = Ruler(data, notes)
        for mode in modes:
            scored = score_rows(network, data, notes, BERT_SPECIAL, features_per_pass=mode or None)
            found[f"{name}/{mode or 'all'}"] = summary(ruler, scored, data, notes)
    return found


def summary(
    ruler: Ruler, scored: Scored, data: LearningSet, notes: Sequence[int]
) -> dict[str, Any]:
    """Return figures at one half, and at thresholds each half of the cases chose for the other."""
    plain = ruler.figures(scored, Thresholds())
    case = np.array([data.note_case[i] for i in notes for _ in data.rows(i)])
    odd = np.isin(case, np.unique(case)[1::2])
    if odd.all() or not odd.any():
        odd = np.arange(len(case)) % 2 == 1
    sizes = np.diff(ruler.first)
    mixed = Runs(np.zeros(len(scored.inside), bool), np.zeros(len(scored.inside), bool))
    chosen = {}
    for side in (False, True):
        at = ruler.best_thresholds(scored, odd != side)
        own = np.repeat(odd == side, sizes)
        mixed = Runs(*(a | (b & own) for a, b in zip(mixed, ruler.decide(scored, at), strict=True)))
        chosen[str(side)] = asdict(at)
    crossed = ruler.figures_of(mixed)
    return {"half": astuple(plain), "crossed": astuple(crossed), "thresholds": chosen}


class _Stream(IterableDataset[Lesson]):
    """Lessons in order, shared out to worker processes step by step."""

    def __init__(self, lessons: Lessons, steps: int) -> None:
        self.lessons = lessons
        self.steps = steps

    def __iter__(self) -> Iterator[Lesson]:
        info = torch.utils.data.get_worker_info()
        first, stride = (0, 1) if info is None else (info.id, info.num_workers)
        for step in range(first, self.steps, stride):
            yield self.lessons.lesson(step)


def _source(lessons: Lessons, steps: int, workers: int) -> Iterator[Lesson]:
    options: dict[str, Any] = {"prefetch_factor": 6} if workers else {}
    return iter(
        DataLoader(_Stream(lessons, steps), batch_size=None, num_workers=workers,
                   collate_fn=_as_is, **options)
    )  # fmt: skip


def _as_is(lesson: Any) -> Any:
    return lesson
