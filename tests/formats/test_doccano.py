import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats.doccano import FORMAT, write_doccano
from rubricate.formats.format import count_losses
from rubricate.formats.options import ReadOptions
from stripping import stripped

RESOURCES = Path(__file__).parents[1] / "resources" / "doccano"


def write_lines(path: Path, *values: object) -> Path:
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def texts(corpus: Corpus, note_id: str, annotator: str) -> dict[str, list[str]]:
    note = corpus.note(note_id)
    found = {}
    for feature in corpus.features:
        annotations = corpus.annotations(note_id, feature.id, annotator)
        if annotations is not None:
            found[feature.id] = [a.text(note.text) for a in annotations]
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora())
def test_everything_held_comes_back(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / "c"
    write_doccano(corpus, place)
    read = FORMAT.read(place)
    assert read == stripped(corpus, FORMAT.holds)
    if not count_losses(corpus, FORMAT.holds):
        assert read == corpus


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora(details=False))
def test_what_was_written_is_found_by_looking(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("look") / "c"
    write_doccano(corpus, place)
    assert FORMAT.looks_like(place)


def test_an_individual_export_is_read() -> None:
    place = RESOURCES / "individual"
    assert FORMAT.looks_like(place)
    corpus = FORMAT.read(place)
    assert [a.id for a in corpus.annotators] == ["alice", "bob"]
    assert [n.id for n in corpus.notes] == ["11", "12"]
    assert "\r\n" in corpus.notes[0].text
    assert texts(corpus, "11", "alice") == {
        "Age": ["58 yo"], "Chest-pain": ["chest pain"], "Duration": ["x3 days"],
    }  # fmt: skip
    assert texts(corpus, "11", "bob")["Chest-pain"] == ["chest pain 😀"]
    assert texts(corpus, "12", "alice") == {"Age": [], "Chest-pain": [], "Duration": []}
    assert texts(corpus, "12", "bob") == {}
    assert corpus.notes[0].metadata == {"comments (alice)": "check the age\ntwice"}


def test_an_export_with_relations_is_read() -> None:
    place = RESOURCES / "all.jsonl"
    assert FORMAT.looks_like(place)
    corpus = FORMAT.read(place)
    assert texts(corpus, "7", "all") == {
        "No-chills": ["Denies chills"], "Chest-pain": ["chest pain"],
    }  # fmt: skip
    assert corpus.notes[0].metadata == {"source": "ward 3", "comments (all)": "seen"}


def test_offsets_in_the_file_are_utf_16_units(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "😀 pain"))
    builder.add_feature(Feature("f", "c", "Pain"))
    builder.annotate("a", "n", "f", [(2, 6)])
    write_doccano(builder.build(), tmp_path / "c")
    line = json.loads((tmp_path / "c" / "a.jsonl").read_text(encoding="utf-8"))
    assert line["label"] == [[3, 7, "f_Pain"]]


def test_fragments_are_linked_by_relations_with_whole_number_ids(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "no fever, chills"))
    builder.add_feature(Feature("f", "c", "No chills"))
    builder.annotate("a", "n", "f", [(0, 2), (10, 16)])
    write_doccano(builder.build(), tmp_path / "c")
    line = json.loads((tmp_path / "c" / "a.jsonl").read_text(encoding="utf-8"))
    assert [e["id"] for e in line["entities"]] == [0, 1]
    assert line["relations"] == [{"id": 0, "from_id": 0, "to_id": 1, "type": "fragment"}]


def test_labels_are_listed_for_import(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "No chills"))
    write_doccano(builder.build(), tmp_path / "c")
    config = json.loads((tmp_path / "c" / "label_config.json").read_text(encoding="utf-8"))
    assert [label["text"] for label in config] == ["f_No-chills"]


def test_notes_nobody_judged_have_a_file_of_their_own(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("seen", "c", "x"))
    builder.add_note(Note("unseen", "c", "y"))
    builder.add_feature(Feature("f", "c", "F"))
    builder.judge("unannotated", "seen", "f")
    corpus = builder.build()
    write_doccano(corpus, tmp_path / "c")
    assert '"unseen"' in (tmp_path / "c" / "unannotated.jsonl").read_text(encoding="utf-8")
    assert FORMAT.read(tmp_path / "c") == corpus


