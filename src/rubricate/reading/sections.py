"""Sections of a note and the headings that open them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.knowledge.tables import values, words
from rubricate.reading.clauses import is_dash, sentence_ranges
from rubricate.reading.tokens import Token, find_tokens
from rubricate.spans import Span

_BY_PHRASE = values("sections.headings")
_FIRST_WORDS = frozenset(phrase.split(" ")[0] for phrase in _BY_PHRASE)
_BARE = words("sections.bare")
_LONG = words("sections.long")
_SEPARATORS = words("sections.separators")
_BULLETS = words("sections.bullets")
_JOINTS = words("sections.joints")
_PRONOUNS = words("sections.pronouns")
_LONGEST = 5
_LONGEST_UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A heading and the text under it."""

    names: tuple[str, ...]
    heading: Span
    body: Span | None

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]


SECTION_NAMES = (*dict.fromkeys(_BY_PHRASE.values()), "other")


def find_sections(
    text: str,
    tokens: Sequence[Token] | None = None,
    sentences: Sequence[tuple[int, int]] | None = None,
) -> list[NoteSection]:
    r"""Return the headed sections of a text, in order; text before the first heading is in none.

    A heading is a known one (``PMH``, ``Family history``, ``Meds/All``) before a colon or a dash or
    alone on its line, or any few words before a colon at the start of a sentence (``other``).

    >>> text = "58M with CP.\nPMH: HTN. FHx: dad - MI\nMeds/All: none"
    >>> [(section.names, section.body.text(text)) for section in find_sections(text)]
    [(('past_medical',), 'HTN.'), (('family',), 'dad - MI'), (('medications', 'allergies'), 'none')]
    """
    if tokens is None:
        tokens = find_tokens(text)
    headings: list[tuple[int, int, int, tuple[str, ...]]] = []
    for first, end in sentence_ranges(text, tokens) if sentences is None else sentences:
        headings.extend(_headings_of_sentence(text, tokens, first, end))
    sections = []
    for k, (first, end, body, names) in enumerate(headings):
        limit = headings[k + 1][0] if k + 1 < len(headings) else len(tokens)
        while body < limit and (tokens[body].kind == "newline" or tokens[body].form in ",;:="):
            body += 1
        listed = first > 0 and tokens[first - 1].form in _BULLETS
        stop = _body_end(text, tokens, body, limit, listed=listed or _LONG.isdisjoint(names))
        inside = Span(tokens[body].start, tokens[stop - 1].end) if body < stop else None
        sections.append(NoteSection(names, Span(tokens[first].start, tokens[end - 1].end), inside))
    return sections


def _headings_of_sentence(
    text: str, tokens: Sequence[Token], first: int, end: int
) -> list[tuple[int, int, int, tuple[str, ...]]]:
    """Return (first token, end, first token of the body, names) for each heading."""
    found = []
    while first < end and tokens[first].kind == "mark":
        first += 1
    start = opening = first
    for i in range(first, end):
        if tokens[i].form == ":" and i > start:
            known = _known_before(tokens, start, i)
            if known is not None:
                found.append((known[0], i, i + 1, known[1]))
            elif start == opening and _looks_headed(text, tokens, start, i):
                found.append((start, i, i + 1, ("other",)))
            start = i + 1
        elif tokens[i].form == ";":
            start = opening = i + 1
    if not found or found[0][0] != first:
        bare = _bare_heading(text, tokens, first, end)
        if bare is not None:
            found.insert(0, bare)
    return found


def _known_before(
    tokens: Sequence[Token], start: int, colon: int
) -> tuple[int, tuple[str, ...]] | None:
    """Return the longest known heading that ends at the colon."""
    for first in range(max(start, colon - 2 * _LONGEST), colon):
        if tokens[first].kind == "mark":
            continue
        names = _names_of(tokens[first:colon])
        if not names:
            continue
        if first == start or colon - first > 1 or tokens[first].form in _BARE:
            return first, names
        if tokens[first - 1].form in _SEPARATORS:
            return first, names
    return None


def _names_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    if not tokens or tokens[-1].kind == "mark":
        return ()
    whole = " ".join(token.form for token in tokens if token.kind != "mark")
    if whole in _BY_PHRASE:
        return (_BY_PHRASE[whole],)
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token.form in _JOINTS:
            parts.append([])
        else:
            parts[-1].append(token.form)
    if len(parts) == 1:
        return ()
    names = [_BY_PHRASE.get(" ".join(part), "") for part in parts]
    return tuple(dict.fromkeys(names)) if all(names) else ()


def _looks_headed(text: str, tokens: Sequence[Token], start: int, colon: int) -> bool:
    """Tell whether the words before a colon are few and begin with a capital."""
    after = text[tokens[colon].end : tokens[colon].end + 1]
    if colon - start > _LONGEST_UNKNOWN or (after and not after.isspace() and not after.isalnum()):
        return False
    return text[tokens[start].start].isupper() and tokens[start].form not in _PRONOUNS


def _bare_heading(
    text: str, tokens: Sequence[Token], first: int, end: int
) -> tuple[int, int, int, tuple[str, ...]] | None:
    """Return a heading without a colon at the start of a sentence."""
    if first >= end or tokens[first].form not in _FIRST_WORDS:
        return None
    for length in range(min(_LONGEST, end - first), 0, -1):
        stop = first + length
        phrase = tokens[first:stop]
        if any(token.kind == "mark" and token.form not in _JOINTS for token in phrase):
            continue
        names = _names_of(phrase)
        if not names:
            continue
        alone = stop == end and (end == len(tokens) or tokens[end].kind == "newline")
        dashed = stop < end and (
            tokens[stop].form == "=" or (tokens[stop].form == "-" and is_dash(text, tokens[stop]))
        )
        if dashed:
            return first, stop, stop + 1, names
        if (alone and end < len(tokens)) or phrase[0].form in _BARE:
            return first, stop, stop, names
    return None


def _body_end(text: str, tokens: Sequence[Token], body: int, limit: int, *, listed: bool) -> int:
    """Return the index after the body's last token.

    A ``listed`` section is an item of the note's list of sections, and ends with its line.
    """
    started_on_line = body > 0 and tokens[body - 1].kind != "newline"
    stop = limit
    for i in range(body, limit):
        if tokens[i].kind != "newline" or i + 1 >= limit:
            continue
        blank = text.count("\n", tokens[i].start, tokens[i].end) > 1
        goes_on = text[tokens[i + 1].start].islower()
        if (blank and i > body) or (listed and started_on_line and not goes_on):
            stop = i
            break
    while stop > body and (
        tokens[stop - 1].kind == "newline"
        or tokens[stop - 1].form in _JOINTS - {"and"}
        or tokens[stop - 1].form in _BULLETS
    ):
        stop -= 1
    return stop
