"""Matchers: they find spans with reasons in notes, and learn from annotated notes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rubricate.corpus import Corpus
from rubricate.errors import Advice, ArgumentError, InputError, Setting
from rubricate.files import PACKAGE, file_hash, near_paths, shown_path
from rubricate.matchers.apart import (
    NOTE_SECONDS,
    FailedNote,
    Predicted,
    failures_in_words,
    fit_apart,
    notes_at_once,
    predict_in_parts,
)
from rubricate.matchers.matcher import Matcher, check_parameters
from rubricate.matchers.model_files import read_header, reading_model
from rubricate.progress import Progress, silent
from rubricate.registry import Registry

__all__ = [
    "MATCHERS",
    "NOTE_SECONDS",
    "SHIPPED_MODELS",
    "UNFITTED",
    "FailedNote",
    "Matcher",
    "Predicted",
    "ShippedModel",
    "default_matcher",
    "failures_in_words",
    "fit_apart",
    "fit_matcher",
    "load_matcher",
    "make_matcher",
    "model_of_name",
    "notes_at_once",
    "predict_in_parts",
    "refuse_matcher_of_model",
]

#: Every matcher by name; installed packages add theirs to the group ``rubricate.matchers``.
MATCHERS = Registry(
    "matcher",
    {
        "exact": "rubricate.matchers.phrases.matcher:ExactMatcher",
        "fuzzy": "rubricate.matchers.phrases.matcher:FuzzyMatcher",
        "synonyms": "rubricate.matchers.phrases.matcher:SynonymsMatcher",
        "lexicon": "rubricate.matchers.lexicon.matcher:LexiconMatcher",
        "encoder": "rubricate.neural.encoder.matcher:EncoderMatcher",
        "cascade": "rubricate.neural.encoder.cascade:CascadeMatcher",
        "bilstm-crf": "rubricate.neural.sequence.bilstm_crf:BiLstmCrfMatcher",
        "crf": "rubricate.neural.sequence.linear_crf:LinearCrfMatcher",
    },
    group="rubricate.matchers",
)

#: Models that come with the package, by name: a matcher and the parameters it is made with.
SHIPPED_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "fast": ("encoder", {"network": "fast"}),
    "accurate": ("encoder", {"network": "accurate"}),
    "cascade": ("cascade", {}),
}


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A model that comes with the package, by name: a run names it and copies nothing."""

    name: str
    matcher: str
    parameters: Mapping[str, Any]

    def make(self) -> Matcher:
        """Return the matcher, which reads the networks from where they are installed."""
        return make_matcher(self.matcher, **self.parameters)

    @property
    def hash(self) -> str:
        """A hash of the networks it reads, and of its parameters."""
        networks = (
            ("fast", "accurate") if self.matcher == "cascade" else (self.parameters["network"],)
        )
        said = [self.matcher, dict(self.parameters), [network_hash(name) for name in networks]]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@cache
def network_hash(name: str) -> str:
    """Return the hash of a network that comes with the package."""
    return file_hash(PACKAGE / "neural" / "models" / name)


#: The shipped model that a matcher is where nothing was learned.
UNFITTED = {"cascade": "cascade", "encoder": "fast"}
_DIAL = re.compile(r"cascade=(0?\.\d+|[01]),(0?\.\d+|[01])(?:,(\d{1,6}(?:\.\d+)?))?", re.ASCII)


def default_matcher() -> str:
    """Return the matcher to use where none is named and nothing was learned.

    The pretrained networks if what runs them is installed (extra ``neural``), else `lexicon`.
    """
    from importlib.util import find_spec

    runs = all(find_spec(name) is not None for name in ("onnxruntime", "tokenizers"))
    return "cascade" if runs else "lexicon"


def refuse_matcher_of_model(matcher: object, model: object) -> None:
    """Raise ArgumentError if a matcher is named beside a model, which has its own.

    >>> refuse_matcher_of_model("lexicon", "fast")
    Traceback (most recent call last):
    rubricate.errors.ArgumentError: a model has its own matcher. model and matcher ...
    """
    if matcher and model:
        raise ArgumentError(
            "a model has its own matcher.",
            advice=Advice(
                "{} and {} cannot be used together. Give one of them.",
                (Setting("model"), Setting("matcher")),
            ),
        )


