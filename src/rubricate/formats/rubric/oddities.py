"""What looks odd in a rubric before anybody is scored with it: a person decides what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from rubricate.rubric import Feature, Rubric

#: Similarity, in percent, from which two wordings are taken for one.
_ALIKE = 92
_OR_AT_AN_END = re.compile(r"^or\b|\bor$", re.IGNORECASE)
_ANY_OF = re.compile(r"\b(?:any|one|either|at least one) of\b|\beither\b", re.IGNORECASE)


def odd_features(rubric: Rubric) -> Iterator[str]:
    """Yield what looks odd: features alike, one inside another, alternatives without a group.

    Examples
    --------
    >>> rubric = Rubric("c", (Feature("1", "c", "Chest pain"), Feature("2", "c", "chest pain."),
    ...                       Feature("3", "c", "OR chest tightness")))
    >>> for odd in odd_features(rubric):
    ...     print(odd)
    '1' and '2' are alike: give them one group, or take one out
    '3' begins or ends with OR: give it and its neighbour one group, or join them with OR
    """
    from rapidfuzz.fuzz import token_sort_ratio

    words = {feature.id: re.findall(r"\w+", feature.text.casefold()) for feature in rubric}
    plain = {feature_id: " ".join(own) for feature_id, own in words.items()}
    for one, other in combinations(rubric, 2):
        if one.group and one.group == other.group:
            continue
        if _numbers(one) == _numbers(other) and (
            token_sort_ratio(plain[one.id], plain[other.id]) >= _ALIKE
        ):
            yield f"{one.id!r} and {other.id!r} are alike: give them one group, or take one out"
            continue
        for inner, outer in ((one, other), (other, one)):
            if plain[inner.id] and f" {plain[inner.id]} " in f" {plain[outer.id]} ":
                yield (
                    f"{inner.id!r} is inside {outer.id!r}: who says the second gets both; "
                    "one group would count once"
                )
    for feature in rubric:
        yield from _of_one(feature)
    groups = [feature.group for feature in rubric if feature.group]
    for group in dict.fromkeys(groups):
        if groups.count(group) == 1:
            yield f"group {group!r} has one feature"


def _numbers(feature: Feature) -> list[str]:
    """Return what tells "2 weeks" from "3 weeks", and yes from no."""
    return re.findall(r"\d+|\bno\b|\bnot\b|\bwithout\b|\bdenies\b", feature.text.casefold())


def _of_one(feature: Feature) -> Iterator[str]:
    if _OR_AT_AN_END.search(feature.text.strip(" .,;")):
        yield (
            f"{feature.id!r} begins or ends with OR: give it and its neighbour one group, or "
            "join them with OR"
        )
    elif _ANY_OF.search(feature.text) and not feature.group:
        yield f"{feature.id!r} says 'any of': write one row for each and give them one group"
    elif " or " in feature.text and " OR " not in feature.text:
        yield f"{feature.id!r} has a small 'or': write OR if either side alone is enough"
    if feature.weight == 0:
        yield f"{feature.id!r} has no points"
