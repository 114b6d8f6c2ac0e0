"""Whether words found from the rubric alone earn the credit: signs for and against, weighed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.matchers.lexicon.model import ReadNote
from rubricate.matchers.wording.decisions import LogitScale
from rubricate.matchers.wording.hidden import HiddenLayer
from rubricate.matchers.wording.profile import STOP_WORDS, Alternative, FeatureProfile
from rubricate.matchers.wording.relation import RubricWords
from rubricate.matchers.wording.runs import DENYING, TokenRun, right_numbers
from rubricate.text.contradiction import RULES, broken_rule
from rubricate.text.contradiction.asked import read_asked
from rubricate.text.contradiction.meant import is_taken
from rubricate.text.contradiction.place import find_place

F32 = npt.NDArray[np.float32]

#: So many words around the found ones are looked at, in their clause.
AROUND = 8
#: A word of the note stands for one of the rubric, may stand for it, or surely does.
STANDS_FOR = 0.5
STANDS_IN = 0.2
SURE = 0.8
#: Names of the signs that are numbers, in order.
SIGNS = (
    "bias", "mean", "highest", "length", "pieces", "covered", "covered around", "surely covered",
    "least covered", "other words", "behind another", "below", "denial asked", "denied asked",
    "all denied asked", "cue asked", "denying word asked", "denied", "all denied", "cue",
    "denying word", "number asked", "right number", "right number around", "number around",
    "relative asked", "relative asked and near", "relative near", "several wordings",
    "long wording",
    *RULES, *(f"{rule} asked" for rule in RULES), "struck out",
)  # fmt: skip
_PLACE = {name: i for i, name in enumerate(SIGNS)}


class Signs(NamedTuple):
    """What speaks for and against words: numbers, and the names of words in their places."""

    numbers: F32
    words: list[str]


class CreditWords:
    """Reads the signs of words that were found for the features of one rubric."""

    def __init__(self, profiles: Sequence[FeatureProfile], words: RubricWords) -> None:
        self._profiles = profiles
        self._words = words
        self._own = [
            [
                (number, np.flatnonzero(words.weights[:, k]))
                for number, k in enumerate(np.flatnonzero(words.feature_of == j).tolist())
            ]
            for j in range(len(profiles))
        ]
        self._taken = [any(map(is_taken, read_asked(p.feature.text))) for p in profiles]
        self._first = np.searchsorted(words.feature_of, np.arange(len(profiles)))

    def strength(self, read: ReadNote) -> F32:
        """Return how strongly each word of a note stands for each of the rubric's."""
        stop = np.array([token.form in STOP_WORDS for token in read.reading.tokens])
        return self._words.worth(read.stems, stop).strength

    def signs(
        self,
        j: int,
        group: Sequence[TokenRun],
        read: ReadNote,
        above: F32,
        strength: F32,
        *,
        behind: float,
        struck_out: bool,
    ) -> tuple[Signs, str | None]:
        """Return the signs of words found for feature ``j``, and why they may contradict it."""
        reading, profile = read.reading, self._profiles[j]
        inside = [t for run in group for t in range(run.first, run.end)]
        first, end = _around(inside, reading.clause)
        near = range(first, end)
        best, own, covered_by, near_by, weights = self._best_wording(j, inside, near, strength)
        asked = profile.alternatives[best]
        values = np.zeros(len(SIGNS), dtype=np.float32)

        def put(name: str, value: float) -> None:
            values[_PLACE[name]] = value

        logits = above[inside, j]
        put("bias", 1)
        put("mean", float(logits.mean()))
        put("highest", float(logits.max()))
        put("length", float(np.log(len(inside))))
        put("pieces", len(group) - 1)
        put("covered", float(weights @ covered_by))
        put("covered around", float(weights @ near_by))
        put("surely covered", float(weights @ (covered_by > SURE)))
        put("least covered", float(near_by.min(initial=1)))
        content = [
            t for t in inside
            if reading.tokens[t].form not in STOP_WORDS and reading.cue[t] < 0
        ]  # fmt: skip
        stands = strength[:, own].max(axis=1, initial=0) >= STANDS_FOR
        put("other words", float(np.mean(~stands[content])) if content else 0)
        scope, cue = reading.scope, reading.cue
        said = " asked" if asked.negated else ""
        put("denial asked", asked.negated)
        put("denied" + said, bool((scope[inside] >= 0).any()))
        put("all denied" + said, bool(content) and bool((scope[content] >= 0).all()))
        put("cue" + said, bool((cue[inside] >= 0).any()))
        put("denying word" + said, any(reading.tokens[t].form in DENYING for t in near))
        if asked.quantities:
            put("number asked", 1)
            put("right number", any(right_numbers(run, profile, reading) for run in group))
            put("right number around", bool(right_numbers(TokenRun(first, end), profile, reading)))
            put("number around", bool((reading.quantity[first:end] >= 0).any()))
        family = bool(reading.family[inside].any())
        put("relative asked", asked.family)
        put("relative asked and near", asked.family and family)
        put("relative near", not asked.family and family)
        put("several wordings", len(profile.alternatives) > 1)
        put("long wording", float(np.log(len(own) + 1)))
        spans = [(reading.tokens[r.first].start, reading.tokens[r.end - 1].end) for r in group]
        place = find_place(read.for_rules, spans)
        rule = broken_rule(read_asked(profile.feature.text)[best], place) if place else None
        if rule is not None:
            put(rule[0] + said, 1)
        put("behind another", behind)
        put("below", float(logits.mean()) < 0)
        put("struck out", struck_out)
        words = self._words_said(j, own, asked, inside, near, read, strength, covered_by, near_by)
        return Signs(values, words), rule[1] if rule else None

    def _best_wording(
        self, j: int, inside: Sequence[int], near: range, strength: F32
    ) -> tuple[int, npt.NDArray[np.int64], F32, F32, F32]:
        """Return the wording the words fit best, its words, and how far each is covered."""
        options = []
        for number, own in self._own[j]:
            within = strength[inside][:, own].max(axis=0, initial=0)
            around = strength[near.start : near.stop, own].max(axis=0, initial=0)
            weights = self._words.weights[own, int(self._first[j]) + number]
            score = float(weights @ within) + 0.5 * float(weights @ around)
            options.append((score, -number, own, within, np.maximum(within, around), weights))
        _, number, own, within, around, weights = max(options, key=lambda one: one[:2])
        return -number, own, within, around, weights

    def _words_said(
        self,
        j: int,
        own: npt.NDArray[np.int64],
        asked: Alternative,
        inside: Sequence[int],
        near: range,
        read: ReadNote,
        strength: F32,
        covered_by: F32,
        near_by: F32,
    ) -> list[str]:
        """Return the words that say more or less than the rubric, each with its place."""
        reading = read.reading
        sign = "-" if asked.negated else "+"
        kind = "f" if asked.family else sign
        taken = kind == "+" and self._taken[j]
        missing = [self._words.words[own[i]] for i in np.flatnonzero(near_by < STANDS_FOR)]
        keys = [f"miss {word}" for word in missing]
        keys += self._stand_ins(own, inside, read, strength)
        keys += [
            f"far {self._words.words[own[i]]}"
            for i in np.flatnonzero((covered_by < STANDS_FOR) & (near_by >= STANDS_FOR))
        ]
        best = strength[near.start : near.stop, own].max(axis=1, initial=0)
        within, low, high = set(inside), inside[0], inside[-1]
        item = reading.item
        for t in near:
            if best[t - near.start] >= STANDS_FOR and reading.tokens[t].form not in STOP_WORDS:
                continue
            token = reading.tokens[t]
            if token.kind == "mark" and t not in within:
                continue
            word = "#" if token.kind == "number" else read.stems[t]
            if t < low:
                where = "l" if item[t] == item[low] else "L"
            elif t > high:
                where = "r" if item[t] == item[high] else "R"
            else:
                where = "in"
            keys.append(f"{kind}{where} {word}")
            if taken:
                keys.append(f"d{where} {word}")
            if token.form not in STOP_WORDS or where in ("in", "l", "r"):
                keys += [f"{one}~{word}" for one in missing]
        return list(dict.fromkeys(keys))

    def _stand_ins(
        self, own: npt.NDArray[np.int64], inside: Sequence[int], read: ReadNote, strength: F32
    ) -> list[str]:
        """Return which words of the note stand for which others of the rubric."""
        pairs = np.argwhere(strength[inside][:, own] >= STANDS_IN).tolist()
        named = [(self._words.words[own[i]], read.stems[inside[t]]) for t, i in pairs]
        return [f"{word}={said}" for word, said in named if word != said]


