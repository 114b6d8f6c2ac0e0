"""Signs beside the words found that settle that they say nothing of what is, or the contrary.

"Orders BNP" asks for a decision of this visit; "BNP 40 in Jan" tells of an earlier one: it does not
contradict the feature, but states nothing of it either (`says_nothing_of_now`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rubricate.text.clauses import statement_of
from rubricate.text.contradiction.asked import read_asked
from rubricate.text.earlier import names_earlier_time, tells_of_before
from rubricate.text.words import RECENT_TEXTS

#: A feature that is itself negative or normal.
_NEGATIVE = re.compile(
    r"\b(?:no|not|non|absent|absence|negative|denie[sd]|without|never|lack|normal|free|clear(?:ed)?"
    r"|intact|unremarkable|ruled out|excluded|none|gone|resolved|spared|ceased|stopped)\b"
    r"|^(?:a|non|un|in)(?:febrile|icteric|tender)",
    re.IGNORECASE,
)
#: Opens the words, or stands right before them.
_ADVISED = re.compile(
    r"\b(?:(?:reminded|encouraged|instructed|urged) (?:to|about|of)|educated (?:on|about|re)"
    r"|goal(?: is)?(?::| to| of)|(?:handout|leaflet) (?:on|about|re)|warned (?:about|of|that|re)"
    r"|needs to (?:lose|stop|cut|quit)"
    r"|(?:911|999|return|call|ring|come back|seek (?:help|care)) (?:if|for|should)"
    # "Seen in ED for chest pain" tells what was.
    r"|(?<!\bin )(?<!\bthe )(?<!\bat )(?<!\bto )(?<!\bfrom )(?:ed|a&e) (?:if|for|should))(?!\w)"
    r"(?: (?:any|a|an|the|her|his))?\s*",
    re.IGNORECASE,
)
#: What may stand between such a cue and a thing: "if any new weakness".
_QUALITY = r"(?:(?:any|an?|the|there is|worse|worsening|new|recurrent|further|severe|persistent) )*"
#: A word of a list, and none that begins a statement.
_LISTED = r"(?!(?:has|is|was|had|denies|no|not|he|she|pt|they|takes|then|but)\b)[\w'-]+[ ,/]{1,2}"
#: "If fever", and all that is told to look out for: "A&E if pain, fever, collapse".
_IN_CASE = re.compile(
    r"(?<!\bas )(?<!\bsure )(?<!\bknow )(?<!\bwonder )(?<!\bwonders )(?<!\bask )\bif "
    rf"{_QUALITY}$"
    r"|(?:\b(?:return|come back|call|ring|phone|ed|er|a&e|911|999|re-?present|rtc|recontact"
    r"|seek \w+|report|contact us)(?: \w+)? (?:if|should)|\bwarned (?:about|of|re)"
    rf"|\b(?:watch|look out) for) (?:{_LISTED}){{0,10}}?"
    rf"(?:(?<=[,/] )|(?<=[,/])|(?<=\bor )|(?<=\band )){_QUALITY}$",
    re.IGNORECASE,
)
#: Words that begin with "if" say what may come, unless a feature asks when something is so.
_IF = re.compile("if ", re.IGNORECASE)
_UNDER = re.compile(
    r"\b(?:when|with|if|during|after|on|by|worse|better|trigger\w*)\b", re.IGNORECASE
)
_MINUS = re.compile(r"(?:'s)?\s*:?\s*(?:\(\s*[-−–]\s*\)|\[-\]|[-−](?=\s*(?:[,;./)]|\n|$)))")
_MINUS_AT_END = re.compile(r"\(\s*[-−–]\s*\)\s*$|[\s\w][-−]$")
#: "(-) edema"; also "rash. -edema", where a stop or comma and no letter or line stands before.
_MINUS_BEFORE = re.compile(r"\(\s*[-−–]\s*\)\s*$|[.,;:] [-−]$")
_MINUS_FIRST = re.compile(r"[-−][A-Za-z]")
#: Where signs behind words say what is there and what is not, a minus may stand before more words.
_SIGNS = (re.compile(r"\w ?\+(?=[\s,;./)]|$)"), re.compile(r"\w ?[-−](?=[,;./)]|\n|$)"))
_LEAST_SIGNS = 2
_LOOSE_MINUS = re.compile(r"\s?[-−]\s")
_LOOSE_WITHIN = re.compile(r"[\w/]+(?: [\w/]+){0,2} [-−] ")
_LISTED_MINUS = re.compile(r"[,;]\s*[-−]\s?$")
_PLUS_BEFORE = re.compile(r"\+[^,;.\n]*$")
_AGE = re.compile(
    r"(?:\bat|aged?|was|@)\s*(?:the )?(?:age |of |~)*(\d{1,2})\b"
    r"(?!\s*(?:am|pm|%|/|:|mg|kg|weeks|wks|w\d))",
    re.IGNORECASE,
)
#: An age before which a feature asks for something.
_BEFORE_AGE = re.compile(
    r"\b(?:before|under|younger than|below)(?: the)?(?: age(?: of)?)? (\d\d)\b"
    r"(?! ?(?:%|mg|ml|kg|/|weeks|cm|min|h))",
    re.IGNORECASE,
)
#: Features that name a time of life, and the ages that contradict them.
_TIMES_OF_LIFE = (
    (re.compile("early menarche|precocious", re.IGNORECASE), 12, 99),
    (re.compile("(?:late|delayed) menarche", re.IGNORECASE), 0, 14),
    (re.compile("(?:early|premature) (?:menopause|ovarian)", re.IGNORECASE), 46, 99),
    (re.compile("late menopause", re.IGNORECASE), 0, 50),
    (re.compile("childhood|in infancy", re.IGNORECASE), 20, 99),
    (re.compile(r"early[- ](?:onset )?(?:dementia|alzheimer)", re.IGNORECASE), 71, 99),
    (
        re.compile(
            r"(?:premature|early)[- ]?(?:onset )?(?:\w+ )?"
            r"(?:coronary|heart|cardiac|cad|mi|cardiovascular)\b|died young",
            re.IGNORECASE,
        ),
        65,
        99,
    ),
)
#: Features of too much drinking, and words for little of it.
_TOO_MUCH = re.compile(
    r"(?:alcohol|drink\w*|etoh|ethanol)\b.*\b(?:disorder|dependen\w+|abuse|misuse|addict\w*|problem"
    r"|excess\w*)|\balcoholi(?:c|sm)\b|\b(?:heavy|excess\w*|hazardous|harmful|problem)"
    r"\s(?:alcohol|drink\w*|etoh)",
    re.IGNORECASE,
)
_LITTLE = re.compile(
    r"\b(?:social(?:ly)?|occasional(?:ly)?|occ|rare(?:ly)?|seldom|moderate(?:ly)?|minimal|weekends?"
    r"|special occasions|holidays|parties|christmas|sundays?|saturdays?|fridays?"
    r"|(?:once|twice) (?:a|per) (?:week|month|year)"
    r"|(?:an?|one|1|two|2|1-2) (?:small )?(?:beers?|glass(?:es)?|drinks?|pints?)\b"
    r"(?! of (?:vodka|gin|whisk\w+|spirits|rum)))",
    re.IGNORECASE,
)
_MUCH = re.compile(
    r"\b(?:bottles?|liters?|litres?|vodka|binge\w*|drunk|withdrawal|detox|rehab|dependen\w+"
    r"|alcoholi\w+|heav\w+|abuse\w*|misuse\w*|addict\w*|disorder|blackouts?|cage|audit|morning"
    r"|(?:[4-9]|[1-9]\d|four|five|six|seven|eight|nine|ten|twelve|several|many)"
    r"(?: (?:beers|drinks|pints|glasses|units)|[- ]?packs?))\b",
    re.IGNORECASE,
)
_RECENT = re.compile(r"\brecent(?:ly)?\b", re.IGNORECASE)
_LONG_AGO = re.compile(
    r"\b(?:[2-9]|[1-9]\d|two|three|four|five|ten|several|many) ?(?:y|yrs?|years?) (?:ago|back)\b"
    r"|\bas a (?:child|toddler|baby|kid|teen\w*|student)\b"
    r"|\bin (?:college|childhood|high school)\b",
    re.IGNORECASE,
)
_LATELY = re.compile(
    r"yesterday|today|last (?:week|night|month)|(?:day|week|month)s? ago|since", re.IGNORECASE
)


def why_surely_not(feature: str, text: str, spans: Sequence[tuple[int, int]]) -> str | None:
    """Return why words of a note cannot state a feature, by what stands in or right beside them.

    >>> why_surely_not("Chest pain", "ED if chest pain returns", [(6, 16)])
    'only advised'
    >>> why_surely_not("Guarding", "guarding -, rigidity +", [(0, 8)])
    'denied'
    >>> why_surely_not("Early menopause", "menopause at 53", [(0, 15)])
    'says 53'
    """
    start, end = spans[0][0], spans[-1][1]
    words, behind = text[start:end], re.split(r"[.;\n]", text[end : end + 30])[0]
    begin = max(text.rfind(mark, 0, start) for mark in ".;\n") + 1
    kind = _kind_of(feature)
    if kind.recent and not any(one.negated for one in read_asked(feature)):
        said = text[begin:end] + behind
        if not _LATELY.search(said) and (match := _LONG_AGO.search(said)):
            return f"says {match[0]}"
    if kind.too_much and not kind.negative:
        said = text[begin:end] + behind
        if (match := _LITTLE.search(said)) and not _MUCH.search(said):
            return f"says {match[0]}"
    for low, high in kind.other_ages:
        ages = _AGE.findall(words) or _AGE.findall(words + behind)
        if len(ages) == 1 and low <= int(ages[0]) <= high:
            return f"says {ages[0]}"
    if kind.negative:
        return None
    about_advice = any(one.about_advice for one in read_asked(feature))
    if not about_advice and end - start <= 60:
        clause = max(begin, text.rfind(",", 0, start) + 1)
        before = [match.end() for match in _ADVISED.finditer(text, clause, start)]
        if _ADVISED.match(words) or (before and before[-1] == start):
            return "only advised"
        if _IN_CASE.search(text, max(begin, start - 120), start) or (
            _IF.match(words) and not kind.under
        ):
            return "only in case"
    return "denied" if _has_minus(text, start, end) else None


class _FeatureKind(NamedTuple):
    """Of which kinds a feature has words, and the ages that contradict its time or limit."""

    negative: bool
    under: bool
    too_much: bool
    recent: bool
    other_ages: tuple[tuple[int, int], ...]


@lru_cache(maxsize=4096)
def _kind_of(feature: str) -> _FeatureKind:
    """Return of what kind a feature is; it is asked again for every finding."""
    times = [(low, high) for asked, low, high in _TIMES_OF_LIFE if asked.search(feature)]
    limits = [int(age) for age in _BEFORE_AGE.findall(feature)]
    if len(limits) == 1:
        times.append((limits[0] + 1, 99))
    return _FeatureKind(
        negative=_NEGATIVE.search(feature) is not None,
        under=_UNDER.search(feature) is not None,
        too_much=_TOO_MUCH.search(feature) is not None,
        recent=_RECENT.search(feature) is not None,
        other_ages=tuple(times),
    )


@lru_cache(maxsize=RECENT_TEXTS)
def _has_signs(text: str) -> bool:
    """Tell whether signs behind words of a text say what is there and what is not."""
    return all(len(sign.findall(text)) >= _LEAST_SIGNS for sign in _SIGNS)


def _has_minus(text: str, start: int, end: int) -> bool:
    """Tell whether a minus sign denies the words: "edema -", "(-) edema"."""
    # A sign before a comma belongs to what was named before: "guarding +, rigidity -".
    words, before = text[start:end].lstrip("+-−–,; "), text[max(0, start - 6) : start]
    # A plus right before the words is theirs, one behind a stop or comma that of others.
    if "+" in words or _PLUS_BEFORE.search(before) or any(one.isdigit() for one in words):
        return False
    after = text[end : end + 25]
    if _has_signs(text) and (
        _LOOSE_MINUS.match(after) or _LOOSE_WITHIN.match(words) or _LISTED_MINUS.search(before)
    ):
        return True
    if _MINUS_FIRST.match(text, start) and _MINUS_BEFORE.search(f"{before}{text[start]}"):
        return True
    return bool(
        _MINUS.match(after)
        or _MINUS_BEFORE.search(before)
        or (_MINUS_AT_END.search(words) and not after[:1].isalnum())
    )


_DIFFERENTIAL = r"(?:differential(?: diagnos[ie]s)?|ddx)"
#: Features of what is ordered, begun, advised or thought at this visit.
_ASKS_FOR_NOW = re.compile(
    r"^(?:orders|requests|arranges|books|refers|starts|begins|initiates|commences|prescribes|gives"
    r"|administers|recommends|advises|counsell?s|offers|provides|schedules|obtains|sends|checks"
    r"|performs|tests for|repeats|suggests|adds|treats|ordered(?=\s*:)|diagnoses|lists|includes"
    r"|considers"
    rf"|{_DIFFERENTIAL}|(?:most likely|leading|working|final) diagnosis)\b"
    rf"|\b(?:ordered|requested|considered|suspected)\.?$|\b(?:in|on) (?:the )?{_DIFFERENTIAL}\b"
    r"|\b(?:(?:is|as) (?:the )?)?(?:most likely|(?:most likely|leading|working) diagnosis)\.?$",
    re.IGNORECASE,
)
#: Beside what was before, these words say that something is done, thought or to come now.
_DECIDED = re.compile(
    r"\b(?:will|orders?|ordered|ordering|repeat\w*|rpt|re-?check\w*|again|today|now|plan\w*|needs?"
    r"|due|check|request\w*|refer|refers|referral|referring|send|start\w*|advis\w*|recommend\w*"
    r"|arrang\w*|book\w*|schedul\w*|to have|offer\w*|prescri\w*|counsel\w*|discuss\w*|restart\w*"
    r"|resum\w*|r/o|rule|consider\w*|likely|vs|versus|dx|ddx|impression|imp|diff\w*|tomorrow|next"
    r"|add\w*|give|gave|giving|tell|told|suspect\w*|concern\w*|possib\w*|recurr\w*|still|ongoing"
    r"|continu\w*|increas\w*|chang\w*|switch\w*)\b|\?|→|->|\b[AP]:",
    re.IGNORECASE,
)


#: Features of tests, scans, referrals and procedures, which are arranged or are not; drugs are
#: given "if pain" too, and advice is about what to do in case of something.
_ASKS_FOR_ORDER = re.compile(
    r"^(?:orders|requests|arranges|books|refers|schedules|obtains|sends|checks|performs|tests for"
    r"|repeats|ordered(?=\s*:))\b|\b(?:ordered|requested|arranged|booked|referral|consult"
    r"|consultation|opinion sought)\.?$",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|in case|should)\b", re.IGNORECASE)
_IF_AFTER = re.compile(
    r"[\s,(]*(?:only |but )?(?:if|unless|in case)\b(?! (?:you|possible|able))", re.I
)
_IF_FIRST = re.compile(
    r"\s*(?:but |and )?(?:if(?! you| possible)|should)\b[^,]*,?[^,]*$", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def asks_for_now(feature: str) -> bool:
    """Tell whether a feature asks for what is ordered, begun, advised or thought at this visit.

    >>> asks_for_now("Orders chest X-ray"), asks_for_now("Differential: pulmonary embolism")
    (True, True)
    >>> asks_for_now("Previous chest X-ray"), asks_for_now("Started metformin last year")
    (False, False)
    """
    return _ASKS_FOR_NOW.search(feature) is not None and not names_earlier_time(feature)


def says_nothing_of_now(feature: str, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether words tell of an earlier time or of a condition, where a feature asks for now.

    Every place of the words must stand in a sentence that names an earlier time and has no word
    of a decision; or, of what is to be ordered, beside a condition.

    >>> text = "BNP 40 in Jan, echo 2 yrs ago. CXR 2019 clear, will repeat today. MRI if worse."
    >>> says_nothing_of_now("BNP ordered", text, [(0, 13)])
    True
    >>> says_nothing_of_now("BNP", text, [(0, 13)])
    False
    >>> says_nothing_of_now("Orders chest X-ray", text, [(31, 34)])
    False
    >>> says_nothing_of_now("Orders MRI", text, [(66, 69)])
    True
    """
    if asks_for_now(feature) and all(_is_earlier(text, *span) for span in spans):
        return True
    return _asks_for_order(feature) and all(_is_conditional(text, *span) for span in spans)


@lru_cache(maxsize=4096)
def _asks_for_order(feature: str) -> bool:
    return _ASKS_FOR_ORDER.search(feature) is not None and _CONDITION.search(feature) is None


def _is_conditional(text: str, start: int, end: int) -> bool:
    """Tell whether words stand right before a condition, hold one or follow one: "MRI if worse"."""
    if _IF_AFTER.match(text, end) or _IF_AFTER.search(text, start, end):
        return True
    begin, _ = statement_of(text, start, end)
    return _IF_FIRST.match(text[begin:start]) is not None


def _is_earlier(text: str, start: int, end: int) -> bool:
    sentence = text[slice(*statement_of(text, start, end))]
    return tells_of_before(sentence) and not _DECIDED.search(sentence)
