"""Denials of a note: negation cues and their reach over lists."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from rubricate.knowledge.tables import cues, pattern, words
from rubricate.reading.clauses import CONTRASTS, is_dash, sentence_ranges
from rubricate.reading.numbers import AMOUNT_STARTS, form_at, time_unit
from rubricate.reading.tokens import CueTable, Token, find_tokens
from rubricate.spans import Span

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


_NON = pattern("negation.non")
_COUNTED = words("negation.counted")
_RANGES = words("negation.ranges")
_OF_RESULT = words("negation.of_result")
_EXCEPT = words("negation.except")
_OF_AMOUNT = words("negation.of_amount")
_SYLLABLE = pattern("negation.syllable")
_WITHIN_WORDS = words("negation.within_words")
_SIGNED = pattern("negation.signed")
_SIGNED_BEHIND = pattern("negation.signed_behind")
_ITEM_ENDS = words("negation.item_ends")
_BULLETS = words("negation.bullets")
_PATIENT = words("negation.patient")
_NO_MINUS = words("negation.no_minus")
_ENDING = words("negation.ending")
_LESS = words("negation.less")
#: What a cue that no table holds begins with.
_ODD_LETTERS = frozenset("0nau-") | {form[0] for form in _LESS}
#: What a minus behind words denies has at most so many of them.
_LONGEST_SIGNED = 5
_UNDOING = words("negation.undoing")
#: So many words may stand between them and "without".
_UNDONE_WITHIN = 6


@dataclass(frozen=True, slots=True)
class NegationScope:
    """A cue and the words it negates."""

    cue_span: Span
    scope_span: Span
    kind: str = "negation"

    @property
    def is_one_word(self) -> bool:
        """True if the cue is a part of the word it negates: "nonsmoker", "painless"."""
        cue, scope = self.cue_span, self.scope_span
        return cue.end == scope.start or scope.end == cue.start


def find_negations(
    text: str,
    tokens: Sequence[Token] | None = None,
    sentences: Sequence[tuple[int, int]] | None = None,
) -> list[NegationScope]:
    """Return the negations of a text in the order of their cues.

    >>> text = "Denies fever, chills, N/V but has cough. Rash: none"
    >>> [(n.cue_span.text(text), n.scope_span.text(text)) for n in find_negations(text)]
    [('Denies', 'fever, chills, N/V'), ('none', 'Rash')]
    """
    if tokens is None:
        tokens = find_tokens(text)
    found: list[NegationScope] = []
    heading: tuple[int, int] | None = None
    signed_lines = _SignedLines(text)
    for first, end in sentence_ranges(text, tokens) if sentences is None else sentences:
        reader = _Reader(Sentence(text, tokens, first, end), found, signed_lines)
        reader.collect()
        if heading is not None and tokens[first].form in _BULLETS:
            reader.add_item_of(heading)
        else:
            heading = reader.heading
    found.sort(key=lambda scope: (scope.cue_span, scope.scope_span))
    return found


def asks_for_denial(text: str, tokens: Sequence[Token]) -> bool:
    """Tell whether a rubric's wording asks for a denial: "Nonsmoker", but not "Nonbloody stool"."""
    return any(
        one.cue_span.text(text).lower() not in _WITHIN_WORDS
        or not text[max(one.scope_span.end, one.cue_span.end) :].strip()
        for one in find_negations(text, tokens)
    )


