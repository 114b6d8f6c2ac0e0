"""Lexicons on disk, checked on reading, and the one that comes with the package.

A lexicon is a folder with one group per line and a description. The package has tables of
shorthand, lay terms, drugs, and the phrase bank.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.files import packaged_text, whole_output
from rubricate.lexicon.groups import Group, Lexicon, Phrase, SourceInfo
from rubricate.outputs import folder_kind
from rubricate.reading.drugs import classes_above, drug_classes
from rubricate.reading.tokens import phrase_key

FORMAT = "rubricate-lexicon"
VERSION = 1
_META, _GROUPS = "meta.json", "groups.jsonl"
LEXICON = folder_kind("a lexicon", _META, [_GROUPS])


def save_lexicon(lexicon: Lexicon, folder: Path, *, overwrite: bool = False) -> None:
    """Write a lexicon as a folder of two readable files.

    ``groups.jsonl`` holds one group per line (``id``, ``phrases`` as [text, source] or
    [text, source, "exact"], ``members``, ``area``); a person may edit it. ``meta.json`` says what
    it holds.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "lexicon"
    >>> save_lexicon(Lexicon((Group("a:1", (Phrase("HA", "a"), Phrase("headache", "a"))),)), place)
    >>> load_lexicon(place).synonyms("HA")
    [('headache', 'a')]
    """
    summary = lexicon.summary()
    with whole_output(folder, overwrite=overwrite, kind=LEXICON) as place:
        place.mkdir()
        with (place / _GROUPS).open("w", encoding="utf-8", newline="\n") as stream:
            for group in lexicon.groups:
                stream.write(json.dumps(_as_json(group), ensure_ascii=False) + "\n")
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "groups": summary.groups,
            "phrases": summary.phrases,
            "sources": [
                {"name": source.name, "version": source.version, "licence": source.licence}
                for source in lexicon.sources
            ],
        }
        (place / _META).write_text(
            json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def _as_json(group: Group) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": group.id,
        "phrases": [
            [p.text, p.source, "exact"] if p.exact_case else [p.text, p.source]
            for p in group.phrases
        ],
    }
    if group.members:
        row["members"] = list(group.members)
    if group.area:
        row["area"] = group.area
    return row


def load_lexicon(folder: Path) -> Lexicon:
    """Read a lexicon that :func:`save_lexicon` wrote, edited or not."""
    meta = _read_meta(folder / _META)
    groups: list[Group] = []
    faults: list[Fault] = []
    path = folder / _GROUPS
    _read_groups(_read(path).split("\n"), path, groups, faults)
    InputError.raise_any(faults)
    return Lexicon(tuple(groups), tuple(SourceInfo(**source) for source in meta["sources"]))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError([Fault("not UTF-8", path)]) from None
    except (OSError, ValueError):
        message = "cannot be read; a lexicon is a folder of meta.json and groups.jsonl"
        raise InputError([Fault(message, path)]) from None


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(_read(path))
    except InputError:
        raise
    except (ValueError, RecursionError):  # also of numbers that are too long
        raise InputError([Fault("not JSON", path)]) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise InputError([Fault(f"'format' is not {FORMAT!r}", path)])
    if meta.get("version") != VERSION:
        raise InputError(
            [Fault(f"version is {meta.get('version')!r}; {VERSION} is read here", path)]
        )
    sources = meta.get("sources")
    wanted = {"name", "version", "licence"}
    if not isinstance(sources, list) or any(
        not isinstance(source, dict) or set(source) != wanted for source in sources
    ):
        raise InputError([Fault("'sources' is not a list of name, version and licence", path)])
    return meta


def _read_groups(
    stream: Iterable[str], path: Path, groups: list[Group], faults: list[Fault]
) -> None:
    seen: set[str] = set()
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            faults.append(Fault("not JSON", path, number))
            continue
        wrong = _wrong(row)
        if not wrong and row["id"] in seen:
            wrong = f"id {row['id']!r} is used twice"
        if wrong:
            faults.append(Fault(wrong, path, number))
            continue
        seen.add(row["id"])
        phrases = tuple(Phrase(p[0], p[1], len(p) == 3) for p in row["phrases"])
        groups.append(Group(row["id"], phrases, tuple(row.get("members", ())), row.get("area", "")))


def _wrong(row: Any) -> str:
    """Return the fault of a group, or an empty text."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"]:
        return "'id' is missing or not a text"
    strange = set(row) - {"id", "phrases", "members", "area"}
    if strange:
        return f"unknown keys {sorted(strange)}; allowed: id, phrases, members, area"
    phrases = row.get("phrases")
    if not isinstance(phrases, list) or not phrases:
        return "'phrases' is missing or empty"
    if not all(_is_phrase(phrase) for phrase in phrases):
        return 'a phrase is not [text, source] or [text, source, "exact"]'
    members = row.get("members", [])
    if not isinstance(members, list) or not all(isinstance(m, str) and m.strip() for m in members):
        return "'members' is not a list of texts"
    return "" if isinstance(row.get("area", ""), str) else "'area' is not a text"


def _is_phrase(phrase: Any) -> bool:
    return (
        isinstance(phrase, list)
        and len(phrase) in (2, 3)
        and all(isinstance(part, str) and part.strip() for part in phrase)
        and (len(phrase) == 2 or phrase[2] == "exact")
    )


def load_default_lexicon(folder: Path | None = None) -> Lexicon:
    """Return the embedded lexicon, or the one built before at ``folder``.

    >>> "SOB" in load_default_lexicon()
    True
    """
    return embedded_lexicon() if folder is None else load_lexicon(folder)


