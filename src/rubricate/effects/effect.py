"""Effect of a change of words or rules: decisions before and after, and the right ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from rubricate.effects.decisions import STATED, Decision, NamedSet, by_rubric, decide
from rubricate.rules.reasons import listening, switched_off


class Change(NamedTuple):
    """One decision that is another one after a change."""

    before: Decision
    after: Decision

    @property
    def kind(self) -> str:
        """``better`` where it became right, ``worse`` where it became wrong, else ``neither``."""
        if self.before.is_right == self.after.is_right:
            return "neither"
        return "better" if self.after.is_right else "worse"


class Effect(NamedTuple):
    """The changes in one set.

    ``items`` are all decisions that were compared, ``outcomes`` those with another outcome;
    ``details`` have another probability or other words alone. ``stated`` and ``others`` say how
    many more items earn credit that state their feature, and that do not.
    """

    set: str
    items: int
    outcomes: int
    better: int
    worse: int
    details: int
    stated: int
    others: int


def compare(
    before: Iterable[Decision], after: Iterable[Decision]
) -> tuple[list[Effect], list[Change]]:
    """Return the changes in each set, and each item with another outcome.

    >>> one = Decision("s", "n", "Fever", "stated", "stated", 0.9, ((0, 5),))
    >>> effects, changes = compare([one], [one._replace(outcome="not mentioned")])
    >>> effects[0].worse, effects[0].stated, changes[0].kind
    (1, -1, 'worse')
    """
    old = {(one.set, one.note, one.feature): one for one in before}
    pairs = [
        Change(old[key], one) for one in after if (key := (one.set, one.note, one.feature)) in old
    ]
    effects = []
    for name in dict.fromkeys(one.after.set for one in pairs):
        own = [one for one in pairs if one.after.set == name]
        other = [one for one in own if one.before.outcome != one.after.outcome]
        kinds = [one.kind for one in other]
        effects.append(
            Effect(
                name,
                len(own),
                len(other),
                kinds.count("better"),
                kinds.count("worse"),
                sum(one.before != one.after for one in own) - len(other),
                _more_credit(other, stated=True),
                _more_credit(other, stated=False),
            )
        )
    return effects, [one for one in pairs if one.before.outcome != one.after.outcome]


def _more_credit(changes: Sequence[Change], *, stated: bool) -> int:
    own = [one for one in changes if (one.after.label == STATED) == stated]
    return sum((x.after.outcome == STATED) - (x.before.outcome == STATED) for x in own)


class Ablation(NamedTuple):
    """The changes in each set if some rules are off."""

    rules: str
    effects: tuple[Effect, ...]


def ablate(
    sets: Sequence[NamedSet],
    *,
    matcher: str = "lexicon",
    rules: Sequence[Sequence[str]] = (),
) -> list[Ablation]:
    """Return the changes for each given group of rules that is switched off.

    Without groups: each rule that has something to say of these notes, each family of several
    such rules, and all of them. Rules are named after their family: ``side.other``.
    """
    parts = [part for named in sets for part in by_rubric(named)]
    before: list[list[Decision]] = []
    heard: list[set[str]] = []
    for part in parts:
        with listening() as said:
            before.append(list(decide(part, matcher=matcher)))
        heard.append(said)
    spoke = set[str]().union(*heard)
    groups = {" + ".join(group): tuple(group) for group in rules}
    if not groups:
        families: dict[str, list[str]] = {}
        for rule in sorted(spoke):
            families.setdefault(rule.split(".")[0], []).append(rule)
        groups = {rule: (rule,) for rule in sorted(spoke)}
        groups |= {f"{one}.*": tuple(own) for one, own in families.items() if len(own) > 1}
        groups["all"] = tuple(spoke)
    found = []
    for name, group in groups.items():
        with switched_off(*group):
            # Where a rule has nothing to say, nothing changes without it.
            after = [
                own if said.isdisjoint(group) else list(decide(part, matcher=matcher))
                for part, own, said in zip(parts, before, heard, strict=True)
            ]
        found.append(Ablation(name, tuple(compare(chain(*before), chain(*after))[0])))
    return found
