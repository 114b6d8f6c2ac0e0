r"""CoNLL files: one token and its tag per line, as EBM-NLP is distributed to train taggers.

Columns are the token, others (``POS chunk``), and the tag: ``O``, ``I-PAR``, ``B-PAR`` and so on.
A line ``-DOCSTART- (ID)`` begins a note, an empty line ends a sentence and every span in it. The
text of a note is its tokens joined by one space and its sentences by a line break, unless the
column before the tag says otherwise in the words of CoNLL-U (``SpaceAfter=No``,
``SpacesAfter=\s\n``): our own files do, so that texts survive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.errors import Advice, Setting
from rubricate.formats.annotations import first_annotator
from rubricate.formats.format import HELD_BY_FRAME, Format
from rubricate.formats.frame import NO_CASE, Frame, id_to_name, name_to_id, read_frame, write_frame
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, first_bytes, read_text
from rubricate.formats.token_labels import (
    CASE,
    PICO,
    Place,
    corpus_labels,
    count_cut_and_merged,
    note_tokens,
    tokens_of,
)
from rubricate.progress import Progress, silent, watched
from rubricate.rubric import NO_METADATA, Metadata

_DOCSTART = re.compile(
    r"-DOCSTART-(?:\s+\((?P<id>.*)\))?"
    r"(?:\s+SpacesBefore=(?P<before>\S+))?(?:\s+(?P<unjudged>Judged=No))?"
)
_TAG = re.compile(r"O|_|(?P<prefix>[BIESLU])-(?P<label>\S+)")
_SPACING = re.compile(r"(?P<none>SpaceAfter=No)|SpacesAfter=(?P<spaces>\S+)")
_ESCAPE = re.compile(r"\\(?:([strn])|u([0-9a-f]{4}))")
_ESCAPES = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r"}
_SUFFIXES = {"", ".txt", ".conll", ".conll03", ".conll2003", ".bio", ".iob", ".iob2", ".tsv"}
_ANNOTATOR = "annotator"
#: Files whose first column is a number have at least so many columns.
_NUMBERED_WIDTH = 8
#: The tags of the CoNLL form.
TAGS = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
#: Which feature keeps a token that has several: interventions, then participants, then outcomes
#: (Nye et al. 2018, as the corpus's own tagging files do).
PRIORITY = ("interventions", "participants", "outcomes")
_FEATURE_OF_TAG = {tag: feature_id for feature_id, tag in TAGS.items()}


@dataclass(slots=True)
class _Tagged:
    """A note as it stands in the file; ``breaks`` are the tokens before which a sentence ends."""

    id: str
    line: int
    before: str = ""
    judged: bool = True
    tokens: list[str] = field(default_factory=list)
    spacings: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)


def looks_like_conll(path: Path) -> bool:
    """Tell whether the first lines are a ``-DOCSTART-`` or tokens with tags."""
    if not path.is_file() or path.suffix.lower() not in _SUFFIXES:
        return False
    head = first_bytes(path).decode("utf-8", errors="replace")
    if head.startswith("-DOCSTART-"):
        return True
    # The last line may be cut off.
    lines = [line for line in head.split("\n")[:-1] if line.strip()][:20]
    rows = [_fields(line) for line in lines]
    widths = {len(row) for row in rows}
    if rows and is_numbered(rows[0]):
        return False
    return len(widths) == 1 and min(widths) > 1 and all(_TAG.fullmatch(row[-1]) for row in rows)


def is_numbered(fields: Sequence[str]) -> bool:
    """Tell whether the first column numbers tokens, as in CoNLL-U, CoNLL-2006 and later ones.

    >>> is_numbered(["1", "No", "no", "DT", "_", "_", "2", "det", "_", "_"])
    True
    >>> is_numbered(["58", "CD", "O"])
    False
    """
    return len(fields) >= _NUMBERED_WIDTH and fields[0] in {"1", "1-2", "1-3", "0.1"}


def _fields(line: str) -> list[str]:
    """Split at tabs or at plain spaces, never at the other white space a token may hold."""
    line = line.removesuffix("\r")
    return line.split("\t") if "\t" in line else [part for part in line.split(" ") if part]


def read_conll(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a CoNLL file; its one annotator judged every feature in every note.

    Tags lie on tokens, so there are no offsets that could be wrong: ``strict`` changes nothing.
    """
    faults = Faults(path, how)
    frame = read_frame(path, is_folder=False, limits=how.limits)
    tagged = _read_lines(read_text(path, how.limits), path.stem, faults)
    frame.check_notes(len(tagged), faults, need="lines of a token and its tag")
    first: dict[str, int] = {}
    for note in tagged:
        note.id = name_to_id(note.id)
        if first.setdefault(note.id, note.line) != note.line:
            message = f"note {note.id} was already given in line {first[note.id]}"
            faults.add(message, line=note.line)
        for line, tag in zip(note.lines, note.tags, strict=True):
            _check_tag(tag, line, frame, faults)
    faults.raise_any()
    return _build(tagged, frame, path.stem, how.progress)


