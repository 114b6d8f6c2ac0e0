"""How each token of a note relates to each feature: the evidence of the rubric's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rubricate.matchers.wording.profile import PRONOUNS, STOP_WORDS, FeatureProfile
from rubricate.matchers.wording.reading import MARK, NUMBER, RELATIVES, NoteReading
from rubricate.matchers.wording.translation import Translation
from rubricate.text.quantities import same_quantity

F32 = npt.NDArray[np.float32]

#: Most words between two that belong together.
WINDOW = 6
#: log of how much more often a word stands for a rubric word than for any: what counts as sure.
SURE = 5.0

#: Names of the evidence columns, in order; `columns_of` fills them.
COLUMNS = (
    "bias", "same word", "its share", "synonym", "translation", "evidence",
    "left 1", "right 1", "left 2", "right 2", "left 5", "right 5", "between", "stop between",
    "mark between", "coverage", "coverage evidence", "coverage squared", "best place",
    "best place evidence", "coverage between", "rank", "denied asked", "denied not asked",
    "not denied asked", "cue asked", "cue asked coverage", "cue not asked", "family asked",
    "family not asked", "not family asked", "relative asked", "right number", "wrong number",
    "right number coverage", "other number", "stop word", "mark", "number", "rare",
    "rare covered", "long rubric", "single word", "single word evidence", "first evidence",
    "strong", "strong covered", "left edge", "right edge",
)  # fmt: skip
_NAMES = {name: i for i, name in enumerate(COLUMNS)}


@dataclass(frozen=True, slots=True)
class RubricWords:
    """A rubric made ready for comparing: its words as columns, its alternatives as groups.

    Parameters
    ----------
    profiles : tuple of FeatureProfile
    words : tuple of str
        All stems of all alternatives; one column each.
    weights : array (words, alternatives)
        Share of each word in the meaning of an alternative, by rarity.
    feature_of : array
        The feature of each alternative.
    """

    profiles: tuple[FeatureProfile, ...]
    words: tuple[str, ...]
    weights: F32
    feature_of: npt.NDArray[np.int64]
    match: Callable[[str], tuple[F32, F32, F32]]


def prepare_rubric(
    profiles: Sequence[FeatureProfile],
    translation: Translation,
    rarity: Callable[[str], float],
    synonyms: Mapping[str, set[str]] | None = None,
) -> RubricWords:
    """Return the rubric's words as columns, with a function that compares a stem to all of them."""
    alternatives = [a for profile in profiles for a in profile.alternatives]
    words = tuple(dict.fromkeys(w for a in alternatives for w in a.words))
    place = {word: i for i, word in enumerate(words)}
    weights = np.zeros((len(words), len(alternatives)), dtype=np.float32)
    for k, alternative in enumerate(alternatives):
        for word in alternative.words:
            weights[place[word], k] = max(rarity(word), 0.5)
        weights[:, k] /= max(float(weights[:, k].sum()), 1e-6)
    known: dict[str, tuple[F32, F32, F32]] = {}
    similar = synonyms or {}

    def match(stem_: str) -> tuple[F32, F32, F32]:
        found = known.get(stem_)
        if found is None:
            same = np.zeros(len(words), dtype=np.float32)
            alike = np.zeros(len(words), dtype=np.float32)
            means = np.zeros(len(words), dtype=np.float32)
            if stem_ in place:
                same[place[stem_]] = 1
            base = translation.overall.get(stem_, 0.0)
            near = similar.get(stem_, set())
            for i, word in enumerate(words):
                if word in near and word != stem_:
                    alike[i] = 1
                p = translation.given.get(word, {}).get(stem_, 0.0)
                if p > 0:
                    means[i] = np.clip(np.log(p / max(base, 1e-6)) / SURE, 0, 1)
            found = known[stem_] = (same, alike, means)
        return found

    return RubricWords(
        tuple(profiles),
        words,
        weights,
        np.array([a.feature for a in alternatives], dtype=np.int64),
        match,
    )


def _shifted(values: F32, by: int, clause: npt.NDArray[np.int32]) -> F32:
    """Return the values ``by`` tokens to the right (left when negative), 0 outside the clause."""
    out = np.zeros_like(values)
    if by == 0:
        return values
    if abs(by) >= len(values):
        return out
    if by > 0:
        same = clause[:-by] == clause[by:]
        out[:-by][same] = values[by:][same]
    else:
        same = clause[-by:] == clause[:by]
        out[-by:][same] = values[:by][same]
    return out


