"""The page of an agreement study, with groups, pairs and more than two annotators."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from rubricate import Corpus
from rubricate.evaluation.agreement import Agreement, agree
from rubricate.reports.agreement import agreement_report
from rubricate.reports.blocks import to_html
from rubricate.stats import Resampling

FEW = Resampling(resamples=50)


@pytest.fixture(scope="module")
def agreement(trapped: Corpus) -> Agreement:
    return agree(trapped, settings=FEW)


def test_the_page_is_whole(agreement: Agreement, read_page: Callable[[str], Any]) -> None:
    reader = read_page(to_html(agreement_report(agreement, inputs={"corpus": "ab12"})))
    assert "3 annotators, 3 pairs: 6 notes of 2 cases" in reader.text
    assert "corpusab12" in reader.text
    assert "Fleiss’ kappa" in reader.text
    assert "Krippendorff’s alpha" in reader.text


def test_cases_end_with_mean_and_sd(agreement: Agreement, read_page: Callable[[str], Any]) -> None:
    text = read_page(to_html(agreement_report(agreement))).text
    mean, sd = agreement.case_table()[-2:]
    names = ("f1", "jaccard", "kappa", "yes_no_f1")
    assert "Mean" + "".join(f"{mean[name]:.3f}" for name in names) in text
    assert "SD" + "".join(f"{sd[name]:.3f}" for name in names) in text


def test_groups_stand_within_and_across(
    agreement: Agreement, read_page: Callable[[str], Any]
) -> None:
    text = read_page(to_html(agreement_report(agreement))).text
    within = agreement.per_note["expert", "expert"]["a1"]["exact"]
    assert f"{within.mean['f1']:.3f} ({within.sd['f1']:.3f})" in text
    assert "crowd (predicted) against expert (reference)" in text
    across = agreement.per_note["expert", "crowd"]["b2"]["token_overlap"]
    assert f"{across.mean['recall']:.3f} ({across.sd['recall']:.3f})" in text
    tokens = agreement.lengths["crowd"]["a1"]["tokens"]
    assert f"{tokens['mean']:.3f}" in text


def test_the_matrix_is_symmetric(agreement: Agreement) -> None:
    page = to_html(agreement_report(agreement))
    value = agreement.pairs["bob", "cy"].characters.total().f1
    assert f"bob and cy: {value:.3f}" in page
    assert f"cy and bob: {value:.3f}" in page


def test_notes_name_both_annotators(agreement: Agreement) -> None:
    page = to_html(agreement_report(agreement, worst=4))
    summaries = re.findall(r"<summary>Note .*?</summary>", page)
    assert len(summaries) == 4
    assert any("bob only" in s and "cy only" in s for s in summaries)
    assert "first annotator only" in page


def test_two_annotators_of_one_case(trapped: Corpus, read_page: Callable[[str], Any]) -> None:
    corpus = trapped.select(cases=["a"], annotators=["bob", "cy"])
    page = to_html(agreement_report(agree(corpus, settings=FEW)))
    reader = read_page(page)
    assert "2 annotators, 1 pair: 3 notes of 1 case" in reader.text
    assert "Fleiss" not in reader.text
    assert "bob only" in page


def test_rule_for_nothing_marked_is_said(trapped: Corpus, read_page: Callable[[str], Any]) -> None:
    page = to_html(agreement_report(agree(trapped, empty="skip", settings=FEW)))
    assert "in which an annotator marked nothing are left out" in read_page(page).text
