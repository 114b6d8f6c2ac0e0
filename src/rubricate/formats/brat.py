"""BRAT standoff: a folder of NAME.txt and NAME.ann with annotation.conf beside them.

First the lines of .ann files, how they are written, and T lines with all that hangs on them; then
the folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import (
    Frame,
    Labelled,
    feature_labels,
    id_to_name,
    judged_notes,
    name_to_id,
    read_frame,
    write_frame,
)
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, first_bytes
from rubricate.formats.tool_documents import ToolDocument, build_corpus
from rubricate.progress import Progress, silent, watched
from rubricate.rows import Detail, PlainAnnotation
from rubricate.rubric import Feature
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


ANNOTATION_CONF = "annotation.conf"
VISUAL_CONF = "visual.conf"
DRAWING = (
    "SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken",
    "ARC_DEFAULT\tcolor:black, arrowHead:triangle-5",
    "ATTRIBUTE_DEFAULT\tglyph:*",
)

#: Values of attributes that annotation.conf can list.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def write_brat(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write the corpus as a folder BRAT serves as it is.

    One annotator's files lie in the folder itself, several annotators' in one sub-folder each,
    every one with all texts. Spans that cross a line break are cut there, as BRAT does; a note
    of type ``WholeSpans`` keeps the spans as they were. Ids become file names by
    percent-encoding.

    >>> import tempfile
    >>> from rubricate import CorpusBuilder, Feature, Note
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, chills"))
    >>> builder.add_feature(Feature("7", "c", "No chills"))
    >>> builder.annotate("a", "n", "7", [(0, 2), (10, 16)])
    >>> folder = Path(tempfile.mkdtemp()) / "brat"
    >>> write_brat(builder.build(), folder)
    >>> print((folder / "n.ann").read_text(encoding="utf-8"))
    T1 7_No-chills 0 2;10 16 no chills
    """
    labels = feature_labels(corpus)
    path.mkdir()
    (path / ANNOTATION_CONF).write_bytes(_annotation_conf(corpus, labels).encode())
    # The rubric's words for each label.
    shown = [
        f"{labels[f.id]} | {' '.join(flat(f.text).replace('|', '/').split()) or labels[f.id]}"
        for f in corpus.features
    ]
    visual = ["[labels]", *shown, "", "[drawing]", *DRAWING]
    (path / VISUAL_CONF).write_bytes(("\n".join(visual) + "\n").encode())
    write_frame(corpus, path, is_folder=True)
    alone = len(corpus.annotators) < 2
    folders = [path] if alone else [path / id_to_name(a.id) for a in corpus.annotators]
    for folder in folders:
        folder.mkdir(exist_ok=alone)
    for note, judged in judged_notes(corpus, progress):
        name = id_to_name(note.id)
        for folder in folders:
            (folder / f"{name}.txt").write_bytes(note.text.encode())
        for who, own in judged.items():
            lines = "".join(f"{line}\n" for line in _ann_lines(note.text, own))
            (folders[corpus.annotator_index[who]] / f"{name}.ann").write_bytes(lines.encode())


def _ann_lines(text: str, found: list[Labelled]) -> Iterator[str]:
    """Yield the lines of what one annotator marked in one note."""
    n_attributes = n_notes = 0
    for number, (label, annotation) in enumerate(found, start=1):
        spans = cut_at_breaks(annotation.spans, text)
        stated = annotation.detail.stated_text
        written = line_text(spans, text) if stated is None else flat(stated)
        place = f"T{number}"
        yield f"{place}\t{label} {fragments_text(spans)}\t{written}"
        for name, value in annotation.detail.attributes:
            n_attributes += 1
            shown = "" if value == "true" else f" {to_line(value)}"
            yield f"A{n_attributes}\t{_attribute_name(name)} {place}{shown}"
        remarks = {NOTES: annotation.detail.comment, REASON: annotation.detail.reason}
        if list(annotation.spans) != spans:
            remarks[WHOLE_SPANS] = fragments_text(annotation.spans)
        if stated is not None and stated_text(flat(stated), spans, text) != stated:
            remarks[STATED_TEXT] = stated
        if annotation.confidence is not None:
            remarks[CONFIDENCE] = repr(annotation.confidence)
        for kind, remark in remarks.items():
            # A note that was stated without any text is kept so; the others say something.
            if remark or kind == STATED_TEXT:
                n_notes += 1
                yield f"#{n_notes}\t{kind} {place}\t{to_line(remark)}"


