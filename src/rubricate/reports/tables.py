"""Tables in HTML: numbers to the right, intervals under their values, headers that sort."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rubricate.display import DASH, shown_number
from rubricate.reports.plots.data import Point


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell whose look and order differ."""

    html: str
    sort: float | str = ""
    number: bool = False


#: What a line of a table may hold.
Value = str | int | float | None | Point | Cell


def html_table(
    header: Sequence[str],
    lines: Iterable[Sequence[Value]],
    *,
    caption: str = "",
    footer: Iterable[Sequence[Value]] = (),
    sortable: bool = True,
    empty: str = "Nothing to show.",
) -> str:
    """Return a table; every text in it is escaped.

    >>> table = html_table(["case", "F1"], [["<0>", Point(0.5, 0.4, 0.6)]])
    >>> "&lt;0&gt;" in table, '0.500<span class="ci">[0.400, 0.600]</span>' in table
    (True, True)
    """
    body, foot = [list(line) for line in lines], [list(line) for line in footer]
    if not body and not foot:
        return f'<p class="empty">{escape(empty)}</p>'
    right = [
        all(_is_number(line[i]) for line in body + foot if line[i] not in (None, ""))
        for i in range(len(header))
    ]
    heads = "".join(
        f'<th scope="col"{_class(to_right)}>{escape(name)}</th>'
        for name, to_right in zip(header, right, strict=True)
    )
    parts = [
        '<div class="scroll" tabindex="0" role="region"'
        f' aria-label="{escape(caption or "table")}"><table{" data-sort" if sortable else ""}>',
        f"<caption><span>{escape(caption)}</span></caption>" if caption else "",
        f"<thead><tr>{heads}</tr></thead><tbody>",
        *(_line(line, right) for line in body),
        "</tbody>",
    ]
    if foot:
        parts += ["<tfoot>", *(_line(line, right) for line in foot), "</tfoot>"]
    return "".join(parts) + "</table></div>"


def number_text(value: float | int | None) -> str:
    """Return a number as tables show it.

    >>> number_text(1234), number_text(0.5), number_text(float("nan")), number_text(None)
    ('1,234', '0.500', '–', '–')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return DASH if value is not None and math.isinf(value) else shown_number(value, ",.3f")


def mean_sd(mean: float | None, sd: float | None) -> Cell:
    """Return ``mean (SD)``, as papers print it.

    >>> mean_sd(0.576, 0.301).html, mean_sd(None, None).html
    ('0.576 (0.301)', '–')
    """
    if mean is None or not math.isfinite(mean):
        return Cell(DASH, float("nan"), number=True)
    return Cell(f"{mean:,.3f} ({number_text(sd)})", mean, number=True)


def counted(n: int, word: str) -> str:
    """Return a number with its word, in the plural where there are several.

    >>> counted(1, "case"), counted(2040, "note")
    ('1 case', '2,040 notes')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share in per cent.

    >>> percent(0.1234), percent(float("nan"))
    ('12.3 %', '–')
    """
    return f"{100 * share:.1f} %" if math.isfinite(share) else DASH


def _line(line: Sequence[Value], right: Sequence[bool]) -> str:
    cells = []
    for place, value in enumerate(line):
        html, sort = _shown(value)
        key = "" if sort is None else f' data-v="{escape(str(sort))}"'
        if place == 0:
            cells.append(f'<th scope="row"{_class(right[0])}{key}>{html}</th>')
        else:
            cells.append(f"<td{_class(right[place])}{key}>{html}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _shown(value: Value) -> tuple[str, Any]:
    """Return HTML and what to sort by, where that is not the text itself."""
    if isinstance(value, Cell):
        return value.html, value.sort
    if isinstance(value, Point):
        if not value.is_defined:
            return DASH, "nan"
        interval = f"[{value.low:.3f}, {value.high:.3f}]" if value.has_interval else ""
        under = f'<span class="ci">{interval}</span>' if interval else ""
        return f"{value.value:.3f}{under}", round(value.value, 6)
    if isinstance(value, str):
        return escape(value), None
    known = value is not None and math.isfinite(value)
    return number_text(value), value if known else "nan"


def _is_number(value: Value) -> bool:
    return value.number if isinstance(value, Cell) else not isinstance(value, str)


def _class(right: bool) -> str:
    return ' class="n"' if right else ""
