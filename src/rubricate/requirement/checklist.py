"""Features as checklists word them: what is asked for, without numbers, points and headings."""

from __future__ import annotations

import re
from functools import lru_cache

from rubricate.knowledge.tables import pattern, words
from rubricate.requirement.diagnoses import asked_diagnoses
from rubricate.requirement.tests import asked_tests
from rubricate.rubric import Feature, split_points

_LEAD = pattern("checklist.lead")
_SMALL_WORDS = words("checklist.small_words")
_POINTS = pattern("checklist.points")
_HEADING = pattern("checklist.heading")
_NEGATIVE = pattern("checklist.negative")
_DENYING = pattern("checklist.denying")
_SAID = pattern("checklist.said")
_TERM = pattern("checklist.term")
_DENIED = pattern("checklist.denied")
_THERE = pattern("checklist.there")
_IN_DIFFERENTIAL = pattern("checklist.in_differential")
_DIFFERENTIAL_FIRST = pattern("checklist.differential_first")
#: Other wordings for what a writer thinks of, where nothing but diagnoses follows or precedes.
_ASSESSED_FORMS = (
    ("Diagnosis", pattern("checklist.leading_diagnosis")),
    ("Diagnosis", pattern("checklist.is_leading")),
    ("Differential", pattern("checklist.considers")),
    ("Differential", pattern("checklist.considered")),
)
_OF_OLD = pattern("checklist.of_old")
_ORDERED = pattern("checklist.ordered")
_ANY_OF = pattern("checklist.any_of")
_LISTED = pattern("checklist.listed")
_LONGEST_LISTED = 6
#: Characters; what is longer is no item of a checklist, and would take long to read as one.
_LONGEST = 400
_GAP = pattern("checklist.gap")
_SLASH = pattern("checklist.slash")
_AND_OR = pattern("checklist.and_or")

_ATTRIBUTES = pattern("checklist.attributes")
_IN_BRACKETS = pattern("checklist.in_brackets")

_ASKED = pattern("checklist.asked")


@lru_cache(maxsize=4096)
def asked_topic(text: str) -> str | None:
    """Return the topic that is to have been asked about; None of features that want an answer.

    >>> asked_topic("2. Asks about sexual history"), asked_topic("LMP asked")
    ('sexual history', 'LMP')
    >>> asked_topic("Mother asked about fever"), asked_topic("Rebound tenderness elicited")
    (None, None)
    """
    text = _without_gaps(text)
    if len(text) > _LONGEST:
        return None
    hit = _ASKED.fullmatch(_without_marks(text).strip(" ."))
    return None if hit is None else next(filter(None, hit.groups()))


@lru_cache(maxsize=4096)
def plain_wording(text: str) -> str:
    """Return a feature without what only checklists write, in the form that matchers know.

    A feature without numbers, points, headings and the like is returned as it is.

    >>> plain_wording("1. CHEST PAIN - 1 pt"), plain_wording("Documents no fever")
    ('CHEST PAIN', 'no fever')
    >>> plain_wording("Pertinent negatives: weight loss"), plain_wording("Head injury: denied")
    ('No weight loss', 'No head injury')
    >>> plain_wording("Right lower quadrant pain / RLQ pain")
    'Right lower quadrant pain OR RLQ pain'
    >>> plain_wording("Lists at least one of: PE, MI, pneumonia"), plain_wording("Orders CBC")
    ('PE OR MI OR pneumonia', 'CBC ordered')
    >>> plain_wording("Requests liver enzymes"), plain_wording("Requests sterilization")
    ('liver enzymes ordered', 'Requests sterilization')
    >>> plain_wording("Shortness of breath (SOB)"), plain_wording("Chest pain (onset, duration)")
    ('Shortness of breath OR SOB', 'Chest pain')
    >>> plain_wording("Vomiting symptom"), plain_wording("Finding of increased blood pressure")
    ('Vomiting', 'increased blood pressure')
    """
    written, text = text, _without_gaps(text)
    if len(text) > _LONGEST:
        return text
    if topic := asked_topic(text):
        return topic
    plain = _without_marks(text)
    in_differential = False
    if hit := _IN_DIFFERENTIAL.match(plain):
        plain, in_differential = hit[1], True
    elif hit := _DIFFERENTIAL_FIRST.match(plain):
        plain, in_differential = plain[hit.end() :], True
    plain = _any_of(plain)
    if not in_differential:
        plain = _TERM.sub("", _SAID.sub("", plain, count=1))
        plain = _short_and_long(_ATTRIBUTES.sub("", _answered(plain)))
    plain = _SLASH.sub(r"\1 OR ", _AND_OR.sub("or", plain))
    if in_differential:
        plain = f"Differential: {plain}"
    elif hit := _ORDERED.match(plain):
        ordered = f"{hit['what']} ordered"
        # "Checks locks repeatedly", "Requests sterilization": no tests.
        plain = ordered if not hit["other"] or _asks_for_test(ordered) else plain
    return plain if any(one.isalnum() for one in plain) else written


