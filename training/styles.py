"""Drawn notes in another style: what a text says stays, how it looks does not.

Every function takes a text and its rows and returns both, with all spans where they belong. A row
is (feature, outcome, spans, contradicting spans or None, soft), as `compose` has it.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable

from note_sets import CONTRA, STATED, UNSAID, Spans
from texts import DATA

Row = tuple[str, int, Spans, Spans | None, bool]
Drawn = tuple[str, list[Row]]
#: A piece of a text and what is put there instead.
Edit = tuple[int, int, str]
Style = Callable[[str, list[Row], random.Random], Drawn]
FOLDER = DATA / "styles"
#: A fragment of fewer characters says too little to learn from.
LEAST_FRAGMENT = 12
SENTENCE_START = re.compile(r"\n+|(?<=[.;!?])\s+(?=[A-Z(-])")
SENTENCE_STOP = re.compile(r"\.(?=\s|$)")
PATIENT = re.compile(r"\b(?:[Tt]he )?(?:[Pp]atient|[Pp]t)\b")
#: Age and sex of a patient at the start of a note, up to what the patient comes with.
OPENING = re.compile(
    r"\s*(?:[\w.:/ ]{0,25}?)\b\d{1,3}\s*-?\s*(?:y/?o|yo|yr|years?|[FMfm]\b)[^\n.,;]{0,60}?"
    r"(?:\b(?:with|w/|presents? (?:with|for)|presenting (?:with|for)|c/o|complain(?:s|ing) of"
    r"|here for|p/w|who)\b|[.,;\n])\s*",
    re.I,
)
BULLETS = ("\n- ", "\n\u2022 ", "\n* ", "\n", "\t", "  ")


def read_table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of the folder ``data/styles``."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_by_kind(name: str) -> dict[str, list[str]]:
    """Return the texts of a table by their kind."""
    out: dict[str, list[str]] = {}
    for row in read_table(name):
        out.setdefault(row["kind"], []).append(row["text"])
    return out


#: Headings, sentences of an office, marks of what was taken out, and what people write around what
#: they have.
LINES = read_by_kind("lines.tsv")
#: What others write of a patient, as a pattern, and how the patient says it.
FIRST_PERSON = [
    (re.compile(row["pattern"]), row["wordings"].split(" | "))
    for row in read_table("first_person.tsv")
]
TYPOGRAPHY = [(row["old"], row["new"]) for row in read_table("typography.tsv")]


def edited(text: str, rows: list[Row], edits: list[Edit]) -> Drawn:
    """Return the text with some pieces put differently; what overlaps an earlier one is left."""
    out, last, shift = [], 0, 0
    moves: list[tuple[int, int, int, int]] = []
    for a, z, new in sorted(edits, key=lambda e: (e[0], e[1])):
        if a < last or (moves and a == moves[-1][0] == moves[-1][1] == z):
            continue
        out += [text[last:a], new]
        moves.append((a, z, a + shift, a + shift + len(new)))
        last, shift = z, shift + len(new) - (z - a)
    out.append(text[last:])

    def place(p: int, end: bool) -> int:
        by = 0
        for a, z, first, stop in moves:
            if p < a or (p == a and end):
                break
            if a < p < z:
                return stop if end else first
            by = stop - z
            if p == a and a < z and not end:
                return first
        return p + by

    def moved(spans: Spans) -> Spans:
        new = ((place(a, False), place(z, True)) for a, z in spans)
        return [(a, z) for a, z in new if z > a]

    return "".join(out), [
        (f, o, moved(s), None if c is None else moved(c), soft) for f, o, s, c, soft in rows
    ]


def cut(text: str, rows: list[Row], first: int, end: int) -> Drawn:
    """Return a part of a text; what is only said elsewhere is not mentioned in it."""
    if first == 0 and end >= len(text):
        return text, rows

    def kept(spans: Spans) -> Spans:
        return [(a - first, z - first) for a, z in spans if a >= first and z <= end]

    new: list[Row] = []
    for f, o, s, c, soft in rows:
        own, against = kept(s), None if c is None else kept(c)
        # What is said where the text was cut is in part still there: such a row teaches nothing.
        torn = any(
            a < end and z > first and not (a >= first and z <= end) for a, z in [*s, *(c or [])]
        )
        if o == UNSAID or (o == STATED and own) or (o == CONTRA and against):
            new.append((f, o, own, against, soft))
        elif o == STATED or (o == CONTRA and c is not None):
            if not torn:
                new.append((f, UNSAID, [], None, soft))
        elif o != CONTRA:
            new.append((f, o, [], None, soft))
    return text[first:end], new


def later(rows: list[Row], by: int) -> list[Row]:
    """Return rows whose text stands so many characters later."""

    def moved(spans: Spans) -> Spans:
        return [(a + by, z + by) for a, z in spans]

    return [(f, o, moved(s), None if c is None else moved(c), soft) for f, o, s, c, soft in rows]


def joined(text: str, rows: list[Row], gap: str, more: str, others: list[Row]) -> Drawn:
    """Return two texts after each other."""
    return text + gap + more, rows + later(others, len(text) + len(gap))


def put_in(text: str, rows: list[Row], at: int, more: str, others: list[Row]) -> Drawn:
    """Return a text with another one at a place inside it."""
    new, old = edited(text, rows, [(at, at, more)])
    return new, old + later(others, at)


def sentence_starts(text: str, rows: list[Row]) -> list[int]:
    """Return the starts of sentences and lines that lie inside no span."""
    spots = [m.end() for m in SENTENCE_START.finditer(text)]
    for _, _, s, c, _ in rows:
        for a, z in [*s, *(c or [])]:
            spots = [p for p in spots if not a < p < z]
    return spots


def fragment(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return one to three sentences in a row that say something of a row."""
    spots = sorted({0, *sentence_starts(text, rows), len(text)})
    for _ in range(6):
        n = rng.choice((1, 1, 2, 2, 3))
        i = rng.randrange(0, max(1, len(spots) - n))
        first, end = spots[i], spots[min(i + n, len(spots) - 1)]
        end = first + len(text[first:end].rstrip())
        if end - first < LEAST_FRAGMENT:
            continue
        piece, new = cut(text, rows, first, end)
        said = [row for row in new if row[1] in (STATED, CONTRA)]
        if said:
            # Of the many rows that are no longer mentioned only a few.
            rest = [row for row in new if row[1] not in (STATED, CONTRA)]
            rng.shuffle(rest)
            new = said + rest[: len(said) + rng.randint(1, 4)]
            rng.shuffle(new)
            return piece, new
    return text, rows


