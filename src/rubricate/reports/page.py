"""The shell of every page, one file that needs nothing else, and its tables.

In tables numbers stand to the right, intervals under their values, and headers sort.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from rubricate.display import DASH, shown_number, shown_p
from rubricate.files import packaged_text
from rubricate.reports.plots.data import Point


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to an address."""

    words: str
    address: str


#: Plain text, or text with links.
Text = str | Sequence[str | Link]


def text_html(text: Text) -> str:
    """Return text as safe HTML.

    >>> text_html(["see ", Link("a<b", "#x&y"), "."])
    'see <a href="#x&amp;y">a&lt;b</a>.'
    """
    if isinstance(text, str):
        return escape(text)
    return "".join(
        escape(part)
        if isinstance(part, str)
        else f'<a href="{escape(part.address)}">{escape(part.words)}</a>'
        for part in text
    )


def plain_text(text: Text) -> str:
    """Return the words of a text.

    >>> plain_text(["see ", Link("a", "#x"), "."])
    'see a.'
    """
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else part.words for part in text)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell whose look and order differ; what is ``under`` it stands in small type."""

    text: Text
    sort: float | str = ""
    number: bool = False
    under: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """Placeholder for text that a person must still write."""

    text: str


#: What a line of a table may hold.
Value = str | int | float | None | Point | Cell | Open


def p_cell(p: float | None) -> Cell | None:
    """Return a cell with a p value, in the order of the values.

    >>> p_cell(1e-9), p_cell(None)
    (Cell(text='<0.001', sort=1e-09, number=True, under=''), None)
    """
    if p is None or math.isnan(p):
        return None
    return Cell(shown_p(p), p, number=True)


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
        all(
            value.number if isinstance(value, Cell) else not isinstance(value, str | Open)
            for value in (line[i] for line in body + foot)
            if value not in (None, "")
        )
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

    >>> mean_sd(0.576, 0.301).text, mean_sd(None, None).text
    ('0.576 (0.301)', '–')
    """
    if mean is None or not math.isfinite(mean):
        return Cell(DASH, float("nan"), number=True)
    return Cell(f"{mean:,.3f} ({number_text(sd)})", mean, number=True)


def one_decimal(value: float | None) -> Cell | None:
    """Return a number with one decimal, where there is any."""
    return None if value is None else Cell(f"{value:.1f}", value, number=True)


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
        under = f'<span class="ci">{escape(value.under)}</span>' if value.under else ""
        return text_html(value.text) + under, value.sort
    if isinstance(value, Open):
        return f"<mark>OPEN</mark> {escape(value.text)}", ""
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


def _class(right: bool) -> str:
    return ' class="n"' if right else ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page."""

    anchor: str
    title: str
    body: str


def render_page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: str = "",
    warnings: Sequence[Text] = (),
    footer: str = "",
) -> str:
    """Return a whole HTML page: no network, no fonts, no files beside it.

    Style and script are inside the page, and a content security policy allows nothing else: the
    one script is named by its hash, so that no other can run.

    >>> page = render_page("A & B", [Section("one", "First", paragraph("1 < 2"))])
    >>> "A &amp; B" in page, "1 &lt; 2" in page, "http-equiv" in page
    (True, True, True)
    """
    from markupsafe import Markup

    return fill_template(
        "page.html",
        title=title,
        style=template_text("report.css"),
        script=packaged_text("reports", "built", "report.js"),
        lead=lead,
        warnings=[Markup(text_html(warning)) for warning in warnings],
        footer=footer,
        sections=[(s.anchor, s.title, Markup(s.body)) for s in sections],
    )


def fill_template(name: str, *, title: str, style: str, script: str, **values: Any) -> str:
    """Return a page with its style and script inside, each known by its hash."""
    from markupsafe import Markup

    page = _environment().get_template(name)
    given = {"style": style, "script": script}
    inside = {kind: Markup(text) for kind, text in given.items()}
    hashes = {
        f"{kind}_hash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind, text in given.items()
    }
    return str(page.render(title=title, **inside, **hashes, **values))


def paragraph(text: Text, *, class_: str = "") -> str:
    """Return an escaped paragraph.

    >>> paragraph("1 < 2")
    '<p>1 &lt; 2</p>'
    """
    named = f' class="{escape(class_)}"' if class_ else ""
    return f"<p{named}>{text_html(text)}</p>"


def figure(svg: str, caption: str) -> str:
    """Return a figure with a caption; wide drawings scroll inside it on narrow screens."""
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="figure">{svg}</div>'
        + (f"<figcaption>{escape(caption)}</figcaption>" if caption else "")
        + "</figure>"
    )


def folded(summary: str, body: str, *, is_open: bool = False, in_print: bool = False) -> str:
    """Return a part that opens when asked; ``body`` is safe HTML.

    With ``in_print`` it is opened for printing, too.

    >>> folded("More", paragraph("words"))
    '<details><summary>More</summary><p>words</p></details>'
    """
    flags = (' class="printed"' if in_print else "") + (" open" if is_open else "")
    return f"<details{flags}><summary>{escape(summary)}</summary>{body}</details>"


def facts_table(facts: Mapping[str, object], *, caption: str = "") -> str:
    """Return names and values, one line each.

    >>> "<td>2000</td>" in facts_table({"resamples": "2000"})
    True
    """
    lines = [[name, str(value)] for name, value in facts.items()]
    return html_table(["what", "value"], lines, caption=caption, sortable=False).replace(
        "<table", '<table class="facts"', 1
    )


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("rubricate.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def template_text(name: str) -> str:
    """Return a file of the templates' folder."""
    return packaged_text("reports", "templates", name)
