"""How `fit` learns, as named sets of options and as single switches, checked before it starts."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from rubricate.errors import Fault, InputError
from rubricate.neural.passes import ALL, Variation

if TYPE_CHECKING:
    from rubricate.neural.training import Recipe

#: How many passes of so many features each make a step; one takes about a second on two cores.
SEQUENCES = {1: 8, 4: 5, ALL: 4}


@dataclass(frozen=True, slots=True)
class FitRecipe:
    """All that can be switched in `fit`.

    Parameters
    ----------
    folds : int
        1: one network, early-stopped on a share of the notes where a case has enough of them.
        More: as many networks, each early-stopped on its own fold of the notes (a note is in
        one fold whole, cases are spread evenly) and averaged.
    held_out : float
        With one network, the share of a case's notes that it is not taught.
    patience, every : int
        Stop after so many looks at the held-out notes without a better one; steps between looks.
    steps : int, optional
        Most steps; by default 60 and 6 for each note, at most 900.
    rate, scorer_rate : float
        Highest learning rate of the encoder and of the scorer.
    layer_decay : float
        Each layer nearer to the words learns this much slower.
    frozen : int
        How many of the lowest layers do not learn.
    average : float
        Decay of the running average of the weights; 0 takes the last weights.
    positive : float
        Weight of marked pieces against the many that are not.
    edges, presence, overlap : float
        Weights of the other parts of the loss (`rubricate.neural.losses.LossWeights`).
    perturbed, perturbed_from : float
        Size of the adversarial weight perturbation, and after which share of the steps it begins.
    twice : float
        Weight of the disagreement of two passes with different dropout.
    language_steps : int
        Steps of guessing hidden words of all notes, annotated or not, before all else.
    language_rate : float
        Its highest learning rate.
    language_notes : int
        Notes a step of it.
    pseudo : float
        Share of the passes over notes nobody annotated, with what a first round's network says
        of them; 0 is no second round. A network learns only from labels made by one that never
        saw its held-out notes.
    phrase : float
        How often a feature's text is replaced by the words marked for it in another note.
    masked : float
        How often a piece of the note is hidden.
    features : mapping
        How often a pass has 1, 4 or all features, under the keys "1", "4" and "all".
    """

    folds: int = 1
    held_out: float = 0.2
    patience: int = 4
    every: int = 20
    steps: int | None = None
    rate: float = 1e-4
    scorer_rate: float = 3e-4
    layer_decay: float = 0.95
    frozen: int = 0
    average: float = 0.98
    positive: float = 1.0
    edges: float = 0.25
    presence: float = 0.5
    overlap: float = 0.5
    perturbed: float = 0.0
    perturbed_from: float = 1 / 3
    twice: float = 0.0
    language_steps: int = 0
    language_rate: float = 5e-5
    language_notes: int = 8
    pseudo: float = 0.0
    phrase: float = 0.2
    masked: float = 0.08
    features: Mapping[str, float] = field(default_factory=lambda: {"1": 0.2, "4": 0.2, "all": 0.6})

    def variation(self) -> Variation:
        """Return how passes are varied."""
        shares = {ALL if k == "all" else int(k): float(v) for k, v in self.features.items() if v}
        return Variation(
            features=shares, sequences=SEQUENCES, phrase=self.phrase, masked=self.masked
        )

    def training(self, steps: int, seed: int) -> Recipe:
        """Return what the training loop takes."""
        from rubricate.neural.losses import LossWeights
        from rubricate.neural.training import Recipe

        return Recipe(
            steps=steps,
            rate=self.rate,
            scorer_rate=self.scorer_rate,
            layer_decay=self.layer_decay,
            frozen=self.frozen,
            average=self.average,
            perturbed=self.perturbed,
            perturbed_from=self.perturbed_from,
            twice=self.twice,
            seed=seed,
            weights=LossWeights(self.edges, self.presence, self.overlap, self.positive),
        )

    @property
    def measured_with(self) -> int | None:
        """Features a pass when held-out notes are scored: what most passes have; None is all."""
        most = max(self.features.items(), key=lambda item: item[1])[0]
        return None if most == "all" else int(most)


#: What the winners of the NBME competition did, and what `fit` does when nothing is said.
RECIPES: dict[str, FitRecipe] = {
    "usual": FitRecipe(),
    "competition": FitRecipe(
        folds=5, language_steps=200, perturbed=0.005, pseudo=0.5, features={"1": 1.0}
    ),
}


def _number(low: float, high: float) -> tuple[Callable[[Any], bool], str]:
    def fits(value: Any) -> bool:
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        return plain and low <= value <= high

    return fits, f"a number from {low:g} to {high:g}"


def _whole(low: int, high: int) -> tuple[Callable[[Any], bool], str]:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return fits, f"a whole number from {low} to {high:,}"


def _shares(value: Any) -> bool:
    if not isinstance(value, Mapping) or not set(value) <= {"1", "4", "all"}:
        return False
    fits, _ = _number(0, 1)
    return all(fits(share) for share in value.values()) and sum(value.values()) > 0


_SHARE, _WEIGHT, _RATE = _number(0, 1), _number(0, 100), _number(0, 0.1)
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "folds": _whole(1, 50),
    "held_out": _number(0, 0.9),
    "patience": _whole(1, 10_000),
    "every": _whole(1, 100_000),
    "steps": (lambda v: v is None or _whole(1, 1_000_000)[0](v), "a whole number from 1, or null"),
    "rate": _RATE,
    "scorer_rate": _RATE,
    "layer_decay": _SHARE,
    "frozen": _whole(0, 100),
    "average": _number(0, 0.99999),
    "positive": _number(0.01, 100),
    "edges": _WEIGHT,
    "presence": _WEIGHT,
    "overlap": _WEIGHT,
    "perturbed": _SHARE,
    "perturbed_from": _SHARE,
    "twice": _WEIGHT,
    "language_steps": _whole(0, 1_000_000),
    "language_rate": _RATE,
    "language_notes": _whole(1, 1024),
    "pseudo": _number(0, 0.95),
    "phrase": _SHARE,
    "masked": _number(0, 0.9),
    "features": (_shares, 'an object with shares from 0 to 1 under "1", "4" and "all", not all 0'),
}


def read_recipe(given: str | Mapping[str, Any]) -> FitRecipe:
    """Return the recipe of that name, or "usual" (or the one under "like") with changes.

    Raises
    ------
    InputError
        If a name is unknown or a value impossible; all faults at once.

    Examples
    --------
    >>> read_recipe("competition").folds
    5
    >>> read_recipe({"like": "competition", "folds": 3, "twice": 1}).folds
    3
    >>> read_recipe({"folds": 0, "perturb": 0.1})
    Traceback (most recent call last):
    rubricate.errors.InputError: 2 faults in the input
      recipe: folds is 0; need a whole number from 1 to 50
      recipe: no option 'perturb'; did you mean 'perturbed'? Known: average, edges, every, ...
    """
    changes: dict[str, Any] = {"like": given} if isinstance(given, str) else {}
    if isinstance(given, Mapping):
        changes = dict(given)
    elif not isinstance(given, str):
        raise InputError(
            f"recipe is {given!r}; need a name ({', '.join(RECIPES)}) or an object with options"
        )
    faults = []
    like = changes.pop("like", "usual")
    if not isinstance(like, str) or like not in RECIPES:
        faults.append(Fault(f"recipe: no recipe {like!r}. Known: {', '.join(RECIPES)}"))
    known = sorted(f.name for f in fields(FitRecipe))
    for name, value in changes.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            faults.append(Fault(f"recipe: no option {name!r}{hint} Known: {', '.join(known)}"))
        elif not _ALLOWED[name][0](value):
            faults.append(Fault(f"recipe: {name} is {value!r}; need {_ALLOWED[name][1]}"))
    if faults:
        raise InputError(faults)
    return replace(RECIPES[like], **changes)


def usual_steps(n_notes: int) -> int:
    """Return how many steps suit a number of notes.

    Examples
    --------
    >>> usual_steps(10), usual_steps(500)
    (120, 900)
    """
    return min(60 + 6 * n_notes, 900)
