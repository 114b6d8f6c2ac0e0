"""Reading one WebAnno TSV 3 file: its text, the spans of its layers, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from urllib.parse import parse_qsl, quote, urlencode

from rubricate.corpus import Corpus, Note
from rubricate.formats.annotations import Utf16Map, has_fragments
from rubricate.formats.cas.write import DKPRO, LAYER
from rubricate.formats.frame import Frame
from rubricate.formats.reading import Faults
from rubricate.formats.webanno.values import (
    NO_ANNOTATION,
    NO_VALUE,
    TsvCell,
    escape_text,
    parse_cells,
    unescape_text,
)
from rubricate.rows import Detail, PlainAnnotation

#: Features of the layer that CAS files bring along and that must be in the project before INCEpTION
#: can import these files: the label, and what fragments of one annotation share.
FEATURE, GROUP = "feature", "group"
COMMENT, REASON, CONFIDENCE, STATED = "comment", "reason", "confidence", "statedText"
#: All attributes in one string: TSV has no lists, so this is not the ``attributes`` of CAS files.
ATTRIBUTES = "attributeList"

_ABOUT_WORDS = ("lexmorph", "segmentation", "syntax", "transform")
#: Layers about words, not about what a note says.
_LINGUISTIC = tuple(f"{DKPRO}.{part}." for part in _ABOUT_WORDS)
_LABEL_NAMES = ("value", "label", "referenceType")


def spans_to_annotations(
    spans: list[LayerSpan], note: Note, frame: Frame, faults: Faults
) -> Iterator[tuple[str, PlainAnnotation]]:
    """Yield labels with annotations; fragments of our own layer are put together.

    Spans outside the note, labels of our own layer that the frame's rubrics lack and values that
    make no sense go into ``faults``.
    """
    joined: dict[tuple[str, str, str], list[LayerSpan]] = {}
    for span in spans:
        if span.layer.startswith(_LINGUISTIC):
            continue
        faults.check_span(span.start, span.end, len(note.text), note.id, span.line)
        label = span.values.pop(_label_name(span), None) or span.layer.rpartition(".")[2]
        group = span.values.pop(GROUP, None) if span.layer == LAYER else None
        # The position keeps spans apart that are no fragments.
        key = f"group {group}" if group is not None else f"alone {len(joined)}"
        joined.setdefault((span.layer, label, key), []).append(span)
    for (layer, label, _), fragments in joined.items():
        values: dict[str, str] = {}
        links: dict[str, str] = {}
        for fragment in fragments:
            values |= {name: v for name, v in fragment.values.items() if name not in values}
            links |= {name: v for name, v in fragment.links.items() if name not in links}
        if layer == LAYER:
            frame.check_label(label, faults, line=fragments[0].line)
        confidence = None
        if layer == LAYER and CONFIDENCE in values:
            try:
                confidence = float(values.pop(CONFIDENCE))
            except ValueError:
                faults.add(f"{CONFIDENCE!r} is not a number", line=fragments[0].line)
        pairs = tuple((fragment.start, fragment.end) for fragment in fragments)
        yield label, PlainAnnotation(pairs, confidence, _detail(layer, values, links))


def _label_name(span: LayerSpan) -> str:
    if span.layer == LAYER:
        return FEATURE
    named = [name for name in _LABEL_NAMES if name in span.values]
    return next(chain(named, span.values), "")


def _detail(layer: str, values: dict[str, str], links: dict[str, str]) -> Detail:
    own = layer == LAYER
    attributes = parse_qsl(values.pop(ATTRIBUTES, ""), keep_blank_values=True) if own else []
    return Detail(
        comment=values.pop(COMMENT, ""),
        reason=values.pop(REASON, "") if own else "",
        stated_text=values.pop(STATED, None) if own else None,
        attributes=(*attributes, *values.items(), *links.items()),
    )


def columns_in_use(corpus: Corpus) -> list[str]:
    """Return the features in use: INCEpTION refuses files with features its layer lacks."""
    details = corpus.rows.details.values()
    used = {
        GROUP: has_fragments(corpus),
        COMMENT: any(d.comment for d in details),
        REASON: any(d.reason for d in details),
        CONFIDENCE: corpus.rows.confidence is not None,
        ATTRIBUTES: any(d.attributes for d in details),
        STATED: any(d.stated_text is not None for d in details),
    }
    return [FEATURE, *(name for name, is_used in used.items() if is_used)]


def annotation_values(annotation: PlainAnnotation) -> dict[str, str]:
    """Return an annotation's further values besides its label and place, by feature name.

    >>> detail = Detail(comment="?", attributes=(("Certainty", "very low"),))
    >>> annotation_values(PlainAnnotation(((0, 5),), 0.5, detail))
    {'comment': '?', 'attributeList': 'Certainty=very%20low', 'confidence': '0.5'}
    """
    detail = annotation.detail
    values = {COMMENT: detail.comment, REASON: detail.reason}
    values = {name: value for name, value in values.items() if value}
    if detail.attributes:
        values[ATTRIBUTES] = urlencode(detail.attributes, quote_via=quote, safe="")
    if annotation.confidence is not None:
        values[CONFIDENCE] = repr(annotation.confidence)
    if detail.stated_text is not None:
        values[STATED] = detail.stated_text
    return values


#: Under which name an annotation says which chain it is a link of, and which link.
CHAIN = "chain"

#: More blanks than this between the sentences of a note are a wrong offset, not a gap.
LARGEST_GAP = 1_000_000

_FORMAT = re.compile(r"#FORMAT=WebAnno TSV 3\.([0-3])\s*")
_UNIT = re.compile(r"(\d+-\d+)(?:\.\d+)?")
_OFFSETS = re.compile(r"(\d{1,9})-(\d{1,9})")
_TEXT = "#Text="
#: How a slot is declared: its layer, its name and the type of its links.
_SLOT = re.compile(r"ROLE_[^:]*:(\w+?)_[\w.]+$")
#: How a chain's column says where it goes on: relation, chain and place in the chain.
_CHAIN = re.compile(r"(.*)->(\d+-\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Column:
    """A column after the first three; ``name`` is None where it is passed over.

    ``target`` is true in the second column of a slot, which says what fills it.
    """

    layer: str
    name: str | None
    target: bool = False


@dataclass(slots=True)
class LayerSpan:
    """One annotation of a span layer: offsets in code points, values by feature name.

    ``links`` says what it has to do with others: its place in a chain, what fills its slots.
    """

    layer: str
    start: int
    end: int
    line: int
    values: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A token or sub-token; offsets in UTF-16 units."""

    start: int
    end: int
    token: str
    cells: tuple[str, ...]
    line: int


