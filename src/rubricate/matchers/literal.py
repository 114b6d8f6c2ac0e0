"""Literal mentions: where a feature's own wording stands in the note, and what takes it back.

A literal mention beats a matcher's silence. Where a matcher says that the note contradicts the
feature, the item goes to review. Words that only speak of the matter (in case, feared, over,
another person's) state nothing, whoever found them: "Return if chest pain" has the words "chest
pain" and states none. Which words take a mention back is data: ``knowledge/mention_cues.tsv``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.knowledge.rows import table_rows
from rubricate.lexicon.groups import NARROWER
from rubricate.lexicon.store import load_default_lexicon
from rubricate.matchers.wording.synonyms import content_stems
from rubricate.reading.clauses import CONTRASTS
from rubricate.reading.note import NoteReading, find_place, read_note
from rubricate.reading.opposites import EMPTY_WORDS
from rubricate.reading.tokens import CueTable, Token, american, stem
from rubricate.requirement.alternative import Alternative, read_wording
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rules.claims import Item
from rubricate.rules.findings import Against, Candidate, Claim
from rubricate.rules.reasons import Reason
from rubricate.rules.registry import RULES, broken_rule, explain_contradiction
from rubricate.spans import any_overlap

_CONTEXT_REASONS = {
    "family": Reason("person.family"),
    "other": Reason("person.other", "another"),
    "hypothetical": Reason("modality.hypothetical"),
    "uncertain": Reason("modality.feared"),
}


#: That something is normal says little of a thing named beside it: "fine tremor".
_RULES = tuple(rule for rule in RULES if rule != "normal")


class Mention(NamedTuple):
    """Words of a note that are a feature's own, and why they do not state it; None where they do.

    ``sure``: whether that is sure enough to strike what a matcher found there. ``by`` names what
    took the words back.
    """

    start: int
    end: int
    why: Reason | None = None
    sure: bool = True
    by: str = ""


class Cue(NamedTuple):
    """A row of the table: words that take a mention back, with an example.

    ``reach`` tells how far the mention may be away: ``beside`` (nothing between), ``next`` (one
    word), ``item`` and ``clause`` (no comma between), ``list`` (commas, but no word of side
    ``end``), ``statement``. Words of side ``start`` count where a statement begins with them;
    words of side ``self`` and ``other`` tell who writes. Words of side ``spared`` take nothing
    back, though shorter ones among them do: "no change in".
    """

    reason: str
    side: str
    reach: str
    phrase: str
    sure: str
    guarded: str
    stands: str


@cache
def mention_cues() -> tuple[Cue, ...]:
    """Return the cues that take a mention back, and those that end their reach."""
    return tuple(Cue(*row) for row in table_rows("mention_cues.tsv"))


@cache
def _table(side: str) -> CueTable:
    return CueTable({c.phrase: str(i) for i, c in enumerate(mention_cues()) if c.side == side})


class _NoteCue(NamedTuple):
    """A cue by its tokens; ``spared`` is the end of a phrase of that side that begins with it."""

    cue: Cue
    first: int
    end: int
    spared: int


def _cues_in(reading: NoteReading) -> tuple[tuple[_NoteCue, ...], tuple[_NoteCue, ...]]:
    """Return the cues of a note by side."""
    tokens, rows = reading.tokens, mention_cues()
    found: dict[str, list[_NoteCue]] = {"before": [], "after": []}
    openings = {
        next((i for i in range(first, len(tokens)) if tokens[i].kind == "word"), first)
        for first in (bisect_left(reading.starts, start) for start in reading.statements)
    }
    everywhere = range(len(tokens))
    for side, places, own in (
        ("before", everywhere, found["before"]),
        ("after", everywhere, found["after"]),
        ("start", sorted(openings.intersection(everywhere)), found["before"]),
    ):
        table = _table(side)
        for i in places:
            hit = table.at(tokens, i) if tokens[i].form in table else None
            if hit is not None:
                longer = _table("spared").at(tokens, i)
                own.append(_NoteCue(rows[int(hit[0])], i, hit[1], longer[1] if longer else 0))
    return tuple(found["before"]), tuple(found["after"])


@lru_cache(maxsize=4096)
def _stems_sought(words: str, *, plainly_negated: bool) -> tuple[str, ...]:
    """Return the stems that stand in a row where some words do."""
    forms = [word.form for word in read_wording(words).words]
    forms = forms[1:] if plainly_negated else forms
    return tuple(stem(form) for form in forms if form not in EMPTY_WORDS)


#: A note of so few words is a fragment, in which matchers that read whole notes see little.
_FRAGMENT = 25
#: So many words for oneself make a note its writer's own story.
_LEAST_SELF = 2


def is_unlike_notes(reading: NoteReading) -> bool:
    """Tell whether a text is a patient's own story or a fragment, which few matchers know.

    >>> from rubricate.reading.note import read_note
    >>> is_unlike_notes(read_note("I had chest pain, and my back ached."))
    True
    """
    tokens = [token for token in reading.tokens if token.kind != "mark"]
    themselves = sum(token.form in _table("self") for token in tokens)
    others = sum(token.form in _table("other") for token in tokens)
    return len(tokens) < _FRAGMENT or (themselves >= _LEAST_SELF and themselves > others)


def find_mentions(
    words: str, asked: Alternative, reading: NoteReading, *, exact: bool = False
) -> Iterator[Mention]:
    """Yield where words for what a feature asks for stand in a note, in order and in a clause.

    The words may have other endings and spellings; if ``exact``, only that of a plural.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.alternative import read_alternative
    >>> text = "Chest pain today. Return if chest pains. No chest pain before."
    >>> asked = read_alternative("Chest pain")
    >>> for one in find_mentions("Chest pain", asked, read_note(text)):
    ...     print(text[one.start : one.end], one.why and one.why.code)
    Chest pain None
    chest pains modality.hypothetical
    chest pain polarity.denied
    """
    for inside in _places(words, asked, reading, exact=exact):
        start, end = reading.starts[inside[0]], reading.tokens[inside[-1]].end
        taken = list(_taken_back(asked, reading, inside, start, end))
        why, sure, by = next((one for one in taken if one[1]), (*taken, (None, True, ""))[0])
        yield Mention(start, end, why, sure, by)


def _places(
    words: str, asked: Alternative, reading: NoteReading, *, exact: bool
) -> Iterator[range]:
    """Yield the tokens that some words are, with nothing of their own between them."""
    sought = _stems_sought(words, plainly_negated=asked.plainly_negated)
    at, tokens = reading.places_of_stems, reading.tokens
    if not sought or any(one not in at for one in sought):
        return
    shorthand = len(sought) == 1 and words.isupper() and len(words) <= _LONGEST_SHORTHAND
    forms = _singulars(word.form for word in read_wording(words).words) if exact else None
    # "Left-handed" is not the left hand.
    participles = {stem(form) for form in asked.forms if form.endswith("ed")}
    for first in at[sought[0]]:
        inside = _follow(sought, tokens, first)
        if inside is None or reading.clause[first] != reading.clause[inside[-1]]:
            continue
        written = [tokens[i].form for i in inside]
        if participles and any(form in participles and form not in asked.forms for form in written):
            continue
        if forms is not None and not forms >= _singulars(written):
            continue
        start, end = tokens[first].start, tokens[inside[-1]].end
        if shorthand and not reading.text[start:end].isupper():
            continue
        # A hyphen makes the words a part of a longer one: "anti-anxiety", "pain-free".
        before, after = reading.text[max(0, start - 2) : start], reading.text[end : end + 2]
        joined = before[1:] == "-" and before[:1].isalnum()
        if not joined and not (after[:1] == "-" and after[1:].isalnum()):
            yield inside


_LONGEST_SHORTHAND = 4


def _singulars(forms: Iterable[str]) -> set[str]:
    return {american(form).removesuffix("s") for form in forms if form not in EMPTY_WORDS}


def _follow(sought: Sequence[str], tokens: Sequence[Token], first: int) -> range | None:
    """Return the tokens from the first on that are the words sought, with empty words between."""
    place = first
    for one in sought[1:]:
        place += 1
        while place < len(tokens) and (
            tokens[place].form == "-"
            or (tokens[place].form in EMPTY_WORDS and stem(tokens[place].form) != one)
        ):
            place += 1
        if place >= len(tokens) or stem(tokens[place].form) != one:
            return None
    return range(first, place + 1)


_TakenBack = tuple[Reason | None, bool, str]


def _taken_back(
    asked: Alternative, reading: NoteReading, inside: range, start: int, end: int
) -> Iterator[_TakenBack]:
    """Yield why words do not state what is asked for, whether for sure, and by what."""
    scopes = [reading.negations[i] for i in {reading.scope[i] for i in inside} if i >= 0]
    scopes = [one for one in scopes if one.kind == "negation"]
    if asked.plainly_negated:
        if not scopes:
            yield Reason("polarity.affirmed"), False, "affirmed"
        return
    if scopes and not asked.negated:
        near = any(start - one.cue_span.end in range(_NEAR_CUE) for one in scopes)
        yield Reason("polarity.denied"), near, "negation"
    for cue in _cues_around(reading, inside, start, end):
        if not _asked_itself(cue, asked):
            yield Reason(cue.reason, cue.phrase), cue.sure == "yes", f"cue:{cue.phrase}"
    for context in reading.contexts:
        scope = context.scope_span
        why = _CONTEXT_REASONS.get(context.kind)
        if why and scope.start <= start and end <= scope.end and not _about(context.kind, asked):
            yield why, False, f"context:{context.kind}"
    place = find_place(reading, [(start, end)])
    broken = None if place is None else broken_rule(asked, place, _RULES)
    if broken is not None:
        yield broken[1], False, f"rule:{broken[0]}"


#: A word for denial so many characters before words denies them, and nothing before them.
_NEAR_CUE = 2


def _about(kind: str, asked: Alternative) -> bool:
    if kind in ("family", "other"):
        return bool(asked.persons) or asked.any_relative
    return asked.about_advice


def _asked_itself(cue: Cue, asked: Alternative) -> bool:
    """Tell whether a feature is itself about what the cue says."""
    if cue.reason in ("modality.advised", "modality.feared") and asked.about_advice:
        return True
    if cue.reason.startswith("person.") and (asked.persons or asked.any_relative):
        return True
    return any(form in asked.forms and form not in EMPTY_WORDS for form in cue.phrase.split())


def _cues_around(reading: NoteReading, inside: range, start: int, end: int) -> Iterator[Cue]:
    """Yield the cues that reach some words."""
    tokens = reading.tokens
    headed = inside[-1] + 2 < len(tokens) and tokens[inside[-1] + 1].form == ":"
    first, last = reading.statement(start, end)
    if headed:  # What is said of a heading may stand in the next line.
        _, last = reading.statement(tokens[inside[-1] + 2].start)
    begin, stop = bisect_left(reading.starts, first), bisect_left(reading.starts, last)
    before, after = reading.once(_cues_in)
    for one in before:
        within = begin <= one.first and one.end <= inside[0]
        # "No change in" spares a headache, but not a "change in bowel habit".
        spared = 0 < one.spared <= inside[0]
        if within and not spared and _reaches(one.cue.reach, tokens[one.end : inside[0]]):
            yield one.cue
    for one in after:
        if inside[-1] < one.first < stop and not one.spared:
            between = tokens[inside[-1] + 1 : one.first]
            if headed and [token.form for token in between] == [":", ","]:
                between = []
            if _reaches(one.cue.reach, between):
                yield one.cue


def _reaches(reach: str, between: Sequence[Token]) -> bool:
    """Tell whether a cue reaches over some tokens."""
    if any(token.form in CONTRASTS for token in between):
        return False
    if reach == "statement":
        return True
    if reach == "beside":
        return not between
    if reach == "next":
        words = [token for token in between if token.form not in EMPTY_WORDS and token.form != ":"]
        return len(words) <= 1 and all(token.kind == "word" for token in words)
    if reach != "clause" and any(token.form in _table("end") for token in between):
        return False
    return reach == "list" or all(token.form != "," for token in between)


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
