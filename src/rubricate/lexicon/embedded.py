"""The lexicon that comes with the package: shorthand, lay terms, drugs, and the phrase bank."""

from __future__ import annotations

from functools import lru_cache

from rubricate.files import packaged_text
from rubricate.lexicon.groups import Group, Lexicon, Phrase, SourceInfo
from rubricate.text.drugs import classes_above, drug_classes
from rubricate.text.words import phrase_key

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
