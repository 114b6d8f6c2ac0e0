"""Shapes and words in SVG, and the colours, dashes and marks that tell series apart."""

from __future__ import annotations

import math
import unicodedata
from html import escape
from typing import NamedTuple

from rubricate.reports.plots.data import Labels

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
#: Fallback colours for drawings on their own; a page's style sheet overrides them by class.
INK, MUTED, GRID, SHADE = "#1c1c1c", "#5c5c5c", "#dcdcdc", "#f4f4f2"
_NARROW = set("iIljt.,:;'|!()[]{}·-fr ")
_WIDE = set("mwMW@%—…")


def number(value: float) -> str:
    """Return a coordinate with at most two decimals.

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
    """Return the tooltip of a mark."""
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

    >>> text_width("mm") > text_width("ii")
    True
    """
    width = 0.0
    for character in text:
        if character in _NARROW:
            width += 0.37
        elif character in _WIDE or unicodedata.east_asian_width(character) in "WF":
            width += 1.0
        elif not unicodedata.combining(character):
            width += 0.71 if character.isupper() else 0.61
    return size * width


def shorten(text: str, width: float, size: float = 12) -> str:
    """Cut a text to a width, ending in an ellipsis where something is cut.

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


class Look(NamedTuple):
    """The look of a series: colour, dashes, mark and hatching, and its CSS classes.

    ``hatch`` has the angle and the gap of lines, None for a plain fill.
    """

    colour: str
    dash: str | None
    shape: str
    hatch: tuple[float, float] | None
    fill_class: str
    stroke_class: str


#: Okabe and Ito's colours (Color Universal Design, 2008), those that show on white and on black.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A6A00", "#8C8C8C")
_DASHES = (None, "7 4", "2 3", "9 3 2 3", "4 2", "12 4", "1 2", "6 2 1 2")
_SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down", "plus", "bar")
_HATCHES = (None, (45, 6), (-45, 6), (0, 5), (90, 5), (45, 3.5), (-45, 3.5), (0, 3))
LOOKS = tuple(
    Look(*one, f"f{place}", f"k{place}")
    for place, one in enumerate(zip(_COLOURS, _DASHES, _SHAPES, _HATCHES, strict=True))
)


def look(place: int) -> Look:
    """Return the look of a series; looks repeat after eight.

    >>> look(8).colour == look(0).colour
    True
    """
    return LOOKS[place % len(LOOKS)]


def shape(place: int, x: float, y: float, *children: str, radius: float = 4.5) -> str:
    """Return the mark of a series at this place, filled in its colour.

    >>> shape(0, 5, 5)
    '<circle cx="5" cy="5" r="4.5" fill="#0072B2" class="f0"/>'
    """
    own = look(place)
    fill, class_ = own.colour, own.fill_class
    if own.shape == "circle":
        return element("circle", *children, cx=x, cy=y, r=radius, fill=fill, class_=class_)
    outline = _outline(own.shape, radius)
    points = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in outline)
    return element("polygon", *children, points=points, fill=fill, class_=class_)


def _outline(kind: str, r: float) -> list[tuple[float, float]]:
    if kind == "square":
        side = r * 0.9
        return [(-side, -side), (side, -side), (side, side), (-side, side)]
    if kind in {"triangle", "down"}:
        sign = 1 if kind == "triangle" else -1
        return [(0, -1.2 * r * sign), (1.1 * r, 0.85 * r * sign), (-1.1 * r, 0.85 * r * sign)]
    if kind == "diamond":
        return [(0, -1.3 * r), (1.3 * r, 0), (0, 1.3 * r), (-1.3 * r, 0)]
    if kind == "bar":
        return [(-0.4 * r, -1.3 * r), (0.4 * r, -1.3 * r), (0.4 * r, 1.3 * r), (-0.4 * r, 1.3 * r)]
    a, b = 0.38 * r, 1.2 * r
    plus = [(-a, -b), (a, -b), (a, -a), (b, -a), (b, a), (a, a),
            (a, b), (-a, b), (-a, a), (-b, a), (-b, -a), (-a, -a)]  # fmt: skip
    if kind == "plus":
        return plus
    half = math.sqrt(0.5)
    return [(half * (u - v), half * (u + v)) for u, v in plus]


def whisker(place: int, at: float, low: float, high: float, *, lying: bool = False) -> str:
    """Return the interval of a series, upright at x or lying at y.

    >>> whisker(0, 5, 10, 2).count("M"), whisker(0, 5, 10, 20, lying=True).count("M")
    (3, 1)
    """
    own = look(place)
    return interval(at, low, high, lying=lying, stroke=own.colour, class_=own.stroke_class)


def interval(at: float, low: float, high: float, *, lying: bool, stroke: str, class_: str) -> str:
    """Return a line from limit to limit; an upright one has a short bar at both ends.

    Lying ones stand below each other, where bars of neighbours would run together.
    """
    if lying:
        path = f"M{number(low)} {number(at)}H{number(high)}"
    else:
        ends = "".join(f"M{number(at - 3)} {number(y)}h6" for y in (low, high))
        path = f"M{number(at)} {number(low)}V{number(high)}{ends}"
    return element("path", d=path, fill="none", stroke=stroke, class_=class_, stroke_width=1.6)


def hatched(place: int, x: float, y: float, width: float, height: float, *children: str) -> str:
    """Return a rectangle in the colour and hatching of a series.

    The lines are drawn one by one: a pattern would need an id, and ids clash inside a page.
    """
    own = look(place)
    box = element(
        "rect", *children, x=x, y=y, width=max(width, 0), height=max(height, 0),
        fill=own.colour, fill_opacity=0.85 if own.hatch is None else 0.4,
        stroke=own.colour, class_=f"{own.fill_class} {own.stroke_class}",
    )  # fmt: skip
    return box + hatching(own.hatch, (x, y, width, height))


def hatching(
    hatch: tuple[float, float] | None,
    box: tuple[float, float, float, float],
    *,
    stroke: str = "#fff",
    class_: str = "hatch",
) -> str:
    """Return hatching lines inside a rectangle (left, top, width, height).

    >>> hatching((0, 5), (0, 0, 10, 10)).count("M")
    1
    >>> hatching(None, (0, 0, 10, 10))
    ''
    """
    x, y, width, height = box
    if hatch is None or width <= 0 or height <= 0:
        return ""
    angle, gap = hatch
    # Lines with normal (nx, ny): every gap, the part inside the rectangle
    nx, ny = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    corners = [nx * u + ny * v for u in (x, x + width) for v in (y, y + height)]
    moves, offset = [], math.ceil(min(corners) / gap) * gap
    while offset < max(corners):
        ends = _clip(nx, ny, offset, (x, y, x + width, y + height))
        if ends is not None:
            (u1, v1), (u2, v2) = ends
            moves.append(f"M{number(u1)} {number(v1)}L{number(u2)} {number(v2)}")
        offset += gap
    return element(
        "path", d="".join(moves), stroke=stroke, stroke_width=1.2, class_=class_, fill="none"
    ) if moves else ""  # fmt: skip


def _clip(
    nx: float, ny: float, offset: float, box: tuple[float, float, float, float]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the points at which the line nx x + ny y = offset enters and leaves a box."""
    left, top, right, bottom = box
    found: list[tuple[float, float]] = []
    if abs(ny) > 1e-9:
        for u in (left, right):
            v = (offset - nx * u) / ny
            if top - 1e-9 <= v <= bottom + 1e-9:
                found.append((u, v))
    if abs(nx) > 1e-9:
        for v in (top, bottom):
            u = (offset - ny * v) / nx
            if left - 1e-9 <= u <= right + 1e-9:
                found.append((u, v))
    if len(found) < 2:
        return None
    ends = min(found), max(found)
    on_edge = all(abs(e[1] - top) < 1e-9 for e in ends) or all(
        abs(e[1] - bottom) < 1e-9 for e in ends
    )
    return None if ends[0] == ends[1] or on_edge else ends
