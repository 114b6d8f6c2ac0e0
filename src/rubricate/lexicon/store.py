"""Lexicons on disk: a folder with one group per line and a description, checked on reading."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rubricate.errors import Fault, InputError
from rubricate.files import whole_output
from rubricate.lexicon.embedded import embedded_lexicon
from rubricate.lexicon.groups import Group, Lexicon, Phrase, SourceInfo

FORMAT = "rubricate-lexicon"
VERSION = 1
_META, _GROUPS = "meta.json", "groups.jsonl"


def save_lexicon(lexicon: Lexicon, folder: Path, *, overwrite: bool = False) -> None:
    """Write a lexicon as a folder of two readable files.

    ``groups.jsonl`` holds one group per line (``id``, ``phrases`` as [text, source] or
    [text, source, "exact"], ``members``, ``area``); a person may edit it. ``meta.json`` says what
    it holds.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "lexicon"
    >>> save_lexicon(Lexicon((Group("a:1", (Phrase("HA", "a"), Phrase("headache", "a"))),)), place)
    >>> load_lexicon(place).synonyms("HA")
    [('headache', 'a')]
    """
    summary = lexicon.summary()
    with whole_output(folder, overwrite=overwrite) as place:
        place.mkdir()
        with (place / _GROUPS).open("w", encoding="utf-8", newline="\n") as stream:
            for group in lexicon.groups:
                stream.write(json.dumps(_as_json(group), ensure_ascii=False) + "\n")
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "groups": summary.groups,
            "phrases": summary.phrases,
            "sources": [
                {"name": source.name, "version": source.version, "licence": source.licence}
                for source in lexicon.sources
            ],
        }
        (place / _META).write_text(
            json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def _as_json(group: Group) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": group.id,
        "phrases": [
            [p.text, p.source, "exact"] if p.exact_case else [p.text, p.source]
            for p in group.phrases
        ],
    }
    if group.members:
        row["members"] = list(group.members)
    if group.area:
        row["area"] = group.area
    return row


def load_lexicon(folder: Path) -> Lexicon:
    """Read a lexicon that :func:`save_lexicon` wrote, edited or not."""
    meta = _read_meta(folder / _META)
    groups: list[Group] = []
    faults: list[Fault] = []
    path = folder / _GROUPS
    _read_groups(_read(path).split("\n"), path, groups, faults)
    if faults:
        raise InputError(faults)
    return Lexicon(tuple(groups), tuple(SourceInfo(**source) for source in meta["sources"]))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError([Fault("not UTF-8", path)]) from None
    except (OSError, ValueError):
        message = "cannot be read; a lexicon is a folder of meta.json and groups.jsonl"
        raise InputError([Fault(message, path)]) from None


def _read_meta(path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(_read(path))
    except InputError:
        raise
    except (ValueError, RecursionError):  # also of numbers that are too long
        raise InputError([Fault("not JSON", path)]) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise InputError([Fault(f"'format' is not {FORMAT!r}", path)])
    if meta.get("version") != VERSION:
        raise InputError(
            [Fault(f"version is {meta.get('version')!r}; {VERSION} is read here", path)]
        )
    sources = meta.get("sources")
    wanted = {"name", "version", "licence"}
    if not isinstance(sources, list) or any(
        not isinstance(source, dict) or set(source) != wanted for source in sources
    ):
        raise InputError([Fault("'sources' is not a list of name, version and licence", path)])
    return meta


def _read_groups(
    stream: Iterable[str], path: Path, groups: list[Group], faults: list[Fault]
) -> None:
    seen: set[str] = set()
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            faults.append(Fault("not JSON", path, number))
            continue
        wrong = _wrong(row)
        if not wrong and row["id"] in seen:
            wrong = f"id {row['id']!r} is used twice"
        if wrong:
            faults.append(Fault(wrong, path, number))
            continue
        seen.add(row["id"])
        phrases = tuple(Phrase(p[0], p[1], len(p) == 3) for p in row["phrases"])
        groups.append(Group(row["id"], phrases, tuple(row.get("members", ())), row.get("area", "")))


def _wrong(row: Any) -> str:
    """Return what is wrong with a group, or an empty text."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"]:
        return "'id' is missing or not a text"
    strange = set(row) - {"id", "phrases", "members", "area"}
    if strange:
        return f"unknown keys {sorted(strange)}; allowed: id, phrases, members, area"
    phrases = row.get("phrases")
    if not isinstance(phrases, list) or not phrases:
        return "'phrases' is missing or empty"
    if not all(_is_phrase(phrase) for phrase in phrases):
        return 'a phrase is not [text, source] or [text, source, "exact"]'
    members = row.get("members", [])
    if not isinstance(members, list) or not all(isinstance(m, str) and m.strip() for m in members):
        return "'members' is not a list of texts"
    return "" if isinstance(row.get("area", ""), str) else "'area' is not a text"


def _is_phrase(phrase: Any) -> bool:
    return (
        isinstance(phrase, list)
        and len(phrase) in (2, 3)
        and all(isinstance(part, str) and part.strip() for part in phrase)
        and (len(phrase) == 2 or phrase[2] == "exact")
    )


def load_default_lexicon(folder: Path | None = None) -> Lexicon:
    """Return the embedded lexicon, or the one built before at ``folder``.

    >>> "SOB" in load_default_lexicon()
    True
    """
    return embedded_lexicon() if folder is None else load_lexicon(folder)