def assessed_wording(text: str) -> tuple[str, str]:
    """Return the thought that a feature wants of the writer, and the diagnoses it wants there.

    "Differential" wants them to be thought of, "Diagnosis" to be the first thought; both are empty
    of features that want something else.

    >>> assessed_wording("Considers PE"), assessed_wording("Most likely diagnosis is migraine")
    (('Differential', 'PE'), ('Diagnosis', 'migraine'))
    >>> assessed_wording("History of migraine")
    ('', '')
    """
    plain = plain_wording(text)
    head, colon, named = plain.partition(": ")
    if colon and head == "Differential":
        return head, named
    # Of what, a list does not say: it may be of past illnesses.
    if len(plain) > _LONGEST or _ANY_OF.match(plain):
        return "", ""
    hits = ((head, form.match(plain.rstrip(". "))) for head, form in _ASSESSED_FORMS)
    for head, hit in hits:
        what = hit["what"] if hit else ""
        if what and not _OF_OLD.search(what) and asked_diagnoses(what):
            return head, what
    return "", ""


def _asks_for_test(text: str) -> bool:
    return all(asked_tests(one) for one in Feature("", "", text).wordings)


def _without_gaps(text: str) -> str:
    """Return a text with one blank, or one line break, for each long row of them."""
    return _GAP.sub(lambda gap: "\n" if "\n" in gap[0] else " ", text)


def _without_marks(text: str) -> str:
    plain = _POINTS.sub("", split_points(_LEAD.sub("", text, count=1).rstrip())[0])
    plain = _HEADING.sub("", plain, count=1)
    denying = _NEGATIVE.sub("", plain, count=1)
    if denying != plain and not _DENYING.match(denying):
        denying = _denied(denying)
    return denying


def _any_of(text: str) -> str:
    """Return "A OR B OR C" of "any of: A, B, C"."""
    hit = _ANY_OF.match(text)
    if hit is None:
        return text
    parts = [part for part in _LISTED.split(text[hit.end() :].rstrip(". ")) if part]
    short = all(len(part.split()) <= _LONGEST_LISTED for part in parts)
    return " OR ".join(parts) if len(parts) > 1 and short else text


def _answered(text: str) -> str:
    """Return the plain form of "Head injury: denied" and "Night sweats (yes)"."""
    if hit := _DENIED.match(text):
        return hit[1] if _DENYING.match(hit[1]) else _denied(hit[1])
    hit = _THERE.match(text)
    return hit[1] if hit else text


def _denied(text: str) -> str:
    """Return "No head injury" of "Head injury", but "No LOC" of "LOC"."""
    small = text[1:2].islower()
    return f"No {text[0].lower() if small else text[0]}{text[1:]}"


def _short_and_long(text: str) -> str:
    """Return "Shortness of breath OR SOB" of "Shortness of breath (SOB)", either way round."""
    hit = _IN_BRACKETS.match(text)
    if hit is None:
        return text
    first, second = hit[1], hit[2].strip()
    for short, long in ((first, second), (second, first)):
        words = [word for word in re.split(r"[\s-]+", long) if word]
        initials = ("".join(word[0] for word in kept).upper() for kept in (words, _of_note(words)))
        if len(short) > 1 and short.isalpha() and short.isupper() and short in initials:
            return f"{first} OR {second}"
    return text


def _of_note(words: list[str]) -> list[str]:
    return [word for word in words if word.lower() not in _SMALL_WORDS]
