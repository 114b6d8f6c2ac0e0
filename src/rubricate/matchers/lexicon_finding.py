"""Finding the features of one case in a note, with confidence and reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from rubricate.lexicon.groups import Lexicon
from rubricate.matchers.folding import fold_text
from rubricate.matchers.lexicon_files import LexiconModel
from rubricate.matchers.lexicon_model import CaseReader, ReadNote
from rubricate.matchers.lexicon_reasons import ReasonWriter
from rubricate.matchers.phrase_counts import WINDOW
from rubricate.matchers.predictions import Found, NoteFindings
from rubricate.matchers.scanning import Hit, PhraseScanner
from rubricate.matchers.wording.case_model import Settings
from rubricate.matchers.wording.profile import FeatureProfile
from rubricate.matchers.wording.runs import (
    Run,
    breaks_a_rule,
    find_runs,
    group_runs,
    is_cue,
    right_numbers,
    whole_numbers,
)
from rubricate.rubric import Rubric

F32 = npt.NDArray[np.float32]

#: How much the logit of a phrase's precision counts, and the most it may add.
PHRASE_WEIGHT = 1.0
MOST_ADDED = 4.0
#: A learned stretch so far above its cut is marked although it is denied ("no period" may be what
#: a feature asks for without saying so).
INSISTS = 1.5
#: What a word must at least be worth to be evidence of a rubric's word.
LEAST_EVIDENCE = 0.2
#: Notes read together.
TOGETHER = 16


class CaseFinder:
    """Finds the features of one rubric in notes."""

    def __init__(
        self,
        rubric: Rubric,
        model: LexiconModel,
        settings: Settings,
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
        found: list[Found] = []
        if len(read.reading):
            for j, runs in enumerate(find_runs(logits, cuts, read.reading)):
                if runs:
                    found += self._annotations(j, runs, read, logits - cuts, folded)
        probabilities = self._presence(logits - cuts, found)
        return NoteFindings(found, probabilities)

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
        self, j: int, runs: list[Run], read: ReadNote, above: F32, folded: str
    ) -> list[Found]:
        profile: FeatureProfile = self._reader.prepared.profiles[j]
        reading = read.reading
        kept = [
            whole_numbers(run, profile, reading)
            for run in runs
            if not self._struck_out(j, run, read, above)
        ]
        found = []
        for group in group_runs(kept, profile, reading):
            spans = tuple(
                (reading.tokens[run.first].start, reading.tokens[run.end - 1].end) for run in group
            )
            if self._dropped and (j, " ".join(folded[a:b] for a, b in spans)) in self._dropped:
                continue
            inside = np.concatenate([above[run.first : run.end, j] for run in group])
            confidence = self._decision.span(float(inside.mean()))
            reason = self._reasons.write(j, group, read, folded)
            found.append(Found(self._features[j], spans, confidence, reason))
        return found

    def _struck_out(self, j: int, run: Run, read: ReadNote, above: F32) -> bool:
        profile = self._reader.prepared.profiles[j]
        rule = breaks_a_rule(run, profile, read.reading, read.stems)
        if rule in ("denied", "not denied", "of a relative") and self._reader.learned is not None:
            return float(above[run.first : run.end, j].mean()) < INSISTS
        if not rule and self._reader.learned is None and not profile.kind:
            return not self._has_evidence(j, run, read)
        return bool(rule)

    def _has_evidence(self, j: int, run: Run, read: ReadNote) -> bool:
        """Tell whether a run itself, not only what is near it, has a word or number asked for."""
        profile = self._reader.prepared.profiles[j]
        if is_cue(run, read.reading) or right_numbers(run, profile, read.reading):
            return True
        words = self._reader.prepared.words
        own = {word for one in profile.alternatives for word in one.words}
        asked = [i for i, word in enumerate(words.words) if word in own]
        stems = read.stems[run.first : run.end]
        return any(words.compare(one)[:, asked].max() >= LEAST_EVIDENCE for one in stems)

    def _presence(self, above: F32, found: Sequence[Found]) -> dict[str, float]:
        marked = {one.feature for one in found}
        probabilities = {}
        for j, feature in enumerate(self._features):
            highest = float(above[:, j].max()) if len(above) else -math.inf
            # Where a rule struck the stretch out, the highest logit is no evidence of presence.
            highest = highest if feature in marked else min(highest, 0.0)
            probabilities[feature] = self._decision.presence(highest)
        return probabilities


def _logit(p: float) -> float:
    p = min(max(p, 1e-3), 1 - 1e-3)
    return math.log(p / (1 - p))
