"""Investigations by all their names: tests of blood and urine, imaging, endoscopies and the like.

Two tables written by hand: ``investigations.tsv`` has the tests, the groups they are in and what
panels contain, ``imaged_regions.tsv`` the parts of the body that are imaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from rubricate.knowledge.rows import reached_from, split_cell, table_rows
from rubricate.knowledge.tables import words
from rubricate.reading.tokens import Token, find_tokens, phrase_key

_LONGEST = 6
#: A name that may mean something else ("iron", "flu", "PT") is marked with this in the table.
_VAGUE = "~"
#: Shorter words have their plurals in the table.
_LEAST_PLURAL = 4
#: A test of any region: "CT", which is of the head or the abdomen.
_ANY_REGION = "*"
#: Before a region: the names stand for the broader test of that region, as "CXR" for an X-ray.
_OF = "= "


@dataclass(frozen=True, slots=True)
class Investigation:
    """A test or group of tests.

    ``broader`` are the groups it is in, ``contains`` what is measured with it (a panel),
    ``regions`` what it shows; ``takes_region``: the words around its name say what it shows;
    ``is_view``: it is no more than the broader test of its region. ``vague_names`` may mean
    something else.
    """

    name: str
    names: tuple[str, ...]
    vague_names: tuple[str, ...]
    broader: tuple[str, ...]
    contains: tuple[str, ...]
    regions: frozenset[str]
    takes_region: bool
    is_view: bool

    @property
    def means(self) -> frozenset[str]:
        """The tests that its names stand for."""
        return frozenset(self.broader if self.is_view else (self.name,))


class NamedTest(NamedTuple):
    """A test that a text names: what the name may stand for, what it shows, and where it stands.

    ``regions`` is empty where the words do not say what is shown. ``plain``: the name means nothing
    else. ``start`` and ``end`` are characters.
    """

    tests: frozenset[str]
    regions: frozenset[str]
    plain: bool
    start: int
    end: int


@cache
def investigations() -> dict[str, Investigation]:
    """Return the tests of the table ``investigations.tsv`` by name, in its order.

    >>> investigations()["complete blood count"].names[:2]
    ('cbc', 'fbc')
    """
    found = {}
    for name, names, broader, contains, region in table_rows("investigations.tsv"):
        every = [name, *split_cell(names)]
        plain = tuple(one for one in every if not one.startswith(_VAGUE))
        vague = tuple(one.removeprefix(_VAGUE) for one in every if one.startswith(_VAGUE))
        own = name.removeprefix(_VAGUE)
        found[own] = Investigation(
            own,
            tuple(one for one in plain if one != own),
            vague,
            split_cell(broader),
            split_cell(contains),
            frozenset(split_cell(region.removeprefix(_OF))) - {_ANY_REGION},
            takes_region=region == _ANY_REGION,
            is_view=region.startswith(_OF),
        )
    return found


@cache
def _regions() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the regions of the body: their names, and the regions they are in."""
    return {
        region: ((region, *split_cell(names)), split_cell(within))
        for region, names, within in table_rows("imaged_regions.tsv")
    }


def _closure(name: str, links: dict[str, list[str]]) -> frozenset[str]:
    return reached_from(name, lambda one: links.get(one, ()))


