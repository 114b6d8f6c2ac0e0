from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import NUMBER_ID, corpora

from rubricate import (
    Annotator,
    Corpus,
    CorpusBuilder,
    Feature,
    Note,
    load_corpus,
    read_corpus,
    write_corpus,
)
from rubricate.errors import InputError
from rubricate.formats import FORMATS
from rubricate.formats.format import count_losses
from rubricate.formats.nbme import FORMAT, read_nbme, write_nbme
from rubricate.formats.options import ReadOptions

QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def without_confidence(corpus: Corpus) -> Corpus:
    """Keep the part of a corpus that the competition's files can hold."""
    from dataclasses import replace

    from rubricate.rows import Rows

    rows = corpus.rows
    details = {i: d._replace(reason="", comment="", attributes=()) for i, d in rows.details.items()}
    kept = Rows.build(
        note=rows.note,
        annotator=rows.annotator,
        feature=rows.feature,
        row_of_annotation=rows.annotation_row,
        annotation_of_span=rows.span_annotation,
        start=rows.start,
        end=rows.end,
        details=details,
    )
    return replace(corpus, rows=kept)


@QUIET
@given(corpus=corpora())
def test_round_trip_keeps_all_the_format_holds(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("nbme") / "folder"
    write_nbme(corpus, place)
    read = read_nbme(place)
    assert read == without_confidence(corpus)
    assert count_losses(read, FORMAT.holds) == {}


@QUIET
@given(corpus=corpora(ids=NUMBER_ID, metadata=False, details=False))
def test_without_the_frame_the_annotations_survive(
    corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("nbme") / "folder"
    write_nbme(corpus, place)
    (place / "rubricate.json").unlink()
    if (place / "nbme_ids.json").exists():
        (place / "nbme_ids.json").unlink()
    read = read_nbme(place)
    assert [n.text for n in read.notes] == [n.text for n in corpus.notes]
    assert len(read.rows) == len(corpus.rows)
    assert sorted(zip(read.rows.start, read.rows.end, strict=True)) == sorted(
        zip(corpus.rows.start, corpus.rows.end, strict=True)
    )


def test_the_embedded_corpus_survives_and_is_found_by_looking(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes")
    assert write_corpus(corpus, tmp_path / "n", format="nbme") == {}
    assert read_corpus(tmp_path / "n") == corpus


def folder(path: Path, *, train: str, notes: str | None = None) -> Path:
    path.mkdir(exist_ok=True)
    default = 'pn_num,case_num,pn_history\n16,0,"58 yo M\r\nHTN"\n41,1,well\n'
    (path / "patient_notes.csv").write_text(notes or default, encoding="utf-8", newline="")
    (path / "features.csv").write_text(
        "feature_num,case_num,feature_text\n0,0,58-year\n1,0,Chest-pain-OR-angina\n100,1,Well\n",
        encoding="utf-8",
    )
    (path / "train.csv").write_text(
        "id,case_num,pn_num,feature_num,annotation,location\n" + train, encoding="utf-8"
    )
    return path


def test_real_shaped_files_with_crlf_fragments_and_hyphens(tmp_path: Path) -> None:
    corpus = read_nbme(
        folder(
            tmp_path / "f",
            train="00016_000,0,16,0,['58 yo'],['0 5']\n"
            "00016_001,0,16,1,\"['58 M', 'HTN']\",\"['0 2;6 7', '9 12']\"\n"
            "00041_100,1,41,100,[],[]\n",
        )
    )
    note = corpus.note("16")
    assert note.text == "58 yo M\r\nHTN"
    assert corpus.feature("1").text == "Chest pain OR angina"
    found = corpus.annotations("16", "1", "reference") or ()
    assert [a.text(note.text) for a in found] == ["58 M", "HTN"]
    assert corpus.annotations("41", "100", "reference") == ()


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ("00016_000,0,16,0,['58 yo'],['0 99']", "inside"),
        ("00016_000,0,16,0,['58 yo'],['5 0']", "inside"),
        ("00016_007,0,16,7,[],[]", "unknown"),
        ("00099_000,0,99,0,[],[]", "unknown"),
        ("00016_100,0,16,100,[],[]", "belongs"),
        ("00016_000,0,16,0,['58 yo'],__import__('os').getcwd()", "location"),
        ("00016_000,0,16,0,print(1),['0 5']", "annotation"),
        ("00016_000,0,16,0,['58 yo'],\"['0 5', '6 7']\"", "places"),
        ("00016_000,0,16,0,[],[]\n00016_000,0,16,0,[],[]", "again"),
        ("00016_000,0,16,0,[]", "fields"),
        ("00041_000,0,16,0,[],[]", "00016_000"),
        ("oops,0,16,0,[],[]", "00016_000"),
    ],
)
def test_broken_rows_are_named_and_nothing_is_executed(tmp_path: Path, row: str, word: str) -> None:
    place = folder(tmp_path / "f", train=f"00016_001,0,16,1,[],[]\n{row}\n")
    with pytest.raises(InputError) as caught:
        read_nbme(place)
    (fault,) = caught.value.faults
    assert fault.path is not None
    assert fault.path.name == "train.csv"
    assert fault.line is not None
    assert fault.line >= 2
    assert word in fault.message
    assert "yo" not in str(caught.value)


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    rows = "00016_000,0,16,0,['x'],['0 99']\n00016_009,0,16,9,[],[]\n00041_100,1,41,100,['x'],['a b']\n"
    with pytest.raises(InputError) as caught:
        read_nbme(folder(tmp_path / "f", train=rows))
    assert len(caught.value.faults) == 3


def test_the_faults_of_all_files_come_at_once_without_those_that_follow(tmp_path: Path) -> None:
    place = folder(
        tmp_path / "f",
        notes="pn_num,case_num,pn_history\n16,0,58 yo M\nx,0,a\n41,,b\n42\n16,0,c\n",
        train="00016_000,0,16,0,['58'],['0 99']\n00042_100,1,42,100,[],[]\n"
        "00016_001,0,16,1,[],1\n00016_001,0,16\n",
    )
    with pytest.raises(InputError) as caught:
        read_nbme(place)
    found = [(f.path.name, f.line) for f in caught.value.faults if f.path is not None]
    # Note 42 and the length of note 16 are known only when the file of notes is mended.
    assert found == [
        *(("patient_notes.csv", i) for i in (3, 4, 5, 6)),
        *(("train.csv", i) for i in (4, 5)),
    ]


def test_ids_may_lack_zeros_and_lenient_reading_does_not_look_at_them(tmp_path: Path) -> None:
    corpus = read_nbme(folder(tmp_path / "f", train="16_0,0,16,0,[],[]\n"))
    assert len(corpus.rows) == 1
    other = folder(tmp_path / "g", train="00041_000,0,16,0,[],[]\n")
    assert read_nbme(other, ReadOptions(strict=False)).rows == corpus.rows


@pytest.mark.parametrize("name", ["Dr. Smith", "Müller", "rater+2", "100%", "plain", "a%20b"])
def test_a_file_of_any_name_is_an_annotator(tmp_path: Path, name: str) -> None:
    place = folder(tmp_path / "f", train="")
    (place / "train.csv").rename(place / f"{name}.csv")
    with (place / f"{name}.csv").open("a", encoding="utf-8") as stream:
        stream.write("00016_000,0,16,0,['58 yo'],['0 5']\n")
    corpus = read_nbme(place)
    assert [a.id for a in corpus.annotators] == [name.replace("%20", " ")]
    assert corpus.rows.n_annotations == 1


def test_two_files_of_one_annotator_are_a_fault(tmp_path: Path) -> None:
    place = folder(tmp_path / "f", train="")
    (place / "reference.csv").write_bytes((place / "train.csv").read_bytes())
    with pytest.raises(InputError, match="rename"):
        read_nbme(place)


@pytest.mark.parametrize("annotator", ["cases", "splits", "train", "patient_notes", "..", "a/b"])
def test_no_annotator_is_taken_for_another_file(tmp_path: Path, annotator: str) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("9" * 25, "0", "58 yo"))
    builder.add_feature(Feature("0", "0", "58 year"))
    builder.annotate(annotator, "9" * 25, "0", [(0, 5)])
    write_nbme(builder.build(), tmp_path / "f")
    assert read_nbme(tmp_path / "f") == builder.build()


