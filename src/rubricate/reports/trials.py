"""The page of `rubricate compare`: what matchers reached on the same splits."""

from __future__ import annotations

from typing import Any

from rubricate.corpus import Corpus
from rubricate.reports.comparing import Compared, Comparing, Difference, LearningCurve
from rubricate.reports.comparison import comparison_page
from rubricate.reports.plots import Point
from rubricate.reports.readings import case_names, overall_point
from rubricate.trials import TrialResult


def trial_page(result: TrialResult, corpus: Corpus, protocol: str) -> str:
    """Return the page of a comparison of matchers.

    Parameters
    ----------
    result : TrialResult
        What was reached.
    corpus : Corpus
        Gives the cases' names.
    protocol : str
        A sentence or two on what was learned from what.
    """
    groups = result.groups
    last = groups[-1]
    matchers = []
    for group in groups:
        for name, found in result.of(group).items():
            shown = f"{name}, {group} notes a case" if group else name
            matchers.append(Compared.of(shown, found))
    human = None
    if result.ceiling is not None:
        human = Compared.of("annotators", result.ceiling.pooled)
    tested = {case for found in result.of(last).values()
              for case in found.evaluation.characters.by("case").ids}  # fmt: skip
    names = {case: name for case, name in case_names(corpus).items() if case in tested}
    comparing = Comparing(
        protocol=protocol,
        cases=names,
        matchers=tuple(matchers),
        human=human,
        differences=tuple(_differences(result.to_dict()["groups"][last]["comparisons"])),
        curves=tuple(_curves(result)) if len(groups) > 1 else (),
        facts={
            "notes": f"{result.n_notes:,}",
            "resamples": f"{result.settings.resamples:,} by note",
            "confidence": f"{result.settings.confidence:.0%}",
            "seed": str(result.settings.seed),
        },
    )
    return comparison_page(comparing)


def _differences(comparisons: list[dict[str, Any]]) -> list[Difference]:
    nan = float("nan")
    found = []
    for comparison in comparisons:
        for measure in ("characters", "presence"):
            value = comparison[measure]
            low, high = (nan if x is None else x for x in value["interval"])
            point = Point(nan if value["difference"] is None else value["difference"], low, high)
            p_value = nan if value["p_value"] is None else value["p_value"]
            pair = (comparison["first"], comparison["second"])
            found.append(Difference(*pair, measure, point, p_value))
    return found


def _curves(result: TrialResult) -> list[LearningCurve]:
    numbers = tuple(int(group) for group in result.groups)
    names = list(result.of(result.groups[0]))
    return [
        LearningCurve(
            name,
            numbers,
            tuple(overall_point(result.of(g)[name], ("characters",)) for g in result.groups),
            tuple(overall_point(result.of(g)[name], ("presence",)) for g in result.groups),
        )
        for name in names
    ]