def _turned(pairs: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    links: dict[str, list[str]] = {}
    for name, above in pairs:
        for one in above:
            links.setdefault(one, []).append(name)
    return links


@cache
def _narrower() -> dict[str, list[str]]:
    return _turned((one.name, one.broader) for one in investigations().values())


@cache
def all_within(name: str) -> frozenset[str]:
    """Return a test, those of its group, and all that they contain.

    >>> "troponin" in all_within("cardiac workup"), "sodium" in all_within("urinalysis")
    (True, False)
    """
    links = {one: list(own) for one, own in _narrower().items()}
    for one in investigations().values():
        links.setdefault(one.name, []).extend(one.contains)
    return _closure(name, links)


@cache
def kinds_of(name: str) -> frozenset[str]:
    """Return a test and the tests of its group, without what panels contain."""
    return _closure(name, _narrower())


@cache
def _parts_of(name: str) -> frozenset[str]:
    """Return a test and all that is measured with it."""
    return _closure(name, {one.name: list(one.contains) for one in investigations().values()})


@cache
def _regions_within(name: str) -> frozenset[str]:
    return _closure(name, _turned((one, within) for one, (_, within) in _regions().items()))


def _regions_fit(some: frozenset[str], others: frozenset[str]) -> bool:
    if not some or not others:
        return True
    return any(a in _regions_within(b) or b in _regions_within(a) for a in some for b in others)


def may_be(asked: NamedTest, said: NamedTest) -> bool:
    """Tell whether a test that is named may be the one asked for, or have to do with it.

    >>> (cbc,), (head,) = named_tests("CBC"), named_tests("CT head")
    >>> [may_be(cbc, one) for one in named_tests("labs, FBC, BMP, Hb")]
    [True, True, False, True]
    >>> [may_be(head, one) for one in named_tests("CT abdomen, CT scan, MRI brain, brain CT")]
    [False, True, False, True]
    """
    return _regions_fit(asked.regions, said.regions) and any(
        not all_within(a).isdisjoint(all_within(b)) for a in asked.tests for b in said.tests
    )


def states(asked: NamedTest, said: NamedTest) -> bool:
    """Tell whether a test that is named is the one asked for, one of its kind, or contains it.

    >>> (liver,) = named_tests("liver enzymes")
    >>> [states(liver, one) for one in named_tests("labs, ALT, CMP, BMP")]
    [False, True, True, False]
    """
    if not _regions_fit(asked.regions, said.regions):
        return False
    return any(
        b in kinds_of(a) or not _parts_of(b).isdisjoint(kinds_of(a))
        for a in asked.tests
        for b in said.tests
    )


class _Name(NamedTuple):
    """The tests a name may stand for, the regions they show, and whether it means nothing else."""

    tests: frozenset[str]
    regions: frozenset[str]
    plain: bool


@cache
def _by_name() -> dict[str, _Name]:
    table: dict[str, _Name] = {}
    for one in investigations().values():
        vague = {phrase_key(name) for name in one.vague_names}
        for key in {phrase_key(name) for name in (one.name, *one.names)} | vague:
            before = table.get(key, _Name(frozenset(), frozenset(), plain=True))
            table[key] = _Name(
                before.tests | one.means,
                before.regions | one.regions,
                before.plain and key not in vague,
            )
    return table


@cache
def _region_names() -> dict[str, str]:
    return {phrase_key(name): region for region, (names, _) in _regions().items() for name in names}


_JOINING = words("tests.joining")
_BETWEEN = words("tests.between")


class _Words:
    """The words of a text without marks, and which of them stand together in one name."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = [token for token in tokens if token.kind in ("word", "number")]
        self.joined: list[bool] = []
        marks: list[str] = []
        before = ""
        for token in tokens:
            if token.kind in ("word", "number"):
                if before:
                    # "H. pylori", "C. diff"
                    dot = len(before) == 1 and marks == ["."]
                    self.joined.append(dot or _JOINING.issuperset(marks))
                before, marks = token.form, []
            else:
                marks.append(token.form)
        self.joined.append(False)

    def _singular(self, key: str, last: int) -> str:
        """Return a name without the "s" of its plural; "CRPS" is none."""
        long = len(self.tokens[last].form) > _LEAST_PLURAL
        return key[:-1] if long and key.endswith("s") and not key.endswith("ss") else key

    def longest(self, i: int, keys: Iterable[str] | dict[str, object]) -> tuple[str, int] | None:
        """Return the longest name that begins at a word, and its end."""
        forms = [self.tokens[i].form]
        found = None
        for length in range(1, _LONGEST + 1):
            key = " ".join(forms)
            for one in (key, self._singular(key, i + length - 1)):
                if one in keys:
                    found = (one, i + length)
                    break
            if i + length >= len(self.tokens) or not self.joined[i + length - 1]:
                break
            forms.append(self.tokens[i + length].form)
        return found


def named_tests(text: str, tokens: Sequence[Token] | None = None) -> tuple[NamedTest, ...]:
    """Return the tests that a text names, in order; the longest name counts at each place.

    >>> [sorted(one.tests) for one in named_tests("FBC, U&Es, CXR")]
    [['complete blood count'], ['urea and electrolytes'], ['x ray']]
    >>> [sorted(one.regions) for one in named_tests("MRI of the lumbar spine; left knee x-ray; CT")]
    [['lumbar spine'], ['knee'], []]
    """
    words = _Words(find_tokens(text) if tokens is None else tokens)
    names, table = _by_name(), investigations()
    places: list[tuple[str, int, int]] = []
    i = 0
    while i < len(words.tokens):
        hit = words.longest(i, names)
        if hit is not None:
            places.append((hit[0], i, hit[1]))
        i = i + 1 if hit is None else hit[1]
    named: list[NamedTest] = []
    free = 0
    for k, (key, first, end) in enumerate(places):
        tests, regions, plain = names[key]
        start, last = first, end
        if not regions and any(table[one].takes_region for one in tests):
            stop = places[k + 1][1] if k + 1 < len(places) else len(words.tokens)
            behind, last = _regions_behind(words, end, stop)
            before, start = _regions_before(words, free, first)
            regions |= behind | before
            # "US abdomen" is a scan; "tell us back" is none.
            small = text[words.tokens[first].start : words.tokens[first].end].islower()
            plain = plain or bool(before or (behind and not small))
        free = last
        named.append(
            NamedTest(tests, regions, plain, words.tokens[start].start, words.tokens[last - 1].end)
        )
    return tuple(named)


def _regions_behind(words: _Words, i: int, stop: int) -> tuple[frozenset[str], int]:
    """Return the regions named behind a test, and where their words end."""
    found, end, names = set[str](), i, _region_names()
    while i < stop and words.joined[i - 1]:
        hit = words.longest(i, names)
        if hit is not None and hit[1] <= stop:
            found.add(names[hit[0]])
            i = end = hit[1]
        elif words.tokens[i].form in _BETWEEN:
            i += 1
        else:
            break
    return frozenset(found), end


def _regions_before(words: _Words, free: int, first: int) -> tuple[frozenset[str], int]:
    """Return the regions named right before a test, and where their words begin."""
    found, start, names = set[str](), first, _region_names()
    i = first
    while i > free and words.joined[i - 1]:
        begins = range(max(free, i - _LONGEST), i)
        hits = ((b, words.longest(b, names)) for b in begins)
        region = next(((b, hit[0]) for b, hit in hits if hit is not None and hit[1] == i), None)
        if region is not None:
            found.add(names[region[1]])
            i = start = region[0]
        elif words.tokens[i - 1].form in _BETWEEN - {"of", "the"}:
            i -= 1
        else:
            break
    return frozenset(found), start
