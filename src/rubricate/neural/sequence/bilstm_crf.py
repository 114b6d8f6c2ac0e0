"""The ``bilstm-crf`` matcher: the recogniser of the PICO paper, for a rubric all notes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from rubricate.arrays import F64
from rubricate.corpus import Corpus
from rubricate.errors import MissingExtraError
from rubricate.files import file_hash
from rubricate.matchers.training_report import Course, Look, TrainingReport, flat_recipe
from rubricate.neural.recipe import BiLstmShape, read_bilstm_recipe
from rubricate.neural.sequence.matcher import Origin, SequenceMatcher, SequenceModel, mean_span_f1
from rubricate.neural.sequence.states import Chain, Context, Scheme, SchemeName, TokenRule, Tokens
from rubricate.neural.sequence.vocabulary import Vocabulary, make_batch, read_vectors, vector_table
from rubricate.progress import Progress, silent

if TYPE_CHECKING:
    from rubricate.neural.sequence.bilstm import Recogniser

_VECTORS = "vectors"
#: Sequences read at once when predicting.
_AT_ONCE = 64


class Epoch(NamedTuple):
    """One pass over the training notes: its number from 1, mean loss, result held out."""

    epoch: int
    loss: float
    held_out: float | None
    best: bool


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class BiLstmModel(SequenceModel):
    """A trained network with its vocabulary, and how it came about."""

    network: Recogniser
    vocabulary: Vocabulary
    history: tuple[Epoch, ...] = ()
    n_held: int = 0

    @property
    def chain(self) -> Chain:
        """Scores of the chain of states."""
        return self.network.numpy_chain()

    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of states."""
        import torch

        from rubricate.neural.sequence.bilstm import one_thread

        found: list[F64] = []
        encoded = [self.vocabulary.encode(one) for one in sequences]
        with one_thread(), torch.no_grad():
            for i in range(0, len(encoded), _AT_ONCE):
                part = encoded[i : i + _AT_ONCE]
                scores = self.network.emissions(make_batch(part)).double().numpy()
                found.extend(s[: len(e)] for s, e in zip(scores, part, strict=True))
        return found


