"""The page that shows one note at a time, and the scripts that hand it the notes."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple, TypedDict
from urllib.parse import quote, urlencode

from rubricate.rubric import Feature
from rubricate.run import ItemResult, NoteResult, spans_text
from rubricate.run.evidence import fragments_text
from rubricate.run.results import FOR_REVIEW

VIEWER = "report/notes.html"
#: Notes in one file; each is read when one of its notes is looked at.
CHUNK = 100
#: What the viewer filters by, beside what the checks say; `scoring_notes.js` has the same numbers.
CORRECTED, FAILED, UNLIKE = 1, 16, 32
_INDEX = "the index goes here"
#: What the index says of each item, a digit for each; `scoring_notes.js` has the same.
_BITS = {"stated": "1", "contradicted": "2", "not mentioned": "0", None: "0"}


def notes_link(words: str, **filters: str) -> str:
    """Return a link to the viewer with these filters set; everything is escaped.

    Examples
    --------
    >>> notes_link("a<b", n="x&y")
    '<a href="report/notes.html#n=x%26y">a&lt;b</a>'
    """
    address = f"{VIEWER}#{urlencode(filters, quote_via=quote)}" if filters else VIEWER
    return f'<a href="{escape(address)}">{escape(words)}</a>'


class ShownNote(NamedTuple):
    """A note as the viewer shows it, but for what is known when all notes were seen."""

    note: str
    text: str
    #: Its entry of the index, and its items, as JSON.
    entry: str
    items: str
    flags: int
    why_not_scored: str


def shown_note(result: NoteResult, items: Sequence[ItemResult], case: int, text: str) -> ShownNote:
    """Return a note ready for the viewer, with the items on which there is a decision."""
    total = result.total
    score, most = (total.score, total.maximum) if total else (math.nan, math.nan)
    bits = "".join(_BITS[item.outcome] for item in items)
    unlike = result.status == FOR_REVIEW
    review = result.n_review if unlike else sum(bool(item.review_reason) for item in items)
    entry = [result.note, case, _short(score), _short(most), bits, review]
    flags = CORRECTED * any(item.correction for item in items)
    return ShownNote(
        result.note,
        text,
        safe_json(entry),
        safe_json([_item(item) for item in items]),
        flags + (UNLIKE if unlike else FAILED * bool(result.why_not_scored)),
        result.why_not_scored,
    )


def _item(item: ItemResult) -> list[int | float | str | None]:
    evidence, corrected = item.evidence, item.correction
    signed = [corrected.by, corrected.at, corrected.comment] if corrected else ["", "", ""]
    spans = spans_text(evidence.spans) if item.found else ""
    sure, said = item.certainty, evidence.against
    against = [fragments_text(said.spans), said.reason] if said and not item.found else ["", ""]
    return [int(bool(item.found)), None if sure is None else round(sure, 4), spans,
            evidence.reason, item.review_reason, *signed, *against]  # fmt: skip


def index_entry(note: ShownNote, flags: int) -> str:
    """Return the note's entry of the index, with what the checks say of it."""
    return f"{note.entry[:-1]},{note.flags | flags}]"


def chunk_script(number: int, notes: Iterable[tuple[ShownNote, Sequence[str]]]) -> str:
    """Return the script that hands some notes to the viewer: text, items and remarks."""
    content = ",".join(
        f"[{safe_json(note.text)},{note.items},"
        f"{safe_json([*([note.why_not_scored] if note.why_not_scored else []), *remarks])}]"
        for note, remarks in notes
    )
    return f"rubricateChunk({number},[{content}]);\n"


class ShownCase(TypedDict):
    """A case as the index has it."""

    case: str
    title: str
    features: list[list[str]]


def viewer_frame(
    title: str, rubrics: Mapping[str, Iterable[Feature]], cases: Iterable[str]
) -> tuple[str, str]:
    """Return the page before and after the entries of the index."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    script = _template_text("scoring_notes.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    style = _template_text("report.css") + _template_text("scoring_notes.css")
    shell = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        _template_text("scoring_notes.html")
    )
    shown: list[ShownCase] = [
        {
            "case": case,
            "title": f"Case {case}",
            "features": [[feature.id, feature.text] for feature in rubrics.get(case, ())],
        }
        for case in cases
    ]
    index = safe_json({"title": title, "size": CHUNK, "cases": shown, "notes": []})
    before, after = index[:-2], index[-2:]
    page = shell.render(
        title=title,
        style=Markup(style),
        script=Markup(script),
        digest=digest,
        index=Markup(_INDEX),
    )
    head, tail = page.split(_INDEX)
    return head + before, after + tail


def _template_text(name: str) -> str:
    from importlib.resources import files

    return (files("rubricate.reports") / "templates" / name).read_text(encoding="utf-8")


def _short(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else round(value, 4)


def safe_json(value: object) -> str:
    r"""Return JSON that may stand in a script: no tag can begin in it, and it is ASCII.

    Examples
    --------
    >>> safe_json("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")
