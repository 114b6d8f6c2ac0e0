"""No text makes reading slow: four times the text takes about four times the time.

Steps of Python are counted in ``test_growth.py``; searches inside patterns and strings make none,
so that here time is taken. A time that grows with the square is 16 times as long at four times the
length, one that grows linearly 4 times; the limit lies between. Time of the processor is taken, the
best of several, and again where it seems too long, so that a busy machine says nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import rubricate.reading
import rubricate.requirement
import rubricate.rules
from rubricate import Corpus, Feature, Note, Rubric
from rubricate.matchers import fit_matcher
from rubricate.matchers.lexicon.matcher import votes_from_rubric
from rubricate.matchers.wording.reading import read_columns
from rubricate.reading.clean import clean_text
from rubricate.reading.note import read_note
from rubricate.reading.tokens import CueTable
from rubricate.requirement.checklist import plain_wording
from rubricate.requirement.requirement import Requirement
from rubricate.rubric import odd_features

#: Characters of the shorter text; the longer has four times as many.
SHORT, TIMES = 4000, 4
#: Four times the text may take so many times as long: the growth of n^1.3 is 6.1.
MOST = TIMES**1.3
#: Seconds that are too short to tell growth from chance: the square of 16,000 characters is more.
NOTHING = 0.25
TRIES = 4

#: One rubric that asks every kind of rule.
FEATURES = (
    "No chest pain OR cough", "Father with asthma", "58 year", "Female", "Cough for 3 weeks",
    "Orders CBC", "CT head ordered", "Differential: appendicitis", "Diagnosis: pneumonia",
    "Starts beta blocker", "Return precautions given", "Smoking history asked", "Fever",
    "Hypertension 150/90", "Drinks too much alcohol", "Menarche at age 12", "Left arm pain",
    "Takes ibuprofen daily", "Pregnant G2P1", "Type 2 diabetes", "Considers PE",
    "Advises smoking cessation", "No weight loss", "Appendicitis excluded", "Recent travel",
)  # fmt: skip
RUBRIC = Rubric("c", tuple(Feature(str(i), "c", text) for i, text in enumerate(FEATURES)))
#: Begin and end of a text, and what is repeated between them.
HOSTILE = {
    "spaces": ("CBC", " ", "ordered"),
    "spaces between words": ("CBC ordered. Cough", "  \t ", "for 3 weeks"),
    "line breaks": ("Plan:", "\n", "CBC"),
    "one line of diagnoses": ("Differential: ", "appendicitis, ", ""),
    "diagnoses without a comma": ("A: likely ", "pneumonia ", "PE"),
    "sections": ("", "PMH: asthma. ", ""),
    "headings": ("", "FH: ", "MI"),
    "headings of an assessment": ("", "A: PE. ", ""),
    "relatives": ("", "Father: MI, ", ""),
    "a line of tests": ("Plan: ", "CBC, CT head; ", ""),
    "earlier tests": ("", "CBC last year, ", ""),
    "drugs": ("Plan: start ", "metoprolol, ibuprofen ", ""),
    "denials": ("", "No fever, cough ", ""),
    "denials behind": ("", "fever are no, ", ""),
    "denials taken back": ("", "denies losing without ", ""),
    "minus signs": ("", "edema -, ", ""),
    "conditions": ("", "return if worse ", ""),
    "values": ("", "T 39.2 BP 150/90 G2P1 ", ""),
    "items with numbers": ("", "2. TSH 3. ", ""),
    "ages": ("", "58 year old ", ""),
    "times": ("Cough ", "for 3/52 ", ""),
    "sides": ("", "left arm pain ", ""),
    "digits": ("BP ", "1", " high"),
    "numbers with commas": ("", "1,", ""),
    "a long word": ("", "a", ""),
    "letters with slashes": ("", "A/", "b1"),
    "letters with dots": ("", "a.", "b"),
    "commas": ("cough", ",", "fever"),
    "nested brackets": ("", "([", ""),
    "closed brackets": ("", "(cough) ", ""),
    "marks of records": ("", "[**", "**]"),
    "names of records": ("", "**NAME[", ""),
    "dashes": ("cough", "- ", ""),
    "questions": ("", "? PE ", ""),
    "pictures": ("", "\U0001f600", " cough"),
    "a note copied": ("", "Cough for 3 weeks, no fever today. ", ""),
}  # fmt: skip
NAMES = list(HOSTILE)


def hostile(name: str, n: int) -> str:
    begin, unit, end = HOSTILE[name]
    return begin + unit * (n // len(unit)) + end


def seconds(work: Callable[[str], object], text: str) -> float:
    """Return the shortest time of a piece of work; each text is new, since some are remembered."""
    best = float("inf")
    for i in range(3):
        start = time.process_time()
        work(text + " " * i)
        best = min(best, time.process_time() - start)
        if best < NOTHING / TIMES:
            break
    return best


def grows_too_fast(work: Callable[[str], object], text_of: Callable[[int], str]) -> str:
    """Return the growth of the time if it exceeds the limit in every repetition."""
    said = ""
    for attempt in range(TRIES):
        long = seconds(work, text_of(TIMES * SHORT + 16 * attempt))
        if long < NOTHING:
            return ""
        short = seconds(work, text_of(SHORT + 4 * attempt))
        if long <= MOST * short:
            return ""
        said = f"{short:.3f} s, and {long:.3f} s for {TIMES} times the text"
    return said


def read_and_judge(text: str) -> object:
    return votes_from_rubric(RUBRIC, [clean_text(text)])


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Read the tables before any time is taken."""
    read_and_judge("Cough, CBC ordered. A: pneumonia")


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_reads_a_long_note_in_time(name: str) -> None:
    assert not grows_too_fast(read_and_judge, lambda n: hostile(name, n))


