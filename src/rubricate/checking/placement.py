"""Rules about where an annotation lies and what it belongs to: range, fragments, list, feature."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from rubricate.checking.findings import JudgedRow, RawSpans, Repair, RuleHit, feature_traits
from rubricate.reading.negation import NegationScope, find_negations
from rubricate.rows import NO_DETAIL
from rubricate.spans import Span, merge_spans, words_at

_APOSTROPHES = "'’"
_ZERO_WIDTH_JOINER = "\u200d"


def is_joined(text: str, place: int) -> bool:
    """Tell whether the characters before and after a place belong to one word or number.

    Letters join letters, digits join digits, ``n't`` and decimal marks hold together, and a
    combining mark joins what it marks. A digit does not join a letter (``58M``), nor a small
    letter a capital (``yoF``), nor do letters of scripts that put no spaces between words.

    >>> [is_joined("hot 58M 2.5", place) for place in (1, 3, 5, 6, 9, 10)]
    [True, False, True, False, True, True]
    """
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        if before.isalpha() and after.isalpha():
            return not (before.islower() and after.isupper())
        if before.isdigit() and after.isdigit():
            return True
    elif _joins_always(before, after):
        return True
    elif before.isalpha() and after.isalpha():
        return _is_cased(before) and _is_cased(after) and not (before.islower() and after.isupper())
    return _is_inner_mark(text, place) or _is_inner_mark(text, place - 1)


def word_around(text: str, place: int) -> tuple[int, int]:
    """Return the word that holds the character at a place, as a half-open pair.

    >>> word_around("has hot flashes", 5)
    (4, 7)
    """
    start, end = place, place + 1
    while is_joined(text, start):
        start -= 1
    while is_joined(text, end):
        end += 1
    return start, end


def _joins_always(before: str, after: str) -> bool:
    if before == _ZERO_WIDTH_JOINER or after == _ZERO_WIDTH_JOINER:
        return not (before.isspace() or after.isspace())
    # Mn, Mc, Me are marks on the letter before; Sk holds the skin tones of emoji.
    return not before.isspace() and (
        unicodedata.category(after)[0] == "M" or "\U0001f3fb" <= after <= "\U0001f3ff"
    )


def _is_cased(letter: str) -> bool:
    return unicodedata.category(letter) in {"Ll", "Lu", "Lt", "Lm"}


def _is_inner_mark(text: str, place: int) -> bool:
    """Tell whether the character at a place is the mark inside ``n't`` or ``2.5``."""
    if not 0 < place < len(text) - 1:
        return False
    mark, before, after = text[place], text[place - 1], text[place + 1]
    if mark in ".,":
        return before.isdigit() and after.isdigit()
    if mark in _APOSTROPHES:
        ends = place + 2 >= len(text) or not text[place + 2].isalpha()
        return before in "nN" and after in "tT" and ends
    return False


#: Text found at most this many characters from its location is meant, not a repetition of it.
LARGEST_SLIP = 20
#: Stated text that begins or ends inside a word is looked for only if it is this long.
SHORTEST_PART = 4
#: With more ways than this to cut the stated text into fragments none is tried.
MOST_CUTS = 2000


def find_out_of_range(row: JudgedRow) -> Iterator[RuleHit]:
    """Find spans that are not inside their note."""
    length = len(row.note.text)
    for i, marked in enumerate(row.annotations):
        if all(0 <= start < end <= length for start, end in marked.spans):
            continue
        message = f"not inside the note: need 0 <= start < end <= {length}"
        stated = marked.detail.stated_text
        located = None if stated is None else locate(row.note.text, stated, marked.spans)
        if located is not None:
            yield RuleHit(i, message, Repair("respan", located))
            continue
        inside = tuple((max(s, 0), min(e, length)) for s, e in marked.spans)
        clamped = tuple((s, e) for s, e in inside if s < e)
        # Nobody knows what the missing characters were, so cutting them off is only proposed.
        yield RuleHit(i, message, Repair("respan", clamped, safe=False) if clamped else None)


