"""From probabilities of pieces to annotations with exact characters, of one network or several.

`decide` is the one rule by which pieces become runs: `rubricate.neural.training.measuring` uses it
too, so what is measured is what is decoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rubricate.arrays import F32, F64, I32, I64, Bools
from rubricate.matchers.lexicon.matcher import votes_from_rubric
from rubricate.neural.encoder.inference import RowScores
from rubricate.neural.encoder.pieces import Pieces
from rubricate.reading.negation import NegationScope, find_negations
from rubricate.rubric import Rubric
from rubricate.stats.calibration import logit

#: Logit of an annotation's beginning or ending inside what a network takes for one piece.
UNLIKELY = -7.0


#: The lexicon's logits count no further than this; of its yes less, since it credits more of what
#: contradicts than a network does.
SURE_OF_NO, SURE_OF_YES = -5.0, 2.0
#: What makes a run impossible; finite, so that sums stay numbers.
NEVER = -1e9


class Runs(NamedTuple):
    """Which places of each row lie in a run, and at which of them a run begins."""

    inside: Bools
    begins: Bools


def likeliest_runs(score: F64, opening: F64, closing: F64) -> Runs:
    """Return, for each row, the runs with the highest sum.

    A run adds the ``score`` of its places, the ``opening`` of its first and the ``closing`` of
    its last; runs may touch. The best of all choices is found by dynamic programming over two
    states, outside and inside (Viterbi 1967), for all rows at once.

    >>> nothing = np.zeros((1, 4))
    >>> likeliest_runs(np.array([[1.0, 2.0, -1.0, 3.0]]), nothing, nothing).inside.tolist()
    [[True, True, False, True]]
    >>> likeliest_runs(np.array([[1.0, 2.0, -1.0, 3.0]]), nothing - 1.5, nothing).inside.tolist()
    [[True, True, True, True]]
    """
    n_rows, n_places = score.shape
    # By place first: every step below reads one place of all rows.
    adds, opens, closes = (np.ascontiguousarray(part.T) for part in (score, opening, closing))
    from_run = np.zeros((n_places + 1, n_rows), bool)
    begins = np.zeros((n_places + 1, n_rows), bool)
    outside, inside = np.zeros(n_rows), np.full(n_rows, NEVER)
    for place in range(n_places + 1):
        ended = inside + closes[place - 1] if place else inside
        from_run[place] = ended > outside
        outside = np.maximum(outside, ended)
        if place == n_places:
            break
        begun = outside + opens[place]
        begins[place] = begun > inside
        inside = np.maximum(inside, begun) + adds[place]
    held = np.zeros((n_places + 1, n_rows), bool)
    state = np.zeros(n_rows, bool)
    for place in range(n_places, -1, -1):
        held[place] = state
        state = np.where(state & ~begins[place], True, from_run[place])
    return Runs(held[:-1].T, (held & begins)[:-1].T)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability on a piece is inside an annotation, and a feature present."""

    inside: float = 0.5
    presence: float = 0.5
    rescue: float = 0.5
    edges: float = 0.0
    cost: float = 0.0

    @property
    def plain(self) -> bool:
        """True if a piece is inside by its own probability alone."""
        return not self.edges and not self.cost


class RunScores(NamedTuple):
    """Scores that `likeliest_runs` adds up: each place's own, and those of runs' two ends."""

    own: F64
    opening: F64
    closing: F64


def run_scores(inside: F32, first: F64, last: F64, at: Thresholds) -> RunScores:
    """Return the scores of places from their probabilities and the logits of both edges."""
    own = logit(inside) - logit(at.inside)
    return RunScores(own, at.edges * first - at.cost, at.edges * last)


def decide(
    inside: F32,
    presence: Sequence[float] | F64 | F32,
    present_from: Sequence[float] | float,
    at: Thresholds,
    scores: RunScores | None,
) -> Runs:
    """Tell which places (row, place) lie in an annotation, and at which one begins.

    A row is present from its own threshold of presence on, if any place is possible at all. Then
    its places are those of the likeliest runs, or without ``scores`` those that reach
    ``at.inside``; a row that is present and has none keeps the places that reach the share
    ``at.rescue`` of its highest.

    Examples
    --------
    >>> inside = np.array([[0.5, 0.75, 0.25], [0.4, 0.2, 0.1], [0.9, 0.9, 0.9]], np.float32)
    >>> decide(inside, [0.9, 0.5, 0.4], [0.5, 0.5, 0.5], Thresholds(), None).inside.tolist()
    [[True, True, False], [True, True, False], [False, False, False]]
    """
    highest = inside.max(axis=1, initial=0.0).astype(np.float64)
    present = (np.asarray(presence, np.float64) >= np.asarray(present_from)) & (highest > 0)
    saved = highest * at.rescue
    begins = np.zeros(inside.shape, bool)
    if scores is None:
        limit = np.where(highest >= at.inside, at.inside, saved).astype(np.float32)
        chosen = inside >= limit[:, None]
    else:
        runs = likeliest_runs(*scores)
        some = runs.inside.any(axis=1, keepdims=True)
        chosen = np.where(some, runs.inside, inside >= saved.astype(np.float32)[:, None])
        begins = runs.begins
    chosen &= present[:, None]
    before = np.zeros_like(chosen)
    before[:, 1:] = chosen[:, :-1]
    return Runs(chosen, chosen & (begins | ~before))


