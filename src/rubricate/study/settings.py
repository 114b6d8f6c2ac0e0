"""Content of ``study.toml``: one frozen value per table, and all faults at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from rubricate.errors import ArgumentError, Fault, InputError, at_least, inside_unit, one_of
from rubricate.files import packaged_text, shown_path
from rubricate.formats.reading import read_toml
from rubricate.stats import METHODS
from rubricate.stats.sizes import half_width_faults
from rubricate.study.curation import RULE_FUNCTIONS
from rubricate.values import from_plain

STUDY_FILE = "study.toml"
ROLES = ("primary", "secondary")
TOOL_FORMATS = ("brat", "cas", "webanno", "jsonl")
_FOLDER_NAME = re.compile(r"\w[\w.-]*")
#: How notes are shared among parts: in proportion to this power of their size.
ALLOCATIONS = {"sqrt": 0.5, "proportional": 1.0, "equal": 0.0}
#: Names of files that lie beside the annotators' folders.
_TAKEN = ("key.csv", "assignment.json", "record.json")


@dataclass(frozen=True, slots=True)
class Questions:
    """The method's questions about the target population, answered in words."""

    age: str = ""
    sites: str = ""
    departments: str = ""
    period: str = ""
    primary: str = ""
    secondary: str = ""


@dataclass(frozen=True, slots=True)
class AnnotationSource:
    """Source of annotated notes: a corpus, its format, and one of its annotators."""

    corpus: str = ""
    format: str = ""
    annotator: str = ""
    keywords: str = ""


@dataclass(frozen=True, slots=True)
class PopulationSettings:
    """Which notes are studied; ``finite`` if these are all the notes there will ever be.

    ``columns`` and ``case`` say how a table of notes is to be understood, as ``--columns`` and
    ``--assign-case`` do.
    """

    corpus: str = ""
    format: str = ""
    rubric: str = ""
    columns: str = ""
    case: str = ""
    site: str = ""
    finite: bool = False
    where: Mapping[str, Any] = field(default_factory=dict)
    questions: Questions = Questions()


