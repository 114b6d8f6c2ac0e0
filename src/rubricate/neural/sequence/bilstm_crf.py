"""The ``bilstm-crf`` matcher: the recogniser of the PICO paper, for a rubric all notes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, UnknownNameError
from rubricate.files import file_hash, whole_output
from rubricate.matchers.learning import learning_annotator
from rubricate.matchers.matcher import own_parameters, require_fitted
from rubricate.matchers.model_files import (
    Header,
    check_features,
    corpus_hash,
    read_header,
    read_json,
    write_header,
    write_json,
)
from rubricate.matchers.predictions import predict_corpus
from rubricate.matchers.training_report import Course, Look, TrainingReport, flat_recipe
from rubricate.neural.sequence.bilstm import Recogniser, Shape, import_torch, one_thread
from rubricate.neural.sequence.findings import (
    F64,
    TagFinder,
    choose_bonus,
    hold_out,
    mean_span_f1,
    shared_labels,
    tagged_sequences,
)
from rubricate.neural.sequence.tagging import (
    Context,
    Scheme,
    SchemeName,
    TokenRule,
    Tokens,
    check_choice,
)
from rubricate.neural.sequence.training import Lesson, Progress, Recipe, Run, Watch
from rubricate.neural.sequence.vectors import read_vectors, vector_table
from rubricate.neural.sequence.vocabulary import Vocabulary, make_batch

if TYPE_CHECKING:
    from torch import Tensor

NETWORK_FILE = "network.json"
WEIGHTS_FILE = "weights.safetensors"
_VECTORS = "vectors"
#: Sequences read at once when predicting.
_AT_ONCE = 64


@dataclass(frozen=True, eq=False, slots=True)
class TaggerModel:
    """A trained network with its vocabulary, and how it came about."""

    network: Recogniser
    vocabulary: Vocabulary
    features: dict[str, str]
    learned_from: str
    n_notes: int
    n_dropped: int
    history: tuple[Progress, ...] = ()
    bonus: float = 0.0
    n_held: int = 0

    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of tags."""
        torch = import_torch()
        found: list[F64] = []
        encoded = [self.vocabulary.encode(one) for one in sequences]
        with one_thread(), torch.no_grad():
            for i in range(0, len(encoded), _AT_ONCE):
                part = encoded[i : i + _AT_ONCE]
                scores = self.network.emissions(make_batch(part)).double().numpy()
                found.extend(s[: len(e)] for s, e in zip(scores, part, strict=True))
        return found


