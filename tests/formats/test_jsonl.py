import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from strategies import corpora

from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats import FORMATS, jsonl
from rubricate.formats.format import count_losses
from rubricate.formats.jsonl import corpus_to_lines
from rubricate.formats.options import ReadOptions


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora(contradictions=True))
def test_round_trip_is_lossless(
    name: str, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("round") / f"c.{name}"
    FORMATS[name].write(corpus, place)
    assert FORMATS[name].looks_like(place)
    assert FORMATS[name].read(place, ReadOptions()) == corpus
    assert count_losses(corpus, FORMATS[name].holds) == {}


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    place = Path(__file__).parents[2] / "docs" / "jsonl.schema.json"
    found = json.loads(place.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


@given(corpus=corpora(contradictions=True))
def test_every_line_follows_the_published_schema(
    schema: Draft202012Validator, corpus: Corpus
) -> None:
    for line in corpus_to_lines(corpus):
        schema.validate(json.loads(json.dumps(line)))


@pytest.mark.parametrize(
    "change",
    [
        {"text": 5},
        {"metadata": {"a": [1]}},
        {"annotations": {"a": {"f": [[[0]]]}}},
        {"annotations": {"a": {"f": [{"spans": [[0, 2]], "comment": 3}]}}},
        {"annotations": {"a": {"f": [[]]}}},
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(
    schema: Draft202012Validator, change: dict, tmp_path: Path
) -> None:
    head = {"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"}]}],
            "annotators": [{"id": "a"}]}  # fmt: skip
    note = {"note": "n", "case": "c", "text": "fever"}
    assert schema.is_valid(head)
    assert schema.is_valid(note)
    assert schema.is_valid(note | {"more": 1})
    assert not schema.is_valid(note | change)
    place = tmp_path / "c.jsonl"
    place.write_text(f"{json.dumps(head)}\n{json.dumps(note | {'more': 1})}\n", encoding="utf-8")
    assert len(FORMATS["jsonl"].read(place, ReadOptions()).notes) == 1
    place.write_text(f"{json.dumps(head)}\n{json.dumps(note | change)}\n", encoding="utf-8")
    with pytest.raises(InputError):
        FORMATS["jsonl"].read(place, ReadOptions())