def test_every_fault_is_named_with_file_and_line_and_no_text(tmp_path: Path) -> None:
    place = write_lines(
        tmp_path / "ann.jsonl",
        {"id": 1, "text": "secret", "label": [[0, 99, "A"]]},
        '{"id": 2, "text": "secret", "label": [',
        {"id": 3, "label": []},
        {"id": 1, "text": "secret", "label": []},
        {"id": 5, "text": "secret😀", "label": [[0, 7, "A"]]},
        {"id": 6, "text": "secret", "label": [["0", 1, "A"], [0, 1], "A", [0, 1, ""], [0, 2**40, "A"]]},
        {"id": 7, "text": "secret"},
        {"id": 8, "text": "secret", "entities": [{"id": [], "label": "A", "start_offset": 0,
         "end_offset": 1}], "relations": [{"from_id": 0, "to_id": {}, "type": "fragment"}]},
        {"id": 9, "text": "secret\ud83d", "label": []},
        [1],
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        FORMAT.read(place)
    assert sorted({f.line for f in caught.value.faults if f.line}) == list(range(1, 11))
    assert {f.path for f in caught.value.faults} == {place}
    assert len(caught.value.faults) == 14
    assert "secret" not in str(caught.value)


def test_texts_that_differ_between_files_are_a_fault(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", {"id": 1, "text": "secret", "label": []})
    write_lines(tmp_path / "b.jsonl", {"id": 1, "text": "secret ", "label": []})
    with pytest.raises(InputError, match=r"note .1. has another text in .*a\.jsonl"):
        FORMAT.read(tmp_path)


def test_wrong_encoding_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "caf\xe9", "label": []}')
    with pytest.raises(InputError, match="not UTF-8"):
        FORMAT.read(tmp_path / "a.jsonl")


def test_lenient_reading_and_writing_keep_wrong_offsets(tmp_path: Path) -> None:
    place = write_lines(tmp_path / "a.jsonl", {"id": 1, "text": "😀x", "label": [[1 + 1, 9, "A"]]})
    corpus = FORMAT.read(place, ReadOptions(strict=False))
    assert corpus.rows.end.tolist() == [8]
    write_doccano(corpus, tmp_path / "again")
    assert FORMAT.read(tmp_path / "again", ReadOptions(strict=False)) == corpus


@pytest.mark.parametrize(
    "line",
    ['{"rubricate": 1, "text": "x", "label": []}', '{"text": "x"}', "[]", "", "{", '{"text": 1}',
     '[{"text": "x", "label": []}]', '{"text": "x", "label": "positive"}'],
)  # fmt: skip
def test_other_files_are_not_claimed(line: str, tmp_path: Path) -> None:
    place = tmp_path / "a.jsonl"
    place.write_text(line, encoding="utf-8")
    assert not FORMAT.looks_like(place)
    assert not FORMAT.looks_like(tmp_path)
    assert not FORMAT.looks_like(tmp_path / "missing")


@pytest.mark.parametrize("key", ["label", "labels", "annotations", "entities"])
def test_exports_of_versions_that_call_the_text_data(key: str, tmp_path: Path) -> None:
    marked: object = [[4, 9, "Fever"]]
    if key in {"annotations", "entities"}:
        marked = [{"id": 1, "label": "Fever", "start_offset": 4, "end_offset": 9, "user": 1}]
    place = write_lines(tmp_path / "all.jsonl", {"id": 3, "data": "No  fever", key: marked})
    assert FORMAT.looks_like(place)
    assert texts(FORMAT.read(place), "3", "all") == {"Fever": ["fever"]}


def test_labels_given_by_number_keep_it(tmp_path: Path) -> None:
    marked = [{"label": 7, "start_offset": 0, "end_offset": 2, "user": 1}]
    place = write_lines(
        tmp_path / "all.jsonl", {"id": 3, "text": "No fever", "annotations": marked}
    )
    assert texts(FORMAT.read(place), "3", "all") == {"7": ["No"]}
