"""Read the phrase bank and texts by name, from folders of files or from tables in ``data``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data"
#: What continues the phrase bank: a line for each line of its files.
MORE_BANK = DATA / "bank.tsv"
#: Texts that are no clinical notes.
OTHER_TEXTS = DATA / "other_texts.jsonl"


def bank_files(place: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each file of a phrase bank: a folder, or a table with the columns
    ``file``, ``kind`` (``F``, ``+`` or ``-``), ``register`` and ``text``.
    """
    if place.is_dir():
        for path in sorted(place.glob("*.txt")):
            yield path.stem, path.read_text(encoding="utf-8")
        return
    files: dict[str, list[str]] = {}
    _, *rows = place.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for row in rows:
        file, *line = row.split("\t")
        files.setdefault(file, []).append(" ".join(part for part in line if part))
    for file, lines in files.items():
        yield file, "\n".join(lines)


def read_texts(place: Path) -> dict[str, str]:
    """Return texts by name: of the files of a folder, or of a table (JSON, one text a line)."""
    if place.is_dir():
        paths = sorted(path for path in place.iterdir() if path.is_file())
        return {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in paths}
    lines = place.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return {row["name"]: row["text"] for row in map(json.loads, lines)}
