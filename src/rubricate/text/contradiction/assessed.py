"""What a note's assessment says of a diagnosis: considered, denied, another's or long past."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.spans import any_overlap
from rubricate.text.checklist import assessed_wording
from rubricate.text.clauses import statement_of
from rubricate.text.contradiction.diagnosed import (
    another_diagnosis,
    asked_diagnoses,
    named_in,
    says_nothing,
)
from rubricate.text.contradiction.place import TextReading
from rubricate.text.diagnoses import (
    NamedDiagnosis,
    diagnoses,
    find_diagnoses,
    groups_above,
    is_symptom,
    may_be_meant,
    name_key,
)
from rubricate.text.earlier import names_earlier_time
from rubricate.text.sections import section_at, sections_of
from rubricate.text.words import find_tokens, word_set

#: Sections that tell what was, or what others have.
_ELSEWHERE = word_set(
    "past_medical past_surgical hospitalizations family social medications allergies obstetric"
    " sexual birth immunizations psychiatric vitals"
)


def _any_of(*cues: str, behind: str = r"(?!\w)") -> re.Pattern[str]:
    """Return a pattern for any of the cues, whatever their case, as whole words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(cues)}){behind}", re.IGNORECASE)


#: These open a list of what the writer thinks of, within the sentence.
_LISTED = _any_of(
    "ddx|dx|dd|diff|differentials?|diagnos[ie]s|impressions?|imp|assessment|considerations",
    "r/o|rule out|ruling out|vs|versus",
)
#: The writer thinks: right before a diagnosis, or right behind it.
_THOUGHT = _any_of(
    "likely|likelier|possib(?:le|ly|ility)|poss|probabl[ey]|prob|presumed|presumptive|provisional",
    "suspect(?:ed|s)?|suspicion|suspicious|c/f|concern(?:ed|ing)? (?:for|about)|concern is|fear",
    "consider(?:ed|s|ing)?|considerations?|query|queried|exclude|r/o|rule out|vs|versus",
    "think|thought|believe|favou?r(?:s|ed)?|wonder(?:ing|s)? (?:about|if)|worr(?:y|ied) about",
    "consistent with|c/w|suggest(?:s|ive|ing)?|in keeping with|compatible with|picture is",
    "could be|may be|might be|must be|weigh(?:ed|ing|s)?|alternatives?|until prove[dn]",
    "(?:top|head) of (?:the|my) list|(?:heads|tops) (?:the|my) list|to be assumed|i would put",
    "working diagnosis|is the diagnosis|(?:be|been) looked for|also check for|evaluate for",
    "work-?up for|(?:chief|main|my) worry|attribut(?:e|ed) (?:this|it|that) to|come after that",
    "on (?:the |my )?list|another thought",
)
_RANKED = re.compile(
    r"^\s*(?:comes?\s+|is\s+|a\s+|distant\s+)*(?:second|third|next|last)"
    r"\s*(?:[.,;(]|$|and\b|then\b)|^\s*\?",
    re.IGNORECASE,
)
_QUERIED = re.compile(r"\?$|^\s*\?\s*$")
#: So far a thought reaches, in characters.
_BEFORE, _BEHIND = 45, 70
#: The first of several thoughts, those after it, and what says that there are several.
_FIRST = _any_of(
    "most likely|likeliest|(?:top|head) of (?:the|my) list|(?:heads|tops) (?:the|my) list",
    "front[- ]runner|number one|leading|working diagnosis|main diagnosis|fits best|first thought",
)
_LATER = re.compile(
    r"^[\s,(:-]*(?:(?:is|are|comes?|as|a|the|being|my|distant)\s+)*"
    r"(?:second|third|fourth|next|last|less likely|unlikely|behind|also possible)\b",
    re.IGNORECASE,
)
_LESS = _any_of("less likely", "unlikely", behind=r"\s+$")
_DOUBTED = re.compile(
    r"\b(?:r/o|rule out|less likely|unlikely|vs|versus|possibl[ey]|exclude|consider|or|ddx"
    r"|differential|second|third|could|might|may|alternatively|other|also|then|even|query|wonder)\b"
    r"|\?",
    re.IGNORECASE,
)
#: It is over, or was then: these settle that a diagnosis is no thought about today.
_PAST = _any_of(
    "history of|hx(?: of)?|h/o|pmhx?|previous|prior|past|treated for|resolved|had|since",
    r"as an? (?:kid|baby|student)|childhood|status post|s/p|was (?:diagnosed|treated)|'\d\d",
    r"in (?:his|her|their) (?:\w+ )?(?:teens|twenties|thirties|forties|fifties|[2-9]0s)",
)
_PEOPLE = (
    "wife|husband|mother|father|mum|mom|dad|sister|brother|son|daughter|aunt|uncle|partner|friend"
    "|cousin|grandmother|grandfather|neighbou?r"
)
_OTHERS = _any_of(rf"(?:{_PEOPLE})(?:['’]s|\s+has|\s+had|\s+with)", behind=r"\b[^,.;]{0,25}$")
#: What takes a diagnosis out of the running, right behind it or right before it.
_OUT_BEHIND = re.compile(
    r"^[\s,:(-]*(?:(?:is|was|has been|have been|are|being|now|already|since|therefore|thus"
    r"|effectively|can be|looks|seems|been)\s+)*"
    r"(?:ruled[- ]out|r/o['’]?d|excluded|out of the running|off the table|discounted|dismissed"
    r"|not (?:likely|supported|present|seen|found|felt|suspected)|disproved|refuted|negative|neg\b"
    r"|considered (?:and|but|then) (?:rejected|dismissed|discarded|excluded)|out\b(?! of))",
    re.IGNORECASE,
)
_IT_IS = r"(?: (?:that|this|it|she|he|they|is|has|have|to|be|an?))*"
_OUT_BEFORE = _any_of(
    "ruled out|rules out|excludes|excluded|discounted|dismissed|not|no|doubt|rather than|than",
    rf"(?:do(?:es)? not|don['’]t|doesn['’]t) (?:believe|think|suspect|feel){_IT_IS}",
    "nothing to suggest|nothing suggesting|unlikely to be",
    "no (?:evidence|sign|signs|suggestion|suspicion|features|concern) (?:of|for)",
    behind=r"(?: (?:an?|any|the|acute|active))*\s*$",
)
#: It cannot be left out: "cannot exclude", "need to rule out", "not ruled out".
_OPEN = _any_of(
    r"(?:can(?:no|['’])?t|could not|couldn['’]t|not|unable to|cannot be|yet to|to|must|should)"
    r"\s+(?:be\s+|yet\s+|been\s+)*(?:fully\s+|entirely\s+|completely\s+)?"
    r"(?:excluded?|ruled? out|r/o)"
)