def test_rows_of_another_case_are_written_for_checking(tmp_path: Path) -> None:
    rows = "00016_100,0,16,100,['58'],['0 2']\n"
    corpus = read_nbme(folder(tmp_path / "f", train=rows), ReadOptions(strict=False))
    assert write_corpus(corpus, tmp_path / "g", format="nbme", strict=True) == {}
    assert read_corpus(tmp_path / "g", strict=False) == corpus


def test_one_file_of_the_folder_leads_to_the_folder(tmp_path: Path) -> None:
    place = folder(tmp_path / "f", train="")
    with pytest.raises(InputError, match="give the folder"):
        read_corpus(place / "train.csv")
    with pytest.raises(InputError, match="give the folder"):
        read_corpus(place / "train.csv", format="nbme")


def test_wrong_encoding_missing_column_and_duplicate_notes(tmp_path: Path) -> None:
    place = folder(tmp_path / "a", train="")
    (place / "train.csv").write_bytes(b"id,case_num,pn_num,feature_num,annotation,location\n\xff,0")
    with pytest.raises(InputError, match="UTF-8"):
        read_nbme(place)
    place = folder(tmp_path / "b", train="", notes="pn_num,case_num\n1,2\n")
    with pytest.raises(InputError, match="pn_history"):
        read_nbme(place)
    place = folder(tmp_path / "c", train="", notes="pn_num,case_num,pn_history\n1,0,a\n1,0,b\n")
    with pytest.raises(InputError, match="again"):
        read_nbme(place)


