"""Relation of each token of a note to each feature: the evidence of the rubric's own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, I32, I64, Bools
from rubricate.matchers.wording.logistic import product
from rubricate.matchers.wording.reading import MARK, NUMBER, NoteColumns
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.reading.quantities import compare_quantities
from rubricate.requirement.alternative import RELATIVES, STOP_WORDS

#: Words that belong together have at most this many others between them.
WINDOW = 6
#: A synonym names a rubric's word if it stands for at least this part of it.
_NAMED = 0.8

#: A place may have something to do with a feature where its signs are more than nearly nothing.
LEAST_SIGN = 0.01

#: Names of the evidence columns, in order; `TokenEvidence` fills them.
COLUMNS = (
    "bias", "same word", "its share", "synonym", "translation", "neighbour", "evidence",
    "left 1", "right 1", "left 2", "right 2", "left 5", "right 5", "between", "stop between",
    "mark between", "coverage", "coverage evidence", "coverage squared", "best place",
    "best place evidence", "coverage between", "rank", "denied asked", "denied not asked",
    "not denied asked", "cue asked", "cue asked coverage", "cue not asked", "family asked",
    "family not asked", "not family asked", "relative asked", "right number", "wrong number",
    "right number coverage", "other number", "stop word", "mark", "number", "rare",
    "rare covered", "long rubric", "single word", "single word evidence",
    "strong", "strong covered", "left edge", "right edge", "named", "other item",
    "other item denied", "named not denied", "weak place", "weak place evidence",
    "sure coverage", "sure coverage evidence", "highest coverage", "highest sure coverage",
    "clause coverage",
)  # fmt: skip
_NAMES = {name: i for i, name in enumerate(COLUMNS)}


class TokenEvidence:
    """Relations of a note's tokens to the features of a rubric.

    What a token's surroundings say is computed for the places that are asked for: nearly all
    places, each a token and a feature, have nothing to do with each other.
    """

    def __init__(self, reading: NoteColumns, stems: Sequence[str], rubric: RubricWords) -> None:
        self._reading, self._rubric = reading, rubric
        self._stop = np.array([t.form in STOP_WORDS for t in reading.tokens], dtype=np.bool_)
        self._worth = worth = rubric.worth(stems, self._stop)
        near = _near(worth.strength, reading.clause)
        coverage_of = product(near, rubric.weights)
        n, self._n_features = len(stems), len(rubric.profiles)
        score = coverage_of + 0.5 * worth.evidence
        self._pick = pick = _best_alternative(score, rubric.feature_of, self._n_features)
        rows = np.arange(n)[:, None]
        self._evidence: F32 = worth.evidence[rows, pick]
        self._coverage: F32 = coverage_of[rows, pick]
        # Words that are the rubric's own or stand for them in the lexicon, each nearly all of it.
        named_near = np.where(near > _NAMED, near, np.float32(0))
        self._sure: F32 = product(named_near, rubric.weights)[rows, pick]
        named = np.maximum(worth.same, worth.alike)[rows, pick]
        self._named: F32 = named * ~self._stop[:, None]
        self._asked = np.array([a.asks_denial for a in rubric.alternatives], dtype=np.bool_)[pick]
        self._cues = _at_cues(self._evidence, reading)
        self._right, self._wrong = _numbers(reading, rubric)

    def close_places(self) -> I64:
        """Return the places where a token may have to do with a feature, token by token."""
        close = (
            (self._coverage > LEAST_SIGN) | self._right | (self._cues * self._asked > LEAST_SIGN)
        )
        return np.flatnonzero(close)

    def columns(self, places: I64) -> F32:
        """Return the evidence columns of some places, (places, columns)."""
        at = _Places(self._reading, places, self._n_features)
        at.take("bias", 1.0)
        self._words(at)
        _surroundings(at, self._evidence, self._coverage, self._stop)
        _items(at, self._named, at.of(self._asked))
        self._demands(at)
        return np.ascontiguousarray(at.kept.T)

    def _words(self, at: _Places) -> None:
        """Take what the token itself is worth, and how much of the feature is near it."""
        worth, e, cov = self._worth, at.of(self._evidence), at.of(self._coverage)
        pick = at.of(self._pick)
        at.take("same word", worth.same[at.token, pick])
        at.take("its share", worth.share[at.token, pick])
        at.take("synonym", worth.alike[at.token, pick])
        at.take("translation", worth.means[at.token, pick])
        at.take("neighbour", worth.close[at.token, pick])
        at.take("evidence", e)
        sure = at.of(self._sure)
        at.take("sure coverage", sure)
        at.take("sure coverage evidence", sure * e)
        at.take("highest coverage", at.highest_in_note(self._coverage))
        at.take("highest sure coverage", at.highest_in_note(self._sure))
        at.take("clause coverage", at.of(_highest_by(self._coverage, self._reading.clause)))
        rare = (worth.rarity / 5)[at.token]
        at.take("stop word", self._stop[at.token])
        at.take("mark", at.kind == MARK)
        at.take("number", at.kind == NUMBER)
        at.take("rare", rare)
        at.take("rare covered", rare * cov)
        n_words = np.array([len(a.roots) for a in self._rubric.alternatives], dtype=np.float32)
        single = (n_words == 1).astype(np.float32)[pick]
        at.take("long rubric", np.log(np.maximum(n_words, 1))[pick])
        at.take("single word", single)
        at.take("single word evidence", single * e)

    def _demands(self, at: _Places) -> None:
        """Take whether what the feature asks for besides words is there: denials, kin, numbers."""
        reading, e, cov = self._reading, at.of(self._evidence), at.of(self._coverage)
        asked, denied = at.of(self._asked), at.denied
        near = np.maximum(e, 0.5 * cov)
        at.take("denied asked", near * (asked & denied))
        at.take("denied not asked", near * (~asked & denied))
        at.take("not denied asked", near * (asked & ~denied))
        cue = at.of(self._cues)
        at.take("cue asked", cue * asked)
        at.take("cue asked coverage", cue * at.of(_at_cues(self._coverage, reading)) * asked)
        at.take("cue not asked", cue * ~asked)
        about_family = np.array([a.family for a in self._rubric.alternatives], dtype=np.bool_)
        kin = about_family[at.of(self._pick)]
        family = (reading.family > 0)[at.token]
        relative = np.array([t.form in RELATIVES for t in reading.tokens], dtype=np.bool_)[at.token]
        at.take("family asked", near * (kin & family))
        at.take("family not asked", near * (~kin & family))
        at.take("not family asked", near * (kin & ~family))
        at.take("relative asked", cov * (relative & kin))
        right, wrong = at.of(self._right), at.of(self._wrong)
        at.take("right number", right)
        at.take("wrong number", wrong)
        at.take("right number coverage", right * cov)
        at.take("other number", (reading.quantity >= 0)[at.token] & ~right & ~wrong)


def all_columns(reading: NoteColumns, stems: Sequence[str], rubric: RubricWords) -> F32:
    """Return the evidence columns of all places, (tokens, features, columns), to learn from."""
    n, f = len(stems), len(rubric.profiles)
    if not n or not f:
        return np.zeros((n, f, len(COLUMNS)), dtype=np.float32)
    found = TokenEvidence(reading, stems, rubric).columns(np.arange(n * f))
    return found.reshape(n, f, len(COLUMNS))


class _Places:
    """Places of a note for which evidence columns are taken, each a token and a feature."""

    def __init__(self, reading: NoteColumns, places: I64, n_features: int) -> None:
        self.reading, self.places = reading, places
        self.token, self.feature = np.divmod(places, max(n_features, 1))
        self.kind = reading.kind[self.token]
        self.denied = (reading.scope >= 0)[self.token]
        self.kept: F32 = np.zeros((len(COLUMNS), len(places)), dtype=np.float32)

    def take(self, name: str, values: npt.ArrayLike) -> None:
        """Keep one column."""
        self.kept[_NAMES[name]] = values

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the values of the places, given those of all tokens for all features."""
        return values.reshape(-1)[self.places]

    def highest_in_note(self, values: F32) -> F32:
        """Return the highest values of the features in the notes that the places are in."""
        first = np.array(self.reading.first)
        highest: F32 = np.maximum.reduceat(values, first, axis=0)
        return highest[np.searchsorted(first, self.token, "right") - 1, self.feature]


