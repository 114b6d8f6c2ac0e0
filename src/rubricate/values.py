"""Plain values, as JSON and TOML hold them, from values of the program and back."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from rubricate.errors import did_you_mean

T = TypeVar("T")
#: What messages call the kinds of a plain value.
_KINDS = {str: "text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


def to_plain(value: object) -> Any:
    """Return only what JSON keeps: undefined numbers become None, tuples lists, dates text.

    A dataclass becomes an object of its fields, unless its ``to_dict`` says what it becomes.

    >>> to_plain({1: (float("nan"), date(2020, 12, 31))})
    {'1': [None, '2020-12-31']}
    """
    if isinstance(value, Mapping):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(v) for v in value]
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        if hasattr(value, "to_dict"):
            return to_plain(value.to_dict())
        return {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    if hasattr(value, "item") and callable(value.item):
        return to_plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON that a person can read."""
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def from_plain(kind: type[T], table: Mapping[str, Any], faults: list[str], place: str = "") -> T:
    """Return a value of a dataclass from a table; faults are added, and wrong values left out.

    ``place`` stands before the names of its fields in messages.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     notes: int = 0
    >>> faults = []
    >>> from_plain(Size, {"notes": "many"}, faults), faults
    (Size(notes=0), ["notes is 'many': it must be a whole number"])
    """
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, value in table.items():
        full = f"{place}{name}"
        if name not in hints:
            hint = did_you_mean(name, hints)
            faults.append(f"unknown name {full!r}{hint} Allowed: {', '.join(hints)}")
            continue
        values[name] = _field(hints[name], value, full, faults)
    return kind(**values)


def _field(kind: Any, value: Any, place: str, faults: list[str]) -> Any:
    origin = get_origin(kind)
    if origin is tuple:
        inner = get_args(kind)[0]
        if not isinstance(value, list):
            faults.append(f"{place} must be a list")
            return ()
        return tuple(_field(inner, v, f"{place}[{i}]", faults) for i, v in enumerate(value, 1))
    if is_dataclass(kind) or origin is not None or isinstance(kind, types.GenericAlias):
        if not isinstance(value, dict):
            faults.append(f"{place} must be a table")
            return kind() if isinstance(kind, type) and is_dataclass(kind) else {}
        if isinstance(kind, type) and is_dataclass(kind):
            return from_plain(kind, value, faults, f"{place}.")
        return value
    if kind is float and type(value) is int and abs(value) < 2**63:
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        faults.append(f"{place} is {value!r}: it must be {_KINDS[kind]}")
        return kind()
    return value


def is_of(value: Any, kind: Any) -> bool:
    """Tell whether a plain value is of the kind that a constructor declares.

    >>> is_of(3, int), is_of(True, int), is_of("a", Literal["a", "b"])
    (True, False, True)
    """
    origin = get_origin(kind) or kind
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in get_args(kind))
    if get_args(kind) and origin is not Mapping:
        return any(is_of(value, one) for one in get_args(kind))
    if origin in (int, float):
        # Larger ones become infinite, or fit no array.
        return type(value) in (int, origin) and -(2**63) <= value < 2**63
    return isinstance(value, dict if origin is Mapping else origin)
