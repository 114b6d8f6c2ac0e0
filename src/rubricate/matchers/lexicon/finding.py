"""Finding the features of one case in a note, with confidence and reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from rubricate.lexicon.groups import Lexicon
from rubricate.matchers.lexicon.contradicting import ContradictionFinder
from rubricate.matchers.lexicon.model import CaseReader, LexiconModel, ReadNote
from rubricate.matchers.phrases.model import WINDOW, CountedPhrase
from rubricate.matchers.phrases.scanning import Hit, PhraseScanner, fold_text
from rubricate.matchers.predictions import Found, NoteFindings
from rubricate.matchers.wording.case_model import WordSettings, describe_key
from rubricate.matchers.wording.profile import STOP_WORDS, FeatureProfile, other_identity
from rubricate.matchers.wording.reading import NoteReading
from rubricate.matchers.wording.runs import (
    TokenRun,
    breaks_a_rule,
    find_runs,
    group_runs,
    is_cue,
    right_numbers,
    scopes_at,
    whole_numbers,
)
from rubricate.matchers.wording.stems import stem
from rubricate.rows import Contradiction
from rubricate.rubric import Rubric
from rubricate.text.contradiction import why_contradicted_in
from rubricate.text.words import find_tokens

#: How many words a reason names.
N_WORDS = 3


class ReasonWriter:
    """Writes the reasons for what is found in notes of one case.

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
            stem(correct(token.form)) if token.kind == "word" else token.form
            for fragment in phrase.fragments
            for token in find_tokens(fragment)
            if token.kind != "mark"
        )

    def write(self, j: int, group: Sequence[TokenRun], read: ReadNote, folded: str) -> str:
        """Return the reason for the runs of one annotation of feature ``j``."""
        tokens = [t for run in group for t in range(run.first, run.end)]
        rules = self._rules(j, group, read)
        return "; ".join([self._stage(j, group, tokens, read, folded), *rules])

    def _stage(
        self, j: int, group: Sequence[TokenRun], tokens: Sequence[int], read: ReadNote, folded: str
    ) -> str:
        reading = read.reading
        text = " ".join(
            folded[reading.tokens[run.first].start : reading.tokens[run.end - 1].end]
            for run in group
        )
        phrase = self._exact.get((j, text))
        if phrase is not None:
            return f'exact: "{phrase}"'
        stems = tuple(read.stems[t] for t in tokens if reading.tokens[t].kind != "mark")
        phrase = self._stems.get((j, stems))
        if phrase is not None:
            return f'fuzzy: "{phrase}"'
        phrase = self._sets.get((j, _content(stems)))
        if phrase is not None:
            return f'word set: "{phrase}"'
        return self._words(j, tokens, read)

    def _words(self, j: int, tokens: Sequence[int], read: ReadNote) -> str:
        learned = self._reader.learned
        profile = self._reader.prepared.profiles[j]
        from_rubric = self._reader.settings.trust * float(read.rubric_logits[tokens, j].mean())
        if learned is None or read.placed is None:
            return f"rubric: {self._rubric_words(j, tokens, read)}"
        placed = read.placed[tokens]
        weights = learned.model.weights[:, j] * learned.model.values
        keys, at = np.unique(placed, return_inverse=True)
        total = np.bincount(at.ravel(), minlength=len(keys)) * weights[keys] / len(tokens)
        if profile.kind or from_rubric > float(total.sum()):
            return f"rubric: {self._rubric_words(j, tokens, read)}"
        best = keys[np.argsort(-total)][:N_WORDS]
        said = []
        for column in best.tolist():
            if column < len(learned.model.columns) and weights[column] > 0:
                place, what = describe_key(int(learned.model.columns[column]), learned.model.words)
                shown = f'"{what}"' if place == "word" else f'{place} "{what}"'
                said.append(f"{shown} {weights[column]:+.2f}")
        return "words: " + (", ".join(said) or "none alone")

    def _rubric_words(self, j: int, tokens: Sequence[int], read: ReadNote) -> str:
        """Return which rubric words the tokens stand for."""
        profile = self._reader.prepared.profiles[j]
        words = self._reader.prepared.words
        if profile.kind:
            return f"{profile.kind} {profile.feature.text!r}"
        own = {word for one in profile.alternatives for word in one.words}
        said: list[str] = []
        for t in tokens:
            form = read.reading.tokens[t].form
            if form in STOP_WORDS:
                continue
            strength = words.compare(read.stems[t]).max(axis=0)
            options = [(float(strength[i]), w) for i, w in enumerate(words.words) if w in own]
            value, word = max(options, default=(0.0, ""))
            if value > 0:
                said.append(f'"{form}"' if word == read.stems[t] else f'"{form}" for "{word}"')
        return ", ".join(dict.fromkeys(said)) or "words near the rubric's"

    def _rules(self, j: int, group: Sequence[TokenRun], read: ReadNote) -> list[str]:
        profile = self._reader.prepared.profiles[j]
        reading = read.reading
        tokens = [t for run in group for t in range(run.first, run.end)]
        rules = []
        if any(one.negated for one in profile.alternatives):
            scopes = {int(reading.scope[t]) for t in tokens} | {int(reading.cue[t]) for t in tokens}
            cues = sorted(
                {reading.negations[i].cue_span.text(reading.text).lower() for i in scopes if i >= 0}
            )
            rules += [f'denied by "{cue}"' for cue in cues]
        if any(right_numbers(run, profile, reading) for run in group):
            rules.append("number agrees")
        if any(one.family for one in profile.alternatives) and reading.family[tokens[0]]:
            rules.append("about a relative")
        last = reading.tokens[tokens[-1]].start
        # Only mentioned, never decided by: what a patient had is often exactly what the rubric asks
        # for, and a rule against it would remove right findings.
        rules += [f'past: "{cue}"' for cue in scopes_at(reading.text, "past", last)]
        if profile.kind:
            rules.append("first mention")
        return rules


