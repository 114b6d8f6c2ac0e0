"""From the features found in a note to its score: sums, made here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rubricate.rubric import Rubric


@dataclass(frozen=True, slots=True)
class Total:
    """What a note gets under a rubric."""

    score: float
    maximum: float
    points: Mapping[str, float]

    @property
    def percentage(self) -> float:
        """The score in percent of the maximum; NaN where nothing can be got.

        Examples
        --------
        >>> Total(3.0, 4.0, {}).percentage
        75.0
        """
        return 100.0 * self.score / self.maximum if self.maximum else math.nan


def total_score(rubric: Rubric, found: Collection[str]) -> Total:
    """Sum the weights of the features found.

    A feature without a group adds its weight. A group ("any of") counts once: it adds the weight
    of its heaviest found member (the first of them where several weigh the same), and the weight
    of its heaviest member to the maximum. A feature with a weight below 0 is a penalty: it takes
    points away where it is found, and the maximum is what a note without penalties can get.

    Examples
    --------
    >>> from rubricate import Feature
    >>> rubric = Rubric("c", (
    ...     Feature("a", "c", "Chest pain", weight=2.0),
    ...     Feature("b", "c", "Sweating", group="either"),
    ...     Feature("d", "c", "Nausea", weight=0.5, group="either"),
    ... ))
    >>> total = total_score(rubric, {"a", "b", "d"})
    >>> total.score, total.maximum, dict(total.points)
    (3.0, 3.0, {'a': 2.0, 'b': 1.0, 'd': 0.0})
    """
    wanted = set(found)
    best: dict[str, str] = {}
    most: dict[str, float] = {}
    weight = {feature.id: feature.weight for feature in rubric}
    for feature in rubric:
        # A feature without a group is a group of its own; ids and groups are told apart.
        group = f"group {feature.group}" if feature.group else f"feature {feature.id}"
        most[group] = max(most.get(group, 0.0), feature.weight)
        if feature.id in wanted and feature.weight > weight.get(best.get(group, ""), -math.inf):
            best[group] = feature.id
    counted = set(best.values())
    points = {f.id: f.weight if f.id in counted else 0.0 for f in rubric if f.id in wanted}
    return Total(math.fsum(points.values()), math.fsum(most.values()), points)
