"""JSON as other tools write it: whatever is wrong with it is one error, with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from rubricate.formats.limits import limits_now

#: How much of a file is looked at first to find its format; the rest only if a value goes on.
_LOOK = 1 << 20
#: A whole number of more digits is too large to become a fraction.
MOST_DIGITS = 300
_LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, *, halves: bool = False) -> Any:
    r"""Return the value of a JSON text; `json.JSONDecodeError` for all that is wrong with it.

    That is also what the parser takes and nobody could use: more levels than the limit ``depth``,
    whole numbers of more than 300 digits, and half a surrogate pair, which no UTF-8 file can hold.
    With ``halves`` those are kept, for who can name their place better (see `has_half`).

    >>> parse_json('{"text": "\\ud83d\\ude00"}')
    {'text': '😀'}
    >>> parse_json('["\\ud83d"]')
    Traceback (most recent call last):
    json.decoder.JSONDecodeError: half a surrogate pair: line 1 column 3 (char 2)
    """
    depth = limits_now().depth
    if text.count("[") + text.count("{") > depth and _is_deeper(text, depth):
        raise json.JSONDecodeError(f"more than {depth} levels (raise the limit: depth)", text, 0)
    try:
        if _LONG_NUMBER.search(text):
            value = json.loads(text, parse_int=_whole_number)
        else:
            value = json.loads(text)
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, 0) from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise json.JSONDecodeError("a number that is too long", text, 0) from None
    place = None if halves else _half_pair(text)
    if place is not None:
        raise json.JSONDecodeError("half a surrogate pair", text, place)
    return value


_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]]+")


def _is_deeper(text: str, depth: int) -> bool:
    """Tell whether a sound JSON text has more levels than this."""
    brackets = _TEXT.sub("", text).translate({ord("{"): "[", ord("}"): "]"})
    brackets = _NO_BRACKET.sub("", brackets)
    for _ in range(depth):
        outer = brackets.replace("[]", "")
        if len(outer) == len(brackets):
            break
        brackets = outer
    return bool(brackets) and (brackets.count("[") > depth or "[]" in brackets)


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("too long")
    return int(digits)


def _half_pair(text: str) -> int | None:
    """Return where an escape of a sound JSON text makes half a surrogate pair."""
    if not _HALF.search(text):
        return None
    high, end = None, -1
    for match in _ESCAPE.finditer(text):
        code = int(match[1] or "0", 16)
        is_low = 0xDC00 <= code < 0xE000
        if high is not None and not (is_low and match.start() == end):
            return high
        if high is None and is_low:
            return match.start()
        high, end = (match.start() if 0xD800 <= code < 0xDC00 else None), match.end()
    return high


def has_half(value: Any, source: str) -> bool:
    r"""Tell whether a part of the JSON text ``source`` holds half a surrogate pair.

    >>> source = '["\\ud83d", "a"]'
    >>> [has_half(part, source) for part in parse_json(source, halves=True)]
    [True, False]
    """
    if not _HALF.search(source):
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False


def first_value(path: Path, endings: Container[str], *, in_list: bool = False) -> Any:
    r"""Return the first object of a JSON file (if need be, of its list); None if there is none.

    A file of several values (one per line) has a first one, too. Only as much is read as needed,
    and nothing of what is no file with one of these endings.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "tasks.json"
    >>> _ = place.write_text('[{"id": 1}, {"id"', encoding="utf-8")
    >>> first_value(place, {".json"}, in_list=True)
    {'id': 1}
    """
    if not path.is_file() or path.suffix.lower() not in endings:
        return None
    for head in _heads(path):
        start = head.lstrip()
        if in_list and start.startswith("["):
            start = start[1:].lstrip()
        if not start.startswith("{"):
            return None
        try:
            return json.JSONDecoder().raw_decode(start)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _heads(path: Path) -> Iterator[str]:
    """Yield the beginning of a file, each time more of it, and at last all."""
    try:
        size, look = path.stat().st_size, _LOOK
        with path.open("rb") as stream:
            while True:
                stream.seek(0)
                yield stream.read(look).decode("utf-8-sig", "replace")
                if look >= size:
                    return
                look *= 16
    except OSError:
        return
