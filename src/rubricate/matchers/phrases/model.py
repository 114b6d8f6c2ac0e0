"""Models of phrase matchers: the phrases, with the counts of their right and wrong uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rubricate.corpus import Annotation, Corpus
from rubricate.errors import Fault, InputError
from rubricate.files import whole_output
from rubricate.matchers.matcher import JudgedNote, judged_notes, learning_annotator
from rubricate.matchers.model_files import (
    MODEL,
    Header,
    corpus_hash,
    read_header,
    read_lines,
    write_header,
    write_lines,
)
from rubricate.matchers.phrases.scanning import Hit, PhraseScanner, fold_text, keep_best
from rubricate.matchers.predictions import NoteProposals
from rubricate.progress import Progress, watched
from rubricate.rubric import Rubric
from rubricate.rules.findings import Candidate, Proposal
from rubricate.rules.reasons import Reason


@dataclass(frozen=True, slots=True)
class LearnedPhrase:
    """A phrase that stands for a feature."""

    feature: str
    fragments: tuple[str, ...]
    n_notes: int = 1
    precision: float = 0.5
    source: str = "training"

    @property
    def text(self) -> str:
        """The fragments as a reader sees them.

        >>> LearnedPhrase("14", ("denies", "fainting")).text
        'denies ... fainting'
        """
        return " ... ".join(self.fragments)

    def to_json(self) -> dict[str, object]:
        """Return a line of ``phrases.jsonl``."""
        return {**asdict(self), "precision": round(self.precision, 4)}


def learn_phrases(judged: Iterable[JudgedNote]) -> list[LearnedPhrase]:
    """Return every phrase marked, once for each feature, in a fixed order.

    >>> from rubricate.corpus import Annotation, Note
    >>> from rubricate.spans import Span
    >>> marked = (Annotation("f", (Span(0, 5), Span(7, 9))),)
    >>> judged = JudgedNote(Note("n", "c", "Chest; is tight"), {"f": marked})
    >>> [phrase.text for phrase in learn_phrases([judged])]
    ['chest ... is']
    """
    notes: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for note, marked_by_feature in judged:
        folded = fold_text(note.text)
        seen = {
            (feature, tuple(span.text(folded) for span in annotation.spans))
            for feature, marked in marked_by_feature.items()
            for annotation in marked
        }
        notes.update((f, fragments) for f, fragments in seen if all(x.strip() for x in fragments))
    return [
        LearnedPhrase(feature, fragments, n) for (feature, fragments), n in sorted(notes.items())
    ]


def phrase_precision(right: int, wrong: int, n_notes: int) -> float:
    r"""Return the confidence in a phrase.

    The share of right hits with one right and one wrong hit added (Laplace's rule of succession,
    Laplace 1814). The note a phrase was taken from tells nothing about it, so one right hit is
    left out: :math:`(r - 1 + 1) / (r - 1 + w + 2)` for a phrase with :math:`r \ge 1` right and
    :math:`w` wrong hits in training.

    >>> phrase_precision(1, 0, 1), phrase_precision(9, 0, 9)
    (0.5, 0.9)
    """
    right = right - 1 if n_notes else right
    right = max(right, 0)
    return (right + 1) / (right + wrong + 2)


def read_phrases(path: Path) -> Iterator[LearnedPhrase]:
    """Read ``phrases.jsonl``; InputError names the line that is wrong."""
    for number, line in read_lines(path):
        try:
            fragments = tuple(fold_text(str(part)) for part in line["fragments"])
            phrase = LearnedPhrase(
                str(line["feature"]),
                fragments,
                int(line.get("n_notes", 0)),
                float(line.get("precision", 0.5)),
                str(line.get("source", "training")),
            )
        except (KeyError, TypeError, ValueError):
            message = "need 'feature' (text) and 'fragments' (list of texts)"
            raise InputError([Fault(message, path, number)]) from None
        if not fragments or not all(part.strip() for part in fragments):
            raise InputError([Fault("'fragments' holds an empty text", path, number)])
        yield phrase


PHRASES_FILE = "phrases.jsonl"


@dataclass(frozen=True, slots=True)
class PhraseModel:
    """Learned phrases, the features they belong to, and what they were learned from."""

    phrases: tuple[LearnedPhrase, ...]
    features: dict[str, str]
    learned_from: str
    n_notes: int

    def of_rubric(self, rubric: Rubric) -> list[LearnedPhrase]:
        """Return the phrases of the rubric's features."""
        own = {feature.id for feature in rubric}
        return [phrase for phrase in self.phrases if phrase.feature in own]


def fit_phrases(
    corpus: Corpus, annotator: str | None, *, window: int, progress: Progress
) -> PhraseModel:
    """Learn the phrases of a corpus and count how often each was right in its own notes."""
    who = learning_annotator(corpus, annotator)
    judged = list(judged_notes(corpus, who))
    found = learn_phrases(judged)
    phrases = weigh_phrases(found, judged, corpus, window, progress, "weighing phrases")
    return PhraseModel(
        phrases=tuple(phrases),
        features={feature.id: feature.text for feature in corpus.features},
        learned_from=corpus_hash(corpus, who),
        n_notes=len(judged),
    )


