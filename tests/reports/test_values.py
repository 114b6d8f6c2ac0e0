"""Points are the values of the evaluation they come from."""

from __future__ import annotations

import pytest

from rubricate import Corpus
from rubricate.measures.intervals import EvaluationWithIntervals
from rubricate.reports.levels import MEASURES, case_names, case_order


def test_points_agree_with_the_dictionary(measured: dict[str, EvaluationWithIntervals]) -> None:
    found = measured["bob"]
    values = found.to_dict()
    for path in MEASURES:
        own, cases, features = values, values["cases"]["a"], values["features"]["b2"]
        for name in path:
            own, cases, features = own[name], cases[name], features[name]
        for statistic in ("precision", "recall", "f1"):
            for point, expected in (
                (found.overall(*path, statistic=statistic), own),
                (found.by_group(*path, level="cases", statistic=statistic)["a"], cases),
                (found.by_group(*path, level="features", statistic=statistic)["b2"], features),
                (
                    found.macro_mean(*path, level="cases", statistic=statistic),
                    own["macro"]["cases"],
                ),
                (
                    found.macro_mean(*path, level="features", statistic=statistic),
                    own["macro"]["features"],
                ),
            ):
                assert point.value == pytest.approx(expected[statistic])
                limits = expected["intervals"][statistic]
                assert [point.low, point.high] == pytest.approx([limits["low"], limits["high"]])


def test_cases_keep_the_corpus_order(
    trapped: Corpus, measured: dict[str, EvaluationWithIntervals]
) -> None:
    assert case_order(trapped, *measured.values()) == ["a", "b"]
    assert case_names(trapped)["a"].startswith("a Case")
