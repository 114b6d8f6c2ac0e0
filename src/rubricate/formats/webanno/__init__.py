"""WebAnno TSV 3.3, of WebAnno and INCEpTION: one file per note and annotator."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rubricate.corpus import Annotator, Corpus, Note
from rubricate.formats.annotations import Utf16Map, refuse_outside
from rubricate.formats.cas.write import INITIAL, LAYER
from rubricate.formats.format import HELD_BY_TOOLS, Format
from rubricate.formats.frame import (
    Frame,
    Labelled,
    id_to_name,
    judged_notes,
    name_to_id,
    read_frame,
    write_frame,
)
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, first_bytes
from rubricate.formats.webanno.read import (
    FEATURE,
    GROUP,
    LayerSpan,
    annotation_values,
    columns_in_use,
    parse_tsv,
    spans_to_annotations,
)
from rubricate.formats.webanno.values import NO_ANNOTATION, TsvCell, cell_text, escape_text
from rubricate.progress import Progress, silent, watched
from rubricate.spans import Span, merge_spans

Pair = tuple[int, int]

_TOKEN = re.compile(r"[\w\u0300-\u036f]+|[^\s\w]")


def write_webanno(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    r"""Write a folder of .tsv files: one per note, or per note and annotator if there are several.

    All annotations are of the layer ``webanno.custom.Feature``, which must allow stacking and
    crossing sentences and have the string features named in the files. INCEpTION has no
    discontinuous spans: each fragment is a span of its own, and fragments of one annotation
    share the value of ``group``. Offsets are UTF-16 units.

    >>> import tempfile
    >>> from rubricate import CorpusBuilder, Feature
    >>> builder = CorpusBuilder()
    >>> builder.add_note(Note("n", "c", "no fever, chills"))
    >>> builder.add_feature(Feature("7", "c", "No chills"))
    >>> builder.annotate("a", "n", "7", [(0, 2), (10, 16)])
    >>> folder = Path(tempfile.mkdtemp()) / "tsv"
    >>> write_webanno(builder.build(), folder)
    >>> for line in (folder / "n.tsv").read_text(encoding="utf-8").splitlines()[4:7]:
    ...     print(line)
    #Text=no fever, chills
    1-1	0-2	no	7\_No-chills	1
    1-2	3-8	fever	_	_
    """
    refuse_outside(corpus, "WebAnno")
    path.mkdir()
    columns = columns_in_use(corpus)
    alone = len(corpus.annotators) < 2
    reserved = frozenset({INITIAL})
    for note, judged in judged_notes(corpus, progress):
        name = id_to_name(note.id)
        for who, own in judged.items():
            marks = list(_marks(own, columns))
            whose = id_to_name(who, reserved=reserved)
            _write(path / (f"{name}.tsv" if alone else f"{name}/{whose}.tsv"), note, marks, columns)
        if not judged:
            _write(path / name / f"{INITIAL}.tsv", note, [], columns)
    write_frame(corpus, path, is_folder=True)


def _marks(annotations: list[Labelled], columns: list[str]) -> Iterator[TsvMark]:
    n_groups = 0
    for label, annotation in annotations:
        values = {FEATURE: label} | annotation_values(annotation)
        if len(annotation.spans) > 1:
            n_groups += 1
            values[GROUP] = str(n_groups)
        for start, end in annotation.spans:
            yield TsvMark(start, end, tuple(values.get(name) for name in columns))
            # What is said of the whole annotation is said once, at its first fragment.
            values = {name: values[name] for name in (FEATURE, GROUP) if name in values}


def _write(place: Path, note: Note, marks: list[TsvMark], columns: list[str]) -> None:
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(note_to_tsv(note.text, marks, LAYER, columns).encode())


@dataclass(frozen=True, slots=True)
class TsvMark:
    """One span with its values, one per column, None where not given; offsets in code points."""

    start: int
    end: int
    values: tuple[str | None, ...]


def note_to_tsv(text: str, marks: Sequence[TsvMark], layer: str, columns: Sequence[str]) -> str:
    r"""Return the file of one note as judged by one annotator.

    A sentence ends at a line break before a word, so what is between sentences is always
    exactly one line break, which readers put back. Blanks are tokens only where an annotation
    begins or ends with them, and at the start of the text, where a sentence must begin with a
    token; otherwise the format could not say where they are.

    >>> print(note_to_tsv("No fever", [TsvMark(0, 5, ("x",))], "custom.Span", ["value"]))
    #FORMAT=WebAnno TSV 3.3
    #T_SP=custom.Span|value
    <BLANKLINE>
    <BLANKLINE>
    #Text=No fever
    1-1	0-2	No	x[1]
    1-2	3-8	fever	_
    1-2.1	3-5	fe	x[1]
    <BLANKLINE>
    """
    tokens = _tokens(text, marks)
    lines_of = _TsvLines(text, tokens, marks, len(columns))
    head = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={'|'.join([layer, *columns])}\n\n"
    parts = [head]
    for number, (start, end) in enumerate(_sentences(text, tokens), start=1):
        lines = [f"#Text={escape_text(line)}" for line in text[start:end].split("\n")]
        own = slice(bisect_left(tokens, (start, start)), bisect_left(tokens, (end, end + 1)))
        lines += lines_of.of_tokens(range(*own.indices(len(tokens))), number)
        parts.append("\n" + "".join(f"{line}\n" for line in lines))
    return "".join(parts)


def _tokens(text: str, marks: Sequence[TsvMark]) -> list[Pair]:
    """Return words and signs, and those blanks that must be tokens."""
    if not text:
        return [(0, 0)]
    needed = [Span(0, len(text) - len(text.lstrip()))] if text[0].isspace() else []
    for mark in marks:
        inside = text[mark.start : mark.end]
        lead, trail = len(inside) - len(inside.lstrip()), len(inside) - len(inside.rstrip())
        if lead:
            needed.append(Span(mark.start, mark.start + lead))
        if trail:
            needed.append(Span(mark.end - trail, mark.end))
    blanks = [(span.start, span.end) for span in merge_spans(needed)]
    return sorted(blanks + [match.span() for match in _TOKEN.finditer(text)])


def _sentences(text: str, tokens: Sequence[Pair]) -> Iterator[Pair]:
    """Yield the sentences; the line break between two belongs to neither."""
    start = 0
    for match in re.finditer(r"\n(?=\S)", text):
        before = bisect_right(tokens, (match.start(), len(text))) - 1
        if before < 0 or tokens[before][1] <= match.start():
            yield start, match.start()
            start = match.end()
    yield start, len(text)


class _TsvLines:
    """The lines of all tokens and sub-tokens of a note."""

    def __init__(
        self, text: str, tokens: list[Pair], marks: Sequence[TsvMark], n_columns: int
    ) -> None:
        self._text = text
        self._offsets = Utf16Map(text)
        self._tokens = tokens
        self._marks = marks
        self._n_columns = n_columns
        self._at: dict[Pair, list[int]] = {}
        self._parts: list[set[Pair]] = [set() for _ in tokens]
        self._several_units: set[int] = set()
        self._numbers: dict[int, int] = {}
        for i, mark in enumerate(marks):
            self._place(i, mark)

    def _place(self, i: int, mark: TsvMark) -> None:
        first = bisect_right(self._tokens, (mark.start, len(self._text))) - 1
        token = first
        while token < len(self._tokens) and self._tokens[token][0] < mark.end:
            start, end = self._tokens[token]
            unit = (max(start, mark.start), min(end, mark.end))
            self._at.setdefault(unit, []).append(i)
            if unit != (start, end):
                self._parts[token].add(unit)
            token += 1
        if token - first > 1:
            self._several_units.add(i)

    def of_tokens(self, tokens: range, sentence: int) -> Iterator[str]:
        """Yield the lines of one sentence's tokens."""
        for place, token in enumerate(tokens, start=1):
            yield self._line(f"{sentence}-{place}", self._tokens[token])
            parts = sorted(self._parts[token], key=lambda unit: (unit[0], -unit[1]))
            for n, unit in enumerate(parts, start=1):
                yield self._line(f"{sentence}-{place}.{n}", unit)

    def _line(self, name: str, unit: Pair) -> str:
        start, end = (self._offsets.to_utf16(offset) for offset in unit)
        token = self._text[unit[0] : unit[1]]
        if not token.isprintable():
            token = escape_text(token)
        stack = self._at.get(unit, [])
        numbers = [self._number(i, alone=len(stack) == 1) for i in stack]
        cells = [
            "|".join(
                cell_text(TsvCell(self._marks[i].values[column], number))
                for i, number in zip(stack, numbers, strict=True)
            )
            if stack
            else NO_ANNOTATION
            for column in range(self._n_columns)
        ]
        return "\t".join([name, f"{start}-{end}", token, *cells, ""])

    def _number(self, i: int, *, alone: bool) -> int | None:
        """Return the disambiguation id, given in the order in which they are first needed."""
        if alone and i not in self._several_units:
            return None
        return self._numbers.setdefault(i, len(self._numbers) + 1)


