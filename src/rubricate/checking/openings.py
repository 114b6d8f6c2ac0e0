"""Rules about the first words of an annotation: articles, and references to the patient."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubricate.checking.findings import RawSpans, Repair
from rubricate.checking.judged import Found, JudgedRow, feature_traits
from rubricate.checking.placement import has_words

#: After these "a" is a number or belongs to the name: the words that carry the meaning.
_BOUND = (
    "few|lot|little|couple|bit|while|dozen|half|quarter|third|number|pack|second|minute|min|hour|hr"
    "|day|night|week|wk|fortnight|month|mo|year|yr|decade|fib|fibrillation|flutter"
)
_ARTICLE = re.compile(rf"(?:the|an?(?!\s+(?:{_BOUND})\b))(?:\s+(?=\w)|$)", re.IGNORECASE)
_PATIENT = re.compile(r"(?:the\s+)?(?:patient|pt)(?:['’]?s\b|\.)?(?:\s+(?=\w)|$)", re.IGNORECASE)
_PRONOUN = re.compile(r"s?he(?:\s+(?=\w)|$)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:his|her)(?:\s+(?=\w)|$)", re.IGNORECASE)
_PHYSIOTHERAPY = re.compile(r"\bpt\b|physio|physical therapy|therap", re.IGNORECASE)


def _cut_opening(row: JudgedRow, opening: re.Pattern[str], message: str) -> Iterator[Found]:
    text = row.note.text
    for i, spans in row.sound:
        (start, end), rest = spans[0], spans[1:]
        match = opening.match(text, start, end)
        if match is None or not match.end() > start:
            continue
        kept: RawSpans = ((match.end(), end), *rest) if match.end() < end else rest
        if any(has_words(text[first:last]) for first, last in kept):
            yield Found(i, message, Repair("respan", kept))


def find_leading_article(row: JudgedRow) -> Iterator[Found]:
    """Find annotations that begin with an article."""
    return _cut_opening(row, _ARTICLE, "begins with an article")


def find_leading_reference(row: JudgedRow) -> Iterator[Found]:
    """Find annotations that begin with a reference to the patient.

    Left alone: gender, whose evidence such a word is; "he" and "she" where the feature is about
    somebody else, whom they may mean; and "PT" where the feature is about physical therapy.
    """
    traits = feature_traits(row.feature)
    if traits.is_gender:
        return
    message = "begins with a reference to the patient"
    if not _PHYSIOTHERAPY.search(row.feature.text):
        yield from _cut_opening(row, _PATIENT, message)
    yield from _cut_opening(row, _POSSESSIVE, message)
    if not traits.names_other_person:
        yield from _cut_opening(row, _PRONOUN, message)
