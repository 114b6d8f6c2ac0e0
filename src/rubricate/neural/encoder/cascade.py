"""The ``cascade`` matcher: a fast network reads every note, an accurate one what is in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.files import file_hash, whole_output
from rubricate.formats.encoding import read_json, write_json
from rubricate.matchers.matcher import Parametrised
from rubricate.matchers.model_files import (
    HEADER_FILE,
    Header,
    read_header,
    with_parameters,
    write_header,
)
from rubricate.matchers.predictions import NoteFindings, predict_corpus
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.progress import Progress, silent
from rubricate.rubric import Rubric

FIRST, SECOND = "first", "second"
#: Holds the hashes of the headers of both, which hold those of their files.
NETWORKS_FILE = "networks.json"


class CascadeMatcher(Parametrised):
    """Reads every note with the fast network, and again with the accurate one what is in doubt.

    An item is in doubt where the fast network's probability lies between ``low`` and ``high``: the
    dial between its speed (both equal) and the other's accuracy (0 and 1). Only the features in
    doubt are read again. `fit` teaches the fast network; the accurate one stays as it is.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["14"], annotators=["reference"])
    >>> few = corpus.select(notes=[corpus.notes[0].id])
    >>> CascadeMatcher(low=0.5, high=0.5, threads=1).predict(few).annotators[0].id
    'cascade'
    """

    name: ClassVar[str] = "cascade"

    def __init__(
        self, *, low: float = 0.05, high: float = 0.95, threads: int | None = None
    ) -> None:
        self.low = low
        self.high = high
        self.threads = threads

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Let the fast network learn from the annotated notes; with none nothing changes."""
        self._check()
        first, _ = self._networks()
        first.fit(corpus, annotator=annotator, progress=progress)
        self.features_ = first.features_
        self.learned_from_ = first.learned_from_
        self.n_notes_ = first.n_notes_
        return self

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the two networks find, under the annotator ``cascade``."""
        self._check()
        return predict_corpus(corpus, self.name, self._find)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write both networks into sub-folders."""
        networks = self._networks()
        with whole_output(Path(folder), overwrite=overwrite) as place:
            place.mkdir()
            header = Header(
                self.name,
                self.get_params(),
                getattr(self, "learned_from_", ""),
                getattr(self, "n_notes_", 0),
                getattr(self, "features_", {}),
            )
            for name, network in zip((FIRST, SECOND), networks, strict=True):
                network.save(place / name)
            write_json(place / NETWORKS_FILE, _hashes(place))
            write_header(place, header)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return the model saved in a folder."""
        place = Path(folder)
        header = read_header(place, matcher=cls.name)
        matcher = with_parameters(cls, header, place)
        matcher.networks_ = tuple(EncoderMatcher.load(place / name) for name in (FIRST, SECOND))
        if read_json(place / NETWORKS_FILE) != _hashes(place):
            raise InputError(
                [Fault("lists other networks than those saved here", place / NETWORKS_FILE)]
            )
        matcher.features_ = dict(header.features)
        matcher.learned_from_ = header.learned_from
        matcher.n_notes_ = header.n_notes
        return matcher

    def _check(self) -> None:
        if not 0 <= self.low <= self.high <= 1:
            raise InputError(f"low {self.low} and high {self.high}: need 0 <= low <= high <= 1")

    def _networks(self) -> tuple[EncoderMatcher, ...]:
        if not hasattr(self, "networks_"):
            self.networks_ = tuple(
                EncoderMatcher(network=name, threads=self.threads) for name in ("fast", "accurate")
            )
        return self.networks_

    def _find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        first, second = self._networks()
        for note, found in zip(notes, first.findings(rubric, notes), strict=True):
            doubtful = [
                feature
                for feature in rubric
                if self.low < found.probabilities[feature.id] < self.high
            ]
            if doubtful:
                again = next(second.findings(rubric, [note], doubtful))
                found = _replaced(found, again)
            yield found


def _hashes(folder: Path) -> dict[str, str]:
    return {name: file_hash(folder / name / HEADER_FILE) for name in (FIRST, SECOND)}


def _replaced(first: NoteFindings, again: NoteFindings) -> NoteFindings:
    """Return what the first network found, with the second's word on what it read again."""
    read = set(again.probabilities)
    return NoteFindings(
        [*(one for one in first.found if one.feature not in read), *again.found],
        {**first.probabilities, **again.probabilities},
        {
            **{k: v for k, v in first.contradictions.items() if k not in read},
            **again.contradictions,
        },
    )