def _around(inside: Sequence[int], clause: npt.NDArray[np.int32]) -> tuple[int, int]:
    first, end = inside[0], inside[-1] + 1
    while first > max(0, inside[0] - AROUND) and clause[first - 1] == clause[inside[0]]:
        first -= 1
    while end < min(len(clause), inside[-1] + 1 + AROUND) and clause[end] == clause[inside[-1]]:
        end += 1
    return first, end


@dataclass(frozen=True, slots=True)
class CreditModel:
    """Weights of the signs; credit is earned above 0."""

    weights: F32
    hidden: HiddenLayer
    words: Mapping[str, float]
    presence: LogitScale

    def __call__(self, signs: Signs) -> float:
        """Return the logit that words earn the credit."""
        own = sum(self.words.get(word, 0.0) for word in signs.words)
        columns = signs.numbers[None, :]
        return float(signs.numbers @ self.weights + self.hidden(columns)[0]) + own

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CreditModel:
        """Return the model from JSON values."""
        return cls(
            np.array([value["weights"].get(name, 0.0) for name in SIGNS], dtype=np.float32),
            HiddenLayer.from_json(value["hidden"]),
            value["words"],
            LogitScale(*value["presence"]),
        )


@cache
def default_credit() -> CreditModel:
    """Return the model that comes with the package (see ``patterns/README.md``)."""
    path = files("rubricate.matchers") / "patterns" / "credit.json"
    return CreditModel.from_json(json.loads(path.read_text(encoding="utf-8")))
