"""Shared code of `crf` and `bilstm-crf`: training sets, states found, models saved and loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.corpus import Annotation, Corpus, Note
from rubricate.errors import InputError
from rubricate.evaluation import evaluate
from rubricate.files import whole_output
from rubricate.formats.encoding import read_json
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
    reading_model,
    with_parameters,
    write_header,
)
from rubricate.matchers.predictions import (
    Found,
    NoteFindings,
    predict_with,
    propose_found,
    read_notes,
)
from rubricate.neural.sequence.states import (
    Chain,
    Context,
    Scheme,
    SchemeName,
    TokenRule,
    Tokens,
    best_states,
    check_choice,
    cut_text,
    expect,
    log_absence,
    pad_emissions,
)
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Feature, Rubric
from rubricate.splits import draw_share
from rubricate.values import write_json

#: Gives each sequence's scores (tokens, states).
Emit = Callable[[Sequence[Tokens]], Sequence[F64]]
#: Sequences worked on at once.
_AT_ONCE = 256
#: What `choose_bonus` tries.
BONUSES = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


@dataclass(frozen=True, slots=True)
class LabelledTokens:
    """A sequence to learn from, with its states and the note it is of."""

    tokens: Tokens
    states: I64
    note: str


def shared_labels(corpus: Corpus) -> tuple[str, ...]:
    """Return the features as labels: those of the one rubric that all notes share."""
    cases = dict.fromkeys(note.case for note in corpus.notes)
    if len(cases) > 1:
        raise InputError(
            f"the notes belong to {len(cases)} cases. A recogniser that labels tokens learns the "
            "features of one rubric that all notes share: fit it to one case at a time."
        )
    labels = tuple(f.id for f in corpus.rubric(next(iter(cases), "")))
    if not labels:
        raise InputError("there is nothing to learn: the notes' case has no features")
    return labels


def labelled_sequences(
    corpus: Corpus, annotator: str | None, scheme: Scheme, *, tokens: TokenRule, context: Context
) -> tuple[list[LabelledTokens], int]:
    """Return the training set, and the number of tokens that had to drop a further label.

    Only notes in which every feature was judged are taken: a label not looked for is not absent.
    """
    found: list[LabelledTokens] = []
    dropped = 0
    for note, marked in judged_notes(corpus, annotator):
        if not set(scheme.labels) <= set(marked):
            continue
        own: dict[str, tuple[Annotation, ...]] = marked
        for sequence in cut_text(note.text, tokens=tokens, context=context):
            states, clash = scheme.encode(sequence, own)
            found.append(LabelledTokens(sequence, states, note.id))
            dropped += int(clash.sum())
    if not found:
        raise InputError(
            "there is nothing to learn from: no note has text and a judgement of every feature"
        )
    return found, dropped


def favoured(chain: Chain, scheme: Scheme, bonus: float) -> Chain:
    """Return the chain with a bonus on every step that begins an annotation.

    A recogniser learned from incomplete annotations finds too few; a bonus for each makes it find
    more, without making them longer as a bonus for every token would.
    """
    step = scheme.beginnings()
    return Chain(chain.first + bonus * step[0], chain.step + bonus * step, chain.last)


def choose_bonus(judge: Callable[[float], float], *, progress: Progress = silent) -> float:
    """Return the first of the `BONUSES` with which the result on held-out notes is best."""
    return max(watched(BONUSES, progress, "choosing the bonus", len(BONUSES)), key=judge)


def mean_span_f1(reference: Corpus, predicted: Corpus) -> float:
    """Return the mean F1 of exact spans, one-side boundaries and overlaps, one-to-one."""
    spans = evaluate(reference, predicted).spans
    return float(np.nan_to_num(np.mean([table.total().f1 for table in spans.values()])))


@dataclass(frozen=True)
class SequenceFinder:
    """Finds annotations in notes by the likeliest states."""

    scheme: Scheme
    chain: Chain
    emit: Emit
    tokens: TokenRule
    context: Context
    stage: str
    bonus: float = 0.0

    def find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what is in each note; features that are no labels are never found."""
        sequences: list[Tokens] = []
        owner: list[int] = []
        for i, note in enumerate(notes):
            cut = cut_text(note.text, tokens=self.tokens, context=self.context)
            sequences.extend(cut)
            owner.extend([i] * len(cut))
        known = {feature.id for feature in rubric}
        found: list[list[Found]] = [[] for _ in notes]
        absent = np.zeros((len(notes), len(self.scheme.labels)))
        order = np.argsort([len(one.words) for one in sequences], kind="stable")
        for begin in range(0, len(order), _AT_ONCE):
            own = order[begin : begin + _AT_ONCE].tolist()
            part = [sequences[i] for i in own]
            for i, (made, log_absent) in zip(own, self._read(part), strict=True):
                found[owner[i]].extend(one for one in made if one.feature in known)
                absent[owner[i]] += log_absent
        for made, log_absent in zip(found, absent, strict=True):
            present = -np.expm1(log_absent)
            probabilities = dict(zip(self.scheme.labels, present.tolist(), strict=True))
            made.sort(key=lambda one: one.spans)
            yield NoteFindings(made, {k: p for k, p in probabilities.items() if k in known})

    def _read(self, sequences: Sequence[Tokens]) -> Iterator[tuple[list[Found], F64]]:
        emissions, lengths = pad_emissions(self.emit(sequences))
        expected = expect(self.chain, emissions, lengths)
        label_of_state = self.scheme.label_of_state
        absent = log_absence(self.chain, emissions, lengths, label_of_state, expected.log_z)
        chain = favoured(self.chain, self.scheme, self.bonus)
        for i, states in enumerate(best_states(chain, emissions, lengths)):
            made = []
            tokens = sequences[i]
            for label, first, last in self.scheme.decode(states, tokens.lines):
                sure = expected.marginal[i, first:last][:, label_of_state == label].sum(axis=1)
                place = (tokens.places[first][0], tokens.places[last - 1][1])
                name = self.scheme.labels[label]
                confidence = float(np.clip(sure.mean(), 0.0, 1.0))
                reason = f"{self.stage}: tagged {name}, p {sure.min():.2f} to {sure.max():.2f}"
                made.append(Found(name, (place,), confidence, reason))
            yield made, absent[i]


