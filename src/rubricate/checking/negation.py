"""The rule about negated lists: an item marked without the negation it shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rubricate.checking.findings import JudgedRow, RawSpans, Repair, RuleHit, feature_traits
from rubricate.spans import Span, merge_spans
from rubricate.text.negation import NegationScope, find_negations

#: So few words are an item even where only commas join the list.
LONGEST_ITEM = 3

#: Words that say "there is none" or "all is well" without a cue; and verbs, because words with a
#: verb are a statement of their own, not an item.
_SELF_SUFFICIENT = re.compile(
    r"\b(?:no|not|none|no-?one|nobody|nothing|never|nil|neither|nor|non\w*|without|w/o|den\w{1,4}"
    r"|neg|negatives?|absent|absence|lack\w*|free|un\w+|in\w+tive|a?febrile|afeb|cannot|cant|dont"
    r"|doesnt|didnt|isnt|wasnt|refut\w+|refus\w+|stop\w*|quit|abst\w+|same|steady|stable|normal\w*"
    r"|nl|wnl|good|well|fine|ok|okay|regular\w*|usual|intact|clear|supple|dry|tolerat\w+|holds?"
    r"|keeps?|0\w*|zero|last|only|is|are|was|were|am|be|been|has|have|had|does|did|do|can|could"
    r"|will|would|feels?|felt|stays?|stayed|remains?|gets?|got|takes?|took|uses|used|goes|went"
    r"|eats?|sleeps?|walks?|sees?|hears?|says?|reports?|states?|endorses?|admits?|notes?|noticed"
    r"|complains?|helps?|helped|failed|positive|pos)\b"
    r"|n['’]t\b|[+↑↓↔Ø∅ø]|\(-\)|-ve\b|(?<!\w)-\w",
    re.IGNORECASE,
)
#: Cues that govern every item of a list, whatever joins them.
_FIRM = re.compile(r"(?:den|neg|without|w/o|absence|pertinent|relevant|free|lack)", re.IGNORECASE)
_TO_DROP = re.compile(r"\s+(?:any|recent|ever)$", re.IGNORECASE)
_MODIFIERS = re.compile(
    r"(?:\s*\b(?:any|recent|new|significant|associated|assoc|known|history\s+of|hx\s+of|hx|h/o|of|the"
    r"|other|current|further|prior|previous|for|having|had|have)\b)*[\s:]*",
    re.IGNORECASE,
)
#: The end of what stands before an item: a joint, and perhaps one word of the item not marked.
_JOINT = re.compile(
    r"(?:(?P<comma>,)\s*)?(?P<word>\b(?:and|or|nor)\b|/|&|(?(comma)|,))\s*(?:\b\w+\s+)?$",
    re.IGNORECASE,
)
_LIST_GOES_ON = re.compile(r"[^.;:\n\r|]{0,60}?\b(?:or|nor)\b", re.IGNORECASE)
_MISSPELT = frozenset("".join(sorted(word)) for word in ("denies", "denied", "without", "never"))


def find_negation_left_out(row: JudgedRow) -> Iterator[RuleHit]:
    """Find items of a negated list, marked for a negative feature without the negation.

    The guidelines have each item of "negative for fever, chills" marked together with "negative
    for". The repair adds the negation as a fragment; it is safe where the list leaves no doubt
    that the item belongs to it.
    """
    traits = feature_traits(row.feature)
    if not traits.is_negative:
        return
    text = row.note.text
    for i, spans in row.sound:
        if _is_self_sufficient(" ".join(text[start:end] for start, end in spans)):
            continue
        scope = _scope_of(text, spans)
        if scope is None:
            continue
        safe = _is_sure(text, spans, scope, traits.words)
        if safe is None:
            continue
        cue = _TO_DROP.sub("", scope.cue_span.text(text))
        added = Span(scope.cue_span.start, scope.cue_span.start + len(cue))
        merged = merge_spans([added, *(Span(start, end) for start, end in spans)])
        repaired = tuple((span.start, span.end) for span in merged)
        message = f"leaves out the negation at {added.start} {added.end} that it shares"
        yield RuleHit(i, message, Repair("respan", repaired, safe=safe))


def _is_self_sufficient(words: str) -> bool:
    if _SELF_SUFFICIENT.search(words):
        return True
    return any("".join(sorted(word)) in _MISSPELT for word in words.lower().split())


def _scope_of(text: str, spans: RawSpans) -> NegationScope | None:
    """Return the negation whose scope holds all of the spans, if there is one only."""
    first, last = spans[0][0], spans[-1][1]
    scopes = [
        scope
        for scope in _negations(text)
        if scope.kind == "negation"
        and scope.scope_span.start <= first
        and last <= scope.scope_span.end
    ]
    return scopes[0] if len(scopes) == 1 else None


@lru_cache(maxsize=16)
def _negations(text: str) -> tuple[NegationScope, ...]:
    """Cache, because rows come note by note and each note has several negative features."""
    return tuple(find_negations(text))


def _is_sure(
    text: str, spans: RawSpans, scope: NegationScope, words: frozenset[str]
) -> bool | None:
    """Tell whether the span is surely an item of the list; None if it surely is not."""
    first, last = spans[0][0], spans[-1][1]
    cue = scope.cue_span
    if cue.start >= last:
        return True if _MODIFIERS.fullmatch(text, last, cue.start) else None
    between = text[cue.end : first]
    if _MODIFIERS.fullmatch(between):
        return True
    joint = _JOINT.search(between)
    if joint is None:
        return False
    word = joint["word"].lower()
    if word in {"or", "nor", "/"} or _FIRM.match(text, cue.start):
        return True
    if word in {"and", "&"}:
        return None
    is_asked = not words.isdisjoint(re.findall(r"[^\W_]{4,}", text[first:last].lower()))
    is_short = len(text[first:last].split()) <= LONGEST_ITEM
    return is_short or is_asked or _LIST_GOES_ON.match(text, last) is not None
