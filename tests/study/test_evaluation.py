from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate import read_corpus, write_corpus
from rubricate.errors import InputError
from rubricate.evaluation.agreement import pair_evaluation
from rubricate.evaluation.design import SampleDesign
from rubricate.stats import Estimate, Resampling
from rubricate.study.collection import collect_study
from rubricate.study.decisions import curate_study
from rubricate.study.evaluation import (
    evaluate_study,
    oversampled,
    refuse_unweighted,
    weigh_agreement,
    width_met,
)
from rubricate.study.population import by_variable, read_population
from rubricate.study.record import Study
from rubricate.study.report import report_study
from rubricate.study.status import study_status


@pytest.fixture
def curated(returned_study) -> Study:
    study = returned_study("jsonl")
    text = (study.folder / "study.toml").read_text()
    rules = '[curation]\nrules = ["identical", "second-only", "senior-first"]\n'
    (study.folder / "study.toml").write_text(text + rules)
    study = Study.open(study.folder)
    collect_study(study)
    curate_study(study)
    return study


def test_values_are_those_of_the_population(curated: Study) -> None:
    summary = evaluate_study(curated).summary
    smoking, weight = summary["variables"]
    # The system finds 54 notes, 48 of the 60 that hold it; the secondary variable is perfect.
    for name, value in (("precision", 48 / 54), ("recall", 48 / 60)):
        interval = smoking["presence"][name]
        assert interval["low"] <= value <= interval["high"]
    assert weight["presence"]["f1"]["value"] == 1.0
    # The system marks 12 characters where 6 are right.
    assert smoking["characters"]["precision"]["value"] < 0.5
    assert smoking["ceiling"]["presence"]["ceiling_f1"] == 1.0
    assert smoking["ceiling"]["presence"]["difference"]["value"] < 0
    assert summary["weighted"]


def test_agreement_is_weighted_where_notes_were_drawn_unevenly(curated: Study) -> None:
    path = curated.output("sample", "notes.jsonl")
    paired = pair_evaluation(curated.corpus("collect", "annotations.jsonl"))
    design, (_, variables) = SampleDesign.of_sample(read_corpus(path)), read_population(curated)
    smoking = next(one for one in variables if one.name == "smoking")
    agreement = by_variable(paired, [smoking])
    even = replace(design, weights=dict.fromkeys(design.weights, 2.0))
    assert weigh_agreement(agreement, smoking, even, Resampling(99)) is None
    uneven = replace(design, weights={
        note: 9.0 if positive else 1.0 for note, positive in design.sides.items()
    })  # fmt: skip
    found = weigh_agreement(agreement, smoking, uneven, Resampling(99))
    by_note = agreement.presence.by("note")
    ids, cells = by_note.ids, by_note.values
    weights = np.array([uneven.weights[i] for i in ids])
    a, b, c, d = (cells * weights[:, None]).sum(axis=0)
    assert found["presence_f1"]["value"] == pytest.approx(2 * a / (2 * a + b + c))
    assert found["kappa"]["value"] == pytest.approx(
        2 * (a * d - b * c) / ((a + c) * (c + d) + (a + b) * (b + d))
    )
    # bob marks more of every fourth note that both mark: presence agrees, characters do not
    assert found["presence_f1"]["value"] == 1 > found["characters_f1"]["value"]
    assert found["characters_f1"]["low"] < found["characters_f1"]["value"]


def test_notes_the_system_lacks_are_faults(curated: Study) -> None:
    output = read_corpus(curated.folder / "notes.jsonl")
    sample = read_corpus(curated.output("sample", "notes.jsonl"))
    part = output.select(notes=[n.id for n in sample.notes[1:]], annotators=["system"])
    write_corpus(part, curated.folder / "other.jsonl", format="jsonl")
    text = (curated.folder / "study.toml").read_text() + '[system]\ncorpus = "other.jsonl"\n'
    (curated.folder / "study.toml").write_text(text)
    with pytest.raises(InputError, match=sample.notes[0].id):
        evaluate_study(Study.open(curated.folder))


def strata(*numbers: tuple[str, str, int, int]) -> list[dict]:
    names = ("side", "part", "sampled", "population")
    return [dict(zip(names, line, strict=True)) for line in numbers]


