"""How far a negation reaches, before its cue or after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.text.clauses import is_dash
from rubricate.text.negation_cues import (
    COMMA_STOPS,
    COPULAS,
    FAR_RUN_ONS,
    NEAR_CUE,
    NEGATION_CUES,
    PLURAL_COPULAS,
    RUN_ONS,
    STOP_MARKS,
    STOP_VERBS,
    STOP_WORDS,
    SUBJECTS,
)
from rubricate.text.numbers import AMOUNT_STARTS, form_at, time_unit
from rubricate.text.words import Token, word_set

#: Longest item of a list that a cue still reaches, in words.
_LONGEST_ITEM = 9
_JOINTS = word_set(", or nor and / &")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens ``first`` to ``end`` of a note, which make one sentence."""

    text: str
    tokens: Sequence[Token]
    first: int
    end: int


def reach_before(sentence: Sentence, i: int) -> tuple[int, int]:
    """Return the tokens before the cue at ``i`` that it negates.

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> text = "cough, fever is absent"
    >>> reach_before(Sentence(text, find_tokens(text), 0, 5), 4)
    (2, 3)
    """
    tokens = sentence.tokens
    last = i
    plural = False
    while last > sentence.first and (
        tokens[last - 1].form in COPULAS or tokens[last - 1].form in ":-?=("
    ):
        last -= 1
        plural = plural or tokens[last].form in PLURAL_COPULAS
    start = last
    while start > sentence.first:
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
    while start < last and tokens[start].form in ("and", "or", ",", "-", ")", "also", "/"):
        start += 1
    return start, last


def reach_after(sentence: Sentence, begin: int, label: str) -> int:
    """Return the index after the last token that a cue before ``begin`` negates.

    Examples
    --------
    >>> from rubricate.text.words import find_tokens
    >>> text = "denies fever, chills but coughs"
    >>> reach_after(Sentence(text, find_tokens(text), 0, 6), 1, "listing")
    4
    """
    comma = -1
    joint = begin - 1
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
        elif _begins_statement(sentence, i, begin, label):
            i = joint if joint > begin else i
            break
        if form in _JOINTS:
            joint = i
        elif i - joint > _LONGEST_ITEM:
            break
        i += 1
    if label == "verbal":
        i = _verbal_end(sentence, begin, comma, i)
    return _trim(sentence, begin, i)


def _begins_statement(sentence: Sentence, i: int, begin: int, label: str) -> bool:
    """Tell whether a word opens a new statement within the same sentence."""
    form = sentence.tokens[i].form
    near = i < begin + 2
    before = form_at(sentence.tokens, i - 1)
    if form == "and":
        after = form_at(sentence.tokens, i + 1)
        return after in SUBJECTS or after == "the" or (after in STOP_VERBS and label != "neither")
    if form in RUN_ONS or (form in FAR_RUN_ONS and not near):
        return i > begin and before not in _JOINTS
    if near and (form in NEAR_CUE or label == "verbal" or i == begin):
        return False
    if form in SUBJECTS:
        return form not in ("his", "her", "their", "my", "him", "it")
    if form in STOP_VERBS:
        return label != "neither" and before not in ("to", "ever", "or", "nor")
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
    """Tell whether what follows a comma is no item of the list."""
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
        sentence.tokens[stop - 1].kind == "newline"
        or sentence.tokens[stop - 1].form in (",", "and", "or", "/", "(", "-", "also", "&", "nor")
    ):
        stop -= 1
    return stop
