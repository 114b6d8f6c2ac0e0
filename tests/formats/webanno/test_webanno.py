from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import TEXT, corpora, spans

from annotated_note import annotated_note
from rubricate import Corpus, CorpusBuilder, Feature, Note
from rubricate.errors import InputError
from rubricate.formats import write_corpus
from rubricate.formats.format import count_losses
from rubricate.formats.options import ReadOptions
from rubricate.formats.webanno import FORMAT, looks_like_webanno, read_webanno, write_webanno
from rubricate.formats.webanno.values import (
    TsvCell,
    cell_text,
    escape_text,
    parse_cells,
    unescape_text,
)
from rubricate.rows import Detail
from stripping import stripped

EXPORT = Path(__file__).parents[2] / "resources" / "webanno" / "export"
HEAD = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Span|value\n\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(corpus=corpora())
def test_round_trip(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("webanno") / "out"
    write_webanno(corpus, place)
    assert looks_like_webanno(place)
    assert count_losses(stripped(corpus, FORMAT.holds), FORMAT.holds) == {}
    assert read_webanno(place) == stripped(corpus, FORMAT.holds)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), text=st.text(st.sampled_from(" \n\r\ta.😀\\\x0b\x0c\x1f_"), min_size=1))
def test_any_place_in_any_text_survives(
    data: st.DataObject, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    corpus = annotated_note(text, data.draw(spans(len(text), fragments=True)))
    place = tmp_path_factory.mktemp("webanno") / "out"
    write_webanno(corpus, place)
    assert read_webanno(place) == corpus


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    comment=TEXT,
    reason=TEXT,
    stated=st.none() | TEXT,
    attributes=st.lists(st.tuples(TEXT, TEXT), max_size=3),
)
@example(comment="a\\", reason="[1]", stated="", attributes=[("", "")])
@example(comment="*", reason="_", stated="x->y", attributes=[("a&b", "=;")])
def test_any_detail_survives(
    comment: str,
    reason: str,
    stated: str | None,
    attributes: list[tuple[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    detail = Detail(reason, comment, tuple(attributes), stated)
    for pairs in ([(0, 1)], [(0, 3), (4, 7)]):
        corpus = annotated_note("a b and more", pairs, detail=detail)
        place = tmp_path_factory.mktemp("webanno") / "out"
        write_webanno(corpus, place)
        assert read_webanno(place) == corpus


@given(st.lists(st.tuples(st.none() | TEXT, st.integers(1, 9)), min_size=1, max_size=3))
@example([("a\\", 1), ("|", 2)])
def test_cells_come_back(values: list[tuple[str | None, int]]) -> None:
    cells = [TsvCell(value, number) for value, number in values]
    field = "|".join(map(cell_text, cells))
    assert "\t" not in field and "\n" not in field
    assert parse_cells(field) == cells


@given(st.text(st.characters(exclude_characters="\n")))
def test_text_lines_come_back(text: str) -> None:
    line = escape_text(text)
    assert "\r" not in line and "\t" not in line
    assert unescape_text(line, java=False) == text


def test_sentences_end_where_only_a_line_break_is_lost(tmp_path: Path) -> None:
    text = "No fever.\n\n  Cough\r\n😀 well\n"
    corpus = annotated_note(text, [(3, 5), (20, 21)])
    write_webanno(corpus, tmp_path / "out")
    content = (tmp_path / "out" / "n.tsv").read_bytes().decode("utf-8")
    assert content == (
        "#FORMAT=WebAnno TSV 3.3\n"
        "#T_SP=webanno.custom.Feature|feature|group\n"
        "\n"
        "\n"
        "#Text=No fever.\n"
        "#Text=\n"
        "#Text=  Cough\\r\n"
        "1-1\t0-2\tNo\t_\t_\t\n"
        "1-2\t3-8\tfever\t_\t_\t\n"
        "1-2.1\t3-5\tfe\tf\\_F\t1\t\n"
        "1-3\t8-9\t.\t_\t_\t\n"
        "1-4\t13-18\tCough\t_\t_\t\n"
        "\n"
        "#Text=😀 well\n"
        "#Text=\n"
        "2-1\t20-22\t😀\tf\\_F\t1\t\n"
        "2-2\t23-27\twell\t_\t_\t\n"
    )
    assert read_webanno(tmp_path / "out") == corpus


def test_overlapping_spans_are_stacked_with_numbers(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("n", "c", "chest pain"))
    for feature in ("f", "g"):
        builder.add_feature(Feature(feature, "c", feature))
    builder.annotate("a", "n", "f", [(0, 10)])
    builder.annotate("a", "n", "g", [(0, 5)])
    builder.annotate("a", "n", "g", [(0, 5)])
    write_webanno(builder.build(), tmp_path / "out")
    lines = (tmp_path / "out" / "n.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[-2:] == [
        "1-1\t0-5\tchest\tf[1]|g[2]|g[3]\t",
        "1-2\t6-10\tpain\tf[1]\t",
    ]
    assert read_webanno(tmp_path / "out") == builder.build()


def test_blanks_become_tokens_where_an_annotation_needs_them(tmp_path: Path) -> None:
    corpus = annotated_note("a \t\n b", [(2, 4)])
    write_webanno(corpus, tmp_path / "out")
    content = (tmp_path / "out" / "n.tsv").read_text(encoding="utf-8")
    assert "1-2\t2-4\t\\t\\n\tf\\_F\t\n" in content
    assert read_webanno(tmp_path / "out") == corpus


def test_an_exported_project() -> None:
    assert looks_like_webanno(EXPORT)
    corpus = read_webanno(EXPORT)
    assert [n.id for n in corpus.notes] == ["visit 1.txt", "visit 2.txt"]
    text = corpus.notes[0].text
    # The export loses the three characters between the last two sentences.
    assert text == "Pt 😀 denies chest pain\r\nand cough.No rashes.\n  Plan: rest \\o/\t."
    assert corpus.notes[1].text == "Well."
    assert [a.id for a in corpus.annotators] == ["anna", "CURATION_USER"]
    found = {
        (annotator.id, feature.id): [(a.text(text), a.detail) for a in annotations]
        for _, annotator, feature, annotations in corpus.values()
        if annotations
    }
    assert found == {
        ("anna", "pat"): [("Pt", Detail(attributes=(("chain", "1-1"),)))],
        ("anna", "Symptom"): [("😀", Detail())],
        ("anna", "no_chest_pain"): [
            ("denies chest pain", Detail(attributes=(("Certainty", "high"),)))
        ],
        ("anna", "no_cough"): [
            (
                "denies chest pain\r\nand cough",
                Detail(comment="shared_verb", attributes=(("parts", "part 1-2"),)),
            ),
        ],
        ("anna", "rash|hives"): [("rash", Detail())],
        ("anna", "plan"): [("rest", Detail(attributes=(("Certainty", "low"),)))],
        ("CURATION_USER", "no_rash"): [("rashes", Detail())],
    }
    assert not corpus.note_rows("visit 2.txt")


def test_one_file_is_a_corpus_of_one_note() -> None:
    place = EXPORT / "annotation" / "visit 1.txt" / "anna.tsv"
    assert looks_like_webanno(place)
    corpus = read_webanno(place)
    assert [n.id for n in corpus.notes] == ["anna"]
    assert [a.id for a in corpus.annotators] == ["annotator"]


def test_writing_again_what_inception_wrote_keeps_everything(tmp_path: Path) -> None:
    corpus = read_webanno(EXPORT)
    write_webanno(corpus, tmp_path / "out")
    assert read_webanno(tmp_path / "out") == corpus
    names = sorted(p.relative_to(tmp_path / "out").as_posix() for p in tmp_path.rglob("*.tsv"))
    assert names == [
        "visit%201%2Etxt/CURATION_USER.tsv",
        "visit%201%2Etxt/anna.tsv",
        "visit%202%2Etxt/INITIAL_CAS.tsv",
    ]


def test_fragments_edited_in_the_tool_are_joined_by_group_and_label(tmp_path: Path) -> None:
    write_webanno(annotated_note("no fever, chills", [(0, 2), (10, 16)]), tmp_path / "out")
    place = tmp_path / "out" / "n.tsv"
    content = place.read_text(encoding="utf-8")
    place.write_text(content.replace("chills\tf\\_F\t1", "chills\tNew\t1"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_webanno(tmp_path / "out")
    assert [(f.path, f.line) for f in caught.value.faults] == [(place, 9)]
    (tmp_path / "out" / "rubricate.json").unlink()
    corpus = read_webanno(tmp_path / "out")
    assert [f.id for f in corpus.features] == ["f_F", "New"]
    assert corpus.rows.n_annotations == 2


@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_older_versions_escape_as_java_does(tmp_path: Path, version: str) -> None:
    place = tmp_path / "n.tsv"
    place.write_text(
        f"#FORMAT=WebAnno TSV {version}\n\n\n"
        '#Text=\\uD83D\\uDE00 \\"caf\\u00e9\\"\n'
        '1-1\t0-2\t😀\t\n1-2\t3-4\t"\t\n1-3\t4-8\tcafé\t\n1-4\t8-9\t"\t\n',
        encoding="utf-8",
    )
    assert read_webanno(place).notes[0].text == '😀 "café"'


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    place = EXPORT / "annotation" / "visit 1.txt" / "anna.tsv"
    other = tmp_path / "anna.tsv"
    other.write_bytes(b"\xef\xbb\xbf" + place.read_bytes().replace(b"\n", b"\r\n"))
    assert looks_like_webanno(other)
    assert read_webanno(other) == read_webanno(place)


def faults_of(path: Path, *, strict: bool = True) -> list[tuple[str, int]]:
    with pytest.raises(InputError) as caught:
        read_webanno(path, ReadOptions(strict=strict))
    assert "secret" not in str(caught.value)
    return sorted((f.path.name if f.path else "", f.line or 0) for f in caught.value.faults)


def test_every_fault_of_every_file_is_reported(tmp_path: Path) -> None:
    files = {
        "cells": HEAD + "\n#Text=secret\n1-1\t0-6\tsecret\n1-1.1\t0-1\ts\t_\t\n",
        "format": "secret\n",
        "gap": HEAD + "\n#Text=secret\n1-1\t0-6\tsecret\t_\t\n\n#Text=a\n2-1\t3-4\ta\t_\t\n",
        "header": HEAD + "\n1-1\t0-6\tsecret\t_\t\n",
        "order": HEAD + "\n#Text=secret\n1-1\t6-0\t\t_\t\nsecret\n1-2\tx-y\tsecret\t_\t\n",
        "pair": HEAD + "\n#Text=secret😀\n1-1\t0-6\tsecret\t_\t\n1-2\t6-7\t😀\t_\t\n",
        "past": HEAD + "\n#Text=secret\n1-1\t0-6\tsecret\t_\t\n1-2\t7-9\tmore\tx\t\n",
        "zero": HEAD + "\n#Text=secret\n1-1\t0-6\tsecret\t_\t\n1-1.1\t2-2\t\tx\t\n",
    }
    for name, content in files.items():
        (tmp_path / f"{name}.tsv").write_text(content, encoding="utf-8")
    (tmp_path / "utf.tsv").write_bytes(b"#FORMAT=WebAnno TSV 3.3\n\n\n#Text=\xff\n")
    assert faults_of(tmp_path) == [
        ("cells.tsv", 6),
        ("format.tsv", 1),
        ("gap.tsv", 8),
        ("gap.tsv", 9),
        ("header.tsv", 5),
        ("order.tsv", 6),
        ("order.tsv", 7),
        ("order.tsv", 8),
        ("pair.tsv", 7),
        ("past.tsv", 7),
        ("utf.tsv", 4),
        ("zero.tsv", 7),
    ]


def test_annotators_of_one_note_must_have_the_same_text(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    for name in ("x", "y"):
        content = f"{HEAD}\n#Text=secret {name}\n1-1\t0-6\tsecret\t_\t\n"
        (tmp_path / "n" / f"{name}.tsv").write_text(content, encoding="utf-8")
    assert faults_of(tmp_path) == [("y.tsv", 0)]


def test_lenient_reading_keeps_offsets_past_the_end(tmp_path: Path) -> None:
    place = tmp_path / "n.tsv"
    place.write_text(HEAD + "\n#Text=😀 a\n1-1\t0-2\t😀\t_\t\n1-2\t3-9\ta\tx\t\n", encoding="utf-8")
    assert faults_of(place) == [("n.tsv", 7)]
    corpus = read_webanno(place, ReadOptions(strict=False))
    assert (corpus.rows.start.tolist(), corpus.rows.end.tolist()) == ([2], [8])


def test_what_the_format_has_no_place_for_is_refused_before_writing(tmp_path: Path) -> None:
    for corpus in (annotated_note("secret", [(3, 99)]), annotated_note("secret \ud83d", [(0, 6)])):
        with pytest.raises(InputError) as caught:
            write_corpus(corpus, tmp_path / "out", format="webanno")
        assert "note 'n'" in str(caught.value) and "secret" not in str(caught.value)
        assert not (tmp_path / "out").exists()


def test_an_annotator_called_like_the_initial_state_comes_back(tmp_path: Path) -> None:
    builder = CorpusBuilder()
    builder.add_note(Note("annotation", "c", ""))
    builder.add_feature(Feature("f", "c", "F"))
    for annotator in ("INITIAL_CAS", "b/c"):
        builder.judge(annotator, "annotation", "f")
    write_webanno(builder.build(), tmp_path / "out")
    assert read_webanno(tmp_path / "out") == builder.build()


def test_what_is_not_webanno_is_not_claimed(tmp_path: Path) -> None:
    assert not looks_like_webanno(tmp_path)
    assert not looks_like_webanno(tmp_path / "missing.tsv")
    (tmp_path / "a.tsv").write_text("id\ttext\n", encoding="utf-8")
    assert not looks_like_webanno(tmp_path)
    assert not looks_like_webanno(tmp_path / "a.tsv")
    (tmp_path / "a.tsv").unlink()
    assert faults_of(tmp_path) == [(tmp_path.name, 0)]


def one_note(tmp_path: Path, header: str, *cells: str) -> Corpus:
    words = [("0-4", "This"), ("5-7", "is"), ("8-9", "a"), ("10-14", "test")]
    lines = [
        f"1-{i}\t{place}\t{word}\t{cell}\t"
        for i, ((place, word), cell) in enumerate(zip(words, cells, strict=True), start=1)
    ]
    content = f"#FORMAT=WebAnno TSV 3.3\n{header}\n\n\n#Text=This is a test\n"
    (tmp_path / "n.tsv").write_text(content + "\n".join(lines) + "\n", encoding="utf-8")
    return read_webanno(tmp_path / "n.tsv")


def what_is_there(corpus: Corpus) -> dict[str, list[tuple[str, tuple[tuple[str, str], ...]]]]:
    text = corpus.notes[0].text
    return {
        feature.id: [(a.text(text), a.detail.attributes) for a in annotations]
        for _, _, feature, annotations in corpus.values()
    }


def test_hosts_that_have_slots_alone_are_read(tmp_path: Path) -> None:
    header = (
        "#T_SP=custom.Plain|\n#T_SP=custom.Host|ROLE_custom.Host:links_custom.LinkType|custom.Plain"
    )
    cells = ("_\tp1;p2\t1-2;1-3", "*\t_\t_", "*\t_\t_", "_\t_\t*")
    assert what_is_there(one_note(tmp_path, header, *cells)) == {
        "Host": [("This", (("links", "p1 1-2; p2 1-3"),)), ("test", ())],
        "Plain": [("is", ()), ("a", ())],
    }


def test_links_of_chains_are_read(tmp_path: Path) -> None:
    header = "#T_CH=custom.Link|referenceRelation|referenceType"
    cells = ("*->1-1\tperson[1]", "*->1-1\tperson[1]", "_\t_", "same->1-2|*->2-1\tthing[2]|*[3]")
    assert what_is_there(one_note(tmp_path, header, *cells)) == {
        "person": [("This is", (("chain", "1-1"),))],
        "thing": [("test", (("referenceRelation", "same"), ("chain", "1-2")))],
        "Link": [("test", (("chain", "2-1"),))],
    }
