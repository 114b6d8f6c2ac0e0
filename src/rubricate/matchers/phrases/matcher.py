"""The matchers `exact`, `fuzzy` and `synonyms`: phrases learned, looked for, saved and loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol, Self

from rubricate.corpus import Corpus, Note
from rubricate.lexicon.groups import NARROWER, Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.matcher import (
    Parametrised,
    judged_notes,
    learning_annotator,
    require_fitted,
)
from rubricate.matchers.model_files import check_features, with_parameters
from rubricate.matchers.phrases.fuzzy_scanning import FuzzyScanner, Tolerance
from rubricate.matchers.phrases.model import (
    HitReader,
    LearnedPhrase,
    PhraseModel,
    fit_phrases,
    load_phrases,
    save_phrases,
    weigh_phrases,
)
from rubricate.matchers.phrases.scanning import Hit, PhraseScanner, fold_text
from rubricate.matchers.predictions import NoteFindings, NoteProposals, predict_with, read_notes
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Feature, Rubric

#: At most this many variants are made of one phrase.
MOST_VARIANTS = 40
#: A shorter variant stands for too many things to be looked for.
SHORTEST = 2


def vary_phrase(phrase: str, lexicon: Lexicon) -> Iterator[str]:
    """Yield the phrase with one of its known parts replaced, part by part, most trusted first.

    Narrower terms are left out: what holds for them need not hold for the phrase.

    >>> from rubricate.lexicon.groups import Group, Lexicon, Phrase
    >>> lexicon = Lexicon((Group("a:1", (Phrase("chest pain", "a"), Phrase("CP", "a"))),))
    >>> list(vary_phrase("no chest pain", lexicon))
    ['no cp']
    """
    made: dict[str, None] = {}
    for span, key in lexicon.phrases_in(phrase):
        for synonym, source in lexicon.synonyms(key):
            if source.endswith(NARROWER):
                continue
            made.setdefault(phrase[: span.start] + fold_text(synonym) + phrase[span.end :])
    made.pop(phrase, None)
    for variant in list(made)[:MOST_VARIANTS]:
        if len(variant) >= SHORTEST:
            yield variant


def vary_all(
    learned: Sequence[LearnedPhrase],
    features: Iterable[Feature],
    lexicon: Lexicon,
    progress: Progress,
) -> list[LearnedPhrase]:
    """Return variants of training phrases, and the rubric's own alternatives with theirs.

    Phrases of several fragments are not varied. A variant that is itself a training phrase of the
    feature is left out.
    """
    known = {(phrase.feature, phrase.fragments) for phrase in learned}
    made: dict[tuple[str, tuple[str, ...]], LearnedPhrase] = {}

    def add(feature: str, text: str, source: str) -> None:
        key = (feature, (text,))
        if key not in known and key not in made:
            made[key] = LearnedPhrase(feature, (text,), 0, 0.5, source)

    for feature in features:
        for alternative in feature.alternatives:
            own = fold_text(alternative)
            add(feature.id, own, "rubric")
            for variant in vary_phrase(own, lexicon):
                add(feature.id, variant, f'synonym of "{own}"')
    for phrase in watched(learned, progress, "making variants", len(learned)):
        if len(phrase.fragments) == 1:
            for variant in vary_phrase(phrase.fragments[0], lexicon):
                add(phrase.feature, variant, f'synonym of "{phrase.text}"')
    return list(made.values())


class Scanner(Protocol):
    """Finds where phrases stand in a text."""

    def scan(self, folded: str) -> list[Hit]:
        """Return the hits in a folded text."""
        ...


class PhraseMatcher(Parametrised):
    """Learns the phrases an annotator marked and looks for them with its scanner."""

    name: ClassVar[str]

    def __init__(self, *, window: int = 60) -> None:
        self.window = window

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Learn every phrase the annotator marked."""
        self.model_: PhraseModel = fit_phrases(
            corpus, annotator, window=self.window, progress=progress
        )
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the phrases mark, under the matcher's name."""
        self.check(corpus.features)
        return predict_with(corpus, self.name, self.read)

    def check(self, features: Iterable[Feature]) -> None:
        """Raise InputError where the model learned other wordings of these features."""
        require_fitted(self, "model_")
        check_features(self.model_.features, features)

    def read(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what the phrases mark in each note."""
        return read_notes(rubric, notes, self._propose, cleaned=False)

    def _scanner(self, phrases: Sequence[tuple[str, ...]]) -> Scanner:
        return PhraseScanner(phrases, window=self.window)

    def _propose(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteProposals]:
        phrases = self.model_.of_rubric(rubric)
        scanner = self._scanner([phrase.fragments for phrase in phrases])
        reader = HitReader(phrases, self.name)
        for note in notes:
            yield reader.proposals(scanner.scan(fold_text(note.text)))

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder of readable files."""
        require_fitted(self, "model_")
        save_phrases(
            self.model_,
            folder,
            matcher=self.name,
            parameters=self.get_params(),
            overwrite=overwrite,
        )

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        model, header = load_phrases(folder, matcher=cls.name)
        matcher = with_parameters(cls, header, Path(folder))
        matcher.model_ = model
        return matcher


class ExactMatcher(PhraseMatcher):
    """Finds the phrases that were marked for a feature in training, whatever their case.

    A phrase marks only the features it was marked for. Hits begin and end at word edges. An
    annotation of several fragments is looked for as its fragments in order. Of overlapping hits
    of one feature the longest is kept.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = ExactMatcher().fit(corpus).predict(corpus)
    >>> found.annotations(corpus.notes[0].id, "3012", "exact")[0].detail.reason
    'exact: "no fever"'
    """

    name: ClassVar[str] = "exact"


class FuzzyMatcher(PhraseMatcher):
    """Finds the phrases that were marked in training, also with one or two edits.

    The tolerance grows with the length of a phrase (of each of its fragments): short ones must
    stand as they are. Otherwise as `ExactMatcher`; of overlapping hits of one feature the one
    with the fewest edits is kept, then the longest.

    >>> FuzzyMatcher().name
    'fuzzy'
    """

    name: ClassVar[str] = "fuzzy"

    def __init__(
        self, *, window: int = 60, one_edit_from: int = 5, two_edits_from: int = 10
    ) -> None:
        super().__init__(window=window)
        self.one_edit_from = one_edit_from
        self.two_edits_from = two_edits_from

    def _scanner(self, phrases: Sequence[tuple[str, ...]]) -> Scanner:
        tolerance = Tolerance(self.one_edit_from, self.two_edits_from)
        return FuzzyScanner(phrases, window=self.window, tolerance=tolerance)


#: A variant found wrong more often than right in the training notes is not used.
LEAST_PRECISION = 0.5


class SynonymsMatcher(FuzzyMatcher):
    """Finds training phrases, the rubric's own words, and variants of both by the lexicon.

    A variant has one word or phrase replaced by a synonym or by clinical shorthand, or shorthand
    written out. Variants that were more often wrong than right in the training notes are left
    out. Otherwise as `FuzzyMatcher`. Works without annotated notes, from the rubric alone.

    >>> from rubricate import Corpus, load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> found = SynonymsMatcher().fit(Corpus((), corpus.rubrics)).predict(corpus)
    >>> note = corpus.notes[0]
    >>> found.annotations(note.id, "10", "synonyms")[0].detail.reason
    'synonyms: "htn"; from synonym of "hypertension"'
    """

    name: ClassVar[str] = "synonyms"

    def __init__(
        self,
        *,
        window: int = 60,
        one_edit_from: int = 5,
        two_edits_from: int = 10,
        lexicon: str | None = None,
    ) -> None:
        super().__init__(window=window, one_edit_from=one_edit_from, two_edits_from=two_edits_from)
        self.lexicon = lexicon

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Learn every phrase the annotator marked, and vary it and the rubric's words."""
        learned = fit_phrases(corpus, annotator, window=self.window, progress=progress)
        lexicon = load_default_lexicon(Path(self.lexicon) if self.lexicon else None)
        made = vary_all(learned.phrases, corpus.features, lexicon, progress)
        judged = list(judged_notes(corpus, learning_annotator(corpus, annotator)))
        weighed = weigh_phrases(made, judged, corpus, self.window, progress, "weighing variants")
        kept = tuple(p for p in weighed if p.precision >= LEAST_PRECISION)
        self.model_ = replace(learned, phrases=(*learned.phrases, *kept))
        return self