class BiLstmCrfMatcher(SequenceMatcher[BiLstmModel]):
    """Labels every token with one feature, learned from annotated notes that share a rubric.

    Words, their letters, endings and shapes are read by an LSTM in both directions; a
    conditional random field chooses the likeliest sequence of states (Lample et al. 2016).

    A token gets one feature: where several mark it, the first in the rubric's order keeps it
    (``model_.n_dropped`` says how many labels were lost so). Annotations found have one fragment
    and end with their line at the latest. Confidence is the mean probability of the feature over
    the annotation's tokens; presence is exact, from all state sequences that avoid the feature.
    On notes held out the best of a few bonuses for each annotation is chosen (``model_.bonus``),
    because annotations to learn from are often incomplete; probabilities do not contain it.

    ``model_``: the network, and the course of its training.

    G. Lample et al. (2016). Neural architectures for named entity recognition. NAACL.
    G. E. Lee and A. Sun (2019). A study on agreement in PICO span annotations. SIGIR.

    >>> BiLstmCrfMatcher(scheme="IO", recipe={"epochs": 5}).get_params()["recipe"]
    {'epochs': 5}
    """

    name: ClassVar[str] = "bilstm-crf"
    values_file: ClassVar[str] = "network.json"

    def __init__(
        self,
        *,
        tokens: TokenRule = "words",
        context: Context = "line",
        scheme: SchemeName = "BIO",
        vectors: str | None = None,
        recipe: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(tokens=tokens, context=context, scheme=scheme)
        self.vectors = vectors
        self.recipe = recipe
        self.seed = seed

    def fit(
        self,
        corpus: Corpus,
        *,
        annotator: str | None = None,
        progress: Progress = silent,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from the notes in which the annotator judged every feature."""
        recipe = read_bilstm_recipe(self.recipe or {})
        lessons = self._lessons(corpus, annotator, held_out=recipe.held_out, seed=self.seed)
        given = {} if self.vectors is None else read_vectors(Path(self.vectors))
        vocabulary = Vocabulary.learn([one.tokens for one in lessons.labelled], given)
        table = vector_table(given) if given else None
        self._need_packages("fitting")
        import torch

        from rubricate.neural.sequence.bilstm import (
            BiLstmTraining,
            Recogniser,
            SequenceLesson,
            one_thread,
        )

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = Recogniser(recipe.network, vocabulary.sizes, lessons.scheme, table)
        training = BiLstmTraining(
            network, recipe, seed=self.seed, identity=self._identity(lessons.origin)
        )
        self.model_ = BiLstmModel(
            scheme=lessons.scheme,
            origin=lessons.origin,
            network=network,
            vocabulary=vocabulary,
            n_held=lessons.n_held,
        )
        aside = lessons.aside
        with one_thread():
            training.train(
                [
                    SequenceLesson(vocabulary.encode(one.tokens), one.states)
                    for one in lessons.labelled
                ],
                None if aside is None else lambda _: mean_span_f1(aside, self.predict(aside)),
                checkpoint=None if checkpoint is None else Path(checkpoint),
                progress=progress,
            )
        self.model_ = replace(self.model_, history=tuple(training.history))
        self._choose_bonus(aside, progress)
        return self

    def _identity(self, origin: Origin) -> str:
        """Return the inputs and options that a checkpoint must match for training to go on."""
        parts = [origin.learned_from, self.tokens, self.context, self.scheme, str(self.seed)]
        if self.vectors is not None:
            parts.append(file_hash(Path(self.vectors)))
        return " ".join(parts)

    @property
    def training_report_(self) -> TrainingReport | None:
        """Report of the network's training; None before `fit`."""
        if not hasattr(self, "model_") or not self.model_.history:
            return None
        model = self.model_
        looks = tuple(
            Look(
                one.epoch,
                one.loss,
                measured={} if one.held_out is None else {"mean F1 of spans": one.held_out},
            )
            for one in model.history
        )
        chosen = next(one.epoch for one in reversed(model.history) if one.best)
        facts = {"bonus for each annotation": f"{model.bonus:g}"}
        if model.n_dropped:
            facts["labels lost because a token has one feature"] = f"{model.n_dropped:,}"
        return TrainingReport(
            (Course("network", looks, model.n_notes - model.n_held, model.n_held, chosen),),
            recipe=flat_recipe(asdict(read_bilstm_recipe(self.recipe or {}))),
            unit="epoch",
            facts=facts,
        )

    @classmethod
    def _need_packages(cls, doing: str) -> None:
        if any(find_spec(name) is None for name in ("safetensors", "torch")):
            raise MissingExtraError("the matcher bilstm-crf", "train")

    def _write_model(self, weights: Path) -> dict[str, object]:
        from safetensors.torch import save_file

        model = self.model_
        network = model.network
        values = {name: value.clone() for name, value in network.weights().items()}
        if network.vectors is not None:
            values[_VECTORS] = network.vectors
        save_file(values, weights)
        return {
            "shape": asdict(network.shape),
            "n_held": model.n_held,
            "history": [list(epoch) for epoch in model.history],
            "vocabulary": model.vocabulary.to_json(),
        }

    @classmethod
    def _read_model(
        cls, weights: Path, value: Mapping[str, Any], scheme: Scheme, origin: Origin
    ) -> BiLstmModel:
        from safetensors.torch import load_file

        from rubricate.neural.sequence.bilstm import Recogniser

        values = load_file(weights)
        vocabulary = Vocabulary.from_json(value["vocabulary"])
        vectors = values.pop(_VECTORS, None)
        table = None if vectors is None else vectors.numpy()
        network = Recogniser(BiLstmShape(**value["shape"]), vocabulary.sizes, scheme, table)
        network.load_weights(values)
        return BiLstmModel(
            scheme=scheme,
            origin=origin,
            network=network,
            vocabulary=vocabulary,
            history=tuple(Epoch(*one) for one in value["history"]),
            n_held=int(value["n_held"]),
        )
