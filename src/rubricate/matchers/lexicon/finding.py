"""Finding the features of one case in a note, with confidence and reason."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from rubricate.arrays import F32
from rubricate.lexicon.groups import Lexicon
from rubricate.matchers.lexicon.contradicting import ContradictionFinder, with_said
from rubricate.matchers.lexicon.crediting import CreditWords, Signs, default_credit
from rubricate.matchers.lexicon.model import CaseReader, LexiconModel, ReadNote
from rubricate.matchers.lexicon.reasons import Reasons
from rubricate.matchers.phrases.model import WINDOW
from rubricate.matchers.phrases.scanning import Hit, PhraseScanner, fold_text
from rubricate.matchers.predictions import NoteProposals
from rubricate.matchers.wording.case_model import WordSettings
from rubricate.matchers.wording.identity import other_identity
from rubricate.matchers.wording.naming import read_names
from rubricate.matchers.wording.reading import NoteColumns
from rubricate.matchers.wording.runs import (
    TokenRun,
    breaks_a_rule,
    find_runs,
    group_runs,
    is_cue,
    right_numbers,
    trim_run,
    whole_numbers,
)
from rubricate.reading.opposites import PERSONS
from rubricate.requirement.requirement import Requirement
from rubricate.rubric import Rubric
from rubricate.rules.findings import Against, Candidate, Proposal
from rubricate.rules.reasons import Reason
from rubricate.rules.registry import why_contradicted_in

#: How much the logit of a phrase's precision counts, and the most it may add.
PHRASE_WEIGHT = 1.0
MOST_ADDED = 4.0
#: A learned stretch this far above its cut is marked even if it is denied ("no period" may be what
#: a feature asks for without saying so).
INSISTS = 1.5
#: At most so likely is a feature that the note contradicts.
CONTRADICTED = 0.1
#: From the rubric alone, a feature without a stretch above the cut gets those so far below it.
JUST_BELOW = 1.8
#: Why what the rules strike out contradicts a feature.
RULE_REASONS = {
    "denied": Reason("polarity.denied"),
    "not denied": Reason("polarity.affirmed"),
    "wrong number": Reason("value.any_number"),
    "of a relative": Reason("person.family"),
}
#: Notes read together.
TOGETHER = 16


class CaseFinder:
    """Finds the features of one rubric in notes; without ``reasons`` where nobody reads them."""

    def __init__(
        self,
        rubric: Rubric,
        model: LexiconModel,
        settings: WordSettings,
        lexicon: Lexicon | None = None,
        *,
        reasons: bool = True,
    ) -> None:
        learned = model.cases.get(rubric.case)
        if learned is not None and len(learned.cuts) != len(rubric):
            learned = None
        self.reader = CaseReader(model.shared.prepare(rubric, lexicon), rubric, learned, settings)
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
        prepared = self.reader.prepared
        names = [read_names(profile, lexicon) for profile in prepared.words.profiles]
        self._contradicting = ContradictionFinder(prepared.words.profiles, prepared.words, names)
        self.credit = CreditWords(prepared.words.profiles, prepared.words, names)
        self._reasons = Reasons(self.reader, self._phrases, self._feature_of) if reasons else None

    def propose(self, texts: Sequence[str], profile: str = "lexicon") -> Iterator[NoteProposals]:
        """Yield the proposals for each note, to be decided by a profile if none was learned."""
        if self.reader.learned is not None:
            profile = "learned"
        for first in range(0, len(texts), TOGETHER):
            for read in self.reader.read(texts[first : first + TOGETHER]):
                yield NoteProposals(self._propose(read), profile)

    def _propose(self, read: ReadNote) -> dict[str, Proposal]:
        # What is written by hand or marked in other notes is looked for in folded text.
        folded = fold_text(read.reading.text) if self._phrases or self._reasons else ""
        above = self.above_cuts(read, self._scanner.scan(folded) if self._phrases else ())
        found: dict[int, list[Candidate]] = {}
        contradictions: dict[int, Against] = {}
        weighed: dict[int, float] = {}
        if len(read.reading):
            runs = self.runs(above, read.reading)
            for j, own_runs in enumerate(runs):
                own: list[Candidate] = []
                if not own_runs:
                    against = self._other_identity(j, read)
                elif self.reader.learned is not None or self.reader.prepared.words.profiles[j].kind:
                    own, against = self._annotations(j, own_runs, read, above, folded)
                else:
                    own, against, weighed[j] = self._credited(j, own_runs, read, above, folded)
                if own:
                    found[j] = own
                elif against is not None:
                    contradictions[j] = against
            missing = [
                j for j in range(len(self._features)) if j not in found and j not in contradictions
            ]
            contradictions.update(self._contradicting.find(read, missing))
        proposed: dict[str, Proposal] = {}
        highest = above.max(axis=0, initial=-math.inf).tolist()
        for j, feature in enumerate(self._features):
            if j in weighed:
                presence = default_credit().presence(weighed[j])
            else:
                # Where a rule removed the stretch, the highest logit is no evidence of presence.
                sure = highest[j] if j in found else min(highest[j], 0.0)
                presence = self._decision.presence(sure)
            presence = min(presence, CONTRADICTED) if j in contradictions else presence
            proposed[feature] = Proposal(tuple(found.get(j, ())), presence, contradictions.get(j))
        return proposed

    def runs(self, above: F32, reading: NoteColumns) -> list[list[TokenRun]]:
        """Return the runs of each feature above its cut; from the rubric alone also below it."""
        none = np.zeros(above.shape[1], dtype=np.float32)
        runs = find_runs(above, none, reading)
        for j, profile in enumerate(self.reader.prepared.words.profiles):
            # The pronoun that gives the gender is cut off other evidence.
            if profile.kind and not runs[j]:
                runs[j] = [TokenRun(t, t + 1) for t in np.flatnonzero(above[:, j] > 0).tolist()]
        if self.reader.learned is None:
            for own, below in zip(runs, find_runs(above, none - JUST_BELOW, reading), strict=True):
                clauses = {int(reading.clause[run.first]) for run in own}
                own += [run for run in below if int(reading.clause[run.first]) not in clauses]
                own.sort()
        return runs

    def candidates(
        self,
        j: int,
        runs: list[TokenRun],
        note: ReadNote,
        above: F32,
        credited: Sequence[Candidate] = (),
    ) -> Iterator[tuple[tuple[TokenRun, ...], Signs, Reason | None]]:
        """Yield what may be evidence of a feature, its signs, and why it contradicts it.

        What is below the cut comes last, and only as long as nothing is ``credited``.
        """
        profile, reading = self.reader.prepared.words.profiles[j], note.reading
        groups = [
            group
            for group in group_runs(runs, profile, reading)
            # A relative alone says nothing of what they have.
            if not all(note.forms[t] in PERSONS for r in group for t in range(r.first, r.end))
        ]
        column = above[:, j].tolist()
        logits = [[column[t] for r in group for t in range(r.first, r.end)] for group in groups]
        means = [sum(own) / len(own) for own in logits]
        highest = max(means, default=0.0)
        order = sorted(range(len(groups)), key=lambda i: means[i] <= 0)
        for group, own, mean in ((groups[i], logits[i], means[i]) for i in order):
            if mean <= 0 and credited:
                return
            struck_out = all(self._struck_out(j, run, note, above) for run in group)
            signs, why = self.credit.signs(
                j, group, note, own, behind=highest - mean, struck_out=struck_out
            )
            if why is not None and len(profile.alternatives) > 1:
                spans = [_span_of(run, reading) for run in group]
                why = why_contradicted_in(note.whole, profile, spans)
            yield group, signs, why

    def _credited(
        self, j: int, runs: list[TokenRun], note: ReadNote, above: F32, folded: str
    ) -> tuple[list[Candidate], Against | None, float]:
        """Return annotations of what earns credit, words that contradict, and the best logit."""
        profile = self.reader.prepared.words.profiles[j]
        found: dict[bool, list[Candidate]] = {True: [], False: []}
        against: Against | None = None
        best = -math.inf
        for own, signs, why in self.candidates(j, runs, note, above, found[True]):
            group = tuple(whole_numbers(run, profile, note.reading) for run in own)
            group = self._own_items(j, group, note)
            spans = tuple(_span_of(run, note.reading) for run in group)
            if why is not None:
                words = with_said(spans, why, note.reading.text)
                against = against or Against(words, None, (why,))
                continue
            other = self._contradicting.find_opposite(j, note, group)
            if other is not None:
                against = against or other
                continue
            # A phrase given by hand always earns the credit.
            cut = float(self.reader.cuts[j])
            given = any(
                (above[r.first : r.end, j] > note.logits[r.first : r.end, j] - cut + 0.5).any()
                for r in (group if self._phrases else ())
            )
            logit = MOST_ADDED if given else default_credit()(signs)
            best = max(best, logit)
            if logit > 0:
                reason = self._reason(j, group, note, folded)
                mean = _mean_inside(above, j, group)
                confidence = self._decision.span(mean)
                found[mean > 0].append(Candidate(spans, confidence, reason))
        # What is below the cut counts only where nothing above it earns the credit.
        credited = found[True] or found[False]
        if credited and against is None:
            words = tuple(span for one in credited for span in one.spans)
            against = self._contradicting.denied_elsewhere(j, note, words)
            credited = [] if against is not None else credited
        return credited, against, best

    def _own_items(
        self, j: int, group: tuple[TokenRun, ...], note: ReadNote
    ) -> tuple[TokenRun, ...]:
        """Leave out the items of a denied list that other features ask for."""
        tokens = [t for run in group for t in range(run.first, run.end)]
        listed = [t for t in tokens if note.scope[t] >= 0 > note.cue[t]]
        if len({note.item[t] for t in listed}) < 2:
            return group
        meant = self.credit.stands_for(j, listed, note)
        own = {note.item[t] for t in meant}
        if not own or own == {note.item[t] for t in listed}:
            return group
        left_out = {t for t in listed if note.item[t] not in own}
        runs: list[TokenRun] = []
        for t in sorted(set(tokens) - left_out):
            if runs and runs[-1].end == t:
                runs[-1] = TokenRun(runs[-1].first, t + 1)
            else:
                runs.append(TokenRun(t, t + 1))
        trimmed = (trim_run(run, note.reading) for run in runs)
        return tuple(run for run in trimmed if run is not None)

    def above_cuts(self, read: ReadNote, hits: Sequence[Hit]) -> F32:
        """Return the logits above the cuts, with the bonus of phrases that were hit."""
        above: F32 = read.logits - self.reader.cuts
        if not hits:
            return above
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
        return above + added

    def _annotations(
        self, j: int, runs: list[TokenRun], read: ReadNote, above: F32, folded: str
    ) -> tuple[list[Candidate], Against | None]:
        """Return the annotations of a feature, and the first words that contradict it."""
        profile: Requirement = self.reader.prepared.words.profiles[j]
        reading = read.reading
        kept: list[TokenRun] = []
        against: Against | None = None
        for run in runs:
            rule = self._struck_out(j, run, read, above)
            if not rule:
                kept.append(whole_numbers(run, profile, reading))
            elif against is None and rule in RULE_REASONS:
                against = self._contradiction(j, (_span_of(run, reading),), read, rule)
        found: list[Candidate] = []
        for group in group_runs(kept, profile, reading):
            spans = tuple(_span_of(run, reading) for run in group)
            if self._dropped and (j, " ".join(folded[a:b] for a, b in spans)) in self._dropped:
                continue
            mean = _mean_inside(above, j, group)
            if self._may_contradict(profile, mean):
                why = why_contradicted_in(read.whole, profile, spans)
                if why is not None:
                    words = with_said(spans, why, reading.text)
                    against = against or Against(words, None, (why,))
                    continue
            confidence = self._decision.span(mean)
            reason = self._reason(j, group, read, folded)
            found.append(Candidate(spans, confidence, reason))
        return found, against

    def _reason(
        self, j: int, group: Sequence[TokenRun], read: ReadNote, folded: str
    ) -> tuple[Reason, ...]:
        """Return the reasons why words are found for a feature; none if they are not asked for."""
        return () if self._reasons is None else self._reasons.of(j, group, read, folded)

    def _may_contradict(self, profile: Requirement, mean: float) -> bool:
        """Tell whether the rules against contradictions are asked about a stretch."""
        return not profile.kind and (self.reader.learned is None or mean < INSISTS)

    def _other_identity(self, j: int, read: ReadNote) -> Against | None:
        """Return the places where a note gives another age or gender than the feature asks for."""
        profile, reading = self.reader.prepared.words.profiles[j], read.reading
        token = other_identity(profile, reading) if profile.kind else None
        if token is None:
            return None
        number = int(reading.quantity[token]) if profile.kind == "age" else -1
        span = reading.quantities[number].span if number >= 0 else reading.tokens[token].span
        said = span.text(reading.text)
        return Against(((span.start, span.end),), None, (Reason("identity.other", said),))

    def _contradiction(
        self, j: int, spans: tuple[tuple[int, int], ...], read: ReadNote, rule: str
    ) -> Against:
        """Return the contradiction of a stretch that a rule struck out."""
        profile = self.reader.prepared.words.profiles[j]
        why = why_contradicted_in(read.whole, profile, spans)
        words = with_said(spans, why, read.reading.text)
        return Against(words, None, (why or RULE_REASONS[rule],))

    def _struck_out(self, j: int, run: TokenRun, read: ReadNote, above: F32) -> str:
        """Return the rule that removes a run, or an empty text."""
        profile = self.reader.prepared.words.profiles[j]
        rule = breaks_a_rule(run, profile, read.reading, read.stems)
        if rule in ("denied", "not denied", "of a relative") and self.reader.learned is not None:
            return rule if float(above[run.first : run.end, j].mean()) < INSISTS else ""
        if not rule and self.reader.learned is None and not profile.kind:
            # The run itself, not only what is near it, has a word or number asked for.
            if is_cue(run, read.reading) or right_numbers(run, profile, read.reading):
                return ""
            words, stems = self.reader.prepared.words, read.stems[run.first : run.end]
            return "" if any(words.is_evidence(one, j) for one in stems) else "no evidence"
        return rule


def _span_of(run: TokenRun, reading: NoteColumns) -> tuple[int, int]:
    return reading.tokens[run.first].start, reading.tokens[run.end - 1].end


def _mean_inside(above: F32, j: int, group: Sequence[TokenRun]) -> float:
    """Return the mean distance of words above the cut of feature ``j``."""
    parts = [above[run.first : run.end, j] for run in group]
    return float((parts[0] if len(parts) == 1 else np.concatenate(parts)).mean())


def _logit(p: float) -> float:
    p = min(max(p, 1e-3), 1 - 1e-3)
    return math.log(p / (1 - p))
