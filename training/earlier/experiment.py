"""One training run from a description: what is learned from, what is measured, with what."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

from rubricate.neural.encoder.decoding import Runs, Thresholds
from rubricate.neural.encoder.pieces import SpecialPieces
from rubricate.neural.encoder.report import plain_look
from rubricate.neural.recipe import EncoderRecipe
from rubricate.neural.training.backbone import read_weights, start_from_bert
from rubricate.neural.training.language import read_notes
from rubricate.neural.training.learning_set import LearningSet
from rubricate.neural.training.measuring import Ruler, Scored, score_rows
from rubricate.neural.training.network import Network, Shape
from rubricate.neural.training.passes import Lesson, Lessons, Taught
from rubricate.neural.training.trainer import LookMeasure, Trainer

#: Pieces of BERT's vocabulary that mean something to a network.
BERT_SPECIAL = SpecialPieces(start=101, stop=102, fill=0)
BERT_MASK = 103
#: Where a run's recipe starts from: a GPU takes many passes per step.
ON_A_GPU = EncoderRecipe(
    steps=1000,
    every=400,
    rate=1.5e-4,
    scorer_rate=6e-4,
    average=0.998,
    language_notes=64,
    language_rate=1e-4,
    features={"1": 0.3, "4": 0.2, "all": 0.5},
    sequences={"1": 128, "4": 80, "all": 48},
)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A training run; ``recipe`` is what differs from `ON_A_GPU`."""

    name: str
    learn: Sequence[int]
    measure: Mapping[str, Sequence[int]]
    shape: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    start: str | None = None
    teacher: str | None = None
    foreign_rows: int = 8
    modes: Sequence[int] = (1, 4, 0)
    workers: int = 2


def do_run(
    run: Experiment, data: LearningSet, backbone: Path, out: Path, device: str
) -> dict[str, Any]:
    """Train, measure, and write ``<name>.safetensors`` and ``<name>.json`` into ``out``."""
    from safetensors.torch import save_file

    begun = time.monotonic()
    recipe = replace(ON_A_GPU, **run.recipe)
    torch.manual_seed(run.seed)
    network = Network(Shape(**run.shape))
    if run.start:
        load_network(network, Path(run.start))
    else:
        start_from_bert(network, read_weights(backbone))
    network.to(device)
    if recipe.language_steps:
        read_notes(network, data, run.learn, BERT_SPECIAL, BERT_MASK, recipe, seed=run.seed)
    learned, taught = data, None
    if run.teacher:
        learned, taught = _taught(run, data, device)
    lessons = Lessons(
        learned, run.learn, BERT_SPECIAL, BERT_MASK, recipe=recipe, seed=run.seed, taught=taught
    )
    steps = recipe.n_steps(len(run.learn))
    measure = LookMeasure(lambda current, _: _flat(_figures(run, current, data, run.modes[-1:])))
    trainer = Trainer(network, lessons, steps=steps, measure=measure, early_stop=False)
    trainer.run(source=_source(lessons, steps, run.workers))
    result = {
        "name": run.name,
        "figures": _figures(run, network, data, run.modes),
        "steps": trainer.history[-1].step,
        "history": [plain_look(look) for look in trainer.history],
        "seconds": time.monotonic() - begun,
        "settings": {"shape": dict(run.shape), "recipe": asdict(recipe), "seed": run.seed,
                     "start": run.start, "teacher": run.teacher},
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


def _taught(run: Experiment, data: LearningSet, device: str) -> tuple[LearningSet, Taught]:
    """Let the teacher judge all rows, and some of other cases, one feature per pass."""
    teacher = Network(Shape(**run.shape))
    load_network(teacher, Path(str(run.teacher)))
    teacher.to(device)
    wider = with_foreign_rows(data, run.learn, run.foreign_rows, seed=7)
    scored = score_rows(teacher, wider, run.learn, BERT_SPECIAL, features_per_pass=1, budget=65536)
    return wider, Taught.of(wider, scored, np.diff(data.row_first))


def with_foreign_rows(data: LearningSet, notes: Sequence[int], n: int, seed: int) -> LearningSet:
    """Add to each of these notes ``n`` rows with features of other cases, for a teacher to judge.

    Only features that some of the notes are judged for are taken.
    """
    rng = np.random.default_rng(seed)
    chosen = set(notes)
    known = np.unique(np.concatenate([data.row_feature[list(data.rows(i))] for i in notes]))
    strangers: dict[int, Sequence[int]] = {}
    for i in range(data.n_notes):
        own = data.row_feature[list(data.rows(i))]
        size = n if i in chosen else 0
        strangers[i] = rng.choice(np.setdiff1d(known, own), size=size, replace=False).tolist()
    return data.with_rows(strangers)


def _flat(figures: Mapping[str, Any]) -> dict[str, float]:
    """Return characters F1 and presence F1 at one half, by what they were measured on."""
    names = ("characters", "presence")
    return {
        f"{place} {name}": value
        for place, found in figures.items()
        for name, value in zip(names, found["half"], strict=False)
    }


def _figures(
    run: Experiment, network: Network, data: LearningSet, modes: Sequence[int]
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
