"""Reasons: a code with what was said, and the code in words for people.

Rules give codes and data; what was decided is told by the code. Only here is it put in words, by
``reasons.tsv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import NamedTuple

from rubricate.knowledge.rows import check_rows, table_rows


class Reason(NamedTuple):
    """A reason for or against a feature: a code, and what the words say where that is a value.

    ``also`` is a second value, of the few reasons that have two.
    """

    code: str
    said: str = ""
    also: str = ""

    def __repr__(self) -> str:
        """Return the code and the values that it has."""
        more = f", also={self.also!r}" if self.also else ""
        return f"Reason(code={self.code!r}, said={self.said!r}{more})"

    @property
    def is_denial(self) -> bool:
        """True if the words deny what should be there."""
        return self.code in _DENIALS

    @property
    def quotes(self) -> bool:
        """True if ``said`` are words of the note, which may stand beside those found."""
        return bool(self.said) and reason_table()[self.code].quotes


#: Rules that are switched off, and those that spoke, while somebody measures what a rule earns.
_OFF: ContextVar[frozenset[str]] = ContextVar("off", default=frozenset())
_SPOKE: ContextVar[set[str] | None] = ContextVar("spoke", default=None)


def is_on(rule: str) -> bool:
    """Tell whether a rule counts that has something to say; only ablation switches rules off.

    >>> with switched_off("side.other"):
    ...     is_on("side.other"), is_on("side.site")
    (False, True)
    """
    if (spoke := _SPOKE.get()) is not None:
        spoke.add(rule)
    return rule not in _OFF.get()


@contextmanager
def switched_off(*rules: str) -> Iterator[None]:
    """Switch rules off, by their names."""
    token = _OFF.set(_OFF.get() | frozenset(rules))
    try:
        yield
    finally:
        _OFF.reset(token)


@contextmanager
def listening() -> Iterator[set[str]]:
    """Keep the names of the rules that have something to say."""
    spoke: set[str] = set()
    token = _SPOKE.set(spoke)
    try:
        yield spoke
    finally:
        _SPOKE.reset(token)


_DENIALS = {"polarity.denied", "polarity.minus", "diagnosis.denied"}


class ReasonRow(NamedTuple):
    """The words for a code, in which ``{said}`` stands for what was said."""

    words: str
    quotes: bool


@cache
def reason_table() -> dict[str, ReasonRow]:
    """Return the codes that rules may give."""
    rows = table_rows("reasons.tsv", folder="rules")
    check_rows("reasons.tsv", rows, 1, _fault)
    return {code: ReasonRow(words, quotes == "yes") for code, words, quotes, _ in rows}


def _fault(row: list[str]) -> str | None:
    if len(row) != 4:
        return "need four cells: code, words, quotes, why"
    code, words, quotes, _ = row
    if quotes not in ("yes", "no"):
        return "quotes: need yes or no"
    if quotes == "yes" and "{said}" not in words:
        return "quotes what is not in its words: need {said}"
    return None if code.count(".") == 1 else "code: need family.name"


def in_words(*reasons: Reason) -> str:
    """Return reasons in a few words.

    >>> in_words(Reason("side.other", "left")), in_words(Reason("polarity.denied"))
    ('says left', 'denied')
    >>> in_words(Reason("asked.answered"), Reason("polarity.denied"))
    'answered: denied'
    """
    text, table, joint = "", reason_table(), ""
    for reason in reasons:
        form = table[reason.code].words
        text += joint + form.format(said=reason.said, also=reason.also)
        joint = " " if form.endswith(":") else "; "
    return text