def _attribute_name(name: str) -> str:
    """Return the name without blanks; `rubricate.formats.frame.name_to_id` undoes it."""
    return quote(name, safe="", errors="surrogatepass") or "%"


def _annotation_conf(corpus: Corpus, labels: dict[str, str]) -> str:
    """Return the labels and attributes the annotators may use; overlaps are allowed."""
    values: dict[str, set[str]] = {}
    for detail in corpus.rows.details.values():
        for name, value in detail.attributes:
            values.setdefault(name, set()).add(value)
    attributes = []
    for name in sorted(values):
        plain = sorted(v for v in values[name] - {"true"} if _PLAIN.fullmatch(v))
        if plain:
            attributes.append(f"{_attribute_name(name)}\tArg:<ENTITY>, Value:{'|'.join(plain)}")
        elif values[name] == {"true"}:
            attributes.append(f"{_attribute_name(name)}\tArg:<ENTITY>")
    overlap = "<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>"
    sections = {
        "entities": list(labels.values()),
        "relations": [overlap],
        "events": [],
        "attributes": attributes,
    }
    return "\n".join(f"[{name}]\n" + "".join(f"{x}\n" for x in v) for name, v in sections.items())


_FIRST_BYTES = b"TREAMN#*"


def looks_like_brat(path: Path) -> bool:
    """Tell whether the folder, or a sub-folder, holds annotation.conf or .ann files of BRAT."""
    if not path.is_dir():
        return False
    try:
        if (path / ANNOTATION_CONF).is_file():
            return True
        candidates = chain(path.glob("*.ann"), path.glob("*/*.ann"))
        found = next((place for place in candidates if not place.name.startswith(".")), None)
        if found is None:
            return False
        first = first_bytes(found).lstrip()[:1]
        # An empty .ann is BRAT's way to say "nothing found", if there is a text with it.
        return first in _FIRST_BYTES if first else found.with_suffix(".txt").is_file()
    except OSError:
        return False


@dataclass
class _Folder:
    """The files of a folder: texts by note, .ann files by annotator and note."""

    texts: dict[str, str] = field(default_factory=dict)
    text_paths: dict[str, Path] = field(default_factory=dict)
    ann_paths: dict[tuple[str, str], Path] = field(default_factory=dict)


