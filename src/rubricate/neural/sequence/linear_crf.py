"""The ``crf`` matcher: a linear-chain CRF over hand-made features, without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.files import whole_output
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
from rubricate.neural.sequence.chain import Chain
from rubricate.neural.sequence.findings import (
    TagFinder,
    choose_bonus,
    hold_out,
    mean_span_f1,
    shared_labels,
    tagged_sequences,
)
from rubricate.neural.sequence.linear import LinearModel, Watch, learn_linear
from rubricate.neural.sequence.tagging import (
    Context,
    Scheme,
    SchemeName,
    TokenRule,
    check_choice,
)

FEATURES_FILE = "features.json"
WEIGHTS_FILE = "weights.safetensors"


@dataclass(frozen=True, eq=False, slots=True)
class LinearTagger:
    """Learned weights with the labels they are for, and what they were learned from."""

    linear: LinearModel
    scheme: Scheme
    features: dict[str, str]
    learned_from: str
    n_notes: int
    n_dropped: int
    bonus: float = 0.0


class LinearCrfMatcher:
    """Tags every token with one feature by weighed words, word ends, shapes and neighbours.

    The light equal of ``bilstm-crf``: what it says about tokens with several features, lines,
    bonus, confidence and presence holds here too. Training is convex and needs no seed.

    Parameters
    ----------
    tokens : {"words", "spaces"}
        How notes are cut; ``spaces`` for corpora whose texts are tokenised already.
    context : {"line", "note"}
        What is tagged at once.
    scheme : {"BIO", "IO"}
        Whether annotations that touch stay apart.
    c2 : float
        How strongly large weights are penalised.
    least : int
        How often a word or other feature of a token must occur to get a weight.
    iterations : int
        Most iterations of L-BFGS.
    held_out : float
        Share of the notes on which the bonus for each annotation is chosen; 0 gives none.

    Attributes
    ----------
    model_ : LinearTagger
        The learned weights.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> found = LinearCrfMatcher(iterations=20).fit(corpus).predict(corpus)
    >>> found.annotators[0].id
    'crf'
    """

    name: ClassVar[str] = "crf"

    def __init__(
        self,
        *,
        tokens: TokenRule = "words",
        context: Context = "line",
        scheme: SchemeName = "BIO",
        c2: float = 1.0,
        least: int = 1,
        iterations: int = 100,
        held_out: float = 0.1,
    ) -> None:
        self.tokens = tokens
        self.context = context
        self.scheme = scheme
        self.c2 = c2
        self.least = least
        self.iterations = iterations
        self.held_out = held_out

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return own_parameters(self)

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, watch: Watch | None = None
    ) -> Self:
        """Learn from the notes in which the annotator judged every feature.

        ``watch`` is called after every iteration with its number and the objective per token.
        """
        check_choice("tokens", self.tokens, TokenRule)
        check_choice("context", self.context, Context)
        who = learning_annotator(corpus, annotator)
        scheme = Scheme(shared_labels(corpus), self.scheme)
        tagged, n_dropped = tagged_sequences(
            corpus, who, scheme, tokens=self.tokens, context=self.context
        )
        held = hold_out((one.note for one in tagged), self.held_out, seed=0)
        lessons = [one for one in tagged if one.note not in held]
        linear = learn_linear(
            [one.tokens for one in lessons],
            [one.tags for one in lessons],
            scheme,
            c2=self.c2,
            least=self.least,
            iterations=self.iterations,
            watch=watch,
        )
        self.model_ = LinearTagger(
            linear,
            scheme,
            {feature.id: feature.text for feature in corpus.features},
            corpus_hash(corpus, who),
            len({one.note for one in tagged}),
            n_dropped,
        )
        if held and who is not None:
            aside = corpus.select(notes=held, annotators=[who])
            best = choose_bonus(lambda bonus: mean_span_f1(aside, self._predict(aside, bonus)))
            self.model_ = replace(self.model_, bonus=best)
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what was tagged, under the annotator ``crf``."""
        require_fitted(self, "model_")
        check_features(self.model_.features, corpus)
        return self._predict(corpus, self.model_.bonus)

    def _predict(self, corpus: Corpus, bonus: float) -> Corpus:
        model = self.model_
        finder = TagFinder(
            model.scheme,
            model.linear.chain,
            model.linear.emit,
            self.tokens,
            self.context,
            self.name,
            bonus,
        )
        return predict_corpus(corpus, self.name, finder.find)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write ``model.json``, ``features.json`` and ``weights.safetensors``."""
        try:
            from safetensors.numpy import save_file
        except ImportError as error:
            raise MissingExtraError("saving a crf", "neural") from error

        require_fitted(self, "model_")
        model = self.model_
        chain = model.linear.chain
        with whole_output(Path(folder), overwrite=overwrite) as place:
            place.mkdir()
            arrays = {
                "weights": model.linear.weights,
                "first": chain.first,
                "step": chain.step,
                "last": chain.last,
            }
            whole = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
            save_file(whole, place / WEIGHTS_FILE)
            value = {
                "labels": list(model.scheme.labels),
                "n_dropped": model.n_dropped,
                "bonus": model.bonus,
                "features": list(model.linear.numbers),
            }
            write_json(place / FEATURES_FILE, value)
            header = Header(
                self.name, self.get_params(), model.learned_from, model.n_notes, model.features
            )
            write_header(place, header)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        try:
            from safetensors import SafetensorError
            from safetensors.numpy import load_file
        except ImportError as error:
            raise MissingExtraError("loading a crf", "neural") from error

        place = Path(folder)
        header = read_header(place, matcher=cls.name)
        matcher = cls(**header.parameters)
        value = read_json(place / FEATURES_FILE)
        try:
            arrays = load_file(place / WEIGHTS_FILE)
            names = {str(name): i for i, name in enumerate(value["features"])}
            scheme = Scheme(tuple(value["labels"]), matcher.scheme)
            chain = Chain(arrays["first"], arrays["step"], arrays["last"])
            weights = arrays["weights"]
            n_dropped, bonus = int(value["n_dropped"]), float(value["bonus"])
        except (SafetensorError, KeyError, TypeError) as error:
            raise InputError([Fault("its files are not those of a crf", place)]) from error
        k = len(scheme.tags)
        if weights.shape != (len(names), k) or chain.step.shape != (k, k):
            raise InputError([Fault("its weights do not fit its features and labels", place)])
        matcher.model_ = LinearTagger(
            LinearModel(names, weights, chain),
            scheme,
            dict(header.features),
            header.learned_from,
            header.n_notes,
            n_dropped,
            bonus,
        )
        return matcher
