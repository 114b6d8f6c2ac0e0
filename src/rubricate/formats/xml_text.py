"""XML of other people: no entities, no encodings that hide something, nothing fetched."""

from __future__ import annotations

import re

#: What a declaration may name; in others, a reader for signs could be led past what is written.
_ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"}
_ENCODING = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_PLAIN_DOCTYPE = re.compile(
    rb"""<!DOCTYPE\s+[\w.:-]+(?:\s+(?:SYSTEM|PUBLIC)(?:\s+["'][^"']*["'])+)?\s*>"""
)


def unsafe_xml(content: bytes, *, doctype: bool = False) -> str | None:
    """Return why an XML file is not read, for safety; None if it may be.

    With ``doctype``, one that declares nothing itself may stand there, as in BioC files; what it
    points to is never fetched.

    >>> unsafe_xml(b"<a/>")
    >>> unsafe_xml(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    'a DOCTYPE is not read, for safety'
    """
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    declared = _ENCODING.match(start)
    if (start and start[:1] != b"<") or b"\x00" in content:
        return "need XML in UTF-8"
    if declared and declared[1].decode("ascii", "replace").lower() not in _ENCODINGS:
        return "need XML in UTF-8; save it so"
    rest = _PLAIN_DOCTYPE.sub(b"", content, count=1) if doctype else content
    return "a DOCTYPE is not read, for safety" if b"<!DOCTYPE" in rest else None
