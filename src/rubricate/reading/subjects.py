"""Of whom and of what time a note speaks: relatives, others, the past, fears and guesses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.knowledge.tables import cues, phrases, words
from rubricate.reading.clauses import CONTRASTS
from rubricate.reading.numbers import AMOUNT_STARTS, form_at, time_unit
from rubricate.reading.opposites import names_reflexes
from rubricate.reading.sections import NoteSection
from rubricate.reading.tokens import CueTable, Token
from rubricate.spans import Span

RELATIVES = words("people.relatives")
OTHERS = words("people.others")
MEN = words("people.men")
STOPS = CONTRASTS | words("people.stops")
WITNESS_VERBS = words("people.witness_verbs")
WITNESS_STATES = words("people.witness_states")
_SPOKEN = words("people.spoken")
_ILLS = words("people.ills")
_ENDS_OF_ILLS = phrases("people.ends_of_ills")
_SHORTEST_VERB = 4
TAKING = words("people.taking")
_AGED = words("people.aged")
_WHOSE = words("people.whose")
_YOUNG = words("people.young")
_FAR = 11
_BRINGING = words("people.bringing")


def speaks_after_colon(tokens: Sequence[Token], i: int, end: int, *, kin: bool) -> bool:
    """Tell whether a person's own words follow a colon: "Mom: eats paint chips".

    Of kin, an illness may follow as well ("Mother: migraines"); of others it hardly does.
    """
    if form_at(tokens, i + 1) != ":" or i + 2 >= end:
        return False
    said = tokens[i + 2].form
    verb = len(said) >= _SHORTEST_VERB and said.endswith(("s", "ing")) and said not in _ILLS
    return (
        not kin
        or said in _SPOKEN
        or said in ("'", '"')
        or (verb and not said.endswith(_ENDS_OF_ILLS))
    )


def is_patient(tokens: Sequence[Token], first: int, i: int, before: int) -> bool:
    """Tell whether a word for a relative is the patient: "29 yo mom", "brings in her son"."""
    forms = [token.form for token in tokens[max(first, before - _FAR) : before + 1]]
    if forms and forms[-1] in _AGED and _WHOSE.isdisjoint(forms[-6:]):
        return form_at(tokens, i - 1) not in _WHOSE
    if tokens[i].form not in _YOUNG:
        return False
    told = "that" in forms[-3:] and not WITNESS_VERBS.isdisjoint(forms[: forms.index("that")])
    return told or not _BRINGING.isdisjoint(forms[-8:])


def acts_on_patient(tokens: Sequence[Token], i: int, after: int, end: int) -> bool:
    """Tell whether a person does something to the patient: "wife has to help him up"."""
    objects = {"him", "her"} if tokens[i].form in MEN else {"him"}
    for k in range(after + 1, min(end, after + 4)):
        if tokens[k].kind == "mark" or tokens[k].form in STOPS:
            return False
        if tokens[k].form in objects:
            return True
    return False


COMPANY = words("subject.company")
_TIMED = words("subject.timed")
_COPULAS = words("subject.copulas")
_GUESSED = words("subject.guessed")
_TRAILING = words("subject.trailing") | {"\n"}
_LEADING = words("subject.leading")
_KINDS_OF_HISTORY = words("subject.kinds_of_history")
_PATIENT = words("subject.patient")
_NO_PAST = words("subject.no_past")
_ROLE_FILLERS = words("subject.role_fillers")
_PAIRING = words("subject.pairing")
FILLERS = words("subject.fillers")
_FAMILY_PLACES = words("subject.family_places")
_NEWBORN = words("subject.newborn")
STOP_MARKS = words("subject.stop_marks") | {"\n"}
BACK_TO_PATIENT = words("subject.back_to_patient")
PATIENT_VERBS = words("subject.patient_verbs")
CONTEXT_CUES = CueTable(cues("subject.context_cues"))

_SECTION_KINDS = {
    "family": "family",
    "past_medical": "past",
    "past_surgical": "past",
    "hospitalizations": "past",
}
_SHORT = words("subject.short")
#: Characters between two relatives of a list: a full stop and a line's end or a dash.
_GAP = 3
_LONGEST_SHORT = 6
_LONGEST_PERSON = 14
_LONGEST = 25


@dataclass(frozen=True, slots=True)
class Context:
    """Words that are not about the patient here and now."""

    kind: str
    cue_span: Span
    scope_span: Span


#: Words that may open a context.
_OPENING = RELATIVES | OTHERS | {"maternal", "paternal"} | CONTEXT_CUES.first_forms


def find_contexts(
    text: str,
    tokens: Sequence[Token],
    ranges: Sequence[tuple[int, int]],
    sections: Sequence[NoteSection],
) -> list[Context]:
    """Return the contexts of a text in the order of their cues; ``ranges`` are its sentences.

    >>> from rubricate.reading.note import read_note
    >>> text = "Father had MI at 52; pt has h/o asthma. Lives with mother. PMH: HTN."
    >>> found = read_note(text).contexts
    >>> [(c.kind, c.cue_span.text(text), c.scope_span.text(text)) for c in found]
    [('family', 'Father', 'had MI at 52'), ('past', 'h/o', 'asthma'), ('past', 'PMH', 'HTN.')]
    """
    found = [
        Context(_SECTION_KINDS[name], section.heading, section.body)
        for section in sections
        for name in section.names
        if name in _SECTION_KINDS and section.body is not None
    ]
    headed = [_within_family(text, tokens, ranges, context) for context in found]
    found = _Contexts([one for one in headed if one.kind == "family"])
    for first, end in ranges:
        i = first
        while i < end:
            opens = tokens[i].form in _OPENING
            i = _read_cue(tokens, first, i, end, found) if opens else i + 1
    # A heading such as "FHx:" is found both as a section and as a cue.
    unique = {
        (context.kind, context.scope_span): context for context in reversed([*headed, *found])
    }
    return sorted(
        unique.values(), key=lambda context: (context.cue_span, context.scope_span, context.kind)
    )


def _within_family(
    text: str, tokens: Sequence[Token], ranges: Sequence[tuple[int, int]], context: Context
) -> Context:
    """Cut a family section before the first sentence of its line that names no relative.

    In notes of one paragraph the text after the family history is the patient's again.
    """
    if context.kind != "family":
        return context
    body = context.scope_span
    line_end = text.find("\n", body.start, body.end)
    begin = bisect_right(ranges, body.start, key=lambda one: tokens[one[0]].start)
    for first, end in ranges[begin:]:
        start = tokens[first].start
        if start >= body.end or 0 <= line_end < start:
            break
        if not any(tokens[k].form in RELATIVES for k in range(first, end)):
            return Context(context.kind, context.cue_span, Span(body.start, tokens[first - 1].end))
    return context


class _Contexts(list[Context]):
    """The contexts that cues open, one after the other, and the family histories with a heading."""

    def __init__(self, histories: Sequence[Context]) -> None:
        super().__init__()
        self._histories = histories

    def in_family(self, start: int) -> bool:
        """Tell whether a character lies in a family history, or where its next relative begins.

        There a colon says whose an illness is: "Father: MI at 60. Mother: no DM".
        """
        k = bisect_right(self._histories, start, key=lambda one: one.scope_span.start)
        # No cue reaches further than the next few.
        for one in (*self._histories[max(0, k - 4) : k], *self[-4 * _LONGEST :]):
            scope = one.scope_span
            # "Parents redo the house. Mom: ..." is no list: there is no mark behind the parents.
            listed = scope.start - one.cue_span.end > 1
            reach = scope.end + (_GAP if listed else -1)
            if one.kind == "family" and scope.start <= start <= reach:
                return True
        return False


def _read_cue(tokens: Sequence[Token], first: int, i: int, end: int, found: _Contexts) -> int:
    """Append what the token at ``i`` opens, if anything; return the next token to look at."""
    form = tokens[i].form
    if form == "dtr" and names_reflexes(form, *(one.form for one in tokens[i + 1 : i + 3])):
        return i + 1
    if form in RELATIVES or (
        form in ("maternal", "paternal") and form_at(tokens, i + 1) not in RELATIVES
    ):
        _read_person(tokens, first, i, end, "family", found)
        return i + 1
    if form in OTHERS:
        _read_person(tokens, first, i, end, "other", found)
        return i + 1
    if form not in CONTEXT_CUES:
        return i + 1
    hit = CONTEXT_CUES.at(tokens, i)
    if hit is None or hit[1] > end or not _is_meant(tokens, i, hit[1], end):
        return i + 1
    cue_kind, stop = hit
    kind, side = cue_kind.split("_")
    if side == "after":
        begin = stop + 1 if form_at(tokens, stop) in (":", "-") else stop
        _add(found, kind, tokens, (i, stop), (begin, _reach(tokens, begin, end, form)))
    else:
        _add(found, kind, tokens, (i, stop), (_reach_back(tokens, first, i), i))
    return stop


def _is_meant(tokens: Sequence[Token], i: int, stop: int, end: int) -> bool:
    """Tell whether a cue phrase is used in the sense the table gives it."""
    form, before, after = tokens[i].form, form_at(tokens, i - 1), form_at(tokens, stop)
    if form in ("history", "hx"):
        if before in _KINDS_OF_HISTORY or after == ":":
            return False
        # "a 3 week history of pain" is now, not past; so is "history of 3 weeks".
        timed = bool(before) and (time_unit(before) is not None or before[0].isdigit())
        return not (timed or after in ("present", "presenting") or after[:1].isdigit())
    if form in _TIMED:
        return not (after in AMOUNT_STARTS or after[:1].isdigit() or time_unit(after)) and (
            after not in _NO_PAST and after not in _FAMILY_PLACES
        )
    if form == "?":
        return stop < end and tokens[stop].start == tokens[i].end
    if form == "thinks":
        return after in _GUESSED
    if form == "ex":
        return after == "-" or after.startswith("smok")
    return True


def _read_person(
    tokens: Sequence[Token], first: int, i: int, end: int, kind: str, found: _Contexts
) -> None:
    """Append what is said of a person, unless they only speak for or accompany the patient."""
    before = i - 1
    while before >= first and tokens[before].form in FILLERS:
        before -= 1
    lead = form_at(tokens, before) if before >= first else ""
    after = _skip(tokens, i + 1, end)
    follow = form_at(tokens, after) if after < end else ""
    if is_patient(tokens, first, i, before) or (lead in TAKING and tokens[i].form.endswith("s")):
        return
    spoken = speaks_after_colon(tokens, i, end, kin=kind == "family")
    if spoken and not found.in_family(tokens[i].start):
        return
    copula = form_at(tokens, after - 1) in _COPULAS
    if follow in (WITNESS_STATES if copula else WITNESS_VERBS):
        return
    if acts_on_patient(tokens, i, after, end):
        return
    if follow == "of" and form_at(tokens, after + 1) not in STOPS | FILLERS:
        # "Mother of three" is the patient.
        return
    alone = after == end or follow in (",", ".", ";", "/")
    if (
        lead == "in"
        or (lead == "(" and (alone or follow == ")"))
        or (lead == "-" and alone and before > first)
    ):
        _add(found, kind, tokens, (i, i + 1), (_reach_back(tokens, first, before), before))
    elif lead in COMPANY and not (lead in _PAIRING and _paired(tokens, before, first)):
        return
    begin = i + 1
    while begin < end and tokens[begin].form in (":", "-", "=", ","):
        begin += 1
    _add(found, kind, tokens, (i, i + 1), (begin, _reach(tokens, begin, end, tokens[i].form)))


def _skip(tokens: Sequence[Token], i: int, end: int) -> int:
    """Return the first index from ``i`` on whose token decides a person's role."""
    end = min(end, i + _LONGEST_SHORT)
    while i < end:
        form, after = tokens[i].form, form_at(tokens, i + 1)
        if form in ("and", "&", "+") and (after in RELATIVES or after in OTHERS):  # "mom and dad"
            i += 2
        elif form in FILLERS or form in _ROLE_FILLERS:
            i += 1
        else:
            break
    return i