def find_text_mismatch(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations whose stated text is not the text at their location."""
    text = row.note.text
    for i, marked in enumerate(row.annotations):
        stated, spans = marked.detail.stated_text, marked.spans
        if stated is None or not all(0 <= s < e <= len(text) for s, e in spans):
            continue
        located = locate(text, stated, spans)
        message = "the text stated for it differs from the text at its location"
        yield RuleHit(i, message, None if located is None else Repair("respan", located))


def find_overlapping_fragments(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations whose own fragments overlap, repeat or touch."""
    for i, spans in row.sound:
        if any(later[0] <= earlier[1] for earlier, later in itertools.pairwise(spans)):
            merged = merge_spans(Span(start, end) for start, end in spans)
            repair = Repair("respan", tuple((span.start, span.end) for span in merged))
            yield RuleHit(i, "fragments of one annotation overlap or touch", repair)


def find_no_words(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations without a span, or of nothing but white space and punctuation."""
    for i, marked in enumerate(row.annotations):
        if not marked.spans:
            yield RuleHit(i, "has no span", Repair("remove", safe=False))
    for i, spans in row.sound:
        if not any(has_words(row.note.text[start:end]) for start, end in spans):
            yield RuleHit(i, "marks no word, number or sign", Repair("remove", safe=False))


_WORDLESS = re.compile(r"[\s.,;:!?…'\"‘’“”()\[\]{}\-–—_/\\|*•·]*")


def has_words(text: str) -> bool:
    """Tell whether a text holds anything but white space and punctuation.

    Signs that stand for words in notes (``+``, ``↑``, ``♀``, ``Ø``) count as words.
    """
    return _WORDLESS.fullmatch(text) is None


def locate(text: str, stated: str, spans: RawSpans) -> RawSpans | None:
    """Return the one place where the stated text must have been meant, or None.

    That is, first of all, its location, if they differ in white space or capitals only. Else the
    place where it stands in whole words within `LARGEST_SLIP` characters of the location, if
    there is one only; else the only place where it stands in the note. A text of several
    fragments is looked for fragment by fragment.

    >>> locate("no fever, no chills", "no chills", ((9, 18),))
    ((10, 19),)
    >>> locate("denies fever, chills", "denies chills", ((1, 7), (15, 20)))
    ((0, 6), (14, 20))
    """
    wanted = stated.split()
    if not wanted:
        return None
    inside = all(0 <= start < end <= len(text) for start, end in spans)
    covered = words_at(spans, text).split()
    if inside and [w.casefold() for w in covered] == [w.casefold() for w in wanted]:
        return spans
    whole = _occurrences(text, wanted)
    if whole:
        place = _only(whole, spans[0][0] if spans else None)
        return None if place is None else (place,)
    return _locate_fragments(text, wanted, spans) if len(spans) > 1 else None


def _occurrences(text: str, words: list[str]) -> list[tuple[int, int]]:
    """Return the place of the words, as whole words and in the same capitals if possible."""
    body = r"\s+".join(re.escape(word) for word in words)
    for flags in (0, re.IGNORECASE):
        found = [match.span(1) for match in re.finditer(f"(?=({body}))", text, flags)]
        whole = [(s, e) for s, e in found if not (is_joined(text, s) or is_joined(text, e))]
        if whole:
            return whole
        if found and flags == 0 and sum(map(len, words)) >= SHORTEST_PART:
            return found
    return []


def _only(places: list[tuple[int, int]], start: int | None) -> tuple[int, int] | None:
    """Return the only place near the start or, with none near, the only place at all."""
    if start is not None:
        near = [place for place in places if abs(place[0] - start) <= LARGEST_SLIP]
        if near:
            return near[0] if len(near) == 1 else None
    return places[0] if len(places) == 1 else None


def _locate_fragments(text: str, words: list[str], spans: RawSpans) -> RawSpans | None:
    """Cut the words into as many runs as there are fragments, each near its fragment."""
    cuts = itertools.combinations(range(1, len(words)), len(spans) - 1)
    found: list[tuple[int, RawSpans]] = []
    for number, cut in enumerate(cuts):
        if number == MOST_CUTS:
            return None
        bounds = (0, *cut, len(words))
        places: list[tuple[int, int]] = []
        for (first, last), (start, _) in zip(itertools.pairwise(bounds), spans, strict=True):
            place = _only(_occurrences(text, words[first:last]), start)
            if place is None or abs(place[0] - start) > LARGEST_SLIP:
                break
            if places and place[0] < places[-1][1]:
                break
            places.append(place)
        else:
            slip = sum(abs(p[0] - s[0]) for p, s in zip(places, spans, strict=True))
            found.append((slip, tuple(places)))
    found.sort()
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return None
    return found[0][1]


def find_foreign_feature(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations, and rows, of a feature of another case.

    The annotation goes to the feature of the note's own case that has the same text, if there is
    one only; else removing it is proposed.
    """
    if row.feature.case == row.note.case:
        return
    message = f"feature of case {row.feature.case}, but the note is of case {row.note.case}"
    wanted = _folded(row.feature.text)
    same = [feature.id for feature in row.own_features if _folded(feature.text) == wanted]
    for i in range(len(row.annotations)):
        is_known = len(same) == 1
        repair = Repair("move", feature_id=same[0]) if is_known else Repair("remove", safe=False)
        yield RuleHit(i, message, repair)
    if not row.annotations:
        yield RuleHit(None, message, Repair("remove", safe=False))


def _folded(text: str) -> str:
    return " ".join(text.replace("-", " ").casefold().split())


def find_repeated(row: JudgedRow) -> Iterator[RuleHit]:
    """Find annotations with the same spans as an earlier one of the same row."""
    earlier: dict[object, int] = {}
    for i, marked in enumerate(row.annotations):
        first = earlier.setdefault(marked.spans, i)
        if first == i:
            continue
        kept = row.annotations[first].detail
        # Of two that say different things about the same words a person must choose.
        safe = marked.detail == kept or NO_DETAIL in (marked.detail, kept)
        dropped = first if kept == NO_DETAIL and safe else i
        yield RuleHit(dropped, "repeats another annotation", Repair("remove", safe=safe))
        earlier[marked.spans] = i if dropped == first else first


def find_marked_again(row: JudgedRow) -> Iterator[RuleHit]:
    """Find ages and genders marked again after the first time."""
    traits = feature_traits(row.feature)
    if not (traits.is_age or traits.is_gender):
        return
    for i, _ in row.sound[1:]:
        yield RuleHit(i, "age or gender marked again after its first mention", Repair("remove"))


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
        if _is_self_sufficient(words_at(spans, text)):
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
