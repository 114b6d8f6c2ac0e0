"""Notes written for the scorer, not for a reader: pasted rubrics, heaped keywords, bare lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from rubricate.corpus import Note
from rubricate.knowledge.tables import words
from rubricate.lexicon.store import load_default_lexicon
from rubricate.progress import Progress, silent, watched
from rubricate.reading.tokens import Token, find_words, root, stem
from rubricate.requirement.alternative import STOP_WORDS
from rubricate.requirement.requirement import read_requirement
from rubricate.rubric import Rubric
from rubricate.run import Evidence
from rubricate.screening.other_texts import find_pasted, wordings

Suspicion = Literal["pasted rubric", "keyword stuffing", "list without a story", "unrelated text"]
_PLAIN = words("gaming.plain")
_STORY = words("gaming.story")
#: Fewer words than this say too little to judge how they are written.
LEAST_WORDS = 25
#: Fewer features than this make no list.
LEAST_LISTED = 5
#: A finding less sure than this does not make a text related to the rubric.
LEAST_CONFIDENCE = 0.6


@dataclass(frozen=True, slots=True)
class WritingLimits:
    """Limits from which a measure of a note's writing is suspicious; see `Writing`."""

    story: float = 0.12
    conditions: float = 0.45
    unasked: int = 70
    repeated: float = 0.2
    related: float = 0.12
    contradicted: float = 0.25


@dataclass(frozen=True, slots=True)
class GamingLimits:
    """From where on a note is flagged.

    Chosen by eye on the honest notes of the embedded corpus and on planted ones
    (``benchmarks/gaming.py``), with none held out: measure on your own notes before relying on it.
    """

    pasted_words: int = 15
    pasted_share: float = 0.65
    window: int = 20
    keyword_share: float = 0.9
    repeated_share: float = 0.2
    beside_words: float = 1.0
    story_words: int = 2
    min_found: float = 0.4
    of_writing: WritingLimits = field(default_factory=WritingLimits)


@dataclass(frozen=True, slots=True)
class Flag:
    """Reason why a note looks as if it was written for the scorer."""

    note: str
    kind: Suspicion
    sign: str
    value: float
    limit: float

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def flag_note(
    note: Note,
    rubric: Rubric,
    *,
    evidence: Mapping[str, Evidence] | None = None,
    limits: GamingLimits | None = None,
) -> tuple[Flag, ...]:
    """Say whether a note looks pasted, stuffed, like a list without a story, or unrelated.

    A flag is a reason for a person to look, never a verdict. All signs are counts of words: how
    many on end are the rubric's own, how densely rubric words stand (in the densest part, so
    that honest text around them hides nothing), how often they are repeated, how few words there
    are beside the evidence, and how many conditions are named that nothing asks for.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes")
    >>> rubric, note = corpus.rubric("0"), corpus.notes[0]
    >>> flag_note(note, rubric)
    ()
    >>> pasted = Note("x", "0", "; ".join(feature.text for feature in rubric))
    >>> sorted({flag.kind for flag in flag_note(pasted, rubric)})
    ['keyword stuffing', 'pasted rubric']
    """
    limits = limits or GamingLimits()
    words = find_words(note.text)
    if not words or not len(rubric):
        return ()
    signs = [
        *_pasted(words, rubric, limits),
        *_keywords(words, rubric, limits),
    ]
    if evidence is not None:
        signs += _listed(words, rubric, evidence, limits)
    if evidence is not None and len(words) >= LEAST_WORDS:
        signs += _written(words, rubric, evidence, limits.of_writing)
    return tuple(Flag(note.id, kind, sign, value, limit) for kind, sign, value, limit in signs)


def flag_notes(
    notes: Iterable[Note],
    rubrics: Mapping[str, Rubric],
    *,
    evidence: Mapping[str, Mapping[str, Evidence]] | None = None,
    limits: GamingLimits | None = None,
    progress: Progress = silent,
) -> tuple[Flag, ...]:
    """Flag many notes; ``rubrics`` is by case, ``evidence`` by note and feature."""
    found: list[Flag] = []
    for note in watched(notes, progress, "looking for gaming"):
        rubric = rubrics.get(note.case)
        if rubric is not None:
            own = None if evidence is None else evidence.get(note.id, {})
            found += flag_note(note, rubric, evidence=own, limits=limits)
    return tuple(found)


_Sign = tuple[Suspicion, str, float, float]


def _pasted(words: Sequence[Token], rubric: Rubric, limits: GamingLimits) -> Iterable[_Sign]:
    forms = [word.form for word in words]
    covered, held = find_pasted(forms, rubric)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], covered.astype(np.int8), [0]])))
    longest = int((edges[1::2] - edges[::2]).max(initial=0))
    share = held / len(rubric)
    # The whole wording of one feature, however long, is not the rubric: several must follow
    if longest >= limits.pasted_words and held >= 3:
        yield "pasted rubric", "rubric's words on end", float(longest), limits.pasted_words
    if share >= limits.pasted_share and held >= 3 and len(words) >= LEAST_WORDS:
        yield "pasted rubric", "features word for word", share, limits.pasted_share


