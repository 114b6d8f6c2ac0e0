"""How rubric words are worded in notes: a table learned from annotated notes of other cases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

#: Stands for words of an annotation that no rubric word explains ("with", "reports").
NOTHING = ""


@dataclass(frozen=True, slots=True)
class Translation:
    """The probability of a note's word given a rubric's word, and of a note's word at all.

    Parameters
    ----------
    given : mapping from rubric stem to a mapping from note stem to probability
    overall : mapping from note stem to probability
        How common the word is in annotations of all features.
    """

    given: Mapping[str, Mapping[str, float]]
    overall: Mapping[str, float]


def learn_translation(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
    *,
    n_rounds: int = 6,
    least: float = 0.01,
    least_count: float = 0.5,
) -> Translation:
    """Learn which note words stand for which rubric words.

    IBM model 1 (Brown et al. 1993, Computational Linguistics 19:263-311): each word of an
    annotation comes from one word of the feature's text or from none, whichever explains it best
    over all pairs, found by expectation maximisation.

    Parameters
    ----------
    pairs : iterable of (rubric stems, annotation stems)
    n_rounds : int
        Rounds of expectation and maximisation.
    least, least_count : float
        Entries below this probability or expected count are left out.

    Examples
    --------
    >>> pairs = [(["diaphores"], ["sweat"]), (["diaphores", "fev"], ["sweat", "febril"])] * 3
    >>> table = learn_translation(pairs)
    >>> max(table.given["fev"], key=table.given["fev"].get)
    'febril'
    """
    data = [((*dict.fromkeys(a), NOTHING), b) for a, b in pairs if b]
    overall = Counter(word for _, b in data for word in set(b))
    total = sum(overall.values())
    share = {word: n / total for word, n in overall.items()}
    given: dict[str, dict[str, float]] = {}
    counts: dict[str, defaultdict[str, float]] = {}
    for _ in range(n_rounds):
        counts = {}
        for sources, targets in data:
            for target in targets:
                weights = [given[a].get(target, 0.0) if given else share[target] for a in sources]
                whole = sum(weights)
                if whole <= 0:
                    continue
                for source, weight in zip(sources, weights, strict=True):
                    if weight > 0:
                        counts.setdefault(source, defaultdict(float))[target] += weight / whole
        given = {}
        for source, own in counts.items():
            mass = sum(own.values())
            given[source] = {target: n / mass for target, n in own.items()}
    kept = {
        source: {
            target: round(p, 4)
            for target, p in sorted(own.items())
            if p >= least and counts[source][target] >= least_count
        }
        for source, own in sorted(given.items())
        if source != NOTHING
    }
    return Translation(kept, {word: round(p, 7) for word, p in sorted(share.items())})
