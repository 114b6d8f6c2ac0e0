"""The ``lexicon`` matcher: phrases and words with their weights, every span with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from rubricate.corpus import Corpus, Note
from rubricate.errors import InputError
from rubricate.lexicon.groups import Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.learning import judged_notes, learning_annotator
from rubricate.matchers.lexicon_files import LexiconModel, load_lexicon_model, save_lexicon_model
from rubricate.matchers.lexicon_finding import CaseFinder
from rubricate.matchers.lexicon_model import learn_case
from rubricate.matchers.matcher import own_parameters, require_fitted
from rubricate.matchers.model_files import check_features, corpus_hash
from rubricate.matchers.one_thread import one_blas_thread
from rubricate.matchers.phrase_counts import count_phrases
from rubricate.matchers.predictions import NoteFindings, predict_corpus
from rubricate.matchers.wording.case_model import Settings
from rubricate.matchers.wording.decisions import calibrate
from rubricate.matchers.wording.learn_shared import learn_shared
from rubricate.matchers.wording.shared import Decision, SharedModel, default_shared
from rubricate.rubric import Rubric


class LexiconMatcher:
    """Our interpretable matcher: works from the rubric alone, and better with annotated notes.

    Each word of a note has a weight for each feature: what the rubric's own words, their synonyms
    and usual wordings say (negation, relatives, numbers and place considered), plus, where there
    are annotated notes, the weights of the words in and around it and the phrases marked there.
    Stretches above a cut chosen for each feature on held-out notes are trimmed and marked.

    Parameters
    ----------
    shared : str
        ``"default"``: what holds for all cases comes with the package; ``"learn"``: it is learned
        from the corpus's own cases (at least eight), as one must to measure on the embedded
        corpus's small cases.
    penalty, trust, near : float
        See `rubricate.matchers.wording.case_model.Settings`.
    lexicon : str, optional
        Path of a built lexicon (``rubricate lexicon build``) for synonyms of the rubric's words;
        by default the embedded one. The path is kept in the model, not the lexicon.

    Attributes
    ----------
    model_ : LexiconModel
        Everything learned.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> from rubricate import Corpus
    >>> rubric_only = Corpus((), corpus.rubrics)
    >>> found = LexiconMatcher().fit(rubric_only).predict(corpus)
    >>> note = corpus.notes[0]
    >>> [one.text(note.text) for one in found.annotations(note.id, "3012", "lexicon")]
    ['no fever']
    """

    name: ClassVar[str] = "lexicon"

    def __init__(
        self,
        *,
        shared: str = "default",
        penalty: float = 0.7,
        trust: float = 0.7,
        near: float = 0.5,
        lexicon: str | None = None,
    ) -> None:
        self.shared = shared
        self.penalty = penalty
        self.trust = trust
        self.near = near
        self.lexicon = lexicon

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    @property
    def _settings(self) -> Settings:
        return Settings(penalty=self.penalty, trust=self.trust, near=self.near)

    def fit(
        self,
        corpus: Corpus,
        *,
        annotator: str | None = None,
        progress: Callable[[int, int, float], None] | None = None,
    ) -> Self:
        """Learn phrases, words and cuts of every case that has annotated notes.

        ``progress`` is called with the number of cases done, that of all cases, and nan (other
        matchers give their loss there).
        """
        who = learning_annotator(corpus, annotator)
        shared = self._shared(corpus, who)
        lexicon = self._open_lexicon()
        by_case: dict[str, list[Any]] = {}
        for judged in judged_notes(corpus, who):
            by_case.setdefault(judged.note.case, []).append(judged)
        wanted = [case for case in by_case if len(corpus.rubric(case))]
        cases = {}
        for n_done, case in enumerate(wanted, start=1):
            rubric = corpus.rubric(case)
            prepared = shared.prepare(rubric, lexicon)
            cases[case] = learn_case(prepared, rubric, by_case[case], self._settings)
            if progress is not None:
                progress(n_done, len(wanted), float("nan"))
        phrases = [p for case in cases for p in count_phrases(corpus.rubric(case), by_case[case])]
        rows = [pair for learned in cases.values() for pair in learned.held_out]
        tokens = [pair for learned in cases.values() for pair in learned.held_out_tokens]
        self.model_: LexiconModel = LexiconModel(
            shared=shared,
            cases=cases,
            phrases=tuple(phrases),
            decision=Decision(
                0.0,
                calibrate([a for a, _ in rows], [b for _, b in rows]),
                calibrate([a for a, _ in tokens], [b for _, b in tokens]),
            ),
            features={feature.id: feature.text for feature in corpus.features},
            learned_from=corpus_hash(corpus, who),
            n_notes=sum(len(own) for own in by_case.values()),
        )
        return self

    def _open_lexicon(self) -> Lexicon:
        return load_default_lexicon(Path(self.lexicon) if self.lexicon else None)

    def _shared(self, corpus: Corpus, annotator: str | None) -> SharedModel:
        if self.shared == "default":
            return default_shared()
        if self.shared == "learn":
            return learn_shared(corpus, annotator=annotator, learned_from="the corpus fitted to")
        raise InputError(f"shared={self.shared!r}: need 'default' or 'learn'")

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what was found, under the annotator ``lexicon``."""
        require_fitted(self, "model_")
        check_features(self.model_.features, corpus)
        lexicon = self._open_lexicon()

        def find(rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
            finder = CaseFinder(rubric, self.model_, self._settings, lexicon)
            return finder.find([note.text for note in notes])

        with one_blas_thread():
            return predict_corpus(corpus, self.name, find)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder of readable files; ``lexicon.jsonl`` may be edited."""
        require_fitted(self, "model_")
        save_lexicon_model(self.model_, folder, parameters=self.get_params(), overwrite=overwrite)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder, with any edits of ``lexicon.jsonl``."""
        model, parameters = load_lexicon_model(folder)
        matcher = cls(**parameters)
        matcher.model_ = model
        return matcher