def without_opening(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text without the patient's age and sex, or without its first sentence."""
    found = OPENING.match(text)
    if found and found.end() < len(text) - 20:
        return cut(text, rows, found.end(), len(text))
    spots = sentence_starts(text, rows)
    if spots and spots[0] < len(text) // 2:
        return cut(text, rows, spots[0], len(text))
    return text, rows


def administered(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text between headers and footers of an office."""
    edits: list[Edit] = []
    r = rng.random()
    if r < 0.75:
        head = [rng.choice(LINES["heading"])] if rng.random() < 0.5 else []
        head += rng.sample(LINES["office"], rng.randint(0 if head else 1, 4))
        gap = rng.choice(("\n\n", "\n", " "))
        edits.append((0, 0, rng.choice((" ", "\n", ". ")).join(head) + gap))
    if r > 0.45:
        foot = rng.sample(LINES["office"], rng.randint(1, 3))
        edits.append((len(text), len(text), rng.choice(("\n\n", "\n", " ")) + " ".join(foot)))
    return edited(text, rows, edits)


def sectioned(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text with headings in capitals at its start and at some places inside."""
    spots = sentence_starts(text, rows)
    chosen = rng.sample(spots, min(len(spots), rng.randint(0, 2)))
    gap = rng.choice((" ", "\n"))
    edits = [(p, p, "\n" + rng.choice(LINES["section"]) + gap) for p in chosen]
    if rng.random() < 0.8 or not edits:
        edits.append((0, 0, rng.choice(LINES["section"]) + gap))
    return edited(text, rows, edits)


def anonymous(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text with marks of what was taken out of it."""
    spots = [0, *sentence_starts(text, rows)]
    chosen = rng.sample(spots, min(len(spots), rng.randint(1, 3)))
    edits = [(p, p, rng.choice(LINES["mark"]) + rng.choice((" ", " ", ", "))) for p in chosen]
    for m in PATIENT.finditer(text):
        if rng.random() < 0.4:
            edits.append((m.start(), m.end(), rng.choice(LINES["mark"])))
    return edited(text, rows, edits)


def first_person(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text as the patient would tell it."""
    edits: list[Edit] = []
    for pattern, wordings in FIRST_PERSON:
        for m in pattern.finditer(text):
            new = rng.choice(wordings)
            before = text[: m.start()].rstrip(" ")
            if (not before or before[-1] in ".!?\n") and rng.random() < 0.7:
                new = new[0].upper() + new[1:]
            if not any(a < m.end() and m.start() < z for a, z, _ in edits):
                edits.append((m.start(), m.end(), new))
    return edited(text, rows, edits)


def chatty(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text with sentences before, after or in between that say nothing."""
    outer, inner = [0, len(text)], sentence_starts(text, rows)
    edits: list[Edit] = []
    for _ in range(rng.randint(1, 4)):
        p = rng.choice(outer if rng.random() < 0.6 else [*outer, *inner])
        gap = rng.choice((" ", " ", "\n"))
        said = gap.join(rng.sample(LINES["filler"], rng.randint(1, 2)))
        if p == 0:
            edits.append((0, 0, said + gap))
        elif p == len(text):
            stopped = text.endswith((".", "!", "?", "\n"))
            edits.append((p, p, (gap if stopped else rng.choice((". ", ". ", "\n", " "))) + said))
        else:
            edits.append((p, p, said + (" " if text[p - 1] == " " else "\n")))
    return edited(text, rows, edits)


def unpointed(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text without full stops, or with other marks between its sentences."""
    new = rng.choice(("", "", ";", ",", "...", "!!", " -", "\n"))
    return edited(text, rows, [(m.start(), m.end(), new) for m in SENTENCE_STOP.finditer(text)])


def typographic(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text with other characters for the same signs, bullets, or wider gaps."""
    edits: list[Edit] = []
    for old, new in TYPOGRAPHY:
        if rng.random() < 0.6:
            edits += [(m.start(), m.end(), new) for m in re.finditer(re.escape(old), text)]
    if rng.random() < 0.4:
        bullet = rng.choice(BULLETS)
        edits += [(p, p, bullet) for p in sentence_starts(text, rows) if text[p - 1] != "\n"]
    return edited(text, rows, edits)


def copied(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return the text twice, as a note that was copied into itself."""
    gap = rng.choice(("\n\n", "\n", "\n\nCOPY:\n", "\n----\n", "\n\nAddendum, copied:\n"))
    by = len(text) + len(gap)

    def twice(spans: Spans) -> Spans:
        return [*spans, *((a + by, z + by) for a, z in spans)]

    return text + gap + text, [
        (f, o, twice(s), None if c is None else twice(c), soft) for f, o, s, c, soft in rows
    ]


#: Styles and how often each is chosen.
STYLES: list[tuple[Style, float]] = [
    (fragment, 0.32),
    (without_opening, 0.2),
    (administered, 0.16),
    (sectioned, 0.12),
    (anonymous, 0.14),
    (first_person, 0.3),
    (chatty, 0.3),
    (unpointed, 0.12),
    (typographic, 0.12),
    (copied, 0.02),
]


def restyled(text: str, rows: list[Row], rng: random.Random) -> Drawn:
    """Return a drawn note in other styles, at least one."""
    chosen = [style for style, share in STYLES if rng.random() < share]
    for style in chosen or [rng.choice(STYLES)[0]]:
        text, rows = style(text, rows, rng)
    return text, rows
