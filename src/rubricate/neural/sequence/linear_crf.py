"""The ``crf`` matcher: a linear-chain CRF over hand-made features, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError, MissingExtraError
from rubricate.neural.sequence.chain import Chain
from rubricate.neural.sequence.findings import F64
from rubricate.neural.sequence.linear import LinearModel, learn_linear
from rubricate.neural.sequence.tag_matcher import Origin, TagMatcher, TagModel
from rubricate.neural.sequence.tagging import Context, Scheme, SchemeName, TokenRule, Tokens
from rubricate.progress import Progress, silent


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class LinearTagger(TagModel):
    """Learned weights with the labels they are for, and what they were learned from."""

    linear: LinearModel

    @property
    def chain(self) -> Chain:
        """Scores of the chain of tags."""
        return self.linear.chain

    def emit(self, sequences: Sequence[Tokens]) -> list[F64]:
        """Return each sequence's scores of tags."""
        return self.linear.emit(sequences)


class LinearCrfMatcher(TagMatcher[LinearTagger]):
    """Tags every token with one feature by weighed words, word ends, shapes and neighbours.

    The light equal of ``bilstm-crf``: what it says about tokens with several features, lines,
    bonus, confidence and presence holds here too. Training is convex and needs no seed.

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
    values_file: ClassVar[str] = "features.json"

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
        super().__init__(tokens=tokens, context=context, scheme=scheme)
        self.c2 = c2
        self.least = least
        self.iterations = iterations
        self.held_out = held_out

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Learn from the notes in which the annotator judged every feature."""
        lessons = self._lessons(corpus, annotator, held_out=self.held_out, seed=0)
        linear = learn_linear(
            [one.tokens for one in lessons.tagged],
            [one.tags for one in lessons.tagged],
            lessons.scheme,
            c2=self.c2,
            least=self.least,
            iterations=self.iterations,
            progress=progress,
        )
        self.model_ = LinearTagger(scheme=lessons.scheme, origin=lessons.origin, linear=linear)
        self._choose_bonus(lessons.aside, progress)
        return self

    @classmethod
    def _need_packages(cls, doing: str) -> None:
        try:
            import safetensors.numpy  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(f"{doing} a crf", "neural") from error

    def _write_model(self, weights: Path) -> dict[str, Any]:
        from safetensors.numpy import save_file

        linear = self.model_.linear
        chain = linear.chain
        arrays = {
            "weights": linear.weights,
            "first": chain.first,
            "step": chain.step,
            "last": chain.last,
        }
        save_file({name: np.ascontiguousarray(value) for name, value in arrays.items()}, weights)
        return {"features": list(linear.numbers)}

    @classmethod
    def _read_model(
        cls, weights: Path, value: Mapping[str, Any], scheme: Scheme, origin: Origin
    ) -> LinearTagger:
        from safetensors.numpy import load_file

        arrays = load_file(weights)
        names = {str(name): i for i, name in enumerate(value["features"])}
        chain = Chain(arrays["first"], arrays["step"], arrays["last"])
        k = len(scheme.tags)
        shapes = [arrays[name].shape for name in ("weights", "first", "step", "last")]
        fits = shapes == [(len(names), k), (k,), (k, k), (k,)]
        if not fits or any(np.isnan(array).any() for array in arrays.values()):
            place = weights.parent
            raise InputError([Fault("its weights do not fit its features and labels", place)])
        linear = LinearModel(names, arrays["weights"], chain)
        return LinearTagger(scheme=scheme, origin=origin, linear=linear)