class _SignedLines:
    """The lines of a text that hold several words with a sign, found when first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: list[int] | None = None
        self._several: dict[int, bool] = {}
        self._behind: bool | None = None

    def has_several(self, offset: int) -> bool:
        """Tell whether the line around an offset holds several words with a sign."""
        if self._ends is None:
            self._ends = [match.start() for match in re.finditer("\n", self._text)]
        line = bisect_left(self._ends, offset)
        found = self._several.get(line)
        if found is None:
            start = self._ends[line - 1] + 1 if line else 0
            end = self._ends[line] if line < len(self._ends) else len(self._text)
            signs = _SIGNED.finditer(self._text[start:end])
            found = self._several[line] = len(list(islice(signs, 2))) > 1
        return found

    def several_behind(self) -> bool:
        """Tell whether the text holds several words with a sign behind them."""
        if self._behind is None:
            self._behind = len(list(islice(_SIGNED_BEHIND.finditer(self._text), 2))) > 1
        return self._behind


class _Reader:
    """Reads one sentence of a note from left to right."""

    def __init__(
        self, sentence: Sentence, found: list[NegationScope], signed_lines: _SignedLines
    ) -> None:
        self.sentence = sentence
        self.signed_lines = signed_lines
        self.text = sentence.text
        self.tokens = sentence.tokens
        self.first = sentence.first
        self.end = sentence.end
        self.found = found
        self.leading_marks = False
        #: The cue of a heading such as "Denies:" that ends the sentence; its list follows below.
        self.heading: tuple[int, int] | None = None

    def collect(self) -> None:
        """Append the sentence's negations."""
        tokens, i = self.tokens, self.first
        reached = self.first
        while i < self.end:
            form = tokens[i].form
            hit = NEGATION_CUES.at(tokens, i) if form in NEGATION_CUES.first_forms else None
            if hit is None or hit[1] > self.end:
                i = self._odd_cue(i) if form[0] in _ODD_LETTERS else i + 1
                continue
            cue_kind, stop = hit
            if form == "nor" and i < reached:
                i += 1
                continue
            reached = max(reached, self._apply(cue_kind, i, stop))
            i = stop

    def add_item_of(self, heading: tuple[int, int]) -> None:
        """Append the sentence as an item of the list below a heading that is a cue."""
        self._add(heading, (self.first + 1, reach_after(self.sentence, self.first + 1, "listing")))

    def _apply(self, cue_kind: str, i: int, stop: int) -> int:
        """Append what the cue from token ``i`` to ``stop`` negates; return how far it reaches."""
        if cue_kind == "either" and self._corrects(i):
            return stop
        if cue_kind in ("pseudo", "narrow"):
            # The last word of the phrase is what a narrow cue negates; a pseudo one negates none.
            if cue_kind == "narrow" and stop - i > 1:
                self._add((i, stop - 1), (stop - 1, stop), cue_kind)
            return stop
        if self.tokens[i].form in ("without", "w/o") and self._undo(i):
            return stop
        if form_at(self.tokens, stop) in _ENDING and form_at(self.tokens, stop + 1).endswith("ing"):
            # "Has not stopped vomiting" vomits.
            return stop
        both_ways = cue_kind in ("either", "passive")
        if cue_kind == "after" or (both_ways and self._looks_back(cue_kind, i, stop)):
            start, last = reach_before(self.sentence, i)
            self._add((i, stop), (start, last))
            if self._as_are_follows(stop):
                self._add((i, stop), (stop + 3, reach_after(self.sentence, stop + 3, "listing")))
            return stop
        begin = stop
        if form_at(self.tokens, begin) == ":" or (
            form_at(self.tokens, begin) == "-" and is_dash(self.text, self.tokens[begin])
        ):
            begin += 1
            if begin == self.end:
                self.heading = (i, stop)
        reach = reach_after(self.sentence, begin, cue_kind)
        self._add((i, stop), (begin, reach))
        return reach

    def _undo(self, i: int) -> bool:
        """Take back a denial that "without" at ``i`` turns round; tell whether there is one."""
        for k in range(i - 1, max(self.first, i - _UNDONE_WITHIN) - 1, -1):
            token = self.tokens[k]
            if token.kind in ("mark", "newline"):
                return False
            if token.form in _UNDOING:
                late = len(self.found)
                while late and self.found[late - 1].cue_span.start >= token.start:
                    late -= 1
                kept = [one for one in self.found[late:] if one.cue_span.start != token.start]
                self.found[late:] = kept
                return True
        return False

    def _as_are_follows(self, stop: int) -> bool:
        """Tell whether more subjects follow: "X is denied, as are Y and Z"."""
        forms = [form_at(self.tokens, stop + k) for k in range(3)]
        return forms[:2] == [",", "as"] and forms[2] in COPULAS

    def _corrects(self, i: int) -> bool:
        """Tell whether a lone "no" takes back a number: "x 2 mos - no, 3 mos"."""
        if form_at(self.tokens, i) != "no" or form_at(self.tokens, i + 1) not in (",", "-"):
            return False
        after = form_at(self.tokens, i + 2)
        return after[:1].isdigit() or after in AMOUNT_STARTS or after in _COUNTED

    def _looks_back(self, cue_kind: str, i: int, stop: int) -> bool:
        """Tell whether a cue that works both ways negates what stands before it."""
        tokens, form = self.tokens, self.tokens[i].form
        before = form_at(tokens, i - 1) if i > self.first else ""
        after = form_at(tokens, stop) if stop < self.end else ""
        closed = after == "" or (after in _ITEM_ENDS and after != ":")
        if cue_kind == "passive":
            return closed or before in COPULAS
        if before == "-" and i - 1 == self.first:
            before = ""
        if form == "denied":
            return before in COPULAS or (closed and bool(before) and before not in _PATIENT)
        if form == "(" or form == "[":
            if closed:
                return bool(before) and before not in _ITEM_ENDS
            # "fever (-) chills (-)": the first mark of the sentence shows the side.
            opens = not before or before in (":", ",", ";")
            self.leading_marks = self.leading_marks or opens
            return not (opens or self.leading_marks)
        if form == "none":
            return bool(before) and after not in _OF_RESULT
        if form == "no":
            return closed and bool(before) and after not in ("/", "-")
        if form == "absent":
            return bool(before)
        if before in COPULAS:
            return True
        return bool(before) and (closed or after in _EXCEPT)

    def _odd_cue(self, i: int) -> int:
        """Read cues that no table holds ("0 fever", "-fever", "nonsmoker"); return what is next."""
        token = self.tokens[i]
        form = token.form
        after = self.tokens[i + 1] if i + 1 < self.end else None
        if form == "0" and after is not None and after.kind == "word" and len(after.form) > 1:
            if time_unit(after.form) is None and after.form not in _OF_AMOUNT:
                self._add((i, i + 1), (i + 1, reach_after(self.sentence, i + 1, "listing")))
        elif form == "non" and after is not None:
            begin = i + 2 if after.form == "-" else i + 1
            self._add((i, i + 1), (begin, min(begin + 1, self.end)))
        elif form.startswith("non") and len(form) > 5 and _NON.match(self.text, token.start):
            middle = token.start + 3
            self.found.append(NegationScope(Span(token.start, middle), Span(middle, token.end)))
        elif form[:1] in ("a", "u") and (match := _SYLLABLE.match(self.text, token.start)):
            middle = match.end()
            self.found.append(NegationScope(Span(token.start, middle), Span(middle, token.end)))
        elif form in _LESS:
            middle = token.start + form.index("less")
            self.found.append(NegationScope(Span(middle, token.end), Span(token.start, middle)))
        elif form == "-" and after is not None and self._is_minus(i):
            self._add((i, i + 1), (i + 1, self._minus_end(i + 1)))
        elif form == "-" and self._is_minus_behind(i):
            self._add((i, i + 1), (self._signed_start(i), i))
        return i + 1

    def _is_minus_behind(self, i: int) -> bool:
        """Tell whether a hyphen denies the words before it: "fever -, chills -", "N- V-"."""
        token, before = self.tokens[i], self.tokens[i - 1]
        if i == self.first or before.kind != "word" or before.form in _NO_MINUS:
            return False
        joined = before.end == token.start
        after = self.text[token.end : token.end + 1]
        following = form_at(self.tokens, i + 1)
        if after in (",", ";", ".", "/", ")") and following == after:
            return not (joined and after == "/")
        if not after or after == "\n":
            return self.signed_lines.several_behind()
        # "pre- and postprandial" leaves a word out.
        return (
            joined
            and after == " "
            and following not in _RANGES
            and (self.signed_lines.several_behind())
        )

    def _signed_start(self, i: int) -> int:
        """Return the first of the words that a minus at ``i`` denies."""
        start = i
        while start > max(self.first, i - _LONGEST_SIGNED):
            token = self.tokens[start - 1]
            hyphen = token.form == "-" and self.tokens[start].start == token.end
            if token.kind in ("mark", "newline") and not hyphen:
                break
            if hyphen and self.text[token.start - 1 : token.start].isspace():
                break
            start -= 1
        return start

    def _is_minus(self, i: int) -> bool:
        """Tell whether a hyphen before a word denies it: only if the line has another such sign."""
        token = self.tokens[i]
        before = self.text[token.start - 1 : token.start]
        if not before.isspace() or before == "\n" or self.tokens[i + 1].start != token.end:
            return False
        if self.tokens[i + 1].kind != "word":
            return False
        return self.signed_lines.has_several(token.start)

    def _minus_end(self, begin: int) -> int:
        stop = begin
        while stop < self.end and self.tokens[stop].form not in (",", ";", ".", "+", "-", "\n"):
            stop += 1
        return stop

    def _add(self, cue: tuple[int, int], scope: tuple[int, int], kind: str = "negation") -> None:
        tokens = self.tokens
        while scope[0] < scope[1] and tokens[scope[0]].kind == "newline":
            scope = (scope[0] + 1, scope[1])
        if cue[0] >= cue[1] or scope[0] >= scope[1]:
            return
        self.found.append(
            NegationScope(
                Span(tokens[cue[0]].start, tokens[cue[1] - 1].end),
                Span(tokens[scope[0]].start, tokens[scope[1] - 1].end),
                kind,
            )
        )
