"""Features, the rubric of one case, and warnings about a rubric."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal

from rubricate.display import table_html
from rubricate.errors import shown

#: What a metadata field may hold: exactly what JSON and Parquet both keep.
Scalar = str | int | float | bool | None

#: What a note says about a feature.
Outcome = Literal["stated", "contradicted", "not mentioned"]
#: Groups of annotators that tell people from machines where one corpus has both.
HUMAN, SYSTEM = "human", "system"
STATED: Outcome = "stated"
CONTRADICTED: Outcome = "contradicted"
NOT_MENTIONED: Outcome = "not mentioned"


def outcome_of(found: bool, contradicted: bool) -> Outcome:
    """Return the outcome of an item; what is both found and contradicted is stated.

    >>> outcome_of(True, True), outcome_of(False, True), outcome_of(False, False)
    ('stated', 'contradicted', 'not mentioned')
    """
    if found:
        return STATED
    return CONTRADICTED if contradicted else NOT_MENTIONED


def plain_scalar(value: Any) -> Scalar:
    """Return a cell of any table as a value that files can hold; what is missing becomes None.

    >>> plain_scalar(float("nan")), plain_scalar(2.0), plain_scalar("A")
    (None, 2.0, 'A')
    """
    value = value.item() if hasattr(value, "item") and callable(value.item) else value
    # Missing values of data frames are not even equal to themselves.
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str | int | float | bool):
        return value
    text = str(value)
    return None if text in ("<NA>", "NaT") else text


class Metadata(Mapping[str, Scalar]):
    """A frozen, hashable mapping from a name to a text, a number, true, false or None.

    Examples
    --------
    >>> Metadata(site="A", age=31)["site"]
    'A'
    >>> Metadata({"a": 1}) == {"a": 1}
    True
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Scalar] | None = None, /, **more: Scalar) -> None:
        self._items: dict[str, Scalar] = {**(items or {}), **more}

    def __getitem__(self, name: str) -> Scalar:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Metadata({self._items!r})"

    def __getstate__(self) -> Any:
        return self._items

    def __setstate__(self, state: Any) -> None:
        self._items = state


NO_METADATA = Metadata()
#: The value of a rubric's field ``floor`` that lets scores fall below 0.
NO_FLOOR = "none"


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing a rubric looks for in a note.

    Parameters
    ----------
    id : str
        Unique in its corpus.
    case : str
        The case whose rubric it belongs to.
    text : str
        The rubric's words, with spaces (``"Shortness of breath OR dyspnea"``).
    weight : float
        What finding it adds to the score.
    kind : str
        Free label, e.g. ``"age"``, ``"gender"``, ``"history"``; empty when not given.
    group : str
        Features of one case that share a group count once ("any of"); empty: counts alone.
    note : str
        A remark for annotators and scorers.
    """

    id: str
    case: str
    text: str
    weight: float = 1.0
    kind: str = ""
    group: str = ""
    note: str = ""

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The rubric text split at ``OR``.

        Examples
        --------
        >>> Feature("2", "0", "Chest pressure OR chest tightness").alternatives
        ('Chest pressure', 'chest tightness')
        """
        return _alternatives_in(self.text)

    @property
    def wordings(self) -> tuple[str, ...]:
        """The alternatives, with "one word or another" inside them taken apart.

        Examples
        --------
        >>> Feature("3", "0", "No facial or body hair OR bald").wordings
        ('No facial hair', 'No body hair', 'bald')
        >>> Feature("4", "0", "Two or more falls").wordings
        ('Two or more falls',)
        """
        return _wordings_in(self.text)


def _alternatives_in(text: str) -> tuple[str, ...]:
    # "OR" between blanks alone separates nothing.
    return tuple(part.strip() for part in text.split(" OR ") if part.strip()) or (text,)


@lru_cache(maxsize=4096)
def _wordings_in(text: str) -> tuple[str, ...]:
    """Return the wordings of a feature's text; every note of a case asks for them again."""
    return tuple(wording for part in _alternatives_in(text) for wording in _taken_apart(part))


