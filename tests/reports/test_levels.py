"""Sections by case and by feature."""

from __future__ import annotations

import pytest

from rubricate import Corpus
from rubricate.evaluation import LABELS
from rubricate.evaluation.evaluation import Evaluation
from rubricate.reports.blocks import blocks_html
from rubricate.reports.levels import (
    HUMAN,
    Measuring,
    case_figure,
    case_names,
    case_order,
    case_values_table,
    feature_section,
)


def test_tables_have_a_line_a_case_and_a_column_a_system(
    trapped: Corpus, measured: dict[str, Evaluation]
) -> None:
    measuring = Measuring(measured, trapped)
    table = case_values_table(measuring, [("characters",), ("presence",)])
    assert [line[0] for line in table.lines] == list(case_names(trapped).values())
    assert {len(line) for line in table.lines} == {len(table.header)} == {2 + 2 * 2}


def test_the_human_line_appears_where_known(
    trapped: Corpus, measured: dict[str, Evaluation]
) -> None:
    human = measured["cy"]
    with_line = case_figure(Measuring({"bob": measured["bob"]}, trapped, human), ("presence",))
    without = case_figure(Measuring({"bob": measured["bob"]}, trapped), ("presence",))
    assert HUMAN in blocks_html(with_line)
    assert HUMAN not in blocks_html(without)


def test_cases_nobody_compared_are_left_open(
    trapped: Corpus, measured: dict[str, Evaluation]
) -> None:
    more = Measuring(measured, trapped.select(cases=["a"]))
    assert more.cases == ["a"]


def test_all_features_are_drawn_and_listed(
    trapped: Corpus, measured: dict[str, Evaluation]
) -> None:
    html = blocks_html(feature_section(Measuring(measured, trapped)))
    assert "All 4 features in a table" in html
    drawn = html[: html.index("<details")]
    assert drawn.count("<title>bob, Feature") == 4
    assert "Of 4 features" not in html


def test_points_agree_with_the_dictionary(measured: dict[str, Evaluation]) -> None:
    found = measured["bob"]
    values = found.to_dict()
    for path in LABELS:
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


def test_cases_keep_the_corpus_order(trapped: Corpus, measured: dict[str, Evaluation]) -> None:
    assert case_order(trapped, *measured.values()) == ["a", "b"]
    assert case_names(trapped)["a"].startswith("a Case")