@dataclass(frozen=True, slots=True)
class VariableSettings:
    """One thing that is measured: one or several features, by id or by their whole text."""

    name: str = ""
    role: str = "secondary"
    features: tuple[str, ...] = ()
    feature_text: str = ""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Expected values for the sample size; a frequency of 0 is estimated from the detection."""

    method: str = "reported"
    precision: float = 0.85
    recall: float = 0.80
    half_width: float = 0.05
    confidence: float = 0.95
    frequency: float = 0.0
    frequency_kind: str = "internal"
    assurance: float = 0.9
    interval: str = "clopper-pearson"
    design_effect: float = 1.0


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """Distribution of the planned notes over sites and secondary variables."""

    allocation: str = "sqrt"


@dataclass(frozen=True, slots=True)
class AnnotatorSettings:
    """A person who annotates."""

    id: str = ""
    senior: bool = False
    site: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class AnnotationSettings:
    """Settings of the annotation project."""

    format: str = "brat"
    training: int = 5
    double_share: float = 1.0
    weeks: int = 1
    by: str = "random"
    rename: bool = False
    annotators: tuple[AnnotatorSettings, ...] = ()


@dataclass(frozen=True, slots=True)
class AgreementSettings:
    """When agreement counts as low."""

    threshold: float = 0.8


@dataclass(frozen=True, slots=True)
class CurationSettings:
    """Rules that settle rows without a curator, tried in order."""

    rules: tuple[str, ...] = ("identical",)


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """Settings of the intervals of the evaluation.

    ``cluster``: metadata field of the notes, such as the patient, whose notes go together.
    """

    resamples: int = 2000
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class StudySettings:
    """All of ``study.toml``.

    >>> StudySettings(name="asthma").plan.half_width
    0.05
    """

    name: str = ""
    question: str = ""
    seed: int = 0
    guidelines: str = "guidelines.md"
    population: PopulationSettings = PopulationSettings()
    variables: tuple[VariableSettings, ...] = ()
    detection: AnnotationSource = AnnotationSource()
    plan: PlanSettings = PlanSettings()
    sampling: SamplingSettings = SamplingSettings()
    annotation: AnnotationSettings = AnnotationSettings()
    agreement: AgreementSettings = AgreementSettings()
    curation: CurationSettings = CurationSettings()
    system: AnnotationSource = AnnotationSource()
    evaluation: EvaluationSettings = EvaluationSettings()
    stard: Mapping[str, str] = field(default_factory=dict)

    @property
    def primary(self) -> VariableSettings:
        """The primary variable."""
        return next(v for v in self.variables if v.role == "primary")


@cache
def stard_items() -> dict[str, str]:
    """Return the items of STARD 2015 (Bossuyt et al., BMJ 2015;351:h5527).

    Notes stand in the place of patients.

    >>> stard_items()["4"]
    'Objectives and hypotheses'
    """
    lines = packaged_text("study", "templates", "stard.tsv").splitlines()[1:]
    return dict(line.split("\t") for line in lines)


def read_settings(path: Path) -> StudySettings:
    r"""Read ``study.toml``.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / STUDY_FILE
    >>> _ = place.write_text('name = "x"\n[population]\ncorpus = "open-notes"\n'
    ...     '[[variables]]\nname = "smoking"\nrole = "primary"\nfeature_text = "Tobacco use"\n')
    >>> read_settings(place).primary.name
    'smoking'
    """
    if not path.exists():
        hint = "Run: rubricate study new FOLDER"
        if not path.parent.exists():
            raise ArgumentError(f"{shown_path(path.parent)}: no such folder. {hint}")
        raise InputError([Fault(f"there is no such file. {hint}", path)])
    untyped: list[str] = []
    settings = from_plain(StudySettings, read_toml(path), untyped)
    faults = list(map(Fault, untyped)) or _wrong_values(settings)
    InputError.raise_any([replace(fault, path=path) for fault in faults])
    return settings


def _wrong_values(settings: StudySettings) -> list[Fault]:
    """Return the faults of values whose types are right."""
    found: list[Fault] = []
    if not settings.population.corpus:
        missing = "population.corpus is missing: a path or the name of an embedded corpus"
        found.append(Fault(missing))
    n_primary = sum(v.role == "primary" for v in settings.variables)
    if n_primary != 1:
        found.append(Fault(f'{n_primary} variables have role = "primary"; there must be one'))
    names = [v.name for v in settings.variables]
    for i, variable in enumerate(settings.variables, 1):
        place = f"variables[{i}]"
        if not variable.name or names.count(variable.name) > 1:
            found.append(Fault(f"{place}.name is missing or used twice"))
        found += one_of(f"{place}.role", variable.role, ROLES)
        if bool(variable.features) == bool(variable.feature_text):
            found.append(Fault(f"{place} needs either features or feature_text"))
    items = ", ".join(stard_items())
    found += [
        Fault(f"stard.{item} must be text in quotes under one of the items {items}")
        for item, text in settings.stard.items()
        if item not in stard_items() or not isinstance(text, str)
    ]

    annotation = settings.annotation
    ids = [annotator.id for annotator in annotation.annotators]
    # Some file systems do not tell "ann" from "Ann".
    if len({i.casefold() for i in ids}) != len(ids) or "" in ids:
        found.append(Fault("annotation.annotators: every annotator needs an id of its own"))
    odd = [i for i in ids if i and (not _FOLDER_NAME.fullmatch(i) or i.casefold() in _TAKEN)]
    if odd:
        allowed = (
            "ids name folders, so they may hold letters, digits, - _ and . only, and none may be "
            f"{', '.join(_TAKEN)}, not {', '.join(map(repr, odd))}"
        )
        found.append(Fault(f"annotation.annotators: {allowed}"))

    plan = settings.plan
    for name in ("precision", "recall", "confidence", "assurance", "frequency"):
        if name != "frequency" or plan.frequency:
            found += inside_unit(f"plan.{name}", getattr(plan, name))
    found += [Fault(f"plan.{fault.message}") for fault in half_width_faults(plan.half_width)]
    found += at_least("plan.design_effect", plan.design_effect, 1)
    found += one_of("plan.method", plan.method, ("reported", "assurance", "slice"))
    found += one_of("plan.frequency_kind", plan.frequency_kind, ("internal", "external"))
    found += one_of("plan.interval", plan.interval, METHODS)

    found += at_least("evaluation.resamples", settings.evaluation.resamples, 1)
    if not 0 <= annotation.double_share <= 1:
        share = f"annotation.double_share is {annotation.double_share}: from 0 to 1"
        found.append(Fault(share))
    if annotation.training < 0 or annotation.weeks < 1:
        found.append(Fault("annotation: training must be at least 0 and weeks at least 1"))
    if settings.seed < 0:
        found.append(Fault(f"seed is {settings.seed}: it must be at least 0"))
    if not 0 <= settings.agreement.threshold <= 1:
        found.append(Fault(f"agreement.threshold is {settings.agreement.threshold}: from 0 to 1"))
    found += one_of("annotation.format", annotation.format, TOOL_FORMATS)
    found += one_of("annotation.by", annotation.by, ("random", "site", "case"))
    found += one_of("sampling.allocation", settings.sampling.allocation, tuple(ALLOCATIONS))
    for rule in settings.curation.rules:
        found += one_of("curation.rules", rule, tuple(RULE_FUNCTIONS))
    return found