_EITHER = re.compile(r"\b([^\W\d_]{3,}) or ([^\W\d_]{3,})\b")
_NO_CHOICE = re.compile(
    "one|two|three|four|five|once|twice|more|less|fewer|greater|older|younger|above|below|longer"
    "|shorter|higher|lower|others?|without|not|even|possibly|another",
    re.IGNORECASE,
)


def _taken_apart(text: str) -> tuple[str, ...]:
    hit = _EITHER.search(text)
    if hit is None or any(map(_NO_CHOICE.fullmatch, hit.groups())):
        return (text,)
    return tuple(text[: hit.start()] + word + text[hit.end() :] for word in hit.groups())


@dataclass(frozen=True, slots=True)
class Rubric:
    """The features of one case, in order.

    Parameters
    ----------
    metadata : Metadata
        What else is known of it; where its ``floor`` is ``none``, a score may fall below 0.
    by_use : bool
        Whether its features are the labels that somebody used, because nothing lists them all:
        others may have had more to choose from. It is no part of what a rubric says.

    Examples
    --------
    >>> rubric = Rubric("0", (Feature("0", "0", "58 year"), Feature("1", "0", "Male")))
    >>> [feature.text for feature in rubric]
    ['58 year', 'Male']
    """

    case: str
    features: tuple[Feature, ...]
    title: str = ""
    metadata: Metadata = field(default=NO_METADATA)
    by_use: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        strangers = [f.id for f in self.features if f.case != self.case]
        if strangers:
            raise ValueError(f"rubric of case {self.case!r} holds features of others: {strangers}")

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def has_floor(self) -> bool:
        """True if a note's score never falls below 0, however many penalties it gets.

        >>> Rubric("c", ()).has_floor, Rubric("c", (), metadata=Metadata(floor="none")).has_floor
        (True, False)
        """
        return self.metadata.get("floor") != NO_FLOOR

    def _repr_html_(self) -> str:
        lines = [(f.id, f.text, f.weight, f.kind, f.group) for f in self.features]
        title = f"case {self.case}" + (f": {self.title}" if self.title else "")
        return table_html(("id", "text", "weight", "kind", "group"), lines, title=title)


#: Similarity, in percent, from which two wordings are taken for one.
_ALIKE = 92
_OR_AT_AN_END = re.compile(r"^or\b|\bor$", re.IGNORECASE)
_ANY_OF = re.compile(r"\b(?:any|one|either|at least one) of\b|\beither\b", re.IGNORECASE)


def folded(wording: str) -> str:
    """Return a wording as it is looked for: whatever its capitals and blanks.

    >>> folded(" Chest  pain")
    'chest pain'
    """
    return " ".join(wording.casefold().split())


def parse_weight(text: str) -> float | str:
    """Return a weight (1 if there is none), or what is wrong with it.

    >>> parse_weight("2,5"), parse_weight(""), parse_weight("1 pt"), parse_weight("\u22121")
    (2.5, 1.0, 1.0, -1.0)
    >>> parse_weight("½ mark"), parse_weight("1½")
    (0.5, 1.5)
    >>> parse_weight("two")
    "the weight 'two' is not a number; write e.g. 1, 0.5, 2 pts or -1"
    """
    if not text:
        return 1.0
    given, text = text, _UNIT.sub("", text.translate(_MINUS))
    if half := re.fullmatch(r"(\d*)([¼½¾])", text):
        return float(half[1] or 0) + unicodedata.numeric(half[2])
    if re.fullmatch(r"[+-]?\d+,\d{1,2}", text):
        text = text.replace(",", ".")
    try:
        weight = float("x" if "_" in text else text)
    except ValueError:
        return f"the weight {shown(given)} is not a number; write e.g. 1, 0.5, 2 pts or -1"
    return weight_fault(weight) or weight


#: More points than this, for or against, are a slip: an id or a date in the column of the points.
MOST_POINTS = 10_000.0