def _check_tag(tag: str, line: int, frame: Frame, faults: Faults) -> None:
    label = tag.partition("-")[2]
    if label and label not in frame.labels:
        frame.check_label(_FEATURE_OF_TAG.get(label, label), faults, line=line)


def _read_lines(body: str, stem: str, faults: Faults) -> list[_Tagged]:
    notes: list[_Tagged] = []
    width = 0
    for number, line in enumerate(body.split("\n"), start=1):
        if line.startswith("-DOCSTART-"):
            notes.append(_start(line, number, f"{stem}-{len(notes) + 1}"))
            continue
        fields = _fields(line)
        if not line.strip():
            if notes and notes[-1].tokens:
                notes[-1].breaks.add(len(notes[-1].tokens))
            continue
        if not notes:
            notes.append(_Tagged(stem, number))
        if not width and is_numbered(fields):
            what = "the first column numbers the tokens, so this is CoNLL-U or CoNLL-2006"
            advice = Advice("Read its text with {}.", (Setting("format", "conllu"),))
            faults.add(what, line=number, advice=advice)
            return []
        width = width or len(fields)
        if len(fields) < 2 or not _TAG.fullmatch(fields[-1]):
            faults.add("the last column needs a tag: O, B-LABEL or I-LABEL", line=number)
        elif len(fields) != width:
            faults.add(f"{len(fields)} columns, lines before have {width}", line=number)
        else:
            notes[-1].tokens.append(fields[0])
            notes[-1].spacings.append(fields[-2] if width > 2 else "")
            notes[-1].tags.append(fields[-1])
            notes[-1].lines.append(number)
    return notes


def _start(line: str, number: int, usual_id: str) -> _Tagged:
    match = _DOCSTART.match(line)
    if match is None:
        return _Tagged(usual_id, number)
    before = unescape_space(match["before"] or "")
    return _Tagged(match["id"] or usual_id, number, before, judged=match["unjudged"] is None)


def unescape_space(code: str) -> str:
    r"""Inverse of `escape_space`.

    >>> unescape_space(r"\s\n")
    ' \n'
    """
    plain = {"s": " ", "t": "\t", "r": "\r", "n": "\n"}
    return _ESCAPE.sub(lambda m: plain[m[1]] if m[1] else chr(int(m[2], 16)), code)


def _lay_out(note: _Tagged) -> tuple[str, list[Place]]:
    """Return the text of a note and where its tokens are in it."""
    pieces = [note.before]
    places: list[Place] = []
    position = len(note.before)
    for i, token in enumerate(note.tokens, start=1):
        places.append((position, position + len(token)))
        spacing = _SPACING.fullmatch(note.spacings[i - 1])
        if spacing is not None:
            space = unescape_space(spacing["spaces"] or "")
        elif i == len(note.tokens):
            space = ""
        else:
            space = "\n" if i in note.breaks else " "
        pieces += [token, space]
        position += len(token) + len(space)
    return "".join(pieces), places


def _tag_spans(note: _Tagged, places: list[Place]) -> Iterator[tuple[str, Place]]:
    """Yield each label with the text it covers: maximal runs, cut at ``B-`` and sentence ends."""
    label, start, end = "", 0, 0
    for i, tag in enumerate(note.tags):
        match = _TAG.fullmatch(tag)
        new = (match and match["label"]) or ""
        prefix = (match and match["prefix"]) or ""
        if label and (new != label or prefix in "BSU" or i in note.breaks):
            yield label, (start, end)
            label = ""
        if new:
            start = start if label else places[i][0]
            label, end = new, places[i][1]
            if prefix in "ELSU":
                yield label, (start, end)
                label = ""
    if label:
        yield label, (start, end)


def _build(tagged: list[_Tagged], frame: Frame, stem: str, progress: Progress) -> Corpus:
    builder = frame.builder()
    case = _add_features(builder, frame, tagged)
    split = re.match(r"train|dev|test", stem)
    metadata = NO_METADATA if split is None else Metadata(split=split[0])
    annotator_id = next(iter(builder.annotators), _ANNOTATOR)
    for raw in watched(tagged, progress, "reading notes", len(tagged)):
        text, places = _lay_out(raw)
        known = raw.id in frame.notes
        builder.add_note(frame.note(raw.id, text) if known else Note(raw.id, case, text, metadata))
        for label, span in _tag_spans(raw, places):
            feature_id = _feature_id(label, builder, frame)
            builder.annotate(annotator_id, raw.id, feature_id, [span])
    return frame.finish(builder, ((annotator_id, raw.id) for raw in tagged if raw.judged))