def looks_like_webanno(path: Path) -> bool:
    """Tell whether the file, or the first .tsv file of the folder, is WebAnno TSV 3."""
    place = next((p for p, _, _ in _files(path, Frame())), None) if path.is_dir() else path
    if place is None or place.suffix != ".tsv" or not place.is_file():
        return False
    return first_bytes(place).startswith(b"#FORMAT=WebAnno TSV")


def read_webanno(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read one .tsv file, or a folder of them as we write it or as INCEpTION exports it.

    ``NOTE.tsv`` is judged by the only annotator, ``NOTE/ANNOTATOR.tsv`` by the one it is named
    after, and ``NOTE/INITIAL_CAS.tsv`` by nobody. Of an exported project the folders
    ``annotation`` and ``curation`` are read. The label of an annotation is its value of
    ``feature`` (our own layer), ``value`` or ``label``, else its first value, else the name of
    its layer; the other values become attributes, ``comment`` the comment. A link of a chain is
    an annotation, too; its chain and place in it, and each filled slot of an annotation, become
    attributes. Layers about words (part of speech, lemma, ...) are passed over. See
    `rubricate.formats.webanno.read.parse_tsv` for how the text is put together.
    """
    faults = Faults(path, how)
    frame = read_frame(path, is_folder=path.is_dir(), limits=how.limits)
    texts: dict[str, str] = {}
    judged: dict[tuple[str, str], tuple[Path, list[LayerSpan]]] = {}
    for place, note_id, annotator_id in watched(_files(path, frame), how.progress, "reading files"):
        text, spans = _parse_file(place, faults)
        if text is None:
            continue
        if texts.setdefault(note_id, text) != text:
            faults.add(f"its text differs from that of another file of note {note_id}", path=place)
        elif annotator_id is not None:
            if (annotator_id, note_id) in judged:
                faults.add(f"a second file of {annotator_id!r} for note {note_id!r}", path=place)
            judged[annotator_id, note_id] = (place, spans)
    frame.check_notes(len(texts), faults, need=".tsv files of WebAnno TSV 3")
    builder = frame.builder()
    for note_id in frame.in_order(texts):
        builder.add_note(frame.note(note_id, texts[note_id]))
    for (annotator_id, note_id), (place, spans) in judged.items():
        if annotator_id not in builder.annotators:
            builder.add_annotator(Annotator(annotator_id))
        own, note = faults.of(place), builder.notes[note_id]
        for label, found in spans_to_annotations(spans, note, frame, own):
            frame.annotate(builder, annotator_id, note_id, label, found)
    faults.raise_any()
    return frame.finish(builder, judged)


def _files(path: Path, frame: Frame) -> Iterator[tuple[Path, str, str | None]]:
    """Yield each file with its note and annotator (None: nobody)."""
    exported = chain(path.glob("annotation/*/*.tsv"), path.glob("curation/*/*.tsv"))
    nested = sorted(exported) or sorted(path.glob("*/*.tsv"))
    direct = [path] if path.is_file() else sorted(path.glob("*.tsv"))
    for place in direct:
        if not place.name.startswith("."):
            yield place, name_to_id(place.stem), frame.only_annotator
    for place in nested:
        if not place.name.startswith("."):
            annotator_id = None if place.stem == INITIAL else name_to_id(place.stem)
            yield place, name_to_id(place.parent.name), annotator_id


def _parse_file(place: Path, faults: Faults) -> tuple[str | None, list[LayerSpan]]:
    """Return the text and the spans of a file, no text if there is something wrong with it."""
    content = faults.text_of(place)
    if content is None:
        return None, []
    before = len(faults.found)
    found = parse_tsv(content, faults.of(place))
    return (None, []) if len(faults.found) > before else found


FORMAT = Format(
    name="webanno",
    summary="WebAnno TSV 3.3, a folder of .tsv files for WebAnno and INCEpTION",
    looks_like=looks_like_webanno,
    read=read_webanno,
    write=write_webanno,
    made=frozenset({"*.tsv"}),
    holds=HELD_BY_TOOLS,
)