class Assessed(NamedTuple):
    """Where a diagnosis is considered, where it is denied, and where it is another's or past."""

    considered: tuple[tuple[int, int], ...] = ()
    denied: tuple[tuple[int, int], ...] = ()
    elsewhere: tuple[tuple[int, int], ...] = ()
    unclear: tuple[tuple[int, int], ...] = ()


class _Wanted(NamedTuple):
    """A diagnosis asked for: what it may be, and the name of a kind where it is named by one."""

    meant: frozenset[str]
    kind: str


@lru_cache(maxsize=4096)
def wanted_in_assessment(feature: str) -> tuple[_Wanted, ...]:
    """Return the diagnoses that a feature wants in the assessment; empty of other features.

    >>> [sorted(one.meant) for one in wanted_in_assessment("Differential: PE OR pneumonia")]
    [['pulmonary embolism'], ['pneumonia']]
    >>> wanted_in_assessment("Pneumonia")
    ()
    """
    wanted = assessed_wording(feature)[1]
    named = find_diagnoses(wanted, find_tokens(wanted))
    return tuple(_Wanted(one.meant, _kind_named(one)) for one in named)


def _kind_named(one: NamedDiagnosis) -> str:
    """Return the key of a name that is that of a kind of what its row is about."""
    table = diagnoses()
    names = (name for row in one.meant for name in (row, *table[row].names))
    return "" if one.key in {_key(name) for name in names} else one.key


def _key(name: str) -> str:
    return name if name.isupper() else name_key(name)


