"""Damage to files: bytes, lines, fields, JSON trees, tables and archives, all from one seed.

A tree is what a reader is given: the names of files with their bytes. `damaged` changes one of
them, now and then several, or the tree itself.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

Tree = dict[str, bytes]

#: Bytes that readers trip over: control characters, halves of surrogate pairs, marks, quotes.
TOKENS = [
    b"\x00", b"\x01", b"\x0b", b"\x0c", b"\x1b", b"\x7f", b"\r", b"\n", b"\r\n", b"\t", b"\n\n",
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xf4\x90\x80\x80",
    "\u0085".encode(), "\u2028".encode(), "\u200b".encode(), "\u202e".encode(), "\ufeff".encode(),
    "\ufffe".encode(), "\U0001f600".encode(), "e\u0301".encode(), "１".encode(), "＝".encode(),
    b"\\ud800", b"\\udfff", b"\\u0000", b'\\ud800\\u0041', b'"', b"'", b",", b";", b"|", b"#",
    b"&", b"<", b">", b"]]>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"&#xD800;",
    b"*a", b"&a ", b"!!python/object:os.system", b"<<: ", b"---\n", b"- ", b": ", b"=1+1", b"%",
    b"..", b"/", b"../../x", b"[", b"]", b"{", b"}", b"(", b")", b"\\", b"$", b"@", b"None",
    b"null", b"true", b"NaN", b"nan", b"-inf", b"Infinity",
]  # fmt: skip
#: Numbers that overflow, or are no numbers.
NUMBERS = [
    b"-1", b"0", b"1", b"00", b"1.5", b"-0.0", b"1e5", b"1e400", b"2147483648", b"4294967296",
    b"9223372036854775808", b"-9223372036854775809", b"1" + b"0" * 400, b"9" * 5000, b"nan", b"inf",
    b"1_000", b"0x10", b"+3", b" 4", "٣".encode(), b"",
]  # fmt: skip
#: What stands in a JSON tree for what should be there.
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 1.5, 1e308, float("nan"), float("inf"), 2**31, 2**63, 10**400, "",
    "x", "0", "\ud800", "a\udfffb", "\x00", "=1+1", "é" * 300, [], {}, [[]], [None], {"": None},
    {"id": 1}, [1, "x", {}], [0, -1], ["a", ["b"]],
]  # fmt: skip
DEPTHS = (40, 2_000, 60_000)


def damaged(tree: Tree, random: Random) -> Tree:
    """Return a damaged copy of the tree."""
    new = dict(tree)
    if len(new) > 1 and random.random() < 0.05:
        _rearrange(new, random)
    for _ in range(1 + (random.random() < 0.3) + (random.random() < 0.1)):
        if new:
            name = random.choice(sorted(new))
            # A damaged table is not opened again here: that can end the process.
            whole = new[name] == tree.get(name)
            new[name] = (damaged_file if whole else change_bytes)(new[name], random)
    return new


def _rearrange(tree: Tree, random: Random) -> None:
    """Lose, empty, exchange, copy or rename files."""
    first, second = random.choice(sorted(tree)), random.choice(sorted(tree))
    what = random.randrange(5)
    if what == 0:
        del tree[first]
    elif what == 1:
        tree[first] = b""
    elif what == 2:
        tree[first], tree[second] = tree[second], tree[first]
    elif what == 3:
        tree[f"{first}.{second.rpartition('.')[2]}"] = tree[first]
    else:
        tree[random.choice(("x", ".x", "x y.", "é", "a\nb")) + first.rpartition("/")[2]] = tree.pop(
            first
        )


def damaged_file(body: bytes, random: Random) -> bytes:
    """Return a damaged copy of one file; structure is damaged where it is known."""
    ways: list[Callable[[bytes, Random], bytes]] = [change_bytes, change_lines, change_fields]
    start = body.lstrip()[:4]
    if start == b"PAR1":
        ways = [change_bytes, change_table, change_table]
    elif start == b"PK\x03\x04":
        ways = [change_bytes, change_archive, change_archive, change_archive]
    elif start[:1] in (b"{", b"["):
        ways = [change_bytes, change_lines, change_json, change_json, change_json]
    elif start[:1] == b"<":
        ways = [change_bytes, change_fields, change_elements, change_elements]
    return random.choice(ways)(body, random)


def change_bytes(body: bytes, random: Random) -> bytes:
    """Flip, set, insert, remove, repeat or move bytes, or end early."""
    start = random.randrange(len(body) + 1)
    end = min(len(body), start + random.choice((1, 2, 5, 20, 200)))
    what = random.randrange(8)
    if what == 0 and start < len(body):
        return body[:start] + bytes([body[start] ^ 1 << random.randrange(8)]) + body[start + 1 :]
    if what == 1:
        return body[:start] + bytes([random.randrange(256)]) + body[start + 1 :]
    if what == 2:
        return body[:start]
    if what == 3:
        return body[:start] + body[end:]
    if what == 4:
        return body[:end] + body[start:end] * random.choice((1, 2, 30)) + body[end:]
    if what == 5:
        other = random.randrange(len(body) + 1)
        rest = body[:start] + body[end:]
        return rest[:other] + body[start:end] + rest[other:]
    if what == 6 and random.random() < 0.1:
        opened = random.choice((b"[", b'{"a":', b"(", b"<a>", b"[[", b"- ", b'"', b"a.", b"{a = "))
        return body[:start] + opened * random.choice(DEPTHS) + body[start:]
    return body[:start] + random.choice(TOKENS) + body[start:]


def change_lines(body: bytes, random: Random) -> bytes:
    """Lose, repeat, exchange, join or empty lines."""
    return _change_parts(body, b"\n", random)


def change_elements(body: bytes, random: Random) -> bytes:
    """Lose, repeat or exchange the elements of an XML file."""
    return _change_parts(body, b"><", random)


def _change_parts(body: bytes, between: bytes, random: Random) -> bytes:
    parts = body.split(between)
    first, second = random.randrange(len(parts)), random.randrange(len(parts))
    what = random.randrange(6)
    if what == 0:
        del parts[first]
    elif what == 1:
        parts.insert(second, parts[first])
    elif what == 2:
        parts[first], parts[second] = parts[second], parts[first]
    elif what == 3:
        parts[first : first + 2] = [b"".join(parts[first : first + 2])]
    elif what == 4:
        parts[first] = b""
    else:
        parts[first : first + 1] = [parts[first]] * random.choice((3, 50))
    return between.join(parts)


_NUMBER = re.compile(rb"\d+")
_FIELDS = [re.compile(rb"[^\t\r\n]*"), re.compile(rb"[^,;\r\n]*"), re.compile(rb"[^\s\[\]:,=]+"),
           re.compile(rb'(?<=")[^"]*(?=")')]  # fmt: skip


def change_fields(body: bytes, random: Random) -> bytes:
    """Exchange or replace fields of a table, values of attributes, or numbers."""
    pattern = _NUMBER if random.random() < 0.4 else random.choice(_FIELDS)
    places = [match.span() for match in pattern.finditer(body) if match.end() > match.start()]
    if not places:
        return change_bytes(body, random)
    start, end = random.choice(places)
    if random.random() < 0.4:
        other, until = random.choice(places)
        (start, end), (other, until) = sorted([(start, end), (other, until)])
        if end <= other:
            middle = body[end:other]
            return body[:start] + body[other:until] + middle + body[start:end] + body[until:]
    new = random.choice(NUMBERS) if random.random() < 0.6 else random.choice(TOKENS)
    return body[:start] + new + body[end:]


def change_json(body: bytes, random: Random) -> bytes:
    """Change one value of a JSON tree, of the file or of one of its lines."""
    lines = body.split(b"\n")
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        number = random.randrange(len(lines))
        try:
            part = json.loads(lines[number])
        except (ValueError, RecursionError):
            return change_fields(body, random)
        lines[number] = _dumped(_changed_value(part, random))
        return b"\n".join(lines)
    return _dumped(_changed_value(whole, random))


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _changed_value(value: Any, random: Random) -> Any:
    """Return the tree with one place of it changed, any place with the same chance."""
    places: list[tuple[Any, Any]] = []
    below = [value]
    while below:
        one = below.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            places.append((one, key))
            if isinstance(one[key], dict | list) and one[key]:
                below.append(one[key])
        if len(places) > 5_000:
            break
    if not places or not isinstance(value, dict | list):
        return random.choice(VALUES)
    parent, key = random.choice(places)
    what = random.randrange(9)
    if what == 0:
        del parent[key]
    elif what == 1:
        other, its = random.choice(places)
        parent[key], other[its] = other[its], parent[key]
    elif what == 2 and isinstance(parent, list):
        parent.insert(key, parent[key])
    elif what == 3 and isinstance(parent, dict):
        parent[random.choice(("", "x", "id", "text", "\ud800", f"{key} "))] = parent.pop(key)
    elif what == 4:
        parent[key] = random.choice(([parent[key]], {"a": parent[key]}, str(parent[key])))
    elif what == 5 and isinstance(parent[key], str):
        place = random.randrange(len(parent[key]) + 1)
        bit = random.choice(("\ud800", "\udc00", "\x00", "\x1b", "\u2028", "\r", "\t", "'", "é"))
        parent[key] = parent[key][:place] + bit + parent[key][place:]
    elif what == 6 and isinstance(parent[key], int):
        parent[key] += random.choice((-1, 1, -100, 100, 2**31, 2**62))
    else:
        parent[key] = random.choice(VALUES)
    return value if random.random() < 0.97 else random.choice(VALUES)


def change_archive(body: bytes, random: Random) -> bytes:
    """Damage one member of a ZIP archive, or lose it."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice(sorted(members))
    if random.random() < 0.1:
        del members[name]
    else:
        members[name] = damaged_file(members[name], random)
    return packed(members)


