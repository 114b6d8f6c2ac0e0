"""MRCONSO.RRF, on a few rows written by hand (no UMLS content)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.lexicon.umls import read_umls


def row(ident: str, name: str, language: str = "ENG", suppress: str = "N") -> str:
    return f"{ident}|{language}|P|L1|PF|S1|Y|A1||||TEST|PT|D1|{name}|0|{suppress}|256|\n"


ROWS = (
    row("C1", "Zebra pain")
    + row("C1", "ZEBRA PAIN")
    + row("C1", "Zebralgia")
    + row("C1", "Zebraschmerz", language="GER")
    + row("C1", "Old zebra pain", suppress="O")
    + row("C1", "Pain of the zebra not otherwise specified in any chapter of the book")
    + row("C2", "Alone")
)


@pytest.mark.parametrize("packed", [False, True])
def test_english_names_that_are_not_suppressed(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("MRCONSO.RRF.gz" if packed else "MRCONSO.RRF")
    if packed:
        path.write_bytes(gzip.compress(ROWS.encode()))
    else:
        path.write_text(ROWS, encoding="utf-8")
    [group] = read_umls(path)
    assert group.id == "umls:C1"
    assert [(p.text, p.source) for p in group.phrases] == [
        ("Zebra pain", "umls"),
        ("Zebralgia", "umls"),
    ]


def test_short_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "MRCONSO.RRF"
    path.write_text(ROWS + "C3|ENG\n" + ROWS + "x\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_umls(path))
    assert [fault.line for fault in caught.value.faults] == [8, 16]


def test_a_wholly_other_file_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "MRCONSO.RRF"
    path.write_text("x\n" * 10_000, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_umls(path))
    assert len(caught.value.faults) == 100
