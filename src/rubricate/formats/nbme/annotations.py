"""Rows of ``train.csv``: list literals of texts and locations, in bulk."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.corpus import Corpus
from rubricate.formats.annotations import LARGEST
from rubricate.formats.reading import Faults
from rubricate.formats.tables import MOST_DIGITS, CsvTable, is_number, read_table, write_table
from rubricate.progress import Progress, watched
from rubricate.rows import Detail, Rows
from rubricate.spans import fragments_text, words_at

ROW_COLUMNS = ("id", "case_num", "pn_num", "feature_num")
_COLUMNS = ("pn_num", "feature_num", "annotation", "location")
# Nine digits: what rows can hold without a closer look.
_SPAN = r"[0-9]{1,9} [0-9]{1,9}"
_NUMBER = re.compile("[0-9]+")
_LITERAL = re.compile(rf"\[(?:'{_SPAN}(?:;{_SPAN})*'(?:, '{_SPAN}(?:;{_SPAN})*')*)?\]\Z")
#: A list of texts as Python prints it; nothing else, and nothing nested, reaches its parser.
_TEXT = r"""(?:'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")"""
_TEXT_LIST = re.compile(rf"\s*\[\s*(?:{_TEXT}\s*(?:,\s*{_TEXT}\s*)*+,?\s*)?\]\s*", re.DOTALL)
_LOCATION = re.compile(r"\s*(?:-?\d+\s+-?\d+\s*(?:;\s*-?\d+\s+-?\d+\s*)*)?\Z")


@dataclass
class _RowColumns:
    """Flat columns that grow file by file."""

    note: list[int] = field(default_factory=list)
    annotator: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    row_of_annotation: list[int] = field(default_factory=list)
    annotation_of_span: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    details: dict[int, Detail] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """The notes and features that the rows of a file may name."""

    corpus: Corpus
    ids: Mapping[str, Mapping[str, str]]
    is_whole: bool


def read_annotations(
    known: Known, files: Mapping[str, Path], faults: Faults, progress: Progress
) -> Rows:
    """Read one file per annotator into rows over the corpus's notes and features."""
    columns = _RowColumns()
    for annotator, place in files.items():
        table = read_table(place, _COLUMNS, faults)
        if table is not None:
            number = known.corpus.annotator_index[annotator]
            _read_file(known, number, table, columns, progress)
    faults.raise_any()
    return Rows.build(**columns.__dict__)


def _read_file(
    known: Known, annotator: int, table: CsvTable, columns: _RowColumns, progress: Progress
) -> None:
    notes, features = find_rows(known, table)
    first_row = len(columns.note)
    columns.note += notes
    columns.feature += features
    columns.annotator += [annotator] * len(table)
    texts = [note.text for note in known.corpus.notes]
    located = zip(notes, table.column("location"), table.column("annotation"), strict=True)
    for i, (note, location, stated) in enumerate(
        watched(located, progress, f"reading {table.path.name}", len(table))
    ):
        if location == "[]" and stated == "[]":
            continue
        found = _parse_location(location)
        if found is None:
            what = "column 'location' must be a list of 'START END' texts (fragments joined by ';')"
            table.add_fault(i, what)
        elif note >= 0:
            wrong = _add(columns, first_row + i, found, texts[note], stated)
            if wrong:
                table.add_fault(i, wrong)
    if table.faults.how.strict and known.is_whole:
        _check_spans(known.corpus, columns, first_row, table)


def find_rows(known: Known, table: CsvTable) -> tuple[list[int], list[int]]:
    """Return the note and the feature of each row, -1 where unknown, and name what is wrong."""
    corpus, ids = known.corpus, known.ids
    notes = _indices(table, "pn_num", corpus.note_index, ids.get("notes", {}))
    features = _indices(table, "feature_num", corpus.feature_index, ids.get("features", {}))
    if known.is_whole:
        _name_unknown(table, "pn_num", notes)
        _name_unknown(table, "feature_num", features)
    _check_duplicates(notes, features, table)
    if table.faults.how.strict:
        _check_ids(notes, features, table)
    if table.faults.how.strict and known.is_whole:
        _check_cases(corpus, notes, features, table)
    return notes, features


def _indices(
    table: CsvTable, name: str, index: Mapping[str, int], ids: Mapping[str, str]
) -> list[int]:
    column = table.column(name)
    found = [index.get(ids.get(value, value), -1) for value in column]
    for i, place in enumerate(found):
        if place < 0 and is_number(column[i]):
            # '007' and '7' are the same number to the competition's readers.
            plain = str(int(column[i]))
            found[i] = index.get(ids.get(plain, plain), -1)
    return found


def _name_unknown(table: CsvTable, name: str, found: list[int]) -> None:
    for i, (value, place) in enumerate(zip(table.column(name), found, strict=True)):
        if place < 0:
            # What is no number may be a piece of a note.
            shown = str(int(value)) if is_number(value) else "(not a number)"
            table.add_fault(i, f"{name} {shown} is unknown")


def row_id(note: int, feature: int) -> str:
    """Return the competition's id of a row.

    >>> row_id(16, 0)
    '00016_000'
    """
    return f"{note:05d}_{feature:03d}"


def _check_ids(notes: list[int], features: list[int], table: CsvTable) -> None:
    """Name every row whose id is another's: nobody can tell which of them is meant."""
    if "id" not in table.names:
        return
    columns = [table.column(name) for name in ("id", "pn_num", "feature_num")]
    for i, (given, *pair) in enumerate(zip(*columns, strict=True)):
        needed = f"{pair[0]:0>5}_{pair[1]:0>3}"
        if given == needed or min(notes[i], features[i]) < 0:
            continue
        if [part.lstrip("0") for part in given.split("_")] != [x.lstrip("0") for x in pair]:
            table.add_fault(i, f"the id is not that of its note and feature, {needed}")


def _parse_location(literal: str) -> list[list[tuple[int, int]]] | None:
    """Return the fragments of each annotation, or None if it is not such a list."""
    if literal == "[]":
        return []
    if _LITERAL.match(literal):
        return [_pairs(list(map(int, _NUMBER.findall(i)))) for i in literal.split("', '")]
    parsed = parse_text_list(literal)
    if parsed is None or not all(_LOCATION.match(item) for item in parsed):
        return None
    words = [item.replace(";", " ").split() for item in parsed if item.strip()]
    if any(len(word) > MOST_DIGITS for own in words for word in own):
        return None
    # An offset beyond what rows can hold is beyond every note, too.
    return [_pairs([max(-LARGEST, min(int(word), LARGEST)) for word in own]) for own in words]


def _pairs(numbers: list[int]) -> list[tuple[int, int]]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def parse_text_list(literal: str) -> list[str] | None:
    """Return the texts of a Python list literal, or None if it is anything else (code, say).

    >>> parse_text_list("['no fever', 'afebrile']")
    ['no fever', 'afebrile']
    >>> parse_text_list("__import__('os')") is None
    True
    """
    if not _TEXT_LIST.fullmatch(literal):
        return None
    try:
        value: Any = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return None


def _add(
    columns: _RowColumns, row: int, found: list[list[tuple[int, int]]], text: str, stated: str
) -> str:
    """Add the annotations of a row; return what is wrong with the texts stated for them."""
    covered = [words_at(fragments, text) for fragments in found]
    first = len(columns.row_of_annotation)
    for i, fragments in enumerate(found):
        columns.row_of_annotation.append(row)
        for start, end in fragments:
            columns.annotation_of_span.append(first + i)
            columns.start.append(start)
            columns.end.append(end)
    # The text a sound file states is what Python prints; only others need parsing.
    if repr(covered) == stated:
        return ""
    texts = parse_text_list(stated)
    if texts is None:
        return "column 'annotation' must be a list of texts"
    if len(texts) != len(found):
        return f"{len(texts)} texts in 'annotation', {len(found)} places in 'location'"
    for i, (ours, theirs) in enumerate(zip(covered, texts, strict=True)):
        if ours != theirs:
            columns.details[first + i] = Detail(stated_text=theirs)
    return ""


def _check_duplicates(notes: list[int], features: list[int], table: CsvTable) -> None:
    seen: dict[tuple[int, int], int] = {}
    for i, key in enumerate(zip(notes, features, strict=True)):
        if min(key) >= 0 and seen.setdefault(key, i) != i:
            table.add_fault(i, f"the note and feature of row {table.lines[seen[key]]} occur again")


def _check_cases(corpus: Corpus, notes: list[int], features: list[int], table: CsvTable) -> None:
    """Name every row whose case, or whose feature's case, is not that of its note."""
    note_cases = [note.case for note in corpus.notes]
    feature_cases = [feature.case for feature in corpus.features]
    given = table.column("case_num") if "case_num" in table.names else None
    for i, (note, feature) in enumerate(zip(notes, features, strict=True)):
        if note < 0:
            continue
        case = note_cases[note]
        if given is not None and given[i] != case:
            own = _shown_case(corpus, case)
            table.add_fault(i, f"case_num is not that of note {corpus.notes[note].id}, {own}")
        if feature >= 0 and feature_cases[feature] != case:
            table.add_fault(
                i,
                f"feature {corpus.features[feature].id} belongs to case {feature_cases[feature]}, "
                f"note {corpus.notes[note].id} to case {_shown_case(corpus, case)}",
            )


def _shown_case(corpus: Corpus, case: str) -> str:
    """Return a case as messages may show it: one that no feature has may be a piece of a note."""
    return case if any(case == rubric.case for rubric in corpus.rubrics) else "another"


def _check_spans(corpus: Corpus, columns: _RowColumns, first_row: int, table: CsvTable) -> None:
    """Name every span outside its note."""
    length = np.array([len(note.text) for note in corpus.notes])
    row = np.array(columns.row_of_annotation, dtype=np.int64)
    row = row[np.array(columns.annotation_of_span, dtype=np.int64)]
    start, end = np.array(columns.start, np.int64), np.array(columns.end, np.int64)
    note_of = np.array(columns.note, dtype=np.int64)[row]
    wrong = (row >= first_row) & ((start < 0) | (start >= end) | (end > length[note_of]))
    own = table.faults.of(table.path)
    for i in np.flatnonzero(wrong):
        note = corpus.notes[int(note_of[i])]
        line = table.lines[int(row[i]) - first_row]
        own.check_span(int(start[i]), int(end[i]), len(note.text), note.id, line)


def write_annotations(
    corpus: Corpus,
    annotator: int,
    path: Path,
    numbers: tuple[list[int], list[int]],
    progress: Progress,
) -> None:
    """Write one annotator's rows as ``train.csv`` has them; notes and features by number."""
    note_numbers, feature_numbers = numbers
    rows = corpus.rows
    lines = []
    own = np.flatnonzero(rows.annotator == annotator).tolist()
    for row in watched(own, progress, f"writing {path.name}", len(own)):
        note = corpus.notes[int(rows.note[row])]
        pair = (note_numbers[int(rows.note[row])], feature_numbers[int(rows.feature[row])])
        texts, places = [], []
        for spans, _, detail in rows.annotations(row):
            stated = detail.stated_text
            texts.append(words_at(spans, note.text) if stated is None else stated)
            places.append(fragments_text(spans))
        lines.append((row_id(*pair), note.case, *pair, repr(texts), repr(places)))
    write_table(path, (*ROW_COLUMNS, "annotation", "location"), lines, quoted=True)