def test_text_that_differs_from_its_location_is_kept_for_checking(tmp_path: Path) -> None:
    place = folder(tmp_path / "f", train="00016_000,0,16,0,['57 yo'],['0 5']\n")
    corpus = read_nbme(place)
    (annotation,) = corpus.annotations("16", "0", "reference") or ()
    assert annotation.detail.stated_text == "57 yo"


def test_lenient_reading_keeps_wrong_offsets_and_foreign_features(tmp_path: Path) -> None:
    rows = "00016_000,0,16,0,['x'],['0 99']\n00016_100,0,16,100,[],[]\n"
    corpus = read_nbme(folder(tmp_path / "f", train=rows), ReadOptions(strict=False))
    assert corpus.rows.end.tolist() == [99]
    assert len(corpus.rows) == 2


def test_rows_of_test_csv_must_exist(tmp_path: Path) -> None:
    place = folder(tmp_path / "f", train="")
    (place / "test.csv").write_text(
        "id,case_num,pn_num,feature_num\n00016_000,0,16,0\n00077_000,0,77,0\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="77"):
        read_nbme(place)
    (place / "test.csv").write_text(
        "id,case_num,pn_num,feature_num\n00016_000,0,16,1\n00041_100,0,41,100\n", encoding="utf-8"
    )
    with pytest.raises(InputError) as caught:
        read_nbme(place)
    assert [f.line for f in caught.value.faults] == [2, 3]


def test_notes_nobody_judged_become_the_test_file(tmp_path: Path) -> None:
    corpus = read_nbme(folder(tmp_path / "f", train="00016_000,0,16,0,[],[]\n"))
    write_nbme(corpus, tmp_path / "g")
    lines = (tmp_path / "g" / "test.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    assert "00041_100" in lines[1]
    assert read_nbme(tmp_path / "g") == corpus


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
    with pytest.raises(InputError, match="like=CORPUS"):
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
    assert [f.line for f in caught.value.faults] == [3, 4, 5, 6]


def test_a_row_cut_short_does_not_hide_the_other_faults(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["0"])
    place = tmp_path / "submission.csv"
    place.write_text("id,location\n10000_000\n\n99999_000,0 1\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_corpus(place, like=corpus)
    assert [f.line for f in caught.value.faults] == [2, 4]


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
    assert [fault.line for fault in caught.value.faults] == [2]


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


def test_tables_beside_the_notes_need_no_further_column(tmp_path: Path) -> None:
    place = folder(tmp_path, train="")
    plain = read_nbme(place)
    (place / "splits.csv").write_text("pn_num\n16\n", encoding="utf-8")
    (place / "cases.csv").write_text("case_num,title\n0,Chest pain\n", encoding="utf-8")
    assert read_nbme(place).notes == plain.notes
    (place / "splits.csv").write_text("pn_num,split\n16,test\n", encoding="utf-8")
    found = {note.id: note.metadata.get("split") for note in read_nbme(place).notes}
    assert found == {"16": "test", "41": None}
