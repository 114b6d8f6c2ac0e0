"""Reading of files: bytes, text and TOML in limits, safe XML and links, and all faults at once."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from pathlib import Path
from stat import S_ISREG
from typing import Any

from rubricate.errors import Advice, Fault, InputError, shown
from rubricate.files import missing_path
from rubricate.formats.options import USUAL_LIMITS, USUAL_OPTIONS, ReadLimits, ReadOptions

#: The ratio of an archive counts from this many unpacked bytes on: small files may be all blanks.
RATIO_FROM = 10_000_000


def read_whole(path: Path, limits: ReadLimits = USUAL_LIMITS) -> bytes:
    """Return a file's bytes; InputError if it cannot be read or is too large."""
    try:
        status = path.stat()
        # A pipe in a folder of others would be waited for without end.
        if not S_ISREG(status.st_mode):
            raise InputError([Fault("not a plain file", path)])
        limits.check("file_bytes", status.st_size, "the file has {} bytes", path)
        return path.read_bytes()
    except FileNotFoundError as error:
        raise missing_path(path) from error
    except OSError as error:
        raise InputError([Fault(f"cannot be read: {error.strerror}", path)]) from error


def first_bytes(path: Path, most: int = 4096) -> bytes:
    """Return the beginning of a file, without a byte order mark; nothing if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(most).removeprefix(b"\xef\xbb\xbf")
    except OSError:
        return b""


def check_archive(archive: zipfile.ZipFile, path: Path, limits: ReadLimits = USUAL_LIMITS) -> None:
    """Raise InputError if a ZIP archive would become too large; reading never goes beyond that."""
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    limits.check("unpacked_bytes", unpacked, "the archive has {} bytes when unpacked", path)
    if unpacked > RATIO_FROM:
        ratio = unpacked // max(1, packed)
        limits.check("ratio", ratio, "the archive becomes {} times larger when unpacked", path)


#: What a declaration may name; in others, a reader for signs could be led past what is written.
_ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"}
_ENCODING = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_PLAIN_DOCTYPE = re.compile(
    rb"""<!DOCTYPE\s+[\w.:-]+(?:\s+(?:SYSTEM|PUBLIC)(?:\s+["'][^"']*["'])+)?\s*>"""
)

#: Characters that no XML file can hold.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def unsafe_xml(content: bytes, *, doctype: bool = False) -> str | None:
    """Return the reason for refusing an XML file, for safety; None if it may be read.

    With ``doctype``, one that declares nothing itself may stand there, as in BioC files; what it
    points to is never fetched.

    >>> unsafe_xml(b"<a/>")
    >>> unsafe_xml(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    'holds a DOCTYPE, which is not read, for safety'
    """
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    declared = _ENCODING.match(start)
    if (start and start[:1] != b"<") or b"\x00" in content:
        return "is not XML in UTF-8"
    if declared and declared[1].decode("ascii", "replace").lower() not in _ENCODINGS:
        return "is not XML in UTF-8; save it so"
    rest = _PLAIN_DOCTYPE.sub(b"", content, count=1) if doctype else content
    return "holds a DOCTYPE, which is not read, for safety" if b"<!DOCTYPE" in rest else None


class Faults:
    """The faults found so far in one input, and the options it is read with.

    >>> faults = Faults(Path("notes.csv"), unit="row")
    >>> faults.add("column 'case_num' is empty", line=2)
    >>> faults.raise_any()
    Traceback (most recent call last):
    rubricate.errors.InputError: notes.csv, row 2: column 'case_num' is empty
    """

    def __init__(self, path: Path, how: ReadOptions = USUAL_OPTIONS, *, unit: str = "line") -> None:
        self.path = path
        self.how = how
        self.unit = unit
        self.found: list[Fault] = []

    def of(self, path: Path) -> Faults:
        """Return the same faults, to which those of another file are added."""
        other = Faults(path, self.how, unit=self.unit)
        other.found = self.found
        return other

    def add(
        self, message: str, *, line: int | None = None, path: Path | None = None,
        advice: Advice | None = None,
    ) -> None:  # fmt: skip
        """Note one fault; ``line`` is 1-based."""
        self.found.append(Fault(message, path or self.path, line, self.unit, advice=advice))

    def text_of(self, path: Path) -> str | None:
        """Return a file as `read_text` does, or None after noting why it cannot be read."""
        if self.refuses_link(path):
            return None
        try:
            return read_text(path, self.how.limits)
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
        """Note a fault if a span must be, and is not, inside a note of this length; tell if not."""
        if not self.how.strict or 0 <= start < end <= length:
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
    """Return the reason a text is not JSON, in words that quote nothing of it.

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


def read_text(path: Path, limits: ReadLimits = USUAL_LIMITS) -> str:
    """Return the file as text exactly as stored (no line-break translation)."""
    raw = read_whole(path, limits)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {error.start}). Save the file as UTF-8 and try again."
        # The decoder's own message would quote the bytes around it: note text.
        raise InputError([Fault(message, path, line)]) from None
    return text.removeprefix("\ufeff")


#: What the parts of a TOML key never hold without quotes.
_APART = r"\s.=#,\[\]{}"


def read_toml(path: Path, limits: ReadLimits = USUAL_LIMITS) -> dict[str, Any]:
    """Return the tables of a TOML file; InputError for all that is wrong with it."""
    text = read_text(path, limits)
    # The parser's time grows with the square of a key's levels.
    depth = limits.depth
    try:
        if re.search(rf"(?<![^{_APART}])(?:[^{_APART}]++[ \t]*+\.[ \t]*+){{{depth}}}", text):
            raise RecursionError
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why = str(error)
    except (ValueError, RecursionError):
        why = "nested too deeply, or a number or date that is none"
    raise InputError([Fault(f"not valid TOML: {why}", path)])


def has_lone_surrogate(text: object) -> bool:
    r"""Tell whether a value is a text with half a surrogate pair, which no UTF-8 file can hold.

    >>> has_lone_surrogate("a\ud83d"), has_lone_surrogate("😀")
    (True, False)
    """
    if not isinstance(text, str) or text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def writable(text: str) -> str:
    r"""Return a text with half surrogate pairs written as escapes.

    >>> writable("a\ud800")
    'a\\ud800'
    """
    return text.encode(errors="backslashreplace").decode()
