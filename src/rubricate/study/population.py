"""Phase 1: the target population by filters, and where variables are detected in it beforehand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from pathlib import Path

import numpy as np

from rubricate.arrays import I64
from rubricate.corpus import Corpus, Note
from rubricate.errors import Fault, InputError, Setting
from rubricate.evaluation import Evaluation
from rubricate.formats import read_corpus, write_corpus
from rubricate.formats.notes import Condition, NoteFilter
from rubricate.formats.options import parse_columns
from rubricate.formats.rubric import read_rubric_file, with_rubrics
from rubricate.rows import Rows
from rubricate.rubric import Scalar
from rubricate.study.planning import find_features, present_notes
from rubricate.study.record import StepResult, Study, read_numbered, run_step
from rubricate.study.settings import VariableSettings
from rubricate.study.summaries import PopulationFacts, PopulationSummary

_RANGES = {"min", "max", "from", "to"}
#: The site of every note when the study has only one.
ONE_SITE = "all"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the study and the features that make it up.

    It is present in a note where any of its features is, and judged only in notes whose case has
    one of them.
    """

    name: str
    role: str
    features: tuple[str, ...]


def by_variable(evaluation: Evaluation, variables: Sequence[Variable]) -> Evaluation:
    """Return the evaluation with the study's variables in the place of features."""
    return evaluation.by_variable({one.name: one.features for one in variables})


def resolve_variables(
    corpus: Corpus, variables: tuple[VariableSettings, ...]
) -> tuple[Variable, ...]:
    """Find the features of each variable in the corpus's rubrics.

    >>> from rubricate import load_corpus
    >>> wanted = (VariableSettings("smoking", "primary", feature_text="tobacco use"),)
    >>> [len(v.features) for v in resolve_variables(load_corpus("open-notes"), wanted)]
    [2]
    """
    found, faults = [], []
    for variable in variables:
        try:
            names = variable.features or (variable.feature_text,)
            ids = dict.fromkeys(i for name in names for i in find_features(corpus, name))
            found.append(Variable(variable.name, variable.role, tuple(ids)))
        except InputError as error:
            faults += [Fault(f"variables: {variable.name}: {f.message}") for f in error.faults]
    InputError.raise_any(faults)
    return tuple(found)


def primary_variable(variables: Sequence[Variable]) -> Variable:
    """Return the primary variable of a study, of which there is one."""
    return next(v for v in variables if v.role == "primary")


def select_notes(corpus: Corpus, where: Mapping[str, object]) -> tuple[Corpus, dict[str, int]]:
    """Keep the notes that meet every condition.

    >>> from rubricate import load_corpus
    >>> found, left = select_notes(
    ...     load_corpus("open-notes"), {"part": "depth", "fold": {"min": 0, "max": 1}}
    ... )
    >>> len(found.notes), left
    (400, {'part': 1000, 'fold': 400})
    """
    conditions, faults = [], []
    for name, condition in where.items():
        place = f"population.where.{name}"
        try:
            conditions.append(Condition(name, _note_test(name, condition), Setting(place)))
        except (ValueError, TypeError) as error:
            faults.append(Fault(f"{place}: {error}"))
    InputError.raise_any(faults)
    chosen = NoteFilter(conditions)
    kept = corpus.select(notes=chosen.keeps)
    chosen.check()
    return kept, dict(zip(where, chosen.left, strict=True))


def _note_test(name: str, condition: object) -> Callable[[Note], bool]:
    test = _test(condition)
    return lambda note: test(note.value(name))


def _test(condition: object) -> Callable[[Scalar], bool]:
    """Turn a condition into a test of a value."""
    if isinstance(condition, list):
        allowed = {str(value) for value in condition}
        return lambda value: value is not None and str(value) in allowed
    if not isinstance(condition, dict):
        return lambda value: value is not None and str(value) == str(condition)
    unknown = set(condition) - _RANGES
    if unknown or not condition:
        raise ValueError(f"a range has min and max, or from and to, not {sorted(unknown)}")
    if {"from", "to"} & set(condition):
        if {"min", "max"} & set(condition):
            raise ValueError("a range has either min and max or from and to")
        first = _date(condition.get("from", date.min))
        last = _date(condition.get("to", date.max))
        return lambda value: value is not None and first <= _date(value) <= last
    low = float(condition.get("min", "-inf"))
    high = float(condition.get("max", "inf"))
    return lambda value: value is not None and low <= _number(value) <= high


def _number(value: Scalar) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except ValueError:
        raise InputError(
            f"population.where: {value!r} is not a number, but the range needs numbers"
        ) from None


def _date(value: object) -> date:
    if isinstance(value, datetime):
        return value.date()
    try:
        return value if isinstance(value, date) else date.fromisoformat(str(value)[:10])
    except ValueError:
        raise InputError(f"{value!r} is no date; write it as 2020-12-31") from None


def site_of(note: Note, field: str) -> str:
    """Return the site of a note."""
    return str(note.value(field)) if field else ONE_SITE


