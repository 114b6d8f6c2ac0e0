"""Decisions about sets of notes whose right answers are known, to see what a change does."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.effects.cases import LINES, read_cases
from rubricate.errors import InputError, UnknownNameError
from rubricate.files import whole_output
from rubricate.formats import read_corpus
from rubricate.knowledge.checking import LINE_END
from rubricate.matchers import SHIPPED_MODELS, make_matcher
from rubricate.matchers.lexicon.matcher import propose_from_rubric
from rubricate.matchers.predictions import (
    NoteFindings,
    NoteProposals,
    NoteReader,
    read_notes,
)
from rubricate.rubric import Feature, Rubric

STATED, CONTRADICTED, UNSAID = "stated", "contradicted", "not mentioned"
#: A right answer that leaves open why a feature earns no credit.
NOT_CREDITED = "not credited"


class LabelledNote(NamedTuple):
    """A note, its rubric, and the right answer for each feature that has one."""

    name: str
    text: str
    rubric: Rubric
    labels: Mapping[str, str]


class NamedSet(NamedTuple):
    """Notes with right answers, by the name of the set."""

    name: str
    notes: Sequence[LabelledNote]


class Decision(NamedTuple):
    """The decision on one feature in one note."""

    set: str
    note: str
    feature: str
    label: str
    outcome: str
    probability: float | None
    spans: tuple[tuple[int, int], ...]

    @property
    def is_right(self) -> bool:
        """True if the outcome is right; None if that is unknown."""
        if self.label == NOT_CREDITED:
            return self.outcome != STATED
        return self.outcome == self.label


def load_set(name: str, *, step: int = 1) -> NamedSet:
    """Return a set of notes: ``lines``, or a corpus by its name or path; every so many notes.

    The right answers of a corpus are the marks of its first annotator. A feature without marks
    earns no credit; whether the note says otherwise is not known.

    >>> len(load_set("lines", step=100).notes)
    9
    """
    if name == LINES:
        return NamedSet(
            name,
            [
                LabelledNote(
                    f"{LINES}:{case.line}",
                    case.note.replace(LINE_END, "\n"),
                    Rubric("c", (Feature("1", "c", case.feature),)),
                    {"1": case.verdict},
                )
                for case in read_cases(LINES)[::step]
            ],
        )
    corpus = read_corpus(name)
    if not corpus.annotators:
        raise InputError(f"{name}: need annotations, which are the right answers")
    annotator = corpus.annotators[0]
    notes = []
    for note in corpus.notes[::step]:
        rubric = corpus.rubric(note.case)
        marks = {f.id: corpus.annotations(note.id, f.id, annotator.id) for f in rubric}
        labels = {k: STATED if own else NOT_CREDITED for k, own in marks.items() if own is not None}
        notes.append(LabelledNote(note.id, note.text, rubric, labels))
    return NamedSet(Path(name).name, notes)


def decide(named: NamedSet, *, matcher: str = "lexicon") -> Iterator[Decision]:
    """Yield the decisions about a set, of the lexicon or of a network that comes with the package.

    >>> said = list(decide(load_set("lines", step=300)))
    >>> [one.outcome for one in said]
    ['stated', 'contradicted', 'stated']
    """
    reader = None
    if matcher in SHIPPED_MODELS:
        name, parameters = SHIPPED_MODELS[matcher]
        made = make_matcher(name, **parameters)
        assert isinstance(made, NoteReader)
        reader = made
    elif matcher != "lexicon":
        raise UnknownNameError("matcher", matcher, ["lexicon", *SHIPPED_MODELS])
    for part in by_rubric(named):
        own, rubric = part.notes, part.notes[0].rubric
        notes = [Note(one.name, rubric.case, one.text) for one in own]
        found = read_by_lexicon(rubric, notes) if reader is None else reader.read(rubric, notes)
        for one, said in zip(own, found, strict=True):
            for feature in rubric:
                if feature.id in one.labels:
                    yield _decision(named.name, one, feature, said)


def by_rubric(named: NamedSet) -> list[NamedSet]:
    """Return the notes of each rubric as a set: reading a rubric takes longer than a note."""
    groups: dict[tuple[tuple[str, str], ...], list[LabelledNote]] = {}
    for one in named.notes:
        groups.setdefault(tuple((f.id, f.text) for f in one.rubric), []).append(one)
    return [NamedSet(named.name, own) for own in groups.values()]


def read_by_lexicon(rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
    """Yield what the lexicon decides from the rubric alone, without literal mentions."""

    def propose(asked: Rubric, own: Sequence[Note]) -> Iterator[NoteProposals]:
        return propose_from_rubric(asked, [note.text for note in own])

    return read_notes(rubric, notes, propose, lambda feature: False)


def _decision(name: str, note: LabelledNote, feature: Feature, said: NoteFindings) -> Decision:
    own = [one.spans for one in said.found if one.feature == feature.id]
    against = said.contradictions.get(feature.id)
    outcome = STATED if own else CONTRADICTED if against else UNSAID
    spans = sorted(span for spans in own for span in spans) or (against.spans if against else ())
    chance = said.probabilities.get(feature.id)
    return Decision(
        name,
        note.name,
        feature.text,
        note.labels[feature.id],
        outcome,
        None if chance is None else round(chance, 4),
        tuple((int(start), int(end)) for start, end in spans),
    )


def keep_decisions(path: Path, decisions: Iterable[Decision]) -> int:
    """Write decisions to a file, which holds no text of a note; return how many they are."""
    lines = [json.dumps(one) + "\n" for one in decisions]
    with (
        whole_output(path, overwrite=True) as place,
        gzip.open(place, "wt", encoding="utf-8") as out,
    ):
        out.writelines(lines)
    return len(lines)


def kept_decisions(path: Path) -> list[Decision]:
    """Return the decisions that were kept in a file."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        fields = [(*row[:6], tuple((start, end) for start, end in row[6])) for row in rows]
        return [Decision._make(own) for own in fields]
    except (OSError, ValueError, TypeError, IndexError) as error:
        raise InputError(f"{path}: no decisions kept by rubricate rules effect") from error
