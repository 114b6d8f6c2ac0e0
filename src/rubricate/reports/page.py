"""The shell of every page: one file that needs nothing else, on screen and on paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from rubricate.files import packaged_text, whole_output
from rubricate.progress import Progress, silent, watched
from rubricate.reports.tables import html_table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page."""

    anchor: str
    title: str
    body: str


def make_sections(
    parts: Sequence[tuple[str, str, Callable[[], str]]], progress: Progress = silent
) -> list[Section]:
    """Make sections one after the other from (anchor, title, body); empty ones are left out.

    >>> [s.anchor for s in make_sections([("a", "A", lambda: "x"), ("b", "B", lambda: "")])]
    ['a']
    """
    made = [
        Section(anchor, title, body())
        for anchor, title, body in watched(parts, progress, "report", len(parts))
    ]
    return [section for section in made if section.body]


def render_page(
    title: str,
    sections: Sequence[Section],
    *,
    lead: str = "",
    warnings: Sequence[str] = (),
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
        script=template_text("report.js"),
        lead=lead,
        warnings=list(warnings),
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


def write_report(folder: Path, page: str, *, overwrite: bool = False) -> Path:
    """Write a page to ``folder/index.html`` and return that path; nothing else is touched.

    >>> import tempfile
    >>> write_report(Path(tempfile.mkdtemp()) / "report", render_page("Empty", [])).name
    'index.html'
    """
    target = folder / "index.html"
    with whole_output(target, overwrite=overwrite) as place:
        place.write_text(page, encoding="utf-8", newline="")
    return target


def paragraph(text: str, *, class_: str = "") -> str:
    """Return an escaped paragraph.

    >>> paragraph("1 < 2")
    '<p>1 &lt; 2</p>'
    """
    named = f' class="{escape(class_)}"' if class_ else ""
    return f"<p{named}>{escape(text)}</p>"


def figure(svg: str, caption: str) -> str:
    """Return a figure with a caption; wide drawings scroll inside it on narrow screens."""
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="figure">{svg}</div>'
        + (f"<figcaption>{escape(caption)}</figcaption>" if caption else "")
        + "</figure>"
    )


def figures(svgs: Sequence[str], caption: str) -> str:
    """Return drawings that belong together, each on its own, the caption under the last."""
    if not svgs:
        return ""
    *first, last = svgs
    return "".join(figure(svg, "") for svg in first) + figure(last, caption)


def figure_row(parts: Sequence[str]) -> str:
    """Return small figures beside each other."""
    return f'<div class="row">{"".join(parts)}</div>'


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