def judge_assessed(feature: str, reading: TextReading) -> Assessed:
    """Return where a note speaks of the diagnosis that a feature wants in its assessment.

    >>> from rubricate.text.contradiction.place import read_text
    >>> reading = read_text("PMH: asthma. A: r/o PE vs pneumonia, no evidence of ACS")
    >>> judge_assessed("Differential: PE", reading).considered
    ((20, 22),)
    >>> judge_assessed("Differential: asthma", reading).elsewhere
    ((5, 11),)
    >>> judge_assessed("Differential: ACS", reading).denied
    ((52, 55),)
    """
    wanted = wanted_in_assessment(feature)
    if not wanted:
        return Assessed()
    leading = assessed_wording(feature)[0] == "Diagnosis"
    found: dict[str, list[tuple[int, int]]] = {}
    for one in named_in(reading):
        said = _said_of(reading, one)
        if not any(_states(one, asked) for asked in wanted):
            if not any(_may_state(one, asked) for asked in wanted):
                continue
            wider = any(_is_wider(one, asked) for asked in wanted)
            said = said if wider and said != "considered" else "unclear"
        elif said == "considered" and leading:
            said = _rank_of(reading, one)
        where = (reading.tokens[one.first].start, reading.tokens[one.end - 1].end)
        found.setdefault(said, []).append(where)
    return Assessed(**{kind: tuple(own) for kind, own in found.items()})


def in_assessment(reading: TextReading, start: int, end: int) -> bool:
    """Tell whether words stand where the writer says what it may be.

    >>> from rubricate.text.contradiction.place import read_text
    >>> in_assessment(read_text("Loose stools. I suspect coeliac"), 0, 12)
    False
    """
    first, last = statement_of(reading.text, start, end)
    section = section_at(reading.text, start)
    thought = any(one.search(reading.text, first, last) for one in (_LISTED, _THOUGHT))
    return section in ("assessment", "plan") or thought or "?" in reading.text[first:last]


def _rank_of(reading: TextReading, one: NamedDiagnosis) -> str:
    """Return "considered" of the diagnosis that leads an assessment, "elsewhere" of a later one."""
    text = reading.text
    start, end = reading.tokens[one.first].start, reading.tokens[one.end - 1].end
    first, last = statement_of(text, start, end)
    near = text[first:start].rsplit(",", 1)[-1], re.split("[,.;]", text[end:last])[0]
    if _LATER.match(near[1]) or _LESS.search(near[0]):
        return "elsewhere"
    if any(_FIRST.search(words) for words in near):
        return "considered"
    if _DOUBTED.search(text, first, start) or _DOUBTED.search(near[1]):
        return "unclear"
    begin = next(
        (x.body.start for x in sections_of(text) if x.body and x.body.start <= start < x.body.end),
        first,
    )
    earlier = (
        name
        for other in named_in(reading)
        if begin <= reading.tokens[other.first].start < start
        for name in other.meant
    )
    others = (name for name in earlier if not is_symptom(name))
    alone = all(may_be_meant(name, own) for name in others for own in one.meant)
    return "considered" if alone else "unclear"


#: Of a kind that is asked for these say no other kind.
_QUALITIES = word_set("acute chronic simple uncomplicated mild moderate severe recurrent early")


def _states(said: NamedDiagnosis, asked: _Wanted) -> bool:
    """Tell whether a name is that of a diagnosis asked for, or of a kind of it."""
    if asked.kind:
        # "Acute uncomplicated cystitis" is a cystitis.
        words = {form.removesuffix("s") for form in asked.kind.split()} - _QUALITIES
        return words <= {form.removesuffix("s") for form in said.key.split()}
    return any(not groups_above(one).isdisjoint(asked.meant) for one in said.meant)


def _may_state(said: NamedDiagnosis, asked: _Wanted) -> bool:
    """Tell whether a name leaves a way to mean a diagnosis asked for; a symptom says too little."""
    return any(may_be_meant(a, b) and not is_symptom(b) for a in asked.meant for b in said.meant)


def _is_wider(said: NamedDiagnosis, asked: _Wanted) -> bool:
    """Tell whether a name is that of a group that a diagnosis asked for is in."""
    return any(not groups_above(one).isdisjoint(said.meant) for one in asked.meant)


