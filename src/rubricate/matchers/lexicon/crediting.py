"""Credit for words found from the rubric alone: signs for and against, weighed."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from rubricate.arrays import F32, I64
from rubricate.files import packaged_text
from rubricate.knowledge.tables import words
from rubricate.matchers.lexicon.model import ReadNote
from rubricate.matchers.wording.logistic import HiddenLayer, LogitScale
from rubricate.matchers.wording.naming import FeatureNames
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.matchers.wording.runs import DENYING, TokenRun, right_numbers
from rubricate.reading.note import find_place
from rubricate.requirement.requirement import Requirement
from rubricate.rules.reasons import Reason
from rubricate.rules.registry import DENIED, broken_rule

#: So many words around the found ones are looked at, in their clause.
AROUND = 8
#: A word of the note stands for one of the rubric, may stand for it, or surely does.
STANDS_FOR = 0.5
STANDS_IN = 0.2
SURE = 0.8
#: What it counts that words are known to mean the whole feature.
SAYS_ALL = 1.5
#: What it counts that nothing denies them where the feature asks for a denial.
NOT_DENIED = 1.5
#: So many words after a colon may answer what stands before it.
ANSWER = 3
AS_A_DENIAL = DENYING | words("polarity.denying") | words("credit.as_a_denial")
#: Names of the signs that are numbers. A rule on contradictions has two signs of its name; one that
#: came after the model was learned has none.
SIGNS = (
    "bias", "mean", "highest", "length", "pieces", "covered", "covered around", "surely covered",
    "least covered", "other words", "behind another", "below", "denial asked", "denied asked",
    "all denied asked", "cue asked", "denying word asked", "denied", "all denied", "cue",
    "denying word", "number asked", "right number", "right number around", "number around",
    "relative asked", "relative asked and near", "relative near", "several wordings",
    "long wording", "another person", "denied or there", "normal", "not meant", "another number",
    "another side", "another site", "another drug", "not now", "opposite", "another person asked",
    "denied or there asked", "normal asked", "not meant asked", "another number asked",
    "another side asked", "another site asked", "another drug asked", "not now asked",
    "opposite asked", "struck out",
)  # fmt: skip
_PLACE = {name: i for i, name in enumerate(SIGNS)}


class Signs(NamedTuple):
    """Signs for and against words: numbers, and the names of words in their places.

    ``says_all``: the words are known to mean the whole feature. ``not_denied``: nothing denies them
    although the feature asks for a denial.
    """

    numbers: F32
    words: list[str]
    says_all: bool = False
    not_denied: bool = False


class WeighedWording(NamedTuple):
    """One of a feature's wordings: its place, words, their columns and the part each is of it."""

    number: int
    words: list[str]
    columns: I64
    weights: list[float]


class WordingFit(NamedTuple):
    """Fit of words to a wording: by each token around, and for each word inside and around."""

    wording: WeighedWording
    rows: list[list[float]]
    inside: list[float]
    around: list[float]


