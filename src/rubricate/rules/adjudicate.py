"""The one place that decides: proposals of matchers and claims of rules, by one table.

It sees words as places only, and never the text. ``precedence.tsv`` holds the order of the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rubricate.rules.findings import BY_MATCHER, Against, Candidate, Claim, ItemFinding, Proposal
from rubricate.rules.precedence import Row, Stage, stages
from rubricate.rules.reasons import Reason
from rubricate.spans import any_overlap

#: Gives the claims that answer some questions, about the candidates that are still believed and
#: the words that are taken for a contradiction.
Ask = Callable[[Sequence[str], Sequence[Candidate], Against | None], Sequence[Claim]]

#: Here what was noted of candidates is weighed.
WEIGHING = 60
#: From this stage on, what was decided of the words found counts like a proposal.
FINAL = 90


def adjudicate(
    proposal: Proposal,
    ask: Ask,
    profile: str,
    *,
    questions: frozenset[str] | None = None,
    first: int = 0,
    before: int = 100,
) -> ItemFinding:
    """Return the decision on a feature in a note.

    ``profile`` is a column of the table: whose proposal it is. Only the ``questions`` given are
    asked, and only stages from ``first`` on that are before ``before`` count.

    >>> own = Candidate(((8, 17),), 0.9, ())
    >>> left = Claim("side.other", "contradicts", own.spans, "left", own)
    >>> def ask(questions, candidates, against):
    ...     return [left] if "another side" in questions else []
    >>> said = adjudicate(Proposal((own,), 0.9), ask, "network")
    >>> said.outcome, said.probability, said.decided_by, said.stage
    ('contradicted', 0.05, 'side.other', 40)
    """
    item = _Item(proposal)
    noted: list[tuple[Row, Claim]] = []
    at = first
    for stage in stages(profile, questions):
        if stage.number < at or stage.number >= before:
            continue
        if noted and stage.number >= WEIGHING:
            at = item.weigh(noted) or at
            noted = []
            if stage.number < at:
                continue
        if stage.number >= FINAL:
            item.proposed, item.refuted = item.presence, ()
        if not any(map(item.fits, stage.when)):
            continue
        claims = ask(stage.questions, item.candidates or item.refuted, item.against)
        if claims:
            noted += [(row, one) for one in claims if (row := stage.noted.get(one.rule))]
            at = item.hear(stage, claims) or at
            if at > stage.number:
                noted = []
    if noted:
        item.weigh(noted)
    return ItemFinding(
        tuple(item.candidates), item.presence, item.against, item.decided_by, item.stage
    )


class _Item:
    """An item while it is decided.

    ``candidates`` are those still believed, ``refuted`` those of a contradiction. ``proposed`` is
    the presence from which rules raise or lower it.
    """

    __slots__ = ("against", "candidates", "decided_by", "presence", "proposed", "refuted", "stage")

    def __init__(self, proposal: Proposal) -> None:
        self.candidates: Sequence[Candidate] = proposal.candidates
        self.refuted: Sequence[Candidate] = ()
        self.against = proposal.against
        self.presence = self.proposed = proposal.presence
        said = proposal.against
        by_rule = said is not None and said.probability is None and bool(said.reasons)
        self.decided_by = said.reasons[0].code if said is not None and by_rule else BY_MATCHER
        self.stage = 0

    def fits(self, when: str) -> bool:
        """Tell whether the item is in the state in which a row counts."""
        if when == "found":
            return bool(self.candidates)
        if when == "any":
            return True
        if self.candidates:
            return False
        if when == "against":
            return self.against is not None
        return when == "unfound" or (
            self.against is not None and self.against.probability is not None
        )

    def hear(self, stage: Stage, claims: Sequence[Claim]) -> int:
        """Let the first row of a stage decide that may; return the stage that follows, if named."""
        for row in stage.rows:
            own = [one for one in claims if one.rule == row.rule]
            if not own or not self.fits(row.when):
                continue
            if row.level == "item":
                # Words that a row of this stage drops give way to those that state the feature.
                leaving = [x.of for x in claims if x.of is not None and x.rule in stage.dropping]
                self._decide(row, own, leaving)
                return row.next
            said_of = [one.of for one in own]
            left = [one for one in self.candidates if one not in said_of]
            if row.level == "all" and left:
                continue
            if row.effect == "contradicts":
                self._contradict(row, own[0])
                return row.next
            if left or row.level != "some":
                self._keep(left, row)
        return 0

    def weigh(self, noted: Sequence[tuple[Row, Claim]]) -> int:
        """Weigh what was noted of candidates; return the stage that follows, if named."""
        broken, gone = dict[Candidate, tuple[Row, Claim]](), dict[Candidate, Row]()
        denied, vouched, of_diagnosis = None, False, False
        for row, claim in noted:
            of_diagnosis = of_diagnosis or row.question == "diagnosis"
            if claim.of is None:
                denied = (row, claim)
            elif claim.effect == "contradicts":
                broken.setdefault(claim.of, (row, claim))
            elif claim.effect == "irrelevant":
                gone.setdefault(claim.of, row)
            else:
                vouched = True
        own, against = self.candidates, None
        left = [one for one in own if one not in gone]
        refuted = all(one in broken for one in left)
        if denied is not None and not left:
            against, own = denied, []
        elif of_diagnosis:
            against = next((broken[one] for one in left or own if one in broken), None)
            against = against if refuted and not vouched else None
        elif own and all(one in broken for one in own):
            against = broken[own[0]]
        elif refuted:
            left = []
        if against is not None:
            self.candidates = own
            self._contradict(*against)
            return 80
        if len(left) < len(own):
            by = next(iter(gone.values()), None) or next(iter(broken.values()))[0]
            self._keep(left, by)
        return 0

    def _decide(self, row: Row, claims: Sequence[Claim], leaving: Sequence[Candidate]) -> None:
        """Let a rule about the note decide; candidates that are ``leaving`` give way to it."""
        if row.effect == "contradicts":
            self._contradict(row, claims[0])
            return
        self.decided_by, self.stage = row.rule, row.stage
        if row.effect == "doubts":
            # Doubt moves the probability towards the middle, and tells of words in dispute.
            chance = self.proposed or 0.0
            self.presence = min(chance, row.p) if self.candidates else max(chance, row.p)
            if row.when == "network" and self.against is not None:
                reasons = (*self.against.reasons, claims[0].reason)
                self.against = self.against._replace(reasons=reasons)
            return
        chance, more = row.p, tuple[Reason, ...]()
        kept = [one for one in self.candidates or self.refuted if one not in leaving]
        self.presence = max(self.proposed or 0.0, chance)
        if row.then == "answers" and self.against is not None:
            chance = row.p if self.against.probability is None else self.against.probability
            self.presence, more = chance, self.against.reasons
        offered = [Candidate(one.spans, chance, (one.reason, *more)) for one in claims]
        overlap = any(any_overlap(one.spans, x.spans) for one in kept for x in claims)
        if (row.then == "keeps" and overlap) or (row.then == "stands" and kept):
            offered = []
        elif row.then in ("keeps", "replaces"):
            kept = []
        self.candidates, self.refuted, self.against = [*kept, *offered], (), None

    def _contradict(self, row: Row, claim: Claim) -> None:
        self.against = Against(claim.spans, None, (claim.reason,))
        self.refuted, self.candidates = self.candidates, ()
        self.presence = min(1.0 if self.proposed is None else self.proposed, row.p)
        self.decided_by, self.stage = row.rule, max(row.stage, self.stage)

    def _keep(self, left: Sequence[Candidate], row: Row) -> None:
        """Keep some candidates; without any the feature is as improbable as a row says."""
        if len(left) == len(self.candidates):
            return
        self.candidates = left
        if not left:
            self.presence = min(1.0 if self.proposed is None else self.proposed, row.p)
            self.decided_by, self.stage = row.rule, row.stage
