"""From scores of states to annotations: one way for every recogniser that labels tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rubricate.arrays import F64, I64
from rubricate.corpus import Annotation, Corpus, Note
from rubricate.errors import InputError
from rubricate.matchers.matcher import judged_notes
from rubricate.matchers.predictions import Found, NoteFindings
from rubricate.measures import evaluate
from rubricate.neural.sequence.chain import Chain, best_states, expect, log_absence, pad_emissions
from rubricate.neural.sequence.states import Context, Scheme, TokenRule, Tokens, cut_text
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import Rubric

#: Gives each sequence's scores (tokens, states).
Emit = Callable[[Sequence[Tokens]], Sequence[F64]]
#: Sequences worked on at once.
_AT_ONCE = 256
#: What `choose_bonus` tries.
BONUSES = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


@dataclass(frozen=True, slots=True)
class LabelledTokens:
    """A sequence to learn from, with its states and the note it is of."""

    tokens: Tokens
    states: I64
    note: str


def shared_labels(corpus: Corpus) -> tuple[str, ...]:
    """Return the features as labels: those of the one rubric that all notes share."""
    cases = dict.fromkeys(note.case for note in corpus.notes)
    if len(cases) > 1:
        raise InputError(
            f"the notes belong to {len(cases)} cases. A recogniser that labels tokens learns the "
            "features of one rubric that all notes share: fit it to one case at a time."
        )
    labels = tuple(f.id for f in corpus.rubric(next(iter(cases), "")))
    if not labels:
        raise InputError("there is nothing to learn: the notes' case has no features")
    return labels


def labelled_sequences(
    corpus: Corpus, annotator: str | None, scheme: Scheme, *, tokens: TokenRule, context: Context
) -> tuple[list[LabelledTokens], int]:
    """Return what to learn from, and how many tokens had to drop a further label.

    Only notes in which every feature was judged are taken: a label not looked for is not absent.
    """
    found: list[LabelledTokens] = []
    dropped = 0
    for note, marked in judged_notes(corpus, annotator):
        if not set(scheme.labels) <= set(marked):
            continue
        own: dict[str, tuple[Annotation, ...]] = marked
        for sequence in cut_text(note.text, tokens=tokens, context=context):
            states, clash = scheme.encode(sequence, own)
            found.append(LabelledTokens(sequence, states, note.id))
            dropped += int(clash.sum())
    if not found:
        raise InputError(
            "there is nothing to learn from: no note has text and a judgement of every feature"
        )
    return found, dropped


def favoured(chain: Chain, scheme: Scheme, bonus: float) -> Chain:
    """Return the chain with a bonus on every step that begins an annotation.

    A recogniser learned from incomplete annotations finds too few; a bonus for each makes it find
    more, without making them longer as a bonus for every token would.
    """
    step = scheme.beginnings()
    return Chain(chain.first + bonus * step[0], chain.step + bonus * step, chain.last)


def choose_bonus(judge: Callable[[float], float], *, progress: Progress = silent) -> float:
    """Return the first of the `BONUSES` with which the result on held-out notes is best."""
    return max(watched(BONUSES, progress, "choosing the bonus", len(BONUSES)), key=judge)


def mean_span_f1(reference: Corpus, predicted: Corpus) -> float:
    """Return the mean F1 of exact spans, one-side boundaries and overlaps, one-to-one."""
    spans = evaluate(reference, predicted).spans
    return float(np.nan_to_num(np.mean([table.total().f1 for table in spans.values()])))


@dataclass(frozen=True)
class SequenceFinder:
    """Finds annotations in notes by the likeliest states."""

    scheme: Scheme
    chain: Chain
    emit: Emit
    tokens: TokenRule
    context: Context
    stage: str
    bonus: float = 0.0

    def find(self, rubric: Rubric, notes: Sequence[Note]) -> Iterator[NoteFindings]:
        """Yield what is in each note; features that are no labels are never found."""
        sequences: list[Tokens] = []
        owner: list[int] = []
        for i, note in enumerate(notes):
            cut = cut_text(note.text, tokens=self.tokens, context=self.context)
            sequences.extend(cut)
            owner.extend([i] * len(cut))
        known = {feature.id for feature in rubric}
        found: list[list[Found]] = [[] for _ in notes]
        absent = np.zeros((len(notes), len(self.scheme.labels)))
        order = np.argsort([len(one.words) for one in sequences], kind="stable")
        for begin in range(0, len(order), _AT_ONCE):
            own = order[begin : begin + _AT_ONCE].tolist()
            part = [sequences[i] for i in own]
            for i, (made, log_absent) in zip(own, self._read(part), strict=True):
                found[owner[i]].extend(one for one in made if one.feature in known)
                absent[owner[i]] += log_absent
        for made, log_absent in zip(found, absent, strict=True):
            present = -np.expm1(log_absent)
            probabilities = dict(zip(self.scheme.labels, present.tolist(), strict=True))
            made.sort(key=lambda one: one.spans)
            yield NoteFindings(made, {k: p for k, p in probabilities.items() if k in known})

    def _read(self, sequences: Sequence[Tokens]) -> Iterator[tuple[list[Found], F64]]:
        emissions, lengths = pad_emissions(self.emit(sequences))
        expected = expect(self.chain, emissions, lengths)
        label_of_state = self.scheme.label_of_state
        absent = log_absence(self.chain, emissions, lengths, label_of_state, expected.log_z)
        chain = favoured(self.chain, self.scheme, self.bonus)
        for i, states in enumerate(best_states(chain, emissions, lengths)):
            made = []
            tokens = sequences[i]
            for label, first, last in self.scheme.decode(states, tokens.lines):
                sure = expected.marginal[i, first:last][:, label_of_state == label].sum(axis=1)
                place = (tokens.places[first][0], tokens.places[last - 1][1])
                name = self.scheme.labels[label]
                confidence = float(np.clip(sure.mean(), 0.0, 1.0))
                reason = f"{self.stage}: tagged {name}, p {sure.min():.2f} to {sure.max():.2f}"
                made.append(Found(name, (place,), confidence, reason))
            yield made, absent[i]