def weight_fault(weight: float) -> str:
    """Return the fault of a number as a weight; an empty text for a sound one.

    >>> weight_fault(1e308)
    'the weight 1e+308 is out of range; it must be from -10,000 to 10,000'
    >>> weight_fault(-2.5)
    ''
    """
    if abs(weight) <= MOST_POINTS:
        return ""
    most = f"{MOST_POINTS:,.0f}"
    return f"the weight {weight:g} is out of range; it must be from -{most} to {most}"


_UNIT = re.compile(r"(?<=[\d\s¼½¾])\s*(?:p|pts?|points?|marks?)\.?$", re.IGNORECASE)
#: The signs that programs write for minus.
_MINUS = str.maketrans({"\u2212": "-", "\u2013": "-"})


_NUMBER = r"(?:\d+(?:[.,]\d+)?|\d*[¼½¾]|[13]/[24])\s*(?:pts?|points?|marks?)\.?"
#: A hyphen next to the number may be a minus or a dash, so that it says nothing outside brackets.
_WORTH = re.compile(
    rf"\s*[\[(]\s*(?:max(?:imum|\.)?\s+|up to\s+|worth\s+)?"
    rf"(?P<sign>[+\-\u2212\u2013]?)\s*(?P<inside>{_NUMBER})"
    rf"\s*[\])]\s*\.?$|\s+[-\u2013\u2014]\s+(?P<behind>{_NUMBER})$",
    re.IGNORECASE,
)
_FRACTIONS = {"1/2": "½", "1/4": "¼", "3/4": "¾", "2/4": "½"}


def split_points(wording: str) -> tuple[str, str]:
    """Return a wording without the points that stand behind it, and these as they are written.

    Only what names its unit is taken for points, in brackets or after a dash between blanks.

    >>> split_points("Chest pain (2 points)"), split_points("Pneumonia [-1 pt]")
    (('Chest pain', '2 points'), ('Pneumonia', '-1 pt'))
    >>> split_points("Cough - 1/2 mark"), split_points("Age 45 [1]")
    (('Cough', '½ mark'), ('Age 45 [1]', ''))
    """
    found = _WORTH.search(wording[-_LONGEST_POINTS:])
    if found is None:
        return wording, ""
    points = (found["sign"] or "") + (found["inside"] or found["behind"])
    for written, sign in _FRACTIONS.items():
        points = points.replace(written, sign)
    return wording[: len(wording) - len(found[0])], points


#: Characters at the end of a wording in which its points are looked for.
_LONGEST_POINTS = 60


def odd_features(rubric: Rubric) -> Iterator[str]:
    """Yield what looks odd: features alike, one inside another, alternatives without a group.

    Examples
    --------
    >>> rubric = Rubric("c", (Feature("1", "c", "Chest pain"), Feature("2", "c", "chest pain."),
    ...                       Feature("3", "c", "OR chest tightness")))
    >>> for odd in odd_features(rubric):
    ...     print(odd)
    '1' and '2' are alike: give them one group, or take one out
    '3' begins or ends with OR: give it and its neighbour one group, or join them with OR
    """
    from rapidfuzz.fuzz import token_sort_ratio
    from rapidfuzz.process import cdist

    features = rubric.features
    words = [re.findall(r"\w+", feature.text.casefold()) for feature in features]
    plain = [" ".join(own) for own in words]
    by_numbers: dict[tuple[str, ...], list[int]] = {}
    for i, feature in enumerate(features):
        by_numbers.setdefault(_numbers(feature), []).append(i)
    inside = find_insides(words)
    for i, one in enumerate(features):
        # Those with the same numbers that come later; of thousands, one row of likeness at a time.
        later = [k for k in by_numbers[_numbers(one)] if k > i]
        texts = [plain[k] for k in later]
        scores = cdist([plain[i]], texts, scorer=token_sort_ratio, score_cutoff=_ALIKE, dtype=float)
        alike = {k for k, score in zip(later, scores[0], strict=True) if score >= _ALIKE}
        for k in sorted(alike | {k for k in inside.get(i, ()) if k > i}):
            other = features[k]
            if one.group and one.group == other.group:
                continue
            if k in alike:
                yield f"{one.id!r} and {other.id!r} are alike: give them one group, or take one out"
                continue
            for inner, outer in ((i, k), (k, i)):
                if f" {plain[inner]} " in f" {plain[outer]} ":
                    yield (
                        f"{features[inner].id!r} is inside {features[outer].id!r}: who says the "
                        "second gets both; one group would count once"
                    )
    for feature in rubric:
        yield from _of_one(feature)
    for group, number in Counter(feature.group for feature in rubric if feature.group).items():
        if number == 1:
            yield f"group {group!r} has one feature"