def make_matcher(name: str, **parameters: Any) -> Matcher:
    """Return an unfitted matcher; a parameter it does not know is an UnknownNameError.

    >>> make_matcher("exact").get_params()
    {'window': 60}
    """
    matcher_class = MATCHERS[name]
    check_parameters(matcher_class, parameters)
    matcher: Matcher = matcher_class(**parameters)
    return matcher


def fit_matcher(
    name: str,
    corpus: Corpus,
    *,
    annotator: str | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Matcher:
    """Return the named matcher, made with these parameters and fitted to the corpus.

    Parameters
    ----------
    name : str
        One of `MATCHERS`.
    corpus : Corpus
        What to learn from; it may hold no annotated note at all.
    annotator : str, optional
        Whose annotations to learn from; by default the first annotator of the corpus.
    progress : callable
        Called with how much is done, how much there is, and what is being done.
    **parameters
        Parameters of the matcher.

    Examples
    --------
    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["30"])
    >>> matcher = fit_matcher("exact", corpus)
    >>> matcher.predict(corpus).annotators[0].id
    'exact'
    """
    return make_matcher(name, **parameters).fit(corpus, annotator=annotator, progress=progress)


def shipped_model(model: object) -> tuple[str, dict[str, Any]] | None:
    """Return matcher and parameters of a model that comes with the package; None of others.

    A folder of the same name comes first. ``cascade=LOW,HIGH`` and ``cascade=LOW,HIGH,WRONG`` set
    its dial: items with a probability between the first two are read again, and those of whose
    marks so many characters are expected to be wrong.

    >>> shipped_model("cascade=0.2,0.8")
    ('cascade', {'low': 0.2, 'high': 0.8})
    >>> shipped_model("cascade=0.5,0.5,999999")  # nothing is read again
    ('cascade', {'low': 0.5, 'high': 0.5, 'wrong': 999999.0})
    >>> shipped_model("fast"), shipped_model("fastest")
    (('encoder', {'network': 'fast'}), None)
    """
    if not isinstance(model, str) or Path(model).exists():
        return None
    known = model_of_name(model)
    return None if known is None else (known.matcher, dict(known.parameters))


def model_of_name(name: str) -> ShippedModel | None:
    """Return the shipped model of this name, whatever folders there are; None if there is none.

    >>> model_of_name("cascade=0.2,0.8").make().get_params()["low"]
    0.2
    """
    if dial := _DIAL.fullmatch(name):
        named = zip(("low", "high", "wrong"), dial.groups(), strict=True)
        parameters = {key: float(value) for key, value in named if value is not None}
        return ShippedModel(name, "cascade", parameters)
    known = SHIPPED_MODELS.get(name)
    return None if known is None else ShippedModel(name, *known)


def no_such_model(name: str | Path) -> str:
    """Return the message about a model that is neither a folder nor comes with the package.

    >>> print(no_such_model("fastt"))
    fastt: no such folder; did you mean 'fast'? Give a model of `fit`, or one of: fast, accurate, \
cascade, cascade=LOW,HIGH,WRONG
    """
    known = ", ".join((*SHIPPED_MODELS, "cascade=LOW,HIGH,WRONG"))
    near = near_paths(Path(name), *SHIPPED_MODELS)
    return (
        f"{shown_path(Path(name))}: no such folder{near} Give a model of `fit`, or one of: {known}"
    )


def load_matcher(path: str | Path) -> Matcher:
    """Return the matcher that was saved in this folder, or one of `SHIPPED_MODELS`.

    Examples
    --------
    >>> load_matcher("accurate").get_params()["network"]
    'accurate'

    Raises
    ------
    InputError
        If there is no such folder, it is not a model, or its files are wrong.
    UnknownNameError
        If it was made by a matcher that is not installed.
    """
    folder = Path(path)
    if shipped := shipped_model(path):
        return make_matcher(shipped[0], **shipped[1])
    if not folder.exists():
        raise InputError(no_such_model(path))
    name = read_header(folder).matcher
    matcher_class = MATCHERS[name]
    with reading_model(name, folder):
        matcher: Matcher = matcher_class.load(folder)
    return matcher
