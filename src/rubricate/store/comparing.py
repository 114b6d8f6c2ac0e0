"""A rubric that comes again: which of its features are those that people judged already.

Judgements belong to a feature's id. Most rubric files have no ids, so theirs are made from the
words, and other words give another id. Such features are found again by their words, by likeness
and by their place among numbered ones; the manager may decide otherwise. A feature that is found
again keeps the id that its judgements have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as count_from

import numpy as np
from sqlalchemy import Connection, func, select

from rubricate.arrays import F64
from rubricate.errors import Fault, InputError
from rubricate.rubric import Feature, Rubric, folded
from rubricate.store import answers
from rubricate.store import tables as t
from rubricate.store.rubrics import feature_part, features_ever, meaning, rubrics_of

#: Likeness in percent from which a new wording is taken for that of an old feature.
_ALIKE = 60.0
#: How much the same number counts beside likeness: rows that are inserted move the numbers.
_SAME_ID = 30.0
#: How many former features are offered for each one that is not the same.
_OFFERED = 10


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """One feature before and after: same, reworded, new or gone."""

    state: answers.FeatureState
    given: str  # its id in the file; empty where it is gone
    now: Feature | None = None
    was: Feature | None = None
    likeness: float | None = None
    #: Former features that it could be, with their likeness in percent, the most alike first.
    offers: tuple[tuple[Feature, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RubricComparison:
    """A rubric under the ids that its features keep, compared with the project's newest one."""

    rubric: Rubric
    version: int
    changes: tuple[FeatureChange, ...]

    @property
    def is_other(self) -> bool:
        """True if the rubric would be a new version."""
        before = [c.was for c in self.changes if c.state != "gone"]
        return self.gone != () or [c.now for c in self.changes if c.now] != before

    @property
    def gone(self) -> tuple[FeatureChange, ...]:
        """The features that the new version lacks."""
        return tuple(change for change in self.changes if change.state == "gone")


def compare_rubrics(
    connection: Connection,
    project: str,
    rubrics: Sequence[Rubric],
    pairs: Mapping[str, str] | None = None,
    *,
    made: Collection[str] | None = None,
) -> list[RubricComparison]:
    """Return the changes that each rubric makes in a project.

    ``pairs`` says of features (by their ids in the file) which former feature they are, by its id;
    empty: none, it is new. The others are found again by their ids alone, unless it is said which
    ids were ``made`` by the reader: these, and bare numbers, say little of what a feature is.
    """
    chosen = dict(pairs or {})
    newest = rubrics_of(connection, project)
    ever = {case: features_ever(connection, project, case) for case in newest}
    taken = {feature for own in ever.values() for feature in own}
    _check_pairs(chosen, rubrics, ever)
    found = []
    for rubric in rubrics:
        version, old = newest.get(rubric.case, (0, Rubric(rubric.case, ())))
        former = ever.get(rubric.case, {})
        current = {f.id for f in old}
        own = {f.id: chosen[f.id] for f in rubric if f.id in chosen}
        match = match_features(former, current, rubric.features, own, made)
        left = [f for f in former.values() if f.id not in set(match.values())]
        changes, features = [], []
        for feature in rubric:
            was = former.get(match.get(feature.id, ""))
            now = replace(feature, id=was.id if was else _free_id(feature.id, taken))
            taken.add(now.id)
            features.append(now)
            state: answers.FeatureState = "new" if was is None else (
                "same" if meaning(was) == meaning(now) else "reworded")  # fmt: skip
            offers = () if state == "same" else _offers(feature, [*([was] if was else []), *left])
            alike = None if was is None else float(_likeness([was], [feature])[0, 0])
            changes.append(FeatureChange(state, feature.id, now, was, alike, offers))
        changes += [FeatureChange("gone", "", None, f) for f in left if f.id in current]
        same_order = replace(rubric, features=tuple(features))
        found.append(RubricComparison(same_order, version, tuple(changes)))
    return found


def _check_pairs(
    pairs: Mapping[str, str], rubrics: Iterable[Rubric], ever: Mapping[str, Mapping[str, Feature]]
) -> None:
    """Raise InputError for pairs of features that are not there, or of one with two."""
    case_of = {feature.id: rubric.case for rubric in rubrics for feature in rubric}
    used = Counter(old for old in pairs.values() if old)
    faults = [Fault(f"there is no feature {new!r} to pair") for new in pairs if new not in case_of]
    faults += [
        Fault(f"case {case_of[new]!r} never had a feature {old!r} to pair {new!r} with")
        for new, old in pairs.items()
        if old and new in case_of and old not in ever.get(case_of[new], {})
    ]
    faults += [Fault(f"feature {old!r} is paired {n} times: choose one") for old, n in used.items()
               if n > 1]  # fmt: skip
    InputError.raise_any(faults)


