"""Texts that do not read like a clinical note, and notes that cannot be scored.

The words and the rule by which a text reads like an English clinical note of its case lie beside
this module (``note_words.tsv``, ``readable.json``); both are made by ``training/fit_readable.py``.
Texts on the rubric's matter that are of no patient are told by `rubricate.screening.other_texts`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rubricate.corpus import Note
from rubricate.files import packaged_text
from rubricate.knowledge.rows import table_rows
from rubricate.rubric import Rubric
from rubricate.screening.other_texts import why_other_text

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
    """Measures of a text; all but ``usual`` are shares.

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


@lru_cache(maxsize=1)
def note_words() -> NoteWords:
    """Return the words that ship with the program."""
    lines = packaged_text("screening", WORDS).splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return NoteWords(
        {word: int(count) for word, count, _ in rows},
        frozenset(word for word, _, kind in rows if kind == "clinical"),
        frozenset(word for word, _, kind in rows if kind == "function"),
    )


@lru_cache(maxsize=1)
def readable_rule() -> ReadableRule:
    """Return the rule that ships with the program."""
    value = json.loads(packaged_text("screening", RULE))
    weights, typical, low = (Signals(**value[name]) for name in ("weights", "typical", "low"))
    return ReadableRule(weights, value["intercept"], value["least"], typical, low)


def measure_text(
    text: str, rubric: Rubric, n_met: int, *, typical: Signals, words: NoteWords
) -> Signals:
    """Return the signals of a text; of a short one they are drawn towards those of a note."""
    own = find_plain_words(text)
    content = [word for word in own if word not in words.function]
    runs = list(zip(own, own[1:], own[2:], strict=False))
    stems = {word[:_STEM] for word in content if word in words.clinical}
    asked = (
        {word[:_STEM] for word in find_plain_words(feature.text) if word in words.clinical}
        for feature in rubric
    )
    touched = sum(not stems.isdisjoint(one) for one in asked)
    common = math.fsum(math.log10(1 + words.frequency.get(word, 0)) for word in content)
    n_items, n_words, n_content = len(rubric), len(own), len(content)
    # How much there is of each signal, among how many, and what a typical note weighs beside it.
    counted: dict[str, tuple[float, int, int]] = {
        "known": (sum(word in words.frequency for word in own), n_words, _TYPICAL_WORDS),
        "clinical": (sum(word in words.clinical for word in content), n_content, _TYPICAL_WORDS),
        "usual": (common, n_content, _TYPICAL_WORDS),
        "function": (n_words - n_content, n_words, _TYPICAL_WORDS),
        "repeated": (len(runs) - len(set(runs)), len(runs), _TYPICAL_WORDS),
        "touched": (touched, n_items, _TYPICAL_ITEMS),
        "met": (n_met, n_items, _TYPICAL_ITEMS),
    }
    return Signals(
        **{
            name: (count + weight * getattr(typical, name)) / (total + weight)
            for name, (count, total, weight) in counted.items()
        }
    )


def why_no_note(text: str, rubric: Rubric, n_met: int) -> str:
    """Return the reason why a text does not read like a note of the case; empty if it does.

    ``n_met`` says how many items of the rubric were found stated or contradicted.

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
    if language := other_language(text):
        return f"{NO_NOTE}: it seems to be in {language}"
    if other := why_other_text(text, rubric):
        return f"{NO_NOTE}: {other}"
    rule = readable_rule()
    signals = measure_text(text, rubric, n_met, typical=rule.typical, words=note_words())
    # The log odds that a text with these signals is a clinical note.
    weighed = (weight * value for weight, value in zip(rule.weights, signals, strict=True))
    if rule.intercept + math.fsum(weighed) >= rule.least:
        return ""
    return f"{NO_NOTE}: {'; '.join(_reasons(signals, rule)) or 'all signs taken together'}"


#: A text of fewer words tells no language.
_LEAST_WORDS = 8
#: So many of a language's words, as a share, make it that language, if English has far fewer.
_LANGUAGE_SHARE, _OVER_ENGLISH = 0.2, 2.0


@lru_cache(maxsize=1)
def _languages() -> dict[str, frozenset[str]]:
    """Return the frequent words of other languages: ``knowledge/languages.tsv``."""
    rows = table_rows("languages.tsv")
    return {language: frozenset(words.split(" ")) for language, words in rows}


def other_language(text: str) -> str:
    """Return the language that a text seems to be in, empty where that is English or unclear.

    >>> other_language("Paciente de 50 años con dolor de pecho desde hace dos días, sin fiebre.")
    'Spanish'
    >>> other_language("50 yo M with chest pain for two days, no fever, denies la la la.")
    ''
    """
    own = find_plain_words(text)
    if len(own) < _LEAST_WORDS:
        return ""
    english = sum(word in note_words().function for word in own)
    counts = {name: sum(word in words for word in own) for name, words in _languages().items()}
    most = max(counts, key=lambda name: counts[name])
    enough = counts[most] >= _LANGUAGE_SHARE * len(own)
    return most if enough and counts[most] > _OVER_ENGLISH * english else ""


def _reasons(signals: Signals, rule: ReadableRule) -> Sequence[str]:
    """Return at most three differences from notes, in words, the largest first."""
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


#: Longest note, in characters, that is scored unless told otherwise.
LONGEST = 100_000
#: Share of characters no text has, from which a note is taken for something else.
_MOST_STRANGE = 0.1
#: Control characters but tab and line ends, and the sign for bytes that could not be decoded.
_STRANGE = re.compile(r"[\x01-\x08\x0e-\x1b\x7f\ufffd]")


def why_not_scored(note: Note, cases: Container[str], *, longest: int = LONGEST) -> str:
    """Return the reason why a note cannot be scored; empty if it can.

    >>> why_not_scored(Note("1", "c", "  "), {"c"})
    'the note is empty'
    >>> why_not_scored(Note("1", "d", "no fever"), {"c"})
    "no rubric for case 'd'"
    """
    text = note.text
    if not text.strip():
        return "the note is empty"
    if len(text) > longest:
        return f"the note is too long: {len(text):,} characters, at most {longest:,} are scored"
    if "\0" in text or len(_STRANGE.findall(text)) > _MOST_STRANGE * len(text):
        return "the note is not text: it holds control characters"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the note is not text: half a surrogate pair at {error.start}"
    if not note.case and "" not in cases:
        return "the note names no case"
    if note.case not in cases:
        return f"no rubric for case {note.case!r}"
    return ""
