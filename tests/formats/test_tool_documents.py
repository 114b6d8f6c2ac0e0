"""Formats that come down to marked texts: what is held comes back, real-shaped files are read."""

import base64
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import corpora

from rubricate import Corpus, read_corpus
from rubricate.errors import InputError
from rubricate.formats import FORMATS, ReadLimits, detect_format
from rubricate.formats.frame import Frame
from rubricate.formats.reading import Faults
from rubricate.formats.tool_documents import ToolDocument, build_corpus
from rubricate.rows import PlainAnnotation
from stripping import stripped

NAMES = {
    "prodigy": "c.jsonl", "docbin": "c.spacy", "pubannotation": "c", "bioc": "c.json",
    "bioc-xml": "c.xml",
}  # fmt: skip
TEXT = "Denies 😀 chest pain,\r\nfever"


@pytest.mark.parametrize("name", NAMES)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50
)
@given(corpus=corpora())
def test_everything_held_comes_back(
    name: str, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if name == "bioc-xml" and any(re.search(r"[\x0c]", n.text) for n in corpus.notes):
        return
    place = tmp_path_factory.mktemp("round") / NAMES[name]
    FORMATS[name].write(corpus, place)
    assert FORMATS[name].looks_like(place)
    assert FORMATS[name].read(place) == stripped(corpus, FORMATS[name].holds)


def found(corpus: Corpus, note_id: str) -> dict[tuple[str, str], list[str]]:
    text = corpus.note(note_id).text
    return {
        (annotator.id, feature.id): [a.text(text) for a in annotations]
        for note, annotator, feature, annotations in corpus.values()
        if note.id == note_id
    }


def write(place: Path, *values: object) -> Path:
    place.write_text("".join(json.dumps(v) + "\n" for v in values), encoding="utf-8")
    return place


def test_prodigy_exports_are_read(tmp_path: Path) -> None:
    task = {"text": TEXT, "_input_hash": -7, "_task_hash": 9, "tokens": [], "_view_id": "ner_manual",
            "meta": {"source": "ward 3"}}  # fmt: skip
    spans = [{"start": 9, "end": 19, "token_start": 2, "token_end": 3, "label": "PAIN"}]
    place = write(
        tmp_path / "c.jsonl",
        {
            **task,
            "spans": spans,
            "answer": "accept",
            "_annotator_id": "ner-ann",
            "_session_id": "s",
        },
        {**task, "spans": [], "answer": "accept", "_annotator_id": "ner-bob"},
        {**task, "text": "Well.", "_input_hash": 8, "spans": spans, "answer": "reject"},
        {**task, "text": "Ill.", "_input_hash": 9, "answer": "ignore"},
    )
    assert detect_format(place) == "prodigy"
    corpus = read_corpus(place)
    assert [n.id for n in corpus.notes] == ["-7", "8", "9"]
    assert corpus.notes[0].metadata == {"source": "ward 3"}
    assert found(corpus, "-7") == {("ner-ann", "PAIN"): ["chest pain"], ("ner-bob", "PAIN"): []}
    assert found(corpus, "8") == found(corpus, "9") == {}


@pytest.mark.parametrize("shape", ["ents", "pairs", "list"])
def test_spacys_own_lines_are_read(shape: str, tmp_path: Path) -> None:
    place = tmp_path / "c.json"
    if shape == "ents":
        ents = [{"start": 9, "end": 19, "label": "PAIN"}]
        write(place, {"text": TEXT, "ents": ents, "tokens": [{"id": 0, "start": 0, "end": 6}]})
    elif shape == "pairs":
        write(place, [TEXT, {"entities": [[9, 19, "PAIN"]]}])
    else:
        write(place, [[TEXT, {"entities": [[9, 19, "PAIN"]]}], ["Well.", {"entities": []}]])
    assert detect_format(place) == "prodigy"
    assert found(read_corpus(place), "1") == {("annotator", "PAIN"): ["chest pain"]}


def test_docbins_of_spacy_are_read(tmp_path: Path) -> None:
    import spacy
    from spacy.tokens import DocBin

    language = spacy.blank("en")
    one, two, three = (language(text) for text in (TEXT, TEXT, "Well."))
    one.ents = [one.char_span(9, 19, label="PAIN")]
    two.spans["sc"] = [two.char_span(9, 19, label="PAIN"), two.char_span(9, 14, label="PLACE")]
    place = tmp_path / "train.spacy"
    DocBin(docs=[one, two, three], store_user_data=True).to_disk(place)
    assert detect_format(place) == "docbin"
    corpus = read_corpus(place)
    assert found(corpus, "1")["annotator", "PAIN"] == ["chest pain"]
    assert found(corpus, "2") == {
        ("annotator", "PAIN"): ["chest pain"], ("annotator", "PLACE"): ["chest"],
    }  # fmt: skip
    assert corpus.note("3").text == "Well."
    with pytest.raises(InputError, match="unpacked_bytes"):
        read_corpus(place, limits=ReadLimits(unpacked_bytes=10))
    place.write_bytes(place.read_bytes()[:40])
    with pytest.raises(InputError, match="DocBin"):
        read_corpus(place)


def test_pubannotation_files_are_read(tmp_path: Path) -> None:
    value = {
        "target": "http://pubannotation.org/docs/sourcedb/PMC/sourceid/1", "sourcedb": "PMC",
        "sourceid": "1", "text": TEXT, "project": "ward",
        "denotations": [
            {"id": "T1", "span": {"begin": 9, "end": 19}, "obj": "Pain"},
            {"id": "T2", "span": [{"begin": 0, "end": 6}, {"begin": 22, "end": 27}], "obj": "NoFever"},
        ],
        "relations": [{"id": "R1", "pred": "x", "subj": "T1", "obj": "T2"}],
        "attributes": [{"id": "A1", "subj": "T1", "pred": "Negated", "obj": True}],
    }  # fmt: skip
    place = write(tmp_path / "c.json", value)
    assert detect_format(place) == "pubannotation"
    corpus = read_corpus(place)
    assert found(corpus, "1") == {
        ("ward", "Pain"): ["chest pain"], ("ward", "NoFever"): ["Denies fever"],
    }  # fmt: skip
    (pain,) = corpus.annotations("1", "Pain", "ward") or ()
    assert pain.detail.attributes == (("Negated", "true"),)


BIOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>PubTator</source><date></date><key>BioC.key</key>
<document><id>11</id><passage><infon key="type">title</infon><offset>0</offset>
<text>Chest pain</text><annotation id="1"><infon key="identifier">MESH:D002637</infon>
<infon key="type">Disease</infon><location offset="0" length="10"/><text>Chest pain</text>
</annotation></passage><passage><offset>11</offset><text>No fever.</text></passage></document>
</collection>"""


def test_bioc_files_are_read(tmp_path: Path) -> None:
    place = tmp_path / "c.xml"
    place.write_text(BIOC, encoding="utf-8")
    assert detect_format(place) == "bioc-xml"
    corpus = read_corpus(place)
    assert corpus.note("11").text == "Chest pain\nNo fever."
    (disease,) = corpus.annotations("11", "Disease", "annotator") or ()
    assert disease.text(corpus.note("11").text) == "Chest pain"
    assert disease.detail.attributes == (("identifier", "MESH:D002637"),)
    place.write_text(BIOC.replace('"BioC.dtd"', '"x" [<!ENTITY a "secret">]'), encoding="utf-8")
    with pytest.raises(InputError, match="DOCTYPE"):
        read_corpus(place)


def resource(text: str | None, **more: object) -> dict[str, object]:
    attachment: dict[str, object] = {"contentType": "text/plain; charset=utf-8", "url": "Binary/1"}
    if text is not None:
        attachment["data"] = base64.b64encode(text.encode()).decode()
    kind = {
        "coding": [{"system": "http://loinc.org", "code": "11506-3", "display": "Progress note"}]
    }
    return {"resourceType": "DocumentReference", "status": "current", "type": kind,
            "content": [{"attachment": attachment}], **more}  # fmt: skip


@pytest.mark.parametrize("shape", ["bundle", "ndjson", "one"])
def test_fhir_notes_are_read(shape: str, tmp_path: Path) -> None:
    notes = [resource(TEXT, id="a", date="2024-05-01"), resource("Well.", id="b")]
    place = tmp_path / "c.ndjson"
    if shape == "bundle":
        other = {"resource": {"resourceType": "Patient", "id": "p"}}
        entries = [other, *({"fullUrl": "x", "resource": note} for note in notes)]
        write(place, {"resourceType": "Bundle", "type": "searchset", "entry": entries})
    else:
        write(place, *notes[: 1 if shape == "one" else 2])
    assert detect_format(place) == "fhir"
    corpus = read_corpus(place)
    assert [n.id for n in corpus.notes] == (["a"] if shape == "one" else ["a", "b"])
    assert corpus.notes[0].text == TEXT
    assert dict(corpus.notes[0].metadata) == {
        "status": "current", "type": "Progress note", "date": "2024-05-01",
    }  # fmt: skip


def test_fhir_notes_without_data_are_named_and_not_fetched(tmp_path: Path) -> None:
    broken = resource("x", id="b")
    broken["content"][0]["attachment"]["data"] = "%%%"  # type: ignore[index]
    place = write(
        tmp_path / "c.ndjson",
        resource(None, id="a"),
        broken,
        {**resource("x", id="c"), "content": []},
    )
    with pytest.raises(InputError) as caught:
        read_corpus(place)
    assert [f.line for f in caught.value.faults] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prodigy", {"text": "secret", "spans": [{"start": 0, "end": 99, "label": "A"}]}),
        ("prodigy", {"text": "secret", "spans": [{"start": "0", "end": 1, "label": "A"}]}),
        ("prodigy", {"text": "secret", "spans": [7, [0, 1], {"start": 0, "end": 1}]}),
        ("prodigy", {"spans": []}),
        ("pubannotation", {"text": "secret", "denotations": [{"obj": "A"}, {"span": [], "obj": "A"}, 5]}),
        ("pubannotation", {"denotations": []}),
        ("bioc", {"documents": [{"passages": [{"text": "secret", "offset": "x"}]}]}),
        ("bioc", {"documents": [{"passages": [{"text": "secret", "offset": 10**9}]}]}),
        ("bioc", {"documents": [{"passages": [{"text": "secret", "annotations": [{}, 7, {"infons": {"type": "A"}}]}]}, 5]}),
        ("fhir", {"resourceType": "Patient"}),
    ],
)  # fmt: skip
def test_every_fault_is_named_and_no_text(name: str, value: object, tmp_path: Path) -> None:
    place = write(tmp_path / "c.json", value)
    with pytest.raises(InputError) as caught:
        read_corpus(place, format=name)
    assert "secret" not in str(caught.value)


def test_broken_spans_are_named_by_line_and_number(tmp_path: Path) -> None:
    sound = {"start": 0, "end": 6, "label": "A"}
    spans = [{**sound, "start": "0"}, sound, {**sound, "end": 2**31}, {"start": 0, "end": 1}]
    spans += [{**sound, "label": ""}, {**sound, "label": 5}]
    place = write(tmp_path / "c.jsonl", {"text": TEXT, "spans": []}, {"text": TEXT, "spans": spans})
    with pytest.raises(InputError) as caught:
        FORMATS["prodigy"].read(place)
    faults = [(one.line, one.message.split(":")[0]) for one in caught.value.faults]
    assert faults == [(2, "span 1"), (2, "span 3"), (2, "span 4"), (2, "span 5"), (2, "span 6")]


def test_a_text_that_differs_names_the_other_file(tmp_path: Path) -> None:
    marked = [
        ToolDocument("n", "secret", "ann", path=tmp_path / "a.txt"),
        ToolDocument("n", "secret!", "bob", path=tmp_path / "b.txt"),
    ]
    with pytest.raises(InputError) as caught:
        build_corpus(marked, Frame(), Faults(tmp_path), need="files")
    [fault] = caught.value.faults
    assert fault.path == tmp_path / "b.txt" and "a.txt" in fault.message
    assert "secret" not in str(caught.value)


def test_remarks_of_all_annotators_become_metadata(tmp_path: Path) -> None:
    marked = [ToolDocument("n", "fever", who, remarks={who: "sure"}) for who in ("ann", "bob")]
    read = build_corpus(marked, Frame(), Faults(tmp_path), need="files")
    assert read.note("n").metadata == {"ann": "sure", "bob": "sure"}


def test_a_wrong_span_is_named_at_the_line_of_its_annotation(tmp_path: Path) -> None:
    wrong = (("Fever", PlainAnnotation(((0, 5),))), ("Fever", PlainAnnotation(((0, 9),))))
    marked = [ToolDocument("n", "fever", "ann", wrong, lines=(3, 7))]
    with pytest.raises(InputError) as caught:
        build_corpus(marked, Frame(), Faults(tmp_path), need="files")
    assert [fault.line for fault in caught.value.faults] == [7]