def packed(members: Tree) -> bytes:
    """Return a ZIP archive of these files, the same bytes each time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(zipfile.ZipInfo(name or "x"), body)
    return stream.getvalue()


def change_table(body: bytes, random: Random) -> bytes:
    """Lose, rename, retype, shorten or fill a column of a Parquet file."""
    import polars as pl

    table = pl.read_parquet(io.BytesIO(body))
    try:
        table = _changed_table(table, random)
    except pl.exceptions.PolarsError:
        return change_bytes(body, random)
    stream = io.BytesIO()
    table.write_parquet(stream, compression="uncompressed")
    return stream.getvalue()


def _changed_table(table: Any, random: Random) -> Any:
    import polars as pl

    name, other = random.choice(table.columns), random.choice(table.columns)
    filler = random.choice((None, "x", -1, 2**40, 1.5, True, "\x00", float("nan"), [1], {"a": 1}))
    what = random.randrange(8)
    if what == 0:
        table = table.drop(name)
    elif what == 1:
        table = table.rename({name: random.choice(("x", "", f"{name} "))})
    elif what == 2 and name != other:
        table = table.with_columns(**{name: table[other], other: table[name]})
    elif what == 3:
        table = table.with_columns(
            table[name].cast(random.choice((pl.String, pl.Float64)), strict=False)
        )
    elif what == 4 and table.height:
        row = random.randrange(table.height)
        table = pl.concat([table[:row], table[row + 1 :], table[row : row + 1]])
    elif what == 5 and table.height:
        table = table[: random.randrange(table.height)]
    elif what == 6 and table.height and table[name].dtype.is_integer():
        values = table[name].cast(pl.Int64).to_list()
        values[random.randrange(len(values))] = random.choice((-1, 0, 1, 10**6, 2**31, -(2**31)))
        table = table.with_columns(pl.Series(name, values))
    else:
        table = table.with_columns(pl.Series(name, [filler] * table.height))
    return table