#: What is read of a feature.
LOOKUPS = [name for name, own in vars(Requirement).items() if isinstance(own, cached_property)]


def read_feature_whole(text: str) -> object:
    feature = Feature("1", "c", text)
    wording = plain_wording(text)
    asked = [Requirement(one) for one in (text, wording)]
    return (
        [getattr(one, name) for one in asked for name in LOOKUPS],
        [one.values(None) for one in asked],
        votes_from_rubric(
            Rubric("c", (feature, RUBRIC.features[12])), ["Cough, fever. CBC ordered; no PE"]
        ),
    )  # fmt: skip


def odd(text: str) -> object:
    return list(odd_features(Rubric("c", (Feature("1", "c", text),))))


@pytest.mark.parametrize("work", [read_feature_whole, odd], ids=["requirement", "oddities"])
@pytest.mark.parametrize("name", NAMES)
def test_every_rule_reads_a_long_feature_in_time(work: Callable[[str], object], name: str) -> None:
    assert not grows_too_fast(work, lambda n: hostile(name, n))


@pytest.mark.parametrize("name", ["exact", "fuzzy", "synonyms", "lexicon"])
@pytest.mark.parametrize("text", ["spaces", "a long word", "denials", "commas", "a note copied"])
def test_every_matcher_reads_a_long_note_in_time(
    name: str, text: str, build: Callable[..., Corpus]
) -> None:
    marks = {"f": [[(0, 8)]], "c": [[(13, 18)]]}
    features = {"f": "No fever", "c": "Cough for 3 weeks"}
    learned = fit_matcher(
        name, build([(str(i), "no fever, no cough", marks) for i in range(5)], features)
    )
    rubrics = learned.predict(build([], features)).rubrics
    assert not grows_too_fast(
        lambda said: learned.predict(Corpus((Note("1", "c", said),), rubrics)),
        lambda n: hostile(text, n),
    )


def word_lists() -> dict[str, list[str]]:
    """Return the words of every list of cues that a module of the rules has, by its name."""
    found: dict[str, list[str]] = {}
    parts = (rubricate.reading, rubricate.requirement, rubricate.rules)
    modules = (
        module
        for part in parts
        for module in walk_packages([str(Path(str(part.__file__)).parent)], f"{part.__name__}.")
    )
    for module in modules:
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, CueTable):
                words = sorted(value.first_forms)
            elif isinstance(value, frozenset | set | Mapping):
                words = sorted(one for one in value if isinstance(one, str))
            else:
                continue
            if len(words) > 2:
                found[f"{module.name.removeprefix('rubricate.')}.{name}"] = words
    return found


@pytest.mark.slow
@pytest.mark.parametrize("joint", [" ", ", ", ": "])
def test_the_words_of_every_list_of_cues_are_read_in_time(joint: str) -> None:
    lists = word_lists()
    assert len(lists) > 100

    def read(text: str) -> object:
        return read_columns(text), read_note(text).measurements

    slow = {}
    for name, words in lists.items():
        line = joint.join(words) + joint
        if said := grows_too_fast(read, lambda n, line=line: line * (n // len(line) + 1)):  # type: ignore[misc]
            slow[name] = said
    assert not slow