WEIGHTS_FILE = "weights.safetensors"


@dataclass(frozen=True, slots=True)
class Origin:
    """Sources of a model's training."""

    features: Mapping[str, str]
    learned_from: str
    n_notes: int
    n_dropped: int


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class SequenceModel(ABC):
    """The scorer of states, the labels they are for, and the model's training set."""

    scheme: Scheme
    origin: Origin
    bonus: float = 0.0

    @property
    def n_notes(self) -> int:
        """Number of annotated notes in training, those held out included."""
        return self.origin.n_notes

    @property
    def n_dropped(self) -> int:
        """Number of labels that were lost because a token has one feature."""
        return self.origin.n_dropped

    @property
    @abstractmethod
    def chain(self) -> Chain:
        """Scores of the chain of states."""

    @abstractmethod
    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of states."""


@dataclass(frozen=True, slots=True)
class SequenceLessons:
    """LabelledTokens sequences to learn from, and the notes held out with what is marked in them.

    ``aside`` is None where no note is held out, or nobody marked any.
    """

    labelled: Sequence[LabelledTokens]
    scheme: Scheme
    origin: Origin
    aside: Corpus | None
    n_held: int


Model = TypeVar("Model", bound=SequenceModel)


class SequenceMatcher(Parametrised, ABC, Generic[Model]):
    """Labels every token with one feature of the rubric that all notes share."""

    name: ClassVar[str]
    #: A rubric tells it nothing: see `rubricate.matchers.matcher.needs_notes`.
    needs_notes: ClassVar[bool] = True
    #: Says, beside the weights of a saved model, what they are for.
    values_file: ClassVar[str]
    model_: Model

    def __init__(self, *, tokens: TokenRule, context: Context, scheme: SchemeName) -> None:
        self.tokens = tokens
        self.context = context
        self.scheme = scheme

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what was labelled, under the matcher's name."""
        self.check(corpus.features)
        return predict_with(corpus, self.name, self.read)

    def check(self, features: Iterable[Feature]) -> None:
        """Raise InputError where the model learned other wordings of these features."""
        require_fitted(self, "model_")
        check_features(self.model_.origin.features, features)

    def read(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what is labelled in each note."""
        return self._reader(self.model_.bonus)(rubric, notes)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``model.json``, the weights, and a JSON file that says what they are for."""
        self._need_packages("saving")
        require_fitted(self, "model_")
        model = self.model_
        with whole_output(Path(folder), overwrite=overwrite, kind=MODEL) as place:
            place.mkdir()
            value = {
                "labels": list(model.scheme.labels),
                "n_dropped": model.n_dropped,
                "bonus": model.bonus,
                **self._write_model(place / WEIGHTS_FILE),
            }
            write_json(place / self.values_file, value)
            origin = model.origin
            header = Header(
                self.name, self.get_params(), origin.learned_from, origin.n_notes, origin.features
            )
            write_header(place, header)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        cls._need_packages("loading")
        place = Path(folder)
        header = read_header(place, matcher=cls.name)
        matcher = with_parameters(cls, header, place)
        value = read_json(place / cls.values_file)
        with reading_model(cls.name, place):
            scheme = Scheme(tuple(value["labels"]), matcher.scheme)
            origin = Origin(
                dict(header.features), header.learned_from, header.n_notes, int(value["n_dropped"])
            )
            model = cls._read_model(place / WEIGHTS_FILE, value, scheme, origin)
            matcher.model_ = replace(model, bonus=finite(value["bonus"]))
        return matcher

    def _lessons(
        self, corpus: Corpus, annotator: str | None, *, held_out: float, seed: int
    ) -> SequenceLessons:
        """Return the training set, without the share of the notes to hold out."""
        check_choice("tokens", self.tokens, TokenRule)
        check_choice("context", self.context, Context)
        who = learning_annotator(corpus, annotator)
        scheme = Scheme(shared_labels(corpus), self.scheme)
        labelled, n_dropped = labelled_sequences(
            corpus, who, scheme, tokens=self.tokens, context=self.context
        )
        notes = {one.note for one in labelled}
        held = draw_share(notes, held_out, seed)
        features = {feature.id: feature.text for feature in corpus.features}
        return SequenceLessons(
            [one for one in labelled if one.note not in held],
            scheme,
            Origin(features, corpus_hash(corpus, who), len(notes), n_dropped),
            corpus.select(notes=held, annotators=[who]) if who is not None and held else None,
            len(held),
        )

    def _choose_bonus(self, aside: Corpus | None, progress: Progress) -> None:
        """Give the model the bonus that is best on the notes held out."""
        if aside is not None:
            best = choose_bonus(
                lambda bonus: mean_span_f1(aside, self._predict(aside, bonus)), progress=progress
            )
            self.model_ = replace(self.model_, bonus=best)

    def _reader(self, bonus: float) -> Callable[[Rubric, Sequence[Note]], Iterator[NoteFindings]]:
        """Return a reader of notes with a bonus for marking."""
        model = self.model_
        finder = SequenceFinder(
            model.scheme, model.chain, model.emit, self.tokens, self.context, self.name, bonus
        )
        propose = partial(propose_found, finder.find)
        return lambda rubric, notes: read_notes(rubric, notes, propose, cleaned=False)

    def _predict(self, corpus: Corpus, bonus: float) -> Corpus:
        return predict_with(corpus, self.name, self._reader(bonus))

    @classmethod
    @abstractmethod
    def _need_packages(cls, doing: str) -> None:
        """Raise MissingExtraError where a model's files cannot be read or written."""

    @abstractmethod
    def _write_model(self, weights: Path) -> dict[str, object]:
        """Write the weights, and return what else `_read_model` needs as JSON values."""

    @classmethod
    @abstractmethod
    def _read_model(
        cls, weights: Path, value: Mapping[str, Any], scheme: Scheme, origin: Origin
    ) -> Model:
        """Return the model of a file of weights and what `_write_model` returned."""
