import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import corpora

from annotated_note import annotated_note
from rubricate import Annotator, Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats.format import count_losses
from rubricate.formats.labelstudio import FORMAT, read_labelstudio, write_labelstudio
from rubricate.formats.options import ReadOptions
from rubricate.rows import Detail
from stripping import stripped

RESOURCES = Path(__file__).parents[2] / "resources" / "labelstudio"


def texts(corpus: Corpus, note_id: str, annotator: str) -> dict[str, list[str]]:
    note = corpus.note(note_id)
    found = {}
    for feature in corpus.features:
        annotations = corpus.annotations(note_id, feature.id, annotator)
        if annotations is not None:
            found[feature.id] = [a.text(note.text) for a in annotations]
    return found


def write_tasks(path: Path, *tasks: Any) -> Path:
    path.write_text(json.dumps(list(tasks)), encoding="utf-8")
    return path


def task(text: Any, *results: Any, **more: Any) -> dict[str, Any]:
    return {"data": {"text": text}, "annotations": [{"result": list(results)}], **more}


def region(start: Any, end: Any, *labels: Any, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": list(labels)}
    return {"id": f"{start}", "type": "labels", "value": {**value, **more}}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora())
def test_everything_held_comes_back(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / "c.json"
    write_labelstudio(corpus, place)
    assert FORMAT.looks_like(place)
    assert not count_losses(corpus, FORMAT.holds)
    assert read_labelstudio(place) == corpus
    ET.fromstring(place.with_name("c.config.xml").read_text(encoding="utf-8"))


def test_only_the_probability_is_lost(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "pain"))
    builder.add_feature(Feature("f", "c", "Pain"))
    builder.judge("a", "n", "f", probability=0.5)
    corpus = builder.build()
    assert count_losses(corpus, FORMAT.holds) == {"probability": 1}
    write_labelstudio(corpus, tmp_path / "c.json")
    assert read_labelstudio(tmp_path / "c.json") == stripped(corpus, FORMAT.holds)


def test_an_export_is_read() -> None:
    place = RESOURCES / "export.json"
    assert FORMAT.looks_like(place)
    corpus = read_labelstudio(place)
    assert [a.id for a in corpus.annotators] == ["alice@example.org", "2", "phrases-1"]
    assert [a.group for a in corpus.annotators] == ["", "", "system"]
    assert [n.id for n in corpus.notes] == ["1", "2", "3"]
    assert corpus.notes[0].metadata == {"quality": "legible", "ward": "3"}
    found = texts(corpus, "1", "alice@example.org")
    assert found == {
        "Age": ["58 yo"], "Male": ["58 yo"], "Duration": ["x3 days.\r\nDenies"],
        "No-chills": ["Denies chills"], "Chest-pain": [],
    }  # fmt: skip
    assert texts(corpus, "1", "2") == {feature: [] for feature in found}
    assert texts(corpus, "2", "2") == {}
    assert texts(corpus, "3", "2") == {feature: [] for feature in found}
    (age,) = corpus.annotations("1", "Age", "alice@example.org") or ()
    assert age.detail == Detail(attributes=(("certainty", "high"),))
    (duration,) = corpus.annotations("1", "Duration", "alice@example.org") or ()
    assert duration.detail == Detail(comment="runs on\nsee line 2")
    (pain,) = corpus.annotations("1", "Chest-pain", "phrases-1") or ()
    assert pain.confidence == 0.75


def test_an_export_of_an_old_version_counts_utf_16_units() -> None:
    corpus = read_labelstudio(RESOURCES / "export_1.3.json")
    assert texts(corpus, "1", "1") == {"Duration": ["x3 days"], "Age": ["58 yo"]}
    assert not corpus.rows.details


def test_the_compact_export_is_read() -> None:
    place = RESOURCES / "export_min.json"
    assert FORMAT.looks_like(place)
    corpus = read_labelstudio(place)
    assert texts(corpus, "1", "1") == {"Duration": ["x3 days"]}
    assert texts(corpus, "1", "2") == {"Duration": []}