class Decoded(NamedTuple):
    """One run of pieces: its characters and the mean probability of its pieces."""

    start: int
    end: int
    confidence: float


class Opinion(NamedTuple):
    """One network's outputs for the pieces of a note and some features, with the network's weight.

    ``inside`` is (feature, piece), ``edges`` (feature, piece, 2), as those of `RowScores`.
    """

    pieces: Pieces
    inside: F32
    weight: float = 1.0
    edges: F32 | None = None


class Votes(NamedTuple):
    """The lexicon's scores of a note from the rubric alone, beside a network.

    It knows synonyms that the network never met, and errs elsewhere. ``presence`` has a logit for
    each feature, ``spans`` the words it found of each.
    """

    presence: F64
    spans: Sequence[Sequence[tuple[int, int]]]

    def of(self, features: Sequence[int]) -> Votes:
        """Return the votes on some of the features."""
        return Votes(self.presence[list(features)], [self.spans[k] for k in features])

    def on_pieces(self, pieces: Pieces) -> F64:
        """Return 1 inside its spans, -1/2 elsewhere, 0 for features that it did not find."""
        said = np.zeros((len(self.spans), len(pieces.start)))
        for own, spans in zip(said, self.spans, strict=True):
            own[:] = -0.5 if spans else 0.0
            for start, end in spans:
                own[(pieces.start < end) & (pieces.end > start)] = 1.0
        return said


class HeardNote(NamedTuple):
    """Raw outputs for a note: by each network, with the pieces it cuts, and by the lexicon."""

    said: Sequence[tuple[Pieces, Sequence[RowScores]]]
    votes: Votes | None


class Again(NamedTuple):
    """A second reading: features in doubt, features only read with them, and characters."""

    features: Sequence[int]
    beside: Sequence[int]
    parts: Sequence[tuple[int, int]]


def lexicon_votes(rubric: Rubric, texts: Sequence[str]) -> list[Votes]:
    """Return the lexicon's logits for each text, within `SURE_OF_NO` and `SURE_OF_YES`.

    It abstains on a feature without a letter or a digit, of which it knows nothing.
    """
    worded = tuple(f for f in rubric if any(one.isalnum() for one in f.text))
    if not worded:
        return [Votes(np.zeros(len(rubric)), [[] for _ in rubric]) for _ in texts]
    out = []
    for said in votes_from_rubric(Rubric(rubric.case, worded), texts):
        own = [said.get(feature.id) for feature in rubric]
        chances = [0.5 if x is None or x.probability is None else x.probability for x in own]
        spans = [[span for x in one.evidence for span in x.spans] if one else [] for one in own]
        out.append(Votes(np.clip(logit(chances), SURE_OF_NO, SURE_OF_YES), spans))
    return out


def decode_pieces(
    said: Opinion, presence: Sequence[float], at: Sequence[Thresholds]
) -> list[list[Decoded]]:
    """Return for each feature the runs of pieces inside its annotations, with their characters.

    A run goes from the first character of its first piece to the last of its last one, so it
    neither begins nor ends with white space. Thresholds may differ in presence only.

    >>> place = lambda *x: np.array(x, np.int32)
    >>> pieces = Pieces(place(1, 2, 3), place(0, 3, 8), place(2, 7, 9))
    >>> said = Opinion(pieces, np.array([[0.75, 0.75, 0.1]], np.float32))
    >>> decode_pieces(said, [0.9], [Thresholds()])
    [[Decoded(start=0, end=7, confidence=0.75)]]
    """
    units = _units(said)
    if not len(units.start):
        return [[] for _ in presence]
    scores = None if at[0].plain else run_scores(units.inside, units.first, units.last, at[0])
    found = decide(units.inside, presence, [one.presence for one in at], at[0], scores)
    return [
        [
            Decoded(int(units.start[a]), int(units.end[b - 1]), float(chance[a:b].mean()))
            for a, b in _ends(found, k)
        ]
        for k, chance in enumerate(units.inside)
    ]


