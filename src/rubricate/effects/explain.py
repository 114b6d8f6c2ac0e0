"""Reasons of a decision: proposals of matchers, claims of rules, and the one that decided."""

from __future__ import annotations

from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.effects.decisions import read_by_lexicon
from rubricate.errors import UnknownNameError
from rubricate.matchers import SHIPPED_MODELS, make_matcher
from rubricate.matchers.literal import claim_mentions
from rubricate.matchers.predictions import Decided, NoteReader, in_plain_words, watching
from rubricate.reading.clean import clean_text
from rubricate.requirement.requirement import read_requirement
from rubricate.rubric import Feature, Rubric
from rubricate.rules.claims import Item, every_claim
from rubricate.rules.findings import Candidate, Claim
from rubricate.rules.findings import Proposal as Offer
from rubricate.rules.reasons import in_words

#: The networks of a matcher, in the order in which they read.
_READERS = {"fast": ("fast",), "accurate": ("accurate",), "cascade": ("fast", "accurate")}


class Proposal(NamedTuple):
    """The proposal of one matcher, before the rules.

    ``found`` and ``against`` are places of words; ``presence`` is the probability that the note
    states the feature, ``contradiction`` that it says otherwise.
    """

    by: str
    found: tuple[tuple[int, int], ...]
    presence: float | None
    against: tuple[tuple[int, int], ...]
    contradiction: float | None
    decided: str


class Explanation(NamedTuple):
    """A decision with all that led to it; ``evidence`` are the words it rests on.

    ``stage`` is the number in the table of precedence at which ``decided_by`` decided.
    """

    feature: str
    matcher: str
    outcome: str
    probability: float | None
    evidence: tuple[tuple[int, int], ...]
    reasons: tuple[str, ...]
    decided_by: str
    stage: int
    proposals: tuple[Proposal, ...]
    claims: tuple[Claim, ...]


def explain(text: str, feature: str, *, matcher: str = "lexicon") -> Explanation:
    """Return the reasons for the decision on a feature of a note.

    ``matcher`` is ``lexicon``, or a network that comes with the package.

    >>> said = explain("Pain in the left knee. T 36.9, HR 124", "Tachycardia")
    >>> said.outcome, said.decided_by, said.claims[0].said
    ('stated', 'measured.states', 'HR 124')
    >>> explain("Pain in the left knee.", "Right knee pain").claims[0].rule
    'side.other'
    """
    if matcher not in ("lexicon", *_READERS):
        raise UnknownNameError("matcher to explain", matcher, ["lexicon", *_READERS])
    rubric = Rubric("c", (Feature("1", "c", feature),))
    note = Note("note", "c", text)
    with watching() as decided:
        if matcher == "lexicon":
            list(read_by_lexicon(rubric, [note]))
        else:
            name, parameters = SHIPPED_MODELS[matcher]
            reader = make_matcher(name, **parameters)
            assert isinstance(reader, NoteReader)
            list(reader.read(rubric, [note]))
    last = decided[-1]
    item, offer = last.items["1"], last.proposed.items.get("1", Offer())
    (asked,) = in_plain_words(rubric, lambda feature: False)
    against = offer.against
    spoken = offer.candidates or ([Candidate(against.spans, 0.0, ())] if against else [])
    mentions = None if matcher == "lexicon" else claim_mentions
    plain, author = read_requirement(asked.text), read_requirement(feature)
    asking = Item("1", plain, author, clean_text(text), text, mentions)
    own = item.evidence or ([item.against] if item.against is not None else [])
    # The cascade decides once more about what both networks found.
    read = decided[:-1] if matcher == "cascade" else decided
    readers = ("lexicon", *_READERS.get(matcher, ()))
    return Explanation(
        feature,
        matcher,
        item.outcome,
        item.probability,
        tuple(span for one in own for span in one.spans),
        tuple(dict.fromkeys(in_words(*one.reasons) for one in own)),
        item.decided_by,
        item.stage,
        tuple(_proposal(one, by) for one, by in zip(read, readers, strict=False)),
        tuple(dict.fromkeys(every_claim(asking, spoken, against))),
    )


def _proposal(decided: Decided, by: str) -> Proposal:
    offer = decided.proposed.items.get("1", Offer())
    against = offer.against
    return Proposal(
        by,
        tuple(span for one in offer.candidates for span in one.spans),
        offer.presence,
        () if against is None else against.spans,
        None if against is None else against.probability,
        decided.items["1"].outcome,
    )
