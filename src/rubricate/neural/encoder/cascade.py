"""The ``cascade`` matcher: a fast network reads every note, an accurate one what is in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

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
from rubricate.neural.encoder.decoding import HeardNote
from rubricate.neural.encoder.inference import Places
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.progress import Progress, silent
from rubricate.rubric import Rubric

FIRST, SECOND = "first", "second"
#: Holds the hashes of the headers of both, which hold those of their files.
NETWORKS_FILE = "networks.json"
#: Pieces on either side of a place that are read again. With 24 and 40 the accurate network took
#: longer and found no more; nor did it at second places.
AROUND = 12


class CascadeMatcher(Parametrised):
    """Reads every note with the fast network, and again with the accurate one what is in doubt.

    An item is in doubt where the fast network's probability lies between ``low`` and ``high``: the
    dial between its speed (both equal) and the other's accuracy (0 and 1). Only the features in
    doubt are read again, around the places where the fast network or the lexicon saw most of them.
    `fit` teaches the fast network; the accurate one stays as it is.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["14"], annotators=["reference"])
    >>> few = corpus.select(notes=[corpus.notes[0].id])
    >>> CascadeMatcher(low=0.5, high=0.5, threads=1).predict(few).annotators[0].id
    'cascade'
    """

    name: ClassVar[str] = "cascade"
    #: A second's work or some: see `rubricate.matchers.notes_at_once`.
    notes_at_once: ClassVar[int] = 16

    def __init__(self, *, low: float = 0.1, high: float = 0.9, threads: int | None = None) -> None:
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
        for note, heard in zip(notes, first.readings(rubric, notes), strict=True):
            found = first.decided(rubric, note.text, heard)
            doubtful = [
                k
                for k, feature in enumerate(rubric)
                if self.low < found.probabilities[feature.id] < self.high
            ]
            if doubtful:
                around = _places(heard, doubtful)
                again = second.read_again(rubric, note.text, doubtful, around, heard.votes)
                found = _replaced(found, again)
            yield found


def _places(heard: HeardNote, features: Sequence[int]) -> Places:
    """Return which characters to read again of each feature.

    They are those around the piece of which the first network is surest that it states or
    contradicts the feature, and around the words that the lexicon found.
    """
    (pieces, rows), *_ = heard.said
    out: list[list[tuple[int, int]]] = []
    for k in features:
        seen = np.maximum(rows[k].inside, rows[k].contradicting)
        words = [] if heard.votes is None else heard.votes.spans[k]
        found = [pieces.within(start, end) for start, end in words]
        if len(seen):
            likeliest = int(seen.argmax())
            found.append((likeliest, likeliest + 1))
        own = [(max(first - AROUND, 0), min(after + AROUND, len(pieces))) for first, after in found]
        out.append([(int(pieces.start[a]), int(pieces.end[z - 1])) for a, z in own])
    return out


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
