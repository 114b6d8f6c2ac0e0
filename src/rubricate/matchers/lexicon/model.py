"""Model of the ``lexicon`` matcher for one case, and the reading of a note with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rubricate.arrays import F32, I32, I64, Bools
from rubricate.matchers.matcher import JudgedNote
from rubricate.matchers.phrases.model import CountedPhrase
from rubricate.matchers.wording.case_model import (
    CaseModel,
    WordSettings,
    add_words,
    fit_case,
    keys_of,
    make_speller,
    marked_tokens,
    number_words,
    place_columns,
)
from rubricate.matchers.wording.logistic import Decision, choose_thresholds
from rubricate.matchers.wording.naming import StemPlaces
from rubricate.matchers.wording.reading import NoteColumns, read_columns, split_reading, stems_of
from rubricate.matchers.wording.rubric_words import SENSE
from rubricate.matchers.wording.shared import PreparedRubric, SharedModel
from rubricate.reading.note import NoteReading, read_note
from rubricate.reading.tokens import Speller
from rubricate.requirement.alternative import STOP_WORDS, read_wording
from rubricate.rubric import Rubric

#: The training notes are divided into this many parts; cuts are chosen on parts not learned from.
N_PARTS = 3
#: With fewer annotated notes than this the shared cut is used.
LEAST_NOTES = 4
#: As what numbers and marks are counted among words.
_COUNTED_AS = {"number": "#", "mark": None}


@dataclass(frozen=True, slots=True)
class LearnedCase:
    """A case's words with their weights, the cuts of its features, and the words it may correct.

    ``held_out`` holds, for each (note, feature) of the training notes, the highest logit above the
    cut when that note was not learned from, and whether the feature is present.
    """

    model: CaseModel
    cuts: tuple[float, ...]
    spelling: tuple[str, ...]
    held_out: tuple[tuple[float, bool], ...] = ()
    held_out_tokens: tuple[tuple[float, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class LexiconModel:
    """Everything the ``lexicon`` matcher learned."""

    shared: SharedModel
    cases: Mapping[str, LearnedCase]
    phrases: tuple[CountedPhrase, ...]
    decision: Decision
    features: dict[str, str]
    learned_from: str
    n_notes: int


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A note as the lexicon reads it: its tokens in lists, and their logits for each feature.

    ``whole`` is what the rules read; ``reading`` has the same in columns, for arithmetic on many
    tokens. Lists are faster for few.

    ``meant`` are the stems with their meanings, where words of several have a likely one, and
    ``strength`` is how strongly they stand for the rubric's words. ``stop`` says which words carry
    no meaning, ``counted`` as what words are counted near others: by their stems, all numbers as
    one, marks as None.
    """

    whole: NoteReading
    reading: NoteColumns
    stems: list[str]
    meant: list[str]
    rubric_logits: F32
    logits: F32
    placed: I32 | None
    places: StemPlaces
    strength: F32
    forms: list[str]
    stop: list[bool]
    counted: list[str | None]
    clause: list[int]
    item: list[int]
    scope: list[int]
    cue: list[int]
    family: list[int]


class CaseReader:
    """Reads notes of one case: the rubric's evidence, and the learned words where there are any."""

    def __init__(
        self,
        prepared: PreparedRubric,
        rubric: Rubric,
        learned: LearnedCase | None,
        settings: WordSettings,
    ) -> None:
        shared = prepared.shared
        self.prepared = prepared
        self.learned = learned
        self.settings = settings
        spelling = learned.spelling if learned else _spelling(prepared, rubric)
        self.speller = Speller(spelling, known=shared.forms_known)
        if learned is not None:
            self._numbers = learned.model.numbers
            self._weighed = learned.model.weighed
        n = len(rubric)
        self.cuts = np.array(
            learned.cuts if learned else [shared.decision.threshold] * n, dtype=np.float32
        )

    def read(self, texts: Sequence[str]) -> list[ReadNote]:
        """Read some notes, together because few long arrays are faster than many short ones."""
        readings = [read_columns(text) for text in texts]
        stems = [stems_of(reading, self.speller) for reading in readings]
        meant = [with_senses(r, own) for r, own in zip(readings, stems, strict=True)]
        from_rubric = self.prepared.logits_of(readings, [one for own in meant for one in own])
        logits, placed = from_rubric, None
        if self.learned is not None:
            numbered = zip(readings, stems, strict=True)
            columns = self.learned.model.columns
            placed = np.concatenate([self._place(r, own, columns) for r, own in numbered])
            logits = self.settings.trust * from_rubric + add_words(self._weighed, placed)
        ends = np.cumsum([len(reading) for reading in readings])
        parts = [slice(int(end) - len(r), int(end)) for r, end in zip(readings, ends, strict=True)]
        found = []
        for k, (text, reading, part) in enumerate(zip(texts, readings, parts, strict=True)):
            tokens = reading.tokens
            stop = [token.form in STOP_WORDS for token in tokens]
            kinds = zip(tokens, stems[k], strict=True)
            lists = (reading.clause, reading.item, reading.scope, reading.cue, reading.family)
            read = ReadNote(
                read_note(text),
                reading,
                stems[k],
                meant[k],
                from_rubric[part],
                logits[part],
                None if placed is None else placed[part],
                StemPlaces(meant[k], reading),
                self.prepared.words.strength(meant[k], np.array(stop, dtype=np.bool_)),
                [token.form for token in tokens],
                stop,
                [_COUNTED_AS.get(token.kind, one) for token, one in kinds],
                *(one.tolist() for one in lists),
            )
            found.append(read)
        return found

    def _place(self, reading: NoteColumns, stems: Sequence[str], columns: I64) -> I32:
        """Return the columns of each token, part by part where a note is very long."""
        found = []
        begin = 0
        for part in split_reading(reading):
            words = number_words(stems[begin : begin + len(part)], self._numbers)
            placed = place_columns(keys_of(part, words), columns)
            found.append(placed.astype(np.int32))
            begin += len(part)
        return np.concatenate(found)


