"""The ``cascade`` matcher: a fast network reads every note, an accurate one what is in doubt."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from rubricate.arrays import Bools
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.files import file_hash, whole_output
from rubricate.formats.encoding import read_json
from rubricate.matchers.literal import claim_mentions, is_unlike_notes
from rubricate.matchers.matcher import Parametrised
from rubricate.matchers.model_files import (
    HEADER_FILE,
    MODEL,
    Header,
    read_header,
    with_parameters,
    write_header,
)
from rubricate.matchers.predictions import (
    NoteFindings,
    NoteProposals,
    decide,
    predict_with,
    read_notes,
)
from rubricate.matchers.training_report import TrainingReport
from rubricate.neural.encoder.decoding import Again, HeardNote
from rubricate.neural.encoder.matcher import EncoderMatcher
from rubricate.neural.encoder.pieces import Pieces
from rubricate.progress import Progress, silent
from rubricate.reading.note import read_note
from rubricate.rubric import Feature, Rubric
from rubricate.rules.adjudicate import FINAL
from rubricate.rules.findings import Candidate, ItemFinding, Proposal
from rubricate.spans import any_overlap
from rubricate.stats.calibration import logit, sigmoid
from rubricate.values import write_json

FIRST, SECOND = "first", "second"
#: Holds the hashes of the headers of both, which hold those of their files.
NETWORKS_FILE = "networks.json"
#: Pieces on either side of a place that are read again: with 7 the accurate network found less.
AROUND = 9
#: A piece is in doubt from this probability on that the word on it is wrong.
DOUBTED = 0.2
#: Features that the fast network sees in what is read again, with this probability, are asked for
#: beside those in doubt: what is another feature's is not taken for one in doubt.
BESIDE = 0.5
#: What is found is more probable than not. The networks' own thresholds are lower, for the sake of
#: what a note states in words far from the feature's; that credits more of what it contradicts.
LEAST = 0.5


class CascadeMatcher(Parametrised):
    """Reads every note with the fast network, and again with the accurate one what is in doubt.

    An item is in doubt where the fast network's probability lies between ``low`` and ``high``, or
    where ``wrong`` or more characters of its marks are expected to be wrong: a dial between the
    speed of the one and the accuracy of the other. Only what lies around the places in doubt is
    read again, as if the note had nothing else, for the features in doubt and those that the fast
    network sees there; elsewhere the first word stands. In patients' own stories and in fragments
    both networks count alike. `fit` teaches the fast network; the accurate one stays as it is.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["14"], annotators=["reference"])
    >>> few = corpus.select(notes=[corpus.notes[0].id])
    >>> CascadeMatcher(threads=1).predict(few).annotators[0].id
    'cascade'
    """

    name: ClassVar[str] = "cascade"
    #: A second's work or some: see `rubricate.matchers.notes_at_once`.
    notes_at_once: ClassVar[int] = 16

    def __init__(
        self,
        *,
        low: float = 0.05,
        high: float = 0.8,
        wrong: float = 6.0,
        features_per_pass: int | Literal["all"] = "all",
        threads: int | None = None,
    ) -> None:
        self.low = low
        self.high = high
        self.wrong = wrong
        self.features_per_pass = features_per_pass
        self.threads = threads

    def fit(
        self, corpus: Corpus, *, annotator: str | None = None, progress: Progress = silent
    ) -> Self:
        """Let the fast network learn from the annotated notes; with none nothing changes."""
        self.check(())
        first, _ = self._networks()
        first.fit(corpus, annotator=annotator, progress=progress)
        self.features_ = first.features_
        self.learned_from_ = first.learned_from_
        self.n_notes_ = first.n_notes_
        return self

    @property
    def training_report_(self) -> TrainingReport | None:
        """Report of the fast network's training; None before `fit`."""
        return self._networks()[0].training_report_

    def predict(self, corpus: Corpus) -> Corpus:
        """Return the corpus with what the two networks find, under the annotator ``cascade``."""
        self.check(corpus.features)
        return predict_with(corpus, self.name, self.read)

    def check(self, features: Iterable[Feature]) -> None:
        """Raise InputError where a parameter is none that it can have."""
        if not 0 <= self.low <= self.high <= 1:
            raise InputError(f"low {self.low} and high {self.high}: need 0 <= low <= high <= 1")
        if not 0 <= self.wrong < math.inf:
            raise InputError(f"wrong is {self.wrong}: need a number of characters from 0 up")
        self._networks()[0].check(features)

    def read(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what the two networks find in each note."""
        knows = self._networks()[0].knows
        return read_notes(rubric, notes, self._propose, knows, mentions=claim_mentions)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write both networks into sub-folders."""
        networks = self._networks()
        with whole_output(Path(folder), overwrite=overwrite, kind=MODEL) as place:
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

    def _networks(self) -> tuple[EncoderMatcher, ...]:
        if not hasattr(self, "networks_"):
            self.networks_ = tuple(
                EncoderMatcher(network=name, threads=self.threads) for name in ("fast", "accurate")
            )
        for network in self.networks_:
            network.features_per_pass = self.features_per_pass
        return self.networks_

    def _propose(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteProposals]:
        first, second = self._networks()
        for note, heard in zip(notes, first.readings(rubric, notes), strict=True):
            proposed = first.proposed(rubric, note.text, heard, LEAST)
            found = decide(rubric, note.text, proposed, before=FINAL)
            items = dict(proposed.items)
            unlike = is_unlike_notes(read_note(note.text))
            # Two probabilities are weighed before either is held to `LEAST`.
            least = 0.0 if unlike else LEAST
            own = first.proposed(rubric, note.text, heard).items if unlike else items
            for doubts in self._doubts(rubric, found, heard):
                again = second.read_again(rubric, note.text, doubts.again, heard.votes, least)
                if unlike:
                    _weigh(items, own, again.items, rubric, doubts)
                else:
                    _merge(items, again.items, rubric, doubts)
            yield NoteProposals(items, proposed.profile)

    def _doubts(
        self, rubric: Rubric, found: Mapping[str, ItemFinding], heard: HeardNote
    ) -> list[_Doubts]:
        """Return the parts to read again: together, or with one feature per pass each alone.

        Which words belong to a feature is found better beside others that might have them; alone
        it is decided by its own words, around its own places.
        """
        (pieces, rows), *_ = heard.said
        if not rows or not len(pieces):
            return []
        opinion, _ = self._networks()[0].opinions(heard)[0]
        chance = np.minimum(opinion.inside, 1 - opinion.inside)
        expected = chance @ (pieces.end - pieces.start)
        marked = {feature for feature, one in found.items() if one.evidence}
        presence: dict[int, bool] = {}
        places: dict[int, Bools] = {}
        for k, feature in enumerate(rubric):
            unsure = self.low < (found[feature.id].probability or 0.0) < self.high
            ends = feature.id in marked and expected[k] >= self.wrong
            if not unsure and not ends:
                continue
            presence[k], places[k] = unsure, np.zeros(len(pieces), bool)
            if unsure:
                places[k][rows[k].either.argmax()] = True
                if heard.votes is not None:
                    places[k] |= pieces.touched(heard.votes.spans[k])
            if ends:
                places[k] |= chance[k] >= DOUBTED
        alone = self.features_per_pass == 1
        groups = [[k] for k in presence] if alone else [list(presence)]
        doubts = []
        for group in filter(None, groups):
            own = [mark for k in group for mark in found[rubric.features[k].id].evidence]
            parts = _parts(pieces, np.any([places[k] for k in group], axis=0), own)
            there = pieces.touched(parts)
            shown = [not alone and row.either[there].max(initial=0.0) >= BESIDE for row in rows]
            beside = [k for k in np.flatnonzero(shown).tolist() if k not in group]
            doubts.append(_Doubts({k: presence[k] for k in group}, Again(group, beside, parts)))
        return doubts


class _Doubts(NamedTuple):
    """The parts to read again; for each feature in doubt, True if it may not be there at all."""

    presence: dict[int, bool]
    again: Again


def _parts(pieces: Pieces, seen: Bools, marks: Sequence[Candidate]) -> list[tuple[int, int]]:
    """Return the characters around some pieces, with the whole of every mark that begins there."""
    near = np.zeros(len(pieces), bool)
    for place in np.flatnonzero(seen):
        near[max(place - AROUND, 0) : place + AROUND + 1] = True
    for mark in marks:
        own = pieces.touched(mark.spans)
        near |= own & (own & near).any()
    edges = np.flatnonzero(np.diff(near, prepend=False, append=False)).reshape(-1, 2)
    return [(int(pieces.start[a]), int(pieces.end[z - 1])) for a, z in edges]


def _hashes(folder: Path) -> dict[str, str]:
    return {name: file_hash(folder / name / HEADER_FILE) for name in (FIRST, SECOND)}


def _merge(
    items: dict[str, Proposal],
    again: Mapping[str, Proposal],
    rubric: Rubric,
    doubts: _Doubts,
) -> None:
    """Put the second network's word on what it read again in the place of the first's.

    Marks of the first stay outside of what was read, unless the feature itself was in doubt and
    the second does not find it.
    """
    for k, unsure in doubts.presence.items():
        feature = rubric.features[k].id
        first, second = items[feature], again[feature]
        anew = [span for one in second.candidates for span in one.spans]
        read = [*doubts.again.parts, *anew]
        kept = tuple(
            one
            for one in first.candidates
            if (anew or not unsure) and not any_overlap(one.spans, read)
        )
        chances = [second.presence or 0.0, (first.presence or 0.0) if kept else 0.0]
        found = (*kept, *second.candidates)
        items[feature] = Proposal(found, max(chances), None if found else second.against)


def _weigh(
    items: dict[str, Proposal],
    first: Mapping[str, Proposal],
    again: Mapping[str, Proposal],
    rubric: Rubric,
    doubts: _Doubts,
) -> None:
    """Let both networks count alike: the mean of their logits decides on what is in doubt.

    The accurate network learned from notes alone, so it does not overrule the other on stories.
    """
    for k, unsure in doubts.presence.items():
        feature = rubric.features[k].id
        own, other = first[feature], again[feature]
        chance = own.presence or 0.0
        if unsure:
            chance = float(sigmoid(np.mean(logit([chance, other.presence or 0.0]))))
        found = (other.candidates or own.candidates) if chance >= LEAST else ()
        items[feature] = Proposal(found, chance, None if found else other.against)
