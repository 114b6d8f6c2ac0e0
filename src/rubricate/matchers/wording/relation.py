"""How each token of a note relates to each feature: the evidence of the rubric's own words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, I32, I64, Bools
from rubricate.matchers.wording.profile import STOP_WORDS
from rubricate.matchers.wording.reading import MARK, NUMBER, RELATIVES, NoteReading, shift_tokens
from rubricate.matchers.wording.rubric_words import RubricWords
from rubricate.text.quantities import same_quantity

#: Words that belong together have at most this many others between them.
WINDOW = 6
#: A synonym names a rubric's word if it stands for at least this part of it.
_NAMED = 0.8

#: Names of the evidence columns, in order; `take_evidence` fills them.
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


class KeptEvidence:
    """Takes evidence columns and keeps them, (tokens, features, columns)."""

    def __init__(self, n_tokens: int, n_features: int) -> None:
        # Column by column in memory, as they are taken.
        kept = np.zeros((len(COLUMNS), n_tokens, n_features), dtype=np.float32)
        self.columns: F32 = np.moveaxis(kept, 0, -1)

    def __call__(self, name: str, values: npt.ArrayLike) -> None:
        """Keep one column."""
        self.columns[:, :, _NAMES[name]] = values


def take_evidence(
    take: KeptEvidence, reading: NoteReading, stems: Sequence[str], rubric: RubricWords
) -> None:
    """Compute every evidence column of a note and hand it to ``take``."""
    n, f = len(stems), len(rubric.profiles)
    if not n or not f:
        return
    stop = np.array([t.form in STOP_WORDS for t in reading.tokens])
    worth = rubric.worth(stems, stop)
    clause = reading.clause
    near = worth.strength.copy()
    for by in range(1, WINDOW + 1):
        same_clause = clause[:-by] == clause[by:]
        here, there = near[:-by], near[by:]
        np.maximum(here, worth.strength[by:], out=here, where=same_clause[:, None])
        np.maximum(there, worth.strength[:-by], out=there, where=same_clause[:, None])
    coverage_of = near @ rubric.weights
    pick = _best_alternative(coverage_of + 0.5 * worth.evidence, rubric.feature_of, f)
    rows = np.arange(n)[:, None]
    e = worth.evidence[rows, pick]
    cov = coverage_of[rows, pick]
    take("bias", 1.0)
    take("same word", worth.same[rows, pick])
    take("its share", worth.share[rows, pick])
    take("synonym", worth.alike[rows, pick])
    take("translation", worth.means[rows, pick])
    take("neighbour", worth.close[rows, pick])
    take("evidence", e)
    # Words that are the rubric's own or stand for them in the lexicon, each nearly all of it.
    sure = (np.where(near > _NAMED, near, 0.0) @ rubric.weights)[rows, pick]
    take("sure coverage", sure)
    take("sure coverage evidence", sure * e)
    sizes = np.diff([*reading.first, n])
    take(
        "highest coverage",
        np.repeat(np.maximum.reduceat(cov, reading.first, axis=0), sizes, axis=0),
    )
    take(
        "highest sure coverage",
        np.repeat(np.maximum.reduceat(sure, reading.first, axis=0), sizes, axis=0),
    )
    take("clause coverage", _highest_by(cov, reading.clause))
    _surroundings(take, reading, e, cov, stop)
    named = np.maximum(worth.same, worth.alike)[rows, pick] * ~stop[:, None]
    _items(take, reading, named, pick, rubric)
    _asked(take, reading, e, cov, pick, rubric)
    rare = worth.rarity[:, None] / 5
    take("stop word", stop[:, None])
    take("mark", (reading.kind == MARK)[:, None])
    take("number", (reading.kind == NUMBER)[:, None])
    take("rare", rare)
    take("rare covered", rare * cov)
    n_words = np.array([len(a.words) for a in rubric.alternatives], dtype=np.float32)
    single = (n_words == 1).astype(np.float32)[pick]
    take("long rubric", np.log(np.maximum(n_words, 1))[pick])
    take("single word", single)
    take("single word evidence", single * e)


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


def _surroundings(take: KeptEvidence, reading: NoteReading, e: F32, cov: F32, stop: Bools) -> None:
    clause = reading.clause
    shifted = {by: shift_tokens(e, by, clause) for by in range(-5, 6) if by}
    take("left 1", shifted[-1])
    take("right 1", shifted[1])
    take("left 2", shifted[-2])
    take("right 2", shifted[2])
    left = np.maximum.reduce([shifted[-k] for k in range(1, 6)])
    right = np.maximum.reduce([shifted[k] for k in range(1, 6)])
    take("left 5", left)
    take("right 5", right)
    left3 = np.maximum.reduce([shifted[-k] for k in range(1, 4)])
    right3 = np.maximum.reduce([shifted[k] for k in range(1, 4)])
    between = np.minimum(left3, right3)
    take("between", between)
    take("stop between", between * stop[:, None])
    take("mark between", between * (reading.kind == MARK)[:, None])
    take("coverage", cov)
    take("coverage evidence", cov * e)
    take("coverage squared", cov**2)
    take("coverage between", cov * np.maximum(between, e))
    sizes = np.diff([*reading.first, len(cov)])
    highest = np.repeat(np.maximum.reduceat(cov, reading.first, axis=0), sizes, axis=0)
    best = cov / np.maximum(highest, 1e-6)
    weak = np.maximum(0.4 - highest, 0) * 2.5
    take("weak place", weak * (cov > 0.05))
    take("weak place evidence", weak * e)
    top = (best > 0.95) & (cov > 0.05)
    take("best place", top)
    take("best place evidence", top * e)
    take("rank", best * (cov > 0.05))
    take("strong", e > 0.6)
    take("strong covered", (e > 0.6) * cov)
    take("left edge", (shifted[-1] < 0.2) * (left < 0.2) * e)
    take("right edge", (shifted[1] < 0.2) * (right < 0.2) * e)


def _items(
    take: KeptEvidence, reading: NoteReading, named: F32, pick: I64, rubric: RubricWords
) -> None:
    """Distinguish items of a list that name the feature from the items beside them."""
    in_item = _highest_by(named, reading.item)
    beside = (_highest_by(named, reading.clause) > _NAMED) & (in_item <= _NAMED)
    denied = (reading.scope >= 0)[:, None]
    asked = np.array([a.negated for a in rubric.alternatives])[pick]
    take("named", named)
    take("other item", beside)
    take("other item denied", beside & denied)
    take("named not denied", (named > _NAMED) & asked & ~denied)


def _highest_by(values: F32, group: I32) -> F32:
    """Return for each token the highest value in its group; groups are runs of equal numbers."""
    first = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    highest: F32 = np.maximum.reduceat(values, first, axis=0)
    return np.repeat(highest, np.diff([*first, len(group)]), axis=0)


def _asked(
    take: KeptEvidence, reading: NoteReading, e: F32, cov: F32, pick: I64, rubric: RubricWords
) -> None:
    alternatives = rubric.alternatives
    asked = np.array([a.negated for a in alternatives])[pick]
    denied = (reading.scope >= 0)[:, None]
    near = np.maximum(e, 0.5 * cov)
    take("denied asked", near * (asked & denied))
    take("denied not asked", near * (~asked & denied))
    take("not denied asked", near * (asked & ~denied))
    cue_evidence, cue_coverage = np.zeros_like(e), np.zeros_like(e)
    _at_cues(cue_evidence, e, reading)
    _at_cues(cue_coverage, cov, reading)
    take("cue asked", cue_evidence * asked)
    take("cue asked coverage", cue_evidence * cue_coverage * asked)
    take("cue not asked", cue_evidence * ~asked)
    about_family = np.array([a.family for a in alternatives])[pick]
    family = (reading.family > 0)[:, None]
    relative = np.array([t.form in RELATIVES for t in reading.tokens])[:, None]
    take("family asked", near * (about_family & family))
    take("family not asked", near * (~about_family & family))
    take("not family asked", near * (about_family & ~family))
    take("relative asked", cov * (relative & about_family))
    _numbers(take, reading, cov, rubric)


def _at_cues(target: F32, values: F32, reading: NoteReading) -> None:
    """Give the tokens of each negation's cue the highest value in its scope."""
    inside = np.flatnonzero(reading.scope >= 0)
    cues = np.flatnonzero(reading.cue >= 0)
    if not len(inside) or not len(cues):
        return
    order = inside[np.argsort(reading.scope[inside], kind="stable")]
    numbers, first = np.unique(reading.scope[order], return_index=True)
    highest = np.maximum.reduceat(values[order], first, axis=0)
    at = np.minimum(np.searchsorted(numbers, reading.cue[cues]), len(numbers) - 1)
    known = numbers[at] == reading.cue[cues]
    target[cues[known]] = highest[at[known]]


def _numbers(take: KeptEvidence, reading: NoteReading, cov: F32, rubric: RubricWords) -> None:
    right, wrong = np.zeros_like(cov), np.zeros_like(cov)
    for j, profile in enumerate(rubric.profiles):
        asked = profile.quantities
        if not asked:
            continue
        # One more than there are quantities: tokens in none of them have the number -1.
        judged = np.zeros(len(reading.quantities) + 1, dtype=np.int8)
        for i, quantity in enumerate(reading.quantities):
            if any(same_quantity(q, quantity) for q in asked):
                judged[i] = 1
            elif any(q.kind == quantity.kind for q in asked):
                judged[i] = 2
        right[:, j] = judged[reading.quantity] == 1
        wrong[:, j] = judged[reading.quantity] == 2
    take("right number", right)
    take("wrong number", wrong)
    take("right number coverage", right * cov)
    take("other number", (reading.quantity >= 0)[:, None] * (1 - right) * (1 - wrong))
