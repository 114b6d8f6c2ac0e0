"""Features turned into opposites by one decisive word: what states one contradicts the other."""

from __future__ import annotations

import random
import re

SWAPS = [
    ("left", "right"),
    ("mother", "father"),
    ("mom", "dad"),
    ("brother", "sister"),
    ("son", "daughter"),
    ("aunt", "uncle"),
    ("maternal", "paternal"),
    ("wife", "husband"),
    ("increased", "decreased"),
    ("increase", "decrease"),
    ("worse", "better"),
    ("worsening", "improving"),
    ("worsened", "improved"),
    ("male", "female"),
    ("man", "woman"),
    ("boy", "girl"),
    ("gain", "loss"),
    ("hypertension", "hypotension"),
    ("tachycardia", "bradycardia"),
    ("acute", "chronic"),
    ("sudden", "gradual"),
    ("constant", "intermittent"),
    ("upper", "lower"),
    ("before", "after"),
    ("morning", "evening"),
    ("higher", "lower"),
    ("more", "less"),
    ("unilateral", "bilateral"),
    ("productive", "nonproductive"),
    ("productive", "dry"),
    ("dull", "sharp"),
    ("diarrhea", "constipation"),
    ("hyperthyroidism", "hypothyroidism"),
    ("anterior", "posterior"),
    ("proximal", "distal"),
    ("medial", "lateral"),
    ("regular", "irregular"),
    ("heavy", "light"),
    ("rlq", "llq"),
    ("ruq", "luq"),
    ("day", "night"),
    ("frequent", "rare"),
    ("employed", "unemployed"),
    ("married", "divorced"),
    ("single", "married"),
]
UNITS = ["hours", "days", "weeks", "months", "years"]
UNIT1 = ["hour", "day", "week", "month", "year"]
SHORT = ["hr", "d", "wk", "mo", "yr"]
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NEG = re.compile(
    r"^(no|denies|denied|not|without|negative for|absence of|lack of|no history of|never)[ -]+",
    re.I,
)
ANY_NEGATIVE = re.compile(r"\b(no|not|denies|never|without|none|non)\b", re.I)
PERSON = re.compile(r"(age|male|female|man|woman|[0-9])", re.I)
VERBS = (
    "takes",
    "uses",
    "has",
    "radiates",
    "smokes",
    "drinks",
    "lives",
    "works",
    "reports",
    "feels",
    "wakes",
    "sleeps",
    "eats",
)
STATES = ("worse", "better", "relieved", "recent", "current", "currently")


def opposite(text: str, rng: random.Random) -> str | None:
    """Return a wording that what states `text` contradicts; None where no sure one is known."""
    plain = text.replace("-", " ") if text.count("-") > 1 and " " not in text else text
    if re.search(r"\bor\b|/", plain, re.I):
        return None
    number = re.search(r"\b\d+\b", plain)
    ways = _swapped(plain)
    if number:
        ways += _other_number(plain, number, rng)
    ways += _other_word(plain, rng)
    ways += _other_unit(plain, bool(number), rng)
    ways += _negated(plain, bool(number), rng)
    ways = [way for way in ways if way.lower() != plain.lower()]
    if not ways:
        return None
    new = rng.choice(ways)
    return new.replace(" ", "-") if plain is not text and rng.random() < 0.5 else new


def _in_case_of(word: str, like: str) -> str:
    """Return the word in the case of another."""
    if like.isupper() and len(like) > 2:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word


def _swapped(plain: str) -> list[str]:
    """Return the wordings with one word of a pair swapped for the other."""
    ways = []
    for pair in SWAPS:
        for old, new in (pair, pair[::-1]):
            parts = re.split(rf"\b({old})\b", plain, flags=re.I)
            if len(parts) > 1:
                parts[1::2] = [_in_case_of(new, like) for like in parts[1::2]]
                ways.append("".join(parts))
    return ways


def _other_number(plain: str, number: re.Match[str], rng: random.Random) -> list[str]:
    """Return the wording with another number, twice."""
    n = int(number[0])
    new = rng.choice(
        [
            n + rng.randint(1, 3),
            max(1, n - rng.randint(1, 3)),
            n * 2,
            n + rng.randint(4, 20),
            max(1, n // 2),
        ]
    )
    if new == n:
        return []
    return [plain[: number.start()] + str(new) + plain[number.end() :]] * 2


def _other_word(plain: str, rng: random.Random) -> list[str]:
    """Return the wording with another number in words, twice."""
    for word in WORDS:
        if re.search(rf"\b{word}\b", plain, re.I):
            new = rng.choice([v for v in WORDS if v != word])
            return [re.sub(rf"\b{word}\b", new, plain, flags=re.I)] * 2
    return []


def _other_unit(plain: str, number: bool, rng: random.Random) -> list[str]:
    """Return the wordings with another unit of time, where there is a number."""
    if not number and not any(re.search(rf"\b{word}\b", plain, re.I) for word in WORDS):
        return []
    ways = []
    for units in (UNITS, UNIT1, SHORT):
        for unit in units:
            if re.search(rf"\b{unit}\b", plain):
                new = rng.choice([v for v in units if v != unit])
                ways.append(re.sub(rf"\b{unit}\b", new, plain))
    return ways


def _negated(plain: str, number: bool, rng: random.Random) -> list[str]:
    """Return the wordings without the negation at the start, or with one."""
    negation = NEG.match(plain)
    if negation:
        rest = plain[negation.end() :]
        if len(rest) <= 2:
            return []
        start = rng.choice(["Has ", "Positive for ", "Presence of "])
        return [rest[0].upper() + rest[1:], start + rest] * 2
    if number or PERSON.match(plain) or ANY_NEGATIVE.search(plain):
        return []
    first = plain.split()[0].lower()
    low = plain[0].lower() + plain[1:] if not plain[:2].isupper() else plain
    if first in VERBS:
        return ["Does not " + first.rstrip("s").replace("ha", "have") + low[len(first) :]]
    if re.search(r"(ed|ing)$", first) or first in STATES:
        return ["Not " + low]
    return [rng.choice(["No ", "Denies ", "Absence of ", "No "]) + low]
