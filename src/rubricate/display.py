"""Numbers and counts as text, and small HTML tables for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

#: Lines of a table that a notebook shows; the whole is in the value itself.
MOST_LINES = 20
#: What stands for a number that is undefined.
DASH = "–"


def shown_number(value: float | None, form: str = ".3f") -> str:
    """Return a number as text, a dash where it is undefined.

    >>> shown_number(0.5), shown_number(float("nan")), shown_number(None)
    ('0.500', '–', '–')
    """
    return DASH if value is None or math.isnan(value) else format(value, form)


def counted(n: int, one: str, more: str = "") -> str:
    """Return a number with its word, in the plural where there are several.

    >>> counted(1, "case"), counted(2040, "note"), counted(2, "item waits", "items wait")
    ('1 case', '2,040 notes', '2 items wait')
    """
    return f"{n:,} {one if n == 1 else more or f'{one}s'}"


def shown_p(p: float | None) -> str:
    """Return a p value as papers print it: never as none at all.

    >>> shown_p(0.0312), shown_p(1e-6), shown_p(None)
    ('0.031', '<0.001', '–')
    """
    return "<0.001" if p is not None and p < 0.0005 else shown_number(p)


def shown_chance(chance: float) -> str:
    """Return a probability for people; what is nearly sure is not called certain.

    >>> shown_chance(0.954), shown_chance(0.9999)
    ('95%', 'over 99%')
    """
    return "over 99%" if chance > 0.99 else f"{chance:.0%}"


def table_html(header: Sequence[str], lines: Iterable[Sequence[object]], *, title: str = "") -> str:
    """Return a table in HTML; everything in it is escaped, and long ones are cut.

    >>> table_html(["a"], [["<b>"], [0.5]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr><tr><td>0.500...
    """
    rows = list(lines)
    body = "".join(f"<tr>{_cells(row, 'td')}</tr>" for row in rows[:MOST_LINES])
    more = len(rows) - MOST_LINES
    rest = f"<p>… and {more:,} more</p>" if more > 0 else ""
    head = f"<p><b>{escape(title)}</b></p>" if title else ""
    names = f"<thead><tr>{_cells(header, 'th')}</tr></thead>"
    return f"{head}<table>{names}<tbody>{body}</tbody></table>{rest}"


def _cells(values: Sequence[object], name: str) -> str:
    return "".join(f"<{name}>{escape(_text(value))}</{name}>" for value in values)


def _text(value: object) -> str:
    return shown_number(value) if value is None or isinstance(value, float) else str(value)