class CreditWords:
    """Reads the signs of words that were found for the features of one rubric."""

    def __init__(
        self, profiles: Sequence[Requirement], words: RubricWords, names: Sequence[FeatureNames]
    ) -> None:
        self._profiles = profiles
        self._names = names
        self._words = words
        self._wordings: list[list[WeighedWording]] = [[] for _ in profiles]
        for k, j in enumerate(words.feature_of.tolist()):
            own = np.flatnonzero(words.weights[:, k])
            named, weights = [words.words[i] for i in own], words.weights[own, k].tolist()
            self._wordings[j].append(WeighedWording(len(self._wordings[j]), named, own, weights))
        self._taken = [
            any(one.can_be_left_off for one in profile.alternatives) for profile in profiles
        ]

    def stands_for(self, j: int, tokens: Sequence[int], note: ReadNote) -> list[int]:
        """Return the tokens that stand for a word of feature ``j`` nearly as well as the best."""
        columns = np.unique(np.concatenate([one.columns for one in self._wordings[j]]))
        strength = note.strength[tokens][:, columns].max(axis=1, initial=0).tolist()
        least = max(STANDS_FOR, SURE * max(strength, default=0))
        return [t for t, value in zip(tokens, strength, strict=True) if value >= least]

    def signs(
        self,
        j: int,
        group: Sequence[TokenRun],
        note: ReadNote,
        logits: Sequence[float],
        *,
        behind: float,
        struck_out: bool,
    ) -> tuple[Signs, Reason | None]:
        """Return the signs of words found for feature ``j``, and why they may contradict it.

        ``logits`` are those of the words, ``behind`` is how far other words have a higher mean.
        """
        reading, profile = note.reading, self._profiles[j]
        inside = sorted({t for run in group for t in range(run.first, run.end)})
        # The words with those around them in their clauses.
        low, high, clause = inside[0], inside[-1], note.clause
        first = bisect_left(clause, clause[low], max(0, low - AROUND), low)
        end = bisect_right(clause, clause[high], high, min(len(clause), high + 1 + AROUND))
        near = range(first, end)
        fit = self._best_fit(j, inside, near, note)
        wording = fit.wording
        asked = profile.alternatives[wording.number]
        said = " asked" if asked.asks_denial else ""
        content = [t for t in inside if not note.stop[t] and note.cue[t] < 0]
        other = sum(max(fit.rows[t - first], default=0) < STANDS_FOR for t in content)
        mean = sum(logits) / len(logits)
        family = any(note.family[t] for t in inside)
        weighed = list(zip(wording.weights, fit.inside, fit.around, strict=True))
        values: dict[str, float] = {
            "bias": 1,
            "mean": mean,
            "highest": max(logits),
            "length": math.log(len(inside)),
            "pieces": len(group) - 1,
            "covered": sum(w * a for w, a, _ in weighed),
            "covered around": sum(w * b for w, _, b in weighed),
            "surely covered": sum(w for w, a, _ in weighed if a > SURE),
            "least covered": min(fit.around, default=1),
            "other words": other / len(content) if content else 0,
            "behind another": behind,
            "below": mean < 0,
            "denial asked": asked.asks_denial,
            "denied" + said: max([note.scope[t] for t in inside]) >= 0,
            "all denied" + said: min([note.scope[t] for t in content], default=-1) >= 0,
            "cue" + said: max([note.cue[t] for t in inside]) >= 0,
            "denying word" + said: not DENYING.isdisjoint(note.forms[first:end]),
            "relative asked": asked.family,
            "relative asked and near": asked.family and family,
            "relative near": not asked.family and family,
            "several wordings": len(profile.alternatives) > 1,
            "long wording": math.log(len(wording.words) + 1),
            "struck out": struck_out,
        }
        if asked.wording.quantities:
            whole = TokenRun(first, end)
            values["number asked"] = 1
            values["right number"] = any(right_numbers(run, profile, reading) for run in group)
            values["right number around"] = bool(right_numbers(whole, profile, reading))
            values["number around"] = bool((reading.quantity[first:end] >= 0).any())
        rule = self._broken_rule(j, wording.number, group, note)
        if rule is not None and rule[0] + said in _PLACE:
            values[rule[0] + said] = 1
        numbers = np.zeros(len(SIGNS), dtype=np.float32)
        numbers[[_PLACE[name] for name in values]] = list(values.values())
        kind = "f" if asked.family else "-" if asked.asks_denial else "+"
        taken = kind == "+" and self._taken[j]
        words = _words_said(fit, inside, near, note, "+d" if taken else kind)
        plain = asked.plainly_negated
        not_denied = plain and not _may_be_denied(note, first, end)
        signs = Signs(numbers, words, note.places.says_all(self._names[j], inside), not_denied)
        return signs, rule[1] if rule else None

    def _broken_rule(
        self, j: int, wording: int, group: Sequence[TokenRun], note: ReadNote
    ) -> tuple[str, Reason] | None:
        """Return the rule by which words contradict one of a feature's wordings, and why."""
        tokens, names = note.reading.tokens, self._names[j]
        inside = [t for run in group for t in range(run.first, run.end)]
        spans = [(tokens[r.first].start, tokens[r.end - 1].end) for r in group]
        place = find_place(note.whole, spans, note.places.meant(names, inside))
        rule = broken_rule(self._profiles[j].alternatives[wording], place) if place else None
        denied = rule is not None and rule[0] == DENIED
        return None if denied and note.places.said_by_denial(names, inside) else rule

    def _best_fit(self, j: int, inside: Sequence[int], near: range, note: ReadNote) -> WordingFit:
        """Return the wording that the words fit best."""
        best, highest = None, -1.0
        for wording in self._wordings[j]:
            rows: list[list[float]] = note.strength[
                near.start : near.stop, wording.columns
            ].tolist()
            within = [max(own) for own in zip(*(rows[t - near.start] for t in inside), strict=True)]
            around = [max(own) for own in zip(*rows, strict=True)]
            parts = zip(wording.weights, within, around, strict=True)
            score = sum(w * (a + 0.5 * b) for w, a, b in parts)
            if best is None or score > highest:
                best, highest = WordingFit(wording, rows, within, around), score
        assert best is not None
        return best


