"""Readers of synonyms that users install themselves: HPO, MeSH and drug names, WordNet, UMLS."""

from __future__ import annotations

import bz2
import gzip
import pickle
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from rubricate.errors import Fault, InputError
from rubricate.lexicon.groups import Group, Phrase
from rubricate.reading.tokens import phrase_key

_SYNONYM = re.compile(r'synonym: "((?:[^"\\]|\\.)*)" (EXACT|BROAD|NARROW|RELATED)(?: ([^\s\[]+))?')


def read_hpo(path: Path) -> Iterator[Group]:
    """Yield a group for each term with a synonym; lay terms have the source ``hpo_lay``.

    Exact synonyms are taken, and lay terms that are exact or related; broader and narrower ones
    are not synonyms.
    """
    seen = False
    with path.open(encoding="utf-8") as stream:
        ident, current = "", False
        phrases: list[Phrase] = []
        for line in stream:
            if line.startswith("["):
                yield from _finished(ident, phrases)
                current = line.startswith("[Term]")
                seen = seen or current
                ident, phrases = "", []
            elif not current:
                continue
            elif line.startswith("id: "):
                ident = line[4:].strip()
            elif line.startswith("name: "):
                phrases.append(Phrase(line[6:].strip(), "hpo"))
            elif line.startswith("synonym: "):
                phrases.extend(_synonym(line))
            elif line.startswith("is_obsolete: true"):
                current, phrases = False, []
        yield from _finished(ident, phrases)
    if not seen:
        raise InputError([Fault("no [Term] in the file; an OBO file is wanted (hp.obo)", path)])


def _synonym(line: str) -> list[Phrase]:
    match = _SYNONYM.match(line)
    if match is None:
        return []
    text, scope, kind = match[1].replace('\\"', '"'), match[2], match[3] or ""
    lay = kind == "layperson"
    if kind == "obsolete_synonym" or not (scope == "EXACT" or (lay and scope == "RELATED")):
        return []
    return [Phrase(text, "hpo_lay" if lay else "hpo")]


def _finished(ident: str, phrases: list[Phrase]) -> list[Group]:
    return [Group(f"hpo:{ident}", tuple(phrases))] if ident and len(phrases) > 1 else []


def hpo_version(path: Path) -> str:
    """Return the file's ``data-version``, or an empty text."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.startswith("data-version: "):
                return line.split(": ", 1)[1].strip()
            if line.startswith("["):
                break
    return ""


#: Names a note could hold: words of letters, no chemical formulas and no inverted index entries.
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(?:[ '\-’][a-z0-9]+)*")
_MOST_NAME_WORDS = 5
_FEWEST_LETTERS = 3


class _PlainUnpickler(pickle.Unpickler):
    """Refuses every class and function, so that loading cannot run code.

    Two packages ship their names as pickles: they are found and read as data, never imported.
    """

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not plain data")


def read_mesh(path: Path) -> Iterator[Group]:
    """Yield a group for each disease of the MeSH table with at least two names."""
    yield from _read(path, "mesh", "disease")


def read_drugs(path: Path) -> Iterator[Group]:
    """Yield a group for each drug with at least two names, generic or brand."""
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
        and name.count(" ") < _MOST_NAME_WORDS
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


WORDNET_PLACES = (Path("/usr/share/wordnet"), Path("/usr/local/WordNet-3.0/dict"))
_PARTS = ("noun", "verb", "adj", "adv")
#: Lexicographer files whose words notes use: acts, attributes, body, events, feelings, food,
#: people, phenomena, processes, states, substances, time; verbs; adjectives and adverbs.
_FILES = frozenset(
    [0, 1, 2, 4, 7, 8, 11, 12, 13, 18, 19, 22, 26, 27, 28, 29, 30, 31, 34, 35, 37, 38, 39, 42, 44]
)
#: Rarer senses of a word bring in more noise than synonyms.
_MOST_SENSES = 2


def read_wordnet(folder: Path) -> Iterator[Group]:
    """Yield a group for each synset with at least two words in one of their main senses."""
    missing = [
        Fault("file is missing; need data.* and index.* of noun, verb, adj and adv", path)
        for part in _PARTS
        for path in (folder / f"data.{part}", folder / f"index.{part}")
        if not path.is_file()
    ]
    if missing:
        raise InputError(missing)
    for part in _PARTS:
        main = _main_senses(folder / f"index.{part}")
        yield from _synsets(folder / f"data.{part}", part, main)


def _main_senses(path: Path) -> set[tuple[str, str]]:
    """Return (word, synset offset) for the most frequent senses of each word."""
    main: set[tuple[str, str]] = set()
    faults: list[Fault] = []
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.startswith(" "):
                continue
            fields = line.split()
            if len(fields) < 7 or not fields[2].isdecimal():
                faults.append(Fault("not a line of a WordNet index", path, number))
                continue
            count = int(fields[2])
            for offset in fields[-count:][:_MOST_SENSES]:
                main.add((fields[0], offset))
    InputError.raise_any(faults)
    return main


def _synsets(path: Path, part: str, main: set[tuple[str, str]]) -> Iterator[Group]:
    faults: list[Fault] = []
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if line.startswith(" "):
                continue
            fields = line.partition("|")[0].split()
            try:
                offset, lexfile, words = fields[0], int(fields[1]), int(fields[3], 16)
                names = [fields[4 + 2 * k].partition("(")[0] for k in range(words)]
            except (IndexError, ValueError):
                faults.append(Fault("not a line of a WordNet data file", path, number))
                continue
            if lexfile not in _FILES:
                continue
            kept = [name for name in names if (name.lower(), offset) in main]
            if len(kept) > 1:
                phrases = tuple(Phrase(name.replace("_", " "), "wordnet") for name in kept)
                yield Group(f"wordnet:{part}:{offset}", phrases)
    InputError.raise_any(faults)


def wordnet_version(folder: Path) -> str:
    """Return the version that the data files' preamble names, or an empty text."""
    with (folder / "data.noun").open(encoding="utf-8") as stream:
        for line in stream:
            if not line.startswith(" "):
                break
            words = line.split()
            if "WordNet" in words and "Copyright" in words:
                return words[words.index("WordNet") + 1]
    return ""


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
    """
    faults: list[Fault] = []
    with _opened(path) as stream:
        for ident, rows in groupby(_rows(stream, path, faults), key=lambda row: row[0]):
            names: dict[str, str] = {}
            for _, name in rows:
                names.setdefault(phrase_key(name), name)
            if len(names) > 1:
                yield Group(f"umls:{ident}", tuple(Phrase(name, "umls") for name in names.values()))
    InputError.raise_any(faults)


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
