"""The report of a scoring run: a page about the cohort, and a viewer with every note."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rubricate.corpus import Note
from rubricate.errors import Fault, InputError
from rubricate.files import whole_output
from rubricate.formats.encoding import read_json
from rubricate.outputs import PAGE, Kind, folder_kind
from rubricate.progress import Progress, silent, watched
from rubricate.reports.blocks import save_report, to_html
from rubricate.reports.scoring.checks import CHECKS, Checked, ReportCheck, Seen
from rubricate.reports.scoring.page import cohort_report
from rubricate.reports.scoring.viewer import (
    CHUNK,
    Cohort,
    ShownNote,
    safe_json,
    shown_note,
    viewer_frame,
)
from rubricate.run import NoteResult, read_results, read_run
from rubricate.run.reading import ITEMS, Spill
from rubricate.run.writing import REPORT, TEXTS, add_outputs, has_floor

_TITLE = "Scores"
_VIEWER = folder_kind("the notes of a report", "notes.html", [TEXTS, "notes/*.js"])
#: The page of a run, with the folder of its notes beside it.
SCORING = Kind(
    "the report of a run",
    lambda path: (_VIEWER if path.name == REPORT[1] else PAGE).fault(path),
)


class ScoringReport:
    """A report under way: results and texts come by once, then it is written.

    Texts and items lie in a temporary file; numbers are kept of each note, and of the notes of one
    case at a time their runs of words, to find copies.
    """

    def __init__(self, previous: str | Path | None = None, policy: str | Path | None = None):
        earlier = None if previous is None else read_run(previous)
        self._policy = {} if policy is None else read_json(Path(policy))
        self._checks = [one for make in CHECKS if (one := make(earlier)) is not None]
        self._cohort = Cohort()
        self._notes: Spill[ShownNote] = Spill()
        self._texts = hashlib.sha256()
        self._faults: list[Fault] = []

    def add(self, result: NoteResult, text: str | None) -> None:
        """Take one result, with the text of its note where it is known."""
        items = result.decided()
        case = self._cohort.add(result)
        # Evidence that does not fit the note: then it is not the one scored.
        if items and text is None:
            message = f"note {result.note!r} is not among the notes given"
            self._faults.append(Fault(message, Path(ITEMS)))
        elif text is not None:
            for item in items:
                said = item.evidence.against
                marked = [*item.evidence.spans, *([said.spans] if said else [])]
                if any(end > len(text) for spans in marked for _, end in spans):
                    message = f"note {result.note!r}, feature {item.feature.id!r}: spans do not fit"
                    self._faults.append(Fault(f"{message} the note", Path(ITEMS)))
        if not self._faults:
            self._texts.update(safe_json([result.note, text]).encode())
            place = self._notes.add(shown_note(result, case, text or ""))
            seen = Seen(place, result, items, self._cohort.rubric(result.case), text)
            for check in self._checks:
                check.add(seen)

    def write(
        self,
        folder: str | Path,
        *,
        copy: Path | None = None,
        overwrite: bool = False,
        progress: Progress = silent,
    ) -> Path:
        """Write ``report.html`` and the folder ``report`` beside the files of the run.

        The page about the cohort is also written to ``copy``, in Word or Markdown.
        """
        if self._faults:
            raise InputError(self._faults)
        place = Path(folder)
        facts: dict[str, Any] = {}
        if (place / "run.json").is_file():
            facts = dict(read_json(place / "run.json"))
            outputs = facts.get("outputs")
            if isinstance(outputs, dict):
                # The report before this one is no fact of the run.
                facts["outputs"] = {k: v for k, v in outputs.items() if k not in REPORT}
        rubrics = self._cohort.rubrics
        checked = [(one, one.finish(self._notes, rubrics, progress)) for one in self._checks]
        report = cohort_report(_TITLE, self._cohort, checked, self._policy, facts)
        with whole_output(place / "report.html", overwrite=overwrite, kind=SCORING) as target:
            target.write_text(to_html(report), encoding="utf-8", newline="")
            without = [case for case in self._cohort.cases if not has_floor(facts, case)]
            self._write_viewer(target.parent / "report", checked, without, progress)
        add_outputs(place, REPORT)
        if copy is not None:
            save_report(copy, report, overwrite=overwrite)
        return place / "report.html"

    def _write_viewer(
        self,
        folder: Path,
        checked: Sequence[tuple[ReportCheck, Checked]],
        without_floor: Collection[str],
        progress: Progress,
    ) -> None:
        (folder / "notes").mkdir(parents=True)
        flagged = [(check.flag, found.marked) for check, found in checked]
        # What a check found in the note itself is said first.
        remarks = [found.remarks for _, found in reversed(checked)]
        run = self._texts.hexdigest()[:16]
        rubrics, cases = self._cohort.rubrics, self._cohort.cases
        head, tail = viewer_frame(_TITLE, rubrics, cases, run, without_floor=without_floor)
        shown = watched(self._notes, progress, "writing the report", len(self._notes))
        chunks = iter(lambda: list(islice(shown, CHUNK)), [])
        with (
            (folder / "notes.html").open("w", encoding="utf-8", newline="") as page,
            (folder / TEXTS).open("w", encoding="utf-8", newline="") as texts,
        ):
            page.write(head)
            for number, notes in enumerate(chunks):
                entries, contents = [], []
                for note in notes:
                    found = sum(flag for flag, own in flagged if note.note in own)
                    entries.append(f"{note.entry[:-1]},{note.flags | found}]")
                    said = [note.why_not_scored] if note.why_not_scored else []
                    said += [one for of in remarks for one in of.get(note.note, ())]
                    contents.append(f"[{safe_json(note.text)},{note.items},{safe_json(said)}]")
                page.write(("," if number else "") + ",".join(entries))
                texts.writelines(json.dumps({"note": n.note, "text": n.text}) + "\n" for n in notes)
                script = f"rubricateChunk({number},[{','.join(contents)}]);\n"
                path = folder / "notes" / f"{number:04d}.js"
                path.write_text(script, encoding="ascii", newline="")
            page.write(tail)


def write_scoring_report(
    folder: str | Path,
    notes: Iterable[Note],
    *,
    previous: str | Path | None = None,
    policy: str | Path | None = None,
    copy: Path | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> Path:
    r"""Write ``report.html`` and the folder ``report`` beside the files of a finished run.

    ``report.html`` is about the cohort; ``report/notes.html`` shows every note with its evidence.
    Both open from a file, without a server and without the network. Notes lie in files of 100,
    read when they are looked at, so that ten thousand stay usable; ``report/notes.jsonl`` has their
    texts for programs. The page about the cohort is also written to ``copy`` (``.docx`` or
    ``.md``).

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> scores, items = folder / "scores.csv", folder / "items.csv"
    >>> _ = scores.write_text("note,case,score,maximum\nn1,c,1,1\n", encoding="utf-8")
    >>> _ = items.write_text("note,feature,found,spans\nn1,f,yes,0 8\n", encoding="utf-8")
    >>> write_scoring_report(folder, [Note("n1", "c", "no fever")]).name
    'report.html'
    >>> sorted(path.name for path in (folder / "report").iterdir())
    ['notes', 'notes.html', 'notes.jsonl']
    """
    report = ScoringReport(previous, policy)
    for result, text in _with_texts(read_results(folder, progress=progress), notes):
        report.add(result, text)
    return report.write(folder, copy=copy, overwrite=overwrite, progress=progress)


def _with_texts(
    results: Iterable[NoteResult], notes: Iterable[Note]
) -> Iterator[tuple[NoteResult, str | None]]:
    """Yield each result with its note's text, where there is one."""
    texts: Spill[str] = Spill()
    places = {note.id: texts.add(note.text) for note in notes}
    for result in results:
        place = places.get(result.note)
        yield result, None if place is None else texts[place]
