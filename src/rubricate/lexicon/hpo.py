"""Names, synonyms and lay terms from the Human Phenotype Ontology's hp.obo file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rubricate.errors import Fault, InputError
from rubricate.lexicon.groups import Group, Phrase

_SYNONYM = re.compile(r'synonym: "((?:[^"\\]|\\.)*)" (EXACT|BROAD|NARROW|RELATED)(?: ([^\s\[]+))?')


def read_hpo(path: Path) -> Iterator[Group]:
    """Yield a group for each term with a synonym; lay terms have the source ``hpo_lay``.

    Exact synonyms are taken, and lay terms that are exact or related; broader and narrower ones
    are not synonyms.

    Raises
    ------
    InputError
        If the file holds no term.
    """
    seen = False
    with path.open(encoding="utf-8") as stream:
        ident, current = "", False
        phrases: list[Phrase] = []
        for line in stream:
            if line.startswith("["):
                yield from _finished(ident, phrases)
                current = line.startswith("[Term]")
                seen = seen or current
                ident, phrases = "", []
            elif not current:
                continue
            elif line.startswith("id: "):
                ident = line[4:].strip()
            elif line.startswith("name: "):
                phrases.append(Phrase(line[6:].strip(), "hpo"))
            elif line.startswith("synonym: "):
                phrases.extend(_synonym(line))
            elif line.startswith("is_obsolete: true"):
                current, phrases = False, []
        yield from _finished(ident, phrases)
    if not seen:
        raise InputError([Fault("no [Term] in the file; an OBO file is wanted (hp.obo)", path)])


def _synonym(line: str) -> list[Phrase]:
    match = _SYNONYM.match(line)
    if match is None:
        return []
    text, scope, kind = match[1].replace('\\"', '"'), match[2], match[3] or ""
    lay = kind == "layperson"
    if kind == "obsolete_synonym" or not (scope == "EXACT" or (lay and scope == "RELATED")):
        return []
    return [Phrase(text, "hpo_lay" if lay else "hpo")]


def _finished(ident: str, phrases: list[Phrase]) -> list[Group]:
    return [Group(f"hpo:{ident}", tuple(phrases))] if ident and len(phrases) > 1 else []


def hpo_version(path: Path) -> str:
    """Return the file's ``data-version``, or an empty text."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.startswith("data-version: "):
                return line.split(": ", 1)[1].strip()
            if line.startswith("["):
                break
    return ""