def shifted_values(
    values: F32, by: int, clause: I32, token: I64, feature: I64, fill: float = 0
) -> F32:
    """Return, for some places, the values ``by`` tokens to the right, within each clause.

    >>> two = np.array([[5, 6], [7, 8]], dtype=np.float32)
    >>> token, feature = np.array([0, 1]), np.array([1, 1])
    >>> shifted_values(two, 1, np.array([0, 0]), token, feature).tolist()
    [8.0, 0.0]
    """
    there = np.clip(token + by, 0, len(clause) - 1)
    same = (clause[there] == clause[token]) & (there == token + by)
    return np.where(same, values[there, feature], np.float32(fill))


def _near(strength: F32, clause: I32) -> F32:
    """Return the strength of the words near each token, in its clause, as rubric words."""
    near = strength.copy()
    for by in range(1, WINDOW + 1):
        same_clause = (clause[:-by] == clause[by:])[:, None]
        here, there = near[:-by], near[by:]
        np.maximum(here, strength[by:], out=here, where=same_clause)
        np.maximum(there, strength[:-by], out=there, where=same_clause)
    return near


def _best_alternative(score: F32, feature_of: I64, n_features: int) -> I64:
    """Return, for each token and feature, the alternative with the highest score."""
    first = np.searchsorted(feature_of, np.arange(n_features))
    pick = np.repeat(first[None, :], len(score), axis=0)
    best = score[:, first]
    counts = np.bincount(feature_of, minlength=n_features)
    for step in range(1, int(counts.max(initial=0))):
        own = np.flatnonzero(counts > step)
        other = score[:, first[own] + step]
        better = other > best[:, own]
        best[:, own] = np.where(better, other, best[:, own])
        pick[:, own] = np.where(better, first[own] + step, pick[:, own])
    return pick