class BiLstmCrfMatcher:
    """Tags every token with one feature, learned from annotated notes that share a rubric.

    Words, their letters, endings and shapes are read by an LSTM in both directions; a
    conditional random field chooses the likeliest sequence of tags (Lample et al. 2016).

    A token gets one feature: where several mark it, the first in the rubric's order keeps it
    (``model_.n_dropped`` says how many labels were lost so). Annotations found have one fragment
    and end with their line at the latest. Confidence is the mean probability of the feature over
    the annotation's tokens; presence is exact, from all tag sequences that avoid the feature.
    On notes held out the best of a few bonuses for each annotation is chosen (``model_.bonus``),
    because annotations to learn from are often incomplete; probabilities do not contain it.

    Parameters
    ----------
    tokens : {"words", "spaces"}
        How notes are cut; ``spaces`` for corpora whose texts are tokenised already.
    context : {"line", "note"}
        What is read at once.
    scheme : {"BIO", "IO"}
        Whether annotations that touch stay apart, which needs corpora in which they do.
    vectors : str, optional
        A text file of word vectors (GloVe, word2vec) to read beside the learned ones.
    recipe : mapping, optional
        What to change of `Recipe` and `Shape`, by name, e.g. ``{"epochs": 5, "hidden": 50}``.
    seed : int
        The same seed gives the same model on the same machine's CPU.

    Attributes
    ----------
    model_ : TaggerModel
        The network, and the course of its training.

    References
    ----------
    G. Lample et al. (2016). Neural architectures for named entity recognition. NAACL.
    G. E. Lee and A. Sun (2019). A study on agreement in PICO span annotations. SIGIR.

    Examples
    --------
    >>> BiLstmCrfMatcher(scheme="IO", recipe={"epochs": 5}).get_params()["recipe"]
    {'epochs': 5}
    """

    name: ClassVar[str] = "bilstm-crf"

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
        self.tokens = tokens
        self.context = context
        self.scheme = scheme
        self.vectors = vectors
        self.recipe = recipe
        self.seed = seed

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    def fit(
        self,
        corpus: Corpus,
        *,
        annotator: str | None = None,
        watch: Watch | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from the notes in which the annotator judged every feature.

        Parameters
        ----------
        corpus, annotator
            As for every matcher.
        watch : callable, optional
            Called with a `Progress` after every pass over the notes.
        checkpoint : path, optional
            A file to write after every pass; if it is there already, training goes on from it.
        """
        check_choice("tokens", self.tokens, TokenRule)
        check_choice("context", self.context, Context)
        recipe = make_recipe(self.recipe or {})
        who = learning_annotator(corpus, annotator)
        scheme = Scheme(shared_labels(corpus), self.scheme)
        tagged, n_dropped = tagged_sequences(
            corpus, who, scheme, tokens=self.tokens, context=self.context
        )
        held = hold_out((one.note for one in tagged), recipe.held_out, self.seed)
        lessons = [one for one in tagged if one.note not in held]
        given = {} if self.vectors is None else read_vectors(Path(self.vectors))
        vocabulary = Vocabulary.learn([one.tokens for one in lessons], given)
        table = vector_table(given) if given else None
        torch = import_torch()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = Recogniser(recipe.network, vocabulary.sizes, scheme, table)
        learned_from = corpus_hash(corpus, who)
        parts = [learned_from, self.tokens, self.context, self.scheme, str(self.seed)]
        if self.vectors is not None:
            parts.append(file_hash(Path(self.vectors)))
        run = Run(network, recipe, seed=self.seed, identity=" ".join(parts))
        features = {feature.id: feature.text for feature in corpus.features}
        n_notes = len({one.note for one in tagged})
        self.model_ = TaggerModel(
            network, vocabulary, features, learned_from, n_notes, n_dropped, n_held=len(held)
        )
        aside = corpus.select(notes=held, annotators=[who]) if who is not None and held else None
        with one_thread():
            run.train(
                [Lesson(vocabulary.encode(one.tokens), one.tags) for one in lessons],
                None if aside is None else lambda _: mean_span_f1(aside, self.predict(aside)),
                watch=watch,
                checkpoint=None if checkpoint is None else Path(checkpoint),
            )
        self.model_ = replace(self.model_, history=tuple(run.history))
        if aside is not None:
            best = choose_bonus(lambda bonus: mean_span_f1(aside, self._predict(aside, bonus)))
            self.model_ = replace(self.model_, bonus=best)
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what was tagged, under the annotator ``bilstm-crf``."""
        require_fitted(self, "model_")
        check_features(self.model_.features, corpus)
        return self._predict(corpus, self.model_.bonus)

    @property
    def training_report_(self) -> TrainingReport | None:
        """How the network was trained; None before `fit`."""
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
            recipe=flat_recipe(asdict(make_recipe(self.recipe or {}))),
            unit="epoch",
            facts=facts,
        )

    def _predict(self, corpus: Corpus, bonus: float) -> Corpus:
        model = self.model_
        finder = TagFinder(
            model.network.scheme,
            model.network.numpy_chain(),
            model.emit,
            self.tokens,
            self.context,
            self.name,
            bonus,
        )
        return predict_corpus(corpus, self.name, finder.find)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``model.json``, ``network.json`` and ``weights.safetensors``."""
        from safetensors.torch import save_file

        require_fitted(self, "model_")
        model = self.model_
        network = model.network
        weights = {name: value.clone() for name, value in network.weights().items()}
        if network.vectors is not None:
            weights[_VECTORS] = network.vectors
        with whole_output(Path(folder), overwrite=overwrite) as place:
            place.mkdir()
            save_file(weights, place / WEIGHTS_FILE)
            value = {
                "labels": list(network.scheme.labels),
                "shape": asdict(network.shape),
                "n_dropped": model.n_dropped,
                "bonus": model.bonus,
                "n_held": model.n_held,
                "history": [list(progress) for progress in model.history],
                "vocabulary": model.vocabulary.to_json(),
            }
            write_json(place / NETWORK_FILE, value)
            header = Header(
                self.name, self.get_params(), model.learned_from, model.n_notes, model.features
            )
            write_header(place, header)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        import_torch()
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        place = Path(folder)
        header = read_header(place, matcher=cls.name)
        matcher = cls(**header.parameters)
        try:
            weights = load_file(place / WEIGHTS_FILE)
            network, vocabulary, value = _read_network(place, matcher.scheme, weights)
        except (SafetensorError, KeyError, TypeError) as error:
            raise InputError([Fault("its files are not those of a bilstm-crf", place)]) from error
        matcher.model_ = TaggerModel(
            network,
            vocabulary,
            dict(header.features),
            header.learned_from,
            header.n_notes,
            int(value["n_dropped"]),
            tuple(Progress(*one) for one in value["history"]),
            float(value["bonus"]),
            int(value["n_held"]),
        )
        return matcher


def _read_network(
    place: Path, kind: SchemeName, weights: dict[str, Tensor]
) -> tuple[Recogniser, Vocabulary, dict[str, Any]]:
    value = read_json(place / NETWORK_FILE)
    vocabulary = Vocabulary.from_json(value["vocabulary"])
    vectors = weights.pop(_VECTORS, None)
    network = Recogniser(
        Shape(**value["shape"]),
        vocabulary.sizes,
        Scheme(tuple(value["labels"]), kind),
        None if vectors is None else vectors.numpy(),
    )
    network.load_weights(weights)
    return network, vocabulary, value


def make_recipe(changes: Mapping[str, Any]) -> Recipe:
    """Return the recipe with some of its values, or of its network's, changed by name.

    Raises
    ------
    UnknownNameError
        For a name that is neither's.

    Examples
    --------
    >>> make_recipe({"hidden": 50, "epochs": 3}).network.hidden
    50
    """
    own = {field.name for field in fields(Recipe)} - {"network"}
    network = {field.name for field in fields(Shape)}
    for name in changes:
        if name not in own | network:
            raise UnknownNameError("value of a recipe", name, sorted(own | network))
    shape = Shape(**{name: value for name, value in changes.items() if name in network})
    return Recipe(**{name: value for name, value in changes.items() if name in own}, network=shape)
