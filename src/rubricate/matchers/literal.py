"""Literal mentions: places where a feature's own wording stands in the note.

A literal mention beats a matcher's silence. Where a matcher says that the note contradicts the
feature, the item goes to review. Words that only speak of the matter (in case, feared, over,
another person's) state nothing, whoever found them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.lexicon.groups import NARROWER
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.predictions import OVERRULED, FindInNotes, Found, NoteFindings
from rubricate.matchers.wording.synonyms import content_stems
from rubricate.reading.note import NoteReading, read_note
from rubricate.requirement.alternative import Alternative
from rubricate.requirement.requirement import read_requirement
from rubricate.rows import Contradiction
from rubricate.rubric import Feature, Rubric
from rubricate.rules.explained import explain_contradiction
from rubricate.rules.mentions import Mention, find_mentions, is_unlike_notes
from rubricate.rules.reasons import Reason, in_words
from rubricate.spans import any_overlap

#: How probable a feature is that its own words state, where the matcher was silent.
LITERAL = 0.75
#: At most so probable is what was found in words that may only speak of the matter.
DOUBTFUL = 0.6
#: At least so probable is what a matcher takes for contradicted and the note's words state.
DISPUTED = 0.3


def with_mentions(
    find: FindInNotes, rubric: Rubric, but: Collection[str] = frozenset()
) -> FindInNotes:
    """Return the same search, held to the literal mentions of the features.

    ``rubric`` has the features in the words of their author: what only is to have been asked
    about, an answer of any kind states. Features in ``but`` are left as they were found.
    """
    left = {
        one.id for one in rubric if one.id in but or read_requirement(one.text).topic is not None
    }

    def find_held(plain: Rubric, notes: Sequence[Note]) -> Iterable[NoteFindings]:
        for note, findings in zip(notes, find(plain, notes), strict=True):
            yield hold_to_mentions(plain, read_note(note.text), findings, left)

    return find_held


def hold_to_mentions(
    rubric: Rubric, reading: NoteReading, findings: NoteFindings, but: Collection[str] = frozenset()
) -> NoteFindings:
    """Return the findings held to the literal mentions of all features but some.

    >>> rubric = Rubric("c", (Feature("1", "c", "Chest pain"), Feature("2", "c", "Fever")))
    >>> text = "Sharp chest pain. Return if fever."
    >>> found = [Found("2", ((28, 33),), 0.9, "network")]
    >>> said = hold_to_mentions(rubric, read_note(text), NoteFindings(found, {"1": 0.1, "2": 0.9}))
    >>> [(one.feature, one.reason) for one in said.found]
    [('1', 'its own words')]
    >>> said.probabilities, said.contradictions["2"].reason
    ({'1': 0.75, '2': 0.05}, 'only in case')
    """
    own: dict[str, list[Found]] = {}
    for one in findings.found:
        own.setdefault(one.feature, []).append(one)
    found = list(findings.found)
    probabilities, against = dict(findings.probabilities), dict(findings.contradictions)
    for feature in rubric:
        if feature.id in but:
            continue
        mentions = [
            mention
            for asked in _offered(feature.text)
            for mention in find_mentions(asked.text, asked, reading)
        ] or [
            mention
            for words, asked in _synonyms(feature.text)
            for mention in find_mentions(words, asked, reading, exact=True)
            if mention.why is None
        ]
        if not mentions:
            continue
        verdict = _judge(feature, reading, mentions, own.get(feature.id, []), against)
        if verdict == _Verdict():
            continue
        chance = probabilities.get(feature.id, 0.0)
        probabilities[feature.id] = min(max(chance, verdict.least), verdict.most)
        if verdict.struck:
            found = [one for one in found if one.feature != feature.id]
        if verdict.stating:
            span = (verdict.stating.start, verdict.stating.end)
            found.append(Found(feature.id, (span,), LITERAL, in_words(_OWN)))
        if verdict.stating or verdict.struck:
            against.pop(feature.id, None)
        if verdict.against is not None:
            against[feature.id] = verdict.against
    return NoteFindings(found, probabilities, against)


_OWN = Reason("literal.own")


class _Verdict(NamedTuple):
    """The effect of mentions: bounds of the probability, and new or struck findings."""

    least: float = 0.0
    most: float = 1.0
    stating: Mention | None = None
    struck: bool = False
    against: Contradiction | None = None


def _judge(
    feature: Feature,
    reading: NoteReading,
    mentions: Sequence[Mention],
    own: Sequence[Found],
    contradictions: dict[str, Contradiction],
) -> _Verdict:
    """Return the effect of the mentions of a feature."""
    stating = next((one for one in mentions if one.why is None), None)
    against = contradictions.get(feature.id)
    if own:
        only = None if stating else _only_mentions(reading, mentions, own)
        if not only:
            return _Verdict()
        if not all(one.sure for one in only):
            return _Verdict(most=DOUBTFUL)
        first, why = only[0], only[0].why
        words = "" if why is None else in_words(why)
        said = Contradiction(((first.start, first.end),), None, words)
        return _Verdict(most=OVERRULED, struck=True, against=said)
    if stating is None:
        return _Verdict()
    if against is None or _quotes(feature, reading, against, stating):
        believed = is_unlike_notes(reading)
        return _Verdict(LITERAL, stating=stating) if believed else _Verdict(DISPUTED)
    if against.probability is None:  # A rule says so.
        return _Verdict()
    also = Reason("literal.disputed", reading.text[stating.start : stating.end])
    return _Verdict(
        least=DISPUTED, against=against._replace(reason=f"{against.reason}; {in_words(also)}")
    )


def _only_mentions(
    reading: NoteReading, mentions: Sequence[Mention], own: Sequence[Found]
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


def _quotes(
    feature: Feature, reading: NoteReading, against: Contradiction, stating: Mention
) -> bool:
    """Tell whether a contradiction only quotes the words that state the feature."""
    if not any_overlap(against.spans, [(stating.start, stating.end)]):
        return False
    why = explain_contradiction(read_requirement(feature.text), reading, against.spans)
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
