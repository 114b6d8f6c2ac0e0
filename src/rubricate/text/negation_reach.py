"""The words that negate, and how far a negation reaches before its cue or after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rubricate.text.clauses import CONTRASTS, is_dash
from rubricate.text.numbers import AMOUNT_STARTS, form_at, time_unit
from rubricate.text.words import CueTable, Token, cue_kinds, word_set

#: How each cue negates. ``listing``: all items of a list after it; ``verbal``: up to the first
#: comma unless "or" shows a list; ``narrow``: one word, which is part of the cue phrase;
#: ``pseudo``: nothing; ``either`` and ``passive``: before or after, by what stands around;
#: ``after``: what stands before the cue; ``neither``: a list with the verb that follows it.
NEGATION_CUES = CueTable(
    cue_kinds(
        listing="denies|denys|deneis|deines|nevr had|nver had|zero|denies any|deny"
        "|denying|denie|does deny|denies ever|denial of"
        "|denies recent|negative for|neg for|no evidence of|no sign of|no signs of|no history of"
        "|no hx of|no h/o|no hx|no past history of|no prior history of|no previous history of"
        "|no complaints of|no c/o|no complaint of|no symptoms of|no sx of|no episodes of"
        "|free of|free from|absence of|lack of|nor|not had|not have|not having"
        "|does not have|do not have|did not have|dont have|doesnt have|didnt have|hasnt had"
        "|havent had|never had|never has|not had any|hasnt noticed|not noticed|at no point"
        "|at no time|pertinent negatives|pertinent negative|pertinent neg|pertinent negs|negatives"
        "|relevant negatives|ø|∅|⌀|lacks|lacking|no recent|not reporting"
        "|does not report|did not report|not report|no known|rules out|no reported|(-) for"
        "|-ve for|unremarkable for|not complain of|not complaining of|not endorse|does not endorse"
        "|disavows|refutes",
        verbal="without|w/o|without any|not|cannot|cant|dont|doesnt|didnt|isnt|wasnt|arent|werent"
        "|hasnt|havent|hadnt|wont|wouldnt|couldnt|never|does not|do not|did not|aint|no longer"
        "|fails to|failed to|nothing",
        narrow="no relief|no change|no changes|no improvement|no help|no benefit|no effect"
        "|no better|no worse|no response|not helped|not relieved|no alleviation|without relief"
        "|no success|without improvement|without benefit|without success|no avail"
        "|no increase|no decrease",
        pseudo="not only|not just|not merely|not necessarily|not sure|not certain|not clear"
        "|not ruled out|not rule out|cannot rule out|cant rule out|cannot exclude|cant exclude"
        "|cannot be ruled out|cannot be excluded|no doubt|no wonder|no matter|no one|gram negative"
        "|does not deny|did not deny|doesnt deny|didnt deny|not deny|not denying|not until"
        "|not uncommon|not unusual|not infrequent|not infrequently|if not|why not|whether or not"
        "|no more than|not more than|no less than|not less than|no later than|no problem finding"
        "|not yet diagnosed|cannot help but|rh negative|not all|no stranger|not limited to"
        "|not without|cannot stop|cant stop|unable to stop|not able to stop|could not stop"
        "|couldnt stop|cannot help|cant help|cannot keep from|cant keep from|not been able to stop"
        "|never fails to|does not fail to|not failed to|cannot get rid of|cant get rid of"
        "|cannot do without|cant do without|cannot shake|cant shake|not been able to shake"
        "|cannot say|cant say|not unaware|no stopping|not been able to quit|not been able to do"
        "|not been able to put|not been able to give|cannot go without|cant go without"
        "|cannot get below",
        neither="neither|neither of",
        either="no|none|nil|nill|neg|negative|negatives|denied|absent|-ve|(-)|[-]|nothing noted",
        passive="not noted|not seen|not reported|not found|not observed|not elicited|not detected"
        "|not appreciated|not endorsed",
        after="not present|not there|ruled out|excluded|not a problem|not problem|not an issue"
        "|not coming|not a concern|non contributory|noncontributory",
    )
)
#: Marks that end a scope at once.
STOP_MARKS = frozenset(".;!?:+=→•*▪·|")
#: Words that end a scope at once.
STOP_WORDS = CONTRASTS | word_set(
    "because b/c still then who which whose so until despite instead positive pos only presently"
    " otherwise therefore hence aside apart"
)
#: Verbs that end a scope; the words since the last comma are their subject and leave it too.
STOP_VERBS = word_set(
    "has had have is was are were does did reports report reported admits admitted endorses"
    " endorsed states stated notes noted complains complained c/o describes described presents"
    " presented takes took uses used drinks drank smokes smoked works worked lives lived feels felt"
    " gets got started starts began begins developed develops gained went goes came comes quit"
    " says said thinks thought wants woke wakes seems became becomes gives gave makes made tried"
    " tries eats ate sleeps slept continues remains persists occurs lasts increases increased"
    " worsens worsened improves improved affirms acknowledges confirms can will would"
)
#: Whom a new statement is about.
SUBJECTS = word_set(
    "he she they it i we patient pt pts his her their my him im ive hes shes theyre"
)
#: Words that begin a new statement unless they follow the cue or a joint: notes without any
#: punctuation run on into them.
RUN_ONS = word_set(
    "pmh pmhx psh pshx fh fhx sh shx meds medications nkda nka lmp ros mother mom mum father dad"
    " brother sister uncle aunt grandmother grandfather parents diagnosed stopped stops"
)
#: The same, but only further off: "denies prior history of ..." continues.
FAR_RUN_ONS = word_set("history hx past family fam dx treated")
#: Words that begin a new statement when they follow a comma.
COMMA_STOPS = (
    word_set(
        "worse worst better relieved radiating radiates lasting associated onset since for x just"
        " also some mild moderate severe slight slightly occasional occ occasionally intermittent"
        " with w/ the now currently sometimes often usually once twice rarely however lost gained"
        " except married single retired ex former quit last usual normal nl regular stable there"
        " lots feeling taking using eating sleeping ↑ ↓ > < ~ as although per well good poor and"
    )
    - {"and"}
) | SUBJECTS
#: Verbs and pronouns right after a cue belong to it ("denies she has fever", "has never had").
NEAR_CUE = word_set(
    "he she they it that pt patient ever had have has been be is was really any having experienced"
    " noticed felt reported did does the her his their particularly actually yet gets get got"
)
COPULAS = word_set("is are was were been being be remains remain")
PLURAL_COPULAS = word_set("are were")
#: Words of "no" compounds written together.
NON_WORD = (
    r"non(?=smok|drink|productive|radiat|blood|bilious|tender|prurit|exertion|position|pleurit|"
    r"pain|itch|purulent|diabet|traum|toxic|focal|adheren|complian|obstruct|malodor|tobacco|"
    r"edemat|pitting|erythem|distend|insulin|pregnan|sexual|verbal|ambulat|reproduc|migrat)"
)

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


def reach_after(sentence: Sentence, begin: int, cue_kind: str) -> int:
    """Return the index after the last token that a cue before ``begin`` negates.

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
        elif _begins_statement(sentence, i, begin, cue_kind):
            i = joint if joint > begin else i
            break
        if form in _JOINTS:
            joint = i
        elif i - joint > _LONGEST_ITEM:
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
        return form not in ("his", "her", "their", "my", "him", "it")
    if form in STOP_VERBS:
        return cue_kind != "neither" and before not in ("to", "ever", "or", "nor")
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
        sentence.tokens[stop - 1].kind == "newline"
        or sentence.tokens[stop - 1].form in (",", "and", "or", "/", "(", "-", "also", "&", "nor")
    ):
        stop -= 1
    return stop
