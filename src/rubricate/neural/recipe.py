"""Training options of networks: one kind of recipe, each option with its default and its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from rubricate.errors import Fault, InputError, did_you_mean
from rubricate.formats.encoding import Json

#: Layers of a network that reads already that learn from a few notes; those below stay.
LEARNING_LAYERS = 6
#: Stands for "all features of the note" where a number of features is expected.
ALL = 0
#: How many passes of so many features each make a step; one takes about a second on two cores.
SEQUENCES = {"1": 8, "4": 5, "all": 4}


class Limits(NamedTuple):
    """Which values an option may have, as a test and in words."""

    fits: Callable[[Any], bool]
    need: str


def _option(default: Any, limits: Limits) -> Any:
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata={"limits": limits})
    return field(default=default, metadata={"limits": limits})


def _number(default: float, low: float, high: float) -> Any:
    def fits(value: Any) -> bool:
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        return plain and low <= value <= high

    return _option(default, Limits(fits, f"a number from {low:g} to {high:g}"))


def _whole(default: int | None, low: int, high: int) -> Any:
    def fits(value: Any) -> bool:
        if value is None:
            return default is None
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    need = f"a whole number from {low} to {high:,}" + (", or null" if default is None else "")
    return _option(default, Limits(fits, need))


def _by_features(default: Mapping[str, float], low: float, high: float, need: str) -> Any:
    """Return an option with a number for passes of 1, of 4 and of all features."""

    def fits(value: Any) -> bool:
        if not isinstance(value, Mapping) or not set(value) <= {"1", "4", "all"}:
            return False
        plain = all(isinstance(v, int | float) and not isinstance(v, bool) for v in value.values())
        return plain and all(low <= v <= high for v in value.values()) and sum(value.values()) > 0

    return _option(default, Limits(fits, need))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Options that the training of every network has.

    ``held_out`` is the share of notes to choose by, ``patience`` how many looks without a better
    one end the training, ``average`` the decay of the running average of the weights.
    """

    held_out: float = _number(0.2, 0, 0.9)
    patience: int = _whole(4, 1, 10_000)
    rate: float = _number(1e-4, 0, 0.1)
    decay: float = _number(0.01, 0, 1)
    clip: float = _number(1.0, 0.001, 1000)
    average: float = _number(0.98, 0, 0.99999)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderRecipe(Recipe):
    """Training options of an encoder, for `fit` and for the scripts that made the networks.

    ``frozen`` layers do not learn; where it is None, all but the last six of a network that reads
    already. ``rehearsal`` is the share of steps that keep such a network from forgetting.
    """

    folds: int = _whole(1, 1, 50)
    every: int = _whole(20, 1, 100_000)
    steps: int | None = _whole(None, 1, 1_000_000)
    most_steps: int = _whole(900, 1, 1_000_000)
    scorer_rate: float = _number(3e-4, 0, 0.1)
    layer_decay: float = _number(0.95, 0, 1)
    warm_up: float = _number(0.06, 0, 0.9)
    frozen: int | None = _whole(None, 0, 100)
    rehearsal: float = _number(0.25, 0, 0.9)
    positive: float = _number(1.0, 0.01, 100)
    edges: float = _number(0.25, 0, 100)
    presence: float = _number(0.5, 0, 100)
    overlap: float = _number(0.5, 0, 100)
    perturbed: float = _number(0.0, 0, 1)
    perturbed_from: float = _number(1 / 3, 0, 1)
    twice: float = _number(0.0, 0, 100)
    language_steps: int = _whole(0, 0, 1_000_000)
    language_rate: float = _number(5e-5, 0, 0.1)
    language_notes: int = _whole(8, 1, 1024)
    pseudo: float = _number(0.0, 0, 0.95)
    taught: float = _number(0.0, 0, 1)
    foreign: float = _number(0.0, 0, 1)
    phrase: float = _number(0.2, 0, 1)
    masked: float = _number(0.08, 0, 0.9)
    features: Mapping[str, float] = _by_features(
        {"1": 0.2, "4": 0.2, "all": 0.6},
        0,
        1,
        'an object with shares from 0 to 1 under "1", "4" and "all", not all 0',
    )
    sequences: Mapping[str, int] = _by_features(
        SEQUENCES, 1, 4096, 'an object with numbers of passes, from 1, under "1", "4" and "all"'
    )

    def n_steps(self, n_notes: int) -> int:
        """Return the most steps on so many notes.

        >>> EncoderRecipe().n_steps(10), EncoderRecipe().n_steps(500)
        (120, 900)
        """
        return self.steps or min(60 + 6 * n_notes, self.most_steps)

    @property
    def shares(self) -> dict[int, float]:
        """Share of the passes by number of features."""
        return {
            ALL if name == "all" else int(name): float(share)
            for name, share in self.features.items()
            if share
        }

    def n_passes(self, n_features: int) -> int:
        """Return the number of passes of so many features each that make a step."""
        name = "all" if n_features == ALL else str(n_features)
        return int({**SEQUENCES, **self.sequences}[name])

    @property
    def measured_with(self) -> int | None:
        """Features per pass when held-out notes are scored: what most passes have; None is all."""
        most = max(self.features.items(), key=lambda item: item[1])[0]
        return None if most == "all" else int(most)