def decode_characters(
    text: str, opinions: Sequence[Opinion], presence: Sequence[float], at: Sequence[Thresholds]
) -> list[list[Decoded]]:
    """Return for each feature the runs of characters that several networks together say are inside.

    The networks may cut the note into different pieces: what they say is averaged character by
    character. Runs are trimmed of white space; the confidence of a run is the mean of what each
    network says of the pieces in it. One network alone gives what `decode_pieces` does.

    >>> place = lambda *x: np.array(x, np.int32)
    >>> words = Pieces(place(1, 2), place(0, 6), place(5, 10))
    >>> halves = Pieces(place(1, 2, 3), place(0, 3, 6), place(3, 5, 10))
    >>> chance = lambda *x: np.array([x], np.float32)
    >>> said = [Opinion(words, chance(0.75, 0.25)), Opinion(halves, chance(0.5, 0.75, 0.25))]
    >>> decode_characters("chest pain", said, [0.9], [Thresholds()])
    [[Decoded(start=0, end=5, confidence=0.6875)]]
    """
    if not text:
        return [[] for _ in presence]
    weights = np.array([one.weight for one in opinions])
    members = [_units(one) for one in opinions]
    mean = np.average(
        [_spread(one, one.inside, len(text)) for one in members], axis=0, weights=weights
    ).astype(np.float32)
    scores = None if at[0].plain else _character_scores(members, weights, len(text), at[0])
    runs = decide(mean, presence, [one.presence for one in at], at[0], scores)
    found: list[list[Decoded]] = []
    for k in range(len(mean)):
        found.append([])
        for first, last in _ends(runs, k):
            run = text[first:last]
            start, end = last - len(run.lstrip()), first + len(run.rstrip())
            if start < end:
                said = [_mean_inside(one, k, start, end) for one in members]
                found[-1].append(Decoded(start, end, float(np.average(said, weights=weights))))
    return found


def unit_firsts(pieces: Pieces) -> I64:
    """Return the number of the first piece of each unit: pieces that share a character are one.

    A byte-level vocabulary cuts characters in two, and a character is marked whole or not at all.
    """
    if not len(pieces):
        return np.zeros(0, np.int64)
    shared = pieces.start[1:] < np.maximum.accumulate(pieces.end)[:-1]
    return np.flatnonzero(np.concatenate(([True], ~shared)))


class _Units(NamedTuple):
    """The units of a note with what a network says of them.

    ``inside`` is a probability (feature, unit), the highest of the pieces; ``first`` and ``last``
    are logits that an annotation begins and ends with the unit.
    """

    start: I32
    end: I32
    inside: F32
    first: F64
    last: F64


def _units(said: Opinion) -> _Units:
    pieces, inside = said.pieces, said.inside
    edges = None if said.edges is None else logit(said.edges)
    first, last = (np.zeros(inside.shape),) * 2 if edges is None else (edges[..., 0], edges[..., 1])
    begin = unit_firsts(pieces)
    if len(begin) == len(pieces):
        return _Units(pieces.start, pieces.end, inside, first, last)
    final = np.append(begin[1:], len(pieces)) - 1
    return _Units(
        pieces.start[begin],
        np.maximum.reduceat(pieces.end, begin),
        np.maximum.reduceat(inside, begin, axis=1),
        first[:, begin],
        last[:, final],
    )


def _spread(units: _Units, values: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Give each character its unit's value, and one between two units the lower of theirs."""
    if not len(units.start):
        return np.zeros((len(values), length), values.dtype)
    edges = np.stack([units.start, units.end], axis=1).ravel()
    between = np.zeros_like(values)
    between[:, :-1] = np.minimum(values[:, :-1], values[:, 1:])
    both = np.stack([values, between], axis=2).reshape(len(values), -1)
    sizes = np.diff(np.append(edges, length))
    start = np.zeros((len(values), int(edges[0])), values.dtype)
    return np.concatenate([start, np.repeat(both, sizes, axis=1)], axis=1)


def _character_scores(
    members: Sequence[_Units], weights: npt.NDArray[Any], length: int, at: Thresholds
) -> RunScores:
    """Return the scores of characters by the mean of several networks' logits.

    A unit's score is divided among its characters, so that a run of units weighs what it does
    for one network alone. Runs begin and end where some network has an edge of a unit; one that
    has none there says that they hardly do.
    """
    n_features = len(members[0].inside)
    total = np.zeros((3, n_features, length))
    possible = np.zeros((2, length), bool)
    for one, weight in zip(members, weights / weights.sum(), strict=True):
        score = (logit(one.inside) - logit(at.inside)) / (one.end - one.start)
        sizes = one.end - one.start
        place = np.repeat(one.start - np.append(0, np.cumsum(sizes)[:-1]), sizes)
        said = np.zeros((3, n_features, length))
        said[0][:, place + np.arange(len(place))] = np.repeat(score, sizes, axis=1)
        said[1:] = at.edges * UNLIKELY
        said[1][:, one.start] = at.edges * one.first
        said[2][:, one.end - 1] = at.edges * one.last
        possible[0, one.start] = True
        possible[1, one.end - 1] = True
        total += weight * said
    total[1] -= at.cost
    total[1:][~np.broadcast_to(possible[:, None], total[1:].shape)] = NEVER
    return RunScores(*total)


def _mean_inside(one: _Units, row: int, start: int, end: int) -> float:
    own = (one.start < end) & (one.end > start)
    return float(one.inside[row, own].mean()) if own.any() else 0.0


def _ends(found: Runs, row: int) -> list[tuple[int, int]]:
    """Return the starts and ends of one row's runs."""
    inside, begins = found.inside[row], found.begins[row]
    after = np.append(inside[1:] & ~begins[1:], False)
    last = np.flatnonzero(inside & ~after) + 1
    return list(zip(np.flatnonzero(begins).tolist(), last.tolist(), strict=True))


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
