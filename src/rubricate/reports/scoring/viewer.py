"""The page that shows one note at a time, and the scripts that hand it the notes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple, TypedDict
from urllib.parse import quote, urlencode

from rubricate.reports.page import fill_template, template_text
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
#: Notes that one line names; the viewer has all of them.
_NAMED = 8
#: What the index says of each item, a sign for each; `scoring_notes.js` has the same.
_BITS = {"stated": "1", "contradicted": "2", "not mentioned": "0", None: "-"}


def case_title(case: str) -> str:
    """Return what pages call a case.

    Examples
    --------
    >>> case_title("1"), case_title("Case 1"), case_title("")
    ('Case 1', 'Case 1', 'No case')
    """
    if not case.strip():
        return "No case"
    return case if case.casefold().startswith("case") else f"Case {case}"


def notes_link(words: str, **filters: str) -> str:
    """Return a link to the viewer with these filters set; everything is escaped.

    Examples
    --------
    >>> notes_link("a<b", n="x&y")
    '<a href="report/notes.html#n=x%26y">a&lt;b</a>'
    """
    address = f"{VIEWER}#{urlencode(filters, quote_via=quote)}" if filters else VIEWER
    return f'<a href="{escape(address)}">{escape(words)}</a>'


def counted(n: int, one: str, more: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "note", "notes"), counted(1200, "note", "notes")
    ('1 note', '1,200 notes')
    """
    return f"{n:,} {one if n == 1 else more}"


def named_notes(words: str, notes: Sequence[str], show: str, after: str = ".") -> str:
    """Return words with the notes that they are about, as links that are safe in a page.

    Examples
    --------
    >>> str(named_notes("One note is odd", ["a<b"], "failed"))
    'One note is odd: <a href="report/notes.html#n=a%3Cb">a&lt;b</a>.'
    """
    from markupsafe import Markup

    links = [notes_link(note, n=note) for note in notes[:_NAMED]]
    if len(notes) > _NAMED:
        links.append(notes_link(f"{len(notes) - _NAMED:,} more", show=show))
    return Markup(f"{escape(words)}: {', '.join(links)}{escape(after)}")


class ShownNote(NamedTuple):
    """A note as the viewer shows it, but for what is known when all notes were seen."""

    note: str
    text: str
    #: Its entry of the index, and its items, as JSON.
    entry: str
    items: str
    flags: int
    why_not_scored: str


def shown_note(result: NoteResult, case: int, text: str) -> ShownNote:
    """Return a note ready for the viewer."""
    items, total = result.items, result.total
    score, most = (total.score, total.maximum) if total else (math.nan, math.nan)
    bits = "".join(_BITS[item.outcome] for item in items)
    unlike = result.status == FOR_REVIEW
    entry = [result.note, case, _short(score), _short(most), bits, result.n_review]
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
    found = None if item.found is None else int(item.found)
    return [found, None if sure is None else round(sure, 4), spans,
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
    features: list[list[str | float]]


def viewer_frame(
    title: str, rubrics: Mapping[str, Iterable[Feature]], cases: Iterable[str], run: str
) -> tuple[str, str]:
    """Return the page before and after the entries of the index.

    The browser keeps decisions under ``run``.
    """
    from markupsafe import Markup

    shown: list[ShownCase] = [
        {
            "case": case,
            "title": case_title(case),
            "features": [[f.id, f.text, f.weight, f.group] for f in rubrics.get(case, ())],
        }
        for case in cases
    ]
    values = {"title": title, "run": run, "size": CHUNK, "cases": shown, "notes": []}
    index = safe_json(values)
    before, after = index[:-2], index[-2:]
    page = fill_template(
        "scoring_notes.html",
        title=title,
        style=template_text("report.css") + template_text("scoring_notes.css"),
        script=template_text("scoring_review.js") + template_text("scoring_notes.js"),
        index=Markup(_INDEX),
    )
    head, tail = page.split(_INDEX)
    return head + before, after + tail


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
