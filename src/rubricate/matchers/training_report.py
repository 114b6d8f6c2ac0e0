"""Report of a matcher about its training, for the page that shows the curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rubricate.stats.calibration import Reliability


@dataclass(frozen=True, slots=True)
class Look:
    """Measurements at one step."""

    step: int
    loss: float
    seconds: float | None = None
    measured: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Course:
    """The training of one network."""

    name: str
    looks: tuple[Look, ...]
    n_learned: int
    n_held: int
    chosen: int | None = None


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The course of a training and the measurements on notes held out."""

    courses: tuple[Course, ...]
    recipe: Mapping[str, Any] = field(default_factory=dict)
    unit: str = "step"
    held_out: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    feature_thresholds: Mapping[str, float] = field(default_factory=dict)
    before: Reliability | None = None
    after: Reliability | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class ReportsTraining(Protocol):
    """A matcher that reports how it was trained."""

    @property
    def training_report_(self) -> TrainingReport | None:
        """The report; None before `fit`, and where `fit` had nothing to learn from."""
        ...


def flat_recipe(recipe: Mapping[str, object], before: str = "") -> dict[str, object]:
    """Return nested options as one level, e.g. ``weights.presence``.

    >>> flat_recipe({"rate": 0.1, "weights": {"edges": 0.25}})
    {'rate': 0.1, 'weights.edges': 0.25}
    """
    flat: dict[str, object] = {}
    for name, value in recipe.items():
        if isinstance(value, Mapping):
            flat |= flat_recipe(value, f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = value
    return flat
