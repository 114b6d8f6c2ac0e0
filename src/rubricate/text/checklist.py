"""Features as checklists word them: what is asked for, without numbers, points and headings."""

from __future__ import annotations

import re
from functools import lru_cache

from rubricate.rubric import split_points
from rubricate.text.contradiction.diagnosed import asked_diagnoses
from rubricate.text.investigations.asked import asks_for_test

#: "1. ", "b) ", "[ ] ", "* " before a feature, with a blank behind; "C. difficile" is a name.
_LEAD = re.compile(
    r"^\s*(?:(?:[-*•–—▪●◦·□☐✓]+|\[[ xX]?\]|#?\(?\d{1,2}[.)]|\(?[a-zA-Z]\)|Q\d{1,2}[.:)])\s+)+"
)
#: ": 1 pt" and the like behind it, which may be no points of it, but are nothing a note says.
_POINTS = re.compile(
    r"\s*[-–—:;,=|]+\s*[+]?(?:\d+(?:[.,/]\d+)?|[½¼¾])\s*(?:pts?|points?|marks?)\.?\s*$",
    re.IGNORECASE,
)
#: Headings under which a checklist sorts what it asks for, and that say no more about it.
_HEADING = re.compile(
    r"^(?:(?:on )?(?:physical )?exam(?:ination)?|physical|PE|HPI|ROS|review of systems|subjective"
    r"|objective|pertinent positives?|positives?)\s*(?::|\s[-–—]\s)\s*(?=\S)",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"^(?:pertinent|relevant|important) negatives?\s*[:\-–—]\s*", re.IGNORECASE)
_DENYING = re.compile(r"^(?:no|not|non|never|denies|denied|absence|without|negative)\b", re.I)
#: Who says so, where it is the examinee's note or the patient that says it anyway.
_SAID = re.compile(
    r"^(?:(?:the )?(?:student|examinee|candidate|learner|note|patient|pt)\s+)?"
    r"(?:(?:clearly|correctly|explicitly|specifically)\s+)?"
    r"(?:documents|states|notes|mentions|reports|endorses|indicates)\s+"
    r"(?:that\s+)?(?:the\s+)?(?:(?:patient|pt)\s+(?:has\s+)?)?(?=\S)",
    re.IGNORECASE,
)
_DENIED = re.compile(r"^(.+?)\s*(?::\s*|\s[-–—]\s|\()(?:denied|denies|absent|none|no)\)?\.?$", re.I)
_THERE = re.compile(r"^(.+?)\s*(?::\s*|\s[-–—]\s|\()(?:yes|present|positive)\)?\.?$", re.IGNORECASE)
_DIFFERENTIAL = r"(?:differential(?: diagnos[ie]s)?|ddx|dd)"
_IN_DIFFERENTIAL = re.compile(
    r"^(?:(?:includes?|lists?|mentions?|considers?|names?|places?|puts?)\s+)?(.+?)\s+"
    r"(?:(?:is|are|was|were|listed|included|mentioned|named|considered|documented)\s+)*"
    rf"(?:in|on)\s+(?:the\s+|their\s+|his\s+|her\s+)?{_DIFFERENTIAL}\.?$",
    re.IGNORECASE,
)
_DIFFERENTIAL_FIRST = re.compile(
    rf"^(?:the\s+)?{_DIFFERENTIAL}(?:\s+(?:includes?|lists?|contains?|of)\b:?|\s*:)\s*(?=\S)", re.I
)
#: Other wordings for what a writer thinks of, where nothing but diagnoses follows or precedes.
_LEADING = (
    r"(?:most likely|likeliest|leading|working|primary|main|principal|top|final|correct|provisional"
    r"|presumptive)"
)
_ASSESSED = (
    (
        "Diagnosis",
        rf"^(?:(?:the\s+)?{_LEADING}(?: differential)? diagnos[ie]s(?:\s+(?:is|of|as|includes?))?"
        r"|diagnos[ie]s(?:\s+(?:is|of))?|(?:assessment|impression)(?:\s+(?:is|of))?)\s*:?\s+"
        rf"(?P<what>\S.*?)(?:\s+as (?:the )?{_LEADING} diagnosis)?$",
    ),
    (
        "Diagnosis",
        r"^(?:(?:identifies|lists|names|states|gives|recogni[sz]es)\s+)?(?P<what>\S.*?)\s+"
        rf"(?:(?:is|as|was)\s+)?(?:the\s+)?{_LEADING}(?:\s+diagnosis)?$",
    ),
    (
        "Differential",
        r"^(?:considers|suspects|lists|includes)\s+(?P<what>\S.*?)(?:\s+as an?\s+(?:(?:possible"
        r"|potential|differential|likely)\s+)?(?:diagnosis|possibility|cause|differential))?$",
    ),
    ("Differential", r"^(?P<what>\S.*?)\s+(?:(?:is|was|are|were)\s+)?(?:considered|suspected)$"),
)
_ASSESSED_FORMS = tuple((head, re.compile(form, re.IGNORECASE)) for head, form in _ASSESSED)
#: What was is no thought about what is.
_OF_OLD = re.compile(r"\b(?:history|hx|h/o|past|prior|previous|family|known|personal)\b", re.I)
_ORDERED = re.compile(
    r"^(?:(?:orders|ordered)(?:\s*:)?|(?P<other>requests|checks|obtains|sends(?: off| for)?|gets"
    r"|arranges|books|schedules|runs|draws))\s+(?:an?\s+|the\s+)?(?P<what>.+?)(?:\s*\(\d\))?\.?$",
    re.IGNORECASE,
)
_ANY_OF = re.compile(
    r"^(?:(?:lists?|includes?|mentions?|names?|states?|documents?|gives?)\s+)?"
    r"(?:(?:at least (?:one|1)|any(?: one)?|one(?: or more)?|1(?: or more)?|either)"
    r"(?:\s+of)?(?:\s+(?:the following|these))?\s*:"
    r"|(?:at least (?:one|1)|any(?: one)?|one or more) of(?: the following| these)?)\s+(?=\S)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s*[,;]\s*(?:(?:or|and)\s+)?|\s+or\s+|\s+/\s+", re.IGNORECASE)
