"""In which notes a variable is detected before anybody annotates: by a system, or by keywords."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rubricate.corpus import Corpus
from rubricate.errors import Fault, InputError
from rubricate.formats import read_corpus
from rubricate.study.planning import present_notes
from rubricate.study.population import Variable
from rubricate.study.record import Study, read_table


@dataclass(frozen=True, slots=True)
class Detection:
    """Notes by variable."""

    judged: Mapping[str, frozenset[str]]
    detected: Mapping[str, frozenset[str]]

    def share(self, variable: str) -> tuple[int, int]:
        """Return how many notes have the variable, of how many."""
        return len(self.detected[variable]), len(self.judged[variable])


def judged_notes(corpus: Corpus, variables: Sequence[Variable]) -> dict[str, frozenset[str]]:
    """Return the notes whose case has a feature of each variable."""
    case_of = {f.id: f.case for f in corpus.features}
    found = {}
    for variable in variables:
        cases = {case_of[i] for i in variable.features if i in case_of}
        found[variable.name] = frozenset(n.id for n in corpus.notes if n.case in cases)
    return found


def detect_by_system(
    population: Corpus, variables: Sequence[Variable], output: Corpus, annotator: str | None
) -> Detection:
    """Take what a system found.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> smoking = Variable("smoking", "primary", ("12",))
    >>> detect_by_system(corpus, [smoking], corpus, "reference").share("smoking")
    (83, 100)
    """
    missing = [n.id for n in population.notes if n.id not in output.note_index]
    faults = [Fault(f"detection: note {i} is not in the system's output") for i in missing]
    for note in population.notes:
        if note.id in output.note_index and output.note(note.id).text not in ("", note.text):
            faults.append(Fault(f"detection: note {note.id} has another text in the output"))
    if faults:
        raise InputError(faults)
    judged = judged_notes(population, variables)
    detected = {}
    for variable in variables:
        known = [i for i in variable.features if i in output.feature_index]
        if not known:
            raise InputError(f"detection: the system's output has no feature of {variable.name!r}")
        _, present = present_notes(output, known, annotator)
        detected[variable.name] = judged[variable.name] & frozenset(present)
    return Detection(judged, detected)


def detect_by_keywords(
    population: Corpus, variables: Sequence[Variable], keywords: Mapping[str, Sequence[str]]
) -> Detection:
    """Look for whole words, whatever their case.

    >>> from rubricate import load_corpus
    >>> corpus = load_corpus("open-notes").select(cases=["0"])
    >>> smoking = Variable("smoking", "primary", ("12",))
    >>> found = detect_by_keywords(corpus, [smoking], {"smoking": ["smokes", "cigarettes"]})
    >>> 0 < found.share("smoking")[0] < 100
    True
    """
    names = [variable.name for variable in variables]
    unknown = [name for name in keywords if name not in names]
    if unknown:
        raise InputError(
            Fault(f"detection.keywords: no variable is called {name!r}; there are: "
                  f"{', '.join(names)}")
            for name in unknown
        )  # fmt: skip
    judged = judged_notes(population, variables)
    detected = {}
    for variable in variables:
        words = [re.escape(word) for word in keywords.get(variable.name, ())]
        if not words:
            raise InputError(f"detection.keywords: there is none for {variable.name!r}")
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)
        detected[variable.name] = frozenset(
            note.id
            for note in population.notes
            if note.id in judged[variable.name] and pattern.search(note.text)
        )
    return Detection(judged, detected)


def read_keywords(path: Path) -> dict[str, list[str]]:
    """Read a CSV with the columns variable and keyword."""
    found: dict[str, list[str]] = {}
    faults = []
    for number, line in enumerate(read_table(path, ["variable", "keyword"]), start=1):
        name, word = line["variable"].strip(), line["keyword"].strip()
        if not name or not word:
            faults.append(Fault("need variable and keyword", path, number, "row"))
        found.setdefault(name, []).append(word)
    if faults or not found:
        raise InputError(faults or [Fault("there is no keyword in it", path)])
    return found


def detection_inputs(study: Study) -> dict[str, Path | str]:
    """Return what the detection reads, for a record."""
    source = study.settings.detection
    if bool(source.corpus) == bool(source.keywords):
        raise InputError(
            "detection: name either corpus (a system's output or a pilot) or keywords "
            "(a CSV with variable and keyword) in study.toml"
        )
    if source.keywords:
        return {"keywords": study.path(source.keywords)}
    return {"detection": study.source(source.corpus)}


def detect(study: Study, population: Corpus, variables: Sequence[Variable]) -> Detection:
    """Detect the study's variables as ``study.toml`` says."""
    source = study.settings.detection
    detection_inputs(study)
    if source.keywords:
        words = read_keywords(study.path(source.keywords))
        return detect_by_keywords(population, variables, words)
    output = read_corpus(study.source(source.corpus), format=source.format or None)
    return detect_by_system(population, variables, output, source.annotator or None)
