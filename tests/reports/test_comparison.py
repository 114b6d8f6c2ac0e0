"""The page of a comparison: matchers on the same notes, beside the annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note, Rubric
from rubricate.errors import InputError
from rubricate.evaluation import evaluate
from rubricate.evaluation.agreement import agree
from rubricate.evaluation.evaluation import Evaluation, add_intervals
from rubricate.reports.blocks import to_html
from rubricate.reports.comparison import comparison_report
from rubricate.stats import Resampling
from rubricate.trials import TrialResult

FEW = Resampling(resamples=50)


def as_result(measured: dict[str, Evaluation], groups: Iterable[str] = ("",)) -> TrialResult:
    found = {(group, name): one for group in groups for name, one in measured.items()}
    return TrialResult(found, None, FEW)


def many_cases(n: int) -> Corpus:
    """One note per case, which two systems mark like the reference."""
    builder = CorpusBuilder()
    for i in range(n):
        builder.add_rubric(Rubric(str(i), (Feature(f"f{i}", str(i), "Fever"),), title="case <b>"))
        builder.add_note(Note(f"n{i}", str(i), "fever for two days"))
        for annotator in ("ref", "exact <b>", "fuzzy"):
            builder.annotate(annotator, f"n{i}", f"f{i}", [(0, 5)])
    return builder.build()


def test_everything_is_on_the_page(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    several = as_result(measured, ("2", "40"))
    result = TrialResult(several.measured, agree(trapped, settings=FEW), FEW)
    seen: list[tuple[int, int | None, str]] = []
    page = to_html(
        comparison_report(result, trapped, "One <b> fold.", progress=lambda *now: seen.append(now))
    )
    text = read_page(page).text
    for words in ("One <b> fold.", "cy − bob", "annotated notes per case", "seed0", "resamples50"):
        assert words in text
    assert "bob, 40 notes per case" in text
    assert result.ceiling is not None
    level = result.ceiling.pooled.characters.total().f1
    n_notes = result.ceiling.pooled.coverage.n_notes
    # the human line in the learning curve
    assert f"annotators ({n_notes} notes): {level:.3f}" in text
    assert seen[0] == (0, 5, "report")
    assert seen[-1] == (5, 5, "report")


def test_differences_are_tested(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    text = read_page(to_html(comparison_report(as_result(measured), trapped, "p"))).text
    both = [measured[name].characters.total().f1 for name in ("cy", "bob")]
    assert f"cy − bobCharacters{both[0] - both[1]:.3f}[" in text
    assert "Learning curve" not in text  # only one number of notes


def test_one_matcher_has_no_difference(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    page = to_html(comparison_report(as_result({"bob": measured["bob"]}), trapped, "p"))
    assert "differences" not in read_page(page).ids


def test_many_cases_are_drawn_in_several_figures(read_page: Callable[[str], Any]) -> None:
    corpus = many_cases(45)
    measured = {
        name: add_intervals(
            evaluate(corpus, corpus, reference_annotator="ref", predicted_annotator=name), FEW
        )
        for name in ("exact <b>", "fuzzy")
    }
    page = to_html(comparison_report(as_result(measured), corpus, "p"))
    read_page(page)
    assert page.count('class="plot"') == 1 + 2 * 2  # all together; 45 cases twice, for two measures
    for i in range(45):
        assert page.count(f"<title>{i} case &lt;b&gt;: fuzzy") == 2


def test_means_and_sds_are_over_cases(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    values = [p.value for p in measured["bob"].by_group("characters", level="cases").values()]
    page = to_html(comparison_report(as_result({"bob": measured["bob"]}), trapped, "p"))
    expected = f"{np.mean(values):.3f} ({np.std(values, ddof=1):.3f})"
    assert expected in read_page(page).text


def test_undefined_cases_do_not_stop_it(read_page: Callable[[str], Any]) -> None:
    builder = CorpusBuilder()
    builder.add_rubric(Rubric("a", (Feature("f", "a", "Fever"),)))
    builder.add_note(Note("n", "a", "well"))
    for annotator in ("ref", "none"):
        builder.judge(annotator, "n", "f")
    corpus = builder.build()
    found = evaluate(corpus, corpus, reference_annotator="ref", predicted_annotator="none")
    result = as_result({"none": add_intervals(found, FEW)})
    read_page(to_html(comparison_report(result, corpus, "p")))


def test_nothing_to_compare(trapped: Corpus) -> None:
    with pytest.raises(InputError):
        to_html(comparison_report(as_result({}), trapped, "p"))
