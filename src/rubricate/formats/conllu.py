r"""CoNLL-U and CoNLL-2006 files, read for their texts: one token per line, its number first.

Ten columns: number, token, lemma, two parts of speech, features, head, relation, and two more, of
which CoNLL-U uses the last for ``SpaceAfter=No`` and ``SpacesAfter=\s\n``. ``# newdoc id = ID``
begins a note; without one, the file is a note. ``# text = ...`` is the text of a sentence. Words
that a token stands for (``1-2`` for ``1`` and ``2``) and words left out in the text (``8.1``) are
passed over, and so is what the other columns say. Sentences are joined by a line break, paragraphs
by two, unless the file says otherwise. CoNLL-2009 and later have more columns and are read alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from rubricate.builder import CorpusBuilder
from rubricate.corpus import Corpus, Note
from rubricate.formats.conll import is_numbered, unescape_space
from rubricate.formats.format import Format
from rubricate.formats.options import USUAL_OPTIONS, ReadOptions
from rubricate.formats.reading import Faults, first_bytes, read_text
from rubricate.progress import watched

_SUFFIXES = {"", ".txt", ".conll", ".conllu", ".conllx", ".conll06", ".tab", ".tsv"}
_NEW_NOTE = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(?P<id>.*\S))?\s*")
_TEXT = re.compile(r"#\s*text\s*=\s?(?P<text>.*)")
_NEW_PARAGRAPH = re.compile(r"#\s*newpar\b.*")
_NUMBER = re.compile(r"[0-9]{1,9}(?:(?P<mark>[-.])(?P<last>[0-9]{1,9}))?")
_SPACE_AFTER = re.compile(r"(?:^|\|)(?:(?P<none>SpaceAfter=No)|SpacesAfter=(?P<spaces>[^|]+))")
#: How much of a file is looked at to find its format.
_LOOK = 1 << 16


@dataclass(slots=True)
class _TokenSentence:
    text: str | None = None
    tokens: list[str] = field(default_factory=list)
    #: White space after the last token; None where nothing says so.
    after: str | None = None
    paragraph: bool = False


@dataclass(slots=True)
class _TokenNote:
    id: str
    line: int
    sentences: list[_TokenSentence] = field(default_factory=list)

    def text(self) -> str:
        """Return the text of the note."""
        parts: list[str] = []
        for i, sentence in enumerate(self.sentences):
            if i:
                before = self.sentences[i - 1].after
                usual = "\n\n" if sentence.paragraph else "\n"
                parts.append(usual if before is None else before)
            # As the file states it, or as its tokens make it.
            parts.append("".join(sentence.tokens) if sentence.text is None else sentence.text)
        return "".join(parts)


def looks_like_conllu(path: Path) -> bool:
    """Tell whether the first line that is no comment numbers a token in many columns."""
    if not path.is_file() or path.suffix.lower() not in _SUFFIXES:
        return False
    head = first_bytes(path, _LOOK).decode("utf-8", errors="replace")
    if head.startswith("#FORMAT=WebAnno"):
        return False
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith("#")]
    return bool(lines) and is_numbered(_columns(lines[0]))


def _columns(line: str) -> list[str]:
    line = line.removesuffix("\r")
    return line.split("\t") if "\t" in line else line.split(" ")


def read_conllu(path: Path, how: ReadOptions = USUAL_OPTIONS) -> Corpus:
    """Read the texts of a file; nobody judged them, so ``strict`` changes nothing."""
    faults = Faults(path, how)
    notes = _read_notes(read_text(path, how.limits), path.stem, faults)
    if not any(note.sentences for note in notes):
        faults.add("there are no notes: need lines of a number, a token and more columns")
    builder = CorpusBuilder()
    for note in watched(notes, how.progress, "reading notes", len(notes)):
        if note.id in builder.notes:
            faults.add(f"note {note.id} was already given", line=note.line)
        else:
            builder.add_note(Note(note.id, "", note.text()))
    faults.raise_any()
    return builder.build()


def _read_notes(body: str, stem: str, faults: Faults) -> list[_TokenNote]:
    notes: list[_TokenNote] = []
    sentence, covered = _TokenSentence(), 0
    for number, line in enumerate(body.split("\n"), start=1):
        if match := _NEW_NOTE.fullmatch(line):
            notes.append(_TokenNote(match["id"] or f"{stem}-{len(notes) + 1}", number))
        elif line.startswith("#") and not is_numbered(_columns(line)):
            if _NEW_PARAGRAPH.fullmatch(line):
                sentence.paragraph = True
            elif match := _TEXT.fullmatch(line.removesuffix("\r")):
                sentence.text = match["text"]
        elif not line.strip():
            sentence, covered = _TokenSentence(), 0
        else:
            if not notes:
                notes.append(_TokenNote(stem, number))
            if not sentence.tokens:
                notes[-1].sentences.append(sentence)
            covered = _add_token(sentence, _columns(line), covered, number, faults)
    return notes


def _add_token(
    sentence: _TokenSentence, columns: list[str], covered: int, line: int, faults: Faults
) -> int:
    """Add the token of a line, and return up to which number tokens are covered by one before."""
    match = _NUMBER.fullmatch(columns[0])
    if match is None or len(columns) < 2:
        faults.add("a line needs a number, a token and more columns", line=line)
        return covered
    if match["mark"] == "." or (match["mark"] is None and int(columns[0]) <= covered):
        return covered
    if sentence.tokens and sentence.after is None:
        sentence.tokens.append(" ")
    elif sentence.tokens:
        sentence.tokens.append(sentence.after or "")
    sentence.tokens.append(columns[1])
    space = _SPACE_AFTER.search(columns[9]) if len(columns) == 10 else None
    sentence.after = unescape_space(space["spaces"] or "") if space else None
    return int(match["last"]) if match["mark"] == "-" else covered


FORMAT = Format(
    name="conllu",
    summary="CoNLL-U and CoNLL-2006: one numbered token per line; read only, for its text",
    looks_like=looks_like_conllu,
    read=read_conllu,
)
