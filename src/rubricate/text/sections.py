"""Sections of a note and the headings that open them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rubricate.spans import Span
from rubricate.text.clauses import is_dash, sentence_ranges
from rubricate.text.words import RECENT_TEXTS, Token, find_tokens, tokens_of, word_set

_HEADINGS = {
    "chief_complaint": "cc|pc|chief complaint|presenting complaint|chief concern|reason for visit"
    "|complaint|presentation|c/o|cc/hpi",
    "history": "hpi|hpc|hopi|hx|history|history of present illness|history of presenting complaint"
    "|history of presenting illness|history of the present illness|present illness|interval history"
    "|interval hx|subjective|s|present history|story",
    "past_medical": "pmh|pmhx|pmhs|pmx|mhx|phx|ph|past medical history|past medical hx|past medical"
    "|past history|past hx|previous medical history|medical history|medical hx|medical problems"
    "|past med hx|past illnesses|background|comorbidities|prev hx|past|pmhx/pshx|medical",
    "past_surgical": "psh|pshx|past surgical history|past surgical hx|past surgical"
    "|surgical history|surgical hx|surgeries|surgery|operations|surg|surg hx|surghx|surgical",
    "hospitalizations": "hospitalizations|hospitalisations|hosp|hospital stays|hospitalization"
    "|admissions|past hospitalizations",
    "family": "fh|fhx|fmh|fmhx|famhx|fam hx|fam|family|family history|family hx|fam history"
    "|family medical history|f hx|fx hx|f/h",
    "social": "sh|shx|soc|social|social history|social hx|soc hx|sochx|s hx|habits|substance use"
    "|personal history|lifestyle|home|occupation|job|work|s/h",
    "medications": "meds|medications|medication|med|current meds|current medications|home meds"
    "|home medications|drugs|dh|dhx|drug history|drug hx|rx|medicines|medicine|current medication"
    "|meds at home|daily meds|tablets|medication history",
    "allergies": "all|allergies|allergy|allx|allerg|nka|drug allergies|allergic|allergic history"
    "|allergies to meds|medication allergies",
    "review_of_systems": "ros|review of systems|systems review|systemic enquiry|systems|se|s/e"
    "|system review|associated symptoms|assoc sx|associated sx",
    "obstetric": "ob|obhx|ob hx|obstetric history|obstetric|gyn|gynhx|gyn hx|ob gyn|obgyn|ob gyn hx"
    "|gynecologic history|gynaecological history|menstrual history|menstrual hx|menses|lmp|o&g"
    "|obgyn hx|ob gyn history|gynecological history|pregnancies|pregnancy history",
    "sexual": "sexual history|sexual hx|sex hx|sexual|sexhx",
    "birth": "birth history|birth hx|birth|bhx|development|developmental history|developmental hx"
    "|perinatal history",
    "immunizations": "immunizations|immunisations|vaccines|vaccinations|imm|imms|iutd",
    "diet": "diet|nutrition|appetite|diet history",
    "psychiatric": "psych|psych hx|psychiatric history|psychiatric hx|past psychiatric history|pph"
    "|mental health",
    "vitals": "vitals|vs|vital signs|obs|observations",
    "exam": "pe|px|exam|physical|physical exam|physical examination|examination|o/e|oe|objective"
    "|mse|o",
    "tests": "labs|lab|tests|investigations|ix|imaging|workup|w/u|work up|results|bloods",
    "assessment": "assessment|impression|imp|a|a/p|ap|assessment and plan|ddx|dx|diagnosis"
    "|diagnoses|differential|differential diagnosis|differentials|differential diagnoses|a&p|dd"
    "|ass",
    "plan": "plan|p|management|mx|tx|treatment",
    "negatives": "pertinent negatives|negatives|denies|neg|pertinent neg|denied|negative"
    "|negative for|pertinent negs|relevant negatives|negs|important negatives|neg for|absent|no"
    "|none of|no hx of",
    "positives": "pertinent positives|positives|pos|reports|endorses|admits|positive|positive for"
    "|pertinent pos|admits to|complains of|present",
}
#: Heading to section; keys are word forms joined by spaces.
_BY_PHRASE = {
    phrase.replace("&", " "): name for name, text in _HEADINGS.items() for phrase in text.split("|")
}
_FIRST_WORDS = frozenset(phrase.split(" ")[0] for phrase in _BY_PHRASE)
#: Headings that need no colon: at the start of a sentence they are rarely anything else.
_BARE = word_set(
    "hpi hpc hopi pmh pmhx psh pshx fh fhx fmh fmhx famhx sh shx sochx dhx dh ros obhx meds soc"
    " gynhx"
)
#: Sections that may take several lines; the others end with their line.
_LONG = word_set("history review_of_systems exam assessment plan chief_complaint other")
#: Marks after which a heading may begin in the middle of a sentence.
_SEPARATORS = frozenset("/|,;-(•")
_BULLETS = frozenset("-•*·▪")
_JOINTS = frozenset(["/", ",", "&", "and", "+"])
_PRONOUNS = word_set("he she it they i we this that the there")
_LONGEST = 5
_LONGEST_UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class NoteSection:
    """A heading and the text under it."""

    names: tuple[str, ...]
    heading: Span
    body: Span | None

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]


SECTION_NAMES = (*_HEADINGS, "other")


def find_sections(text: str, tokens: Sequence[Token] | None = None) -> list[NoteSection]:
    r"""Return the headed sections of a text, in order; text before the first heading is in none.

    A heading is a known one (``PMH``, ``Family history``, ``Meds/All``) before a colon or a dash or
    alone on its line, or any few words before a colon at the start of a sentence (``other``).

    >>> text = "58M with CP.\nPMH: HTN. FHx: dad - MI\nMeds/All: none"
    >>> [(section.names, section.body.text(text)) for section in find_sections(text)]
    [(('past_medical',), 'HTN.'), (('family',), 'dad - MI'), (('medications', 'allergies'), 'none')]
    """
    if tokens is None:
        tokens = find_tokens(text)
    headings: list[tuple[int, int, int, tuple[str, ...]]] = []
    for first, end in sentence_ranges(text, tokens):
        headings.extend(_headings_of_sentence(text, tokens, first, end))
    sections = []
    for k, (first, end, body, names) in enumerate(headings):
        limit = headings[k + 1][0] if k + 1 < len(headings) else len(tokens)
        while body < limit and (tokens[body].kind == "newline" or tokens[body].form in ",;:="):
            body += 1
        listed = first > 0 and tokens[first - 1].form in _BULLETS
        stop = _body_end(text, tokens, body, limit, listed=listed or _LONG.isdisjoint(names))
        inside = Span(tokens[body].start, tokens[stop - 1].end) if body < stop else None
        sections.append(NoteSection(names, Span(tokens[first].start, tokens[end - 1].end), inside))
    return sections


@lru_cache(maxsize=RECENT_TEXTS)
def sections_of(text: str) -> tuple[NoteSection, ...]:
    """Return the sections of a text as `find_sections` does, found once for the last texts."""
    return tuple(find_sections(text, tokens_of(text)))


def _headings_of_sentence(
    text: str, tokens: Sequence[Token], first: int, end: int
) -> list[tuple[int, int, int, tuple[str, ...]]]:
    """Return (first token, end, first token of the body, names) for each heading."""
    found = []
    while first < end and tokens[first].kind == "mark":
        first += 1
    start = opening = first
    for i in range(first, end):
        if tokens[i].form == ":" and i > start:
            known = _known_before(tokens, start, i)
            if known is not None:
                found.append((known[0], i, i + 1, known[1]))
            elif start == opening and _looks_headed(text, tokens, start, i):
                found.append((start, i, i + 1, ("other",)))
            start = i + 1
        elif tokens[i].form == ";":
            start = opening = i + 1
    if not found or found[0][0] != first:
        bare = _bare_heading(text, tokens, first, end)
        if bare is not None:
            found.insert(0, bare)
    return found


def _known_before(
    tokens: Sequence[Token], start: int, colon: int
) -> tuple[int, tuple[str, ...]] | None:
    """Return the longest known heading that ends at the colon."""
    for first in range(max(start, colon - 2 * _LONGEST), colon):
        if tokens[first].kind == "mark":
            continue
        names = _names_of(tokens[first:colon])
        if not names:
            continue
        if first == start or colon - first > 1 or tokens[first].form in _BARE:
            return first, names
        if tokens[first - 1].form in _SEPARATORS:
            return first, names
    return None


def _names_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    if not tokens or tokens[-1].kind == "mark":
        return ()
    whole = " ".join(token.form for token in tokens if token.kind != "mark")
    if whole in _BY_PHRASE:
        return (_BY_PHRASE[whole],)
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token.form in _JOINTS:
            parts.append([])
        else:
            parts[-1].append(token.form)
    if len(parts) == 1:
        return ()
    names = [_BY_PHRASE.get(" ".join(part), "") for part in parts]
    return tuple(dict.fromkeys(names)) if all(names) else ()


def _looks_headed(text: str, tokens: Sequence[Token], start: int, colon: int) -> bool:
    """Tell whether the words before a colon are few and begin with a capital."""
    after = text[tokens[colon].end : tokens[colon].end + 1]
    if colon - start > _LONGEST_UNKNOWN or (after and not after.isspace() and not after.isalnum()):
        return False
    return text[tokens[start].start].isupper() and tokens[start].form not in _PRONOUNS


def _bare_heading(
    text: str, tokens: Sequence[Token], first: int, end: int
) -> tuple[int, int, int, tuple[str, ...]] | None:
    """Return a heading without a colon at the start of a sentence."""
    if first >= end or tokens[first].form not in _FIRST_WORDS:
        return None
    for length in range(min(_LONGEST, end - first), 0, -1):
        stop = first + length
        phrase = tokens[first:stop]
        if any(token.kind == "mark" and token.form not in _JOINTS for token in phrase):
            continue
        names = _names_of(phrase)
        if not names:
            continue
        alone = stop == end and (end == len(tokens) or tokens[end].kind == "newline")
        dashed = stop < end and (
            tokens[stop].form == "=" or (tokens[stop].form == "-" and is_dash(text, tokens[stop]))
        )
        if dashed:
            return first, stop, stop + 1, names
        if (alone and end < len(tokens)) or phrase[0].form in _BARE:
            return first, stop, stop, names
    return None


def _body_end(text: str, tokens: Sequence[Token], body: int, limit: int, *, listed: bool) -> int:
    """Return the index after the body's last token.

    A ``listed`` section is an item of the note's list of sections, and ends with its line.
    """
    started_on_line = body > 0 and tokens[body - 1].kind != "newline"
    stop = limit
    for i in range(body, limit):
        if tokens[i].kind != "newline" or i + 1 >= limit:
            continue
        blank = text.count("\n", tokens[i].start, tokens[i].end) > 1
        goes_on = text[tokens[i + 1].start].islower()
        if (blank and i > body) or (listed and started_on_line and not goes_on):
            stop = i
            break
    while stop > body and (
        tokens[stop - 1].kind == "newline"
        or tokens[stop - 1].form in _JOINTS - {"and"}
        or tokens[stop - 1].form in _BULLETS
    ):
        stop -= 1
    return stop


def section_at(text: str, place: int) -> str:
    """Return the section that a place is in, empty before the first heading.

    >>> section_at("HPI: cough. Plan: CXR", 18), section_at("cough", 2)
    ('plan', '')
    """
    sections = sections_of(text)
    k = bisect_right([one.heading.start for one in sections], place) - 1
    if k < 0:
        return ""
    body = sections[k].body
    inside = body is not None and body.start <= place < body.end
    return sections[k].name if inside else ""
