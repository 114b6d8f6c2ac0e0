"""Whether a text reads like an English clinical note of its case: signals, and one fitted rule.

The words and the rule lie beside this module (``note_words.tsv``, ``readable.json``); both are made
by ``scripts/fit_readable.py`` from notes and from texts that are none. Texts on the rubric's matter
that are of no patient are told by `rubricate.scoring.other_texts`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from rubricate.formats.encoding import Json
from rubricate.rubric import Rubric
from rubricate.scoring.other_texts import PATTERNS, why_other_text

WORDS, RULE = "note_words.tsv", "readable.json"
#: What the reason of a note begins with that reads like something else.
NO_NOTE = "does not read like a clinical note"
#: Words from which a text is taken for something else; the longest note of ours has some five
#: hundred, and discharge letters seldom have more than two thousand.
MOST_WORDS = 5_000
#: Shares of few words say little: each is drawn towards that of a typical note, as if so many
#: words (or items) of one had been seen besides.
_TYPICAL_WORDS, _TYPICAL_ITEMS = 4, 1
#: Letters by which forms of one word are known ("vomit", "vomiting").
_STEM = 5
_WORD = re.compile(r"[^\W\d_]+")


def find_plain_words(text: str) -> list[str]:
    """Return the words of a text, in small letters, without numbers and signs.

    Examples
    --------
    >>> find_plain_words("Pt c/o 2 wks' PAIN")
    ['pt', 'c', 'o', 'wks', 'pain']
    """
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class NoteWords:
    """Words of clinical notes: in how many texts each occurs, and which are of a kind."""

    frequency: Mapping[str, int]
    clinical: frozenset[str]
    function: frozenset[str]


class Signals(NamedTuple):
    """What a text looks like, each as a share but for ``usual``.

    ``known``: words that notes have; ``clinical``: clinical ones among those with a meaning of
    their own; ``usual``: how common the latter are in notes (mean of log10 of their frequency);
    ``function``: English function words; ``repeated``: runs of three words that came before;
    ``touched``: items of the rubric that share a clinical word with the text; ``met``: items that
    the matcher found stated or contradicted.
    """

    known: float
    clinical: float
    usual: float
    function: float
    repeated: float
    touched: float
    met: float


@dataclass(frozen=True, slots=True)
class ReadableRule:
    """A logistic rule over the signals: a text below ``least`` log odds is taken for no note.

    ``typical`` is the mean of real notes, ``low`` what all but one in a hundred exceed (for
    ``repeated``: stay below).
    """

    weights: Signals
    intercept: float
    least: float
    typical: Signals
    low: Signals

    def log_odds(self, signals: Signals) -> float:
        """Return the log odds that a text with these signals is a clinical note."""
        pairs = zip(self.weights, signals, strict=True)
        return self.intercept + math.fsum(weight * value for weight, value in pairs)


@lru_cache(maxsize=1)
def note_words() -> NoteWords:
    """Return the words that ship with the program."""
    lines = _beside(WORDS).splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return NoteWords(
        {word: int(count) for word, count, _ in rows},
        frozenset(word for word, _, kind in rows if kind == "clinical"),
        frozenset(word for word, _, kind in rows if kind == "function"),
    )


@lru_cache(maxsize=1)
def readable_rule() -> ReadableRule:
    """Return the rule that ships with the program."""
    value: Json = json.loads(_beside(RULE))
    weights, typical, low = (Signals(**value[name]) for name in ("weights", "typical", "low"))
    return ReadableRule(weights, value["intercept"], value["least"], typical, low)


def rule_hash() -> str:
    """Return a hash of the rule and its words: what they say of a text is kept with evidence."""
    patterns = (one.pattern for one in PATTERNS)
    return hashlib.sha256("\0".join([*map(_beside, (RULE, WORDS)), *patterns]).encode()).hexdigest()


def _beside(name: str) -> str:
    return (files("rubricate.scoring") / name).read_text(encoding="utf-8")


def measure_text(
    text: str, rubric: Rubric, n_met: int, *, typical: Signals, words: NoteWords
) -> Signals:
    """Return the signals of a text; of a short one they are drawn towards those of a note."""
    own = find_plain_words(text)
    content = [word for word in own if word not in words.function]
    runs = list(zip(own, own[1:], own[2:], strict=False))
    stems = {word[:_STEM] for word in content if word in words.clinical}
    touched = sum(not stems.isdisjoint(one) for one in _stems(rubric, words))

    def share(count: float, total: int, usual: float, weight: int = _TYPICAL_WORDS) -> float:
        return (count + weight * usual) / (total + weight)

    common = math.fsum(math.log10(1 + words.frequency.get(word, 0)) for word in content)
    n_items = len(rubric)
    return Signals(
        known=share(sum(word in words.frequency for word in own), len(own), typical.known),
        clinical=share(
            sum(word in words.clinical for word in content), len(content), typical.clinical
        ),
        usual=share(common, len(content), typical.usual),
        function=share(len(own) - len(content), len(own), typical.function),
        repeated=share(len(runs) - len(set(runs)), len(runs), typical.repeated),
        touched=share(touched, n_items, typical.touched, _TYPICAL_ITEMS),
        met=share(n_met, n_items, typical.met, _TYPICAL_ITEMS),
    )


def _stems(rubric: Rubric, words: NoteWords) -> list[set[str]]:
    return [
        {word[:_STEM] for word in find_plain_words(feature.text) if word in words.clinical}
        for feature in rubric
    ]


def why_no_note(text: str, rubric: Rubric, n_met: int) -> str:
    """Return why a text does not read like a note of the rubric's case; empty where it does.

    ``n_met`` says how many items of the rubric were found stated or contradicted.

    Examples
    --------
    >>> from rubricate.rubric import Feature
    >>> rubric = Rubric("c", (Feature("f", "c", "Chest pain"), Feature("g", "c", "No fever")))
    >>> why_no_note("58M w/ chest pain x2d, worse on exertion. Denies fever.", rubric, 2)
    ''
    >>> why_no_note("for (let i = 0; i < rows.length; i += 1) { total += rows[i]; }", rubric, 0)
    'does not read like a clinical note: ...'
    """
    n_words = len(find_plain_words(text))
    if n_words > MOST_WORDS:
        return f"{NO_NOTE}: it has {n_words:,} words, more than {MOST_WORDS:,}"
    if other := why_other_text(text, rubric):
        return f"{NO_NOTE}: {other}"
    rule = readable_rule()
    signals = measure_text(text, rubric, n_met, typical=rule.typical, words=note_words())
    if rule.log_odds(signals) >= rule.least:
        return ""
    return f"{NO_NOTE}: {'; '.join(_reasons(signals, rule)) or 'all signs taken together'}"


def _reasons(signals: Signals, rule: ReadableRule) -> Sequence[str]:
    """Return what is unlike notes, in words; at most three, the most telling first."""
    said = {
        "known": f"{signals.known:.0%} of its words are known",
        "clinical": f"{signals.clinical:.0%} of its content words are clinical",
        "usual": "its words are unusual in notes",
        "repeated": f"{signals.repeated:.0%} of it is repeated",
        "touched": f"{signals.touched:.0%} of the items share a clinical word with it",
        "met": f"{signals.met:.0%} of the items are stated or contradicted",
    }
    lacking = {
        name: getattr(rule.weights, name) * (getattr(signals, name) - getattr(rule.typical, name))
        for name in said
        if (getattr(signals, name) - getattr(rule.low, name)) * getattr(rule.weights, name) < 0
    }
    return [said[name] for name in sorted(lacking, key=lambda name: lacking[name])[:3]]