_LONGEST_LISTED = 6
#: Characters; what is longer is no item of a checklist, and would take long to read as one.
_LONGEST = 400
#: Between blanks a slash separates wordings, unless it stands between numbers.
_SLASH = re.compile(r"(?<=[^\W\d_])(\)?)\s+/+\s+(?=\(?[^\W\d_][^\W\d]|[^\W\d_]-)")
_AND_OR = re.compile(r"\band\s*/\s*or\b", re.IGNORECASE)

#: What a checklist wants to know of a symptom, in brackets: "Chest pain (onset, duration)".
_ATTRIBUTE = (
    r"(?:site|location|onset|duration|character|quality|severity|intensity|radiation|timing"
    r"|frequency"
    r"|course|progression|triggers?|(?:associated|related) symptoms|(?:aggravating|alleviating"
    r"|relieving|exacerbating|precipitating)(?: factors)?|opqrst|socrates|oldcarts|etc)"
)
_ATTRIBUTES = re.compile(
    rf"\s*\((?:e\.?g\.?,? )?{_ATTRIBUTE}(?:(?:,|/|;|\s+and|\s+or|&|,\s*and)\s*{_ATTRIBUTE})*\.?\)$",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"^([^()]+?)\s*\(([^()]+)\)$")

_PERSON = r"(?:patient|pt|family|mother|father|parents?|wife|husband|partner|he|she|they)"
#: What is asked about rather than found, so that to write it down is to have asked.
_TOLD = (
    r"(?:history|hx|status|allerg(?:y|ies)|medications?|lmp|last menstrual period|occupation"
    r"|contacts?|exposures?|habits?)(?: \(.*\))?"
)
#: Features that want to know whether the examinee asked, whatever the answer was.
_ASKED = re.compile(
    r"(?:(?:the )?(?:student|examinee|candidate|doctor|physician|clinician) )?(?:"
    r"(?:asks?|asked|enquires?|enquired|inquires?|inquired)(?: (?:the )?(?:patient|pt))?"
    r" (?:about|into|regarding|re:?|on)"
    r"|screens for|explores"
    rf"|(?:documents|obtains|records|elicits|reviews)(?= .*{_TOLD}$)"
    r"|takes(?= (?:.* )?(?:history|hx)$)"
    r") (?:(?:an?|the|any|full|complete|detailed|patient's|his|her) )*(?P<behind>\S.*)"
    rf"|(?P<before>(?:.* )?(?!{_PERSON}\b)[\w/()-]+?) (?:(?:was|were|is|are) )?"
    r"(?:asked(?: about)?|assessed|explored|inquired about|enquired about)"
    rf"|(?P<told>(?:.*\b)?{_TOLD}) (?:(?:was|were|is|are) )?"
    r"(?:taken|obtained|elicited|documented|recorded|reviewed)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def asked_topic(text: str) -> str | None:
    """Return what a feature wants to have been asked about; None of features that want an answer.

    >>> asked_topic("2. Asks about sexual history"), asked_topic("LMP asked")
    ('sexual history', 'LMP')
    >>> asked_topic("Mother asked about fever"), asked_topic("Rebound tenderness elicited")
    (None, None)
    """
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
    """
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
        plain = _SAID.sub("", plain, count=1)
        plain = _short_and_long(_ATTRIBUTES.sub("", _answered(plain)))
    plain = _SLASH.sub(r"\1 OR ", _AND_OR.sub("or", plain))
    if in_differential:
        plain = f"Differential: {plain}"
    elif hit := _ORDERED.match(plain):
        ordered = f"{hit['what']} ordered"
        # "Checks locks repeatedly", "Requests sterilization": no tests.
        plain = ordered if not hit["other"] or asks_for_test(ordered) else plain
    return plain if any(one.isalnum() for one in plain) else text


@lru_cache(maxsize=4096)
def assessed_wording(text: str) -> tuple[str, str]:
    """Return what a feature wants of the writer's thoughts, and the diagnoses it wants there.

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
    if _ANY_OF.match(plain):  # Of what, a list does not say: it may be of past illnesses.
        return "", ""
    hits = ((head, form.match(plain.rstrip(". "))) for head, form in _ASSESSED_FORMS)
    for head, hit in hits:
        what = hit["what"] if hit else ""
        if what and not _OF_OLD.search(what) and asked_diagnoses(what):
            return head, what
    return "", ""


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
    """Return what "Head injury: denied" and "Night sweats (yes)" ask for."""
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
    return [word for word in words if word.lower() not in ("of", "the", "and", "in", "on", "to")]
