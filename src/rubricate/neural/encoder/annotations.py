"""From runs of pieces to annotations: whole words, shared cues, words that contradict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rubricate.arrays import F32
from rubricate.neural.encoder.decoding import Decoded
from rubricate.neural.encoder.pieces import Pieces
from rubricate.reading.negation import NegationScope, find_negations


def whole_words(text: str, runs: Sequence[Decoded]) -> list[Decoded]:
    """Return runs that begin and end at the edges of words; runs of one word become one.

    A word goes on while letters follow letters or digits digits: in "45M" there are two.

    Examples
    --------
    >>> whole_words("takes lisinopril 10mg", [Decoded(6, 11, 0.5), Decoded(13, 19, 0.75)])
    [Decoded(start=6, end=19, confidence=0.625)]
    """
    found: list[Decoded] = []
    for run in runs:
        start, end = run.start, run.end
        while start > 0 and _same_word(text[start - 1], text[start]):
            start -= 1
        while end < len(text) and _same_word(text[end - 1], text[end]):
            end += 1
        if found and start < found[-1].end:
            last = found.pop()
            start, end = min(start, last.start), max(end, last.end)
            run = Decoded(start, end, (last.confidence + run.confidence) / 2)
        found.append(Decoded(start, end, run.confidence))
    return found


def _same_word(left: str, right: str) -> bool:
    return (left.isalpha() and right.isalpha()) or (left.isdigit() and right.isdigit())


#: Share of the highest probability from which on a piece is shown among contradicting words, and
#: how many characters may lie between two runs that are shown as one.
_SHOWN, _NEAR = 0.5, 12
#: Marks that are not shown at the edges of contradicting words.
_EDGES = " \t\n,.;:—–"


def contradicting_words(text: str, pieces: Pieces, chance: F32) -> tuple[tuple[int, int], ...]:
    """Return the words of a note that contradict a feature: the run with the likeliest piece.

    The network learned whole clauses here, so neighbours that are nearly as likely belong to it.

    >>> import numpy as np
    >>> place = lambda *x: np.array(x, np.int32)
    >>> pieces = Pieces(place(1, 2, 3, 4), place(0, 5, 11, 30), place(4, 10, 15, 33))
    >>> contradicting_words("Left upper pain, otherwise fit now", pieces,
    ...                     np.array([0.9, 0.3, 0.8, 0.6], np.float32))
    ((0, 15),)
    """
    if not len(pieces):
        return ()
    best = int(chance.argmax())
    likely = chance >= _SHOWN * chance[best]
    first = last = best
    for k in range(best - 1, -1, -1):
        if pieces.start[first] - pieces.end[k] > _NEAR:
            break
        first = k if likely[k] else first
    for k in range(best + 1, len(pieces)):
        if pieces.start[k] - pieces.end[last] > _NEAR:
            break
        last = k if likely[k] else last
    start, end = int(pieces.start[first]), int(pieces.end[last])
    inner = text[start:end].strip(_EDGES)
    if inner:
        start += text[start:end].index(inner)
        end = start + len(inner)
    run = Decoded(start, end, float(chance[best]))
    return tuple((one.start, one.end) for one in whole_words(text, [run]))


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
