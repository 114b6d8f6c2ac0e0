"""Files of other tools as people leave them: edited, cut off, saved by the wrong program."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats import FORMATS, detect_format, read_corpus, write_corpus

SECRET = "SECRETWORD"


def corpus_of_two_cases() -> Corpus:
    builder = CorpusBuilder()
    for i in range(2):
        builder.add_note(Note(str(i), "0", f"{SECRET} no fever {i}, chest pain"))
    builder.add_note(Note("2", "1", f"{SECRET} male"))
    builder.add_feature(Feature("0", "0", "No fever", weight=2.0))
    builder.add_feature(Feature("1", "0", "Chest pain"))
    builder.add_feature(Feature("100", "1", "Male"))
    for i in range(2):
        builder.annotate("reference", str(i), "0", [(11, 19)])
        builder.annotate("reference", str(i), "1", [(23, 33)])
    builder.annotate("reference", "2", "100", [(11, 15)])
    return builder.build()


FILE_NAMES = {
    "jsonl": "c.jsonl", "labelstudio": "c.json", "conll": "c.conll", "prodigy": "c.jsonl",
    "bioc": "c.json", "bioc-xml": "c.xml", "docbin": "c.spacy",
}  # fmt: skip


def written(tmp_path: Path, name: str) -> Path:
    place = tmp_path / FILE_NAMES.get(name, "c")
    write_corpus(corpus_of_two_cases(), place, format=name)
    return place


def edit(path: Path, old: str, new: str) -> None:
    content = path.read_bytes().decode("utf-8")
    assert old in content
    path.write_bytes(content.replace(old, new, 1).encode("utf-8"))


def faults_of(path: Path, *, format: str | None = None) -> list[tuple[str, int | None]]:  # noqa: A002
    with pytest.raises(InputError) as caught:
        read_corpus(path, format=format)
    assert SECRET not in str(caught.value)
    return [("" if f.path is None else f.path.name, f.line) for f in caught.value.faults]


LABELS = {
    "brat": ("0.ann", "0_No-fever", ("0.ann", 1)),
    "webanno": ("0.tsv", "0\\_No-fever", ("0.tsv", 7)),
    "cas": ("0/reference.xmi", "0_No-fever", ("reference.xmi", None)),
    "cas-json": ("0/reference.json", "0_No-fever", ("reference.json", None)),
    "labelstudio": ("", "0_No-fever", ("c.json", 1)),
    "doccano": ("reference.jsonl", "0_No-fever", ("reference.jsonl", 1)),
    "conll": ("", "0_No-fever", ("c.conll", 4)),
}


@pytest.mark.parametrize("name", LABELS)
def test_a_label_the_rubrics_lack_is_a_fault(name: str, tmp_path: Path) -> None:
    place = written(tmp_path, name)
    file, label, expected = LABELS[name]
    edit(place / file if file else place, label, label.replace("fever", "fevr"))
    assert faults_of(place) == [expected]


def test_a_folder_of_labels_the_rubrics_lack_is_a_fault(tmp_path: Path) -> None:
    place = written(tmp_path, "ebmnlp")
    labels = place / "annotations" / "individual" / "starting_spans"
    (labels / "0_No-fever").rename(labels / "0_Fever")
    assert len(faults_of(place)) == 1


@pytest.mark.parametrize("content", [b"", b"D" * 500, b"{", b"\xff\xfe{"])
def test_a_spoilt_note_of_cas_json_is_a_fault_not_left_out(tmp_path: Path, content: bytes) -> None:
    place = written(tmp_path, "cas-json")
    (place / "0" / "reference.json").write_bytes(content)
    assert faults_of(place) == [("reference.json", 1)]


def test_cas_json_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    place = written(tmp_path, "cas-json")
    file = place / "0" / "reference.json"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert read_corpus(place) == corpus_of_two_cases()


def test_other_json_beside_cas_files_is_passed_over(tmp_path: Path) -> None:
    place = written(tmp_path, "cas-json")
    (place / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    assert read_corpus(place) == corpus_of_two_cases()


def test_a_broken_type_system_is_one_fault_of_its_own(tmp_path: Path) -> None:
    place = written(tmp_path, "cas")
    (place / "TypeSystem.xml").write_text("<type", encoding="utf-8")
    assert faults_of(place) == [("TypeSystem.xml", None)]


def test_an_empty_xmi_is_wrong_in_its_first_line(tmp_path: Path) -> None:
    place = written(tmp_path, "cas")
    (place / "0" / "reference.xmi").write_bytes(b"")
    assert faults_of(place, format="cas") == [("reference.xmi", 1)]


@pytest.mark.parametrize("name", ["cas", "cas-json"])
def test_the_two_forms_of_cas_are_told_apart(name: str, tmp_path: Path) -> None:
    assert detect_format(written(tmp_path, name)) == name


@pytest.mark.parametrize("table", ["notes", "rows", "annotations", "spans"])
def test_a_broken_table_is_named(table: str, tmp_path: Path) -> None:
    place = written(tmp_path, "parquet")
    for content in (b"", b"PAR1"):
        (place / f"{table}.parquet").write_bytes(content)
        assert faults_of(place) == [(f"{table}.parquet", None)]
    (place / f"{table}.parquet").unlink()
    assert faults_of(place, format="parquet") == [(f"{table}.parquet", None)]


def test_a_broken_head_of_parquet_is_named_with_its_line(tmp_path: Path) -> None:
    place = written(tmp_path, "parquet")
    edit(place / "corpus.json", '"rubrics":', '"rubrics"')
    assert faults_of(place) == [("corpus.json", 3)]


def change_note(path: Path, change: Callable[[dict[str, object]], object]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    value = json.loads(lines[2])
    change(value)
    lines[2] = json.dumps(value)
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    "annotations",
    [
        [SECRET],
        {"reference": [SECRET]},
        {"reference": {"0": SECRET}},
        {"reference": {"0": [SECRET]}},
        {"reference": {"0": [[]]}},
        {"reference": {"0": [[[SECRET, "x"]]]}},
        {"reference": {"0": [[[1.5, 3.7]]]}},
        {"reference": {"0": [[[True, 3]]]}},
        {"reference": {"0": [[[3, 10**30]]]}},
        {"reference": {"0": {"probability": SECRET, "annotations": []}}},
        {"reference": {"0": {"probability": 1.5, "annotations": []}}},
        {"reference": {"0": {"probability": float("nan"), "annotations": []}}},
        {"reference": {"0": [{"spans": [[0, 1]], "confidence": SECRET}]}},
    ],
)
def test_annotations_of_the_wrong_shape_name_their_line(
    annotations: object, tmp_path: Path
) -> None:
    place = written(tmp_path, "jsonl")
    change_note(place, lambda value: value.update(annotations=annotations))
    assert faults_of(place) == [("c.jsonl", 3)]


@pytest.mark.parametrize(
    "more", [{"text": 7}, {"note": "0"}, {"metadata": {"a": [SECRET]}}, {"metadata": [SECRET]}]
)
def test_notes_of_the_wrong_shape_name_their_line(more: dict[str, object], tmp_path: Path) -> None:
    place = written(tmp_path, "jsonl")
    change_note(place, lambda value: value.update(more))
    assert faults_of(place) == [("c.jsonl", 3)]


@pytest.mark.parametrize(
    ("name", "file"), [("jsonl", ""), ("parquet", "corpus.json"), ("brat", "rubricate.json")]
)
@pytest.mark.parametrize("weight", ["NaN", "1e999", '"heavy"', "[2]"])
def test_a_weight_that_is_no_number_is_a_fault(
    name: str, file: str, weight: str, tmp_path: Path
) -> None:
    place = written(tmp_path, name)
    head = place / file if file else place
    content = head.read_text(encoding="utf-8")
    head.write_text(re.sub(r'"weight": ?2\.0', f'"weight": {weight}', content), encoding="utf-8")
    assert [path for path, _ in faults_of(place)] == [head.name]


def test_an_annotator_given_twice_is_a_fault(tmp_path: Path) -> None:
    place = written(tmp_path, "jsonl")
    edit(place, '"annotators":[{"id":"reference"}]', '"annotators":[{"id":"a"},{"id":"a"}]')
    assert faults_of(place) == [("c.jsonl", 1)]
    place = written(tmp_path, "parquet")
    edit(place / "corpus.json", '"id": "1"', '"id": "0"')
    assert faults_of(place) == [("corpus.json", None)]


@pytest.mark.parametrize("end", ["1900", "9" * 12, "9" * 30, "9" * 5000])
def test_an_offset_of_any_size_is_a_fault(end: str, tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    edit(place / "train.csv", "11 19", f"11 {end}")
    assert faults_of(place) == [("train.csv", 2)]


def test_a_file_without_header_shows_no_note(tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    notes = place / "patient_notes.csv"
    notes.write_text(notes.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")
    assert faults_of(place) == [("patient_notes.csv", None)] * 3


def test_the_same_number_written_otherwise_is_a_duplicate(tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    edit(place / "patient_notes.csv", '\n1,"0"', '\n000,"0"')
    assert faults_of(place) == [("patient_notes.csv", 3)]


def test_a_feature_number_given_twice_is_a_fault_beside_a_frame_too(tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    edit(place / "features.csv", "\n1,", "\n0,")
    assert faults_of(place) == [("features.csv", 3)]


@pytest.mark.parametrize("content", ["{", "[1]", '{"notes": 3}', '{"notes": {}}'])
def test_a_broken_list_of_ids_is_named(content: str, tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    (place / "nbme_ids.json").write_text(content, encoding="utf-8")
    assert faults_of(place) == [("nbme_ids.json", None)]


def test_a_row_of_another_case_than_its_note_is_a_fault(tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    edit(place / "train.csv", '"00001_000","0"', '"00001_000","1"')
    assert faults_of(place) == [("train.csv", 4)]


def test_faults_stand_in_the_order_of_the_file(tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    edit(place / "train.csv", "11 19", "11 1900")
    edit(place / "train.csv", "['23 33']", "__import__('os')")
    edit(place / "train.csv", '"00001_000","0",1,0', '"00001_000","0",1,77')
    edit(place / "train.csv", '"00001_001","0",1,1', '"00001_001","0",99,1')
    assert faults_of(place) == [("train.csv", i) for i in (2, 3, 4, 5)]


def test_what_a_person_writes_into_the_competitions_files_is_read(tmp_path: Path) -> None:
    place = written(tmp_path, "nbme")
    edit(place / "features.csv", '"No-fever"', '"No-fever-OR-afebrile"')
    with (place / "features.csv").open("a", encoding="utf-8") as stream:
        stream.write('2,"0","Cough"\n')
    edit(place / "patient_notes.csv", '\n2,"1"', '\n2,"0"')
    (place / "train.csv").unlink()
    corpus = read_corpus(place)
    assert corpus.note("2").case == "0"
    assert corpus.feature("2").text == "Cough"
    changed = corpus.feature("0")
    assert (changed.text, changed.weight) == ("No fever OR afebrile", 2.0)


def test_a_deleted_file_is_a_note_less(tmp_path: Path) -> None:
    for name in ("brat", "webanno", "cas", "cas-json"):
        place = written(tmp_path / name, name)
        for file in place.glob("0*"):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()
        assert read_corpus(place) == corpus_of_two_cases().select(notes=["1", "2"])


#: A submission needs another corpus; the others are no text.
BINARY = {"submission", "parquet", "docbin", "datasets"}


@pytest.mark.parametrize(
    "name",
    [n for n in FORMATS if FORMATS[n].write and n not in BINARY],
)
def test_line_ends_and_marks_of_other_systems_change_nothing(name: str, tmp_path: Path) -> None:
    place = written(tmp_path, name)
    for file in [place] if place.is_file() else place.rglob("*"):
        if file.is_file():
            ours = file.read_bytes().replace(b"\n", b"\r\n")
            # BRAT counts a byte order mark of a text as its first character.
            mark = b"" if file.suffix == ".txt" else b"\xef\xbb\xbf"
            file.write_bytes(mark + ours)
    assert read_corpus(place) == corpus_of_two_cases()


@pytest.mark.parametrize(("name", "file"), [("conll", ""), ("doccano", "reference.jsonl")])
def test_an_emptied_file_is_a_fault(name: str, file: str, tmp_path: Path) -> None:
    place = written(tmp_path, name)
    emptied = place / file if file else place
    emptied.write_bytes(b"")
    assert faults_of(place, format=name) == [(emptied.name, None)]


@pytest.mark.parametrize(
    "name", ["brat", "webanno", "cas", "cas-json", "ebmnlp", "labelstudio", "doccano", "conll"]
)
def test_nothing_to_read_is_a_fault_unless_there_is_nothing(name: str, tmp_path: Path) -> None:
    place = written(tmp_path, name)
    empty = corpus_of_two_cases().select(notes=[])
    write_corpus(empty, tmp_path / "empty" / place.name, format=name)
    assert read_corpus(tmp_path / "empty" / place.name, format=name) == empty
    if place.is_dir():
        for part in place.iterdir():
            if part.is_dir():
                shutil.rmtree(part)
            elif part.name != "rubricate.json":
                part.unlink()
        (place / "documents").mkdir()
        (place / "annotations").mkdir()
    else:
        place.write_text("[]" if name == "labelstudio" else "", encoding="utf-8")
    assert len(faults_of(place, format=name)) == 1
    frame = place / "rubricate.json" if place.is_dir() else Path(f"{place}.rubricate.json")
    frame.unlink()
    assert len(faults_of(place, format=name)) == 1


@pytest.mark.parametrize("name", [n for n in FORMATS if FORMATS[n].write and n != "submission"])
def test_no_id_is_taken_for_a_file_of_ours(name: str, tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("rubricate", "0", "fever"))
    builder.add_feature(Feature("0", "0", "Fever"))
    for annotator in ("rubricate", "corpus", "label_config"):
        builder.annotate(annotator, "rubricate", "0", [(0, 5)])
    corpus = (
        builder.build().select(annotators=["rubricate"]) if name == "conll" else builder.build()
    )
    place = tmp_path / FILE_NAMES.get(name, "c")
    write_corpus(corpus, place, format=name, strict=True)
    assert read_corpus(place) == corpus
