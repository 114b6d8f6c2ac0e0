from pathlib import Path

import pytest

from rubricate import (
    Annotator,
    CorpusBuilder,
    Feature,
    Note,
    load_corpus,
    read_corpus,
    write_corpus,
)
from rubricate.errors import InputError
from rubricate.formats import FORMATS


def test_a_submission_keeps_every_character_marked(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"], annotators=["reference"])
    place = tmp_path / "submission.csv"
    lost = write_corpus(corpus, place, format="submission")
    assert set(lost) == {"fragments", "rubrics", "metadata", "groups"}
    assert place.read_text(encoding="utf-8").startswith("id,location\n")
    read = read_corpus(place, like=corpus)
    assert len(read.rows) == len(corpus.rows)
    spans = [
        sorted({*zip(c.rows.span_row, c.rows.start, c.rows.end, strict=True)})
        for c in (read, corpus)
    ]
    assert spans[0] == spans[1]


def test_a_submission_cannot_be_read_alone(tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    place.write_text("id,location\n10000_000,0 5\n", encoding="utf-8")
    with pytest.raises(InputError, match="--like"):
        read_corpus(place)


def test_every_broken_row_is_named(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    place = tmp_path / "submission.csv"
    place.write_text(
        "id,location\n10000_000,0 5\n10000_000,0 5\n99999_000,0 1\n10000_001,0;5\n10000_002,0 99999\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        read_corpus(place, like=corpus)
    assert [f.line for f in caught.value.faults] == [2, 3, 4, 5]


def test_a_row_cut_short_does_not_hide_the_other_faults(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    place = tmp_path / "submission.csv"
    place.write_text("id,location\n10000_000\n\n99999_000,0 1\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_corpus(place, like=corpus)
    assert [f.line for f in caught.value.faults] == [1, 3]


def test_the_first_annotator_with_rows_is_written_and_no_foreign_row(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("1", "0", "fever"))
    builder.add_feature(Feature("0", "0", "Fever"))
    builder.add_feature(Feature("100", "1", "Cough"))
    builder.add_annotator(Annotator("idle"))
    builder.annotate("busy", "1", "0", [(0, 5)])
    builder.judge("busy", "1", "100")
    corpus = builder.build()
    place = tmp_path / "submission.csv"
    assert write_corpus(corpus, place, format="submission")["foreign"] == 1
    assert len(read_corpus(place, like=corpus).rows) == 1


def test_ids_that_run_together_are_refused(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    for note_id in ("1", "1_2"):
        builder.add_note(Note(note_id, "0", "fever"))
    for feature_id in ("2_3", "3"):
        builder.add_feature(Feature(feature_id, "0", "Fever"))
    for note_id in builder.notes:
        builder.judge_all("a", note_id)
    with pytest.raises(InputError, match="1_2_3"):
        write_corpus(builder.build(), tmp_path / "submission.csv", format="submission")
    assert list(tmp_path.iterdir()) == []


def one_note(text: str = "no fever") -> CorpusBuilder:
    builder = CorpusBuilder()
    builder.add_note(Note("7", "c", text))
    builder.add_feature(Feature("3", "c", "No fever"))
    return builder


@pytest.mark.parametrize(
    ("location", "spans"),
    [("", []), ("0 8", [(0, 8)]), (" 0 2 ; 3 8 ", [(0, 2), (3, 8)]), ("0 2;3 8", [(0, 2), (3, 8)])],
)
def test_locations_are_read(location: str, spans: list[tuple[int, int]], tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    place.write_text(f"id,location\n00007_003,{location}\n", encoding="utf-8")
    found = read_corpus(place, like=one_note().build())
    assert [a.id for a in found.annotators] == ["predicted"]
    assert [(s, e) for s, e in zip(found.rows.start, found.rows.end, strict=True)] == spans
    assert found.rows.n_annotations == len(spans) and len(found.rows) == 1


@pytest.mark.parametrize(
    "location", ["0", "0 9", "8 8", "5 3", "0 2;", "0-2", "a b", "0 1234567890"]
)
def test_locations_that_are_none_are_faults(location: str, tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    place.write_text(f"id,location\n00007_003,{location}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_corpus(place, like=one_note().build())
    assert [fault.line for fault in caught.value.faults] == [1]


def test_lenient_reading_keeps_spans_outside_the_note(tmp_path: Path) -> None:
    place = tmp_path / "submission.csv"
    place.write_text("id,location\n00007_003,0 9;5 3\n", encoding="utf-8")
    found = read_corpus(place, like=one_note().build(), strict=False)
    assert found.rows.end.tolist() == [9, 3]


def test_spans_are_written_once_and_in_order(tmp_path: Path) -> None:
    builder = one_note()
    for spans in ([(3, 8)], [(0, 2), (3, 8)], [(0, 2)]):
        builder.annotate("a", "7", "3", spans)
    write_corpus(builder.build(), tmp_path / "submission.csv", format="submission")
    lines = (tmp_path / "submission.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].replace('"', "") == "00007_003,0 2;3 8"


@pytest.mark.parametrize(
    ("head", "is_one"),
    [("id,location", True), ("location,id", True), ('"id", "location"', True), ("id,location,x", False),
     ("id", False)],
)  # fmt: skip
def test_a_submission_has_two_columns(head: str, is_one: bool, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(f"\ufeff{head}\n1,2\n", encoding="utf-8")
    (tmp_path / "s.txt").write_text(f"{head}\n1,2\n", encoding="utf-8")
    assert FORMATS["submission"].looks_like(tmp_path / "s.csv") == is_one
    assert not FORMATS["submission"].looks_like(tmp_path / "s.txt")
    assert not FORMATS["submission"].looks_like(tmp_path)
