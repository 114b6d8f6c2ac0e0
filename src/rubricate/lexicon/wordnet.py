"""Synonyms from WordNet's dictionary files, as Debian's wordnet-base and Princeton ship them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rubricate.errors import Fault, InputError
from rubricate.lexicon.groups import Group, Phrase

PLACES = (Path("/usr/share/wordnet"), Path("/usr/local/WordNet-3.0/dict"))
_PARTS = ("noun", "verb", "adj", "adv")
#: Lexicographer files whose words notes use: acts, attributes, body, events, feelings, food,
#: people, phenomena, processes, states, substances, time; verbs; adjectives and adverbs.
_FILES = frozenset(
    [0, 1, 2, 4, 7, 8, 11, 12, 13, 18, 19, 22, 26, 27, 28, 29, 30, 31, 34, 35, 37, 38, 39, 42, 44]
)
#: Rarer senses of a word bring in more noise than synonyms.
_MOST_SENSES = 2


def read_wordnet(folder: Path) -> Iterator[Group]:
    """Yield a group for each synset with at least two words in one of their main senses.

    Parameters
    ----------
    folder : Path
        Holds ``data.noun``, ``index.noun`` and the files of the other parts of speech.

    Raises
    ------
    InputError
        If a file is missing or a line is not as the format wants it.
    """
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
    if faults:
        raise InputError(faults)
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
    if faults:
        raise InputError(faults)


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