def _add_features(builder: CorpusBuilder, frame: Frame, tagged: list[_Tagged]) -> str:
    """Add the features that are in no rubric yet, and return the case of unknown notes."""
    labels = {tag.partition("-")[2] for note in tagged for tag in set(note.tags)} - {""}
    case = frame.default_case if frame.rubrics else NO_CASE
    if not frame.rubrics and labels & set(TAGS.values()):
        builder.add_rubric(PICO)
        case = CASE
    for label in sorted(labels):
        if not builder.has_feature(_feature_id(label, builder, frame)):
            frame.feature_id(label, case, builder)
    return case


def _feature_id(label: str, builder: CorpusBuilder, frame: Frame) -> str:
    """Return the feature of a label: the frame's, or one of the three of EBM-NLP, or its own."""
    if label in frame.labels:
        return frame.labels[label]
    own = _FEATURE_OF_TAG.get(label, label)
    return own if builder.has_feature(own) else label


def escape_space(space: str) -> str:
    r"""Return white space as CoNLL-U writes it; what it has no letter for by its number.

    >>> escape_space(" \r\n\u2028")
    '\\s\\r\\n\\u2028'
    """
    return "".join(_ESCAPES.get(char, f"\\u{ord(char):04x}") for char in space)


def write_conll(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write what the first annotator with rows marked, one tag per token.

    An annotation begins with ``B-`` and goes on with ``I-``. A token with several features keeps
    one: interventions, participants, outcomes, then the order of the rubric. A token that an
    annotation touches is tagged whole. The tags of a note that nobody judged are ``_``, since
    ``O`` would say that there is nothing. Sentences end at line breaks outside annotations.
    """
    chosen = first_annotator(corpus)
    tags = corpus_labels(chosen, TAGS)
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for note in watched(chosen.notes, progress, "writing notes", len(chosen.notes)):
            places = note_tokens(note.text)
            judged = len(chosen.note_rows(note.id)) > 0
            marks = _mark(chosen, note, places, tags) if judged else ["_"] * len(places)
            stream.writelines(_note_lines(note, places, marks, judged=judged))
    write_frame(chosen, path, is_folder=False)


def _mark(corpus: Corpus, note: Note, places: Sequence[Place], tags: dict[str, str]) -> list[str]:
    marks = ["O"] * len(places)
    rows = corpus.note_rows(note.id)
    ids = {row: corpus.features[int(corpus.rows.feature[row])].id for row in rows}
    first = {feature_id: rank for rank, feature_id in enumerate(PRIORITY)}
    for row in sorted(rows, key=lambda row: (first.get(ids[row], len(first)), row)):
        for annotation in corpus.rows.annotations(row):
            for span in annotation.spans:
                _mark_span(marks, tokens_of(span, places), tags[ids[row]])
    return marks


def _mark_span(marks: list[str], tokens: range, tag: str) -> None:
    """Tag the tokens that are free; each stretch of them begins anew."""
    prefix = "B"
    for i in tokens:
        if marks[i] == "O":
            marks[i] = f"{prefix}-{tag}"
            prefix = "I"
        else:
            prefix = "B"


def _note_lines(
    note: Note, places: Sequence[Place], marks: Sequence[str], *, judged: bool
) -> list[str]:
    before = note.text[: places[0][0]] if places else note.text
    options = [f"SpacesBefore={escape_space(before)}"] if before else []
    options += [] if judged else ["Judged=No"]
    lines = [" ".join(["-DOCSTART-", f"({id_to_name(note.id)})", *options]) + "\n\n"]
    for i, (start, end) in enumerate(places):
        is_last = i + 1 == len(places)
        space = note.text[end:] if is_last else note.text[end : places[i + 1][0]]
        breaks = not is_last and "\n" in space and not marks[i + 1].startswith("I-")
        usual = "" if is_last else "\n" if breaks else " "
        spacing = "_"
        if space != usual:
            spacing = f"SpacesAfter={escape_space(space)}" if space else "SpaceAfter=No"
        lines.append(f"{note.text[start:end]} _ {spacing} {marks[i]}\n" + "\n" * breaks)
    return [*lines, "\n"] if places else lines


def count_conll_losses(corpus: Corpus) -> dict[str, int]:
    """Return the losses because tags lie on tokens: annotations that are cut.

    >>> count_conll_losses(Corpus((), ()))
    {}
    """
    cut = count_cut_and_merged(first_annotator(corpus))[0]
    return {"boundaries": cut} if cut else {}


FORMAT = Format(
    name="conll",
    summary="CoNLL file: one token and its tag per line; one annotator",
    looks_like=looks_like_conll,
    read=read_conll,
    write=write_conll,
    holds=HELD_BY_FRAME | {"unannotated", "empty notes", "newlines", "ids"},
    count_more=count_conll_losses,
)
