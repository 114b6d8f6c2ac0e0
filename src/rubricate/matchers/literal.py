"""Literal mentions: places where a feature's own wording stands in the note.

A literal mention beats a matcher's silence. Where a matcher says that the note contradicts the
feature, the item goes to review. Words that only speak of the matter (in case, feared, over,
another person's) state nothing, whoever found them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from rubricate.lexicon.groups import NARROWER
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.wording.synonyms import content_stems
from rubricate.reading.note import NoteReading, read_note
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rules.claims import Item
from rubricate.rules.explained import explain_contradiction
from rubricate.rules.findings import Against, Candidate, Claim
from rubricate.rules.mentions import Mention, find_mentions, is_unlike_notes
from rubricate.spans import any_overlap


def claim_mentions(
    item: Item, own: Sequence[Candidate], against: Against | None
) -> Iterator[Claim]:
    """Yield the claims of literal mentions of a feature.

    >>> text = "Sharp chest pain. Return if fever."
    >>> item = Item.of("Chest pain", text)
    >>> [one.rule for one in claim_mentions(item, [], None)]
    ['literal.own']
    >>> item = Item.of("Fever", text)
    >>> own = Candidate(((28, 33),), 0.9, ())
    >>> [(one.rule, one.reason.code) for one in claim_mentions(item, [own], None)]
    [('literal.guarded', 'modality.hypothetical')]
    """
    feature, reading = item.asked.text, read_note(item.clean)
    mentions = [
        mention
        for asked in _offered(feature)
        for mention in find_mentions(asked.text, asked, reading)
    ] or [
        mention
        for words, asked in _synonyms(feature)
        for mention in find_mentions(words, asked, reading, exact=True)
        if mention.why is None
    ]
    stating = next((one for one in mentions if one.why is None), None)
    if own:
        only = None if stating or not mentions else _only_mentions(reading, mentions, own)
        if only:
            first, sure = only[0], all(one.sure for one in only)
            spans = ((first.start, first.end),)
            if sure:
                yield Claim("literal.guarded", "contradicts", spans, why=first.why)
            else:
                yield Claim("literal.doubtful", "doubts", spans)
    elif stating is not None:
        spans = ((stating.start, stating.end),)
        if against is None or _quotes(item.asked, reading, against, stating):
            # Networks know how to read usual notes: there, words that they pass over are doubtful.
            if is_unlike_notes(reading):
                yield Claim("literal.own", "states", spans)
            else:
                yield Claim("literal.unsure", "doubts", spans)
        else:
            yield Claim("literal.disputed", "doubts", spans, item.clean[slice(*spans[0])])


def _only_mentions(
    reading: NoteReading, mentions: Sequence[Mention], own: Sequence[Candidate]
) -> list[Mention] | None:
    """Return the mentions that words found are; None where something else was found as well."""
    meant: list[Mention] = []
    for one in own:
        hit = [m for m in mentions if any_overlap(one.spans, [(m.start, m.end)])]
        inside = [reading.statement(m.start, m.end) for m in hit]
        within = all(
            any(first <= start and end <= last for first, last in inside)
            for start, end in one.spans
        )
        if not hit or not within:
            return None
        meant += hit
    return meant


def _quotes(asked: Requirement, reading: NoteReading, against: Against, stating: Mention) -> bool:
    """Tell whether a contradiction only quotes the words that state the feature."""
    if not any_overlap(against.spans, [(stating.start, stating.end)]):
        return False
    why = explain_contradiction(asked, reading, against.spans)
    return why is None or why.code.startswith("words.")


def _offered(feature: str) -> tuple[Alternative, ...]:
    """Return the wordings of a feature that a mention may state.

    Tests, orders, diagnoses thought of and return advice have rules of their own; age and gender
    stand in other words of the note.
    """
    asked = read_requirement(feature)
    own = asked.tests.tests or asked.wants_now or asked.wants_return_advice or asked.assessed[0]
    return () if own or asked.kind else asked.alternatives


#: Synonyms of one word have at least so many letters: shorter ones mean too much.
_LONG_WORD = 8


@lru_cache(maxsize=4096)
def _synonyms(feature: str) -> tuple[tuple[str, Alternative], ...]:
    """Return the exact synonyms of a feature's wordings, with what the wordings ask for."""
    lexicon, found = load_default_lexicon(), list[tuple[str, Alternative]]()
    for asked in _offered(feature):
        if asked.negated:
            continue
        for words, source in lexicon.synonyms(asked.text):
            n_content = len(content_stems(words))
            if source.endswith(NARROWER) or (n_content < 2 and len(words) < _LONG_WORD):
                continue
            if n_content > 1 or " " not in words:
                found.append((words, asked))
    return tuple(found)
