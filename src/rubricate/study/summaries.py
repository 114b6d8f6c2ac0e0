"""Summaries of the steps of a study, as ``record.json`` has them."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from rubricate.stats import EstimateJson
from rubricate.stats.plans import PlanJson

#: Estimates by name: precision, recall, F1 and, of presence, specificity, NPV and prevalence.
Rates = dict[str, EstimateJson]


class StepRecord(TypedDict):
    """The record of a step: what went in, by hash, and what came out."""

    step: str
    time: str
    version: str
    settings: dict[str, object]
    inputs: dict[str, str]
    places: NotRequired[dict[str, str]]
    outputs: dict[str, str]
    summary: Any  # that of the step, below


class PopulationFacts(TypedDict):
    """Size, sites and text lengths of some notes."""

    notes: int
    cases: int
    sites: dict[str, int]
    characters: dict[str, float]
    words: dict[str, float]


class PopulationSummary(PopulationFacts):
    """Phase 1: the target population."""

    corpus: dict[str, int]
    left_after: dict[str, int]
    variables: list[dict[str, Any]]  # name, role and features of each
    questions: dict[str, str]


class PlanSummary(PlanJson):
    """Phase 2: the sample size."""

    frequency_estimate: EstimateJson
    detected: dict[str, dict[str, int]]


class StratumJson(TypedDict):
    """A stratum of the sample."""

    site: str
    side: str
    part: str
    population: int
    sampled: int
    probability: float


class SampleSummary(TypedDict):
    """Phase 2: the sample."""

    wanted: dict[str, int]
    drawn: dict[str, int]
    shortfall: dict[str, int]
    notes: int
    population: int
    seed: int
    sites: dict[str, dict[str, int]]
    strata: list[StratumJson]
    variables: dict[str, dict[str, int]]


class AssignSummary(TypedDict):
    """Phase 3: who annotates what."""

    notes: dict[str, int]
    tasks: int
    batches: list[str]
    by_annotator: dict[str, dict[str, int]]
    format: str
    wanted_training: int
    annotators: list[dict[str, str | bool]]


class VariableAgreement(TypedDict):
    """Agreement of two annotators on one variable."""

    variable: str
    role: str
    notes: int
    both: int
    first_only: int
    second_only: int
    neither: int
    presence_f1: EstimateJson
    presence_kappa: float | None
    kappa: NotRequired[EstimateJson]
    characters_f1: EstimateJson
    low: bool


class AgreementSummary(TypedDict):
    """Agreement of annotators, variable by variable."""

    notes: int
    threshold: float
    confidence: NotRequired[float]
    variables: list[VariableAgreement]
    low: list[str]
    undefined: list[str]
    training: NotRequired[list[VariableAgreement]]


class CollectSummary(TypedDict):
    """Phase 4: what came back."""

    judgements: int
    missing: list[dict[str, str]]
    without_any_mark: int
    rehearsed: NotRequired[bool]
    agreement: AgreementSummary


class CurateSummary(TypedDict):
    """Phase 4: who decided the rows of the reference."""

    rows: int
    double: int
    disputed: int
    undecided: int
    decided_by: dict[str, int]


class CeilingJson(TypedDict):
    """A system's F1 beside the annotators' own."""

    notes: int
    system_f1: float
    ceiling_f1: float
    ceiling: EstimateJson
    difference: EstimateJson


class SiteResult(TypedDict):
    """One variable at one site."""

    site: str
    notes: int
    tp: int
    fp: int
    fn: int
    tn: int
    precision: EstimateJson
    recall: EstimateJson


class BySite(TypedDict):
    """One variable site by site, and how far its rates differ (`Heterogeneity`)."""

    sites: list[SiteResult]
    heterogeneity: dict[str, dict[str, float | int | None]]
    #: Mean rate of sites like these, and the rate to expect at another one.
    mean: NotRequired[dict[str, EstimateJson]]
    prediction: NotRequired[dict[str, EstimateJson]]


class WeightedAgreement(TypedDict):
    """Agreement of annotators on one variable in the population, weighted by design."""

    notes: int
    presence_f1: EstimateJson
    kappa: EstimateJson
    characters_f1: EstimateJson


class VariableResult(TypedDict):
    """One variable of the evaluation; without notes it has no values."""

    variable: str
    role: str
    notes: int
    manual: NotRequired[int]
    detections: NotRequired[int]
    tp: NotRequired[int]
    fp: NotRequired[int]
    fn: NotRequired[int]
    tn: NotRequired[int]
    presence: NotRequired[Rates]
    by_site: NotRequired[BySite]
    characters: NotRequired[Rates]
    spans_exact: NotRequired[Rates]
    spans_one_side_boundary: NotRequired[Rates]
    spans_token_overlap: NotRequired[Rates]
    ceiling: NotRequired[dict[str, CeilingJson] | None]
    #: Only where the notes that two annotated have unequal weights.
    agreement: NotRequired[WeightedAgreement]


class WidthJson(TypedDict):
    """The half widths that were planned and reached."""

    planned: float
    precision: float | None
    recall: float | None
    met: bool


class EvaluateSummary(TypedDict):
    """Phase 5: the system against the reference."""

    system: str
    weighted: bool
    finite: bool
    confidence: float
    resamples: int
    seed: int
    width: WidthJson
    variables: list[VariableResult]
    warnings: list[str]
    #: Clusters of notes, such as patients, of the primary variable.
    clusters: NotRequired[int]


class ReportSummary(TypedDict):
    """Phase 5: the files of the report."""

    files: list[str]