def _words_said(
    fit: WordingFit, inside: Sequence[int], near: range, note: ReadNote, kinds: str
) -> list[str]:
    """Return the words that say more, less or other than the rubric, each with its place.

    ``kinds`` are letters for what the feature asks for, each of which has weights of its own.
    """
    named, stems, item = fit.wording.words, note.stems, note.item
    parts = list(zip(named, fit.inside, fit.around, strict=True))
    missing = [word for word, _, b in parts if b < STANDS_FOR]
    keys = [f"miss {word}" for word in missing]
    keys += [f"far {word}" for word, a, b in parts if a < STANDS_FOR <= b]
    keys += [
        f"{word}={stems[t]}"
        for t in inside
        for word, value in zip(named, fit.rows[t - near.start], strict=True)
        if value >= STANDS_IN and word != stems[t]
    ]
    within, low, high = set(inside), inside[0], inside[-1]
    for t, row in zip(near, fit.rows, strict=True):
        stop, word = note.stop[t], note.counted[t]
        if not stop and max(row, default=0) >= STANDS_FOR:
            continue
        if word is None:
            if t not in within:
                continue
            word = stems[t]
        where = "in"
        if t < low:
            where = "l" if item[t] == item[low] else "L"
        elif t > high:
            where = "r" if item[t] == item[high] else "R"
        keys += [f"{one}{where} {word}" for one in kinds]
        if not stop or where not in "LR":
            keys += [f"{one}~{word}" for one in missing]
    return list(dict.fromkeys(keys))


def _may_be_denied(note: ReadNote, first: int, end: int) -> bool:
    """Tell whether something in a clause, or behind a colon that ends it, may deny what it says."""
    if ":" in note.forms[end - 1 : end + 1]:  # "tattoos: never"
        end += ANSWER
    return (
        max(note.scope[first:end]) >= 0
        or max(note.cue[first:end]) >= 0
        or not AS_A_DENIAL.isdisjoint(note.forms[first:end])
    )


@dataclass(frozen=True, slots=True)
class CreditModel:
    """Weights of the signs; credit is earned above 0."""

    weights: F32
    hidden: HiddenLayer
    words: Mapping[str, float]
    presence: LogitScale

    def __call__(self, signs: Signs) -> float:
        """Return the logit that words earn the credit."""
        own = sum(map(self.words.get, signs.words, repeat(0.0)))
        columns = signs.numbers[None, :]
        sure = SAYS_ALL if signs.says_all else -NOT_DENIED if signs.not_denied else 0.0
        return float(signs.numbers @ self.weights + self.hidden(columns)[0]) + own + sure

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CreditModel:
        """Return the model from JSON values; ValueError where its signs are not those known.

        Weights of signs are bound by name: ``signs`` names the rows of the hidden layer.
        """
        named = list(value["signs"])
        hidden = HiddenLayer.from_json(value["hidden"])
        if sorted(named) != sorted(SIGNS) or sorted(value["weights"]) != sorted(SIGNS):
            unknown = sorted({*named, *value["weights"]} - set(SIGNS))
            missing = sorted(set(SIGNS) - (set(named) & set(value["weights"])))
            raise ValueError(
                f"the model has other signs than the program: unknown {unknown}, missing "
                f"{missing}. Make it again with training/learn_credit.py"
            )
        if len(hidden.into) != len(named):
            raise ValueError(f"{len(named)} signs, but {len(hidden.into)} rows of the hidden layer")
        return cls(
            np.array([value["weights"][name] for name in SIGNS], dtype=np.float32),
            hidden._replace(into=hidden.into[[named.index(name) for name in SIGNS]]),
            value["words"],
            LogitScale(*value["presence"]),
        )


@cache
def default_credit() -> CreditModel:
    """Return the model that comes with the package (see ``patterns/README.md``)."""
    text = packaged_text("matchers", "patterns", "credit.json")
    return CreditModel.from_json(json.loads(text))
