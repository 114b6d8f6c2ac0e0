"""Rules about where an annotation lies: range, stated text, fragments, nothing marked."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from rubricate.checking.boundaries import is_joined
from rubricate.checking.findings import RawSpans, Repair
from rubricate.checking.judged import Found, JudgedRow
from rubricate.spans import Span, merge_spans

#: How far, in characters, a location may have slipped and still be told from a repetition.
LARGEST_SLIP = 20
#: Stated text that was itself cut out of words must be this long to be looked for.
SHORTEST_PART = 4
#: Above this many ways to cut the stated text into fragments none is tried.
MOST_CUTS = 2000


def find_out_of_range(row: JudgedRow) -> Iterator[Found]:
    """Find spans that are not inside their note."""
    length = len(row.note.text)
    for i, marked in enumerate(row.annotations):
        if all(0 <= start < end <= length for start, end in marked.spans):
            continue
        message = f"not inside the note: need 0 <= start < end <= {length}"
        stated = marked.detail.stated_text
        located = None if stated is None else locate(row.note.text, stated, marked.spans)
        if located is not None:
            yield Found(i, message, Repair("respan", located))
            continue
        inside = tuple((max(s, 0), min(e, length)) for s, e in marked.spans)
        clamped = tuple((s, e) for s, e in inside if s < e)
        # What the missing characters were nobody knows, so cutting them off is only proposed.
        yield Found(i, message, Repair("respan", clamped, safe=False) if clamped else None)


def find_text_mismatch(row: JudgedRow) -> Iterator[Found]:
    """Find annotations whose stated text is not the text at their location."""
    text = row.note.text
    for i, marked in enumerate(row.annotations):
        stated, spans = marked.detail.stated_text, marked.spans
        if stated is None or not all(0 <= s < e <= len(text) for s, e in spans):
            continue
        located = locate(text, stated, spans)
        message = "the text stated for it differs from the text at its location"
        yield Found(i, message, None if located is None else Repair("respan", located))


def find_overlapping_fragments(row: JudgedRow) -> Iterator[Found]:
    """Find annotations whose own fragments overlap, repeat or touch."""
    for i, spans in row.sound:
        if any(later[0] <= earlier[1] for earlier, later in itertools.pairwise(spans)):
            merged = merge_spans(Span(start, end) for start, end in spans)
            repair = Repair("respan", tuple((span.start, span.end) for span in merged))
            yield Found(i, "fragments of one annotation overlap or touch", repair)


def find_no_words(row: JudgedRow) -> Iterator[Found]:
    """Find annotations without a span, or of nothing but white space and punctuation."""
    for i, marked in enumerate(row.annotations):
        if not marked.spans:
            yield Found(i, "has no span", Repair("remove", safe=False))
    for i, spans in row.sound:
        if not any(has_words(row.note.text[start:end]) for start, end in spans):
            yield Found(i, "marks no word, number or sign", Repair("remove", safe=False))


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

    Examples
    --------
    >>> locate("no fever, no chills", "no chills", ((9, 18),))
    ((10, 19),)
    >>> locate("denies fever, chills", "denies chills", ((1, 7), (15, 20)))
    ((0, 6), (14, 20))
    """
    wanted = stated.split()
    if not wanted:
        return None
    inside = all(0 <= start < end <= len(text) for start, end in spans)
    covered = " ".join(text[start:end] for start, end in spans).split()
    if inside and [w.casefold() for w in covered] == [w.casefold() for w in wanted]:
        return spans
    whole = _occurrences(text, wanted)
    if whole:
        place = _only(whole, spans[0][0] if spans else None)
        return None if place is None else (place,)
    return _locate_fragments(text, wanted, spans) if len(spans) > 1 else None


def _occurrences(text: str, words: list[str]) -> list[tuple[int, int]]:
    """Return where the words stand: whole words if they do, exact capitals if they do."""
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
