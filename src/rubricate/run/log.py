"""The log of a run: what the machine and then people decided, each line bound to the one before.

A line names the hash of the line before it, so that no line can be changed, left out or put in
between without every later one showing it. Lines hold ids, offsets and decisions, never a note.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from rubricate.errors import Fault, InputError
from rubricate.formats.encoding import Json
from rubricate.run.results import DIGITS, Correction, NoteResult, parse_spans, spans_text

LOG = "decisions.jsonl"
FIRST = "0" * 64


def about(text: str, wording: str) -> str:
    """Return what a decision is about: it holds for this note's text and this wording only.

    Examples
    --------
    >>> about("no fever", "Fever") == about("no  fever", "Fever")
    False
    """
    said = f"{text}\0{wording}".encode(errors="surrogatepass")
    return hashlib.sha256(said).hexdigest()[:16]


def read_log(folder: str | Path) -> Iterator[Json]:
    """Yield the entries of a run's log, oldest first; none if there is no log.

    InputError at the first line that is not what was written: from there on nothing is proved.
    """
    return (entry for entry, _ in _lines(Path(folder) / LOG))


def log_state(folder: str | Path) -> dict[str, int | str]:
    """Return how many lines a sound log has, and the hash of the last."""
    entries, head = 0, FIRST
    for entry, head in _lines(Path(folder) / LOG):  # noqa: B007
        entries = entry["n"]
    return {"entries": entries, "head": head}


def _lines(path: Path) -> Iterator[tuple[Json, str]]:
    """Yield each entry with the hash of its line."""
    if not path.is_file():
        return
    head = FIRST
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                entry = json.loads(raw)
                sound = entry["previous"] == head and entry["n"] == number
            except (ValueError, TypeError, KeyError, RecursionError):
                sound = False
            if not sound or not raw.endswith(b"\n"):
                message = (
                    "this line, or the one before it, was changed, added or left out after it was "
                    "written. Put back the file as it was, or score into another folder"
                )
                raise InputError([Fault(message, path, number)])
            head = _line_hash(raw)
            yield entry, head


def logged_correction(entry: Mapping[str, Any]) -> Correction:
    """Return the decision of a person's entry."""
    spans = None if entry["spans"] is None else parse_spans(entry["spans"])
    return Correction(
        entry["note"], entry["feature"], entry["found"], entry["by"], entry["at"], spans,
        entry["comment"],
    )  # fmt: skip


#: The corrections of a note that hold, by feature.
Held = dict[str, Correction]


def held(corrections: Iterable[Correction]) -> Held:
    """Return which of some corrections of a note, as they were handed in, hold, by feature.

    The later one holds: by the clock where both have a time, else by the day.

    Examples
    --------
    >>> early, late = (Correction("n", "f", False, who, at)
    ...                for who, at in (("Ann", "2026-11-14T10:00:00"), ("Bob", "2026-11-14")))
    >>> held([early, late])["f"].by, held([late, early])["f"].by
    ('Bob', 'Ann')
    """
    found: Held = {}
    for one in corrections:
        before = found.get(one.feature)
        if before is None or not _earlier(one.at, before.at):
            found[one.feature] = one
    return found


def _earlier(one: str, other: str) -> bool:
    if "T" in one and "T" in other:
        return moment(one) < moment(other)
    return one[:10] < other[:10]


def moment(text: str) -> datetime:
    """Return a date or time in ISO 8601; UTC where it names no zone."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class LogWriter:
    """A log under way: a copy of the earlier one, byte for byte, and what comes after it."""

    def __init__(self, before: Path, target: Path) -> None:
        self._machine: dict[str, bytes] = {}
        self.entries, self.head = 0, FIRST
        for entry, self.head in _lines(before / LOG):
            self.entries = entry["n"]
            if entry["kind"] == "machine":
                self._machine[entry["note"]] = _said(entry)
        if self.entries:
            shutil.copyfile(before / LOG, target / LOG)
        self._stream: IO[bytes] = (target / LOG).open("ab")

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def add(self, kind: str, **values: object) -> None:
        """Add one line."""
        self.entries += 1
        entry = {"n": self.entries, "previous": self.head, "kind": kind, **values}
        raw = (json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n").encode(
            errors="backslashreplace"
        )
        self.head = _line_hash(raw)
        self._stream.write(raw)

    def add_machine(self, result: NoteResult) -> None:
        """Add what the machine decided on a note, unless that is what the log said last."""
        total = result.total
        values = {
            "note": result.note,
            "case": result.case,
            "status": result.status,
            "score": total.score if total else None,
            "maximum": total.maximum if total else None,
            "items": {
                item.feature.id: [item.found, _kept(item.evidence.probability),
                                  spans_text(item.evidence.spans)]
                for item in result.items
            },
        }  # fmt: skip
        said = _said(values)
        if self._machine.get(result.note) != said:
            self._machine[result.note] = said
            self.add("machine", **values)

    def add_person(self, one: Correction, told: str, was: bool | None, now: NoteResult) -> None:
        """Add one decision: what it is about, what held before it, and the score it led to."""
        self.add(
            "person",
            note=one.note,
            feature=one.feature,
            found=one.found,
            spans=None if one.spans is None else spans_text(one.spans),
            by=one.by,
            at=one.at,
            comment=one.comment,
            about=told,
            was=was,
            score=now.total.score if now.total else None,
            maximum=now.total.maximum if now.total else None,
        )


def _kept(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def _line_hash(raw: bytes) -> str:
    return hashlib.sha256(raw.rstrip(b"\n")).hexdigest()


def _said(entry: Mapping[str, Any]) -> bytes:
    """Return a short hash of what the machine said of a note."""
    values = [entry[name] for name in ("case", "status", "score", "maximum", "items")]
    return hashlib.blake2b(json.dumps(values).encode(), digest_size=16).digest()
