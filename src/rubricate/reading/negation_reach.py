"""The words that negate, and how far a negation reaches before its cue or after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.knowledge.tables import cues, words
from rubricate.reading.clauses import CONTRASTS, is_dash
from rubricate.reading.numbers import AMOUNT_STARTS, form_at, time_unit
from rubricate.reading.tokens import CueTable, Token

NEGATION_CUES = CueTable(cues("negation.negation_cues"))
STOP_MARKS = words("negation.stop_marks")
_GOES_ON = words("negation.goes_on")
_OBJECTS = words("negation.objects")
_VERB_GOES_ON = words("negation.verb_goes_on")
_TRAILING = words("negation.trailing")
STOP_WORDS = CONTRASTS | words("negation.stop_words")
STOP_VERBS = words("negation.stop_verbs")
SUBJECTS = words("negation.subjects")
RUN_ONS = words("negation.run_ons")
FAR_RUN_ONS = words("negation.far_run_ons")
COMMA_STOPS = words("negation.comma_stops") - {"and"} | SUBJECTS
NEAR_CUE = words("negation.near_cue")
COPULAS = words("negation.copulas")
PLURAL_COPULAS = words("negation.plural_copulas")

#: Longest item of a list that a cue still reaches, in words.
_LONGEST_ITEM = 9
#: So many words before it a cue reaches at most: the items of a list.
_LONGEST_BEFORE = 100
_JOINTS = words("negation.joints")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens ``first`` to ``end`` of a note, which make one sentence."""

    text: str
    tokens: Sequence[Token]
    first: int
    end: int


def reach_before(sentence: Sentence, i: int) -> tuple[int, int]:
    """Return the tokens before the cue at ``i`` that it negates.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "cough, fever is absent"
    >>> reach_before(Sentence(text, find_tokens(text), 0, 5), 4)
    (2, 3)
    """
    tokens = sentence.tokens
    last = i
    plural = False
    while last > max(sentence.first, i - _LONGEST_BEFORE) and (
        tokens[last - 1].form in COPULAS or tokens[last - 1].form in ":-?=("
    ):
        last -= 1
        plural = plural or tokens[last].form in PLURAL_COPULAS
    start = last
    while start > max(sentence.first, last - _LONGEST_BEFORE):
        form = tokens[start - 1].form
        if form in STOP_MARKS or form in STOP_WORDS or form in STOP_VERBS or form == "\n":
            break
        if form == "," and not plural:
            break
        if form == "/" and _stands_apart(sentence, start - 1):
            break
        if form in NEGATION_CUES and form != "no":
            break
        start -= 1
    while start < last and tokens[start].form in _GOES_ON:
        start += 1
    return start, last


def reach_after(sentence: Sentence, begin: int, cue_kind: str) -> int:
    """Return the index after the last token that a cue before ``begin`` negates.

    >>> from rubricate.reading.tokens import find_tokens
    >>> text = "denies fever, chills but coughs"
    >>> reach_after(Sentence(text, find_tokens(text), 0, 6), 1, "listing")
    4
    """
    comma = -1
    joint = word = begin - 1
    depth = 0
    i = begin
    while i < sentence.end:
        token = sentence.tokens[i]
        form = token.form
        if token.kind == "mark":
            depth += (form == "(") - (form == ")")
            if form in STOP_MARKS or depth < 0 or (form == "-" and _dash_stops(sentence, i)):
                break
            if form == "," and _new_statement(sentence, i + 1):
                break
            if form == "," and comma < 0:
                comma = i
        elif form in STOP_WORDS or (form in NEGATION_CUES and _is_new_cue(sentence, i)):
            break
        elif _begins_statement(sentence, i, begin, cue_kind):
            i = joint if joint > begin else i
            break
        if form in _JOINTS:
            joint = i
            if i - word > _LONGEST_ITEM:
                break
        else:
            word = i
            if i - joint > _LONGEST_ITEM:
                break
        i += 1
    if cue_kind == "verbal":
        i = _verbal_end(sentence, begin, comma, i)
    return _trim(sentence, begin, i)


def _begins_statement(sentence: Sentence, i: int, begin: int, cue_kind: str) -> bool:
    """Tell whether a word opens a new statement within the same sentence."""
    form = sentence.tokens[i].form
    near = i < begin + 2
    before = form_at(sentence.tokens, i - 1)
    if form == "and":
        after = form_at(sentence.tokens, i + 1)
        return (
            after in SUBJECTS or after == "the" or (after in STOP_VERBS and cue_kind != "neither")
        )
    if form in RUN_ONS or (form in FAR_RUN_ONS and not near):
        return i > begin and before not in _JOINTS
    if near and (form in NEAR_CUE or cue_kind == "verbal" or i == begin):
        return False
    if form in SUBJECTS:
        return form not in _OBJECTS
    if form in STOP_VERBS:
        return cue_kind != "neither" and before not in _VERB_GOES_ON
    return False


def _verbal_end(sentence: Sentence, begin: int, comma: int, stop: int) -> int:
    """Cut a verb's reach at its first comma or "and", unless "or" shows that a list follows."""
    joint = comma if begin < comma < stop else stop
    for k in range(begin, joint):
        if sentence.tokens[k].form == "and":
            joint = k
            break
    if any(sentence.tokens[k].form in ("or", "nor") for k in range(joint, stop)):
        return stop
    return joint


def _stands_apart(sentence: Sentence, i: int) -> bool:
    token = sentence.tokens[i]
    return (
        sentence.text[token.start - 1 : token.start].isspace()
        and sentence.text[token.end : token.end + 1].isspace()
    )


def _dash_stops(sentence: Sentence, i: int) -> bool:
    following = sentence.text[sentence.tokens[i].end : sentence.tokens[i].end + 1]
    return is_dash(sentence.text, sentence.tokens[i]) or following == ">"


def _new_statement(sentence: Sentence, i: int) -> bool:
    """Tell whether what follows a comma is not an item of the list."""
    if i >= sentence.end:
        return True
    token = sentence.tokens[i]
    if token.kind == "number" or token.form in COMMA_STOPS or token.form in STOP_VERBS:
        return True
    after = form_at(sentence.tokens, i + 1)
    if token.form in ("and", "or"):
        return after in SUBJECTS
    return token.form in AMOUNT_STARTS and time_unit(after) is not None if after else False


def _is_new_cue(sentence: Sentence, i: int) -> bool:
    hit = NEGATION_CUES.at(sentence.tokens, i)
    return hit is not None and sentence.tokens[i].form != "nor"


def _trim(sentence: Sentence, begin: int, stop: int) -> int:
    while stop > begin and (
        sentence.tokens[stop - 1].kind == "newline" or sentence.tokens[stop - 1].form in _TRAILING
    ):
        stop -= 1
    return stop
