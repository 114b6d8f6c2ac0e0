"""The report of a scoring run: a page about the cohort, and a viewer with every note."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rubricate.corpus import Note
from rubricate.files import whole_output
from rubricate.reports.scoring_cohort import cohort_page
from rubricate.reports.scoring_data import Cohort, ItemLine, gather_cohort

#: Notes in one file; each is read when one of its notes is looked at.
CHUNK = 100
#: What the viewer filters by; `scoring_notes.js` has the same numbers.
_CORRECTED, _CHANGED, _COPIED, _GAMING, _FAILED = 1, 2, 4, 8, 16


def write_scoring_report(
    folder: str | Path,
    notes: Iterable[Note],
    *,
    previous: str | Path | None = None,
    policy: str | Path | None = None,
    title: str = "Scores",
    overwrite: bool = False,
) -> Path:
    r"""Write ``report.html`` and the folder ``report`` beside the files of a finished run.

    ``report.html`` is about the cohort; ``report/notes.html`` shows every note with its evidence.
    Both open from a file, without a server and without the network. Notes lie in files of 100,
    read when they are looked at, so that ten thousand stay usable.

    Parameters
    ----------
    folder : str or Path
        What ``rubricate score`` wrote: ``scores.csv``, ``items.csv``, and ``run.json`` if it is
        there.
    notes : iterable of Note
        The notes that were scored.
    previous : str or Path, optional
        Folder of an earlier run, to show what changed.
    policy : str or Path, optional
        A ``policy.json``, to show review against error.
    title : str
        Heading of both pages.
    overwrite : bool
        Replace an older report.

    Returns
    -------
    Path
        ``report.html``.

    Raises
    ------
    InputError
        If the files are wrong, or belong to other notes.
    OutputExistsError
        If there is a report and ``overwrite`` is false.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> scores, items = folder / "scores.csv", folder / "items.csv"
    >>> _ = scores.write_text("note,case,score,maximum\nn1,c,1,1\n", encoding="utf-8")
    >>> _ = items.write_text("note,feature,found,spans\nn1,f,yes,0 8\n", encoding="utf-8")
    >>> write_scoring_report(folder, [Note("n1", "c", "no fever")]).name
    'report.html'
    >>> sorted(path.name for path in (folder / "report").iterdir())
    ['notes', 'notes.html']
    """
    place = Path(folder)
    cohort = gather_cohort(
        place,
        notes,
        previous=None if previous is None else Path(previous),
        policy=None if policy is None else Path(policy),
    )
    with whole_output(place / "report.html", overwrite=overwrite) as target:
        target.write_text(cohort_page(cohort, title=title), encoding="utf-8", newline="")
        viewer = target.parent / "report"
        (viewer / "notes").mkdir(parents=True)
        page = viewer_page(cohort, title=title)
        (viewer / "notes.html").write_text(page, encoding="utf-8", newline="")
        remarks = _remarks(cohort)
        for number, start in enumerate(range(0, len(cohort.run), CHUNK)):
            places = range(start, min(start + CHUNK, len(cohort.run)))
            script = chunk_script(cohort, number, places, remarks)
            (viewer / "notes" / f"{number:04d}.js").write_text(script, encoding="ascii", newline="")
    return place / "report.html"


def viewer_page(cohort: Cohort, *, title: str = "Scores") -> str:
    """Return the page that shows one note at a time, without the notes' texts."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    script = _template_text("scoring_notes.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    style = _template_text("report.css") + _template_text("scoring_notes.css")
    shell = Environment(autoescape=True, undefined=StrictUndefined).from_string(
        _template_text("scoring_notes.html")
    )
    return shell.render(
        title=title,
        style=Markup(style),
        script=Markup(script),
        digest=digest,
        index=Markup(_safe_json(_index(cohort, title))),
    )


def chunk_script(
    cohort: Cohort, number: int, places: Iterable[int], remarks: Mapping[str, list[str]]
) -> str:
    """Return the script that hands some notes to the viewer: text, items and remarks."""
    content = [
        [
            cohort.texts[i],
            [_item(line) for line in cohort.lines[i]],
            ([cohort.status[i]] if cohort.status[i] else []) + remarks.get(cohort.run.notes[i], []),
        ]
        for i in places
    ]
    return f"rubricateChunk({number},{_safe_json(content)});\n"


def _item(line: ItemLine) -> list[Any]:
    asked = line.review_reason or ("a person must look" if line.review else "")
    return [int(line.found), line.certainty, line.spans if line.found else "", line.reason, asked,
            line.corrected_by, line.corrected_at, line.comment]  # fmt: skip


def _index(cohort: Cohort, title: str) -> dict[str, Any]:
    run = cohort.run
    names = list(dict.fromkeys(run.cases))
    number = {case: i for i, case in enumerate(names)}
    flags = _flags(cohort)
    notes = []
    for i, note in enumerate(run.notes):
        own = cohort.lines[i]
        score, most = (
            None if np.isnan(v) else _short(float(v)) for v in (run.score[i], run.maximum[i])
        )
        bits = "".join("1" if line.found else "0" for line in own)
        review = sum(line.review for line in own)
        notes.append([note, number[run.cases[i]], score, most, bits, review, flags[i]])
    cases = [
        {
            "case": case,
            "title": f"Case {case}",
            "features": [[f.id, f.text] for f in cohort.rubrics.get(case, ())],
        }
        for case in names
    ]
    return {"title": title, "size": CHUNK, "cases": cases, "notes": notes}


def _flags(cohort: Cohort) -> list[int]:
    changed = set() if cohort.changes is None else {
        *cohort.changes.scores, *(change.note for change in cohort.changes.decisions)
    }  # fmt: skip
    copied = {note for cluster in cohort.clusters for note in cluster.notes}
    gaming = {flag.note for flag in cohort.flags}
    return [
        _CORRECTED * any(line.corrected_by for line in own)
        + _CHANGED * (note in changed)
        + _COPIED * (note in copied)
        + _GAMING * (note in gaming)
        + _FAILED * bool(status)
        for note, own, status in zip(cohort.run.notes, cohort.lines, cohort.status, strict=True)
    ]


def _remarks(cohort: Cohort) -> Mapping[str, list[str]]:
    """Return what is to be said of a note, beside its items."""
    found: dict[str, list[str]] = {}
    for flag in cohort.flags:
        said = f"Looks like {flag.kind}: {flag.sign} {flag.value:.2f}, limit {flag.limit:g}"
        found.setdefault(flag.note, []).append(said)
    for cluster in cohort.clusters:
        for note in cluster.notes:
            others = [other for other in cluster.notes if other != note]
            more = f" and {len(others) - 5} more" if len(others) > 5 else ""
            kind = {"near": "Nearly the same as", "same words": "Same words as"}.get(
                cluster.kind, "Identical to"
            )
            found.setdefault(note, []).append(f"{kind} {', '.join(others[:5])}{more}")
    if cohort.changes is not None:
        for note, (before, now) in cohort.changes.scores.items():
            said = f"Score changed since the last run: {before:g} before, {now:g} now"
            found.setdefault(note, []).append(said)
    return found


def _template_text(name: str) -> str:
    from importlib.resources import files

    return (files("rubricate.reports") / "templates" / name).read_text(encoding="utf-8")


def _short(value: float) -> float | int:
    return int(value) if value == int(value) else round(value, 4)


def _safe_json(value: Any) -> str:
    """Return JSON that may stand in a script: no tag can begin in it, and it is ASCII."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")
