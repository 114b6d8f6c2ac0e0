"""Intervals where several notes are of one patient."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from cluster_coverage import PATIENTS, STUDIES, coverage

from rubricate import Corpus, Metadata, load_corpus
from rubricate.cli import main
from rubricate.errors import ArgumentError, InputError
from rubricate.evaluation.agreement import agree
from rubricate.evaluation.design import clusters_of
from rubricate.evaluation.systems import evaluate_systems
from rubricate.formats import write_corpus
from rubricate.stats import Resampling
from rubricate.trust import compare_groups, run_of_corpus

FEW = Resampling(300)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Notes of two cases; every patient has two notes of each."""
    whole = load_corpus("open-notes").select(cases=["0", "1"])
    place = dict.fromkeys(("0", "1"), 0)
    notes = []
    for note in whole.notes:
        own = place[note.case] // 2
        place[note.case] += 1
        notes.append(replace(note, metadata=Metadata({**note.metadata, "patient": f"p{own}"})))
    return replace(whole, notes=tuple(notes))


def test_values_stay_and_intervals_draw_patients(corpus: Corpus) -> None:
    rater = corpus.select(annotators=["second_rater"])
    by_note, by_patient = (
        evaluate_systems(
            corpus, {"a": rater, "b": rater}, missing="skip", settings=FEW, cluster=cluster
        )
        for cluster in (None, "patient")
    )
    one, two = by_note.systems["a"], by_patient.systems["a"]
    assert one.overall("characters").value == two.overall("characters").value
    assert one.overall("characters").low != two.overall("characters").low
    assert one.by_group("characters", level="cases").keys() == {"0", "1"}
    assert two.by_group("characters", level="cases").keys() == {"0", "1"}
    assert two.to_dict()["intervals"]["unit"] == "cluster"  # type: ignore[index]
    gap = by_patient.comparisons[0].differences["characters",].difference
    assert gap.low < 0 < gap.high


def test_a_cluster_of_one_note_is_a_note(corpus: Corpus) -> None:
    notes = tuple(
        replace(note, metadata=Metadata({**note.metadata, "alone": note.id}))
        for note in corpus.notes
    )
    own = replace(corpus, notes=notes)
    plain, alone = (agree(own, settings=FEW, cluster=cluster) for cluster in (None, "alone"))
    one, two = (found.pooled.overall("characters") for found in (plain, alone))
    assert (one.value, one.low, one.high) == (two.value, two.low, two.high)


def test_copies_of_a_note_tell_nothing_new(corpus: Corpus) -> None:
    # as many clusters as there were notes before each was counted twice
    found = agree(corpus, settings=FEW, cluster="patient")
    assert found.pooled.drawn_unit == "cluster"
    assert found.scores is not None
    assert found.per_note


def test_a_note_without_a_patient_is_named(corpus: Corpus) -> None:
    first = replace(corpus.notes[0], metadata=Metadata(patient=""))
    with pytest.raises(InputError, match=first.id):
        clusters_of(replace(corpus, notes=(first, *corpus.notes[1:])), "patient")
    with pytest.raises(ArgumentError, match="patient"):
        clusters_of(corpus, "patiant")


def test_groups_of_patients_are_compared_by_patient(corpus: Corpus) -> None:
    run = run_of_corpus(corpus)
    clusters = clusters_of(corpus, "patient")
    groups = {note: "ab"[int(patient[1:]) % 2] for note, patient in clusters.items()}
    plain, clustered = (
        compare_groups(run, groups, clusters=one).contrasts[0] for one in (None, clusters)
    )
    assert plain.difference == pytest.approx(clustered.difference)
    assert plain.p_value != clustered.p_value
    with pytest.raises(InputError, match="cluster"):
        compare_groups(run, groups, clusters={})


def test_commands_take_a_cluster(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("clusters") / "notes.jsonl"
    write_corpus(corpus, path, format="jsonl")
    few = ["--resamples", "50", "--json", "--cluster", "patient"]
    for command in (["agree", str(path)],
                    ["evaluate", str(path), str(path), "--predicted-annotator", "second_rater",
                     "--missing", "skip"],
                    ["compare", str(path), "--matchers", "exact", "--folds", "2"]):  # fmt: skip
        found = CliRunner().invoke(main, [*command, *few])
        assert found.exit_code == 0, found.output
        assert '"unit": "cluster"' in json.dumps(json.loads(found.stdout))


@pytest.mark.parametrize("name", ["F1 .9", "difference of groups"])
def test_intervals_by_patient_hold(name: str) -> None:
    by_note, by_patient = (coverage(name, 20, 60, by_patient=one) for one in (False, True))
    assert by_patient > by_note
    assert by_patient >= 0.94 - 3 * 0.031


#: Intervals that are computed, not drawn, cost little to simulate.
EXACT = [name for name in STUDIES if name.startswith(("ICC", "difference"))]
DRAWN = [name for name in STUDIES if name not in EXACT]


@pytest.mark.parametrize("name", EXACT)
def test_intervals_that_are_computed_cover_as_often_as_they_say(name: str) -> None:
    # three standard errors of 600 studies below .94; benchmarks/cluster_coverage.py draws more
    assert min(coverage(name, patients, 600) for patients in PATIENTS) >= 0.94 - 3 * 0.0097


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_intervals_by_patient_cover_as_often_as_they_say(name: str) -> None:
    # three standard errors of 200 studies below .94; benchmarks/cluster_coverage.py draws more
    assert min(coverage(name, patients, 200) for patients in PATIENTS) >= 0.94 - 3 * 0.0168
