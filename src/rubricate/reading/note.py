"""A note read once: what is found in it whatever the feature, each thing when first asked for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from rubricate.reading.clauses import clause_ranges, sentence_ranges, statement_starts
from rubricate.reading.diagnoses import NamedDiagnosis, find_diagnoses
from rubricate.reading.drugs import DrugName, drugs_at
from rubricate.reading.measurements import Measurement, child_years, find_measurements
from rubricate.reading.negation import find_negations
from rubricate.reading.opposites import EMPTY_WORDS
from rubricate.reading.quantities import Quantity, find_quantities
from rubricate.reading.sections import NoteSection, find_sections
from rubricate.reading.senses import Sense, find_senses
from rubricate.reading.subjects import Context, find_contexts
from rubricate.reading.tests import NamedTest, named_tests
from rubricate.reading.tokens import find_tokens, stem

#: So many words around the spans are looked at, and only within their clauses.
REACH = 30

#: So many tokens of the spans are looked at; no words that state a feature are nearly as many.
MOST_TOKENS = 200

#: A number or side outside the spans counts if at most so many words lie between.
NEAR = 3

Kept = TypeVar("Kept")


class NoteReading:
    """A note with what is found in it; every lookup hangs on it and is made once.

    ``raw`` are all tokens and ``tokens`` those that are no line breaks; numbers of tokens count
    the latter, but for ``sentences``. ``starts`` has where each token begins, ``clause`` the number
    of its clause (from 1; 0 before the first), ``scope`` that of the negation that reaches it and
    ``cue`` that of the negation whose cue it is of (-1 for none). What most rules ask for is read
    at once, all else when it is first asked for.

    >>> note = NoteReading("Denies fever, chills. Plan: CXR")
    >>> [token.form for token, scope in zip(note.tokens, note.scope) if scope >= 0]
    ['fever', ',', 'chills']
    >>> note.statement(14), note.section_at(28), len(note.tests)
    ((0, 22), 'plan', 1)
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = raw = find_tokens(text)
        self.sentences = sentence_ranges(text, raw)
        self.tokens = [token for token in raw if token.kind != "newline"]
        self.starts = starts = [token.start for token in self.tokens]
        self.clauses = [
            (bisect_left(starts, raw[first].start), bisect_left(starts, raw[end - 1].end))
            for first, end in clause_ranges(text, raw, self.sentences)
        ]
        self.clause = [0] * len(starts)
        begins = [begin for begin, _ in self.clauses]
        for number, (begin, end) in enumerate(pairwise([*begins, len(starts)]), start=1):
            self.clause[begin:end] = [number] * (end - begin)
        self.negations = denied = find_negations(text, raw, self.sentences)
        self.scope = _cover(starts, [(n.scope_span.start, n.scope_span.end) for n in denied])
        self.cue = _cover(starts, [(n.cue_span.start, n.cue_span.end) for n in denied])
        for number, one in enumerate(denied):
            if one.is_one_word:
                token = bisect_left(starts, min(one.cue_span.start, one.scope_span.start))
                self.scope[token], self.cue[token] = number, -1
        self.quantities = find_quantities(text, raw)
        self.quantity_starts = [quantity.span.start for quantity in self.quantities]
        self._kept: dict[Hashable, Any] = {}

    @cached_property
    def statements(self) -> tuple[int, ...]:
        """The starts of statements, in characters."""
        return statement_starts(self.text, self.raw, self.sentences)

    def statement(self, start: int, end: int | None = None) -> tuple[int, int]:
        """Return the begin and end of the statement that words stand in, in characters.

        >>> NoteReading("CXR clear; no rash. Plan: CT").statement(14)
        (11, 20)
        """
        starts = self.statements
        last = bisect_right(starts, start if end is None else max(start, end - 1))
        behind = starts[last] if last < len(starts) else len(self.text)
        return starts[bisect_right(starts, start) - 1], behind

    @cached_property
    def sections(self) -> list[NoteSection]:
        """The headed sections."""
        return find_sections(self.text, self.raw, self.sentences)

    def section_at(self, place: int) -> str:
        """Return the section that a place is in, empty before the first heading.

        >>> note = NoteReading("HPI: cough. Plan: CXR")
        >>> note.section_at(18), NoteReading("cough").section_at(2)
        ('plan', '')
        """
        k = bisect_right(self.sections, place, key=lambda one: one.heading.start) - 1
        body = self.sections[k].body if k >= 0 else None
        inside = body is not None and body.start <= place < body.end
        return self.sections[k].name if inside else ""

    @cached_property
    def contexts(self) -> list[Context]:
        """Words about relatives, others, the past, fears and guesses."""
        return find_contexts(self.text, self.raw, self.sentences, self.sections)

    @cached_property
    def _others(self) -> tuple[list[Context], dict[int, list[int]]]:
        """Words about relatives and others, and the numbers of these by token."""
        contexts = [one for one in self.contexts if one.kind in ("family", "other")]
        by_token: dict[int, list[int]] = {}
        for number, one in enumerate(contexts):
            first = max(0, bisect_right(self.starts, one.scope_span.start) - 1)
            for t in range(first, bisect_right(self.starts, one.scope_span.end)):
                by_token.setdefault(t, []).append(number)
        return contexts, by_token

    def contexts_at(self, where: Iterable[int]) -> list[Context]:
        """Return the words about relatives and others that hold or touch a token."""
        contexts, by_token = self._others
        return [contexts[i] for i in sorted({i for t in where for i in by_token.get(t, ())})]

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """The measured values."""
        return find_measurements(self.text, self.raw, self.quantities)

    @cached_property
    def child_years(self) -> float | None:
        """The age of the child the note is about; None of adults, and where it is unclear."""
        return child_years(self.text, self.quantities)

    @cached_property
    def tests(self) -> tuple[NamedTest, ...]:
        """The tests by their names."""
        return named_tests(self.text, self.raw)

    @cached_property
    def drugs(self) -> list[tuple[str, DrugName, int, int]]:
        """The drugs by their names: the name, what it stands for, and its characters."""
        words = [token for token in self.tokens if token.kind != "mark"]
        return [
            (key, drug, words[first].start, words[end - 1].end)
            for key, drug, first, end in drugs_at(words)
        ]

    @cached_property
    def diagnoses(self) -> list[NamedDiagnosis]:
        """The diagnoses by their names."""
        return find_diagnoses(self.text, self.tokens, self.raw)

    @cached_property
    def senses(self) -> dict[int, Sense]:
        """The meanings of words that have several, by their tokens."""
        return find_senses(self.text, self.tokens)

    @cached_property
    def places_of_stems(self) -> dict[str, list[int]]:
        """The tokens of each stem."""
        found: dict[str, list[int]] = {}
        for i, token in enumerate(self.tokens):
            if token.kind != "mark":
                found.setdefault(stem(token.form), []).append(i)
        return found

    def once(self, find: Callable[..., Kept], *about: Hashable) -> Kept:
        """Return the answer of a rule's own lookup in the note, made once for each question."""
        key = (find, *about)
        if key not in self._kept:
            self._kept[key] = find(self, *about)
        found: Kept = self._kept[key]
        return found


