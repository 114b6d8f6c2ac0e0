"""Which runs of one row make one annotation: a denied item and the cue that denies it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rubricate.neural.decoding import Decoded
from rubricate.text.negation import NegationScope, find_negations


class Joined(NamedTuple):
    """One annotation: its fragments in order, and the lowest of their confidences."""

    spans: tuple[tuple[int, int], ...]
    confidence: float


def join_fragments(
    text: str, runs: Sequence[Decoded], negations: Sequence[NegationScope] | None = None
) -> list[Joined]:
    """Return the annotations that the runs of one feature in one note stand for.

    ``negations`` are those of the text, where they are known already.

    In "denies fever, chills" a cue is shared: each item it denies is an annotation of two
    fragments, the cue and the item. So a run in the scope of a cue that another run holds takes
    that cue along; a run that is nothing but such a cue is no annotation of its own. All other
    runs stay alone: joining neighbours in a sentence is wrong about as often as right.

    Examples
    --------
    >>> text = "Denies fever, cough and chills. Has pain"
    >>> runs = [Decoded(0, 12, 0.75), Decoded(24, 30, 0.5), Decoded(36, 40, 0.75)]
    >>> for found in join_fragments(text, runs):
    ...     print([text[start:end] for start, end in found.spans], found.confidence)
    ['Denies fever'] 0.75
    ['Denies', 'chills'] 0.5
    ['pain'] 0.75
    """
    alone = [Joined(((run.start, run.end),), run.confidence) for run in runs]
    if len(runs) < 2:
        return alone
    if negations is None:
        negations = find_negations(text)
    joined: dict[int, Joined] = {}
    lent = set()
    for i, run in enumerate(runs):
        cues = [
            (abs(scope.cue_span.start - run.start), k, scope)
            for scope in negations
            if _denies(scope, run)
            for k, other in enumerate(runs)
            if k != i and other.start <= scope.cue_span.start and scope.cue_span.end <= other.end
        ]
        if not cues:
            continue
        _, k, scope = min(cues, key=lambda cue: cue[:2])
        cue = (scope.cue_span.start, scope.cue_span.end)
        spans = tuple(sorted((cue, (run.start, run.end))))
        joined[i] = Joined(spans, min(run.confidence, runs[k].confidence))
        if cue == (runs[k].start, runs[k].end):
            lent.add(k)
    return [joined.get(i, alone[i]) for i in range(len(runs)) if i in joined or i not in lent]


def _denies(scope: NegationScope, run: Decoded) -> bool:
    cue, reach = scope.cue_span, scope.scope_span
    apart = run.end <= cue.start or cue.end <= run.start
    return apart and reach.start <= run.start and run.end <= reach.end
