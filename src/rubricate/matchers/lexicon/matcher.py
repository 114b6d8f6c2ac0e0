"""The ``lexicon`` matcher: phrases and words with their weights, every span with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rubricate.batch import need_polars
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, shown
from rubricate.files import packaged_bytes, whole_output
from rubricate.formats.encoding import read_json
from rubricate.formats.parquet import Kind, read_parquet_table
from rubricate.lexicon.groups import Lexicon
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.lexicon.finding import CaseFinder
from rubricate.matchers.lexicon.model import LearnedCase, LexiconModel, learn_case
from rubricate.matchers.literal import claim_mentions
from rubricate.matchers.matcher import (
    Parametrised,
    judged_notes,
    learning_annotator,
    require_fitted,
)
from rubricate.matchers.model_files import (
    MODEL,
    Header,
    check_features,
    corpus_hash,
    finite,
    read_header,
    read_lines,
    reading_model,
    with_parameters,
    write_header,
    write_lines,
)
from rubricate.matchers.phrases.model import CountedPhrase, count_phrases
from rubricate.matchers.phrases.scanning import fold_text
from rubricate.matchers.predictions import (
    NoteFindings,
    NoteProposals,
    decide,
    predict_with,
    read_notes,
)
from rubricate.matchers.wording.case_model import (
    CaseModel,
    WordSettings,
    column_values,
    describe_key,
    pack_key,
)
from rubricate.matchers.wording.learn_shared import learn_shared
from rubricate.matchers.wording.logistic import Decision, calibrate, one_blas_thread
from rubricate.matchers.wording.shared import SharedModel, default_shared
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Feature, Rubric
from rubricate.rules.claims import Item
from rubricate.rules.findings import Against, Candidate, Claim, ItemFinding, Proposal
from rubricate.values import write_json


class LexiconMatcher(Parametrised):
    """Our interpretable matcher: works from the rubric alone, and better with annotated notes.

    Each word of a note has a weight for each feature: what the rubric's own words, their synonyms
    and usual wordings say (negation, relatives, numbers and place considered), plus, where there
    are annotated notes, the weights of the words in and around it and the phrases marked there.
    Stretches above a cut chosen for each feature on held-out notes are trimmed and marked.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> from rubricate import Corpus
    >>> rubric_only = Corpus((), corpus.rubrics)
    >>> found = LexiconMatcher().fit(rubric_only).predict(corpus)
    >>> note = corpus.notes[0]
    >>> ["no fever" in one.text(note.text) for one in found.annotations(note.id, "3012", "lexicon")]
    [True]
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

    @property
    def _settings(self) -> WordSettings:
        return WordSettings(penalty=self.penalty, trust=self.trust, near=self.near)

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Learn phrases, words and cuts of every case that has annotated notes."""
        who = learning_annotator(corpus, annotator)
        shared = self._shared(corpus, who, progress)
        lexicon = self._open_lexicon()
        by_case: dict[str, list[Any]] = {}
        for judged in judged_notes(corpus, who):
            by_case.setdefault(judged.note.case, []).append(judged)
        wanted = [case for case in by_case if len(corpus.rubric(case))]
        cases = {}
        for case in watched(wanted, progress, "learning cases", len(wanted)):
            rubric = corpus.rubric(case)
            prepared = shared.prepare(rubric, lexicon)
            cases[case] = learn_case(prepared, rubric, by_case[case], self._settings)
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

    def _shared(self, corpus: Corpus, annotator: str | None, progress: Progress) -> SharedModel:
        if self.shared == "default":
            return default_shared()
        if self.shared == "learn":
            said = "the corpus fitted to"
            return learn_shared(corpus, annotator=annotator, learned_from=said, progress=progress)
        raise InputError(f"shared={self.shared!r}: need 'default' or 'learn'")

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what was found, under the annotator ``lexicon``."""
        self.check(corpus.features)
        return predict_with(corpus, self.name, self.read)

    def check(self, features: Iterable[Feature]) -> None:
        """Raise InputError where the model learned other wordings of these features."""
        require_fitted(self, "model_")
        check_features(self.model_.features, features)

    def read(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what is found in each note."""
        lexicon, known = self._open_lexicon(), self.model_.cases
        # What somebody struck from the phrases by hand is not to be found.
        struck = {phrase.feature for phrase in self.model_.phrases if not phrase.kept}

        def propose(rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteProposals]:
            if not _has_words(rubric):
                return (_nothing_in(rubric) for _ in notes)
            finder = CaseFinder(rubric, self.model_, self._settings, lexicon)
            return finder.propose([note.text for note in notes])

        def mentions(
            item: Item, own: Sequence[Candidate], against: Against | None
        ) -> Iterable[Claim]:
            return () if item.id in struck else claim_mentions(item, own, against)

        with one_blas_thread():
            yield from read_notes(
                rubric, notes, propose, lambda one: one.case in known, mentions=mentions
            )

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the model as a folder of readable files; ``lexicon.jsonl`` may be edited."""
        require_fitted(self, "model_")
        save_lexicon_model(self.model_, folder, parameters=self.get_params(), overwrite=overwrite)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder, with any edits of ``lexicon.jsonl``."""
        model, header = load_lexicon_model(folder)
        matcher = with_parameters(cls, header, Path(folder))
        matcher.model_ = model
        return matcher


def votes_from_rubric(rubric: Rubric, texts: Sequence[str]) -> list[dict[str, ItemFinding]]:
    """Return the lexicon's decisions on texts from the rubric alone, without its reasons.

    Networks count them as votes beside their own.

    >>> from rubricate import Feature
    >>> rubric = Rubric("c", (Feature("1", "c", "Shortness of breath"),))
    >>> one, other = votes_from_rubric(rubric, ["Pt c/o SOB.", "Knee pain."])
    >>> one["1"].outcome, other["1"].outcome
    ('stated', 'not mentioned')
    """
    with one_blas_thread():
        proposed = propose_from_rubric(rubric, texts, "vote")
        return [decide(rubric, text, one) for text, one in zip(texts, proposed, strict=True)]


def propose_from_rubric(
    rubric: Rubric, texts: Sequence[str], profile: str = "lexicon"
) -> Iterator[NoteProposals]:
    """Yield what the lexicon proposes for texts from the rubric alone, without its reasons."""
    if not _has_words(rubric):
        return (_nothing_in(rubric) for _ in texts)
    return _finder_of(rubric.case, rubric.features).propose(texts, profile)


@lru_cache(maxsize=8)
def _finder_of(case: str, features: tuple[Feature, ...]) -> CaseFinder:
    """Return the finder that knows the rubric alone; thousands of notes may share a rubric."""
    matcher = _from_rubrics()
    rubric, lexicon = Rubric(case, features), matcher._open_lexicon()
    return CaseFinder(rubric, matcher.model_, matcher._settings, lexicon, reasons=False)


@cache
def _from_rubrics() -> LexiconMatcher:
    return LexiconMatcher().fit(Corpus((), ()))


def _has_words(rubric: Rubric) -> bool:
    """Tell whether a rubric has a word: without one nothing can be found."""
    return any(one.isalnum() for feature in rubric for one in feature.text)


def _nothing_in(rubric: Rubric) -> NoteProposals:
    return NoteProposals({feature.id: Proposal(presence=0.0) for feature in rubric}, "learned")


LEXICON_FILE, WORDS_FILE, CASES_FILE, SHARED_FILE = (
    "lexicon.jsonl",
    "words.parquet",
    "cases.json",
    "shared.json",
)


def save_lexicon_model(
    model: LexiconModel, folder: str | Path, *, parameters: dict[str, Any], overwrite: bool
) -> None:
    """Write the model: phrases (may be edited), weights of words, cuts, and what is shared."""
    with whole_output(Path(folder), overwrite=overwrite, kind=MODEL) as place:
        place.mkdir()
        write_lines(place / LEXICON_FILE, (phrase.to_json() for phrase in model.phrases))
        _write_words(place / WORDS_FILE, model)
        write_json(
            place / CASES_FILE,
            {
                "decision": model.decision.to_json(),
                "cases": {
                    case: {
                        "cuts": [round(cut, 4) for cut in learned.cuts],
                        "near": near_of(learned),
                        "words": list(learned.model.words),
                        "spelling": list(learned.spelling),
                    }
                    for case, learned in model.cases.items()
                },
            },
        )
        write_json(place / SHARED_FILE, model.shared.to_json())
        header = Header("lexicon", parameters, model.learned_from, model.n_notes, model.features)
        write_header(place, header, editable=[LEXICON_FILE])


def near_of(learned: LearnedCase) -> float:
    """Return the weight of a nearby word in a case's model."""
    values = learned.model.values[:-1]
    return round(float(values.min()), 4) if len(values) else 1.0


def _write_words(path: Path, model: LexiconModel) -> None:
    if not model.cases:
        # Without polars, which a copy of a process cannot use: a rubric alone has no such words.
        path.write_bytes(packaged_bytes("matchers", "lexicon", "no_words.parquet"))
        return
    import polars

    need_polars()
    tables = []
    for case, learned in model.cases.items():
        weights = learned.model.weights[:-1]
        column, feature = np.nonzero(weights)
        said = [describe_key(int(key), learned.model.words) for key in learned.model.columns]
        tables.append(
            polars.DataFrame(
                {
                    "case": [case] * len(column),
                    "feature": feature.astype(np.int32),
                    "place": [said[i][0] for i in column],
                    "words": [said[i][1] for i in column],
                    "weight": weights[column, feature],
                }
            )
        )
    empty = polars.DataFrame(
        schema={
            "case": polars.String,
            "feature": polars.Int32,
            "place": polars.String,
            "words": polars.String,
            "weight": polars.Float32,
        }
    )
    # By a stream: polars cannot write to a path that is not UTF-8.
    with path.open("wb") as stream:
        polars.concat([empty, *tables]).write_parquet(stream)


def load_lexicon_model(folder: str | Path) -> tuple[LexiconModel, Header]:
    """Read and check a saved model; return it with its header."""
    place = Path(folder)
    header = read_header(place, matcher="lexicon")
    phrases = tuple(_read_phrases(place / LEXICON_FILE, header.features))
    with reading_model("lexicon", place):
        shared = SharedModel.from_json(read_json(place / SHARED_FILE))
        value = read_json(place / CASES_FILE)
        decision = Decision.from_json(value["decision"])
        cases = _read_cases(place / WORDS_FILE, value["cases"])
    model = LexiconModel(
        shared, cases, phrases, decision, dict(header.features), header.learned_from, header.n_notes
    )
    return model, header


def _read_phrases(path: Path, features: Mapping[str, str]) -> list[CountedPhrase]:
    phrases: list[CountedPhrase] = []
    faults: list[Fault] = []
    for number, line in read_lines(path):
        try:
            phrase = CountedPhrase(
                str(line["feature"]),
                tuple(fold_text(str(part)) for part in line["fragments"]),
                int(line.get("tp", 0)),
                int(line.get("fp", 0)),
                finite(line.get("precision", 0.95)),
                bool(line.get("kept", True)),
                str(line.get("source", "hand")),
            )
        except (KeyError, TypeError, ValueError):
            faults.append(
                Fault("need 'feature' (text) and 'fragments' (list of texts)", path, number)
            )
            continue
        if phrase.feature not in features:
            faults.append(Fault(f"no feature {phrase.feature!r} in the model", path, number))
        elif not phrase.fragments or not all(part.strip() for part in phrase.fragments):
            faults.append(Fault("'fragments' holds an empty text", path, number))
        else:
            phrases.append(phrase)
    InputError.raise_any(faults)
    return phrases


_WORDS: dict[str, Kind] = {
    "case": "text",
    "feature": "whole number",
    "place": "text",
    "words": "text",
    "weight": "number",
}


def _read_cases(path: Path, cases: Mapping[str, Any]) -> dict[str, LearnedCase]:
    if not cases:
        return {}
    table = read_parquet_table(path, _WORDS)
    found: dict[str, LearnedCase] = {}
    for case, value in cases.items():
        words = tuple(str(word) for word in value["words"])
        numbers = {word: i for i, word in enumerate(words)}
        own = table.filter(table["case"] == case)
        said = zip(own["place"].to_list(), own["words"].to_list(), strict=True)
        packed = [pack_key(place, what, numbers) for place, what in said]
        if any(key is None for key in packed):
            raise InputError([Fault(f"case {shown(case)} has weights of unknown words", path)])
        keys = np.array(packed, dtype=np.int64)
        columns = np.unique(keys)
        cuts = tuple(finite(cut) for cut in value["cuts"])
        weights = np.zeros((len(columns) + 1, len(cuts)), dtype=np.float32)
        feature = own["feature"].to_numpy()
        weights[np.searchsorted(columns, keys), feature] = own["weight"]
        if (feature < 0).any() or not np.isfinite(weights).all():
            raise InputError([Fault(f"case {shown(case)} has weights of no use", path)])
        values = column_values(columns, finite(value["near"]))
        model = CaseModel(words, columns, weights, values)
        found[case] = LearnedCase(model, cuts, tuple(str(w) for w in value["spelling"]))
    return found
