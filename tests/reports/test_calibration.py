"""Reliability diagrams on the page of an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note, Rubric
from rubricate.measures import evaluate
from rubricate.measures.intervals import EvaluationWithIntervals, add_intervals
from rubricate.reports.calibration import calibration_section
from rubricate.reports.evaluation import evaluation_page
from rubricate.stats import Resampling

TRAP = "<script>x</script>"


def stated(slope: float, *, n_notes: int = 40) -> Corpus:
    """Three features whose presence is drawn at logit z, and a system that says slope · z."""
    rng = np.random.default_rng(5)
    builder = CorpusBuilder()
    features = tuple(Feature(f"f{k}", "c", f"Feature {k} {TRAP}") for k in range(3))
    builder.add_rubric(Rubric("c", features, title=f"Case {TRAP}"))
    builder.add_annotator(Annotator("reference"))
    builder.add_annotator(Annotator("system"))
    for i in range(n_notes):
        note = str(i)
        builder.add_note(Note(note, "c", "fever"))
        for feature in features:
            z = rng.normal(0, 2)
            chance = float(1 / (1 + np.exp(-slope * z)))
            builder.judge("reference", note, feature.id)
            builder.judge("system", note, feature.id, probability=chance)
            if rng.random() < 1 / (1 + np.exp(-z)):
                builder.annotate("reference", note, feature.id, [(0, 5)])
            if chance >= 0.5:
                builder.annotate("system", note, feature.id, [(0, 5)])
    return builder.build()


def measured(corpus: Corpus, predicted: str = "system") -> EvaluationWithIntervals:
    other = {"system": "reference", "reference": "system"}[predicted]
    evaluation = evaluate(corpus, corpus, reference_annotator=other, predicted_annotator=predicted)
    return add_intervals(evaluation, Resampling(resamples=50))


@pytest.fixture(scope="module")
def bold() -> Corpus:
    """A system that is much too sure."""
    return stated(5.0)


def test_the_page_draws_what_was_measured(bold: Corpus, read_page: Callable[[str], Any]) -> None:
    found = measured(bold)
    page = evaluation_page({f"bold {TRAP}": found}, bold, {f"bold {TRAP}": bold})
    reader = read_page(page)
    assert "probabilities" in reader.ids
    calibration = found.calibration
    assert calibration is not None
    for name in ("brier", "ece"):
        value, interval = calibration.overall.values[name], calibration.estimates[name]
        assert f"{value:.3f}[{interval.low:.3f}, {interval.high:.3f}]" in reader.text
    for one in calibration.bins:
        assert f"{one.probability:.2f} stated, {one.present.value:.3f}" in page
    assert reader.text.count(TRAP) > 5


def test_curves_are_drawn_with_their_areas(bold: Corpus) -> None:
    found = measured(bold)
    page = calibration_section({"system": found}, bold)
    assert found.ranking is not None
    assert f"area {found.ranking.auc}" in page
    assert f"average precision {found.ranking.average_precision}" in page
    assert "share of absent rows found" in page


def test_the_worst_features_come_first(bold: Corpus) -> None:
    found = measured(bold)
    assert found.calibration is not None
    page = calibration_section({"bold": found}, bold)
    features = found.calibration.features
    worst = sorted(features, key=lambda i: -features[i].beyond_chance)
    places = [page.index(f"Feature {i[1:]} ") for i in worst if features[i].beyond_chance > 0]
    assert places
    assert places == sorted(places)


def test_few_rows_say_nothing_about_a_feature() -> None:
    small = stated(5.0, n_notes=6)
    assert "no feature with 10 rows or more" in calibration_section({"s": measured(small)}, small)


def test_each_system_has_its_own_diagram(bold: Corpus, read_page: Callable[[str], Any]) -> None:
    calm = stated(1.0)
    systems = {"bold": measured(bold), "calm": measured(calm)}
    page = evaluation_page(systems, bold, {"bold": bold, "calm": calm})
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="plot"') >= 2
    text = read_page(page).text
    assert "Reliability: bold." in text
    assert "Reliability: calm." in text


def test_without_probabilities_nothing_is_shown(
    bold: Corpus, read_page: Callable[[str], Any]
) -> None:
    found = measured(bold, "reference")
    assert calibration_section({"reference": found}, bold) == ""
    page = evaluation_page({"reference": found}, bold, {"reference": bold})
    assert "probabilities" not in read_page(page).ids
    both = {"reference": found, "system": measured(bold)}
    assert "Reliability: reference." not in calibration_section(both, bold)