def weigh_phrases(
    phrases: Sequence[LearnedPhrase],
    judged: Sequence[JudgedNote],
    corpus: Corpus,
    window: int,
    progress: Progress,
    label: str,
) -> list[LearnedPhrase]:
    """Return the phrases with their precision on the notes."""
    case_of = {feature.id: feature.case for feature in corpus.features}
    by_case: dict[str, list[LearnedPhrase]] = {}
    for phrase in phrases:
        by_case.setdefault(case_of[phrase.feature], []).append(phrase)
    weighed: list[LearnedPhrase] = []
    for case, own in watched(by_case.items(), progress, label, len(by_case)):
        counts = count_hits(own, [one for one in judged if one.note.case == case], window=window)
        weighed.extend(
            replace(phrase, precision=phrase_precision(right, wrong, phrase.n_notes))
            for phrase, (right, wrong) in zip(own, counts, strict=True)
        )
    return weighed


def count_hits(
    phrases: Sequence[LearnedPhrase], judged: Iterable[JudgedNote], *, window: int
) -> list[tuple[int, int]]:
    """Count each phrase's right and wrong uses in notes in which its feature was judged."""
    scanner = PhraseScanner([phrase.fragments for phrase in phrases], window=window)
    right, wrong = [0] * len(phrases), [0] * len(phrases)
    for note, marked_by_feature in judged:
        for hit in scanner.scan(fold_text(note.text)):
            marked = marked_by_feature.get(phrases[hit.phrase].feature)
            if marked is not None:
                counts = right if is_right(hit.spans, marked) else wrong
                counts[hit.phrase] += 1
    return list(zip(right, wrong, strict=True))


def is_right(spans: Iterable[tuple[int, int]], marked: Iterable[Annotation]) -> bool:
    """Tell whether at least half of the characters are in an annotation.

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

    def __init__(self, phrases: Sequence[LearnedPhrase], stage: str) -> None:
        self._phrases = phrases
        self._stage = stage
        self._features = [phrase.feature for phrase in phrases]
        self._known: dict[tuple[int, int], tuple[float, tuple[Reason, ...]]] = {}

    def proposals(self, hits: Iterable[Hit]) -> NoteProposals:
        """Return the proposals for one note: the best of overlapping hits of each feature."""
        by_feature: dict[str, list[Hit]] = {}
        for hit in hits:
            by_feature.setdefault(self._features[hit[0]], []).append(hit)
        items: dict[str, Proposal] = {}
        for feature, own in by_feature.items():
            found = [
                Candidate(spans, *self._said(number, distance))
                for number, spans, distance in keep_best(own)
            ]
            highest = max((one.confidence for one in found), default=0.0)
            items[feature] = Proposal(tuple(found), max(highest, 0.0))
        return NoteProposals(items, "phrases")

    def _said(self, number: int, distance: int) -> tuple[float, tuple[Reason, ...]]:
        known = self._known.get((number, distance))
        if known is None:
            phrase = self._phrases[number]
            length = sum(len(part) for part in phrase.fragments)
            confidence = phrase.precision * (1 - distance / (length + 1))
            known = confidence, describe_hit(self._stage, phrase, distance)
            self._known[number, distance] = known
        return known


def describe_hit(stage: str, phrase: LearnedPhrase, distance: int) -> tuple[Reason, ...]:
    """Return the reasons for a hit.

    >>> from rubricate.rules.reasons import in_words
    >>> in_words(*describe_hit("fuzzy", LearnedPhrase("3", ("three weeks",)), 1))
    'fuzzy: "three weeks"; 1 edit'
    >>> in_words(*describe_hit("fuzzy", LearnedPhrase("3", ("three weeks",)), 0))
    'exact: "three weeks"'
    """
    given = phrase.source != "training"
    found = Reason("phrase.found", phrase.text, stage if given or distance else "exact")
    edits = [Reason("phrase.edits" if distance > 1 else "phrase.edit", str(distance))]
    source = [Reason("phrase.source", phrase.source)] if given else []
    return (found, *(edits if distance else ()), *source)


def save_phrases(
    model: PhraseModel,
    folder: str | Path,
    *,
    matcher: str,
    parameters: Mapping[str, object],
    overwrite: bool,
) -> None:
    """Write ``model.json`` and ``phrases.jsonl``; the phrases may be edited by hand."""
    with whole_output(Path(folder), overwrite=overwrite, kind=MODEL) as place:
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


#: At most this many characters lie between the fragments of a phrase.
WINDOW = 60
#: A phrase that is right less often than this is dropped.
LEAST_PRECISION = 0.4


@dataclass(frozen=True, slots=True)
class CountedPhrase:
    """A line of the learned lexicon."""

    feature: str
    fragments: tuple[str, ...]
    tp: int = 0
    fp: int = 0
    precision: float = 0.95
    kept: bool = True
    source: str = "hand"

    @property
    def text(self) -> str:
        """The fragments as a reader sees them."""
        return " ... ".join(self.fragments)

    def to_json(self) -> dict[str, object]:
        """Return a line of ``lexicon.jsonl``."""
        return {**asdict(self), "precision": round(self.precision, 4)}


def count_phrases(rubric: Rubric, judged: Sequence[JudgedNote]) -> list[CountedPhrase]:
    """Return the phrases of a case with their counts on its annotated notes."""
    own = {feature.id for feature in rubric}
    phrases = [phrase for phrase in learn_phrases(judged) if phrase.feature in own]
    found = []
    counts = count_hits(phrases, judged, window=WINDOW)
    for phrase, (right, wrong) in zip(phrases, counts, strict=True):
        precision = phrase_precision(right, wrong, phrase.n_notes)
        kept = precision >= LEAST_PRECISION
        found.append(
            CountedPhrase(
                phrase.feature, phrase.fragments, right, wrong, precision, kept, "training"
            )
        )
    return found
