"""Writing SVG: elements, text that fits, and drawings that say what they show."""

from __future__ import annotations

import math
import unicodedata
from html import escape

from rubricate.reports.plots.data import Labels

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
#: Fallback colours for drawings on their own; a page's style sheet overrides them by class.
INK, MUTED, GRID, SHADE = "#1c1c1c", "#5c5c5c", "#dcdcdc", "#f4f4f2"
_NARROW = set("iIljt.,:;'|!()[]{}·-fr ")
_WIDE = set("mwMW@%—…")


def number(value: float) -> str:
    """Return a coordinate with at most two decimals.

    Examples
    --------
    >>> number(12.0), number(3.14159)
    ('12', '3.14')
    """
    if not math.isfinite(value):
        raise ValueError(f"a coordinate must be finite, not {value}")
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: object) -> str:
    """Return one element; attribute names are written with ``_`` for ``-`` and ``class_``.

    Children are SVG already; attribute values are escaped; None leaves an attribute out.

    Examples
    --------
    >>> element("circle", cx=1.5, cy=2, class_="f0", stroke_width=None)
    '<circle cx="1.5" cy="2" class="f0"/>'
    """
    written = []
    for key, value in attributes.items():
        if value is None:
            continue
        text = number(float(value)) if isinstance(value, int | float) else str(value)
        written.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    inside = "".join(children)
    head = f"<{name}{''.join(written)}"
    return f"{head}>{inside}</{name}>" if inside else f"{head}/>"


def tooltip(text: str) -> str:
    """Return what is shown when a mark is pointed at."""
    return f"<title>{_clean(text)}</title>"


def label(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: float = 12,
    muted: bool = False,
    bold: bool = False,
) -> str:
    """Return a text at this place; ``y`` is its baseline."""
    return element(
        "text", _clean(text), x=x, y=y, font_size=size,
        text_anchor=None if anchor == "start" else anchor,
        fill=MUTED if muted else INK, class_="muted" if muted else "ink",
        font_weight="600" if bold else None,
    )  # fmt: skip


def short_label(
    x: float, y: float, text: str, width: float, *, anchor: str = "start", size: float = 12,
    bold: bool = False,
) -> str:  # fmt: skip
    """Return a text cut to a width, with the whole of it as tooltip where it was cut."""
    shown = shorten(text, width, size)
    drawn = label(x, y, shown, anchor=anchor, size=size, bold=bold)
    return drawn if shown == text else element("g", tooltip(text), drawn)


def line(
    x1: float, y1: float, x2: float, y2: float, *,
    stroke: str = GRID, class_: str = "grid", width: float = 1, dash: str | None = None,
) -> str:  # fmt: skip
    """Return a straight line."""
    return element(
        "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, class_=class_, stroke_width=width,
        stroke_dasharray=dash,
    )  # fmt: skip


def drawing(width: float, height: float, body: str, labels: Labels) -> str:
    """Return a whole SVG document that stands alone and can be put into a page.

    Examples
    --------
    >>> drawing(10, 10, "", Labels("a < b")).startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    True
    """
    title, description = labels.title, labels.description
    spoken = f"{title}. {description}" if description else title
    return element(
        "svg",
        f"<title>{_clean(title)}</title>",
        f"<desc>{_clean(description)}</desc>" if description else "",
        body,
        xmlns="http://www.w3.org/2000/svg", class_="plot", role="img",
        viewBox=f"0 0 {number(width)} {number(height)}", width=width, height=height,
        font_family=FONT, aria_label=_clean(spoken, escaped=False),
    )  # fmt: skip


def text_width(text: str, size: float = 12) -> float:
    """Estimate how wide a text is in a common sans-serif type.

    Examples
    --------
    >>> text_width("mm") > text_width("ii")
    True
    """
    return size * sum(_em(character) for character in text)


def _em(character: str) -> float:
    if character in _NARROW:
        return 0.37
    if character in _WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character):
        return 0.0
    return 0.71 if character.isupper() else 0.61


def shorten(text: str, width: float, size: float = 12) -> str:
    """Cut a text to a width, ending in an ellipsis where something is cut.

    Examples
    --------
    >>> shorten("Shortness of breath with episodes", 90)
    'Shortness of…'
    """
    if text_width(text, size) <= width:
        return text
    kept, room = "", width - text_width("…", size)
    for character in text:
        room -= text_width(character, size)
        if room < 0:
            break
        kept += character
    return kept.rstrip() + "…"


def wrap(text: str, width: float, size: float = 12, max_lines: int = 3) -> list[str]:
    """Break a text into lines of a width; the last one is cut where there is more.

    Examples
    --------
    >>> wrap("Exertional chest tightness", 70, max_lines=2)
    ['Exertional', 'chest tig…']
    """
    words, lines = text.split(), [""]
    for place, word in enumerate(words):
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or text_width(longer, size) <= width:
            lines[-1] = longer
        elif len(lines) < max_lines:
            lines.append(word)
        else:
            lines[-1] = " ".join([lines[-1], *words[place:]])
            break
    return [shorten(each, width, size) for each in lines]


def _clean(text: str, *, escaped: bool = True) -> str:
    """Drop what XML cannot hold, and escape the rest."""
    kept = "".join(
        c for c in text if c in "\t\n" or (ord(c) >= 0x20 and not 0xD800 <= ord(c) <= 0xDFFF
                                           and ord(c) not in (0xFFFE, 0xFFFF))
    )  # fmt: skip
    return escape(kept) if escaped else kept
