"""The answers of the rules to the questions of the table of precedence: claims, no decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from rubricate.errors import InputError
from rubricate.knowledge.tables import pattern
from rubricate.reading.clauses import LONGEST_STATEMENT
from rubricate.reading.note import NoteReading, read_note
from rubricate.requirement.requirement import Requirement, read_requirement
from rubricate.rules.diagnosis import another_diagnosis, judge_diagnosis
from rubricate.rules.findings import Against, Candidate, Claim, Spans
from rubricate.rules.measured import judge_measured, only_values
from rubricate.rules.plan import find_planned, only_goes_on
from rubricate.rules.precedence import MATCHER_ASKS, precedence
from rubricate.rules.reasons import Reason, is_on
from rubricate.rules.registry import RULES, TYPE, gives_asked_number, why_contradicted_in
from rubricate.rules.tests import find_examined, find_ordered, not_ordered, says_nothing_of_test
from rubricate.rules.time import says_nothing_of_now

_STRAY = pattern("holding.stray")
_UNASKED = pattern("checklist.unasked")
#: The questions about words found, of which the first that is answered counts.
OF_WORDS = (*RULES, TYPE, "beside")


#: Gives the claims about an item, its candidates, and the words that contradict it.
Answer = Callable[["Item", Sequence[Candidate], Against | None], Iterator[Claim]]


class Item(NamedTuple):
    """A feature and the note that is asked about it.

    ``asked`` is the feature in plain words, ``author`` in those of its author. ``clean`` is the
    note without marks and repeated text, ``text`` as it is. ``mentions`` looks for literal
    mentions, where somebody does.
    """

    id: str
    asked: Requirement
    author: Requirement
    clean: str
    text: str
    mentions: Mentions | None = None

    @classmethod
    def of(cls, feature: str, text: str, mentions: Mentions | None = None) -> Item:
        """Return a wording and a text as they are."""
        asked = read_requirement(feature)
        return cls("", asked, asked, text, text, mentions)

    @property
    def reading(self) -> NoteReading:
        """The note without marks, read."""
        return read_note(self.clean)

    @property
    def questions(self) -> frozenset[str]:
        """The questions that some rule may answer for the feature."""
        return _questions_of(self.asked, self.author)

    def ask(
        self, questions: Sequence[str], candidates: Sequence[Candidate], against: Against | None
    ) -> list[Claim]:
        """Return the claims of the rules that answer some questions and are not switched off.

        >>> item = Item.of("Tachycardia", "Pain in the left knee. HR 124")
        >>> [(one.rule, one.said) for one in item.ask(["measured value"], [], None)]
        [('measured.states', 'HR 124')]
        """
        words = _of_words(tuple(questions))
        found: list[Claim] = []
        for candidate in candidates if words else ():
            found += first_of_words(self, candidate, words)
        for question in questions:
            if question not in OF_WORDS:
                found += _ANSWERS[question](self, candidates, against)
        return [one for one in found if is_on(one.rule)]


@lru_cache(maxsize=4096)
def _questions_of(asked: Requirement, author: Requirement) -> frozenset[str]:
    """Return the questions that some rule may answer for a feature."""
    without = {"answer" if author.topic is None else "mention"}
    if not asked.tests.tests:
        without |= {"ordered test", "named test"}
    if not asked.diagnoses and not asked.wanted_diagnoses:
        without.add("diagnosis")
    if author.examination is None:
        without.add("examination")
    return QUESTIONS - without


@cache
def _of_words(questions: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in questions if one in OF_WORDS)


def every_claim(
    item: Item, candidates: Sequence[Candidate], against: Against | None
) -> Iterator[Claim]:
    """Yield every claim of every rule, in the order of the table, whoever's words they are.

    >>> item = Item.of("Right knee pain", "Pain in the left knee. HR 124")
    >>> own = Candidate(((0, 21),), 0.9, ())
    >>> [(one.rule, one.effect, one.said) for one in every_claim(item, [own], None)]
    [('side.other', 'contradicts', 'left')]
    """
    asked = item.questions
    for question in dict.fromkeys(x.question for x in precedence() if x.question in asked):
        if question in OF_WORDS:
            for candidate in candidates:
                yield from first_of_words(item, candidate, (question,))
        else:
            yield from _ANSWERS[question](item, candidates, against)


_ADVISED = pattern("beside.advised")
_IN_CASE = pattern("beside.in_case")
_IF = pattern("beside.if")
_MINUS = pattern("beside.minus")
_MINUS_AT_END = pattern("beside.minus_at_end")
_MINUS_BEFORE = pattern("beside.minus_before")
_MINUS_FIRST = pattern("beside.minus_first")
#: Where signs behind words say what is there and what is not, a minus may stand before more words.
_SIGNS = (pattern("beside.plus_sign"), pattern("beside.minus_sign"))
_LEAST_SIGNS = 2
_LOOSE_MINUS = pattern("beside.loose_minus")
_LOOSE_WITHIN = pattern("beside.loose_within")
_LISTED_MINUS = pattern("beside.listed_minus")
_PLUS_BEFORE = pattern("beside.plus_before")
_AGE = pattern("beside.age")
_LITTLE = pattern("beside.little")
_MUCH = pattern("beside.much")
_LONG_AGO = pattern("beside.long_ago")
_LATELY = pattern("beside.lately")


def why_surely_not(
    asked: Requirement, reading: NoteReading, spans: Sequence[tuple[int, int]]
) -> Reason | None:
    """Return the reason in or right beside words of a note for which they cannot state a feature.

    >>> from rubricate.reading.note import read_note
    >>> from rubricate.requirement.requirement import read_requirement
    >>> note = read_note("ED if chest pain returns")
    >>> why_surely_not(read_requirement("Chest pain"), note, [(6, 16)])
    Reason(code='modality.advised', said='')
    >>> note = read_note("guarding -, rigidity +")
    >>> why_surely_not(read_requirement("Guarding"), note, [(0, 8)])
    Reason(code='polarity.minus', said='')
    >>> note = read_note("menopause at 53")
    >>> why_surely_not(read_requirement("Early menopause"), note, [(0, 15)])
    Reason(code='value.age', said='53')
    """
    text = reading.text
    start, end = spans[0][0], spans[-1][1]
    words, behind = text[start:end], re.split(r"[.;\n]", text[end : end + 30])[0]
    begin = max(0, start - LONGEST_STATEMENT)
    begin = max(begin, *(text.rfind(mark, begin, start) + 1 for mark in ".;\n"))
    if asked.says_recent and not asked.negated:
        said = text[begin:end] + behind
        if not _LATELY.search(said) and (match := _LONG_AGO.search(said)):
            return Reason("time.long_ago", match[0])
    if asked.says_too_much and not asked.says_negative:
        said = text[begin:end] + behind
        if (match := _LITTLE.search(said)) and not _MUCH.search(said):
            return Reason("value.drink", match[0])
    for low, high in asked.other_ages:
        ages = _AGE.findall(words) or _AGE.findall(words + behind)
        if len(ages) == 1 and low <= int(ages[0]) <= high:
            return Reason("value.age", ages[0])
    if asked.says_negative:
        return None
    if not asked.about_advice and end - start <= 60:
        clause = max(begin, text.rfind(",", 0, start) + 1)
        before = [match.end() for match in _ADVISED.finditer(text, clause, start)]
        if _ADVISED.match(words) or (before and before[-1] == start):
            return Reason("modality.advised")
        if _IN_CASE.search(text, max(begin, start - 120), start) or (
            _IF.match(words) and not asked.says_condition
        ):
            return Reason("modality.hypothetical")
    return Reason("polarity.minus") if _has_minus(reading, start, end) else None


def _has_signs(reading: NoteReading) -> bool:
    """Tell whether signs behind words of a note say what is there and what is not."""
    return all(len(sign.findall(reading.text)) >= _LEAST_SIGNS for sign in _SIGNS)


def _has_minus(reading: NoteReading, start: int, end: int) -> bool:
    """Tell whether a minus sign denies the words: "edema -", "(-) edema"."""
    text = reading.text
    # A sign before a comma belongs to what was named before: "guarding +, rigidity -".
    words, before = text[start:end].lstrip("+-−–,; "), text[max(0, start - 6) : start]
    # A plus right before the words is theirs, one behind a stop or comma that of others.
    if "+" in words or _PLUS_BEFORE.search(before) or any(one.isdigit() for one in words):
        return False
    after = text[end : end + 25]
    if reading.once(_has_signs) and (
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


def first_of_words(item: Item, own: Candidate, questions: Sequence[str]) -> Iterator[Claim]:
    """Yield the first answer to questions about the words of a candidate."""
    reading, checks = item.reading, [one for one in questions if one != "beside"]
    why = why_contradicted_in(reading, item.asked, own.spans, checks) if checks else None
    if why is None and "beside" in questions:
        why = why_surely_not(item.asked, reading, own.spans)
        why = why if why is not None and is_on(why.code) else None
    if why is not None:
        yield Claim(why.code, "contradicts", own.spans, why.said, own)


def _ordered(item: Item, _own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
    if ordered := find_ordered(item.asked, item.reading):
        yield Claim("test.ordered", "states", tuple(ordered))


def _named_test(item: Item, own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
    asked, reading = item.asked, item.reading
    for one in own:
        if says_nothing_of_test(asked, reading, one.spans):
            yield Claim("test.other", "irrelevant", one.spans, of=one)
        if not_ordered(asked, reading, one.spans):
            yield Claim("test.refused", "contradicts", one.spans, of=one)


def _crumbs(item: Item, own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
    """Yield candidates that are bare marks, letters and small numbers: "OD 6/6, IOP 15"."""
    if len(own) < 2 or any(x.quantities or x.numerals for x in item.asked.alternatives):
        return
    for one in own:
        if all(_STRAY.fullmatch(item.clean[a:z].strip()) for a, z in one.spans):
            yield Claim("words.crumbs", "irrelevant", one.spans, of=one)


def _plan(item: Item, _own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
    if planned := find_planned(item.asked, item.reading):
        advice = item.asked.wants_return_advice
        yield Claim("plan.return" if advice else "plan.started", "states", tuple(planned))


def _dropping(rule: str, drops: Callable[[Requirement, NoteReading, Spans], bool]) -> Answer:
    """Return the answer of a rule that drops words, each for itself."""

    def answer(item: Item, own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
        for one in own:
            if drops(item.asked, item.reading, one.spans):
                yield Claim(rule, "irrelevant", one.spans, of=one)

    return answer


def _diagnosis(item: Item, own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
    asked, reading = item.asked, item.reading
    said = judge_diagnosis(asked, reading, [one.spans for one in own])
    if said is None:
        return
    for span in said.states:
        yield Claim("diagnosis.considered", "states", (span,))
    for one, kept in zip(own, said.kept, strict=True):
        if kept:
            if said.considered:
                yield Claim("diagnosis.vouched", "states", one.spans, of=one)
        elif other := another_diagnosis(asked, reading, one.spans):
            yield Claim(other.code, "irrelevant", one.spans, other.said, one)
        else:
            yield Claim("diagnosis.elsewhere", "irrelevant", one.spans, of=one)
    if said.denied is not None:
        yield Claim("diagnosis.denied", "contradicts", (said.denied,))


def _same_number(item: Item, _own: Sequence[Candidate], against: Against | None) -> Iterator[Claim]:
    if against and gives_asked_number(item.asked, item.reading, against.spans):
        yield Claim("number.same", "states", against.spans)


def _measured(item: Item, own: Sequence[Candidate], _against: Against | None) -> Iterator[Claim]:
    """Yield what measured values say, where only values were found, or nothing."""
    text = item.clean
    if own and not only_values(item.reading, [span for one in own for span in one.spans]):
        return
    said = judge_measured(item.asked, item.reading)
    for span in said.contradicts[:1]:
        yield Claim("value.measured", "contradicts", (span,), text[slice(*span)])
    for span in said.states:
        yield Claim("measured.states", "states", (span,), text[slice(*span)])
    for one in own if said.states else ():
        if only_values(item.reading, one.spans):
            yield Claim("measured.only", "irrelevant", one.spans, of=one)


#: Looks for literal mentions of a feature, and makes claims.
Mentions = Callable[[Item, Sequence[Candidate], Against | None], Iterable[Claim]]


def _mention(item: Item, own: Sequence[Candidate], against: Against | None) -> Iterator[Claim]:
    if item.mentions is not None:
        yield from item.mentions(item, own, against)


def _examination(
    item: Item, _own: Sequence[Candidate], _against: Against | None
) -> Iterator[Claim]:
    if item.author.examination is None:
        return
    said = find_examined(item.author.examination, read_note(item.text))
    if said.done:
        yield Claim("test.done", "states", said.done[:1])
    elif said.undone:
        yield Claim("test.not_done", "contradicts", said.undone[:1])


def _answer(item: Item, own: Sequence[Candidate], against: Against | None) -> Iterator[Claim]:
    """Yield what shows that a matter was asked about: "denies smoking" does, "not asked" not."""
    for one in own:
        if _says_unasked(item.text, one.spans):
            yield Claim("asked.unasked", "irrelevant", one.spans, of=one)
    if against is not None and not _says_unasked(item.text, against.spans):
        yield Claim("asked.answered", "states", against.spans)


def _says_unasked(text: str, spans: Spans) -> bool:
    return any(_UNASKED.search(text[slice(*span)]) for span in spans)


_ANSWERS: dict[str, Answer] = {
    "ordered test": _ordered,
    "named test": _named_test,
    "crumbs": _crumbs,
    "plan": _plan,
    "continued drug": _dropping("plan.continued", only_goes_on),
    "earlier time": _dropping("time.before", says_nothing_of_now),
    "diagnosis": _diagnosis,
    "same number": _same_number,
    "measured value": _measured,
    "mention": _mention,
    "examination": _examination,
    "answer": _answer,
}
#: All questions that rules answer.
QUESTIONS = frozenset((*OF_WORDS, *_ANSWERS))
_unlike = QUESTIONS ^ {row.question for row in precedence() if row.question != MATCHER_ASKS}
if _unlike:
    raise InputError(f"rules/precedence.tsv and the rules differ in questions: {sorted(_unlike)}")