def _said_of(reading: TextReading, one: NamedDiagnosis) -> str:
    """Return what is said of a diagnosis at one place."""
    text = reading.text
    start, end = reading.tokens[one.first].start, reading.tokens[one.end - 1].end
    section = section_at(text, start)
    if section in _ELSEWHERE:
        return "elsewhere"
    if any(c.scope_span.start <= start < c.scope_span.end for c in reading.contexts):
        return "elsewhere"
    first, last = statement_of(text, start, end)
    before, behind = text[first:start], text[end:last]
    left_open = _OPEN.search(before) or _OPEN.search(behind)
    near = before.rsplit(",", 1)[-1]
    if _OTHERS.search(before):
        return "elsewhere"
    if not left_open and (
        _OUT_BEHIND.match(behind) or _OUT_BEFORE.search(near) or reading.scope[one.first] >= 0
    ):
        return "denied"
    beside = (near, re.split(r"[,.;]", behind)[0])
    if any(_PAST.search(words) or names_earlier_time(words) for words in beside):
        return "elsewhere" if section != "assessment" else "unclear"
    if section == "assessment" or left_open or _is_thought(before, behind):
        return "considered"
    # What stands before a headed assessment is what it draws on.
    return "elsewhere" if start < _assessment_begins(text) else "unclear"


def _is_thought(before: str, behind: str) -> bool:
    """Tell whether the words around a diagnosis say that the writer thinks of it."""
    return bool(
        _LISTED.search(before)
        or _THOUGHT.search(before[-_BEFORE:])
        or _QUERIED.search(before)
        or _THOUGHT.search(behind[:_BEHIND])
        or _RANKED.match(behind)
    )


def _assessment_begins(text: str) -> int:
    return max((x.heading.start for x in sections_of(text) if x.name == "assessment"), default=0)


Spans = Sequence[tuple[int, int]]


class DiagnosisVerdict(NamedTuple):
    """What a note says of the diagnosis that a feature asks for.

    ``states``: words that state it, where none of those found do. ``kept``: which of the words
    found may state it. ``considered``: whether some are known to. ``denied``: some that deny it.
    """

    states: tuple[tuple[int, int], ...] = ()
    kept: tuple[bool, ...] = ()
    considered: bool = False
    denied: tuple[int, int] | None = None


def judge_diagnosis(
    feature: str, reading: TextReading, found: Sequence[Spans]
) -> DiagnosisVerdict | None:
    """Return what a note says of the diagnosis a feature asks for; None where it asks for none.

    >>> from rubricate.text.contradiction.place import read_text
    >>> said = read_text("PMH: pneumonia 2019. A: r/o PE")
    >>> judge_diagnosis("Differential: pneumonia", said, [[(5, 14)]]).kept
    (False,)
    >>> judge_diagnosis("Differential: pulmonary embolism", said, []).states
    ((28, 30),)
    """
    if not asked_diagnoses(feature) and not wanted_in_assessment(feature):
        return None
    listed = bool(wanted_in_assessment(feature))
    others = [
        another_diagnosis(feature, reading, spans, listed=listed) is not None for spans in found
    ]
    said = judge_assessed(feature, reading)
    if not listed:
        return DiagnosisVerdict(kept=tuple(not other for other in others))
    settled = any(any_overlap((*said.denied, *said.elsewhere), spans) for spans in found)
    kept = tuple(
        not other and _may_be_stated(said, reading, spans, settled=settled)
        for other, spans in zip(others, found, strict=True)
    )
    if said.considered and not any(kept):
        return DiagnosisVerdict(states=said.considered, kept=kept)
    denied = [one for spans in found for one in said.denied if any_overlap([one], spans)]
    return DiagnosisVerdict((), kept, bool(said.considered), denied[0] if denied else None)


def _may_be_stated(said: Assessed, reading: TextReading, spans: Spans, *, settled: bool) -> bool:
    """Tell whether words found may state a diagnosis of the assessment.

    Where other words found name it and deny it, or tell of the past, it is ``settled``.
    """
    if any_overlap(said.considered, spans) or any_overlap(said.unclear, spans):
        return True
    if settled:
        return False
    # No name that is known: what stands before a headed assessment is not what the writer thinks.
    start, end = spans[0][0], spans[-1][1]
    drawn_on = start < _assessment_begins(reading.text) and not in_assessment(reading, start, end)
    return not drawn_on and not says_nothing(reading, spans)
