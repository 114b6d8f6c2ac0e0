"""Notes drawn for training: real ones with clauses of the bank put in, and ones of clauses alone.

A drawn row is (feature, outcome, spans, contradicting spans or None, soft): soft where the bank
only supposes that a note does not mention the feature.
"""

from __future__ import annotations

import random
import re
from typing import Any

from flips import opposite
from literal import SENTENCES, LiteralTexts, literal_rows
from note_sets import CONTRA, STATED, UNSAID, Note, Sets, Spans, split
from styles import Drawn, Row, restyled

COMMON = (
    "time",
    "quality",
    "negatives",
    "person",
    "family",
    "social",
    "drugs-1",
    "drugs-2",
    "conditions",
    "qualifiers",
    "subjects",
)
#: How a form asks for a feature.
FORMS = ("{}: yes / no", "{}: Y / N", "{} ( )", "( ) {}", "{}: ____", "{}: ***", "{}?", "[ ] {}")
HEADS = [
    "PMH: ",
    "PMHx: ",
    "Hx: ",
    "HPI: ",
    "Meds: ",
    "FH: ",
    "SH: ",
    "ROS: ",
    "CC: ",
    "O/E ",
    "Social: ",
    "PSH: ",
]


Clause = tuple[Any, str, str | None]
#: A clause of the rubric: the feature of the bank, its name, and what the note has of it.
Asked = tuple[dict[str, Any], str, str]
Marks = dict[Any, Spans]


