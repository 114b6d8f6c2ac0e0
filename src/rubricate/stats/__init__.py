"""Intervals, comparisons and sample sizes: numbers in, numbers out."""

from rubricate.stats.bootstrap import Bootstrapped, bootstrap_interval, summarise
from rubricate.stats.clusters import (
    ClusterSummary,
    cluster_interval,
    heterogeneity,
    score_agreement,
    summarise_clusters,
)
from rubricate.stats.comparison import Comparison, Side, compare_paired, compare_with_ceiling
from rubricate.stats.curves import plan_curve, plan_reported, plan_slice
from rubricate.stats.drawing import width_chances
from rubricate.stats.few_errors import Support, effective_items, limit_by_items
from rubricate.stats.intervals import (
    Estimate,
    EstimateJson,
    defined,
    f1_corner_interval,
    f1_interval,
    proportion_interval,
    proportion_limits,
)
from rubricate.stats.limits import METHODS, Method
from rubricate.stats.margins import MarginTest, adjust_margin_tests, adjust_p_values, margin_test
from rubricate.stats.more_sizes import (
    VariablesPlan,
    auc_size,
    icc_size,
    kappa_size,
    non_inferiority_size,
    plan_variables,
)
from rubricate.stats.nested import Layout, Levels, bootstrap_levels
from rubricate.stats.planning import PilotPlan, estimate_frequency, plan_assurance, plan_pilot
from rubricate.stats.plans import Cells, Drawing, Expected, FrequencyKind, Plan, PlanMethod, Target
from rubricate.stats.resampling import (
    BOOTSTRAP_METHODS,
    POPULATIONS,
    BootstrapMethod,
    Population,
    Resampling,
    Statistic,
    degrees_of_freedom,
    precision_recall_f1,
    ratio,
    resample_sums,
)
from rubricate.stats.scores import LimitsOfAgreement, gwet_ac2, limits_of_agreement
from rubricate.stats.sequential import plan_sequential
from rubricate.stats.weights import (
    WeightedMeasures,
    oversampled,
    refuse_unweighted_recall,
    stratified_posterior,
)

__all__ = [
    "BOOTSTRAP_METHODS",
    "METHODS",
    "POPULATIONS",
    "BootstrapMethod",
    "Bootstrapped",
    "Cells",
    "ClusterSummary",
    "Comparison",
    "Drawing",
    "Estimate",
    "EstimateJson",
    "Expected",
    "FrequencyKind",
    "Layout",
    "Levels",
    "LimitsOfAgreement",
    "MarginTest",
    "Method",
    "PilotPlan",
    "Plan",
    "PlanMethod",
    "Population",
    "Resampling",
    "Side",
    "Statistic",
    "Support",
    "Target",
    "VariablesPlan",
    "WeightedMeasures",
    "adjust_margin_tests",
    "adjust_p_values",
    "auc_size",
    "bootstrap_interval",
    "bootstrap_levels",
    "cluster_interval",
    "compare_paired",
    "compare_with_ceiling",
    "defined",
    "degrees_of_freedom",
    "effective_items",
    "estimate_frequency",
    "f1_corner_interval",
    "f1_interval",
    "gwet_ac2",
    "heterogeneity",
    "icc_size",
    "kappa_size",
    "limit_by_items",
    "limits_of_agreement",
    "margin_test",
    "non_inferiority_size",
    "oversampled",
    "plan_assurance",
    "plan_curve",
    "plan_pilot",
    "plan_reported",
    "plan_sequential",
    "plan_slice",
    "plan_variables",
    "precision_recall_f1",
    "proportion_interval",
    "proportion_limits",
    "ratio",
    "refuse_unweighted_recall",
    "resample_sums",
    "score_agreement",
    "stratified_posterior",
    "summarise",
    "summarise_clusters",
    "width_chances",
]