def _content(stems: Sequence[str]) -> frozenset[str]:
    return frozenset(one for one in stems if one not in STOP_WORDS)


F32 = npt.NDArray[np.float32]

#: How much the logit of a phrase's precision counts, and the most it may add.
PHRASE_WEIGHT = 1.0
MOST_ADDED = 4.0
#: A learned stretch this far above its cut is marked even if it is denied ("no period" may be what
#: a feature asks for without saying so).
INSISTS = 1.5
#: A word is evidence of a rubric's word if it counts at least this much.
LEAST_EVIDENCE = 0.2
#: At most so likely is a feature that the note contradicts.
CONTRADICTED = 0.1
#: What the rules that strike out a stretch say of it, in the words of a reason.
RULE_REASONS = {
    "denied": "denied",
    "not denied": "says it is there",
    "wrong number": "says another number",
    "of a relative": "family history",
}
#: Notes read together.
TOGETHER = 16


class CaseFinder:
    """Finds the features of one rubric in notes."""

    def __init__(
        self,
        rubric: Rubric,
        model: LexiconModel,
        settings: WordSettings,
        lexicon: Lexicon | None = None,
    ) -> None:
        learned = model.cases.get(rubric.case)
        if learned is not None and len(learned.cuts) != len(rubric):
            learned = None
        self._reader = CaseReader(model.shared.prepare(rubric, lexicon), rubric, learned, settings)
        self._decision = model.decision if learned else model.shared.decision
        self._features = [feature.id for feature in rubric]
        place = {feature.id: j for j, feature in enumerate(rubric)}
        self._phrases = [p for p in model.phrases if p.feature in place]
        self._feature_of = [place[p.feature] for p in self._phrases]
        self._added = [
            min(max(PHRASE_WEIGHT * _logit(p.precision), 0.0), MOST_ADDED)
            if p.source == "training"
            else MOST_ADDED
            for p in self._phrases
        ]
        self._scanner = PhraseScanner([p.fragments for p in self._phrases], window=WINDOW)
        self._dropped = {
            (place[p.feature], " ".join(p.fragments)) for p in self._phrases if not p.kept
        }
        prepared = self._reader.prepared
        self._contradicting = ContradictionFinder(prepared.profiles, prepared.words)
        self._reasons = ReasonWriter(self._reader, self._phrases, self._feature_of)

    def find(self, texts: Sequence[str]) -> Iterator[NoteFindings]:
        """Yield what is found in each note."""
        for first in range(0, len(texts), TOGETHER):
            for read in self._reader.read(texts[first : first + TOGETHER]):
                yield self._find_in(read)

    def _find_in(self, read: ReadNote) -> NoteFindings:
        folded = fold_text(read.reading.text)
        hits = self._scanner.scan(folded)
        logits = self._with_phrases(read, hits)
        cuts = self._reader.cuts
        above = logits - cuts
        found: list[Found] = []
        contradictions: dict[str, Contradiction] = {}
        if len(read.reading):
            for j, runs in enumerate(find_runs(logits, cuts, read.reading)):
                if runs:
                    own, against = self._annotations(j, runs, read, above, folded)
                else:
                    own, against = [], self._other_identity(j, read)
                found += own
                if against is not None and not own:
                    contradictions[self._features[j]] = against
            there = {one.feature for one in found}
            missing = [
                j
                for j, feature in enumerate(self._features)
                if feature not in there and feature not in contradictions
            ]
            for j, against in self._contradicting.find(read, missing):
                contradictions[self._features[j]] = against
        probabilities = self._presence(above, found, contradictions)
        return NoteFindings(found, probabilities, contradictions)

    def _with_phrases(self, read: ReadNote, hits: Sequence[Hit]) -> F32:
        if not hits:
            return read.logits
        added = np.zeros_like(read.logits)
        starts = [token.start for token in read.reading.tokens]
        at = np.searchsorted(starts, [[a, b] for hit in hits for a, b in hit.spans])
        i = 0
        for hit in hits:
            amount = self._added[hit.phrase] if self._phrases[hit.phrase].kept else 0.0
            for _ in hit.spans:
                if amount:
                    own = added[at[i, 0] : at[i, 1], self._feature_of[hit.phrase]]
                    np.maximum(own, amount, out=own)
                i += 1
        return read.logits + added

    def _annotations(
        self, j: int, runs: list[TokenRun], read: ReadNote, above: F32, folded: str
    ) -> tuple[list[Found], Contradiction | None]:
        """Return the annotations of a feature, and the first words that contradict it."""
        profile: FeatureProfile = self._reader.prepared.profiles[j]
        reading = read.reading
        kept: list[TokenRun] = []
        against: Contradiction | None = None
        for run in runs:
            rule = self._struck_out(j, run, read, above)
            if not rule:
                kept.append(whole_numbers(run, profile, reading))
            elif against is None and rule in RULE_REASONS:
                against = self._contradiction(j, (_span_of(run, reading),), read, rule)
        found = []
        for group in group_runs(kept, profile, reading):
            spans = tuple(_span_of(run, reading) for run in group)
            if self._dropped and (j, " ".join(folded[a:b] for a, b in spans)) in self._dropped:
                continue
            inside = np.concatenate([above[run.first : run.end, j] for run in group])
            if self._may_contradict(profile, float(inside.mean())):
                why = why_contradicted_in(read.for_rules, profile.feature.text, spans)
                if why is not None:
                    words = _with_said(spans, why, reading.text)
                    against = against or Contradiction(words, None, why)
                    continue
            confidence = self._decision.span(float(inside.mean()))
            reason = self._reasons.write(j, group, read, folded)
            found.append(Found(self._features[j], spans, confidence, reason))
        return found, against

    def _may_contradict(self, profile: FeatureProfile, mean: float) -> bool:
        """Tell whether the rules against contradictions are asked about a stretch."""
        return not profile.kind and (self._reader.learned is None or mean < INSISTS)

    def _other_identity(self, j: int, read: ReadNote) -> Contradiction | None:
        """Return where a note gives another age or gender than the feature asks for."""
        profile, reading = self._reader.prepared.profiles[j], read.reading
        token = other_identity(profile, reading) if profile.kind else None
        if token is None:
            return None
        number = int(reading.quantity[token]) if profile.kind == "age" else -1
        span = reading.quantities[number].span if number >= 0 else reading.tokens[token].span
        said = span.text(reading.text)
        return Contradiction(((span.start, span.end),), None, f"says {said}")

    def _contradiction(
        self, j: int, spans: tuple[tuple[int, int], ...], read: ReadNote, rule: str
    ) -> Contradiction:
        """Return the contradiction of a stretch that a rule struck out."""
        feature = self._reader.prepared.profiles[j].feature.text
        why = why_contradicted_in(read.for_rules, feature, spans)
        words = _with_said(spans, why or "", read.reading.text)
        return Contradiction(words, None, why or RULE_REASONS[rule])

    def _struck_out(self, j: int, run: TokenRun, read: ReadNote, above: F32) -> str:
        """Return the rule that removes a run, or an empty text."""
        profile = self._reader.prepared.profiles[j]
        rule = breaks_a_rule(run, profile, read.reading, read.stems)
        if rule in ("denied", "not denied", "of a relative") and self._reader.learned is not None:
            return rule if float(above[run.first : run.end, j].mean()) < INSISTS else ""
        if not rule and self._reader.learned is None and not profile.kind:
            return "" if self._has_evidence(j, run, read) else "no evidence"
        return rule

    def _has_evidence(self, j: int, run: TokenRun, read: ReadNote) -> bool:
        """Tell whether a run itself, not only what is near it, has a word or number asked for."""
        profile = self._reader.prepared.profiles[j]
        if is_cue(run, read.reading) or right_numbers(run, profile, read.reading):
            return True
        words = self._reader.prepared.words
        own = {word for one in profile.alternatives for word in one.words}
        asked = [i for i, word in enumerate(words.words) if word in own]
        stems = read.stems[run.first : run.end]
        return any(words.compare(one)[:, asked].max() >= LEAST_EVIDENCE for one in stems)

    def _presence(
        self, above: F32, found: Sequence[Found], contradictions: Mapping[str, Contradiction]
    ) -> dict[str, float]:
        marked = {one.feature for one in found}
        probabilities = {}
        for j, feature in enumerate(self._features):
            highest = float(above[:, j].max()) if len(above) else -math.inf
            # Where a rule removed the stretch, the highest logit is no evidence of presence.
            highest = highest if feature in marked else min(highest, 0.0)
            probability = self._decision.presence(highest)
            if feature in contradictions:
                probability = min(probability, CONTRADICTED)
            probabilities[feature] = probability
        return probabilities


def _span_of(run: TokenRun, reading: NoteReading) -> tuple[int, int]:
    return reading.tokens[run.first].start, reading.tokens[run.end - 1].end


def _logit(p: float) -> float:
    p = min(max(p, 1e-3), 1 - 1e-3)
    return math.log(p / (1 - p))


#: How far from a stretch the words that decide against it may lie.
_NEAR = 60


def _with_said(
    spans: tuple[tuple[int, int], ...], why: str, text: str
) -> tuple[tuple[int, int], ...]:
    """Return the spans and, where a reason quotes words beside them, those words too.

    Examples
    --------
    >>> _with_said(((0, 9),), "says 3 months", "Cough for 3 months")
    ((0, 9), (10, 18))
    """
    said = why.removeprefix("says ") if why.startswith("says ") else ""
    if not said or not spans or any(said in text[start:end] for start, end in spans):
        return spans
    at = text.find(said, max(0, spans[0][0] - _NEAR))
    if at < 0 or at > spans[-1][1] + _NEAR:
        return spans
    return tuple(sorted((*spans, (at, at + len(said)))))
