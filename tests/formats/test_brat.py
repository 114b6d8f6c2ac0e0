import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import TEXT, corpora

from annotated_note import annotated_note
from rubricate import Annotator, Corpus, CorpusBuilder, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.brat import (
    FORMAT,
    cut_at_breaks,
    from_line,
    looks_like_brat,
    parse_ann,
    read_brat,
    to_line,
    write_brat,
)
from rubricate.formats.format import count_losses
from rubricate.formats.options import ReadOptions
from rubricate.formats.reading import Faults
from rubricate.rows import Detail
from stripping import stripped

CLINIC = Path(__file__).parents[1] / "resources" / "brat" / "clinic"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora())
def test_round_trip(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("brat") / "out"
    write_brat(corpus, place)
    assert looks_like_brat(place)
    assert count_losses(stripped(corpus, FORMAT.holds), FORMAT.holds) == {}
    assert read_brat(place) == stripped(corpus, FORMAT.holds)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    comment=TEXT,
    reason=TEXT,
    stated=st.none() | TEXT,
    attributes=st.lists(st.tuples(TEXT, TEXT | st.just("true")), max_size=3),
)
@example(comment="a\\nb", reason="\\", stated="", attributes=[("", "")])
@example(comment="", reason="", stated="ab", attributes=[("with spaces", " x ")])
@example(comment="", reason="", stated="a b", attributes=[("a.txt", "\u2028")])
@example(comment="", reason="", stated="a\nb", attributes=[])
def test_any_detail_survives(
    comment: str,
    reason: str,
    stated: str | None,
    attributes: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    detail = Detail(reason, comment, tuple(attributes), stated)
    corpus = annotated_note("a\nb and more", [(0, 3), (4, 7)], detail=detail)
    place = tmp_path_factory.mktemp("brat") / "out"
    write_brat(corpus, place)
    assert read_brat(place) == corpus


@given(TEXT)
@example("\\u2028 \\n \\\\n")
def test_lines_come_back(text: str) -> None:
    line = to_line(text)
    assert len(line.splitlines()) <= 1
    assert "\t" not in line
    assert from_line(line) == text


def test_a_text_that_begins_with_a_byte_order_mark_keeps_it(tmp_path: Path) -> None:
    corpus = annotated_note("\ufefffever", [(1, 6)])
    write_brat(corpus, tmp_path / "out")
    assert read_brat(tmp_path / "out") == corpus


def test_spans_are_cut_at_line_breaks_and_joined_again_unless_edited(tmp_path: Path) -> None:
    text = "chest\r\n pain, 😀 chills"
    corpus = annotated_note(text, [(0, 12)])
    write_brat(corpus, tmp_path / "out")
    ann = tmp_path / "out" / "n.ann"
    content = ann.read_text(encoding="utf-8")
    assert content.splitlines()[0] == "T1\tf_F 0 5;7 12\tchest  pain"
    assert read_brat(tmp_path / "out") == corpus
    ann.write_text(content.replace("7 12\tchest  pain", "8 12\tchest pain"), encoding="utf-8")
    edited = read_brat(tmp_path / "out")
    assert edited.rows.start.tolist() == [0, 8]
    assert edited.rows.details == {}


def test_no_written_line_holds_a_span_with_a_line_break(tmp_path: Path) -> None:
    text = "a\nb\r\nc\x0cd\u2028e\rf"
    assert cut_at_breaks([(0, len(text))], text) == [
        (0, 1),
        (2, 3),
        (5, 6),
        (7, 8),
        (9, 10),
        (11, 12),
    ]


def test_a_folder_from_brat_without_frame() -> None:
    corpus = read_brat(CLINIC)
    assert [n.id for n in corpus.notes] == ["note-1", "note-2", "note-3"]
    text = corpus.notes[0].text
    assert "\r\n" in text and "😀" in text
    assert [a.id for a in corpus.annotators] == ["annotator"]
    assert [f.id for f in corpus.features] == [
        "Chest_pain", "No_fever", "No_chills", "Drug", "Family_history", "Relief",
    ]  # fmt: skip
    assert corpus.feature("Chest_pain").text == "Chest pain OR pressure"
    assert corpus.feature("No_fever").text == "No fever"

    def found(feature: str) -> list[tuple[str, Detail]]:
        annotations = corpus.annotations("note-1", feature, "annotator") or ()
        return [(a.text(text), a.detail) for a in annotations]

    assert found("Chest_pain") == [
        ("chest pain", Detail()),
        ("pain", Detail(stated_text="pein")),
    ]
    assert found("No_fever") == [("denies fever", Detail(attributes=(("Certainty", "high"),)))]
    assert found("No_chills") == [
        (
            "denies chills",
            Detail(comment=r"shared verb, see \"denies\"", attributes=(("Negated", "true"),)),
        )
    ]
    assert found("Drug") == [
        (
            "ibuprofen",
            Detail(
                comment="per patient",
                attributes=(
                    ("Treats", "Arg2 Chest_pain 4 14"),
                    ("Equiv", "Drug 96 105"),
                    ("Reference", "RxNorm:5640 ibuprofen"),
                ),
            ),
        ),
        ("ibuprofen", Detail()),
    ]
    assert found("Relief") == [
        (
            "stopped",
            Detail(
                comment="AnnotationIncomplete: no dose",
                attributes=(
                    ("Speculation", "true"),
                    ("Theme", "Chest_pain 77 81"),
                    ("Cause", "Drug 96 105"),
                ),
            ),
        )
    ]
    assert found("Family_history") == []


def test_nothing_found_is_not_the_same_as_nobody_looked() -> None:
    corpus = read_brat(CLINIC)
    assert corpus.annotations("note-2", "Drug", "annotator") == ()
    assert corpus.annotations("note-3", "Drug", "annotator") is None


def test_sub_folders_are_annotators_and_may_share_texts(tmp_path: Path) -> None:
    shutil.copytree(CLINIC, tmp_path / "c" / "ann")
    shutil.copytree(CLINIC, tmp_path / "c" / "b%20c")
    (tmp_path / "c" / "b%20c" / "note-1.txt").unlink()
    (tmp_path / "c" / "b%20c" / "note-2.ann").unlink()
    (tmp_path / "c" / "ann" / "._note-1.ann").write_bytes(b"\xff\x00")
    assert looks_like_brat(tmp_path / "c")
    corpus = read_brat(tmp_path / "c")
    assert [a.id for a in corpus.annotators] == ["ann", "b c"]
    assert len(corpus.notes) == 3
    assert corpus.annotations("note-2", "Drug", "b c") is None
    assert len(corpus.annotations("note-1", "Drug", "b c") or ()) == 2


def test_writing_again_what_brat_wrote_keeps_everything(tmp_path: Path) -> None:
    corpus = read_brat(CLINIC)
    write_brat(corpus, tmp_path / "out")
    assert read_brat(tmp_path / "out") == corpus
    assert (tmp_path / "out" / "note-1.txt").read_bytes() == (CLINIC / "note-1.txt").read_bytes()
    conf = (tmp_path / "out" / "annotation.conf").read_text(encoding="utf-8")
    assert "Certainty\tArg:<ENTITY>, Value:high\n" in conf
    assert "Negated\tArg:<ENTITY>\n" in conf
    visual = (tmp_path / "out" / "visual.conf").read_text(encoding="utf-8")
    assert " | Chest pain OR pressure\n" in visual


def test_labels_added_to_the_configuration_become_features_of_the_case(tmp_path: Path) -> None:
    write_brat(annotated_note("fever and chills", [(0, 5)]), tmp_path / "out")
    with (tmp_path / "out" / "n.ann").open("a", encoding="utf-8") as stream:
        stream.write("T2\tNew_label 10 16\tchills\n")
    with pytest.raises(InputError) as caught:
        read_brat(tmp_path / "out")
    assert [(f.path, f.line) for f in caught.value.faults] == [(tmp_path / "out" / "n.ann", 2)]
    configuration = tmp_path / "out" / "annotation.conf"
    content = configuration.read_text(encoding="utf-8")
    configuration.write_text(content.replace("[entities]\n", "[entities]\nNew_label\n"), "utf-8")
    corpus = read_brat(tmp_path / "out")
    assert [(f.id, f.case, f.text) for f in corpus.features] == [
        ("f", "c", "F"),
        ("New_label", "c", "New label"),
    ]


def faults_of(folder: Path, *, strict: bool = True) -> list[tuple[str, int | None, str]]:
    with pytest.raises(InputError) as caught:
        read_brat(folder, ReadOptions(strict=strict))
    assert "secret" not in str(caught.value)
    return [(f.path.name if f.path else "", f.line, f.message) for f in caught.value.faults]


def test_every_fault_of_every_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("secret words", encoding="utf-8")
    (tmp_path / "a.ann").write_text(
        "T1\tX 0 6\tsecret\n"
        "T2\tX 0 99\tsecret\n"
        "T3 X 0 5 secret\n"
        "T1\tX 7 12\tsecret\n"
        "\n"
        "A1\tNegated T9\n"
        "R1\tRel T1 T2\n"
        "secret line\n"
        "E1\tsecret\n"
        "N1\tsecret\n"
        "*\tEquiv\n"
        "A2\tsecret\n"
        "#1\tAnnotatorNotes T8\tsecret\n"
        "T4\tX 0 99999999999\tsecret\n"
        "# a free remark, secret\n",
        encoding="utf-8",
    )
    (tmp_path / "b.ann").write_text("", encoding="utf-8")
    (tmp_path / "c.txt").write_bytes(b"secret \xff\xfe")
    (tmp_path / "c.ann").write_text("", encoding="utf-8")
    (tmp_path / "d.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "d.ann").write_bytes(b"T1\tX 0 6\tsecret\n\xff")
    found = faults_of(tmp_path)
    assert sorted((name, line or 0) for name, line, _ in found) == [
        ("a.ann", n) for n in (2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14)
    ] + [("b.ann", 0), ("c.txt", 1), ("d.ann", 2)]


def test_the_same_note_with_two_texts_is_refused(tmp_path: Path) -> None:
    for annotator in ("x", "y"):
        (tmp_path / annotator).mkdir()
        (tmp_path / annotator / "n.txt").write_text(f"secret {annotator}", encoding="utf-8")
        (tmp_path / annotator / "n.ann").touch()
    [(name, _, message)] = faults_of(tmp_path)
    assert name == "n.txt" and "differs" in message


def test_two_names_of_one_id_are_refused(tmp_path: Path) -> None:
    for name in ("a b", "a%20b"):
        (tmp_path / f"{name}.txt").write_text("secret", encoding="utf-8")
        (tmp_path / f"{name}.ann").touch()
    assert len(faults_of(tmp_path)) == 2


def test_lenient_reading_and_writing_keep_wrong_offsets(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("short", encoding="utf-8")
    (tmp_path / "in" / "a.ann").write_text("T1\tX 3 99\tort\nT2\tX 4 2\tr\n", encoding="utf-8")
    faults_of(tmp_path / "in")
    corpus = read_brat(tmp_path / "in", ReadOptions(strict=False))
    assert sorted(corpus.rows.end.tolist()) == [2, 99]
    write_brat(corpus, tmp_path / "out")
    assert read_brat(tmp_path / "out", ReadOptions(strict=False)) == corpus


def test_windows_line_ends_in_the_ann_file_do_not_matter(tmp_path: Path) -> None:
    shutil.copytree(CLINIC, tmp_path / "c")
    ann = tmp_path / "c" / "note-1.ann"
    ann.write_bytes(ann.read_bytes().replace(b"\n", b"\r\n"))
    assert read_brat(tmp_path / "c") == read_brat(CLINIC)


def test_references_that_go_round_in_circles_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    (tmp_path / "a.ann").write_text(
        "E1\tA:E2 Theme:E2\nE2\tB:E1 Theme:E1\nA1\tN E1\n", encoding="utf-8"
    )
    assert len(faults_of(tmp_path)) == 5


def test_half_a_surrogate_pair_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'n'"):
        write_corpus(annotated_note("secret \ud83d", [(0, 6)]), tmp_path / "out", format="brat")
    assert not (tmp_path / "out").exists()


def test_corpora_without_annotators_or_annotations_come_back(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n/1", "c", ""))
    write_brat(builder.build(), tmp_path / "one")
    assert read_brat(tmp_path / "one") == builder.build()
    builder.add_annotator(Annotator("visual.conf"))
    builder.add_annotator(Annotator("rubricate.json"))
    write_brat(builder.build(), tmp_path / "two")
    assert read_brat(tmp_path / "two") == builder.build()


def test_what_is_not_brat_is_not_claimed(tmp_path: Path) -> None:
    assert not looks_like_brat(tmp_path)
    assert not looks_like_brat(tmp_path / "missing")
    (tmp_path / "a.txt").write_text("T1", encoding="utf-8")
    assert not looks_like_brat(tmp_path)
    assert not looks_like_brat(tmp_path / "a.txt")
    (tmp_path / "a.ann").write_text("0\n0\n1\n", encoding="utf-8")
    assert not looks_like_brat(tmp_path)
    (tmp_path / "a.ann").write_text("", encoding="utf-8")
    assert looks_like_brat(tmp_path)
    os.remove(tmp_path / "a.ann")  # noqa: PTH107
    with pytest.raises(InputError):
        read_brat(tmp_path / "a.txt")


@pytest.mark.parametrize(
    "line",
    [
        "T1\tFever 0 5\tfever",
        "A1\tNegated T1",
        "M1\tNegated T1",
        "R1\tCause Arg1:T1 Arg2:T2",
        "E1\tFever:T1 Role:T2",
        "N1\tReference T1 UMLS:C1\tfever",
    ],
)
def test_an_id_that_occurs_twice_is_a_fault_of_its_line(line: str) -> None:
    lines = ["T1\tFever 0 5\tfever", "T2\tCough 6 11\tcough"]
    lines += [] if line[0] == "T" else [line]
    faults = Faults(Path("n.ann"))
    parse_ann("\n".join(lines), "fever cough", faults)
    assert faults.found == []
    parse_ann("\n".join([*lines, line]), "fever cough", faults)
    assert [(f.line, line[:2] in f.message) for f in faults.found] == [(len(lines) + 1, True)]


def test_notes_and_equivalences_may_share_an_id() -> None:
    faults = Faults(Path("n.ann"))
    content = "T1\tFever 0 5\tfever\nT2\tCough 6 11\tcough\n"
    content += "*\tEquiv T1 T2\n*\tSame T1 T2\n#1\tAnnotatorNotes T1\ta\n#1\tAnnotatorNotes T1\tb\n"
    first, second = parse_ann(content, "fever cough", faults)
    assert faults.found == []
    assert first.annotation.detail.attributes == (("Equiv", "Cough 6 11"), ("Same", "Cough 6 11"))
    assert first.annotation.detail.comment == "a\nb" and second.annotation.detail.attributes == ()


def test_references_in_a_circle_lead_to_no_annotation() -> None:
    faults = Faults(Path("n.ann"))
    parse_ann("R1\tX Arg1:R2 Arg2:R2\nR2\tX Arg1:R1 Arg2:R1\n", "fever", faults)
    assert {f.line for f in faults.found} == {1, 2}


def test_an_attribute_reaches_the_annotation_through_a_chain() -> None:
    faults = Faults(Path("n.ann"))
    content = "A1\tSure R1 yes\nR1\tX Arg1:E1 Arg2:T1\nE1\tFever:T1\nT1\tFever 0 5\tfever\n"
    [found] = parse_ann(content, "fever", faults)
    assert faults.found == []
    assert ("Sure", "yes") in found.annotation.detail.attributes


def test_labels_of_a_tool_stay_as_they_are(tmp_path: Path) -> None:
    place = tmp_path / "in"
    place.mkdir()
    (place / "d.txt").write_text("no fever", encoding="utf-8")
    (place / "d.ann").write_text("T1\tNoFever 0 8\tno fever\n", encoding="utf-8")
    write_corpus(read_brat(place), tmp_path / "out", format="brat")
    assert (tmp_path / "out" / "d.ann").read_text(encoding="utf-8").startswith("T1\tNoFever 0 8")
    assert "NoFever" in (tmp_path / "out" / "annotation.conf").read_text(encoding="utf-8")
