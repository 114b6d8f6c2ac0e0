"""How a note is written: what tells a story in it, what it names, and what it repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.wording.profile import STOP_WORDS, read_feature
from rubricate.matchers.wording.stems import stem
from rubricate.rubric import Rubric
from rubricate.spans import Span
from rubricate.text.words import find_tokens

#: Fewer words than this say too little to judge how they are written.
LEAST_WORDS = 25
#: A finding less sure than this does not make a text related to the rubric.
LEAST_CONFIDENCE = 0.6


class Found(NamedTuple):
    """Where a feature was found, and how sure the matcher is of the surest place, if it says so."""

    spans: tuple[Span, ...]
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class WritingLimits:
    """Where a measure of a note's writing becomes suspicious; see `Writing` for what is measured.

    Parameters
    ----------
    story : float
        Least share of words that tell; with ``conditions``.
    conditions : float
        Most different conditions for each word of the note.
    unasked : int
        Most different conditions outside what was found for a feature.
    repeated : float
        Most times that one word may stand, as a share of the note's words.
    related : float
        Least share of the rubric's features that must be found and sure.
    """

    story: float = 0.12
    conditions: float = 0.45
    unasked: int = 70
    repeated: float = 0.2
    related: float = 0.12


@dataclass(frozen=True, slots=True)
class Writing:
    """What is measured of a note.

    Parameters
    ----------
    n_words : int
        Words and numbers.
    story : float
        Share of them that tell: function words and numbers.
    conditions : float
        Different conditions the lexicon knows, for each word.
    unasked : int
        How many of them lie outside the evidence.
    repeated : float
        Share of the words that the commonest content word takes.
    related : float
        Share of the rubric's features, age and gender aside, that were found with a confidence
        of `LEAST_CONFIDENCE`, or one that is not known.
    """

    n_words: int
    story: float
    conditions: float
    unasked: int
    repeated: float
    related: float


def measure_writing(note: Note, rubric: Rubric, evidence: Mapping[str, Found]) -> Writing:
    """Measure how a note is written.

    Parameters
    ----------
    note : Note
        The note.
    rubric : Rubric
        Of its case.
    evidence : mapping from feature id to Found
        What a matcher found.

    Examples
    --------
    >>> from rubricate.rubric import Feature
    >>> rubric = Rubric("c", (Feature("f", "c", "Chest pain"),))
    >>> found = measure_writing(Note("n", "c", "he has chest pain, fever"), rubric, {})
    >>> found.n_words, found.story, found.related
    (5, 0.4, 0.0)
    """
    words = [t for t in find_tokens(note.text) if t.kind in ("word", "number")]
    n = max(len(words), 1)
    content = [t.form for t in words if t.form not in STOP_WORDS and t.kind == "word"]
    counts = Counter(stem(form) for form in content)
    conditions = load_default_lexicon().phrases_in(note.text)
    used = [span for one in evidence.values() for span in one.spans]
    unasked = {key for span, key in conditions if not any(span.overlaps(own) for own in used)}
    features = [f for f in rubric if not read_feature(f, 0).kind]
    sure = {
        name
        for name, one in evidence.items()
        if one.spans and (one.confidence is None or one.confidence >= LEAST_CONFIDENCE)
    }
    return Writing(
        n_words=len(words),
        story=sum(t.form in STOP_WORDS or t.kind == "number" for t in words) / n,
        conditions=len({key for _, key in conditions}) / n,
        unasked=len(unasked),
        repeated=max(counts.values(), default=0) / n,
        related=sum(f.id in sure for f in features) / max(len(features), 1),
    )
