"""Intervals, comparisons and sample sizes: numbers in, numbers out."""

from rubricate.stats.bootstrap import (
    Bootstrapped,
    bootstrap_interval,
    summarise,
)
from rubricate.stats.clusters import (
    ClusterSummary,
    cluster_interval,
    design_effect_of_replicates,
    intraclass_correlation,
    score_agreement,
    summarise_clusters,
)
from rubricate.stats.comparison import (
    Comparison,
    Side,
    compare_paired,
    compare_with_ceiling,
    difference_of_estimates,
    permutation_p_value,
)
from rubricate.stats.curves import PlanCurve, plan_curve
from rubricate.stats.drawing import DRAWINGS, Chances, Sampling, width_chances
from rubricate.stats.few_errors import Support, effective_items, limit_by_items
from rubricate.stats.heterogeneity import Heterogeneity, heterogeneity
from rubricate.stats.intervals import (
    Estimate,
    EstimateJson,
    coverage,
    defined,
    f1_corner_interval,
    f1_interval,
    proportion_interval,
    proportion_limits,
)
from rubricate.stats.limits import METHODS, Method
from rubricate.stats.margins import MarginTest, adjust_margin_tests, margin_test
from rubricate.stats.more_sizes import auc_size, icc_size, kappa_size, non_inferiority_size
from rubricate.stats.multiplicity import adjust_p_values
from rubricate.stats.nested import Layout, Levels, bootstrap_groups, bootstrap_levels
from rubricate.stats.pilot import PilotPlan, plan_pilot
from rubricate.stats.planning import estimate_frequency, finite_size, plan_assurance
from rubricate.stats.plans import (
    Cells,
    Drawing,
    Expected,
    FrequencyKind,
    PerSite,
    Plan,
    PlanMethod,
    Target,
)
from rubricate.stats.posterior import Stratum, WeightedMeasures, stratified_posterior
from rubricate.stats.ratios import Statistic, precision_recall_f1, ratio
from rubricate.stats.reported import plan_reported, reported_chances
from rubricate.stats.resampling import (
    BOOTSTRAP_METHODS,
    POPULATIONS,
    BootstrapMethod,
    Population,
    Resampling,
    degrees_of_freedom,
    resample_sums,
)
from rubricate.stats.scores import LimitsOfAgreement, gwet_ac2, limits_of_agreement
from rubricate.stats.sequential import InterimLook, SequentialPlan, obrien_fleming, plan_sequential
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
    "BOOTSTRAP_METHODS",
    "DRAWINGS",
    "METHODS",
    "POPULATIONS",
    "BootstrapMethod",
    "Bootstrapped",
    "Cells",
    "Chances",
    "ClusterSummary",
    "Comparison",
    "Drawing",
    "Estimate",
    "EstimateJson",
    "Expected",
    "FrequencyKind",
    "Heterogeneity",
    "InterimLook",
    "Layout",
    "Levels",
    "LimitsOfAgreement",
    "MarginTest",
    "Method",
    "Outlook",
    "PerSite",
    "PilotPlan",
    "Plan",
    "PlanCurve",
    "PlanMethod",
    "Population",
    "Resampling",
    "Sampling",
    "SequentialPlan",
    "Side",
    "Statistic",
    "Stratum",
    "Support",
    "Target",
    "VariablesPlan",
    "WeightedMeasures",
    "adjust_margin_tests",
    "adjust_p_values",
    "assured_half_width",
    "assured_size",
    "auc_size",
    "bootstrap_groups",
    "bootstrap_interval",
    "bootstrap_levels",
    "cluster_interval",
    "compare_paired",
    "compare_with_ceiling",
    "coverage",
    "defined",
    "degrees_of_freedom",
    "design_effect_of_replicates",
    "design_weights",
    "difference_of_estimates",
    "effective_items",
    "estimate_frequency",
    "f1_corner_interval",
    "f1_interval",
    "finite_size",
    "first_size",
    "gwet_ac2",
    "heterogeneity",
    "icc_size",
    "intraclass_correlation",
    "kappa_size",
    "limit_by_items",
    "limits_of_agreement",
    "margin_test",
    "non_inferiority_size",
    "obrien_fleming",
    "oversampled",
    "permutation_p_value",
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
    "reported_chances",
    "resample_sums",
    "score_agreement",
    "stratified_posterior",
    "summarise",
    "summarise_clusters",
    "weighted_counts",
    "width_chances",
    "width_probability",
]