def columns_of(
    reading: NoteReading,
    stems: Sequence[str],
    rubric: RubricWords,
    rarity: Callable[[str], float],
) -> npt.NDArray[np.float32]:
    """Return the evidence columns, (tokens, features, columns)."""
    n, f = len(stems), len(rubric.profiles)
    out = np.zeros((n, f, len(COLUMNS)), dtype=np.float32)
    if not n or not f:
        return out
    matched = [rubric.match(one) for one in stems]
    same = np.stack([m[0] for m in matched])
    alike = np.stack([m[1] for m in matched])
    means = np.stack([m[2] for m in matched])
    stop = np.array([t.form in STOP_WORDS for t in reading.tokens])
    strength = np.maximum(np.maximum(same, 0.9 * alike), means)
    strength[stop] *= 0.3
    clause = reading.clause
    near = strength.copy()
    for by in range(1, WINDOW + 1):
        for sign in (1, -1):
            np.maximum(near, _shifted(strength, sign * by, clause), out=near)
    coverage_a = near @ rubric.weights
    present = rubric.weights > 0
    evidence_a = np.stack(
        [strength[:, present[:, k]].max(axis=1) for k in range(present.shape[1])], axis=1
    )
    pick = _best_alternative(coverage_a + 0.5 * evidence_a, rubric.feature_of, f)
    rows = np.arange(n)[:, None]
    set_ = _Setter(out)
    e = evidence_a[rows, pick]
    cov = coverage_a[rows, pick]
    set_("bias", 1.0)
    set_("same word", _pick_max(same, present, pick))
    set_("its share", (same @ rubric.weights)[rows, pick])
    set_("synonym", _pick_max(alike, present, pick))
    set_("translation", _pick_max(means, present, pick))
    set_("evidence", e)
    _surroundings(set_, reading, e, cov, stop)
    _asked(set_, reading, e, cov, pick, rubric)
    _token_kinds(set_, reading, stems, e, cov, stop, rarity)
    n_words = np.array([len(a.words) for p in rubric.profiles for a in p.alternatives])
    single = (n_words == 1).astype(np.float32)[pick]
    set_("long rubric", np.log(n_words.astype(np.float32))[pick])
    set_("single word", single)
    set_("single word evidence", single * e)
    return out


class _Setter:
    def __init__(self, out: npt.NDArray[np.float32]) -> None:
        self.out = out

    def __call__(self, name: str, values: npt.ArrayLike) -> None:
        self.out[:, :, _NAMES[name]] = values


def _best_alternative(
    score: F32, feature_of: npt.NDArray[np.int64], n_features: int
) -> npt.NDArray[np.int64]:
    """Return, for each token and feature, the alternative with the highest score."""
    pick = np.zeros((len(score), n_features), dtype=np.int64)
    for j in range(n_features):
        own = np.flatnonzero(feature_of == j)
        pick[:, j] = own[score[:, own].argmax(axis=1)] if len(own) else 0
    return pick


def _pick_max(values: F32, present: npt.NDArray[np.bool_], pick: npt.NDArray[np.int64]) -> F32:
    by_alternative = np.stack(
        [values[:, present[:, k]].max(axis=1) for k in range(present.shape[1])], axis=1
    )
    return by_alternative[np.arange(len(values))[:, None], pick]


