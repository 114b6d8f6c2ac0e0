"""The page of an evaluation: its numbers, its notes, and what it must not do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rubricate import (
    Annotator,
    Corpus,
    CorpusBuilder,
    Feature,
    Note,
    Rubric,
    __version__,
    load_corpus,
)
from rubricate.errors import InputError, OutputExistsError
from rubricate.evaluation import evaluate
from rubricate.evaluation.agreement import agree
from rubricate.evaluation.design import SampleDesign
from rubricate.evaluation.evaluation import Evaluation, add_intervals
from rubricate.reports.blocks import blocks_html, save_report, to_html
from rubricate.reports.evaluation import (
    calibration_section,
    evaluation_report,
)
from rubricate.stats import Resampling

FEW = Resampling(resamples=50)


@pytest.fixture(scope="module")
def raters() -> tuple[Corpus, Evaluation]:
    """The 200 notes that a second rater annotated, and that rater against the reference."""
    corpus = load_corpus("open-notes").select(cases=[str(i) for i in range(10)])
    second = corpus.annotator_index["second_rater"]
    notes = {corpus.notes[i].id for i in corpus.rows.note[corpus.rows.annotator == second]}
    both = corpus.select(notes=notes)
    evaluation = evaluate(
        both, both, reference_annotator="reference", predicted_annotator="second_rater"
    )
    return both, add_intervals(evaluation, FEW)


def test_a_real_page_is_whole_and_small(
    raters: tuple[Corpus, Evaluation], read_page: Callable[[str], Any]
) -> None:
    corpus, found = raters
    page = to_html(evaluation_report({"second_rater": found}, corpus, {"second_rater": corpus}))
    reader = read_page(page)
    assert len(page.encode()) < 3_000_000
    total = found.characters.total()
    for value in (total.precision, total.recall, total.f1):
        assert f"{value:.3f}" in reader.text
    counts = found.presence.total().counts
    assert f"{counts['tp']:,}" in reader.text
    for feature in corpus.features:
        assert feature.text in reader.text


def test_the_notes_that_cost_most_come_first(
    raters: tuple[Corpus, Evaluation],
) -> None:
    corpus, found = raters
    page = to_html(evaluation_report({"s": found}, corpus, {"s": corpus}, worst=8))
    table = found.characters.by("note")
    wrong = table.values[:, 1] + table.values[:, 2]
    worst = [table.ids[i] for i in np.argsort(-wrong, kind="stable")[:8]]
    assert re.findall(r"<summary>Note (\S+),", page) == worst
    for note, (missed, false) in zip(
        worst, re.findall(r"differ: (\d+) reference only, (\d+) s only", page), strict=True
    ):
        place = table.ids.index(note)
        assert [int(false), int(missed)] == table.values[place, 1:3].tolist()


def test_traps_stay_text(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    trap = '<script>alert("x")</script>'
    systems = {f"{name} {trap}": found for name, found in measured.items()}
    ceiling = agree(trapped, settings=FEW)
    page = to_html(evaluation_report(
        systems, trapped, dict.fromkeys(systems, trapped), ceiling=ceiling,
        inputs={trap: trap},
    ))  # fmt: skip
    reader = read_page(page)
    assert "img" not in reader.tags
    assert reader.text.count(trap) > 10


def test_method_names_version_inputs_and_settings(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    page = to_html(
        evaluation_report(
            {"bob": measured["bob"]}, trapped, {"bob": trapped}, inputs={"ref.csv": "ab12"}
        )
    )
    text = read_page(page).text
    assert f"rubricate{__version__}" in text
    assert "ref.csvab12" in text
    assert "50 resamples, seed 0" in text
    assert "one-to-one, by character" in text


def test_ceiling_draws_a_line(trapped: Corpus, measured: dict[str, Evaluation]) -> None:
    systems, predicted = {"bob": measured["bob"]}, {"bob": trapped}
    without = to_html(evaluation_report(systems, trapped, predicted))
    ceiling = agree(trapped, settings=FEW)
    with_line = to_html(evaluation_report(systems, trapped, predicted, ceiling=ceiling))
    assert 'stroke-width="2.2"' in with_line
    assert 'stroke-width="2.2"' not in without


def test_a_system_may_be_called_like_the_annotators(
    trapped: Corpus, measured: dict[str, Evaluation], read_page: Callable[[str], Any]
) -> None:
    page = to_html(evaluation_report(
        {"annotators": measured["bob"]}, trapped, {"annotators": trapped},
        ceiling=agree(trapped, settings=FEW),
    ))  # fmt: skip
    assert "annotators with each other" in read_page(page).text


def test_notes_without_prediction_are_shown_as_missed(
    trapped: Corpus, read_page: Callable[[str], Any]
) -> None:
    part = trapped.select(notes=["n0", "n1"], annotators=["bob"])
    reference = trapped.select(annotators=[trapped.annotators[0].id])
    found = add_intervals(evaluate(reference, part), FEW)
    reader = read_page(to_html(evaluation_report({"bob": found}, reference, {"bob": part})))
    assert "rows judged by the reference" in reader.text  # the warning
    assert "Note n5" in reader.text


def test_full_agreement_has_no_notes_to_show(
    trapped: Corpus, read_page: Callable[[str], Any]
) -> None:
    same = trapped.select(annotators=["bob"])
    found = add_intervals(evaluate(same, same), FEW)
    reader = read_page(to_html(evaluation_report({"bob": found}, same, {"bob": same})))
    assert "Both sides marked the same characters." in reader.text
    assert "mark" not in reader.tags


def test_weights_move_the_confusion(trapped: Corpus, read_page: Callable[[str], Any]) -> None:
    evaluation = evaluate(
        trapped, trapped, reference_annotator="cy", predicted_annotator="bob", missing="skip"
    )
    weights = {note.id: 1000.0 for note in trapped.notes}
    found = add_intervals(evaluation, FEW, design=SampleDesign(weights=weights))
    text = read_page(to_html(evaluation_report({"bob": found}, trapped, {"bob": trapped}))).text
    assert f"{1000 * evaluation.presence.total().counts['tp']:,}" in text
    assert "by the sampling design" in text


def test_many_features_are_limited_and_it_says_so(
    trapped: Corpus,
    measured: dict[str, Evaluation],
    read_page: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rubricate.reports.levels.MAX_FEATURES", 3)
    monkeypatch.setattr("rubricate.reports.levels.WORST_FEATURES", 2)
    text = read_page(
        to_html(evaluation_report({"bob": measured["bob"]}, trapped, {"bob": trapped}))
    ).text
    assert "Of 4 features the 2 with the lowest F1 of bob are drawn; the other 2" in text


def test_systems_need_their_corpus(trapped: Corpus, measured: dict[str, Evaluation]) -> None:
    with pytest.raises(InputError, match="cy"):
        to_html(evaluation_report(measured, trapped, {"bob": trapped}))
    with pytest.raises(InputError):
        to_html(evaluation_report({}, trapped, {}))


def test_reports_are_written_once(
    trapped: Corpus, measured: dict[str, Evaluation], tmp_path: Path
) -> None:
    predicted = dict.fromkeys(measured, trapped)
    report = evaluation_report(measured, trapped, predicted)
    path = save_report(tmp_path / "report", report)
    assert path == tmp_path / "report" / "index.html"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(OutputExistsError):
        save_report(tmp_path / "report", report)
    save_report(tmp_path / "report", report, overwrite=True)


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


def measured(corpus: Corpus, predicted: str = "system") -> Evaluation:
    other = {"system": "reference", "reference": "system"}[predicted]
    evaluation = evaluate(corpus, corpus, reference_annotator=other, predicted_annotator=predicted)
    return add_intervals(evaluation, Resampling(resamples=50))


@pytest.fixture(scope="module")
def bold() -> Corpus:
    """A system that is much too sure."""
    return stated(5.0)


def test_the_page_draws_what_was_measured(bold: Corpus, read_page: Callable[[str], Any]) -> None:
    found = measured(bold)
    page = to_html(evaluation_report({f"bold {TRAP}": found}, bold, {f"bold {TRAP}": bold}))
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
    page = blocks_html(calibration_section({"system": found}, bold))
    assert found.ranking is not None
    assert f"area {found.ranking.auc}" in page
    assert f"average precision {found.ranking.average_precision}" in page
    assert "share of absent rows found" in page


def test_the_worst_features_come_first(bold: Corpus) -> None:
    found = measured(bold)
    assert found.calibration is not None
    page = blocks_html(calibration_section({"bold": found}, bold))
    features = found.calibration.features
    worst = sorted(features, key=lambda i: -features[i].beyond_chance)
    places = [page.index(f"Feature {i[1:]} ") for i in worst if features[i].beyond_chance > 0]
    assert places
    assert places == sorted(places)


def test_few_rows_say_nothing_about_a_feature() -> None:
    small = stated(5.0, n_notes=6)
    shown = blocks_html(calibration_section({"s": measured(small)}, small))
    assert "no feature with 10 rows or more" in shown


def test_each_system_has_its_own_diagram(bold: Corpus, read_page: Callable[[str], Any]) -> None:
    calm = stated(1.0)
    systems = {"bold": measured(bold), "calm": measured(calm)}
    page = to_html(evaluation_report(systems, bold, {"bold": bold, "calm": calm}))
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="plot"') >= 2
    text = read_page(page).text
    assert "Reliability: bold." in text
    assert "Reliability: calm." in text


def test_without_probabilities_nothing_is_shown(
    bold: Corpus, read_page: Callable[[str], Any]
) -> None:
    found = measured(bold, "reference")
    assert calibration_section({"reference": found}, bold) == []
    page = to_html(evaluation_report({"reference": found}, bold, {"reference": bold}))
    assert "probabilities" not in read_page(page).ids
    both = {"reference": found, "system": measured(bold)}
    assert "Reliability: reference." not in blocks_html(calibration_section(both, bold))