@dataclass(frozen=True, slots=True)
class BiLstmShape:
    """The sizes of a BiLSTM-CRF; those of Lample et al. (2016) unless given."""

    word: int = _whole(100, 0, 10_000)
    character: int = _whole(25, 1, 10_000)
    ending: int = _whole(20, 0, 10_000)
    shape: int = _whole(5, 0, 10_000)
    standing: int = _whole(10, 0, 10_000)
    spelled: int = _whole(25, 0, 10_000)
    hidden: int = _whole(100, 1, 10_000)
    layers: int = _whole(1, 1, 100)
    fixed: int = _whole(100, 1, 10_000)
    dropout: float = _number(0.5, 0, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class BiLstmRecipe(Recipe):
    """Training options of a BiLSTM-CRF."""

    held_out: float = _number(0.1, 0, 0.9)
    rate: float = _number(3e-3, 0, 1)
    clip: float = _number(5.0, 0.001, 1000)
    average: float = _number(0.99, 0, 0.99999)
    epochs: int = _whole(12, 1, 100_000)
    batch: int = _whole(32, 1, 100_000)
    hide: float = _number(1.0, 0, 1000)
    network: BiLstmShape = field(default_factory=BiLstmShape)


#: What `fit` does when nothing is said, what it does to deep networks that read, and what the
#: winners of the NBME competition did.
RECIPES: dict[str, EncoderRecipe] = {
    "usual": EncoderRecipe(),
    "gentle": EncoderRecipe(rate=5e-5, scorer_rate=1.5e-4, rehearsal=0.5, most_steps=120),
    "competition": EncoderRecipe(
        folds=5, language_steps=200, perturbed=0.005, pseudo=0.5, features={"1": 1.0}
    ),
}


def reading_recipe(recipe: EncoderRecipe, layers: int) -> EncoderRecipe:
    """Return the recipe for a network that is trained already: its last six layers learn.

    Of a deeper one the usual recipe is the gentle one, which takes as long on two cores.

    >>> deep = reading_recipe(EncoderRecipe(steps=9), 12)
    >>> (deep.frozen, deep.steps, deep.rehearsal), reading_recipe(EncoderRecipe(), 6).frozen
    ((6, 9, 0.5), 0)
    """
    frozen = max(layers - LEARNING_LAYERS, 0)
    if frozen and replace(recipe, steps=None) == RECIPES["usual"]:
        recipe = replace(RECIPES["gentle"], steps=recipe.steps)
    return recipe if recipe.frozen is not None else replace(recipe, frozen=frozen)


def read_encoder_recipe(given: str | Mapping[str, Any]) -> EncoderRecipe:
    """Return the recipe of that name, or "usual" (or the one under "like") with changes.

    >>> read_encoder_recipe("competition").folds
    5
    >>> read_encoder_recipe({"like": "competition", "folds": 3, "twice": 1}).folds
    3
    >>> read_encoder_recipe({"folds": 0, "perturb": 0.1})
    Traceback (most recent call last):
    rubricate.errors.InputError: 2 faults in the input
      recipe: folds is 0; need a whole number from 1 to 50
      recipe: no option 'perturb'; did you mean 'perturbed'? Known: average, clip, decay, ...
    """
    changes: Json = {"like": given} if isinstance(given, str) else {}
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
    faults += _faults(changes, _limits(EncoderRecipe))
    InputError.raise_any(faults)
    return replace(RECIPES[like], **changes)


def read_bilstm_recipe(changes: Mapping[str, Any]) -> BiLstmRecipe:
    """Return the recipe with some of its values, or of its network's, changed by name.

    >>> read_bilstm_recipe({"hidden": 50, "epochs": 3}).network.hidden
    50
    """
    own, network = _limits(BiLstmRecipe), _limits(BiLstmShape)
    faults = _faults(changes, {**own, **network})
    InputError.raise_any(faults)
    shape = BiLstmShape(**{name: value for name, value in changes.items() if name in network})
    return BiLstmRecipe(
        **{name: value for name, value in changes.items() if name in own}, network=shape
    )


def _limits(kind: type[EncoderRecipe | BiLstmRecipe | BiLstmShape]) -> dict[str, Limits]:
    return {f.name: f.metadata["limits"] for f in fields(kind) if "limits" in f.metadata}


def _faults(changes: Mapping[Any, Any], limits: Mapping[str, Limits]) -> list[Fault]:
    """Return everything that is wrong with some changes."""
    faults, known = [], sorted(limits)
    for name, value in changes.items():
        if name not in limits:
            hint = did_you_mean(str(name), known)
            faults.append(Fault(f"recipe: no option {name!r}{hint} Known: {', '.join(known)}"))
        elif not limits[name].fits(value):
            faults.append(Fault(f"recipe: {name} is {value!r}; need {limits[name].need}"))
    return faults
