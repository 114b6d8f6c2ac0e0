"""What holds for every case: how rubric words are worded, and how much each evidence counts."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.lexicon.groups import Lexicon
from rubricate.matchers.wording.identity import identity_logits
from rubricate.matchers.wording.profile import FeatureProfile, read_feature
from rubricate.matchers.wording.reading import NoteReading, join_readings
from rubricate.matchers.wording.relation import RubricWords, Weighed, take_evidence
from rubricate.matchers.wording.stems import stem
from rubricate.matchers.wording.synonyms import find_synonyms
from rubricate.matchers.wording.translation import Translation
from rubricate.rubric import Rubric

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """From a logit to a probability: ``1 / (1 + exp(-(slope * logit + shift)))`` (Platt 1999)."""

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, logit: float) -> float:
        """Return the probability.

        Examples
        --------
        >>> Calibration()(0.0)
        0.5
        """
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, self.slope * logit + self.shift))))


@dataclass(frozen=True, slots=True)
class Decision:
    """How logits become decisions: where to cut, and what probabilities they stand for."""

    threshold: float = -1.0
    presence: Calibration = field(default_factory=Calibration)
    span: Calibration = field(default_factory=Calibration)


@dataclass(frozen=True, slots=True)
class SharedModel:
    """What was learned from many cases, for cases without annotated notes.

    Parameters
    ----------
    weights : mapping from evidence column to weight
        See `rubricate.matchers.wording.relation.COLUMNS`.
    translation : Translation
        How rubric words are worded in notes.
    note_count : int
    forms : mapping from word to the number of notes that have it
        For the rarity of words, and to tell words from slips of the pen.
    decision : Decision
    learned_from : str
        What it was learned from, in words.
    """

    weights: Mapping[str, float]
    translation: Translation
    note_count: int
    forms: Mapping[str, int]
    decision: Decision
    learned_from: str = ""
    _rarity: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def rarity(self, stem_: str) -> float:
        """Return the inverse document frequency of a stem (Sparck Jones 1972, J. Doc. 28:11-21)."""
        if not self._rarity:
            counts: Counter[str] = Counter()
            for form, n in self.forms.items():
                counts[stem(form)] += n
            self._rarity[""] = math.log(self.note_count + 1)
            for one, n in counts.items():
                self._rarity[one] = math.log((self.note_count + 1) / (min(n, self.note_count) + 1))
        return self._rarity.get(stem_, self._rarity[""])

    def prepare(self, rubric: Rubric, lexicon: Lexicon | None = None) -> PreparedRubric:
        """Make a rubric ready for comparing notes with it; synonyms are from the lexicon."""
        profiles = tuple(read_feature(feature, i) for i, feature in enumerate(rubric))
        synonyms = find_synonyms(profiles, lexicon)
        words = RubricWords(profiles, self.translation, self.rarity, synonyms)
        return PreparedRubric(profiles, words, self)

    def to_json(self) -> dict[str, Any]:
        """Return the model as JSON values."""
        return {
            "learned_from": self.learned_from,
            "weights": {name: round(w, 4) for name, w in self.weights.items()},
            "decision": decision_to_json(self.decision),
            "note_count": self.note_count,
            "translation": self.translation.given,
            "overall": self.translation.overall,
            "forms": self.forms,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SharedModel:
        """Return the model from JSON values (KeyError, TypeError or ValueError when wrong)."""
        return cls(
            weights={str(k): float(v) for k, v in value["weights"].items()},
            translation=Translation(value["translation"], value["overall"]),
            note_count=int(value["note_count"]),
            forms=value["forms"],
            decision=decision_from_json(value["decision"]),
            learned_from=str(value.get("learned_from", "")),
        )


@dataclass(frozen=True, slots=True)
class PreparedRubric:
    """A rubric ready for comparing, with the shared model's weights."""

    profiles: tuple[FeatureProfile, ...]
    words: RubricWords
    shared: SharedModel

    def logits(self, reading: NoteReading, stems: Sequence[str]) -> F32:
        """Return the logit that each token is evidence for each feature, (tokens, features)."""
        return self.logits_of([reading], stems)

    def logits_of(self, readings: Sequence[NoteReading], stems: Sequence[str]) -> F32:
        """Return the logits of several notes' tokens one after the other."""
        reading = readings[0] if len(readings) == 1 else join_readings(readings)
        weighed = Weighed(len(stems), len(self.profiles), self.shared.weights)
        take_evidence(weighed, reading, stems, self.words)
        logits = weighed.logits
        for j, profile in enumerate(self.profiles):
            if profile.kind:
                logits[:, j] = np.concatenate([identity_logits(profile, r) for r in readings])
        return logits


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON values."""
    return {
        "threshold": round(decision.threshold, 4),
        "presence": [round(decision.presence.slope, 4), round(decision.presence.shift, 4)],
        "span": [round(decision.span.slope, 4), round(decision.span.shift, 4)],
    }


def decision_from_json(value: Mapping[str, Any]) -> Decision:
    """Return a decision from JSON values."""
    presence, span = (Calibration(*map(float, value[k])) for k in ("presence", "span"))
    return Decision(float(value["threshold"]), presence, span)


@cache
def default_shared() -> SharedModel:
    """Return the shared model that comes with the package (see ``patterns/README.md``)."""
    path = files("rubricate.matchers") / "patterns" / "shared.json"
    return SharedModel.from_json(json.loads(path.read_text(encoding="utf-8")))


def words_of(reading: NoteReading) -> Iterator[str]:
    """Yield the forms of the words and numbers of a note."""
    for token in reading.tokens:
        if token.kind != "mark":
            yield token.form