def match_features(
    former: Mapping[str, Feature],
    current: Collection[str],
    features: Sequence[Feature],
    own: Mapping[str, str],
    made: Collection[str] | None,
) -> dict[str, str]:
    """Return the former feature of each feature: as was chosen, else by id, words, likeness."""
    found = {new: old for new, old in own.items() if old}
    # Of two with the same words the one that the project has now comes first.
    free = {one: former[one] for one in sorted(former, key=lambda one: one not in current)}
    for old_id in found.values():
        del free[old_id]
    open_ones = {f.id: f for f in features if f.id not in own}

    def take(new: str, old: str) -> None:
        found[new] = old
        del free[old], open_ones[new]

    for name in [one for one in open_ones if one in free]:
        if made is None or not (name in made or name.isdecimal()):
            take(name, name)
    if made is None:
        return found
    by_words: dict[str, list[str]] = {}
    for old in free.values():
        by_words.setdefault(folded(old.text), []).append(old.id)
    for feature in list(open_ones.values()):
        if same := by_words.get(folded(feature.text)):
            # Of several with these words, the one with its own id.
            take(feature.id, same.pop(same.index(feature.id) if feature.id in same else 0))
    # What left the rubric before comes back by its words or its id, never by mere likeness.
    there = [f for f in free.values() if f.id in current or f.id in open_ones]
    scores = _likeness(there, list(open_ones.values()))
    place = {new: k for k, new in enumerate(open_ones)}
    alike = {(i, k) for i, k in np.argwhere(scores >= _ALIKE).tolist() if there[i].id in current}
    same_id = {(i, place[old.id]) for i, old in enumerate(there) if old.id in place}
    names = list(open_ones)
    ranked = sorted(
        (-float(scores[pair]) - (pair in same_id) * _SAME_ID, abs(pair[0] - pair[1]),
         there[pair[0]].id, names[pair[1]])
        for pair in alike | same_id
    )  # fmt: skip
    for _, _, old_id, new in ranked:
        if old_id in free and new in open_ones:
            take(new, old_id)
    return found


def _likeness(before: Sequence[Feature], after: Sequence[Feature]) -> F64:
    """Return the likeness of the words of each two features, in percent: a row for each before."""
    if not before or not after:
        return np.zeros((len(before), len(after)))
    from rapidfuzz.fuzz import token_set_ratio, token_sort_ratio
    from rapidfuzz.process import cdist

    words = [[folded(f.text) for f in side] for side in (before, after)]
    alike: F64 = (
        cdist(*words, scorer=token_sort_ratio) + cdist(*words, scorer=token_set_ratio)
    ) / 2
    return alike.round(1)


def _offers(feature: Feature, former: Sequence[Feature]) -> tuple[tuple[Feature, float], ...]:
    scores = _likeness(former, [feature]).ravel().tolist()
    ranked = sorted(zip(former, scores, strict=True), key=lambda pair: -pair[1])
    return tuple(ranked[:_OFFERED])


def _free_id(wanted: str, taken: set[str]) -> str:
    """Return an id that no feature of the project ever had."""
    numbered = (f"{wanted}-{n}" for n in count_from(2))
    return wanted if wanted not in taken else next(one for one in numbered if one not in taken)


def judged_counts(connection: Connection, project: str) -> dict[str, tuple[int, int]]:
    """Return the number of judgements and decisions of each feature of a project."""
    judged = select(t.judgement.c.feature, func.count()).where(
        t.judgement.c.project == project, t.judgement.c.answer.is_not(None))  # fmt: skip
    decided = select(t.dispute.c.feature, func.count()).where(
        t.dispute.c.project == project, t.dispute.c.state == "decided")  # fmt: skip
    rows = connection.execute(judged.group_by(t.judgement.c.feature))
    one: dict[str, int] = dict(rows.tuples().all())
    rows = connection.execute(decided.group_by(t.dispute.c.feature))
    other: dict[str, int] = dict(rows.tuples().all())
    return {feature: (one.get(feature, 0), other.get(feature, 0)) for feature in one | other}


def show_comparison(
    compared: Sequence[RubricComparison], counts: Mapping[str, tuple[int, int]] | None
) -> list[answers.RubricChanges]:
    """Return comparisons as they are shown; without counts for those who must not see others'."""

    def part(change: FeatureChange) -> answers.FeatureChangePart:
        judged, decided = (counts or {}).get(change.was.id if change.was else "", (0, 0))
        return {
            "state": change.state, "given": change.given,
            "now": feature_part(change.now) if change.now else None,
            "was": feature_part(change.was) if change.was else None, "likeness": change.likeness,
            "judgements": None if counts is None else judged,
            "decisions": None if counts is None else decided,
            "offers": [{"feature": f.id, "text": f.text, "likeness": score}
                       for f, score in change.offers],
        }  # fmt: skip

    return [
        {"case": one.rubric.case, "version": one.version, "is_other": one.is_other,
         "features": [part(change) for change in one.changes]}
        for one in compared
    ]  # fmt: skip
