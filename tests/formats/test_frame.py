from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rubricate import CorpusBuilder, Feature, Note, load_corpus, read_corpus, write_corpus
from rubricate.errors import InputError
from rubricate.formats.frame import (
    LONGEST_NAME,
    Frame,
    feature_labels,
    frame_path,
    id_to_name,
    name_to_id,
    read_frame,
    write_frame,
)


def test_labels_are_safe_and_unique() -> None:
    builder = CorpusBuilder()
    for i, text in enumerate(["Pain (left)", "Pain left", "中文", "a b" * 60]):
        builder.add_feature(Feature(f"x{i}" if i > 1 else f"é{i}", "c", text))
    labels = feature_labels(builder.build())
    assert len(set(labels.values())) == 4
    for label in labels.values():
        assert label.replace("-", "").replace("_", "").isalnum()
        assert label.isascii()
        assert len(label) <= 85


def test_a_frame_comes_back(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    write_frame(corpus, tmp_path, is_folder=True)
    frame = read_frame(tmp_path, is_folder=True)
    assert frame.rubrics == corpus.rubrics
    assert frame.annotators == corpus.annotators
    assert frame.metadata == corpus.metadata
    note = corpus.notes[0]
    assert frame.note(note.id, note.text) == note


def test_no_frame_is_an_empty_one(tmp_path: Path) -> None:
    assert read_frame(tmp_path, is_folder=True) == Frame()
    assert frame_path(tmp_path / "a.json", is_folder=False).name == "a.json.rubricate.json"


@pytest.mark.parametrize("text", ["{", "[]", '{"rubricate_frame": 99}', '{"rubricate_frame": 1}'])
def test_a_broken_frame_names_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "rubricate.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_frame(tmp_path, is_folder=True)
    assert caught.value.faults[0].path == tmp_path / "rubricate.json"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"id": "1"', '"id": "0"'),
        ('"case": "0",', '"case": "1",'),
        ('"id": "second"', '"id": "first"'),
        ('"0_Fever": "0"', '"0_Fever": "7"'),
        ('"0_Fever": "0"', '"0_Fever": ["0"]'),
        ('"labels": {', '"labels": 7, "x": {'),
        ('"n": [', '"n": ["7",'),
        ('"n": [', '"n": [{"0": 1},'),
        ('"n": {', '"m": 7, "n": {'),
    ],
)
def test_a_frame_that_contradicts_itself_is_a_fault(tmp_path: Path, old: str, new: str) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "0", "fever"))
    builder.add_feature(Feature("0", "0", "Fever"))
    builder.add_feature(Feature("1", "0", "Cough"))
    builder.add_feature(Feature("2", "1", "Male"))
    builder.annotate("first", "n", "0", [(0, 5)])
    builder.annotate("second", "n", "0", [(0, 5)])
    write_corpus(builder.build(), tmp_path / "c", format="brat")
    place = tmp_path / "c" / "rubricate.json"
    content = place.read_text(encoding="utf-8")
    assert old in content
    place.write_text(content.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_corpus(tmp_path / "c")
    assert [fault.path for fault in caught.value.faults] == [place]


def test_unknown_labels_become_features() -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "case", "text"))
    frame = Frame()
    assert frame.feature_id("Chest_pain", "case", builder) == "Chest_pain"
    assert builder.features_of("case")[0].text == "Chest pain"


@given(st.text(max_size=20))
@example("")
@example("%")
@example("a%20b")
@example(".hidden")
@example("a.TXT")
@example("..")
@example("\ud83d")
def test_every_id_comes_back_and_every_name_is_plain(identifier: str) -> None:
    name = id_to_name(identifier)
    assert name_to_id(name) == identifier
    assert name.isascii() and "/" not in name and not name.startswith(".")


def test_reserved_names_are_avoided_and_come_back() -> None:
    name = id_to_name("INITIAL_CAS", reserved=frozenset({"INITIAL_CAS"}))
    assert name != "INITIAL_CAS"
    assert name_to_id(name) == "INITIAL_CAS"


@pytest.mark.parametrize("name", ["50%", "note 1", "Zoë", "a%zz", "%FF"])
def test_names_nobody_encoded_stand_for_themselves(name: str) -> None:
    assert name_to_id(name) == name


def test_ids_too_long_for_a_file_are_refused() -> None:
    with pytest.raises(InputError):
        id_to_name("x" * 300)


def test_the_longest_name_is_still_a_name() -> None:
    assert len(id_to_name("x" * LONGEST_NAME)) == LONGEST_NAME
    with pytest.raises(InputError, match=str(LONGEST_NAME + 1)):
        id_to_name("x" * (LONGEST_NAME + 1))


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("a.b", "a.b"), ("a.txt", "a%2Etxt"), ("a.txt.b", "a.txt.b"), ("a.", "a%2E"), ("", "%")],
)
def test_only_dots_that_would_be_misread_are_encoded(identifier: str, name: str) -> None:
    assert id_to_name(identifier) == name
