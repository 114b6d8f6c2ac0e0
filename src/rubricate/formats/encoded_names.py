"""Ids as file and folder names and back, without a table: the rest is percent-encoded."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from rubricate.errors import InputError

#: File systems take 255 bytes; the suffix needs a few.
LONGEST_NAME = 240

#: Names as `id_to_name` writes them; other names are nobody's encoding and stand for themselves.
_ENCODED = re.compile(r"(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+")
#: Dots that would hide a file, that Windows drops, or that look like the suffix of another file.
_MISREAD_DOT = re.compile(r"^\.|\.$|\.(?=(?:ann|conf|json|tsv|txt|xmi)$)", re.IGNORECASE)


def id_to_name(identifier: str, *, reserved: frozenset[str] = frozenset()) -> str:
    """Return a file or folder name (without suffix) for an id.

    >>> id_to_name("Ward 3/17.a"), id_to_name("..")
    ('Ward%203%2F17.a', '%2E%2E')
    """
    # "%" alone is no encoding of anything else, so it can stand for the empty id.
    quoted = quote(identifier, safe="", errors="surrogatepass")
    name = _MISREAD_DOT.sub("%2E", quoted) or "%"
    if name in reserved:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"id {identifier!r} makes a file name of {len(name)} characters; "
            f"at most {LONGEST_NAME} are allowed. Give it a shorter id."
        )
    return name


def name_to_id(name: str) -> str:
    """Inverse of `id_to_name`; a name it would not have written is the id as it stands.

    >>> name_to_id("Ward%203%2F17.a"), name_to_id("100% sure")
    ('Ward 3/17.a', '100% sure')
    """
    if name == "%":
        return ""
    if not _ENCODED.fullmatch(name):
        return name
    try:
        return unquote(name, errors="surrogatepass")
    except UnicodeDecodeError:
        return name
