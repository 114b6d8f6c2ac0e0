"""Model shared by all cases: wordings of rubric words, and the weight of each kind of evidence."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from rubricate.arrays import F32, I64
from rubricate.files import packaged_text
from rubricate.lexicon.groups import Lexicon
from rubricate.matchers.model_files import finite
from rubricate.matchers.wording.identity import NOT_SAID, identity_logits
from rubricate.matchers.wording.logistic import Decision, HiddenLayer, product
from rubricate.matchers.wording.reading import (
    MOST_TOKENS,
    NoteColumns,
    join_readings,
    shift_tokens,
    split_reading,
)
from rubricate.matchers.wording.relation import COLUMNS, TokenEvidence, shifted_values
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.matchers.wording.synonyms import Translation, find_synonyms, load_neighbours
from rubricate.reading.tokens import root
from rubricate.requirement.requirement import read_requirement
from rubricate.rubric import Rubric

#: A word in so many texts is common.
LEAST_COMMON = 3
#: A second look sees the logits of so many tokens on each side.
LOGITS_AROUND = 3


@dataclass(frozen=True)
class SecondLook:
    """A layer that looks again at a token: at the logits around it, and at the words there.

    ``vectors`` has one row for each of the ``words``, and a first one for all other words.
    """

    words: tuple[str, ...]
    vectors: F32
    layer: HiddenLayer

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words, start=1)}

    def __call__(
        self, columns: F32, places: I64, logits: F32, reading: NoteColumns, stems: Sequence[str]
    ) -> F32:
        """Return the logits, (tokens, features), with what the second look adds.

        ``columns`` are those of the ``places`` that have a logit.
        """
        likely = logits.reshape(-1)[places] > NOT_SAID
        said = places[likely]
        if not len(said):
            return logits
        rows = np.hstack([columns[likely], *self.around(logits, reading, stems, said)])
        found = logits.reshape(-1).copy()
        found[said] += self.layer(rows)
        return found.reshape(logits.shape)

    def around(
        self, logits: F32, reading: NoteColumns, stems: Sequence[str], said: I64
    ) -> tuple[F32, F32]:
        """Return the logits and the vectors of the words around some (token, feature) places."""
        clause, vectors = reading.clause, 3 * self.vectors.shape[1]
        token, feature = np.divmod(said, logits.shape[1])
        steps = [0, *range(-LOGITS_AROUND, 0), *range(1, LOGITS_AROUND + 1)]
        shifted = [shifted_values(logits, by, clause, token, feature, NOT_SAID) for by in steps]
        own = np.array([self._numbers.get(one, 0) for one in stems])
        words = np.stack([shift_tokens(own, by, clause) for by in (-1, 0, 1)], axis=1)
        return np.stack(shifted, axis=1), self.vectors[words[token]].reshape(len(said), vectors)

    def to_json(self) -> dict[str, object]:
        """Return the layer as JSON values."""
        vectors = np.round(self.vectors, 3).tolist()
        return {"words": self.words, "vectors": vectors, "layer": self.layer.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SecondLook:
        """Return a layer from JSON values (KeyError or ValueError when wrong)."""
        words = tuple(map(str, value["words"]))
        vectors = np.array(value["vectors"], dtype=np.float32)
        layer = HiddenLayer.from_json(value["layer"])
        width = len(COLUMNS) + 2 * LOGITS_AROUND + 1 + 3 * vectors.shape[-1]
        if vectors.shape[:-1] != (len(words) + 1,) or len(layer.into) != width:
            raise ValueError("the second look is for other words or other evidence")
        if not np.isfinite(vectors).all():
            raise ValueError("a vector is no number")
        return cls(words, vectors, layer)


@dataclass(frozen=True, slots=True)
class SharedModel:
    """Model learned from many cases, for cases without annotated notes."""

    weights: Mapping[str, float]
    translation: Translation
    note_count: int
    forms: Mapping[str, int]
    decision: Decision
    learned_from: str = ""
    hidden: HiddenLayer | None = None
    second: SecondLook | None = None
    _rarity: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    _known: set[str] = field(default_factory=set, repr=False, compare=False)
    _common: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    def rarity(self, stem_: str) -> float:
        """Return the inverse document frequency of a stem (Sparck Jones 1972, J. Doc. 28:11-21)."""
        if not self._rarity:
            counts: Counter[str] = Counter()
            for form, n in self.forms.items():
                counts[root(form)] += n
            self._rarity[""] = math.log(self.note_count + 1)
            for one, n in counts.items():
                self._rarity[one] = math.log((self.note_count + 1) / (min(n, self.note_count) + 1))
        return self._rarity.get(stem_, self._rarity[""])

    @property
    def forms_known(self) -> Set[str]:
        """The words common enough not to be misspelt."""
        self.common_forms()
        return self._known

    def common_forms(self) -> Mapping[str, list[str]]:
        """Return the words common enough not to be misspelt, by their stems."""
        if not self._common:
            self._known.update(form for form, n in self.forms.items() if n >= LEAST_COMMON)
            for form in sorted(self._known):
                self._common.setdefault(root(form), []).append(form)
        return self._common

    def prepare(self, rubric: Rubric, lexicon: Lexicon | None = None) -> PreparedRubric:
        """Prepare a rubric for comparing notes with it; synonyms are from the lexicon."""
        profiles = tuple(read_requirement(feature.text) for feature in rubric)
        synonyms = find_synonyms(profiles, lexicon)
        neighbours = load_neighbours()
        words = RubricWords(profiles, self.translation, self.rarity, synonyms, neighbours)
        return PreparedRubric(tuple(one.id for one in rubric), words, self)

    def to_json(self) -> dict[str, object]:
        """Return the model as JSON values."""
        return {
            "learned_from": self.learned_from,
            "weights": {name: round(w, 4) for name, w in self.weights.items()},
            "hidden": None if self.hidden is None else self.hidden.to_json(),
            "second": None if self.second is None else self.second.to_json(),
            "decision": self.decision.to_json(),
            "note_count": self.note_count,
            "translation": self.translation.given,
            "overall": self.translation.overall,
            "forms": self.forms,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SharedModel:
        """Return the model from JSON values (KeyError, TypeError or ValueError when wrong)."""
        hidden = HiddenLayer.from_json(value["hidden"]) if value.get("hidden") else None
        second = SecondLook.from_json(value["second"]) if value.get("second") else None
        forms = {form: int(n) for form, n in value["forms"].items()}
        if hidden is not None and len(hidden.into) != len(COLUMNS):
            raise ValueError("the layer is for other evidence")
        if not all(0 <= n < 2**63 for n in (value["note_count"], *forms.values())):
            raise ValueError("a count is out of range")
        return cls(
            weights=_numbers(value["weights"]),
            translation=Translation(
                {word: _numbers(own) for word, own in value["translation"].items()},
                _numbers(value["overall"]),
            ),
            note_count=int(value["note_count"]),
            forms=forms,
            decision=Decision.from_json(value["decision"]),
            learned_from=str(value.get("learned_from", "")),
            hidden=hidden,
            second=second,
        )


def _numbers(value: Mapping[str, Any]) -> dict[str, float]:
    return {name: finite(number) for name, number in value.items()}


@dataclass(frozen=True, slots=True)
class PreparedRubric:
    """A rubric prepared for comparing, with the shared model's weights."""

    ids: tuple[str, ...]
    words: RubricWords
    shared: SharedModel

    def logits(self, reading: NoteColumns, stems: Sequence[str]) -> F32:
        """Return the logit that each token is evidence for each feature, (tokens, features)."""
        return self.logits_of([reading], stems)

    def logits_of(self, readings: Sequence[NoteColumns], stems: Sequence[str]) -> F32:
        """Return the logits of several notes' tokens one after the other.

        In a very long note the best place is looked for in each part of it.
        """
        found: list[F32] = [np.zeros((0, len(self.words.profiles)), dtype=np.float32)]
        begin = 0
        for group in _groups_of_parts(readings):
            reading = group[0] if len(group) == 1 else join_readings(group)
            end = begin + len(reading)
            found.append(self._weigh(reading, stems[begin:end]))
            begin = end
        logits = np.concatenate(found)
        for j, profile in enumerate(self.words.profiles):
            if profile.kind:
                logits[:, j] = np.concatenate([identity_logits(profile, r) for r in readings])
        return logits

    def _weigh(self, reading: NoteColumns, stems: Sequence[str]) -> F32:
        n, f = len(stems), len(self.words.profiles)
        logits = np.full(n * f, NOT_SAID, dtype=np.float32)
        if not n or not f:
            return logits.reshape(n, f)
        evidence = TokenEvidence(reading, stems, self.words)
        linear = np.array([self.shared.weights.get(c, 0.0) for c in COLUMNS], dtype=np.float32)
        # Most tokens have nothing to do with most features; only the others are weighed.
        close = evidence.close_places()
        weighed = evidence.columns(close)
        logits[close] = product(weighed, linear)
        if self.shared.hidden is not None:
            logits[close] += self.shared.hidden(weighed)
        first = logits.reshape(n, f)
        if self.shared.second is None:
            return first
        return self.shared.second(weighed, close, first, reading, stems)


def _groups_of_parts(readings: Sequence[NoteColumns]) -> Iterator[list[NoteColumns]]:
    """Yield notes and parts of long notes, together as long as they have few tokens."""
    group: list[NoteColumns] = []
    for reading in readings:
        for part in split_reading(reading):
            if group and sum(map(len, group)) + len(part) > MOST_TOKENS:
                yield group
                group = []
            group.append(part)
    if group:
        yield group


@cache
def default_shared() -> SharedModel:
    """Return the shared model that comes with the package (see ``patterns/README.md``)."""
    text = packaged_text("matchers", "patterns", "shared.json")
    return SharedModel.from_json(json.loads(text))
