"""What a note's plan does: drugs that it begins, and advice when to come back.

"PLAN: heparin gtt, metoprolol" states "Starts beta blocker", "RTC if fever" states "Return
precautions given".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rubricate.text.clauses import statement_of
from rubricate.text.contradiction.asked import AskedFor, read_asked
from rubricate.text.contradiction.place import TextReading, read_text
from rubricate.text.drugs import DrugName, classes_above, drugs_at
from rubricate.text.earlier import names_earlier_time
from rubricate.text.sections import section_at
from rubricate.text.words import RECENT_TEXTS, word_set

_ASKS = re.compile(
    r"^(?:starts|begins|initiates|commences|prescribes|adds)\b"
    r"|\b(?:started|begun|initiated|commenced|prescribed)\.?$",
    re.IGNORECASE,
)
#: What a feature may say beside a drug and still ask for nothing but it.
_BESIDE = word_set(
    "starts begins initiates commences prescribes adds started begun initiated commenced prescribed"
    " a an the or therapy treatment medication medicine drug drugs agent course of with for empiric"
    " appropriate on is was"
)
#: Beside a drug these leave a doubt whether it is begun.
_DOUBT = re.compile(
    r"\b(?:no|not|nor|never|without|w/o|avoid\w*|hold\w*|held|stop\w*|d/?c\w*|discontinu\w*|off"
    r"|declin\w*|refus\w*|defer\w*|withh\w+|if|unless|consider\w*|may|might|could|would|should|once"
    r"|discuss\w*|offer\w*|continu\w*|cont|resum\w*|restart\w*|increas\w*|decreas\w*|taper\w*|wean\w*"
    r"|switch\w*|chang\w*|allerg\w*|intoleran\w*|react\w*|levels?|refill\w*|already|keep|still"
    r"|instead|rather|prefer\w*|leaflet|until|after|pending|plan to|will need|next visit|later"
    r"|when|to begin"
    r"|mother|father|wife|husband|sister|brother|son|daughter)\b|\?|n['’]t\b",
    re.IGNORECASE,
)
#: What may follow a drug that is begun: a dose, a way, how often, or the next item.
_GOES_ON = re.compile(
    r"\s*(?:[,.;:+/)(\n]|$|\d|(?:gtt|drip|infusion|bolus|iv|im|po|sc|sl|pr|top\w*|oral\w*|neb\w*|inh\w*"
    r"|bid|bd|tid|tds|qid|qds|od|daily|qd|qhs|nightly|nocte|prn|x|for|today|now|tonight|stat|and|low"
    r"|tabs?|cream|ointment|drops|patch|spray|inhaler|course)\b)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _wanted(feature: str) -> tuple[AskedFor, ...]:
    """Return what a feature asks for where it wants a drug to be begun, and nothing else."""
    wanted = read_asked(feature) if _ASKS.search(feature) else ()
    for one in wanted:
        names = {word for name in one.drug_names for word in name.split()}
        beside = (form for form in one.forms if form.isalpha() and form not in _BESIDE)
        plain = all(form in names or form.removesuffix("s") in names for form in beside)
        if one.negated or len(one.drugs) != 1 or not plain:
            return ()
    return wanted


@lru_cache(maxsize=RECENT_TEXTS)
def _drugs_in(text: str) -> tuple[tuple[str, DrugName, int, int], ...]:
    words = [token for token in read_text(text).tokens if token.kind != "mark"]
    return tuple(
        (key, drug, words[first].start, words[end - 1].end)
        for key, drug, first, end in drugs_at(words)
    )


def find_planned(feature: str, reading: TextReading) -> list[tuple[int, int]]:
    """Return where a note surely does what a feature wants of its plan; empty where in doubt.

    >>> from rubricate.text.contradiction.place import read_text
    >>> text = "Sprain. Plan: ibuprofen. ED if foot cold or numb."
    >>> [text[slice(*x)] for x in find_planned("Safety-net advice given", read_text(text))]
    ['ED if foot cold or numb']
    """
    if not asks_when_to_return(feature):
        return _find_started(feature, reading)
    advice = _RETURN.search(reading.text)
    return [advice.span()] if advice else []


_ADVICE = r"(?:precautions?|advice|instructions?|warnings?|criteria)"
_GIVEN = r"(?:given|provided|discussed|reviewed|explained|advised|documented)"
#: Features that want to know whether the patient was told when to come back, and nothing else.
_WHEN_TO_RETURN = re.compile(
    r"(?:(?:gives?|gave|provides?|discusses|documents?|includes?|offers?|reviews?) )?"
    r"(?:strict |clear |appropriate |explicit |any )*"
    rf"(?:(?:return|re-?attendance|emergency|ed|er|safety[- ]?net(?:ting)?)[- ]?{_ADVICE}"
    rf"|safety[- ]?net(?:ting|ted)?)(?: (?:was |were |are |is )?{_GIVEN})?\.?"
    r"|(?:advises?|counsels|tells) (?:the )?(?:patient |pt )?(?:on |about )?when to (?:return"
    r"|come back|seek care|seek help)\.?",
    re.IGNORECASE,
)
_RETURN = re.compile(
    r"\b(?:return|rtc|come back|bring (?:him|her|them|child|baby) back|call(?: 911| 999| us| back)?"
    r"|ring(?: us)?|phone|re-?present|recontact|seek (?:\w+ ){0,2}(?:care|help|attention|advice)"
    r"|(?:go|straight|back) to (?:the )?(?:ed|er|a&e|hospital)|ed|er|a&e|911|999)"
    r"(?: \w+){0,3}? (?:if|should)\b(?! (?:you|possible|not needed))[^.;\n]*"
    r"|\b(?:return|come back|rtc) (?:for|with) (?:any |new |worse|fever|severe )[^.;\n]*"
    rf"|\b(?:return|ed|er|strict) {_ADVICE}(?: (?:given|discussed|reviewed|explained|provided))?"
    r"|\bsafety[- ]?net(?:ted|ting|s)?(?: advice)?(?: given| provided)?"
    r"|\bred flags? (?:given|discussed|explained|reviewed)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def asks_when_to_return(feature: str) -> bool:
    """Tell whether a feature wants to know whether the patient was told when to come back.

    >>> asks_when_to_return("Return precautions given"), asks_when_to_return("Returned to work")
    (True, False)
    """
    return _WHEN_TO_RETURN.fullmatch(feature) is not None


def _find_started(feature: str, reading: TextReading) -> list[tuple[int, int]]:
    """Return where the plan of a note begins the drug that a feature wants; empty where in doubt.

    A drug that the note names before its plan may be one that only goes on.

    >>> from rubricate.text.contradiction.place import read_text
    >>> reading = read_text("Takes atenolol. PLAN: heparin gtt, metoprolol, hold lisinopril")
    >>> find_planned("Starts anticoagulant", reading), find_planned("Starts ACE inhibitor", reading)
    ([(22, 29)], [])
    >>> find_planned("Starts beta blocker", reading)
    []
    """
    wanted = _wanted(feature)
    for one in wanted:
        places = list(_named(one, reading))
        if places and all(_is_begun(reading.text, *place) for place in places):
            return places[:1]
    return []


def _named(asked: AskedFor, reading: TextReading) -> Iterator[tuple[int, int]]:
    """Yield where a note names the drug, or one of the class, that a feature asks for."""
    (drug,) = asked.drugs
    for key, said, start, end in _drugs_in(reading.text):
        above = frozenset().union(*map(classes_above, said.classes))
        if key in asked.drug_names or (drug.is_class and above & drug.classes):
            yield start, end


def _is_begun(text: str, start: int, end: int) -> bool:
    if section_at(text, start) != "plan":
        return False
    first, last = statement_of(text, start, end)
    item = text[first:start].rsplit(",", 1)[-1] + re.split(r"[,;]", text[start:last])[0]
    if _GOES_ON.match(text, end, last) is None:
        return False
    return not _DOUBT.search(item) and not names_earlier_time(item)
