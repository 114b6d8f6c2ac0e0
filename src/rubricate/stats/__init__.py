"""Intervals, comparisons and sample sizes: numbers in, numbers out."""

from rubricate.stats.bootstrap import (
    Bootstrapped,
    bootstrap_interval,
    exact_where_still,
    summarise,
)
from rubricate.stats.clusters import (
    ClusterSummary,
    cluster_interval,
    design_effect_of_replicates,
    intraclass_correlation,
    summarise_clusters,
)
from rubricate.stats.comparison import (
    Comparison,
    compare_paired,
    compare_with_ceiling,
    permutation_p_value,
)
from rubricate.stats.curves import Curve, plan_curve
from rubricate.stats.intervals import (
    Estimate,
    Interval,
    coverage,
    f1_corner_interval,
    f1_interval,
    proportion_interval,
    proportion_limits,
)
from rubricate.stats.limits import METHODS, Method
from rubricate.stats.multiplicity import adjust_p_values
from rubricate.stats.nested import Layout, Levels, bootstrap_groups, bootstrap_levels
from rubricate.stats.planning import estimate_frequency, finite_size, plan_assurance
from rubricate.stats.plans import Cells, Expected, FrequencyKind, PerSite, Plan, Target
from rubricate.stats.posterior import Stratum, WeightedMeasures, stratified_posterior
from rubricate.stats.ratios import Statistic, precision_recall_f1, ratio
from rubricate.stats.resampling import Resampling, resample_sums
from rubricate.stats.sizes import assured_size, first_size
from rubricate.stats.slice import plan_slice
from rubricate.stats.variables import Outlook, VariablesPlan, plan_variables
from rubricate.stats.weights import (
    design_weights,
    oversampled,
    refuse_unweighted_recall,
    weighted_counts,
)
from rubricate.stats.widths import assured_half_width, width_probability

__all__ = [
    "METHODS",
    "Bootstrapped",
    "Cells",
    "ClusterSummary",
    "Comparison",
    "Curve",
    "Estimate",
    "Expected",
    "FrequencyKind",
    "Interval",
    "Layout",
    "Levels",
    "Method",
    "Outlook",
    "PerSite",
    "Plan",
    "Resampling",
    "Statistic",
    "Stratum",
    "Target",
    "VariablesPlan",
    "WeightedMeasures",
    "adjust_p_values",
    "assured_half_width",
    "assured_size",
    "bootstrap_groups",
    "bootstrap_interval",
    "bootstrap_levels",
    "cluster_interval",
    "compare_paired",
    "compare_with_ceiling",
    "coverage",
    "design_effect_of_replicates",
    "design_weights",
    "estimate_frequency",
    "exact_where_still",
    "f1_corner_interval",
    "f1_interval",
    "finite_size",
    "first_size",
    "intraclass_correlation",
    "oversampled",
    "permutation_p_value",
    "plan_assurance",
    "plan_curve",
    "plan_slice",
    "plan_variables",
    "precision_recall_f1",
    "proportion_interval",
    "proportion_limits",
    "ratio",
    "refuse_unweighted_recall",
    "resample_sums",
    "stratified_posterior",
    "summarise",
    "summarise_clusters",
    "weighted_counts",
    "width_probability",
]