def with_senses(reading: NoteColumns, stems: Sequence[str]) -> list[str]:
    """Return stems with the meanings of words that have several: "ra#ra: room air"."""
    meant = list(stems)
    for t, sense in read_note(reading.text).senses.items():
        meant[t] = f"{stems[t]}{SENSE}{sense.key}"
    return meant


def _spelling(prepared: PreparedRubric, rubric: Rubric) -> list[str]:
    """Return the words to correct to: the rubric's, and common ones that stand for them."""
    common = prepared.shared.common_forms()
    known = common.keys() & prepared.words.known_stems
    return list(set(rubric_forms(rubric)).union(*map(common.__getitem__, known)))


def rubric_forms(rubric: Rubric) -> list[str]:
    """Return the words of a rubric's features."""
    tokens = (token for feature in rubric for token in read_wording(feature.text).tokens)
    return sorted({token.form for token in tokens if token.kind == "word"})


def learn_case(
    prepared: PreparedRubric, rubric: Rubric, judged: Sequence[JudgedNote], settings: WordSettings
) -> LearnedCase:
    """Learn the words of a case from its annotated notes, and its cuts on notes held out."""
    shared = prepared.shared
    readings = [read_columns(one.note.text) for one in judged]
    speller, spelling = make_speller(readings, rubric_forms(rubric), shared.forms_known)
    stems = [stems_of(reading, speller) for reading in readings]
    features = [feature.id for feature in rubric]
    data = _CaseData(
        readings,
        stems,
        [marked_tokens(r, one, features) for r, one in zip(readings, judged, strict=True)],
        [prepared.logits(r, with_senses(r, own)) for r, own in zip(readings, stems, strict=True)],
        [np.array([f in one.annotations for f in features]) for one in judged],
    )
    learned = LearnedCase(
        data.fit(range(len(judged)), settings),
        tuple([shared.decision.threshold] * len(features)),
        tuple(spelling),
    )
    return _choose_cuts(learned, data, settings) if len(judged) >= LEAST_NOTES else learned


@dataclass(frozen=True, slots=True)
class _CaseData:
    readings: list[NoteColumns]
    stems: list[list[str]]
    marked: list[Bools]
    rubric_logits: list[F32]
    judged: list[Bools]

    def fit(self, notes: Sequence[int], settings: WordSettings) -> CaseModel:
        def pick(values: list[Any]) -> list[Any]:
            return [values[i] for i in notes]

        return fit_case(
            pick(self.readings),
            pick(self.stems),
            pick(self.marked),
            pick(self.rubric_logits),
            settings,
            judged=pick(self.judged),
        )


def _choose_cuts(learned: LearnedCase, data: _CaseData, settings: WordSettings) -> LearnedCase:
    """Learn from parts of the notes, look at the others, and choose each feature's cut there."""
    n_notes = len(data.readings)
    held_out: list[F32] = [np.zeros((0, 0), dtype=np.float32)] * n_notes
    for k in range(N_PARTS):
        model = data.fit([i for i in range(n_notes) if i % N_PARTS != k], settings)
        numbers, weighed = model.numbers, model.weighed
        for i in range(k, n_notes, N_PARTS):
            placed = model.place(data.readings[i], data.stems[i], numbers)
            held_out[i] = settings.trust * data.rubric_logits[i] + add_words(weighed, placed)
    marked = [m & j for m, j in zip(data.marked, data.judged, strict=True)]
    present = np.stack([one.any(axis=0) for one in marked])
    lengths = [t.end - t.start + 1 for reading in data.readings for t in reading.tokens]
    _, cuts = choose_thresholds(
        np.concatenate(held_out),
        np.concatenate(marked),
        np.array(lengths),
        present.sum(axis=0).tolist(),
    )
    rows: list[tuple[float, bool]] = []
    tokens: list[tuple[float, bool]] = []
    for logits, here, judged in zip(held_out, marked, data.judged, strict=True):
        for j in np.flatnonzero(judged).tolist():
            above = logits[:, j] - cuts[j]
            if len(above):
                rows.append((float(above.max()), bool(here[:, j].any())))
                sure = above > 0
                tokens += zip(above[sure].tolist(), here[sure, j].tolist(), strict=True)
    return replace(learned, cuts=tuple(cuts), held_out=tuple(rows), held_out_tokens=tuple(tokens))