def _numbers(feature: Feature) -> tuple[str, ...]:
    """Return the numbers and denials, which tell "2 weeks" from "3 weeks"."""
    plain = feature.text.casefold()
    return tuple(re.findall(r"\d+|\bno\b|\bnot\b|\bwithout\b|\bdenies\b", plain))


#: Of the hashes by which runs of words are compared.
_PRIME, _BASE = (1 << 61) - 1, 1_000_003


def find_insides(words: Sequence[Sequence[str]]) -> dict[int, set[int]]:
    """Return the pairs of texts of which one stands inside the other, word by word.

    Hashes of all beginnings give that of any run of words (Karp & Rabin 1987, IBM J. Res. Dev.
    31:249-260), so that a long text of few words takes no more steps than another.

    >>> find_insides([["chest", "pain"], ["pain"], ["cough"]])[1]
    {0}
    """
    numbers: dict[str, int] = {}
    beginnings: list[list[int]] = []
    for own in words:
        hashes = [0]
        for word in own:
            number = numbers.setdefault(word, len(numbers) + 1)
            hashes.append((hashes[-1] * _BASE + number) % _PRIME)
        beginnings.append(hashes)
    powers = list(
        accumulate(range(max(map(len, words), default=0)), lambda x, _: x * _BASE % _PRIME,
                   initial=1)
    )  # fmt: skip
    places: dict[tuple[int, int], list[int]] = {}
    lengths: dict[str, set[int]] = {}
    for i, own in enumerate(words):
        if own:
            places.setdefault((len(own), beginnings[i][-1]), []).append(i)
            lengths.setdefault(own[0], set()).add(len(own))
    ordered = {word: sorted(own) for word, own in lengths.items()}
    found: dict[int, set[int]] = {}
    for outer, own in enumerate(words):
        hashes = beginnings[outer]
        for start, word in enumerate(own):
            for length in ordered.get(word, ()):
                end = start + length
                if end > len(own):
                    break
                value = (hashes[end] - hashes[start] * powers[length]) % _PRIME
                for inner in places.get((length, value), ()):
                    known = inner == outer or inner in found.get(outer, ())
                    if not known and list(words[inner]) == list(own[start:end]):
                        found.setdefault(inner, set()).add(outer)
                        found.setdefault(outer, set()).add(inner)
    return found


def _of_one(feature: Feature) -> Iterator[str]:
    if not any(char.isalnum() for char in feature.text):
        yield f"{feature.id!r} has no letter or digit: nothing in a note can state it"
    if _OR_AT_AN_END.search(feature.text.strip(" .,;")):
        yield (
            f"{feature.id!r} begins or ends with OR: give it and its neighbour one group, or "
            "join them with OR"
        )
    elif _ANY_OF.search(feature.text) and not feature.group:
        yield f"{feature.id!r} says 'any of': write one row for each and give them one group"
    elif " or " in feature.text and " OR " not in feature.text:
        yield f"{feature.id!r} has a small 'or': write OR if either side alone is enough"
    _, said = split_points(feature.text)
    if feature.weight == 0:
        yield f"{feature.id!r} has no points"
    elif said and parse_weight(said) != feature.weight:
        yield (
            f"{feature.id!r} is worth {feature.weight:g}, and its wording says {said!r}: "
            "mend one of them"
        )