def _surroundings(at: _Places, evidence: F32, coverage: F32, stop: Bools) -> None:
    """Take what stands beside the token, and how good a place it is for the feature."""
    e, cov = at.of(evidence), at.of(coverage)
    shifted = {
        by: shifted_values(evidence, by, at.reading.clause, at.token, at.feature)
        for by in range(-5, 6)
        if by
    }
    at.take("left 1", shifted[-1])
    at.take("right 1", shifted[1])
    at.take("left 2", shifted[-2])
    at.take("right 2", shifted[2])
    left3 = np.maximum.reduce([shifted[-k] for k in range(1, 4)])
    right3 = np.maximum.reduce([shifted[k] for k in range(1, 4)])
    left = np.maximum.reduce([left3, shifted[-4], shifted[-5]])
    right = np.maximum.reduce([right3, shifted[4], shifted[5]])
    at.take("left 5", left)
    at.take("right 5", right)
    between = np.minimum(left3, right3)
    at.take("between", between)
    at.take("stop between", between * stop[at.token])
    at.take("mark between", between * (at.kind == MARK))
    at.take("coverage", cov)
    at.take("coverage evidence", cov * e)
    at.take("coverage squared", cov**2)
    at.take("coverage between", cov * np.maximum(between, e))
    highest = at.highest_in_note(coverage)
    best = cov / np.maximum(highest, 1e-6)
    weak = np.maximum(0.4 - highest, 0) * 2.5
    at.take("weak place", weak * (cov > 0.05))
    at.take("weak place evidence", weak * e)
    top = (best > 0.95) & (cov > 0.05)
    at.take("best place", top)
    at.take("best place evidence", top * e)
    at.take("rank", best * (cov > 0.05))
    at.take("strong", e > 0.6)
    at.take("strong covered", (e > 0.6) * cov)
    at.take("left edge", (shifted[-1] < 0.2) * (left < 0.2) * e)
    at.take("right edge", (shifted[1] < 0.2) * (right < 0.2) * e)


def _items(at: _Places, named: F32, asked: Bools) -> None:
    """Distinguish items of a list that name the feature from the items beside them."""
    own, reading = at.of(named), at.reading
    in_item, in_clause = (at.of(_highest_by(named, by)) for by in (reading.item, reading.clause))
    beside = (in_clause > _NAMED) & (in_item <= _NAMED)
    at.take("named", own)
    at.take("other item", beside)
    at.take("other item denied", beside & at.denied)
    at.take("named not denied", (own > _NAMED) & asked & ~at.denied)


def _highest_by(values: F32, group: I32) -> F32:
    """Return for each token the highest value in its group; groups are runs of equal numbers."""
    first = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    highest: F32 = np.maximum.reduceat(values, first, axis=0)
    return np.repeat(highest, np.diff([*first, len(group)]), axis=0)


def _at_cues(values: F32, reading: NoteColumns) -> F32:
    """Return for the tokens of each negation's cue the highest values in its scope, else 0."""
    found = np.zeros_like(values)
    inside = np.flatnonzero(reading.scope >= 0)
    cues = np.flatnonzero(reading.cue >= 0)
    if not len(inside) or not len(cues):
        return found
    order = inside[np.argsort(reading.scope[inside], kind="stable")]
    numbers, first = np.unique(reading.scope[order], return_index=True)
    highest = np.maximum.reduceat(values[order], first, axis=0)
    at = np.minimum(np.searchsorted(numbers, reading.cue[cues]), len(numbers) - 1)
    known = numbers[at] == reading.cue[cues]
    found[cues[known]] = highest[at[known]]
    return found


def _numbers(reading: NoteColumns, rubric: RubricWords) -> tuple[Bools, Bools]:
    """Tell which tokens are in numbers that a feature asks for, and in others of their kind."""
    right = np.zeros((len(reading), len(rubric.profiles)), dtype=np.bool_)
    wrong = np.zeros_like(right)
    for j, profile in enumerate(rubric.profiles):
        asked = profile.quantities
        if not asked:
            continue
        # One more than there are quantities: tokens in none of them have the number -1.
        judged = np.zeros(len(reading.quantities) + 1, dtype=np.int8)
        judged_right, judged_wrong = compare_quantities(asked, enumerate(reading.quantities))
        judged[judged_right], judged[judged_wrong] = 1, 2
        right[:, j] = judged[reading.quantity] == 1
        wrong[:, j] = judged[reading.quantity] == 2
    return right, wrong