def read_brat(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a BRAT folder; see `rubricate.formats.brat.parse_ann` for what becomes of a line.

    A sub-folder's files are those of the annotator of that name; files in the folder itself are
    those of the only annotator. A .txt without .ann was judged by nobody, an empty .ann means
    that nothing was found. Without the frame file, the labels of annotation.conf are the
    features, worded as in visual.conf, and all notes belong to one case. Offsets are code
    points of the .txt exactly as stored. The text of a T line that differs from the note is
    kept as the annotation's stated text.
    """
    faults = Faults(path, how)
    if not path.is_dir():
        raise InputError(f"{path}: a BRAT corpus is a folder of .txt and .ann files")
    frame = read_frame(path, is_folder=True, limits=how.limits)
    configured = list(_configured_features(path, frame, faults))
    found = _marked(_look(path, frame, faults), faults)
    # A type that somebody added to annotation.conf is meant; any other new label is a slip.
    labels = {**{feature.id: feature.id for feature in configured}, **frame.labels}
    known, new = replace(frame, labels=labels), () if frame.exists else configured
    return build_corpus(found, known, faults, need=".txt and .ann files", features=new)


def _marked(folder: _Folder, faults: Faults) -> Iterator[ToolDocument]:
    """Yield the texts, then what each annotator marked in them."""
    for note_id, text in folder.texts.items():
        yield ToolDocument(note_id, text, None)
    for (annotator_id, note_id), place in watched(
        folder.ann_paths.items(), faults.how.progress, "reading annotations", len(folder.ann_paths)
    ):
        if note_id not in folder.texts:
            if note_id not in folder.text_paths:
                faults.add(f"there is no {place.stem}.txt for it", path=place)
            continue
        text = folder.texts[note_id]
        found = parse_ann(faults.text_of(place) or "", text, faults.of(place))
        labelled = tuple((one.label, one.annotation) for one in found)
        lines = tuple(one.line for one in found)
        yield ToolDocument(note_id, text, annotator_id, labelled, path=place, lines=lines)


def _look(path: Path, frame: Frame, faults: Faults) -> _Folder:
    """Find all texts and annotation files, and read the texts."""
    folder, whose = _Folder(), frame.only_annotator
    for place in watched(_visible_files(path), faults.how.progress, "reading texts"):
        note_id = name_to_id(place.stem)
        parts = place.relative_to(path).parent.parts
        annotator_id = "/".join(name_to_id(part) for part in parts) if parts else whose
        if place.suffix == ".txt":
            _add_text(folder, note_id, place, faults)
        elif (annotator_id, note_id) in folder.ann_paths:
            faults.add(f"note {note_id!r} has two .ann files here", path=place)
        else:
            folder.ann_paths[annotator_id, note_id] = place
    return folder


def _visible_files(path: Path) -> Iterator[Path]:
    for place in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in place.relative_to(path).parts)
        if place.suffix in {".txt", ".ann"} and not hidden and place.is_file():
            yield place


def _add_text(folder: _Folder, note_id: str, place: Path, faults: Faults) -> None:
    first = folder.text_paths.setdefault(note_id, place)
    text = _text_or_fault(place, faults)
    if text is None:
        return
    if folder.texts.setdefault(note_id, text) != text:
        faults.add(
            f"its text differs from that of {first}; a note must have the same text in the "
            "folder of every annotator",
            path=place,
        )
    elif first.parent == place.parent and first != place:
        faults.add(f"note {note_id!r} has two .txt files here", path=place)


def _text_or_fault(place: Path, faults: Faults) -> str | None:
    text = faults.text_of(place)
    if text is None:
        return None
    # BRAT counts a byte order mark as the first character.
    with place.open("rb") as stream:
        return "\ufeff" + text if stream.read(3) == b"\xef\xbb\xbf" else text


def _configured_features(path: Path, frame: Frame, faults: Faults) -> Iterator[Feature]:
    """Yield the types of annotation.conf, worded as visual.conf says."""
    wording = {}
    for line in _section(path / VISUAL_CONF, {"labels"}, faults):
        label, *shown = (part.strip() for part in line.split("|"))
        if shown and shown[0]:
            wording[label] = shown[0]
    seen = set()
    for line in _section(path / ANNOTATION_CONF, {"entities", "events"}, faults):
        label = line.split()[0].split("|")[0]
        # "!" marks types that only order others; "<" begins macros and options.
        if label and label[0] not in "!<" and label not in seen:
            seen.add(label)
            text = wording.get(label, label.replace("_", " "))
            yield Feature(label, frame.default_case, text)


def _section(place: Path, names: set[str], faults: Faults) -> Iterator[str]:
    """Yield the lines of some sections of a configuration file."""
    text = _text_or_fault(place, faults) if place.is_file() else None
    section = ""
    for line in (text or "").lstrip("\ufeff").splitlines():
        line = line.strip()
        header = re.fullmatch(r"\[(.*)\]", line)
        if header:
            section = header[1]
        elif section in names and line.strip("-") and not line.startswith("#"):
            yield line


FORMAT = Format(
    name="brat",
    summary="BRAT standoff, a folder of .txt and .ann files with annotation.conf",
    looks_like=looks_like_brat,
    read=read_brat,
    write=write_brat,
    made=frozenset({"*.ann", "*.txt", "annotation.conf", "visual.conf"}),
    holds=HELD_BY_TOOLS,
)