def test_unweighted_values_are_refused_where_rates_differ(curated: Study) -> None:
    refuse_unweighted(strata(("positive", "none", 48, 480), ("negative", "none", 53, 520)))
    with pytest.raises(InputError, match="weights"):
        refuse_unweighted(strata(("positive", "none", 250, 1000), ("negative", "none", 250, 9000)))
    with pytest.raises(InputError, match="proportional"):
        refuse_unweighted(
            strata(
                ("positive", "none", 10, 180), ("positive", "weight", 10, 20),
                ("negative", "none", 10, 180), ("negative", "weight", 10, 20),
            )
        )  # fmt: skip
    # The small study's secondary variable was drawn at a higher rate.
    with pytest.raises(InputError, match="proportional"):
        evaluate_study(curated, unweighted=True)


def positive(stratum) -> bool:
    return stratum["side"] == "positive"


# Source: f .10, 250 + 250 notes, P .85, R .80: the plain recall is expected at .973.
def test_the_example_of_the_refusal() -> None:
    tp, fn = 250 * 0.85, 250 * (0.1 * 0.85 * 0.2 / 0.8 / 0.9)
    assert tp / (tp + fn) == pytest.approx(0.973, abs=0.001)
    assert 4 * tp / (4 * tp + 36 * fn) == pytest.approx(0.80)
    with pytest.raises(InputError, match="250 of 1000 predicted positives but 250 of 9000"):
        refuse_unweighted(strata(("positive", "none", 250, 1000), ("negative", "none", 250, 9000)))


def test_proportional_samples_pass() -> None:
    for drawn in ((50, 450), (51, 450), (1000, 9000)):
        sides = zip(("positive", "negative"), drawn, (1000, 9000), strict=True)
        assert not oversampled(
            strata(*((side, "none", n, held) for side, n, held in sides)), positive
        )
    assert oversampled(
        strata(("positive", "none", 53, 1000), ("negative", "none", 450, 9000)), positive
    )


@given(st.integers(2, 400), st.integers(1, 5000), st.integers(1, 5000))
def test_rounding_alone_is_never_oversampling(total: int, positives: int, negatives: int) -> None:
    pool = positives + negatives
    sampled = min(positives, max(1, round(total * positives / pool)))
    rest = total - sampled
    if 1 <= rest <= negatives and abs(sampled - total * positives / pool) <= 1:
        drawn = ("positive", "none", sampled, positives), ("negative", "none", rest, negatives)
        assert not oversampled(strata(*drawn), positive)


def test_sites_with_different_rates_are_no_oversampling_of_positives() -> None:
    # Site B is drawn twice as densely, positives and negatives alike, at the same frequency.
    sites = [
        ("positive", "none", 10, 100), ("negative", "none", 90, 900),
        ("positive", "none", 20, 100), ("negative", "none", 180, 900),
    ]  # fmt: skip
    assert not oversampled(strata(*sites), positive)


def test_strata_that_nobody_drew_from_are_refused() -> None:
    with pytest.raises(InputError, match="none was sampled"):
        oversampled(strata(("positive", "none", 0, 5), ("negative", "none", 3, 5)), positive)


def test_notes_from_elsewhere_have_no_design(corpus) -> None:
    with pytest.raises(InputError, match="inclusion_probability"):
        SampleDesign.of_sample(corpus)


def test_width_is_judged_on_both() -> None:
    narrow = Estimate(0.84, 0.8, 0.88).to_dict()
    wide = Estimate(0.8, 0.7, 0.9).to_dict()
    line = {"precision": narrow, "recall": wide, "f1": narrow}
    assert not width_met(line, 0.05)["met"]
    assert width_met(line, 0.11)["met"]


def test_a_width_that_is_just_the_planned_one_is_not_narrower() -> None:
    half = Estimate(0.5, 0.25, 0.75).to_dict()
    line = {"precision": half, "recall": half, "f1": half}
    assert not width_met(line, 0.25)["met"]
    assert width_met(line, 0.2500001)["met"]


def test_status_leads_from_step_to_step(curated: Study) -> None:
    assert study_status(curated).next_step == "evaluate"
    evaluate_study(curated)
    assert study_status(curated).next_step == "report"
    report_study(curated)
    assert study_status(curated).next_step == ""
    page = curated.output("report", "report.html").read_text(encoding="utf-8")
    assert "second-only" in page
    assert "smoking (primary variable)" in page


def test_a_report_needs_every_step(make_study) -> None:
    with pytest.raises(InputError, match="rubricate study population"):
        report_study(make_study())