def test_offsets_in_the_file_are_code_points(tmp_path: Path) -> None:
    write_labelstudio(annotated_note("😀 pain", [(2, 6)], "Pain"), tmp_path / "c.json")
    (value,) = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    (written,) = value["annotations"][0]["result"]
    assert written["value"] == {"start": 2, "end": 6, "text": "pain", "labels": ["f_Pain"]}


def test_a_stated_text_that_fits_code_points_decides_the_unit(tmp_path: Path) -> None:
    place = write_tasks(
        tmp_path / "c.json",
        task("😀aab", region(1, 2, "A", text="a"), region(2, 3, "B", text="a"),
             region(3, 4, "C", text="b")),
        task("😀ab", region(2, 3, "A", text="a"), region(3, 4, "B", text="b")),
        task("😀ab", region(2, 3, "A"), region(1, 2, "B", text="z")),
    )  # fmt: skip
    corpus = read_labelstudio(place)
    assert corpus.rows.start.tolist() == [1, 2, 3, 1, 2, 2, 1]


def test_predictions_are_for_systems(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "pain"))
    builder.add_feature(Feature("f", "c", "Pain"))
    builder.add_annotator(Annotator("exact", "system"))
    builder.annotate("exact", "n", "f", [(0, 4)], confidence=0.5)
    builder.judge("7", "n", "f")
    builder.judge("alice", "n", "f")
    write_labelstudio(builder.build(), tmp_path / "c.json")
    (value,) = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert [a["completed_by"] for a in value["annotations"]] == [7, {"email": "alice"}]
    assert value["predictions"][0]["model_version"] == "exact"
    assert value["predictions"][0]["result"][0]["score"] == 0.5
    (tmp_path / "c.json.rubricate.json").unlink()
    alone = read_labelstudio(tmp_path / "c.json")
    assert {a.id: a.group for a in alone.annotators} == {"7": "", "alice": "", "exact": "system"}


def test_a_second_annotation_of_the_same_user_is_kept_apart(tmp_path: Path) -> None:
    place = write_tasks(
        tmp_path / "c.json",
        {"data": {"text": "ab"}, "annotations": [
            {"completed_by": 1, "result": [region(0, 1, "A")]},
            {"completed_by": 1, "result": [region(1, 2, "A")]}]},
    )  # fmt: skip
    corpus = read_labelstudio(place)
    assert [a.id for a in corpus.annotators] == ["1", "1#2"]


def test_only_relations_of_fragments_join(tmp_path: Path) -> None:
    def relation(a: int, b: int, *labels: str) -> dict[str, Any]:
        more = {"labels": list(labels)} if labels else {}
        return {"type": "relation", "from_id": f"{a}", "to_id": f"{b}", **more}

    place = write_tasks(
        tmp_path / "c.json",
        task("abcdefgh", region(0, 1, "A"), region(2, 3, "A"), region(4, 5, "A"),
             region(6, 7, "B"), relation(0, 2), relation(2, 4, "cause"), relation(4, 6),
             relation(0, 99)),
    )  # fmt: skip
    corpus = read_labelstudio(place)
    assert texts(corpus, "1", "annotator") == {"A": ["a c", "e"], "B": ["g"]}


def test_a_configuration_is_written_beside(tmp_path: Path) -> None:
    corpus = annotated_note(
        "pain", [(0, 4)], "Pain", detail=Detail(attributes=(("Sure", 'very "so"'),))
    )
    write_labelstudio(corpus, tmp_path / "notes.json")
    view = ET.fromstring((tmp_path / "notes.config.xml").read_text(encoding="utf-8"))
    assert [label.get("value") for label in view.iter("Label")] == ["f_Pain"]
    assert [c.get("value") for c in view.iter("Choice")] == ['very "so"']
    text = view.find("Text")
    assert text is not None
    assert text.get("value") == "$text"


def test_every_fault_is_named_with_its_task_and_no_text(tmp_path: Path) -> None:
    place = write_tasks(
        tmp_path / "c.json",
        task("secret", region(0, 99, "A"), id=1),
        task("secret", region("0", 1, "A"), region(0, 2**40, "A"), region(0, 1, 7), id=2),
        task("secret", region(0, 1), id=3),
        {"annotations": []},
        {"data": {"a": "secret", "b": "secret"}, "annotations": []},
        task("secret", id=1),
        {"data": {"text": "secret"}, "annotations": {"result": []}},
        task("secret\ud83d"),
        task("secret😀ab", region(8, 9, "A", text="a"), region(7, 8, "B")),
        "secret",
        task(None),
    )
    with pytest.raises(InputError) as caught:
        read_labelstudio(place)
    assert {f.line for f in caught.value.faults} == set(range(1, 12))
    assert "secret" not in str(caught.value)


