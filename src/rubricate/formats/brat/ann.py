"""The lines of BRAT .ann files: how they are written, and T lines with all that hangs on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rubricate.formats.frame import name_to_id
from rubricate.formats.reading import Faults
from rubricate.rows import Detail, PlainAnnotation
from rubricate.spans import fragments_text

Pair = tuple[int, int]

#: Everything BRAT's own reader takes for the end of a line.
_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_FLAT = dict.fromkeys(map(ord, _BREAKS), " ")
_RUN = re.compile(f"[^{_BREAKS}]+")
_NAMED = {"\\": "\\", "\t": "t", "\n": "n", "\r": "r"}
_BY_NAME = {name: character for character, name in _NAMED.items()}
_SPECIAL = re.compile(rf"[\\\t{_BREAKS}]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")


def flat(text: str) -> str:
    r"""Return the text with each line break shown as one space, as BRAT shows it.

    >>> flat("no fever,\r\nchills")
    'no fever,  chills'
    """
    return text.translate(_FLAT)


def to_line(text: str) -> str:
    r"""Return the text with tabs, line breaks and backslashes escaped.

    >>> to_line("see\tabove\n") == r"see\tabove\n"
    True
    """
    return _SPECIAL.sub(
        lambda m: "\\" + _NAMED[m[0]] if m[0] in _NAMED else f"\\u{ord(m[0]):04x}", text
    )


def from_line(line: str) -> str:
    r"""Inverse of `to_line`; a backslash before anything else stands for itself.

    >>> from_line(r"a\tb, \o/")
    'a\tb, \\o/'
    """

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _BY_NAME.get(match[2], match[0])

    return _ESCAPE.sub(character, line)


def cut_at_breaks(spans: Sequence[Pair], text: str) -> list[Pair]:
    r"""Return the spans cut into fragments at line breaks.

    A span of nothing but line breaks, or one that is not inside the text, stays as it is.

    >>> cut_at_breaks([(0, 13)], "chest\r\n  pain")
    [(0, 5), (7, 13)]
    """
    pieces: list[Pair] = []
    for start, end in spans:
        inside = 0 <= start < end <= len(text)
        runs = [
            (start + run.start(), start + run.end())
            for run in (_RUN.finditer(text[start:end]) if inside else ())
        ]
        pieces += runs or [(start, end)]
    return pieces


def line_text(spans: Sequence[Pair], text: str, *, joint: str = " ") -> str:
    """Return the fragments' words as a T line states them.

    >>> line_text([(0, 6), (14, 22)], "denies palps, fainting")
    'denies fainting'
    """
    return joint.join(flat(text[max(0, start) : max(0, end)]) for start, end in spans)


def stated_text(written: str, spans: Sequence[Pair], text: str) -> str | None:
    """Return the text of a T line where it differs from the note; None where it agrees or is empty.

    Files from before BRAT 1.3 join fragments by nothing; they agree too.

    >>> stated_text("no fever", [(0, 8)], "no fever")
    >>> stated_text("o fever,", [(0, 8)], "no fever")
    'o fever,'
    """
    agreeing = (line_text(spans, text), line_text(spans, text, joint=""))
    return None if not written or flat(written) in agreeing else written


def field_to_spans(field: str) -> list[Pair]:
    """Inverse of `rubricate.spans.fragments_text`; ValueError if the field is not well formed."""
    pairs = [part.split() for part in field.split(";")]
    return [(int(start), int(end)) for start, end in pairs]


#: The type of BRAT's own notes, which become comments.
NOTES = "AnnotatorNotes"
#: Our own types of notes, for what BRAT has no other place for.
REASON = "Reason"
CONFIDENCE = "Confidence"
#: The spans before they were cut at line breaks; believed while the T line still fits them.
WHOLE_SPANS = "WholeSpans"
#: The stated text where a T line cannot hold it; believed while the T line still fits it.
STATED_TEXT = "StatedText"

# Nine digits: enough for any note, and never too many for the columns that hold offsets.
_OFFSETS = r"-?\d{1,9} -?\d{1,9}"
_T = re.compile(rf"(\S+) ({_OFFSETS}(?:;{_OFFSETS})*)\s*")
_R = re.compile(r"(\S+) [^\s:]+:(\S+) ([^\s:]+):(\S+)\s*")
_E = re.compile(r"[^\s:]+:(\S+)((?: [^\s:]+:\S+)*)\s*")
_N = re.compile(r"(\S+) (?:Annotation:)?(\S+) (?:Referent:)?(\S+)\s*")
_STAR = re.compile(r"(\S+) (\S+)((?: \S+)*)\s*")
_NOTE = re.compile(r"(\S+) (\S+)\s*")
_ID = re.compile(r"[A-Z]\d+\S*")

_SHAPES = {
    "T": "T1<TAB>Label 0 5;16 23<TAB>text",
    "A": "A1<TAB>Name T1 [value]",
    "M": "M1<TAB>Name T1 [value]",
    "R": "R1<TAB>Name Arg1:T1 Arg2:T2",
    "E": "E1<TAB>Name:T1 Role:T2",
    "N": "N1<TAB>Reference T1 Database:id<TAB>name",
    "*": "*<TAB>Equiv T1 T2",
}


@dataclass(frozen=True, slots=True)
class FoundAnnotation:
    """One annotation of a .ann file, its label and its line."""

    label: str
    annotation: PlainAnnotation
    line: int


@dataclass(slots=True)
class _Draft:
    """A T line, and what later lines say about it."""

    label: str
    spans: list[Pair]
    written: str
    line: int
    attributes: list[tuple[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    remarks: dict[str, str] = field(default_factory=dict)

    def finished(self, text: str) -> FoundAnnotation:
        spans, stated = self.spans, stated_text(self.written, self.spans, text)
        kept = self.remarks.get(STATED_TEXT)
        if kept is not None and flat(kept) == self.written:
            stated = kept
        whole = _spans_or_none(self.remarks.get(WHOLE_SPANS))
        if whole is not None and cut_at_breaks(whole, text) == spans:
            spans = whole
        confidence = self.remarks.get(CONFIDENCE)
        detail = Detail(
            reason=self.remarks.get(REASON, ""),
            comment="\n".join(self.comments),
            attributes=tuple(self.attributes),
            stated_text=stated,
        )
        sure = None if confidence is None else float(confidence)
        return FoundAnnotation(self.label, PlainAnnotation(tuple(spans), sure, detail), self.line)


def parse_ann(content: str, note_text: str, faults: Faults) -> list[FoundAnnotation]:
    r"""Return the annotations of a .ann file; what is wrong with it goes into ``faults``.

    Each T line is one annotation. ``A`` and ``M`` lines become its attributes (value ``true``
    where none is given), notes its comment. What rubricate has no relations for is kept as
    attributes too: ``R`` at its first argument, ``E`` at its trigger, ``*`` at its first member,
    each with the label and offsets of the other end as value, and ``N`` with the reference as
    value. Notes about a sentence or the whole note hang on no annotation and are passed over.

    >>> from pathlib import Path
    >>> content = "T1\tFever 0 5\tfever\nA1\tNegated T1\n"
    >>> [found] = parse_ann(content, "fever", Faults(Path("n.ann")))
    >>> found.label, found.annotation.spans, found.annotation.detail.attributes
    ('Fever', ((0, 5),), (('Negated', 'true'),))
    """
    reader = _AnnReader(faults)
    lines = [
        (number, line.removesuffix("\r").partition("\t"))
        for number, line in enumerate(content.split("\n"), start=1)
        if line.strip()
    ]
    for number, (identifier, _, rest) in lines:
        reader.collect(identifier, rest, number)
    for number, (identifier, _, rest) in lines:
        reader.attach(identifier, rest, number)
    return [draft.finished(note_text) for draft in reader.drafts.values()]


class _AnnReader:
    """First collects all lines that have an id, then follows the references between them."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.drafts: dict[str, _Draft] = {}
        self.first_target: dict[str, str] = {}
        #: The T line each id leads to, "" for none: every link is followed once.
        self._leads_to: dict[str, str] = {}
        self._seen: set[str] = set()
        self._attach: dict[str, Callable[[str, int], bool]] = {
            "A": self._attribute,
            "M": self._attribute,
            "R": self._relation,
            "E": self._event,
            "N": self._reference,
            "*": self._equivalence,
        }

    def collect(self, identifier: str, rest: str, number: int) -> None:
        kind = identifier[:1]
        if kind not in _SHAPES and kind != "#":
            known = ", ".join([*_SHAPES, "#"])
            self.faults.add(f"not a BRAT line: it must begin with one of {known}", line=number)
            return
        if identifier != "*" and kind != "#":
            if identifier in self._seen:
                self.faults.add(f"id {identifier} occurs twice", line=number)
            self._seen.add(identifier)
        data, _, tail = rest.partition("\t")
        if kind == "T":
            match = _T.fullmatch(data)
            if match is None:
                self._malformed("T", number)
                return
            self.drafts[identifier] = _Draft(match[1], field_to_spans(match[2]), tail, number)
        elif match := {"R": _R, "E": _E}.get(kind, _NOTE).match(data):
            self.first_target[identifier] = match[1] if kind == "E" else match[2]

    def attach(self, identifier: str, rest: str, number: int) -> None:
        kind = identifier[:1]
        if kind == "#":
            self._note(rest, number)
        elif kind in self._attach and not self._attach[kind](rest, number):
            self._malformed(kind, number)

    def _malformed(self, kind: str, number: int) -> None:
        self.faults.add(f"not a valid {kind} line: need {_SHAPES[kind]}", line=number)

    def _draft(self, identifier: str, number: int) -> _Draft | None:
        """Return the T line an id leads to: itself, its trigger, its first argument."""
        place, way = identifier, dict[str, None]()
        while place not in self.drafts and place not in self._leads_to and place not in way:
            way[place] = None
            place = self.first_target.get(place, "")
        place = self._leads_to.get(place, place if place in self.drafts else "")
        self._leads_to |= dict.fromkeys(way, place)
        if place not in self.drafts:
            self.faults.add(f"{identifier} leads to no T line of this file", line=number)
        return self.drafts.get(place)

    def _link(self, name: str, source: str, target: str, number: int, *, role: str = "") -> None:
        here, there = self._draft(source, number), self._draft(target, number)
        if here is not None and there is not None:
            value = f"{there.label} {fragments_text(there.spans)}"
            here.attributes.append((name, f"{role} {value}" if role else value))

    def _attribute(self, rest: str, number: int) -> bool:
        name, *more = rest.split(" ", 2)
        if not name or not more or not more[0]:
            return False
        draft = self._draft(more[0].strip(), number)
        if draft is not None:
            value = from_line(more[1]) if len(more) == 2 else "true"
            draft.attributes.append((name_to_id(name), value))
        return True

    def _relation(self, rest: str, number: int) -> bool:
        match = _R.fullmatch(rest.partition("\t")[0])
        if match:
            self._link(match[1], match[2], match[4], number, role=match[3])
        return match is not None

    def _event(self, rest: str, number: int) -> bool:
        match = _E.fullmatch(rest.partition("\t")[0])
        if match is None:
            return False
        for part in match[2].split():
            role, _, target = part.partition(":")
            self._link(role, match[1], target, number)
        return True

    def _reference(self, rest: str, number: int) -> bool:
        data, _, name = rest.partition("\t")
        match = _N.fullmatch(data)
        draft = self._draft(match[2], number) if match else None
        if match and draft is not None:
            draft.attributes.append((match[1], f"{match[3]} {name}".strip()))
        return match is not None

    def _equivalence(self, rest: str, number: int) -> bool:
        match = _STAR.fullmatch(rest.partition("\t")[0])
        if match is None:
            return False
        for other in match[3].split():
            self._link(match[1], match[2], other, number)
        return True

    def _note(self, rest: str, number: int) -> None:
        data, _, line = rest.partition("\t")
        match = _NOTE.fullmatch(data)
        if match is None or not _ID.fullmatch(match[2]):
            return
        draft = self._draft(match[2], number)
        if draft is None:
            return
        kind, text = match[1], from_line(line)
        own = {REASON, CONFIDENCE, WHOLE_SPANS, STATED_TEXT}
        if kind in own - draft.remarks.keys() and (kind != CONFIDENCE or _is_number(text)):
            draft.remarks[kind] = text
        else:
            draft.comments.append(text if kind == NOTES else f"{kind}: {text}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _spans_or_none(remark: str | None) -> list[Pair] | None:
    try:
        return None if remark is None else field_to_spans(remark)
    except ValueError:
        return None
