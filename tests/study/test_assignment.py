import pytest

from rubricate import Note, read_corpus
from rubricate.errors import InputError
from rubricate.rubric import Metadata
from rubricate.study.assignment import (
    assign_notes,
    assign_study,
    batch_path,
    pair_up,
    read_key,
)
from rubricate.study.population import define_population
from rubricate.study.sampling import plan_study, sample_study
from rubricate.study.settings import AnnotationSettings, AnnotatorSettings

NOTES = [Note(str(i), "abcd"[i % 4], "", Metadata(site="AB"[i % 2])) for i in range(40)]
PEOPLE = tuple(AnnotatorSettings(name, senior=name in "ac") for name in "abcd")


def tasks(**more):
    site = more.pop("site", "")
    training = more.pop("training", ())
    settings = AnnotationSettings(annotators=more.pop("annotators", PEOPLE), **more)
    return assign_notes(NOTES, settings, site=site, training=training, seed=1)


def test_every_pair_has_a_senior_first() -> None:
    assert pair_up(PEOPLE) == [("a", "b"), ("c", "d")]
    assert pair_up(PEOPLE[:3]) == [("a", "b"), ("c",)]
    assert pair_up([AnnotatorSettings("x", site="A"), AnnotatorSettings("y", site="B")]) == [
        ("x",),
        ("y",),
    ]


@pytest.mark.parametrize(("share", "double", "single"), [(1.0, 40, 0), (0.2, 8, 32), (0.0, 0, 40)])
def test_double_share(share: float, double: int, single: int) -> None:
    found = tasks(double_share=share)
    assert len({t.note for t in found if t.kind == "double"}) == double
    assert sum(t.kind == "double" for t in found) == 2 * double
    assert sum(t.kind == "single" for t in found) == single
    assert {t.note for t in found} == {n.id for n in NOTES}


def test_batches_are_even() -> None:
    found = tasks(weeks=5)
    sizes = [sum(t.batch == f"week-{k}" and t.annotator == "a" for t in found) for k in range(1, 6)]
    assert sizes == [4] * 5


def test_cases_stay_with_one_pair() -> None:
    case = {n.id: n.case for n in NOTES}
    owners = {}
    for t in tasks(by="case"):
        owners.setdefault(case[t.note], set()).add(t.annotator)
    assert all(owner in ({"a", "b"}, {"c", "d"}) for owner in owners.values())


def test_sites_annotate_their_own() -> None:
    people = tuple(AnnotatorSettings(n, site="AABB"[i]) for i, n in enumerate("wxyz"))
    site = {n.id: n.metadata["site"] for n in NOTES}
    for t in tasks(by="site", site="site", annotators=people):
        assert t.annotator in ("wx" if site[t.note] == "A" else "yz")
    with pytest.raises(InputError, match="B"):
        tasks(by="site", site="site", annotators=people[:2])


def test_everybody_trains_on_the_same_notes_first() -> None:
    found = tasks(training=[Note("t1", "a", ""), Note("t2", "a", "")])
    for who in "abcd":
        assert {t.note for t in found if t.annotator == who and t.batch == "training"} == {
            "t1", "t2",
        }  # fmt: skip


def test_new_ids_hide_the_old() -> None:
    found = tasks(rename=True)
    assert len({t.shown_id for t in found}) == 40
    assert all(t.shown_id.startswith("N") for t in found)


def test_nobody_to_annotate_is_a_fault() -> None:
    with pytest.raises(InputError, match="annotators"):
        tasks(annotators=())


@pytest.mark.parametrize("tool_format", ["brat", "webanno", "cas", "jsonl"])
def test_packages_are_blind_in_every_format(make_study, tool_format: str) -> None:
    study = make_study(tool_format)
    for step in (define_population, plan_study, sample_study):
        step(study)
    summary = assign_study(study).summary
    assert summary["notes"]["training"] == 2
    for who in ("ann", "bob"):
        folder = study.output("assign") / who
        assert (folder / "guidelines.md").read_text() == "Read the note.\n"
        assert "f1_Tobacco-use" in (folder / "labels.csv").read_text()
        for batch in summary["batches"]:
            corpus = read_corpus(batch_path(folder, batch, tool_format), format=tool_format)
            assert corpus.rows.n_annotations == 0
            assert [a.id for a in corpus.annotators] == [who]
            assert not any(n.metadata for n in corpus.notes)
            for place in folder.rglob("*"):
                if place.is_file():
                    text = place.read_text(encoding="utf-8", errors="ignore")
                    assert "inclusion_probability" not in text
    sample = read_corpus(study.output("sample", "notes.jsonl"))
    trained = {t.note for t in read_key(study.output("assign", "key.csv")) if t.kind == "training"}
    assert not trained & set(sample.note_index)