def test_truncated_json_is_a_fault_with_its_line(tmp_path: Path) -> None:
    place = tmp_path / "c.json"
    place.write_text('[\n{"data": {"text": "secret', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_labelstudio(place)
    assert caught.value.faults[0].line == 2
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("content", ["{}", "1", "[" * 100_000])
def test_what_is_no_list_is_a_fault(content: str, tmp_path: Path) -> None:
    place = tmp_path / "c.json"
    place.write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        read_labelstudio(place)


def test_wrong_encoding_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"data": {"text": "caf\xe9"}}]')
    with pytest.raises(InputError, match="not UTF-8"):
        read_labelstudio(tmp_path / "a.json")


def test_lenient_reading_and_writing_keep_wrong_offsets(tmp_path: Path) -> None:
    place = write_tasks(tmp_path / "a.json", task("😀x", region(1, 9, "A"), region(0, 1), id=1))
    corpus = read_labelstudio(place, ReadOptions(strict=False))
    assert corpus.rows.end.tolist() == [9]
    write_labelstudio(corpus, tmp_path / "again.json")
    assert read_labelstudio(tmp_path / "again.json", ReadOptions(strict=False)) == corpus


@pytest.mark.parametrize(
    "content",
    ["[]", "", "[1]", "[{", '[{"data": 1}]', '{"data": {"text": "x"}}', '[{"text": "x"}]',
     '[{"data": {}, "annotations": {}}]', "[" * 5000],
)  # fmt: skip
def test_other_files_are_not_claimed(content: str, tmp_path: Path) -> None:
    place = tmp_path / "a.json"
    place.write_text(content, encoding="utf-8")
    assert not FORMAT.looks_like(place)
    assert not FORMAT.looks_like(tmp_path)


@pytest.mark.parametrize("shape", ["one", "lines", "indented"])
def test_one_task_and_one_task_per_line_are_read(shape: str, tmp_path: Path) -> None:
    tasks = [task("no fever", region(3, 8, "Fever"), id=1), task("well", id=2)]
    place = tmp_path / ("c.jsonl" if shape == "lines" else "c.json")
    if shape == "lines":
        place.write_text("".join(json.dumps(t) + "\n" for t in tasks), encoding="utf-8")
    else:
        place.write_text(json.dumps(tasks[0], indent=2 if shape == "indented" else None), "utf-8")
    assert FORMAT.looks_like(place)
    corpus = read_labelstudio(place)
    assert len(corpus.notes) == (2 if shape == "lines" else 1)
    assert corpus.rows.n_annotations == 1


def test_lines_that_are_no_tasks_are_named(tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    lines = [json.dumps(task("secret", id=1)), '{"data": secret}', json.dumps(task("secret", id=2))]
    place.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_labelstudio(place)
    assert [f.line for f in caught.value.faults] == [2]
    assert "secret" not in str(caught.value)


def test_answers_about_whole_tasks_become_metadata(tmp_path: Path) -> None:
    def choice(answer: str) -> dict[str, Any]:
        return {"from_name": "quality", "type": "choices", "value": {"choices": [answer]}}

    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    own = {"id": "3", "from_name": "certainty", "type": "choices",
           "value": {"start": 3, "end": 8, "choices": ["sure"]}}  # fmt: skip
    both = [{"completed_by": n, "result": [choice(a)]} for n, a in ((1, "good"), (2, "poor"))]
    place = write_tasks(
        tmp_path / "c.json",
        task("no fever", region(3, 8, "Fever"), own, choice("good"), stars, id=1),
        {"id": 2, "data": {"text": "well"}, "annotations": both},
    )
    first, second = read_labelstudio(place).notes
    assert dict(first.metadata) == {"quality": "good", "stars": "4"}
    assert dict(second.metadata) == {"quality (1)": "good", "quality (2)": "poor"}
