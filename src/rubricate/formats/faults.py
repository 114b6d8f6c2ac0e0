"""Collecting every fault of an input before saying anything."""

from __future__ import annotations

import json
from pathlib import Path

from rubricate.errors import Fault, InputError, shown
from rubricate.formats.limits import read_whole


class Faults:
    """The faults found so far in one input.

    >>> faults = Faults(Path("notes.csv"), unit="row")
    >>> faults.add("column 'case_num' is empty", line=2)
    >>> faults.raise_any()
    Traceback (most recent call last):
    rubricate.errors.InputError: notes.csv, row 2: column 'case_num' is empty
    """

    def __init__(self, path: Path, *, unit: str = "line") -> None:
        self.path = path
        self.unit = unit
        self.found: list[Fault] = []

    def add(self, message: str, *, line: int | None = None, path: Path | None = None) -> None:
        """Note one fault; ``line`` is 1-based."""
        self.found.append(Fault(message, path or self.path, line, self.unit))

    def text_of(self, path: Path) -> str | None:
        """Return a file as `read_text` does, or None after noting why it cannot be read."""
        if self.refuses_link(path):
            return None
        try:
            return read_text(path)
        except InputError as error:
            self.found.extend(error.faults)
            return None

    def refuses_link(self, path: Path) -> bool:
        """Note a fault if a file of the folder is a link that leads out of it; tell whether."""
        try:
            if path != self.path and self.path.is_dir():
                refuse_link(path, self.path)
        except InputError as error:
            self.found.extend(error.faults)
            return True
        return False

    def check_span(self, start: int, end: int, length: int, note_id: str, line: int | None) -> bool:
        """Note a fault if the span is not inside a note of this length; tell whether it is."""
        if 0 <= start < end <= length:
            return True
        self.add(
            f"span {start} {end} of note {shown(note_id)} is not inside its text: "
            f"need 0 <= start < end <= {length} (code points)",
            line=line,
        )
        return False

    def raise_any(self) -> None:
        """Raise InputError with all faults, if there are any: file by file, line by line."""
        if self.found:
            files = {path: i for i, path in enumerate(dict.fromkeys(f.path for f in self.found))}
            raise InputError(sorted(self.found, key=lambda f: (files[f.path], f.line or 0)))


def no_json(error: ValueError) -> str:
    """Return why a text is not JSON, in words that quote nothing of it.

    >>> no_json(json.JSONDecodeError("Expecting value", "no fever", 0))
    'not JSON: Expecting value at column 1'
    """
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    return "not JSON"


def leads_out(file: Path, folder: Path) -> bool:
    """Tell whether a file of a folder is a link, or below one, that leads out of the folder.

    Who sends a folder must not be able to have other files of the reader's machine read. A file
    that a reader looks for elsewhere, the texts beside a folder of annotations, is none of it.
    """
    if not file.absolute().is_relative_to(folder.absolute()):
        return False
    return not file.resolve().is_relative_to(folder.resolve())


def refuse_link(file: Path, folder: Path) -> None:
    """Raise InputError if a file of a folder is a link that leads out of it."""
    if leads_out(file, folder):
        raise InputError([Fault("a link that leads out of the folder is not read", file)])


def read_text(path: Path) -> str:
    """Return the file as text exactly as stored (no line-break translation)."""
    raw = read_whole(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {error.start}). Save the file as UTF-8 and try again."
        # The decoder's own message would quote the bytes around it: note text.
        raise InputError([Fault(message, path, line)]) from None
    return text.removeprefix("\ufeff")