class Composer:
    """Draws notes of several kinds, each with its share."""

    #: How often a note comes in another style, with wordings that stand in it, and with sentences
    #: put in of what is only spoken of.
    restyling, literally, mentioning = 0.35, 0.25, 0.2

    def __init__(
        self,
        sets: Sets,
        bank: list[dict[str, Any]],
        junk: list[str],
        shares: dict[str, float],
        seed: int,
    ) -> None:
        self.sets, self.bank, self.junk = sets, bank, junk
        self.kinds, self.weights = list(shares), list(shares.values())
        self.by: dict[str, list[dict[str, Any]]] = {}
        for b in bank:
            self.by.setdefault(b["domain"], []).append(b)
        self.domains = sorted(self.by)
        self.common = [d for d in COMMON if d in self.by]
        self.rng = random.Random(seed)
        self.literal = LiteralTexts(bank, self.rng)

    def draw(self) -> tuple[str, list[Row], bool, bool]:
        """Return a note, its rows, whether its spans are loose and whether its style is usual."""
        kind = self.rng.choices(self.kinds, self.weights)[0]
        if kind == "junk":
            return *self.nothing(), False, True
        if kind in SENTENCES:
            return *self.literal.text(kind), False, False
        if kind == "list":
            return *self.literal.findings(), False, False
        if kind == "bank":
            text, rows = self.composed()
        else:
            text, rows = self.real(self.rng.choice(self.sets[kind]), kind)
        usual = kind != "M"
        if self.rng.random() < self.literally:
            rows = literal_rows(text, rows, self.rng)
            usual = False
        if self.rng.random() < self.mentioning:
            text, rows = self.literal.beside(text, rows)
            usual = False
        if kind != "J" and self.rng.random() < self.restyling:
            text, rows = restyled(text, rows, self.rng)
            usual = False
        return text, rows, kind == "L", usual

    def pool(self, n: int) -> list[dict[str, Any]]:
        """Return at most so many features of a few domains of the bank."""
        rng = self.rng
        chosen = rng.sample(self.domains, rng.choice([1, 2, 2, 3])) + rng.sample(
            self.common, rng.choice([1, 1, 2, 3])
        )
        pool = [
            b
            for d in dict.fromkeys(chosen)
            for b in rng.sample(self.by[d], min(len(self.by[d]), 7))
        ]
        rng.shuffle(pool)
        return pool[:n]

    def pick(self, lines: list[tuple[str, str]], style: str | None, n: int = 1) -> list[str]:
        """Return so many clauses, more often than not in the style."""
        own = (
            [line for line in lines if line[0] == style]
            if style and self.rng.random() < 0.6
            else []
        )
        own = own or lines
        return [t for _, t in self.rng.sample(own, min(n, len(own)))]

    def clauses(
        self, pool: list[dict[str, Any]], style: str | None, mix: tuple[int, ...]
    ) -> tuple[list[Clause], list[Asked]]:
        """Return clauses (place in the rubric, text, ``plus`` or ``minus``) and the rubric."""
        rng = self.rng
        rubric: list[Asked] = []
        clauses: list[Clause] = []
        used = set()
        for b in pool:
            name = rng.choice(b["names"])
            if name.lower() in used:
                continue
            used.add(name.lower())
            i = len(rubric)
            what = rng.choices(("present", "both", "near", "none"), mix)[0]
            rubric.append((b, name, what))
            if what in ("present", "both"):
                for t in self.pick(b["plus"], style, 2 if rng.random() < 0.25 else 1):
                    clauses.append((i, t, "plus"))
            if what in ("near", "both"):
                for t in self.pick(b["minus"], style, rng.choice([1, 1, 1, 2])):
                    clauses.append((i, t, "minus"))
        return clauses, rubric

    def rows_of(self, rubric: list[Asked], marks: Marks, contra: Marks) -> list[Row]:
        """Return the rows of a rubric whose clauses are at these places."""
        rows: list[Row] = []
        for i, (_, name, what) in enumerate(rubric):
            f = self.wording(name)
            if what in ("present", "both"):
                rows.append((f, STATED, marks.get(i, []), None, False))
            elif what == "near":
                rows.append((f, CONTRA, [], contra.get(i), False))
            else:
                rows.append((f, UNSAID, [], None, True))
        return rows

    def wording(self, name: str) -> str:
        """Return the name of a feature, now and then with hyphens or in lower case."""
        r = self.rng.random()
        if r < 0.2:
            return name.replace(" ", "-")
        return name.lower() if r < 0.3 else name

    def joiner(self, style: str) -> str:
        """Return the text between two clauses."""
        rng = self.rng
        if style in "tu":
            return rng.choice(["\n", ". ", "\n- ", "; ", "\n", ", "])
        if style == "s":
            return rng.choice([". ", ". ", "\n", "; "])
        return rng.choice([" ", "\n", " ", "\n\n"])

    def composed(self) -> Drawn:
        """Return a note of clauses of the bank alone."""
        rng = self.rng
        style = rng.choice("uusspplt")
        pool = self.pool(rng.randint(6, 16))
        clauses, rubric = self.clauses(pool, style, (40, 8, 38, 14))
        for b in rng.sample(self.bank, rng.randint(0, 3)):
            clauses.append((None, split(rng.choice(b["plus"] + b["minus"])[1])[0], None))
        rng.shuffle(clauses)
        text = "- " if rng.random() < 0.08 else ""
        marks: Marks = {}
        contra: Marks = {}
        for i, t, sign in clauses:
            plain, spans = split(t)
            if text and not text.endswith(("\n", " ", "- ")):
                j = self.joiner(style)
                if text[-1] in ".!?;" and j[0] in ".;,":
                    j = j[1:] or " "
                text += j
            if style in "ust" and rng.random() < 0.06:
                text += rng.choice(HEADS)
            at = len(text)
            text += plain
            _mark(marks, contra, i, sign, at, plain, spans)
        return self.typos(text), self.flipped(self.rows_of(rubric, marks, contra), 0.12)

    def flipped(self, rows: list[Row], share: float) -> list[Row]:
        """Turn some stated features into their opposites: contradicted by the same words."""
        have = {r[0].lower() for r in rows}
        out: list[Row] = []
        for row in rows:
            f, o, s, _, _ = row
            if o == STATED and s and self.rng.random() < share:
                new = opposite(f, self.rng)
                if new and new.lower() not in have:
                    out.append((new, CONTRA, [], s, False))
                    continue
            out.append(row)
        return out

    def real(self, note: Note, kind: str) -> Drawn:
        """Return a note of a corpus with some of its rows, often with clauses put in."""
        rng = self.rng
        text = note["text"]
        own = list(note["rows"])
        rng.shuffle(own)
        if kind == "ebm":
            return text, [(f, o, s, c, False) for f, o, s, c in own]
        if rng.random() < 0.6:
            own = own[: rng.randint(max(1, len(own) // 3), len(own))]
        if kind in ("deep", "broad") and rng.random() < 0.5:
            # Most of their rows are present: let absent ones weigh more.
            there = [r for r in own if r[1] == STATED]
            gone = [r for r in own if r[1] != STATED]
            own = gone + there[: max(2, rng.randint(len(gone), len(gone) + 5))]
        rows = [
            (self.wording(f) if rng.random() < 0.15 else f, o, s, c, False) for f, o, s, c in own
        ]
        share = {"C": 0.5, "P": 0.5, "W": 0.4, "L": 0.3, "N": 0.3, "deep": 0.25, "broad": 0.35}.get(
            kind, 0.3
        )
        if rng.random() < share:
            clauses, rubric = self.clauses(self.pool(rng.randint(1, 6)), None, (40, 5, 45, 10))
            text, rows, marks, contra = self.insert(text, rows, clauses)
            rows = rows + self.rows_of(rubric, marks, contra)
        elif rng.random() < 0.5:
            rows += [
                (self.wording(rng.choice(b["names"])), UNSAID, [], None, True)
                for b in rng.sample(self.bank, rng.randint(1, 3))
            ]
        rng.shuffle(rows)
        share = {"deep": 0.3, "broad": 0.3, "C": 0.2}.get(kind, 0.12)
        return self.typos(text), self.flipped(rows[:20], share)

    def insert(
        self, text: str, rows: list[Row], clauses: list[Clause]
    ) -> tuple[str, list[Row], Marks, Marks]:
        """Put clauses at ends of lines or sentences; shift everything after them."""
        rng = self.rng
        spots = _spots(text, rows)
        plan = sorted(((rng.choice(spots), k) for k in range(len(clauses))), key=lambda x: x[0])
        out, last, shift = [], 0, 0
        marks: Marks = {}
        contra: Marks = {}
        moves: Spans = []
        for p, k in plan:
            i, t, sign = clauses[k]
            plain, spans = split(t)
            lead, tail = self.around(text, p, plain)
            piece = lead + plain + tail
            out += [text[last:p], piece]
            last = p
            _mark(marks, contra, i, sign, p + shift + len(lead), plain, spans)
            shift += len(piece)
            moves.append((p, len(piece)))
        out.append(text[last:])
        new = [
            (f, o, _shifted(s, moves), None if c is None else _shifted(c, moves), soft)
            for f, o, s, c, soft in rows
        ]
        return "".join(out), new, marks, contra

    def around(self, text: str, p: int, plain: str) -> tuple[str, str]:
        """Return the text before and after a clause that is put in at a place."""
        if p == 0 or text[p - 1] in "\n ":
            lead = ""
        else:
            lead = " " if p < len(text) else self.rng.choice(["\n", " ", ". "])
        if p and text[p - 1] == "\n":
            tail = "\n"
        elif p >= len(text):
            tail = ""
        else:
            tail = " " if plain[-1] in ".;!?" else ". "
        return lead, tail

    def nothing(self) -> Drawn:
        """Return a text that is no note, of which no feature is true: part of one, or a form."""
        rng = self.rng
        if rng.random() < 0.3:
            kind = rng.choice(
                [k for k in self.sets if k in ("C", "P", "deep", "broad", "W", "L", "N", "S", "J")]
            )
            names = [row[0] for row in rng.choice(self.sets[kind])["rows"]]
        else:
            names = [rng.choice(b["names"]) for b in self.pool(rng.randint(6, 14))]
        rows: list[Row] = [(name, UNSAID, [], None, False) for name in names]
        if rng.random() < 0.3:
            return self.form(names), rows
        text = rng.choice(self.junk)
        n = rng.randint(200, 900)
        a = rng.randint(0, max(0, len(text) - n))
        return text[a : a + n], rows

    def form(self, names: list[str]) -> str:
        """Return a form that nobody has filled in, or what one is to ask, with these names."""
        rng = self.rng
        own = [name.replace("-", " ") for name in names]
        rng.shuffle(own)
        if rng.random() < 0.3:
            lead = rng.choice(
                ["Ask about ", "Questions to ask: ", "To be assessed: ", "Check for "]
            )
            return lead + ", ".join(name[0].lower() + name[1:] for name in own) + "."
        mark = rng.choice(FORMS)
        return rng.choice(["\n", "\n", "; ", "  "]).join(mark.format(name) for name in own)

    def typos(self, text: str) -> str:
        """Return the text, now and then with a few letters wrong; its length stays."""
        rng = self.rng
        if rng.random() > 0.12:
            return text
        chars = list(text)
        for _ in range(rng.randint(1, 5)):
            p = rng.randrange(1, max(2, len(chars) - 1))
            if chars[p - 1 : p + 2] and all(c.isalpha() for c in chars[p - 1 : p + 2]):
                if rng.random() < 0.5:
                    chars[p], chars[p - 1] = chars[p - 1], chars[p]
                else:
                    chars[p] = rng.choice("aeiourstnl")
        return "".join(chars)


def _mark(
    marks: Marks, contra: Marks, i: Any, sign: str | None, at: int, plain: str, spans: Spans
) -> None:
    """Note where a clause states or contradicts its feature."""
    if sign == "plus":
        marks.setdefault(i, []).extend((at + a, at + z) for a, z in spans)
    elif sign == "minus":
        contra.setdefault(i, []).append((at, at + len(plain.rstrip(".!; "))))


def _spots(text: str, rows: list[Row]) -> list[int]:
    """Return the ends of lines and sentences that are inside no span."""
    spots = [m.end() for m in re.finditer(r"\n+|(?<=[.;])\s+(?=[A-Z])", text)] or [len(text)]
    taken: set[int] = set()
    for _, _, s, c, _ in rows:
        for a, z in [*s, *(c or [])]:
            taken.update(p for p in spots if a < p < z)
    return [p for p in spots if p not in taken] or [len(text)]


def _shifted(spans: Spans, moves: Spans) -> Spans:
    """Return the spans after so much was put in at these places."""
    return [
        (a + sum(n for p, n in moves if p <= a), z + sum(n for p, n in moves if p < z))
        for a, z in spans
    ]
