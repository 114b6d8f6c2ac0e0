"""What a matcher that trains can tell about its training, for whoever wants to see the curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rubricate.stats.calibration import Reliability


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen at one step.

    Parameters
    ----------
    step : int
        Which, from 1.
    loss : float
        What training makes small.
    seconds : float, optional
        Since training began.
    measured : mapping from measure to value
        On the notes held out; empty where there are none.
    """

    step: int
    loss: float
    seconds: float | None = None
    measured: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Course:
    """The training of one network.

    Parameters
    ----------
    name : str
        Tells it from others of the same fit, e.g. ``"fold 1"``.
    looks : tuple of Look
        By step.
    n_learned, n_held : int
        Notes it learned from, and notes it was measured on.
    chosen : int, optional
        The step whose weights were kept.
    """

    name: str
    looks: tuple[Look, ...]
    n_learned: int
    n_held: int
    chosen: int | None = None


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """How a matcher was trained and what was measured on notes held out.

    Parameters
    ----------
    courses : tuple of Course
        One for each network, at least one.
    recipe : mapping
        How it was trained, by name.
    unit : str
        What a step is: ``"step"``, or ``"epoch"`` for a pass over all notes.
    held_out : mapping from measure to value
        What is kept, measured on all notes held out.
    thresholds : mapping
        From which value on something is found, by name.
    feature_thresholds : mapping from feature id to probability
        From which probability on that feature is present, where it has a value of its own.
    before, after : Reliability, optional
        Presence probabilities on the notes held out, before and after they were calibrated.
    facts : mapping
        What else there is to say, by name.
    """

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
    """A matcher that can tell how it was trained."""

    @property
    def training_report_(self) -> TrainingReport | None:
        """The report; None before `fit`, and where `fit` had nothing to learn from."""
        ...


def flat_recipe(recipe: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested options as one level, e.g. ``weights.presence``.

    Examples
    --------
    >>> flat_recipe({"rate": 0.1, "weights": {"edges": 0.25}})
    {'rate': 0.1, 'weights.edges': 0.25}
    """
    flat: dict[str, Any] = {}
    for name, value in recipe.items():
        if isinstance(value, Mapping):
            flat |= flat_recipe(value, f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = value
    return flat
