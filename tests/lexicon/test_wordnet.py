"""WordNet's dictionary format, on a few lines written by hand and on the installed files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.lexicon.wordnet import PLACES, read_wordnet, wordnet_version

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
@pytest.mark.skipif(not (PLACES[0] / "data.noun").is_file(), reason="wordnet-base not installed")
def test_the_installed_files() -> None:
    groups = [{p.text for p in group.phrases} for group in read_wordnet(PLACES[0])]
    assert len(groups) > 10_000
    assert any({"myocardial infarction", "myocardial infarct"} <= group for group in groups)