def define_population(study: Study, *, overwrite: bool = False) -> StepResult[PopulationSummary]:
    """Select the target population and describe it.

    Writes ``notes.jsonl`` (notes and the features of the study's variables, nobody's annotations)
    and ``population.json``.
    """
    settings = study.settings.population
    source = study.source(settings.corpus)
    rubric = study.source(settings.rubric) if settings.rubric else None

    def work(place: Path) -> PopulationSummary:
        columns = parse_columns(settings.columns) if settings.columns else None
        corpus = read_corpus(
            source, format=settings.format or None, columns=columns, case=settings.case
        )
        if rubric is not None:
            cases = {note.case for note in corpus.notes}
            corpus = with_rubrics(corpus, read_rubric_file(rubric).for_cases(cases))
        if settings.site and settings.site not in {"case", *_names(corpus)}:
            raise InputError(
                f"population.site: no note has {settings.site!r}; "
                f"there are {', '.join(['case', *_names(corpus)])}"
            )
        selected, left = select_notes(corpus, settings.where)
        variables = resolve_variables(selected, study.settings.variables)
        kept = _with_primary(selected, variables)
        if not kept.notes:
            raise InputError("population: no note is left; loosen population.where")
        variables = _still_there(kept, variables)
        write_corpus(kept, place / "notes.jsonl", format="jsonl")
        return {
            "corpus": {"notes": len(corpus.notes)},
            "left_after": {**left, "primary variable in the rubric": len(kept.notes)},
            **describe_population(kept, settings.site),
            "variables": [asdict(variable) for variable in variables],
            "questions": asdict(settings.questions),
        }

    return run_step(
        study,
        "population",
        work,
        inputs={"corpus": source, **({} if rubric is None else {"rubric": rubric})},
        settings=study.tables("population", "variables"),
        overwrite=overwrite,
    )


def _names(corpus: Corpus) -> list[str]:
    return sorted({name for note in corpus.notes for name in note.metadata})


def _with_primary(corpus: Corpus, variables: tuple[Variable, ...]) -> Corpus:
    """Keep notes whose case has the primary variable; strip annotations and other features."""
    primary = primary_variable(variables)
    cases = {corpus.feature(i).case for i in primary.features}
    kept = corpus.select(notes=lambda note: note.case in cases, annotators=[])
    used = {n.case for n in kept.notes}
    wanted = {i for v in variables for i in v.features}
    rubrics = tuple(
        replace(r, features=tuple(f for f in r.features if f.id in wanted))
        for r in kept.rubrics
        if r.case in used
    )
    return replace(kept, rubrics=rubrics, rows=Rows.empty(), annotators=(), scores=())


def _still_there(corpus: Corpus, variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """Keep the features whose case has notes; a variable without any left is a fault."""
    kept = tuple(
        replace(v, features=tuple(i for i in v.features if i in corpus.feature_index))
        for v in variables
    )
    gone = [v.name for v in kept if not v.features]
    if gone:
        raise InputError(
            Fault(f"variables: {name}: no case of the population has a feature of it")
            for name in gone
        )
    return kept


def describe_population(corpus: Corpus, site: str = "") -> PopulationFacts:
    """Return size, sites and text lengths.

    >>> from rubricate import load_corpus
    >>> found = describe_population(load_corpus("open-notes"), "part")
    >>> found["notes"], found["sites"]
    (2040, {'depth': 1000, 'breadth': 1040})
    """
    sites = Counter(site_of(note, site) for note in corpus.notes)
    characters = np.array([len(note.text) for note in corpus.notes])
    words = np.array([len(note.text.split()) for note in corpus.notes])
    return {
        "notes": len(corpus.notes),
        "cases": len({note.case for note in corpus.notes}),
        "sites": dict(sites),
        "characters": _spread(characters),
        "words": _spread(words),
    }


def _spread(values: I64) -> dict[str, float]:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return {
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        "min": int(values.min()),
        "quarter": low,
        "median": middle,
        "three_quarters": high,
        "max": int(values.max()),
    }


def read_population(study: Study) -> tuple[Corpus, tuple[Variable, ...]]:
    """Return the selected notes and the variables (InputError if phase 1 was not run)."""
    summary: PopulationSummary = study.need("population")
    variables = tuple(
        Variable(**{**v, "features": tuple(v["features"])}) for v in summary["variables"]
    )
    return study.corpus("population", "notes.jsonl"), variables


@dataclass(frozen=True, slots=True)
class Detection:
    """Notes by variable."""

    judged: Mapping[str, frozenset[str]]
    detected: Mapping[str, frozenset[str]]

    def share(self, variable: str) -> tuple[int, int]:
        """Return the number of notes with the variable, and the number of notes."""
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
    InputError.raise_any(faults)
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
    for number, line in read_numbered(path, ["variable", "keyword"]):
        name, word = line["variable"].strip(), line["keyword"].strip()
        if not name or not word:
            faults.append(Fault("need variable and keyword", path, number, "row"))
        found.setdefault(name, []).append(word)
    if faults or not found:
        raise InputError(faults or [Fault("the file has no keywords", path)])
    return found


def detection_inputs(study: Study) -> dict[str, Path | str]:
    """Return the inputs of the detection, for a record."""
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
    """Detect the study's variables as ``study.toml`` says (see `detection_inputs`)."""
    source = study.settings.detection
    if source.keywords:
        words = read_keywords(study.path(source.keywords))
        return detect_by_keywords(population, variables, words)
    output = read_corpus(study.source(source.corpus), format=source.format or None)
    return detect_by_system(population, variables, output, source.annotator or None)