def _paired(tokens: Sequence[Token], joint: int, first: int) -> bool:
    """Tell whether a relative before the joint makes one subject ("mother and sister have DM")."""
    near = range(max(first, joint - 3), joint)
    return any(tokens[k].form in RELATIVES or tokens[k].form in ("history", "hx") for k in near)


def _reach(tokens: Sequence[Token], begin: int, end: int, cue: str) -> int:
    """Return the index after the last token a cue before ``begin`` holds for."""
    person = cue in RELATIVES
    short = cue in _SHORT or cue in OTHERS
    longest = _LONGEST_SHORT if short else _LONGEST_PERSON if person else _LONGEST
    limit = min(end, begin + longest)
    depth = 0
    i = begin
    while i < limit:
        form = tokens[i].form
        depth += (form == "(") - (form == ")")
        if depth < 0 or form in STOP_MARKS or form in STOPS:
            break
        after = form_at(tokens, i + 1)
        if form == "," and (short or after in BACK_TO_PATIENT):
            break
        if form == "and" and after in _PATIENT:
            break
        if person and (form in _NEWBORN or (i > begin + 1 and form in PATIENT_VERBS)):
            break
        if form == "/" and form_at(tokens, i + 2) == ":":
            break
        i += 1
    while i > begin and tokens[i - 1].form in _TRAILING:
        i -= 1
    return i


def _reach_back(tokens: Sequence[Token], first: int, i: int) -> int:
    """Return the index of the first token before ``i`` that a cue at ``i`` holds for."""
    start = i
    while start > max(first, i - _LONGEST_PERSON):
        form = tokens[start - 1].form
        if form in STOP_MARKS or form in STOPS or form in (",", ":", "("):
            break
        start -= 1
    while start < i and tokens[start].form in _LEADING:
        start += 1
    return start


def _add(
    found: list[Context],
    kind: str,
    tokens: Sequence[Token],
    cue: tuple[int, int],
    scope: tuple[int, int],
) -> None:
    while scope[0] < scope[1] and tokens[scope[0]].kind == "newline":
        scope = (scope[0] + 1, scope[1])
    if scope[0] < scope[1]:
        found.append(
            Context(
                kind,
                Span(tokens[cue[0]].start, tokens[cue[1] - 1].end),
                Span(tokens[scope[0]].start, tokens[scope[1] - 1].end),
            )
        )
