"""Texts in which the wording of a feature stands: stated, denied, or only spoken of.

A literal mention states nothing by itself: what may happen, what is over, what another person has
and what a form asks for teach a network to read what is said of the words.
"""

from __future__ import annotations

import random
import re
from typing import Any

from note_sets import ABSENT, CONTRA, STATED, UNSAID, Spans, split
from styles import (
    Drawn,
    Row,
    administered,
    anonymous,
    chatty,
    first_person,
    joined,
    put_in,
    read_by_kind,
    sectioned,
    sentence_starts,
    typographic,
    unpointed,
)

#: A feature of the bank and those of its wordings that can stand as a thing somebody has.
Thing = tuple[dict[str, Any], list[str]]
#: Sentences with a place for what is there, `{+}`, for what is denied, `{-}`, and for what is only
#: spoken of, `{?}`: of posts, of reports, and of sheets (forms, leaflets).
SENTENCES = read_by_kind("sentences.tsv")
LISTS = read_by_kind("lists.tsv")
WORDS = {kind: frozenset(words) for kind, words in read_by_kind("words.tsv").items()}
#: Between the entries of a list.
GAPS = (", ", ", ", "\n", "\n- ", "; ", " / ", ". ", " + ", "\n* ", "  ")
PLACE = re.compile(r"(\{[+?-]\})")
LONG_WORD = re.compile(r"[A-Za-z]{4,}")
#: Of what is complained of, drawn more often than the rest.
COMPLAINT = re.compile(rf"\b(?:{'|'.join(sorted(WORDS['complaint']))})", re.I)
TIMES_OF_COMPLAINT = 3
NEGATION = re.compile(
    r"^(?:has |have |there is |there was )?(?:no|not|denies|denied|denying|without|negative for"
    r"|no evidence of|never had|neg for|does not have|doesn't have|nil|hasn't had|no h/o|no hx of"
    r"|no history of)\b[ :]*(?:any |a |an )?",
    re.I,
)
NEGATED_BEFORE = re.compile(r"\b(?:no|not|denies|without|nor|or)\b[^.\n]*$", re.I)
LEADING_NEGATION = re.compile(
    r"\b(?:no|not|never|without|denies|denied|haven't|don't|zero|free|negative)\b.*$", re.I
)
PLAIN = re.compile(r"[A-Za-z][A-Za-z' -]{2,40}")
SEVERAL = re.compile(r"\b(?:or|and|but|other)\b")
NO_THING = re.compile(
    r"\d|\bOR\b|\bAND\b|[/,();:]|(?i:\b(?:no|not|without|denies|never|none|nobody|nothing)\b)"
    r"|\b(?:is|was|are|were|has|had|to|when|that|who|cannot|than)\b"
)


def literal_rows(text: str, rows: list[Row], rng: random.Random, most: int = 3) -> list[Row]:
    """Return the rows with some whose wording is what stands in the text, affirmed and denied."""
    have = {row[0].lower() for row in rows}
    more: list[Row] = []
    for _, outcome, spans, against, _ in rng.sample(rows, len(rows)):
        if len(more) >= most:
            break
        words = None
        if outcome == STATED and len(spans) == 1:
            words = affirmed_words(text, spans[0])
        elif outcome == CONTRA and against is not None and len(against) == 1:
            words = denied_words(text, against[0])
        if words is None or words.lower() in have:
            continue
        have.add(words.lower())
        name = words[0].upper() + words[1:] if rng.random() < 0.7 else words
        more.append((name, outcome, spans, against, False))
    return rows + more


def affirmed_words(text: str, span: tuple[int, int]) -> str | None:
    """Return the words of a span if they can be a feature, stand once and are not denied."""
    words = text[span[0] : span[1]]
    if not PLAIN.fullmatch(words) or NEGATION.match(words) or len(words.split()) > 5:
        return None
    once = len(re.findall(rf"\b{re.escape(words)}\b", text, re.I)) == 1
    return (
        words if once and not NEGATED_BEFORE.search(text, max(0, span[0] - 40), span[0]) else None
    )


def denied_words(text: str, span: tuple[int, int]) -> str | None:
    """Return the thing that a span denies, if it is a single thing."""
    found = NEGATION.match(text[span[0] : span[1]])
    if not found:
        return None
    words = text[span[0] + found.end() : span[1]].strip(" .")
    one = PLAIN.fullmatch(words) and len(words.split()) <= 4 and not SEVERAL.search(words)
    return words if one else None


