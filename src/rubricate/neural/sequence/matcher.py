"""What `crf` and `bilstm-crf` share: lessons prepared, states found, models saved and loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from rubricate.arrays import F64
from rubricate.corpus import Corpus
from rubricate.files import whole_output
from rubricate.matchers.matcher import Parametrised, learning_annotator, require_fitted
from rubricate.matchers.model_files import (
    Header,
    check_features,
    corpus_hash,
    finite,
    read_header,
    read_json,
    reading_model,
    with_parameters,
    write_header,
    write_json,
)
from rubricate.matchers.predictions import predict_corpus
from rubricate.neural.sequence.chain import Chain
from rubricate.neural.sequence.findings import (
    LabelledTokens,
    SequenceFinder,
    choose_bonus,
    labelled_sequences,
    mean_span_f1,
    shared_labels,
)
from rubricate.neural.sequence.states import (
    Context,
    Scheme,
    SchemeName,
    TokenRule,
    Tokens,
    check_choice,
)
from rubricate.progress import Progress
from rubricate.splits import draw_share

WEIGHTS_FILE = "weights.safetensors"


@dataclass(frozen=True, slots=True)
class Origin:
    """What a model was learned from."""

    features: Mapping[str, str]
    learned_from: str
    n_notes: int
    n_dropped: int


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class SequenceModel(ABC):
    """What scores states, the labels they are for, and what it was learned from."""

    scheme: Scheme
    origin: Origin
    bonus: float = 0.0

    @property
    def n_notes(self) -> int:
        """How many annotated notes it was learned from, those held out included."""
        return self.origin.n_notes

    @property
    def n_dropped(self) -> int:
        """How many labels were lost because a token has one feature."""
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
    #: Says, beside the weights of a saved model, what they are for.
    values_file: ClassVar[str]
    model_: Model

    def __init__(self, *, tokens: TokenRule, context: Context, scheme: SchemeName) -> None:
        self.tokens = tokens
        self.context = context
        self.scheme = scheme

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what was labelled, under the matcher's name."""
        require_fitted(self, "model_")
        check_features(self.model_.origin.features, corpus)
        return self._predict(corpus, self.model_.bonus)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``model.json``, the weights, and a JSON file that says what they are for."""
        self._need_packages("saving")
        require_fitted(self, "model_")
        model = self.model_
        with whole_output(Path(folder), overwrite=overwrite) as place:
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
                dict(header.features),
                header.learned_from,
                header.n_notes,
                int(value["n_dropped"]),
            )
            model = cls._read_model(place / WEIGHTS_FILE, value, scheme, origin)
            matcher.model_ = replace(model, bonus=finite(value["bonus"]))
        return matcher

    def _lessons(
        self, corpus: Corpus, annotator: str | None, *, held_out: float, seed: int
    ) -> SequenceLessons:
        """Return what to learn from, without the share of the notes to hold out."""
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

    def _predict(self, corpus: Corpus, bonus: float) -> Corpus:
        model = self.model_
        finder = SequenceFinder(
            model.scheme, model.chain, model.emit, self.tokens, self.context, self.name, bonus
        )
        return predict_corpus(corpus, self.name, finder.find)

    @classmethod
    @abstractmethod
    def _need_packages(cls, doing: str) -> None:
        """Raise MissingExtraError where a model's files cannot be read or written."""

    @abstractmethod
    def _write_model(self, weights: Path) -> dict[str, Any]:
        """Write the weights, and return what else `_read_model` needs as JSON values."""

    @classmethod
    @abstractmethod
    def _read_model(
        cls, weights: Path, value: Mapping[str, Any], scheme: Scheme, origin: Origin
    ) -> Model:
        """Return the model of a file of weights and what `_write_model` returned."""
