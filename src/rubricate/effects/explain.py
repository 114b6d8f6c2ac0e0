"""Reasons of a decision: proposals of matchers, claims of rules, and the one that decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.errors import UnknownNameError
from rubricate.matchers import SHIPPED_MODELS, make_matcher
from rubricate.matchers.holding import Held, watching
from rubricate.matchers.lexicon.matcher import findings_from_rubric
from rubricate.matchers.predictions import (
    Found,
    NoteFindings,
    NoteReader,
    in_plain_words,
    take_answers,
)
from rubricate.reading.clean import clean_text
from rubricate.reading.note import read_note
from rubricate.rows import Contradiction
from rubricate.rubric import Feature, Rubric
from rubricate.rules.claims import Claim, find_claims

#: What a decision is where no rule changes what a matcher proposes.
BY_MATCHER = "matcher"
#: The outcome that a claim of each effect leads to.
_OUTCOMES = {"states": "stated", "contradicts": "contradicted", "irrelevant": "not mentioned"}
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
    """A decision with all that led to it; ``evidence`` are the words it rests on."""

    feature: str
    matcher: str
    outcome: str
    probability: float | None
    evidence: tuple[tuple[int, int], ...]
    reasons: tuple[str, ...]
    decided_by: str
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
    cleaned = clean_text(text)
    with watching() as held:
        if matcher == "lexicon":
            plain = in_plain_words(rubric, lambda feature: False)
            said = take_answers(rubric, text, findings_from_rubric(plain, [cleaned])[0])
        else:
            name, parameters = SHIPPED_MODELS[matcher]
            reader = make_matcher(name, **parameters)
            assert isinstance(reader, NoteReader)
            said = next(iter(reader.read(rubric, [Note("note", "c", text)])))
    readers = ("lexicon", *_READERS.get(matcher, ()))
    proposals = tuple(_proposals(held, readers))
    (asked,) = in_plain_words(rubric, lambda feature: False)
    before = held[-1].before if held else said
    against = _against(before)
    spoken = [one.spans for one in before.found] or ([against] if against else [])
    claims = find_claims(asked, read_note(cleaned), spoken, against)
    outcome = _outcome(said)
    own: list[Found | Contradiction] = [*(said.found or said.contradictions.values())]
    return Explanation(
        feature,
        matcher,
        outcome,
        said.probabilities.get("1"),
        tuple(span for one in own for span in one.spans),
        tuple(dict.fromkeys(one.reason for one in own)),
        _decided_by(held, claims, outcome, by_rules=matcher == "lexicon"),
        proposals,
        tuple(dict.fromkeys(claims)),
    )


def _proposals(held: Sequence[Held], readers: Sequence[str]) -> Iterator[Proposal]:
    for one, by in zip(held, readers, strict=False):
        against = one.before.contradictions.get("1")
        yield Proposal(
            by,
            tuple(span for found in one.before.found for span in found.spans),
            one.before.probabilities.get("1"),
            _against(one.before),
            None if against is None else against.probability,
            _outcome(one.after),
        )


def _against(said: NoteFindings) -> tuple[tuple[int, int], ...]:
    one = said.contradictions.get("1")
    return () if one is None else one.spans


def _outcome(said: NoteFindings) -> str:
    other = "contradicted" if "1" in said.contradictions else "not mentioned"
    return "stated" if said.found else other


def _decision(said: NoteFindings) -> tuple[object, ...]:
    """Return the words that decide, and the probability."""
    spans = [one.spans for one in said.found]
    return spans, dict(said.contradictions), said.probabilities.get("1")


def _decided_by(
    held: Sequence[Held], claims: Sequence[Claim], outcome: str, *, by_rules: bool
) -> str:
    """Return the first claim that leads to the outcome, where a rule brought it about.

    The lexicon takes words for a contradiction by the same rules (``by_rules``).
    """
    if not held:
        return BY_MATCHER
    before, after = held[-1]
    if _outcome(after) != outcome:
        return "asked.answered"
    unchanged = _decision(before) == _decision(after)
    if unchanged and not (by_rules and outcome == "contradicted"):
        return BY_MATCHER
    fitting = (one.rule for one in claims if _OUTCOMES[one.effect] == outcome)
    return next(fitting, BY_MATCHER)
