"""The format `bracketed`: one text file with notes and marks, easy to write by hand.

A line ``### CASE`` begins a case. The lines below it are its features: an id and the text. A line
``=== NOTE`` begins a note. Marks are in brackets, with the id of the feature first::

    ### 4
    1 Chest pain
    2 No fever
    === s1
    [1 Chest pain] for 3 days. [2 Denies fever].
"""

from __future__ import annotations

import re
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError
from rubricate.formats.format import Format
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, read_text
from rubricate.progress import Progress, silent
from rubricate.rubric import Feature

ANNOTATOR = "bracketed"
_MARK = re.compile(r"\[(\S+) ([^\[\]]+)\]")


def looks_like_bracketed(path: Path) -> bool:
    """Tell whether the file has the ending of this format."""
    return path.is_file() and path.suffix == ".bracketed"


def read_bracketed(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read a file; InputError with every fault and its line."""
    faults, builder = Faults(path, how), CorpusBuilder()
    case, note, begun = "", "", 0
    texts: dict[str, tuple[str, int, list[str]]] = {}
    for number, line in enumerate(read_text(path, how.limits).splitlines(), start=1):
        head, _, rest = line.partition(" ")
        if head == "###":
            case, note = rest, ""
        elif head == "===" and rest in texts:
            faults.add(f"note {rest!r} occurs again", line=number)
        elif head == "===":
            note, begun = rest, number
            texts[note] = (case, begun, [])
        elif note:
            texts[note][2].append(line)
        elif rest and not builder.has_feature(head):
            builder.add_feature(Feature(head, case, rest))
        elif line.strip():
            faults.add("need the id of a new feature, a space, and its text", line=number)
    for note, (case, begun, lines) in texts.items():
        _add_note(builder, Note(note, case, "\n".join(lines)), faults, begun)
    faults.raise_any()
    return builder.build()


def _add_note(builder: CorpusBuilder, marked: Note, faults: Faults, line: int) -> None:
    text, marks, end = "", [], 0
    for mark in _MARK.finditer(marked.text):
        text += marked.text[end : mark.start()]
        marks.append((mark[1], (len(text), len(text) + len(mark[2]))))
        text, end = text + mark[2], mark.end()
    builder.add_note(Note(marked.id, marked.case, text + marked.text[end:]))
    builder.judge_all(ANNOTATOR, marked.id)
    for feature, span in marks:
        if builder.has_feature(feature):
            builder.annotate(ANNOTATOR, marked.id, feature, [span])
        else:
            faults.add(f"note {marked.id!r} marks {feature!r}, which is no feature", line=line)


def write_bracketed(corpus: Corpus, path: Path, *, progress: Progress = silent) -> None:
    """Write a file; InputError for notes and ids that the format cannot hold."""
    faults = [Fault(f"note {note.id!r} has brackets", path)
              for note in corpus.notes if set("[]") & set(note.text)]  # fmt: skip
    InputError.raise_any(faults)
    lines = []
    for rubric in corpus.rubrics:
        lines += [f"### {rubric.case}", *(f"{one.id} {one.text}" for one in rubric)]
        for note in corpus.notes:
            if note.case == rubric.case:
                lines += [f"=== {note.id}", _marked(corpus, note)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _marked(corpus: Corpus, note: Note) -> str:
    marks = [
        (span.start, span.end, corpus.features[corpus.rows.feature[row]].id)
        for row in corpus.note_rows(note.id)
        if corpus.rows.annotator[row] == 0
        for one in corpus.row_annotations(row)
        for span in one.spans
    ]
    text = note.text
    # From the last mark to the first, so that the offsets of the others hold.
    for start, end, feature in sorted(marks, reverse=True):
        text = f"{text[:start]}[{feature} {text[start:end]}]{text[end:]}"
    return text


FORMAT = Format(
    name="bracketed",
    summary="notes with marks in brackets, written by hand",
    looks_like=looks_like_bracketed,
    read=read_bracketed,
    write=write_bracketed,
    # What is not named here is counted, and the command prints what is lost.
    holds=frozenset({"empty notes", "newlines", "boundaries", "ids"}),
)
