"""The reasons of what the ``lexicon`` matcher finds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rubricate.matchers.lexicon.model import CaseReader, ReadNote
from rubricate.matchers.phrases.model import CountedPhrase
from rubricate.matchers.wording.case_model import describe_key
from rubricate.matchers.wording.runs import TokenRun, right_numbers, scopes_at
from rubricate.reading.note import read_note
from rubricate.reading.tokens import find_tokens, root
from rubricate.requirement.alternative import STOP_WORDS
from rubricate.rules.reasons import Reason

#: How many words a reason names.
N_WORDS = 3


class Reasons:
    """Gives the reasons for what is found in notes of one case.

    The stages, from strict to loose: ``exact`` (a phrase as it was marked), ``fuzzy`` (the same
    words misspelt or inflected), ``word set`` (the same words in another order or apart),
    ``rubric`` (the rubric's own words or what usually stands for them), ``words`` (single words
    with their weights).
    """

    def __init__(
        self, reader: CaseReader, phrases: Sequence[CountedPhrase], feature_of: Sequence[int]
    ) -> None:
        self._reader = reader
        self._exact: dict[tuple[int, str], str] = {}
        self._stems: dict[tuple[int, tuple[str, ...]], str] = {}
        self._sets: dict[tuple[int, frozenset[str]], str] = {}
        for phrase, j in zip(phrases, feature_of, strict=True):
            if not phrase.kept:
                continue
            stems = self._stems_of_phrase(phrase)
            self._exact.setdefault((j, " ".join(phrase.fragments)), phrase.text)
            self._stems.setdefault((j, stems), phrase.text)
            self._sets.setdefault((j, _content(stems)), phrase.text)

    def _stems_of_phrase(self, phrase: CountedPhrase) -> tuple[str, ...]:
        correct = self._reader.speller.correct
        return tuple(
            root(correct(token.form)) if token.kind == "word" else token.form
            for fragment in phrase.fragments
            for token in find_tokens(fragment)
            if token.kind != "mark"
        )

    def of(
        self, j: int, group: Sequence[TokenRun], read: ReadNote, folded: str
    ) -> tuple[Reason, ...]:
        """Return the reasons for the runs of one annotation of feature ``j``."""
        tokens = [t for run in group for t in range(run.first, run.end)]
        return (self._stage(j, group, tokens, read, folded), *self._rules(j, group, read))

    def _stage(
        self, j: int, group: Sequence[TokenRun], tokens: Sequence[int], read: ReadNote, folded: str
    ) -> Reason:
        reading = read.reading
        text = " ".join(
            folded[reading.tokens[run.first].start : reading.tokens[run.end - 1].end]
            for run in group
        )
        phrase = self._exact.get((j, text))
        if phrase is not None:
            return Reason("lexicon.exact", phrase)
        stems = tuple(read.stems[t] for t in tokens if reading.tokens[t].kind != "mark")
        phrase = self._stems.get((j, stems))
        if phrase is not None:
            return Reason("lexicon.fuzzy", phrase)
        phrase = self._sets.get((j, _content(stems)))
        if phrase is not None:
            return Reason("lexicon.word_set", phrase)
        return self._words(j, tokens, read)

    def _words(self, j: int, tokens: Sequence[int], read: ReadNote) -> Reason:
        learned = self._reader.learned
        profile = self._reader.prepared.words.profiles[j]
        from_rubric = self._reader.settings.trust * float(read.rubric_logits[tokens, j].mean())
        if learned is None or read.placed is None:
            return Reason("lexicon.rubric", self._rubric_words(j, tokens, read))
        placed = read.placed[tokens]
        weights = learned.model.weights[:, j] * learned.model.values
        keys, at = np.unique(placed, return_inverse=True)
        total = np.bincount(at.ravel(), minlength=len(keys)) * weights[keys] / len(tokens)
        if profile.kind or from_rubric > float(total.sum()):
            return Reason("lexicon.rubric", self._rubric_words(j, tokens, read))
        best = keys[np.argsort(-total)][:N_WORDS]
        said = []
        for column in best.tolist():
            if column < len(learned.model.columns) and weights[column] > 0:
                place, what = describe_key(int(learned.model.columns[column]), learned.model.words)
                shown = f'"{what}"' if place == "word" else f'{place} "{what}"'
                said.append(f"{shown} {weights[column]:+.2f}")
        return Reason("lexicon.words", ", ".join(said) or "none alone")

    def _rubric_words(self, j: int, tokens: Sequence[int], read: ReadNote) -> str:
        """Return the rubric words that the tokens stand for."""
        profile = self._reader.prepared.words.profiles[j]
        words = self._reader.prepared.words
        if profile.kind:
            return f"{profile.kind} {profile.text!r}"
        own = profile.roots
        said: list[str] = []
        for t in tokens:
            form = read.reading.tokens[t].form
            if form in STOP_WORDS:
                continue
            strength = words.closest(read.stems[t])
            options = [(float(strength[i]), w) for i, w in enumerate(words.words) if w in own]
            value, word = max(options, default=(0.0, ""))
            if value > 0:
                said.append(f'"{form}"' if word == read.stems[t] else f'"{form}" for "{word}"')
        return ", ".join(dict.fromkeys(said)) or "words near the rubric's"

    def _rules(self, j: int, group: Sequence[TokenRun], read: ReadNote) -> list[Reason]:
        profile = self._reader.prepared.words.profiles[j]
        reading = read.reading
        tokens = [t for run in group for t in range(run.first, run.end)]
        rules: list[Reason] = []
        if any(one.asks_denial for one in profile.alternatives):
            scopes = {int(reading.scope[t]) for t in tokens} | {int(reading.cue[t]) for t in tokens}
            cues = sorted(
                {reading.negations[i].cue_span.text(reading.text).lower() for i in scopes if i >= 0}
            )
            rules += [Reason("lexicon.denied", cue) for cue in cues]
        if any(right_numbers(run, profile, reading) for run in group):
            rules.append(Reason("lexicon.number"))
        if any(one.family for one in profile.alternatives) and reading.family[tokens[0]]:
            rules.append(Reason("lexicon.relative"))
        last = reading.tokens[tokens[-1]].start
        # Only mentioned, never decided by: what a patient had is often exactly what the rubric asks
        # for, and a rule against it would remove right findings.
        past = scopes_at(read_note(reading.text), "past", last)
        rules += [Reason("lexicon.past", cue) for cue in past]
        if profile.kind:
            rules.append(Reason("lexicon.first"))
        return rules


def _content(stems: Sequence[str]) -> frozenset[str]:
    return frozenset(one for one in stems if one not in STOP_WORDS)
