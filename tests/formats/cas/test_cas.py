import json
import shutil
import sys
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import PIECES, TEXT, corpora

from annotated_note import annotated_note
from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError, MissingExtraError
from rubricate.formats.cas import CAS_JSON, FORMAT, read_cas
from rubricate.formats.cas.write import sentences, words
from rubricate.formats.format import count_losses
from rubricate.formats.options import ReadOptions
from rubricate.rows import Detail
from stripping import stripped

RESOURCES = Path(__file__).parents[2] / "resources" / "cas"
PROJECT = RESOURCES / "project"
XML_TEXT = st.lists(st.sampled_from([p for p in PIECES if p != "\x0c"]), max_size=30).map("".join)
ROUND_TRIP = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)


def texts(corpus: Corpus, note_id: str, annotator: str) -> dict[str, list[str]]:
    note = corpus.note(note_id)
    found = {}
    for feature in corpus.features:
        annotations = corpus.annotations(note_id, feature.id, annotator)
        if annotations is not None:
            found[feature.id] = [a.text(note.text) for a in annotations]
    return found


def changed(path: Path, old: str, new: str) -> None:
    content = path.read_bytes()
    assert old.encode() in content
    path.write_bytes(content.replace(old.encode(), new.encode()))


@ROUND_TRIP
@given(corpus=corpora(texts=XML_TEXT))
def test_everything_comes_back_from_xmi(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / "c"
    FORMAT.write(corpus, place)
    assert FORMAT.looks_like(place)
    assert not count_losses(corpus, FORMAT.holds)
    assert read_cas(place) == corpus


@ROUND_TRIP
@given(corpus=corpora(texts=TEXT))
def test_everything_comes_back_from_json(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / "c"
    CAS_JSON.write(corpus, place)
    assert CAS_JSON.looks_like(place)
    assert not count_losses(corpus, CAS_JSON.holds)
    assert CAS_JSON.read(place, ReadOptions()) == corpus


@given(text=TEXT)
def test_tokens_are_inside_sentences_and_neither_overlap_nor_begin_with_blanks(text: str) -> None:
    own = sentences(text)
    for spans in (own, words(text)):
        assert all(text[s:e] == text[s:e].strip() != "" for s, e in spans)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert all(any(s <= start and end <= e for s, e in own) for start, end in words(text))
    covered = {i for s, e in words(text) for i in range(s, e)}
    assert covered >= {i for i, c in enumerate(text) if c.isalnum()}


def test_only_the_probability_is_lost(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "pain"))
    builder.add_feature(Feature("f", "c", "Pain"))
    builder.judge("a", "n", "f", probability=0.5)
    corpus = builder.build()
    assert count_losses(corpus, FORMAT.holds) == {"probability": 1}
    FORMAT.write(corpus, tmp_path / "c")
    assert read_cas(tmp_path / "c") == stripped(corpus, FORMAT.holds)


@pytest.mark.parametrize("format_", [FORMAT, CAS_JSON])
def test_offsets_in_the_files_are_utf_16_units(format_: Any, tmp_path: Path) -> None:
    format_.write(annotated_note("😀 pain\r\nx", [(2, 6)], "Pain"), tmp_path / "c")
    (file,) = (tmp_path / "c" / "n").iterdir()
    content = file.read_text(encoding="utf-8")
    if file.suffix == ".xmi":
        assert '<custom:Feature xmi:id="8" sofa="1" begin="3" end="7" feature="f_Pain"/>' in content
        assert 'sofaString="😀 pain&#13;&#10;x"' in content
    else:
        (written,) = [
            fs
            for fs in json.loads(content)["%FEATURE_STRUCTURES"]
            if fs["%TYPE"] == "webanno.custom.Feature"
        ]
        assert (written["begin"], written["end"]) == (3, 7)


def test_the_layer_has_further_features_only_where_they_are_needed(tmp_path: Path) -> None:
    FORMAT.write(annotated_note("pain", [(0, 4)], "Pain"), tmp_path / "plain")
    plain = (tmp_path / "plain" / "TypeSystem.xml").read_text(encoding="utf-8")
    assert plain.startswith("<?xml")  # by which INCEpTION knows a type system from a layer file
    detail = Detail("exact", "look", (("a=b%", "c=d"), ("", ""), ("e", "")), "other")
    corpus = annotated_note("pain", [(0, 1), (2, 4)], "Pain", detail=detail, confidence=0.3)
    FORMAT.write(corpus, tmp_path / "full")
    full = (tmp_path / "full" / "TypeSystem.xml").read_text(encoding="utf-8")
    for feature in ("reason", "attributes", "statedText", "confidence"):
        assert f"<name>{feature}</name>" not in plain
        assert f"<name>{feature}</name>" in full
    assert read_cas(tmp_path / "full") == corpus


@pytest.mark.parametrize(
    "corpus",
    [annotated_note("a\x0cb", [(0, 1)], "Pain"), annotated_note("a\ufffeb", [(0, 1)], "Pain"),
     annotated_note("ab", [(0, 1)], "Pain", detail=Detail(comment="\x01")),
     annotated_note("ab", [(0, 1)], "Pain", detail=Detail(attributes=(("x", "\x02"),)))],
)  # fmt: skip
def test_what_xml_cannot_hold_is_refused_before_anything_is_written(
    corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"note 'n'.*cas-json"):
        FORMAT.write(corpus, tmp_path / "c")
    assert not (tmp_path / "c").exists()
    CAS_JSON.write(corpus, tmp_path / "c")
    assert read_cas(tmp_path / "c") == corpus


def test_a_project_export_is_read() -> None:
    assert FORMAT.looks_like(PROJECT)
    corpus = read_cas(PROJECT)
    assert [a.id for a in corpus.annotators] == ["alice", "bob", "CURATION_USER"]
    assert [n.id for n in corpus.notes] == ["n1.txt", "n2.txt"]
    assert corpus.notes[0].text.endswith("days.\r\nDenies fever, chills.")
    assert texts(corpus, "n1.txt", "alice") == {
        "Age": ["58 yo"], "Duration": ["x3 days"], "Chest-pain": ["chest pain"],
        "Finding": ["fever"], "No-fever": [],
    }  # fmt: skip
    assert texts(corpus, "n1.txt", "CURATION_USER")["No-fever"] == ["Denies fever"]
    assert not any(texts(corpus, "n1.txt", "bob").values())
    assert texts(corpus, "n1.txt", "bob") != {}
    assert texts(corpus, "n2.txt", "alice") == {}
    (age,) = corpus.annotations("n1.txt", "Age", "alice") or ()
    assert age.detail.attributes == (("certainty", "high"),)


def test_archives_are_read_as_inception_exports_them(tmp_path: Path) -> None:
    place = tmp_path / "annotation" / "n1.txt" / "alice.zip"
    place.parent.mkdir(parents=True)
    with zipfile.ZipFile(place, "w") as archive:
        archive.write(PROJECT / "TypeSystem.xml", "TypeSystem.xml")
        archive.write(PROJECT / "annotation" / "n1.txt" / "alice.xmi", "alice.xmi")
    assert FORMAT.looks_like(tmp_path)
    found = texts(read_cas(tmp_path), "n1.txt", "alice")
    assert found["Duration"] == ["x3 days"]
    assert FORMAT.looks_like(place)
    assert texts(read_cas(place), "n1.txt", "annotator") == found


def test_single_files_and_flat_folders_are_read(tmp_path: Path) -> None:
    assert CAS_JSON.looks_like(RESOURCES / "alice.json")
    corpus = read_cas(RESOURCES / "alice.json")
    assert texts(corpus, "n1.txt", "annotator") == {"Duration": ["x3 days"]}
    one = read_cas(PROJECT / "annotation" / "n1.txt" / "alice.xmi")
    assert texts(one, "n1.txt", "annotator")["Duration"] == ["x3 days"]
    shutil.copy(PROJECT / "TypeSystem.xml", tmp_path / "typesystem.xml")
    shutil.copy(PROJECT / "annotation" / "n1.txt" / "alice.xmi", tmp_path / "first.xmi")
    flat = read_cas(tmp_path)
    assert texts(flat, "first", "annotator") == texts(one, "n1.txt", "annotator")


def test_an_offset_inside_a_surrogate_pair_is_a_fault_even_when_lenient(tmp_path: Path) -> None:
    for format_, old, new in (
        (FORMAT, 'begin="3" end="7" feature', 'begin="1" end="7" feature'),
        (CAS_JSON, '"begin": 3, "end": 7', '"begin": 1, "end": 7'),
    ):
        place = tmp_path / format_.name
        format_.write(annotated_note("😀 pain", [(2, 6)], "Pain"), place)
        (file,) = (place / "n").iterdir()
        changed(file, old, new)
        for strict in (True, False):
            with pytest.raises(InputError, match="offset 1 is inside a surrogate pair"):
                read_cas(place, ReadOptions(strict=strict))


def test_lenient_reading_and_writing_keep_wrong_offsets(tmp_path: Path) -> None:
    place = tmp_path / "c"
    FORMAT.write(annotated_note("😀 pain", [(2, 6)], "Pain"), place)
    changed(place / "n" / "a.xmi", 'begin="3" end="7" feature', 'begin="3" end="99" feature')
    with pytest.raises(InputError, match=r"span 2 98 .* <= 6"):
        read_cas(place)
    corpus = read_cas(place, ReadOptions(strict=False))
    assert (corpus.rows.start.tolist(), corpus.rows.end.tolist()) == ([2], [98])
    FORMAT.write(corpus, tmp_path / "again")
    assert read_cas(tmp_path / "again", ReadOptions(strict=False)) == corpus


def test_every_fault_is_named_with_its_file_and_no_text(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_feature(Feature("f", "c", "Pain"))
    for name in "abcdefg":
        builder.add_note(Note(name, "c", "secret"))
        builder.annotate("ann", name, "f", [(0, 6)])
    builder.annotate("ben", "g", "f", [(0, 6)])
    place = tmp_path / "c"
    FORMAT.write(builder.build(), place)
    files = {name: place / name / "ann.xmi" for name in "abcdefg"}
    files["a"].write_bytes(files["a"].read_bytes()[:-30])
    changed(files["b"], 'end="6" feature', 'end="60" feature')
    changed(files["c"], "custom:Feature", "custom:Unknown")
    changed(files["d"], 'sofaString="secret"', "")
    changed(files["e"], 'feature="f_Pain"', "")
    changed(files["f"], "<?xml version='1.0' encoding='UTF-8'?>", "<!DOCTYPE x><x/>")
    changed(files["g"], "secret", "secrets")
    with pytest.raises(InputError) as caught:
        read_cas(place)
    assert {f.path for f in caught.value.faults} == {
        *(files[name] for name in "abcdef"), place / "g" / "ben.xmi",
    }  # fmt: skip
    assert len(caught.value.faults) == 7
    assert "secret" not in str(caught.value)
    assert "webanno.custom.Unknown" in str(caught.value)


def test_broken_json_and_archives_are_faults(tmp_path: Path) -> None:
    content = (RESOURCES / "alice.json").read_text(encoding="utf-8")
    (tmp_path / "a.json").write_text(content[:-100], encoding="utf-8")
    (tmp_path / "b.json").write_bytes(content.encode("utf-16"))
    (tmp_path / "c.json").write_text('{"%TYPES": {}, "%VIEWS": 7}', encoding="utf-8")
    (tmp_path / "d.zip").write_bytes(b"PK")
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    shutil.copy(PROJECT / "annotation" / "n1.txt" / "bob.xmi", tmp_path / "f.xmi")
    shutil.copy(RESOURCES / "alice.json", tmp_path / "g.json")
    changed(tmp_path / "g.json", '"x-unspecified"', '"\\ud83d"')
    changed(tmp_path / "g.json", "58 yo", "58 \\ud83d yo")
    with pytest.raises(InputError) as caught:
        read_cas(tmp_path)
    named = {f.path.name for f in caught.value.faults if f.path}
    assert named == {"a.json", "b.json", "c.json", "d.zip", "e.zip", "f.xmi", "g.json"}
    assert "TypeSystem.xml" in str(caught.value)
    with pytest.raises(InputError):
        read_cas(tmp_path / "b.json")


def test_a_folder_without_cas_files_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="CAS files"):
        read_cas(tmp_path)


def test_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "cassis", None)
    with pytest.raises(MissingExtraError, match=r"rubricate\[formats\]"):
        read_cas(PROJECT)
    with pytest.raises(MissingExtraError, match=r"rubricate\[formats\]"):
        FORMAT.write(annotated_note("pain", [(0, 4)], "Pain"), tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", '{"text": "x"}'), ("a.json", ""), ("a.xmi", "<x/>"), ("a.zip", "PK"),
     ("a.txt", "http://www.omg.org/XMI"), ("a.json", '[{"data": {"text": "x"}}]')],
)  # fmt: skip
def test_other_files_are_not_claimed(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert not FORMAT.looks_like(tmp_path / name)
    assert not FORMAT.looks_like(tmp_path)
    assert not FORMAT.looks_like(tmp_path / "missing")