#: Version of the embedded tables; increased when a row changes.
EMBEDDED_VERSION = "6"
_LICENCE = "Apache-2.0, part of rubricate"
_BANK_LICENCE = "CC BY 4.0, part of rubricate"
_SEPARATOR = " | "
_MEMBERS = " :: "


@lru_cache(maxsize=1)
def embedded_lexicon() -> Lexicon:
    """Return the embedded lexicon, read once.

    Shorthand joins every group that holds one of its expansions, so that "SOB" is a synonym of
    "breathless" too; a class of drugs or diseases knows all names of its members.

    >>> ("shortness of breath", "lay_terms") in embedded_lexicon().synonyms("SOB")
    True
    """
    rows = [line.split("\t") for line in _lines("lay_terms.tsv")]
    groups = [
        _LayGroup(f"lay_terms:{number:04}", *_split_members(phrases), area)
        for number, (phrases, area) in enumerate(rows, start=1)
    ]
    groups = _with_members([*groups, *_drug_groups()])
    places: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        for phrase in group.phrases:
            places.setdefault(phrase_key(phrase.text), []).append(place)
    for group in groups:
        group.members = _all_names(group, groups, places)
    alone = _join_shorthand(groups, places)
    sources = (
        SourceInfo("lay_terms", EMBEDDED_VERSION, _LICENCE),
        SourceInfo("abbreviations", EMBEDDED_VERSION, _LICENCE),
        SourceInfo("drug_classes", EMBEDDED_VERSION, _LICENCE),
        SourceInfo("bank", EMBEDDED_VERSION, _BANK_LICENCE),
    )
    frozen = (*(group.frozen() for group in groups), *alone, *_bank_groups())
    return Lexicon(frozen, sources)


def _drug_groups() -> list[_LayGroup]:
    """Return one group for each class of drugs, with the names of its drugs as members."""
    narrower: dict[str, list[str]] = {}
    for one in drug_classes():
        for name in classes_above(one.name):
            narrower.setdefault(name, []).extend(one.members)
            if name != one.name:
                narrower[name].extend((one.name, *one.names))
    return [
        _LayGroup(
            f"drug_classes:{one.name}",
            [one.name, *one.names],
            narrower.get(one.name, []),
            "drugs",
            "drug_classes",
        )
        for one in drug_classes()
    ]


def _bank_groups() -> list[Group]:
    """Return the features of the phrase bank: names that mean the same, with phrases for them.

    A phrase is a member only: it may express other features too.
    """
    rows = [line.split("\t") for line in _lines("bank.tsv")]
    return [
        Group(
            f"bank:{number:04}",
            tuple(Phrase(name, "bank") for name in names.split(_SEPARATOR)),
            tuple(phrases.split(_SEPARATOR)) if phrases else (),
        )
        for number, (names, phrases) in enumerate(rows, start=1)
    ]


class _LayGroup:
    """A group while it is being filled."""

    def __init__(
        self,
        ident: str,
        phrases: list[str],
        members: list[str],
        area: str,
        source: str = "lay_terms",
    ) -> None:
        self.id = ident
        self.phrases = [Phrase(text, source) for text in phrases]
        self.members = members
        self.area = area

    def frozen(self) -> Group:
        return Group(self.id, tuple(self.phrases), tuple(self.members), self.area)


def _lines(name: str) -> list[str]:
    text = packaged_text("lexicon", name)
    return [line for line in text.split("\n")[1:] if line]


def _split_members(text: str) -> tuple[list[str], list[str]]:
    phrases, _, members = text.partition(_MEMBERS)
    return phrases.split(_SEPARATOR), members.split(_SEPARATOR) if members else []


def _with_members(groups: list[_LayGroup]) -> list[_LayGroup]:
    """Return the groups with each row of members put into the group that has the same head."""
    heads = {phrase_key(g.phrases[0].text): g for g in reversed(groups) if not g.members}
    kept = []
    for group in groups:
        own = heads.get(phrase_key(group.phrases[0].text))
        if not group.members or own is None:
            kept.append(group)
        else:
            own.members = [*own.members, *group.members]
            names = {phrase_key(phrase.text) for phrase in own.phrases}
            own.phrases += [p for p in group.phrases if phrase_key(p.text) not in names]
    return kept


def _all_names(
    group: _LayGroup, groups: list[_LayGroup], places: dict[str, list[int]]
) -> list[str]:
    """Return a class's members with all phrases of the members' own groups."""
    names: dict[str, str] = {}
    own = {phrase_key(phrase.text) for phrase in group.phrases}
    for member in group.members:
        names.setdefault(phrase_key(member), member)
        for place in places.get(phrase_key(member), ()):
            # Only the group a member heads: "joint" heads no group of its own.
            if phrase_key(groups[place].phrases[0].text) == phrase_key(member):
                for phrase in groups[place].phrases:
                    names.setdefault(phrase_key(phrase.text), phrase.text)
    return [name for key, name in names.items() if key not in own]


def _join_shorthand(groups: list[_LayGroup], places: dict[str, list[int]]) -> list[Group]:
    """Put each abbreviation into the groups of its expansions; return the groups of the others."""
    alone: list[Group] = []
    for number, line in enumerate(_lines("abbreviations.tsv"), start=1):
        short, expansions, area, case = line.split("\t")
        entry = Phrase(short, "abbreviations", case == "exact")
        joined: set[int] = set()
        for expansion in expansions.split(_SEPARATOR):
            found = places.get(phrase_key(expansion), [])
            joined.update(found)
            if not found:
                phrases = (Phrase(expansion, "abbreviations"), entry)
                alone.append(Group(f"abbreviations:{number:04}:{expansion}", phrases, (), area))
        for place in sorted(joined):
            if phrase_key(short) not in {phrase_key(p.text) for p in groups[place].phrases}:
                groups[place].phrases.append(entry)
    return alone