@dataclass(slots=True)
class _Sentence:
    lines: list[str] = field(default_factory=list)
    units: list[_Unit] = field(default_factory=list)
    line: int = 0


def parse_tsv(content: str, faults: Faults) -> tuple[str, list[LayerSpan]]:
    r"""Return the text of a file and the annotations of its span layers.

    The text is put together from the ``#Text=`` lines and the offset of each sentence's first
    token. What stood between two sentences is not in the file: as INCEpTION does, a gap is
    filled with a line break and blanks, before the first sentence with blanks. Links of chains
    and slots are values like others (``chain``: ``1-2`` is the second link of the first chain;
    a slot: role and first token of its filler, ``agent 1-3``); columns of relations are passed
    over.

    >>> from pathlib import Path
    >>> content = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|value\n\n\n#Text=No fever"
    >>> content += "\n1-1\t0-2\tNo\tx[1]\t\n1-2\t3-8\tfever\tx[1]\t\n"
    >>> text, [span] = parse_tsv(content, Faults(Path("n.tsv")))
    >>> text[span.start:span.end], span.values
    ('No fever', {'value': 'x'})
    """
    lines = [line.removesuffix("\r") for line in content.split("\n")]
    match = _FORMAT.fullmatch(lines[0])
    if match is None:
        faults.add("the first line must be #FORMAT=WebAnno TSV 3.0 to 3.3", line=1)
        return "", []
    columns, first = _parse_header(lines)
    sentences = _parse_sentences(lines, first, len(columns), faults, java=match[1] in "01")
    text = _join(sentences, faults)
    units = [unit for sentence in sentences for unit in sentence.units]
    return text, _spans(units, columns, text, faults)


def _parse_header(lines: list[str]) -> tuple[list[Column], int]:
    """Return the columns and the index of the first line after them."""
    columns: list[Column] = []
    number = 1
    while number < len(lines) and lines[number].startswith("#T_"):
        kind, _, declaration = lines[number].partition("=")
        layer, *names = declaration.split("|")
        # A layer without features has one column all the same.
        names = [name for name in names if name] or [""]
        slot = None
        for name in names:
            # A slot has two columns, its role and then the type of what it points to.
            column = Column(layer, name if slot is None else slot, target=slot is not None)
            match = _SLOT.match(name) if slot is None else None
            slot = match[1] if match else None
            if match:
                column = Column(layer, slot)
            columns.append(column if kind in {"#T_SP", "#T_CH"} else Column(layer, None))
        number += 1
    return columns, number


