"""Collecting every fault of an input before saying anything."""

from __future__ import annotations

from pathlib import Path

from rubricate.errors import Fault, InputError


class Faults:
    """The faults found so far in one input.

    Examples
    --------
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

    def check_span(self, start: int, end: int, length: int, note_id: str, line: int | None) -> bool:
        """Note a fault if the span is not inside a note of this length; tell whether it is."""
        if 0 <= start < end <= length:
            return True
        self.add(
            f"span {start} {end} of note {note_id} is not inside its text: "
            f"need 0 <= start < end <= {length} (code points)",
            line=line,
        )
        return False

    def raise_any(self) -> None:
        """Raise InputError with all faults, if there are any: file by file, line by line."""
        if self.found:
            files = {path: i for i, path in enumerate(dict.fromkeys(f.path for f in self.found))}
            raise InputError(sorted(self.found, key=lambda f: (files[f.path], f.line or 0)))


def read_text(path: Path) -> str:
    """Return the file as text exactly as stored (no line-break translation).

    Raises
    ------
    InputError
        If the file is missing or is not UTF-8; names the byte where it stops being so.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError([Fault(f"cannot be read: {error.strerror}", path)]) from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {error.start}). Save the file as UTF-8 and try again."
        # The decoder's own message would quote the bytes around it: note text.
        raise InputError([Fault(message, path, line)]) from None
    return text.removeprefix("\ufeff")