def _keywords(words: Sequence[Token], rubric: Rubric, limits: GamingLimits) -> Iterable[_Sign]:
    known = _rubric_words(rubric)
    stems = [stem(word.form) for word in words if word.form not in _PLAIN]
    inside = np.array([form in known for form in stems], dtype=np.float64)
    if len(inside) >= limits.window // 2:
        size = min(limits.window, len(inside))
        sums = np.concatenate([[0.0], np.cumsum(inside)])
        densest = float((sums[size:] - sums[:-size]).max() / size)
        if densest >= limits.keyword_share:
            yield ("keyword stuffing", f"rubric words among {size}", densest, limits.keyword_share)
    counts = Counter(form for form in stems if form in known)
    again = sum(n - 1 for n in counts.values()) / len(words)
    if again >= limits.repeated_share:
        yield "keyword stuffing", "rubric words repeated", again, limits.repeated_share


def _listed(
    words: Sequence[Token], rubric: Rubric, evidence: Mapping[str, Evidence], limits: GamingLimits
) -> Iterable[_Sign]:
    n_found = sum(one.found for one in evidence.values())
    if n_found < max(limits.min_found * len(rubric), LEAST_LISTED):
        return
    covered = _marked(words, evidence)
    outside = [word.form for word in words if not covered[word.start]]
    beside, story = len(outside) / n_found, sum(form in _STORY for form in outside)
    if beside <= limits.beside_words and story <= limits.story_words:
        yield (
            "list without a story", "words beside the evidence, a feature", beside,
            limits.beside_words,
        )  # fmt: skip


def _marked(words: Sequence[Token], evidence: Mapping[str, Evidence]) -> bytearray:
    """Return 1 for each character of the note that is evidence, 0 for the others."""
    offsets = [span for one in evidence.values() for spans in one.spans for span in spans]
    marked = bytearray(max([words[-1].end if words else 0, *(end for _, end in offsets)]))
    for start, end in offsets:
        marked[start:end] = b"\1" * (end - start)
    return marked


def _written(
    words: Sequence[Token], rubric: Rubric, evidence: Mapping[str, Evidence], limits: WritingLimits
) -> Iterable[_Sign]:
    """Look at how the note is written."""
    measured = measure_writing(words, rubric, evidence)
    if measured.story < limits.story and measured.conditions > limits.conditions:
        share = measured.conditions
        yield "list without a story", "conditions, a word", share, limits.conditions
    if measured.unasked > limits.unasked:
        listed = float(measured.unasked)
        yield "list without a story", "conditions nobody asked for", listed, limits.unasked
    if measured.repeated > limits.repeated:
        yield "keyword stuffing", "one word's share", measured.repeated, limits.repeated
    # A note that says of several features that they are not so speaks of the case
    if measured.related < limits.related and measured.contradicted < limits.contradicted:
        yield "unrelated text", "share of features found", measured.related, limits.related


@lru_cache(maxsize=256)
def _rubric_words(rubric: Rubric) -> frozenset[str]:
    words = {form for feature in wordings(rubric) for phrase in feature for form in phrase}
    return frozenset(stem(word) for word in words - _PLAIN)


@dataclass(frozen=True, slots=True)
class Writing:
    """Measures of a note's writing: story words, names of findings, and repetitions."""

    n_words: int
    story: float
    conditions: float
    unasked: int
    repeated: float
    related: float
    contradicted: float


def measure_writing(
    words: Sequence[Token], rubric: Rubric, evidence: Mapping[str, Evidence]
) -> Writing:
    """Measure how a note is written, from its words.

    >>> from rubricate.rubric import Feature
    >>> rubric = Rubric("c", (Feature("f", "c", "Chest pain"),))
    >>> found = measure_writing(find_words("he has chest pain, fever"), rubric, {})
    >>> found.n_words, found.story, found.related
    (5, 0.4, 0.0)
    """
    n = max(len(words), 1)
    counts = Counter(root(t.form) for t in words if t.kind == "word" and t.form not in STOP_WORDS)
    conditions = load_default_lexicon().phrases_among(words)
    covered = _marked(words, evidence)
    unasked = {
        key for i, j, key in conditions if covered.find(1, words[i].start, words[j - 1].end) < 0
    }
    sought = _sought(rubric)
    sure = sum(
        name in sought
        and one.found
        and (one.confidence is None or one.confidence >= LEAST_CONFIDENCE)
        for name, one in evidence.items()
    )
    against = sum(
        name in sought and one.outcome == "contradicted" for name, one in evidence.items()
    )
    return Writing(
        n_words=len(words),
        story=sum(t.form in STOP_WORDS or t.kind == "number" for t in words) / n,
        conditions=len({key for _, _, key in conditions}) / n,
        unasked=len(unasked),
        repeated=max(counts.values(), default=0) / n,
        related=sure / max(len(sought), 1),
        contradicted=against / max(len(sought), 1),
    )


@lru_cache(maxsize=256)
def _sought(rubric: Rubric) -> frozenset[str]:
    """Return the features that are neither an age nor a gender."""
    return frozenset(feature.id for feature in rubric if not read_requirement(feature.text).kind)