def is_thing(name: str) -> bool:
    """Tell whether a wording can stand as a thing that somebody has."""
    words = name.lower().split()
    return (
        len(words) <= 4
        and not NO_THING.search(name)
        and words[0] not in WORDS["not first"]
        and words[-1] not in WORDS["not last"]
    )


def stems(names: list[str]) -> set[str]:
    """Return the beginnings of the long words of wordings."""
    return {word[:5].lower() for name in names for word in LONG_WORD.findall(name)}


def inside(name: str) -> str:
    """Return a wording as it stands inside a sentence."""
    first = name.split()[0]
    return name if first.isupper() and len(first) > 1 else name[0].lower() + name[1:]


class LiteralTexts:
    """Draws texts that hold the wording of features of the bank."""

    def __init__(self, bank: list[dict[str, Any]], rng: random.Random) -> None:
        self.bank, self.rng = bank, rng
        self.things: list[Thing] = []
        for b in bank:
            if b["domain"] in WORDS["no domain"]:
                continue
            names = [name for name in b["names"] if is_thing(name)]
            if names:
                often = any(len(n.split()) <= 3 and COMPLAINT.search(n) for n in names)
                self.things += [(b, names)] * (TIMES_OF_COMPLAINT if often else 1)

    def text(self, kind: str) -> Drawn:
        """Return a patient's post, sentences of a hospital's reports, or a form or leaflet."""
        rng = self.rng
        if kind == "post" and rng.random() < 0.35:
            text, rows, used = self.told(rng.randint(2, 6))
            text, rows = first_person(text, rows, rng)
            if rng.random() < 0.6:
                own = self.some(8)
                lines = rng.sample(SENTENCES[kind], rng.randint(1, 3))
                text, rows = joined(text, rows, " ", *self.filled(lines, own, [" "]))
                used += own
        else:
            used = self.some(14)
            gaps = [" "] if rng.random() < 0.6 else [" ", "\n", " ", " ... "]
            if kind == "sheet":
                gaps = rng.choice((["\n"], [" "], ["  ", "; "]))
            lines = rng.sample(SENTENCES[kind], rng.choice((1, 1, 2, 2, 3, 4, 5, 6)))
            text, rows = self.filled(lines, used, gaps)
        rows += self.absent(used, rng.randint(1, 3 + len(rows)))
        if kind == "post" and rng.random() < 0.7:
            text, rows = chatty(text, rows, rng)
        elif kind == "report":
            for style, share in ((anonymous, 0.35), (administered, 0.15), (sectioned, 0.2)):
                if rng.random() < share:
                    text, rows = style(text, rows, rng)
        if rng.random() < 0.15:
            text, rows = unpointed(text, rows, rng)
        if rng.random() < 0.1:
            text, rows = typographic(text, rows, rng)
        rng.shuffle(rows)
        return text, rows

    def findings(self) -> Drawn:
        """Return findings one after the other, with a few that are denied, and nothing else."""
        rng = self.rng
        things = self.some(rng.randint(2, 9))
        gap, text = rng.choice(GAPS), rng.choice(["", "", "", *LISTS["head"]])
        rows: list[Row] = []
        stated = rng.randint(1, len(things)) if rng.random() < 0.5 else len(things)
        for i, (b, names) in enumerate(things):
            name = rng.choice(names)
            if i:
                text += gap if i != stated else rng.choice((gap, ". ", "\n"))
            first = len(text)
            if i == stated or (i > stated and "\n" in gap):
                text += rng.choice(LISTS["denial"]) + " "
            if i < stated and rng.random() < 0.12:
                text += rng.choice(LISTS["degree"]) + " "
            word = len(text)
            text += inside(name) if rng.random() < 0.7 else name
            if i < stated:
                rows.append(self.row(b, name, STATED, [(word, len(text))], None))
            else:
                rows.append(self.row(b, name, CONTRA, [], [(first, len(text))]))
        rows += self.absent(things, rng.randint(1, 3 + len(rows)))
        rng.shuffle(rows)
        return chatty(text, rows, rng) if rng.random() < 0.25 else (text, rows)

    def beside(self, text: str, rows: list[Row]) -> Drawn:
        """Return a note with sentences put in, most often of what is only spoken of."""
        rng = self.rng
        known = " ".join((text, *(row[0] for row in rows))).lower()
        lines = [
            line
            for line in SENTENCES[rng.choice(("report", "report", "post", "sheet"))]
            if "{?}" in line or rng.random() < 0.3
        ]
        for _ in range(rng.choice((1, 1, 2, 3))):
            own = [
                one for one in self.some(12) if not any(s in known for s in stems(one[0]["names"]))
            ]
            said, more = self.filled([rng.choice(lines)], own, [" "])
            if not more:
                continue
            known += " " + said.lower()
            at = rng.choice([*sentence_starts(text, rows), len(text)])
            if rng.random() < 0.3 or at == len(text):
                text, rows = joined(text, rows, rng.choice((" ", "\n")), said, more)
            else:
                gap = " " if text[at - 1] == " " else "\n"
                text, rows = put_in(text, rows, at, said + gap, more)
        return text, rows

    def some(self, n: int) -> list[Thing]:
        """Return things that a text can name, no two with a word in common."""
        out: list[Thing] = []
        seen: set[object] = set()
        for b, names in self.rng.sample(self.things, min(len(self.things), 4 * n)):
            words = {id(b), *stems(b["names"])}
            if not words & seen and len(out) < n:
                seen |= words
                out.append((b, names))
        return out

    def row(
        self, b: dict[str, Any], name: str, outcome: int, spans: Spans, against: Spans | None
    ) -> Row:
        """Return a row whose wording is what stands there, or another one of the same feature."""
        r = self.rng.random()
        asked = name if r < 0.6 else self.rng.choice(b["names"])
        return (asked if r < 0.85 else asked.lower(), outcome, spans, against, False)

    def filled(self, lines: list[str], things: list[Thing], gaps: list[str]) -> Drawn:
        """Return sentences with things in their places, and the rows."""
        rng, text = self.rng, ""
        rows: list[Row] = []
        stated: list[str] = []
        left = iter(things)
        for line in lines:
            if text:
                text += rng.choice(gaps)
            for part in PLACE.split(line):
                if not PLACE.fullmatch(part):
                    text += part
                    continue
                if part == "{?}" and stated and rng.random() < 0.12:
                    # What is stated stays stated where it is spoken of again.
                    text += inside(rng.choice(stated))
                    continue
                thing = next(left, None)
                if thing is None:
                    text = text.rstrip(" ,;") + "."
                    break
                name = rng.choice(thing[1])
                said = inside(name)
                if (not text or text.endswith((". ", "\n", "! "))) and rng.random() < 0.6:
                    said = said[0].upper() + said[1:]
                first = len(text)
                text += said
                if part == "{+}":
                    rows.append(self.row(thing[0], name, STATED, [(first, len(text))], None))
                    stated.append(name)
                elif part == "{-}":
                    against = [(_denial(text, first), len(text))]
                    rows.append(self.row(thing[0], name, CONTRA, [], against))
                else:
                    # Guidelines differ on whether that contradicts: not learned.
                    rows.append(self.row(thing[0], name, ABSENT, [], None))
        return text, rows

    def absent(self, used: list[Thing], n: int) -> list[Row]:
        """Return rows of features that a text does not name."""
        seen = stems([name for b, _ in used for name in b["names"]])
        out: list[Row] = []
        for b, _ in self.rng.sample(self.things, min(len(self.things), 3 * n + 3)):
            if len(out) < n and not stems(b["names"]) & seen:
                out.append((self.rng.choice(b["names"]), UNSAID, [], None, True))
        return out

    def told(self, n: int) -> tuple[str, list[Row], list[Thing]]:
        """Return clauses of the bank, of lay words where there are, the rows and the features."""
        rng, text = self.rng, ""
        rows: list[Row] = []
        used: list[Thing] = []
        for b in rng.sample(self.bank, n):
            sign = "plus" if rng.random() < 0.65 else "minus"
            lay = [line for line in b[sign] if line[0] in "lp"]
            plain, spans = split(rng.choice(lay or b[sign])[1])
            if text:
                text += " " if text[-1] in ".!?" else ". "
            at = len(text)
            text += plain
            used.append((b, b["names"]))
            name = rng.choice(b["names"])
            if sign == "plus":
                rows.append((name, STATED, [(at + a, at + z) for a, z in spans], None, False))
            else:
                against = [(at, at + len(plain.rstrip(".!; ")))]
                rows.append((name, CONTRA, [], against, False))
        return text, rows, used


def _denial(text: str, first: int) -> int:
    """Return the start of the words that deny the text from ``first`` on."""
    start = max(text.rfind("\n", 0, first), text.rfind(". ", 0, first) + 1, 0)
    lead = LEADING_NEGATION.search(text, start, first)
    return lead.start() if lead and "," not in lead[0] else first
