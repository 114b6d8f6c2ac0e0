"""Picking notes by what is known of them: the ``where`` of every command, with one error."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError

#: Values of a field are listed in a message only if they are few and short: longer ones may be
#: note text.
MOST_VALUES, LONGEST_VALUE = 20, 20


class Condition(NamedTuple):
    """A test of one field of a note; ``shown`` is what messages call it."""

    name: str
    test: Callable[[Note], bool]
    shown: str


def parse_condition(text: str) -> Condition:
    """Return the condition that ``NAME=VALUE`` or ``NAME=VALUE,VALUE`` states.

    >>> parse_condition("case=0,4").test(Note("n", "4", "fever"))
    True
    >>> parse_condition("split")
    Traceback (most recent call last):
    rubricate.errors.InputError: --where split: need NAME=VALUE, e.g. split=test
    """
    name, sign, values = text.partition("=")
    if not sign:
        raise InputError(f"--where {text}: need NAME=VALUE, e.g. split=test")
    return Condition(name, lambda note: note.matches(name, values), f"--where {text}")


class NoteFilter:
    """Keeps the notes that meet all conditions, and can say in the end why none was left.

    >>> chosen = NoteFilter([parse_condition("case=0"), parse_condition("sight=A")])
    >>> chosen.keeps(Note("n", "0", "fever", {"site": "A"}))
    False
    >>> chosen.check()
    Traceback (most recent call last):
    rubricate.errors.InputError: --where sight=A: no note has 'sight'; did you mean 'site'?
    There are: case, site
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.conditions = tuple(conditions)
        #: How many notes each condition left of those that met the conditions before it.
        self.left = [0] * len(self.conditions)
        self._fields = {"case": None}
        self._values: list[set[str]] = [set() for _ in self.conditions]

    def keeps(self, note: Note) -> bool:
        """Tell whether a note meets all conditions."""
        if self.conditions:
            self._fields |= dict.fromkeys(note.metadata)
        for i, condition in enumerate(self.conditions):
            if len(self._values[i]) <= MOST_VALUES:
                self._values[i].add(str(note.value(condition.name)))
            if not condition.test(note):
                return False
            self.left[i] += 1
        return True

    def check(self) -> None:
        """Raise InputError if no note had a field that was asked for, or if no note is left."""
        known = sorted(self._fields)
        faults = []
        for condition in self.conditions:
            if condition.name not in known:
                near = difflib.get_close_matches(condition.name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                message = f"{condition.shown}: no note has {condition.name!r}{hint}"
                faults.append(Fault(f"{message} There are: {', '.join(known)}"))
        if not faults and 0 in self.left:
            i = self.left.index(0)
            faults.append(Fault(f"{self.conditions[i].shown}: no note is left{self._hint(i)}"))
        if faults:
            raise InputError(faults)

    def _hint(self, i: int) -> str:
        """Return the values the field has, if they are few and short enough to be no note text."""
        values = self._values[i]
        if not 0 < len(values) <= MOST_VALUES or max(map(len, values)) > LONGEST_VALUE:
            return ""
        return f"; {self.conditions[i].name} is one of {', '.join(sorted(values))}"


def keep_where(corpus: Corpus, where: Sequence[str]) -> Corpus:
    """Keep the notes that meet all conditions ``NAME=VALUE`` on their metadata or case.

    >>> from rubricate import load_corpus
    >>> len(keep_where(load_corpus("open-notes"), ["split=test", "case=0,1"]).notes)
    40
    """
    if not where:
        return corpus
    chosen = NoteFilter([parse_condition(text) for text in where])
    kept = corpus.select(notes=chosen.keeps)
    chosen.check()
    return kept