def _parse_sentences(
    lines: list[str], first: int, n_columns: int, faults: Faults, *, java: bool
) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    inside_header = False
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line:
            inside_header = False
        elif line.startswith("#"):
            if not inside_header:
                sentences.append(_Sentence(line=number))
                inside_header = True
            if line.startswith(_TEXT):
                sentences[-1].lines.append(unescape_text(line[len(_TEXT) :], java=java))
        elif not sentences:
            faults.add("a token before the first #Text= line", line=number)
        else:
            inside_header = False
            unit = _parse_unit(line, number, n_columns, faults)
            if unit is not None:
                sentences[-1].units.append(unit)
    return sentences


def _parse_unit(line: str, number: int, n_columns: int, faults: Faults) -> _Unit | None:
    fields = line.split("\t")
    offsets = _OFFSETS.fullmatch(fields[1]) if len(fields) > 2 else None
    if offsets is None or not _UNIT.fullmatch(fields[0]):
        faults.add("not a token line: need 1-1<TAB>0-2<TAB>token and the columns", line=number)
    elif int(offsets[1]) > int(offsets[2]):
        faults.add(f"offsets {offsets[0]} run backwards", line=number)
    elif len(fields) < 3 + n_columns:
        faults.add(f"{len(fields) - 3} columns; the header declares {n_columns}", line=number)
    else:
        cells = tuple(fields[3 : 3 + n_columns])
        return _Unit(int(offsets[1]), int(offsets[2]), fields[2], cells, number)
    return None


def _join(sentences: list[_Sentence], faults: Faults) -> str:
    """Put the sentences at the offsets of their first tokens."""
    parts: list[str] = []
    length = 0
    blanks = 0
    for sentence in sentences:
        text = "\n".join(sentence.lines)
        begins = sentence.units[0].start if sentence.units else length + bool(parts)
        gap = begins - length
        blanks += max(0, gap)
        if not 0 <= gap <= LARGEST_GAP or blanks > LARGEST_GAP:
            faults.add(
                f"the sentence begins at {begins}, but the one before it ends at {length}",
                line=sentence.line,
            )
            gap = 0
        if gap:
            parts.append("\n" + " " * (gap - 1) if parts else " " * gap)
        parts.append(text)
        length += gap + Utf16Map(text).n_units
    return "".join(parts)


def _spans(units: list[_Unit], columns: list[Column], text: str, faults: Faults) -> list[LayerSpan]:
    offsets = Utf16Map(text)
    by_layer: dict[str, list[tuple[int, Column]]] = {}
    for i, column in enumerate(columns):
        if column.name is not None:
            by_layer.setdefault(column.layer, []).append((i, column))
    found: dict[tuple[str, int, int], LayerSpan] = {}
    for unit in units:
        try:
            start, end = offsets.from_utf16(unit.start), offsets.from_utf16(unit.end)
        except ValueError as error:
            faults.add(f"{error}; WebAnno counts UTF-16 units", line=unit.line)
            continue
        if faults.how.strict and unit.token not in {text[start:end], escape_text(text[start:end])}:
            faults.add(
                f"the token is not the text at {unit.start}-{unit.end} (UTF-16 units)",
                line=unit.line,
            )
        for layer, own in by_layer.items():
            stacks = [parse_cells(unit.cells[i]) for i, _ in own]
            for depth, cells in enumerate(zip_longest(*stacks)):
                number = next((c.number for c in cells if c and c.number is not None), None)
                # Without a disambiguation id an annotation is all in this unit.
                key = (layer, 0, number) if number is not None else (layer, unit.line, depth)
                span = found.setdefault(key, LayerSpan(layer, start, end, unit.line))
                span.start, span.end = min(span.start, start), max(span.end, end)
                _fill(span, [column for _, column in own], cells)
    return list(found.values())


def _fill(span: LayerSpan, columns: list[Column], cells: tuple[TsvCell | None, ...]) -> None:
    slots = {column.name for column in columns if column.target}
    roles: list[str] = []
    for column, cell in zip(columns, cells, strict=True):
        value = None if cell is None else cell.value
        name = column.name or ""
        if column.target:
            # The first token of each filler stands in the order of the roles before it.
            places = value.split(";") if value and value != NO_ANNOTATION else []
            filled = [" ".join(pair).strip() for pair in zip_longest(roles, places, fillvalue="")]
            if any(filled):
                span.links.setdefault(name, "; ".join(filled))
        elif name in slots:
            roles = value.split(";") if value and value != NO_ANNOTATION else []
        elif value is not None and name:
            link = _CHAIN.fullmatch(value)
            if link:
                span.links.setdefault(CHAIN, link[2])
                value = link[1]
            if value != NO_VALUE or not link:
                span.values.setdefault(name, value)
