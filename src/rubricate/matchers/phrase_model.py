"""What phrase matchers learn, keep and save: phrases with how often they were right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rubricate.corpus import Annotation, Corpus
from rubricate.files import whole_output
from rubricate.matchers.folding import fold_text
from rubricate.matchers.learning import JudgedNote, judged_notes, learning_annotator
from rubricate.matchers.model_files import (
    Header,
    corpus_hash,
    read_header,
    write_header,
    write_lines,
)
from rubricate.matchers.phrases import Phrase, learn_phrases, phrase_precision, read_phrases
from rubricate.matchers.predictions import Found, NoteFindings
from rubricate.matchers.scanning import Hit, PhraseScanner, keep_best
from rubricate.rubric import Rubric

PHRASES_FILE = "phrases.jsonl"


@dataclass(frozen=True, slots=True)
class PhraseModel:
    """Learned phrases, the features they belong to, and what they were learned from."""

    phrases: tuple[Phrase, ...]
    features: dict[str, str]
    learned_from: str
    n_notes: int

    def of_rubric(self, rubric: Rubric) -> list[Phrase]:
        """Return the phrases of the rubric's features."""
        own = {feature.id for feature in rubric}
        return [phrase for phrase in self.phrases if phrase.feature in own]


def fit_phrases(corpus: Corpus, annotator: str | None, *, window: int) -> PhraseModel:
    """Learn the phrases of a corpus and count how often each was right in its own notes."""
    who = learning_annotator(corpus, annotator)
    judged = list(judged_notes(corpus, who))
    return PhraseModel(
        phrases=tuple(weigh_phrases(learn_phrases(judged), judged, corpus, window=window)),
        features={feature.id: feature.text for feature in corpus.features},
        learned_from=corpus_hash(corpus, who),
        n_notes=len(judged),
    )


def weigh_phrases(
    phrases: Sequence[Phrase], judged: Sequence[JudgedNote], corpus: Corpus, *, window: int
) -> list[Phrase]:
    """Return the phrases with their precision on the notes."""
    case_of = {feature.id: feature.case for feature in corpus.features}
    by_case: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        by_case.setdefault(case_of[phrase.feature], []).append(phrase)
    weighed: list[Phrase] = []
    for case, own in by_case.items():
        scanner = PhraseScanner([phrase.fragments for phrase in own], window=window)
        right, wrong = [0] * len(own), [0] * len(own)
        for note, marked_by_feature in judged:
            if note.case != case:
                continue
            for hit in scanner.scan(fold_text(note.text)):
                marked = marked_by_feature.get(own[hit.phrase].feature)
                if marked is not None:
                    counts = right if is_right(hit.spans, marked) else wrong
                    counts[hit.phrase] += 1
        weighed.extend(
            replace(phrase, precision=phrase_precision(right[i], wrong[i], phrase.n_notes))
            for i, phrase in enumerate(own)
        )
    return weighed


def is_right(spans: Iterable[tuple[int, int]], marked: Iterable[Annotation]) -> bool:
    """Tell whether at least half of the characters are in an annotation.

    Examples
    --------
    >>> from rubricate.spans import Span
    >>> is_right([(0, 10)], [Annotation("f", (Span(4, 20),))])
    True
    """
    fragments = [(span.start, span.end) for one in marked for span in one.spans]
    length = shared = 0
    for start, end in spans:
        length += end - start
        shared += sum(max(0, min(end, d) - max(start, c)) for c, d in fragments)
    return 2 * shared >= length


class HitReader:
    """Turns the hits of phrases into findings with confidence and reason."""

    def __init__(self, phrases: Sequence[Phrase], stage: str) -> None:
        self._phrases = phrases
        self._stage = stage
        self._features = [phrase.feature for phrase in phrases]
        self._known: dict[tuple[int, int], tuple[float, str]] = {}

    def findings(self, hits: Iterable[Hit]) -> NoteFindings:
        """Return the findings of one note: the best of overlapping hits of each feature."""
        by_feature: dict[str, list[Hit]] = {}
        for hit in hits:
            by_feature.setdefault(self._features[hit[0]], []).append(hit)
        found: list[Found] = []
        probabilities: dict[str, float] = {}
        for feature, own in by_feature.items():
            highest = 0.0
            for number, spans, distance in keep_best(own):
                confidence, reason = self._said(number, distance)
                found.append(Found(feature, spans, confidence, reason))
                highest = max(highest, confidence)
            probabilities[feature] = highest
        return NoteFindings(found, probabilities)

    def _said(self, number: int, distance: int) -> tuple[float, str]:
        known = self._known.get((number, distance))
        if known is None:
            phrase = self._phrases[number]
            length = sum(len(part) for part in phrase.fragments)
            confidence = phrase.precision * (1 - distance / (length + 1))
            known = confidence, describe_hit(self._stage, phrase, distance)
            self._known[number, distance] = known
        return known


def describe_hit(stage: str, phrase: Phrase, distance: int) -> str:
    """Return the reason for a hit.

    Examples
    --------
    >>> describe_hit("fuzzy", Phrase("3", ("three weeks",)), 1)
    'fuzzy: "three weeks"; 1 edit'
    >>> describe_hit("fuzzy", Phrase("3", ("three weeks",)), 0)
    'exact: "three weeks"'
    """
    if distance == 0:
        made = "" if phrase.source == "training" else f"; from {phrase.source}"
        return f'{"exact" if not made else stage}: "{phrase.text}"{made}'
    made = "" if phrase.source == "training" else f"; from {phrase.source}"
    return f'{stage}: "{phrase.text}"; {distance} edit{"s" if distance > 1 else ""}{made}'


def save_phrases(
    model: PhraseModel,
    folder: str | Path,
    *,
    matcher: str,
    parameters: dict[str, Any],
    overwrite: bool,
) -> None:
    """Write ``model.json`` and ``phrases.jsonl``; the phrases may be edited by hand."""
    with whole_output(Path(folder), overwrite=overwrite) as place:
        place.mkdir()
        write_lines(place / PHRASES_FILE, (phrase.to_json() for phrase in model.phrases))
        header = Header(matcher, parameters, model.learned_from, model.n_notes, model.features)
        write_header(place, header, editable=[PHRASES_FILE])


def load_phrases(folder: str | Path, *, matcher: str) -> tuple[PhraseModel, Header]:
    """Read and check a saved phrase model."""
    place = Path(folder)
    header = read_header(place, matcher=matcher)
    phrases = tuple(read_phrases(place / PHRASES_FILE))
    features = dict(header.features)
    return PhraseModel(phrases, features, header.learned_from, header.n_notes), header