#: So many notes stay read: several matchers and rules read a note one after the other.
_RECENT = 128


@lru_cache(maxsize=_RECENT)
def read_note(text: str) -> NoteReading:
    """Read a note; one reading for all who ask for the same text.

    >>> read_note("No fever") is read_note("No fever")
    True
    """
    return NoteReading(text)


def _cover(starts: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    column = [-1] * len(starts)
    for i, (start, end) in enumerate(spans):
        for k in range(bisect_left(starts, start), bisect_left(starts, end)):
            column[k] = i
    return column


@dataclass(frozen=True, slots=True)
class Place:
    """The tokens of the spans, and the range of tokens around them in their clauses.

    ``meant`` are the feature's words that they are known to stand for.
    """

    reading: NoteReading
    inside: list[int]
    first: int
    end: int
    meant: frozenset[str] = frozenset()

    def around(self, reach: int) -> range:
        """Return the places of the spans and so many tokens around them, in their clauses."""
        return range(
            max(self.first, self.inside[0] - reach), min(self.end, self.inside[-1] + reach + 1)
        )

    def forms(self, where: Sequence[int]) -> list[str]:
        """Return the forms of some tokens."""
        tokens = self.reading.tokens
        return [tokens[i].form for i in where]

    def named(self, stems: Container[str]) -> list[int]:
        """Return the tokens of the spans that have one of some stems."""
        tokens = self.reading.tokens
        return [i for i in self.inside if stem(tokens[i].form) in stems]

    def first_named(self, stems: Container[str]) -> int:
        """Return the first token of the spans with a stem; else the first that means much."""
        tokens = self.reading.tokens
        worded = (i for i in self.inside if tokens[i].form not in EMPTY_WORDS)
        return next(iter(self.named(stems)), next(worded, self.inside[0]))

    def quantities(self, reach: int) -> list[Quantity]:
        """Return the quantities at most so many words from the spans."""
        reading, where = self.reading, self.around(reach)
        start, end = reading.starts[where[0]], reading.tokens[where[-1]].end
        first = bisect_left(reading.quantity_starts, start)
        return reading.quantities[first : bisect_left(reading.quantity_starts, end)]

    def has_comma_before(self, i: int) -> bool:
        """Tell whether a comma stands between the spans and a token beside them."""
        first, last = self.inside[0], self.inside[-1]
        between = range(last + 1, i) if i > last else range(i + 1, first)
        return any(self.reading.tokens[k].form in (",", "+", "/") for k in between)


def find_place(
    reading: NoteReading, spans: Sequence[tuple[int, int]], meant: frozenset[str] = frozenset()
) -> Place | None:
    """Return the place of the spans; None when they hold no token."""
    inside: list[int] = []
    for start, end in sorted(spans):
        first = bisect_right(reading.starts, start) - 1
        if first < 0 or reading.tokens[first].end <= start:
            first += 1
        inside += range(first, bisect_left(reading.starts, end))
    if not inside:
        return None
    del inside[MOST_TOKENS:]
    clause, before, after = reading.clause, inside[0], inside[-1]
    first = bisect_left(clause, clause[before], max(0, before - REACH), before)
    end = bisect_right(clause, clause[after], after, min(len(clause), after + REACH))
    return Place(reading, inside, first, end, meant)