def _surroundings(
    set_: _Setter, reading: NoteReading, e: F32, cov: F32, stop: npt.NDArray[np.bool_]
) -> None:
    clause = reading.clause
    shifted = {by: _shifted(e, by, clause) for by in range(-5, 6) if by}
    set_("left 1", shifted[-1])
    set_("right 1", shifted[1])
    set_("left 2", shifted[-2])
    set_("right 2", shifted[2])
    left = np.maximum.reduce([shifted[-k] for k in range(1, 6)])
    right = np.maximum.reduce([shifted[k] for k in range(1, 6)])
    set_("left 5", left)
    set_("right 5", right)
    left3 = np.maximum.reduce([shifted[-k] for k in range(1, 4)])
    right3 = np.maximum.reduce([shifted[k] for k in range(1, 4)])
    between = np.minimum(left3, right3)
    set_("between", between)
    set_("stop between", between * stop[:, None])
    set_("mark between", between * (reading.kind == MARK)[:, None])
    set_("coverage", cov)
    set_("coverage evidence", cov * e)
    set_("coverage squared", cov**2)
    set_("coverage between", cov * np.maximum(between, e))
    best = cov / np.maximum(cov.max(axis=0, keepdims=True), 1e-6)
    top = (best > 0.95) & (cov > 0.05)
    set_("best place", top)
    set_("best place evidence", top * e)
    set_("rank", best * (cov > 0.05))
    seen = np.maximum.accumulate(e > 0.3, axis=0)
    earlier = np.vstack([np.zeros((1, e.shape[1]), dtype=bool), seen[:-1]])
    set_("first evidence", (e > 0.3) & ~earlier)
    set_("strong", e > 0.6)
    set_("strong covered", (e > 0.6) * cov)
    set_("left edge", (shifted[-1] < 0.2) * (left < 0.2) * e)
    set_("right edge", (shifted[1] < 0.2) * (right < 0.2) * e)


def _asked(
    set_: _Setter,
    reading: NoteReading,
    e: F32,
    cov: F32,
    pick: npt.NDArray[np.int64],
    rubric: RubricWords,
) -> None:
    alternatives = [a for p in rubric.profiles for a in p.alternatives]
    asked = np.array([a.negated for a in alternatives])[pick]
    denied = (reading.scope >= 0)[:, None]
    near = np.maximum(e, 0.5 * cov)
    set_("denied asked", near * (asked & denied))
    set_("denied not asked", near * (~asked & denied))
    set_("not denied asked", near * (asked & ~denied))
    cue_evidence, cue_coverage = np.zeros_like(e), np.zeros_like(e)
    for i in range(len(reading.negations)):
        inside, cue = reading.scope == i, reading.cue == i
        if inside.any() and cue.any():
            cue_evidence[cue] = e[inside].max(axis=0)
            cue_coverage[cue] = cov[inside].max(axis=0)
    set_("cue asked", cue_evidence * asked)
    set_("cue asked coverage", cue_evidence * cue_coverage * asked)
    set_("cue not asked", cue_evidence * ~asked)
    about_family = np.array([a.family for a in alternatives])[pick]
    family = (reading.family > 0)[:, None]
    relative = np.array([t.form in RELATIVES for t in reading.tokens])[:, None]
    set_("family asked", near * (about_family & family))
    set_("family not asked", near * (~about_family & family))
    set_("not family asked", near * (about_family & ~family))
    set_("relative asked", cov * (relative & about_family))
    _numbers(set_, reading, cov, rubric)


def _numbers(set_: _Setter, reading: NoteReading, cov: F32, rubric: RubricWords) -> None:
    right, wrong = np.zeros_like(cov), np.zeros_like(cov)
    for j, profile in enumerate(rubric.profiles):
        asked = [q for a in profile.alternatives for q in a.quantities]
        if not asked:
            continue
        for i, quantity in enumerate(reading.quantities):
            inside = reading.quantity == i
            if any(same_quantity(q, quantity) for q in asked):
                right[inside, j] = 1
            elif any(q.kind == quantity.kind for q in asked):
                wrong[inside, j] = 1
    set_("right number", right)
    set_("wrong number", wrong)
    set_("right number coverage", right * cov)
    set_("other number", (reading.quantity >= 0)[:, None] * (1 - right) * (1 - wrong))


def _token_kinds(
    set_: _Setter,
    reading: NoteReading,
    stems: Sequence[str],
    e: F32,
    cov: F32,
    stop: npt.NDArray[np.bool_],
    rarity: Callable[[str], float],
) -> None:
    rare = np.array([rarity(one) for one in stems], dtype=np.float32)[:, None] / 5
    set_("stop word", stop[:, None])
    set_("mark", (reading.kind == MARK)[:, None])
    set_("number", (reading.kind == NUMBER)[:, None])
    set_("rare", rare)
    set_("rare covered", rare * cov)


__all__ = ["COLUMNS", "PRONOUNS", "RubricWords", "columns_of", "prepare_rubric"]
