from collections.abc import Callable

import pytest

from rubricate.study.collection import collect_study
from rubricate.study.decisions import curate_study
from rubricate.study.evaluation import evaluate_study
from rubricate.study.record import Study
from rubricate.study.report import report_study


def texts(study: Study) -> tuple[str, str]:
    report_study(study)
    return tuple(
        study.output("report", name).read_text(encoding="utf-8")
        for name in ("report.html", "report.md")
    )


def test_a_study_that_found_nothing_says_so(returned_study: Callable[..., Study]) -> None:
    study = returned_study("jsonl", smokers=0)
    agreement = collect_study(study).summary["agreement"]
    assert agreement["undefined"] == ["smoking"]
    curate_study(study)
    width = evaluate_study(study).summary["width"]
    assert width["recall"] is None
    assert not width["met"]
    for text in texts(study):
        assert "undefined" in text
        assert "nobody marked" in text
        assert "for every variable." not in text


def test_perfect_agreement_on_characters_has_an_interval(
    returned_study: Callable[..., Study],
) -> None:
    study = returned_study("jsonl")
    lines = collect_study(study).summary["agreement"]["variables"]
    weight = next(line for line in lines if line["variable"] == "weight")
    found = weight["characters_f1"]
    assert found["value"] == 1
    # All n notes that anybody marked agree: Clopper and Pearson's limit for n of n.
    assert found["interval"]["low"] == pytest.approx(0.025 ** (1 / weight["both"]))
