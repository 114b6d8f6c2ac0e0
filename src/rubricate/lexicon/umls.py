"""English names from the user's own copy of the UMLS Metathesaurus (MRCONSO.RRF)."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import IO

from rubricate.errors import Fault, InputError
from rubricate.lexicon.groups import Group, Phrase
from rubricate.text.words import phrase_key

#: Columns of MRCONSO.RRF (UMLS Reference Manual, table "Concept Names and Sources").
_CUI, _LANGUAGE, _NAME, _SUPPRESS = 0, 1, 14, 16
_COLUMNS = 18
#: Longer names are classification entries that nobody writes in a note.
_MOST_WORDS = 6
_MOST_CHARS = 60
_MOST_FAULTS = 100


def read_umls(path: Path) -> Iterator[Group]:
    """Yield a group for each identifier with at least two English names that are not suppressed.

    The file is read line by line, so its size does not matter. A file that ends in ``.gz`` is
    unpacked on the way.

    Raises
    ------
    InputError
        If lines have too few columns.
    """
    faults: list[Fault] = []
    with _opened(path) as stream:
        for ident, rows in groupby(_rows(stream, path, faults), key=lambda row: row[0]):
            names: dict[str, str] = {}
            for _, name in rows:
                names.setdefault(phrase_key(name), name)
            if len(names) > 1:
                yield Group(f"umls:{ident}", tuple(Phrase(name, "umls") for name in names.values()))
    if faults:
        raise InputError(faults)


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def _rows(stream: IO[str], path: Path, faults: list[Fault]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(stream, start=1):
        fields = line.split("|")
        if len(fields) < _COLUMNS:
            faults.append(
                Fault(
                    f"{len(fields)} columns, MRCONSO.RRF has {_COLUMNS} divided by |", path, number
                )
            )
            if len(faults) >= _MOST_FAULTS:
                raise InputError(faults)
            continue
        if fields[_LANGUAGE] != "ENG" or fields[_SUPPRESS] != "N":
            continue
        name = fields[_NAME]
        if len(name) <= _MOST_CHARS and name.count(" ") < _MOST_WORDS:
            yield fields[_CUI], name
