import shutil

import pytest

from rubricate import CorpusBuilder, read_corpus, write_corpus
from rubricate.errors import InputError
from rubricate.formats.format import FRAME_NAME
from rubricate.study.assignment import batch_path, read_key
from rubricate.study.collection import collect_study


def first_file(study, tool_format, batch="week-1"):
    return batch_path(study.folder / "3-annotation" / "returned" / "bob", batch, tool_format)


@pytest.mark.parametrize("tool_format", ["brat", "webanno", "cas", "jsonl"])
def test_what_comes_back_is_read_in_every_format(returned_study, tool_format: str) -> None:
    study = returned_study(tool_format)
    summary = collect_study(study).summary
    corpus = read_corpus(study.output("collect", "annotations.jsonl"))
    sample = read_corpus(study.output("sample", "notes.jsonl"))
    assert corpus.notes == sample.notes
    assert [(a.id, a.group) for a in corpus.annotators] == [("ann", "senior"), ("bob", "annotator")]
    assert len(corpus.rows) == 2 * 2 * len(sample.notes)
    for note in sample.notes:
        number = int(note.id[1:])
        marks = corpus.annotations(note.id, "f1", "ann")
        assert [(s.start, s.end) for a in marks for s in a.spans] == [(0, 6)] * (number < 60)
    smoking = summary["agreement"]["variables"][0]
    assert smoking["presence_f1"]["value"] == 1.0
    assert smoking["characters_f1"]["value"] < 1.0
    assert study.output("collect", "training.jsonl").exists()


@pytest.mark.parametrize("tool_format", ["brat", "webanno", "cas"])
def test_a_tool_that_drops_our_frame_does_no_harm(returned_study, tool_format: str) -> None:
    study = returned_study(tool_format)
    for frame in (study.folder / "3-annotation" / "returned").rglob(FRAME_NAME):
        frame.unlink()
    collect_study(study)
    corpus = read_corpus(study.output("collect", "annotations.jsonl"))
    sample = read_corpus(study.output("sample", "notes.jsonl"))
    assert len(corpus.rows) == 4 * len(sample.notes)


def test_missing_files_are_named_unless_partial(returned_study) -> None:
    study = returned_study()
    place = sorted(first_file(study, "brat").glob("*.ann"))[0]
    place.unlink()
    with pytest.raises(InputError, match=place.name) as caught:
        collect_study(study)
    assert len(caught.value.faults) == 1
    summary = collect_study(study, partial=True).summary
    assert [m["note"] for m in summary["missing"]] == [place.stem]


def test_a_missing_batch_is_named_once(returned_study) -> None:
    study = returned_study()
    shutil.rmtree(first_file(study, "brat", "week-2"))
    tasks = read_key(study.output("assign", "key.csv"))
    n = sum((t.annotator, t.batch) == ("bob", "week-2") for t in tasks)
    with pytest.raises(InputError, match="week-2") as caught:
        collect_study(study)
    assert len(caught.value.faults) == 1
    assert f"{n} notes of annotator 'bob'" in str(caught.value)


def test_missing_training_is_no_fault(returned_study) -> None:
    study = returned_study()
    shutil.rmtree(first_file(study, "brat", "training"))
    collect_study(study)


def test_changed_text_names_its_file(returned_study) -> None:
    study = returned_study()
    notes = sorted(first_file(study, "brat").glob("*.txt"))
    notes[0].write_text(notes[0].read_text() + "!", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        collect_study(study)
    assert {f.path.name for f in caught.value.faults} == {notes[0].stem + ".ann"}
    assert "changed" in str(caught.value)


def test_unknown_labels_name_their_file(returned_study) -> None:
    study = returned_study()
    odd = sorted(first_file(study, "brat").glob("*.ann"))[1]
    odd.write_text("T1\tGout 0 6\tsmokes\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        collect_study(study)
    assert {f.path.name for f in caught.value.faults} == {odd.name}
    assert "Gout" in str(caught.value)
    assert "smokes" not in str(caught.value)


def test_a_broken_file_is_named(returned_study) -> None:
    study = returned_study()
    place = sorted(first_file(study, "brat").glob("*.ann"))[0]
    place.write_text("T1\tf1_Tobacco-use 0 600\tsmokes\n", encoding="utf-8")
    with pytest.raises(InputError, match=place.name):
        collect_study(study)


def test_notes_nobody_asked_for_are_faults(returned_study) -> None:
    study = returned_study()
    extra = first_file(study, "brat") / "zz.txt"
    extra.write_text("more", encoding="utf-8")
    extra.with_suffix(".ann").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="zz"):
        collect_study(study)


def test_another_annotators_name_is_taken_when_it_is_the_only_one(returned_study) -> None:
    study = returned_study("jsonl")
    place = first_file(study, "jsonl")
    corpus = read_corpus(place)
    builder = CorpusBuilder()
    for rubric in corpus.rubrics:
        builder.add_rubric(rubric)
    for note, _, feature, found in corpus.values():
        if note.id not in builder.notes:
            builder.add_note(note)
        builder.judge("robert", note.id, feature.id)
        for a in found:
            builder.annotate("robert", note.id, feature.id, a.spans)
    place.unlink()
    write_corpus(builder.build(), place, format="jsonl")
    collect_study(study)
    collected = read_corpus(study.output("collect", "annotations.jsonl"))
    assert "bob" in collected.annotator_index


def test_nothing_came_back_says_where_to_put_it(make_study, returned_study) -> None:
    study = returned_study()
    shutil.rmtree(study.folder / "3-annotation" / "returned")
    with pytest.raises(InputError, match="returned"):
        collect_study(study)