def test_every_broken_line_is_reported_with_its_number(tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(
        '{"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"}]}],'
        ' "annotators": [{"id": "a"}]}\n'
        '{"note": "n1", "case": "c", "text": "secret", "annotations": {"a": {"f": [[[0, 99]]]}}}\n'
        '{"note": "n2", "case": "c", "te\n'
        '{"note": "n1", "case": "c", "text": "secret"}\n'
        '{"note": "n3", "case": "c", "text": "secret", "annotations": {"a": {"g": []}}}\n',
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        FORMATS["jsonl"].read(place, ReadOptions())
    assert sorted(f.line or 0 for f in caught.value.faults) == [2, 3, 4, 5]
    assert "secret" not in str(caught.value)


def test_lenient_reading_keeps_wrong_offsets(tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(
        '{"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"}]}],'
        ' "annotators": [{"id": "a"}]}\n'
        '{"note": "n1", "case": "c", "text": "short", "annotations": {"a": {"f": [[[0, 99]]]}}}\n',
        encoding="utf-8",
    )
    corpus = FORMATS["jsonl"].read(place, ReadOptions(strict=False))
    assert corpus.rows.end.tolist() == [99]


HEAD = (
    '{"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"},'
    ' {"id": "g", "text": "G"}]}], "annotators": [{"id": "a"}]}\n'
)


def note_line(found: str) -> str:
    return f'{{"note": "n", "case": "c", "text": "short", "annotations": {found}}}\n'


def test_probabilities_and_confidences_come_back_where_they_are_known(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "no fever"))
    for feature in "fgh":
        builder.add_feature(Feature(feature, "c", feature))
    builder.judge("a", "n", "f", probability=0.0)
    builder.judge("a", "n", "g", probability=1.0)
    builder.annotate("a", "n", "g", [(0, 2)], confidence=0.25)
    builder.annotate("a", "n", "g", [(3, 8)])
    builder.judge("a", "n", "h")
    for name in ("jsonl", "parquet"):
        place = tmp_path / f"c.{name}"
        FORMATS[name].write(builder.build(), place)
        assert FORMATS[name].read(place) == builder.build()


@pytest.mark.parametrize(
    "found",
    [
        '{"a": {"f": {"probability": 0, "annotations": []}}}',
        '{"a": {"f": {"probability": 1, "annotations": [[[0, 5]]]}}}',
        '{"a": {"f": [{"spans": [[0, 2], [3, 5]], "confidence": 2}]}}',
        "{}",
    ],
)
def test_sound_lines_are_read(found: str, tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(HEAD + note_line(found), encoding="utf-8")
    assert len(FORMATS["jsonl"].read(place).notes) == 1


@pytest.mark.parametrize(
    "found",
    [
        "[]",
        '{"a": []}',
        '{"a": {"f": 5}}',
        '{"a": {"f": {"annotations": 5}}}',
        '{"a": {"f": {"probability": 0.5}}}',
        '{"a": {"f": {"probability": 1.01, "annotations": []}}}',
        '{"a": {"f": {"probability": -0.01, "annotations": []}}}',
        '{"a": {"f": {"probability": true, "annotations": []}}}',
        '{"a": {"f": {"probability": "1", "annotations": []}}}',
        '{"a": {"f": [[]]}}',
        '{"a": {"f": [[[0, 1, 2]]]}}',
        '{"a": {"f": [[[0, 1.0]]]}}',
        '{"a": {"f": [[[0, true]]]}}',
        '{"a": {"f": [[[0, 2147483648]]]}}',
        '{"a": {"f": [[[0, 6]]]}}',
        '{"a": {"f": [[[3, 3]]]}}',
        '{"a": {"f": [[[-1, 3]]]}}',
        '{"a": {"f": [{"spans": [[0, 5]], "confidence": "sure"}]}}',
        '{"a": {"f": [{"confidence": 1}]}}',
        '{"a": {"h": []}}',
    ],
)
def test_broken_annotations_are_faults_of_their_line(found: str, tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(HEAD + "\n" + note_line(found), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        FORMATS["jsonl"].read(place)
    assert [fault.line for fault in caught.value.faults] == [3]


@pytest.mark.parametrize(
    "head",
    ["", "[]\n", "{}\n", '{"rubricate": 2, "rubrics": [], "annotators": []}\n',
     '{"rubricate": 1}\n', '{"rubricate": 1, "rubrics": [5], "annotators": []}\n'],
)  # fmt: skip
def test_a_broken_head_is_refused_whole_and_streamed(head: str, tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    place.write_text(head, encoding="utf-8")
    for read in (FORMATS["jsonl"].read, FORMATS["jsonl"].stream):
        with pytest.raises(InputError) as caught:
            read(place)
        assert caught.value.faults[0].line == 1


@pytest.mark.parametrize(
    ("name", "content", "is_ours"),
    [
        ("c.jsonl", '{"rubricate": 1}', True),
        ("c.ndjson", '\ufeff{"rubricate"', True),
        ("c.json", '{"rubricate": 1}', True),
        ("c.txt", '{"rubricate": 1}', False),
        ("c.jsonl", '{"text": "rubricate"}', False),
    ],
)
def test_our_files_are_known_by_name_and_head(
    name: str, content: str, is_ours: bool, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert FORMATS["jsonl"].looks_like(tmp_path / name) == is_ours
    assert not FORMATS["jsonl"].looks_like(tmp_path)


@pytest.mark.parametrize(
    "said",
    [
        '{"spans": []}',
        '{"reason": "x"}',
        '{"spans": [[0, 99]]}',
        '{"spans": [[0, 2]], "probability": 2}',
        "[]",
    ],
)
def test_a_contradiction_of_the_wrong_shape_is_reported(said: str, tmp_path: Path) -> None:
    place = tmp_path / "c.jsonl"
    row = f'{{"contradicted": {said}, "annotations": []}}'
    line = (
        f'{{"note": "n1", "case": "c", "text": "secret", "annotations": {{"a": {{"f": {row}}}}}}}'
    )
    place.write_text(HEAD + line + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        FORMATS["jsonl"].read(place, ReadOptions())
    assert [f.line for f in caught.value.faults] == [2]
    assert "secret" not in str(caught.value)


def test_a_stream_names_every_line_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 80)
    place = tmp_path / "c.jsonl"

    def line(note: str, size: int) -> bytes:
        found = json.dumps({"note": note, "case": "c", "text": ""}).encode()
        return found.replace(b'""', b'"' + b"x" * (size - len(found)) + b'"')

    lines = [
        b'\xef\xbb\xbf{"rubricate": 1, "rubrics": [], "annotators": []}\n',
        line("full", 79) + b"\n", b"  \n", line("long", 80) + b"\n", line("longer", 400) + b"\n",
        b"{\n", b"\xff\n", b"[]\n", b'{"text": "x"}\n', b'{"note": "a", "text": 1}\n',
        b'{"note": "b", "case": "c", "text": "x", "metadata": 5}\n', line("end", 50),
    ]  # fmt: skip
    place.write_bytes(b"".join(lines))
    stream = FORMATS["jsonl"].stream
    assert stream is not None
    for _ in range(2):  # as often as needed
        found = list(stream(place).read())
        assert [(one.id, isinstance(one, Note)) for one in found] == [
            ("full", True), ("line 4", False), ("line 5", False), ("line 6", False),
            ("line 7", False), ("line 8", False), ("line 9", False), ("a", False), ("b", False),
            ("end", True),
        ]  # fmt: skip
    assert [one.case for one in found] == ["c", "", "", "", "", "", "", "", "c", "c"]
    with pytest.raises(InputError):
        stream(tmp_path / "none.jsonl")
