"""Files that would fill the memory, break a parser or show a note: refused in our own words."""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from rubricate import (
    Corpus,
    CorpusBuilder,
    Feature,
    Note,
    Rubric,
    load_corpus,
    read_corpus,
    write_corpus,
)
from rubricate.cli import main
from rubricate.errors import InputError
from rubricate.formats import FORMATS, ReadLimits, detect_format
from rubricate.formats.notes import open_notes
from rubricate.formats.options import ReadOptions
from rubricate.formats.rubric import read_rubrics, write_rubrics
from rubricate.rows import Contradiction

SECRET = "58 yo with chest pain,\r\nno fever" + " and palpitations" * 20
HALF = "\\ud83d"


def write(place: Path, content: str | bytes) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def refused(read: Callable[[], object], *words: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read()
    for word in words:
        assert word in str(caught.value)
    assert "secret" not in str(caught.value)
    return caught.value


def nbme(folder: Path, notes: str, train: str = "") -> Path:
    write(folder / "patient_notes.csv", notes)
    write(folder / "features.csv", "feature_num,case_num,feature_text\n0,0,Fever\n")
    if train:
        write(folder / "train.csv", train)
    return folder


TRAIN = "id,case_num,pn_num,feature_num,annotation,location\n00001_000,0,1,0,[],[]\n"


@pytest.mark.parametrize("text", [SECRET, "secret"])
@pytest.mark.parametrize("command", ["describe", "check"])
def test_swapped_headers_show_no_note(text: str, command: str, tmp_path: Path) -> None:
    notes = f'pn_num,pn_history,case_num\n1,0,"{text}"\n2,0,"{text}"\n'
    folder = nbme(tmp_path / "c", notes, TRAIN)
    done = CliRunner().invoke(main, [command, str(folder)])
    assert done.exit_code == 1
    assert "palpitations" not in done.output and "secret" not in done.output
    table = folder / "patient_notes.csv"
    write(table, notes.replace("pn_num", "x").replace("pn_history", "pn_num"))
    done = CliRunner().invoke(main, ["describe", str(table)])
    assert "palpitations" not in done.output


def test_a_table_with_a_note_for_an_id_says_what_is_swapped(tmp_path: Path) -> None:
    place = write(tmp_path / "t.csv", f'note,case,text\n"{SECRET}",0,1\n"{SECRET}",0,2\n')
    error = refused(lambda: read_corpus(place), "'note'", "swapped")
    assert len(error.faults) == 2
    assert "palpitations" not in str(error)


@pytest.mark.parametrize("header", ["id,case_num,pn_num,feature_num,location", "a,b", ""])
def test_train_without_its_columns_is_refused(header: str, tmp_path: Path) -> None:
    folder = nbme(tmp_path / "c", "pn_num,case_num,pn_history\n1,0,no fever\n", f"{header}\n1,2\n")
    refused(lambda: read_corpus(folder), "train.csv")


def lines(*values: object) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


HEAD = {"rubricate": 1, "rubrics": [{"case": "c", "features": [{"id": "f", "text": "F"}]}],
        "annotators": []}  # fmt: skip


def jsonl_note(**more: object) -> str:
    annotation = {"spans": [[0, 1]], **more}
    return lines(
        HEAD, {"note": "n", "case": "c", "text": "x", "annotations": {"a": {"f": [annotation]}}}
    )


DEEP = "[" * 100_000
LONG = "1" * 5_000
HOSTILE = {
    "jsonl deep": ("c.jsonl", lines(HEAD) + DEEP),
    "jsonl long number": ("c.jsonl", lines(HEAD) + f'{{"note": {LONG}}}'),
    "jsonl large number": ("c.jsonl", lines({**HEAD, "metadata": {"x": 1}}).replace(": 1}", f": {'1' * 400}}}")),
    "jsonl weight": ("c.jsonl", lines(HEAD).replace('"text": "F"', '"text": "F", "weight": "secret"')),
    "jsonl stated text": ("c.jsonl", jsonl_note(stated_text=5)),
    "jsonl comment": ("c.jsonl", jsonl_note(comment=["secret"])),
    "jsonl attributes": ("c.jsonl", jsonl_note(attributes=[["a", 1]])),
    "jsonl feature": ("c.jsonl", lines(HEAD, {"note": "n", "case": "c", "text": "x", "annotations": {"a": {"secret\n": []}}})),
    "jsonl half": ("c.jsonl", jsonl_note(comment="\ud83d")),
    "doccano deep": ("c.jsonl", lines({"text": "x", "label": []}) + DEEP),
    "doccano long number": ("c.jsonl", f'{{"text": "x", "label": [[0, {LONG}, "A"]]}}'),
    "doccano half": ("c.jsonl", f'{{"text": "secret{HALF}", "label": []}}'),
    "labelstudio deep": ("c.json", '[{"data": {"text": "x"}, "annotations": []}, ' + DEEP),
    "labelstudio number": ("c.json", f'[{{"data": {{"text": "x"}}, "annotations": [], "id": {LONG}}}]'),
    "labelstudio half": ("c.json", f'[{{"data": {{"text": "secret{HALF}"}}, "annotations": []}}]'),
    "cas-json deep": ("c.json", '{"%TYPES": {}, "%VIEWS": ' + DEEP),
    "cas-json half": ("c.json", f'{{"%TYPES": {{}}, "%VIEWS": "{HALF}"}}'),
    "conll half": ("c.conll", f"-DOCSTART- (n)\n\nno _ SpacesAfter={HALF} O\nfever _ _ O\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_what_no_parser_takes_is_a_fault(case: str, tmp_path: Path) -> None:
    name, content = HOSTILE[case]
    place = write(tmp_path / name, content)
    refused(lambda: read_corpus(place, format=case.split()[0]), str(place))
    if case.startswith("jsonl"):
        for note in _stream(place):
            assert note is not None


def _stream(place: Path) -> list[object]:
    try:
        return list(open_notes(place, how=ReadOptions("jsonl")).notes())
    except InputError as error:
        return [error]


def test_other_places_where_halves_of_pairs_hide(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    write(folder / "n.txt", "no fever")
    write(folder / "n.ann", f"T1\tF 0 2\tno\n#1\tAnnotatorNotes T1\tsecret {HALF}\n")
    refused(lambda: read_corpus(folder), "note 'n'")
    (folder / "n.ann").unlink()
    write(folder / "n.ann", "T1\tF 0 2\tno\n")
    (folder / "n.txt").rename(folder / "%ED%A0%BD.txt")
    (folder / "n.ann").rename(folder / "%ED%A0%BD.ann")
    refused(lambda: read_corpus(folder, format="brat"), "surrogate")
    train = TRAIN.replace("[],[]", f"\"['{HALF}']\",\"['0 2']\"")
    notes = "pn_num,case_num,pn_history\n1,0,no fever\n"
    refused(lambda: read_corpus(nbme(tmp_path / "n", notes, train)), "note '1'")


@pytest.mark.parametrize("name", [n for n in FORMATS if FORMATS[n].write])
def test_no_half_of_a_pair_is_written(name: str, tmp_path: Path) -> None:
    feature = Feature("f", "c", "F")
    sound = Corpus((Note("n", "c", "x"),), (Rubric("c", (feature,)),))
    for corpus in (
        Corpus((Note("n\ud83d", "c", "x"),), sound.rubrics),
        Corpus((Note("n", "c", "secret\ud83d"),), sound.rubrics),
        Corpus(sound.notes, (Rubric("c", (Feature("f", "c", "\ud83d"),)),)),
    ):
        refused(lambda c=corpus: write_corpus(c, tmp_path / "out", format=name), "surrogate")
    builder = CorpusBuilder()
    builder.add_rubric(sound.rubrics[0])
    builder.add_note(sound.notes[0])
    builder.judge("a", "n", "f")
    rows = replace(
        builder.build().rows, contradictions={0: Contradiction(((0, 1),), None, "\ud83d")}
    )
    corpus = replace(builder.build(), rows=rows)
    refused(lambda: write_corpus(corpus, tmp_path / "out", format=name), "a contradiction holds")
    assert list(tmp_path.iterdir()) == []


RUBRICS = {
    "deep.toml": "x = " + DEEP,
    "dotted.toml": ".".join("a" * 100_000) + " = 1",
    "long.toml": f"[a]\nx = {LONG}",
    "deep.yaml": DEEP,
    "control.yaml": "features:\n- \x07",
    "half.yaml": f'features:\n- "secret{HALF}"',
    "date.yaml": "metadata: {x: 2020-99-99}\nfeatures: [a]",
    "number.yaml": f"metadata: {{x: {LONG}}}\nfeatures: [a]",
    "loop.yaml": "&a [*a]",
    "merge.yaml": "metadata: {<<: {a: 1}}\nfeatures: [a]",
    "bomb.yaml": "features:\n- &a0 [x, x]\n"
    + "".join(f"- &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)),
    "levels.yaml": "features: " + "[" * 150 + "]" * 150,
}


@pytest.mark.parametrize("name", RUBRICS)
def test_rubric_files_that_are_none(name: str, tmp_path: Path) -> None:
    place = write(tmp_path / name, RUBRICS[name])
    refused(lambda: read_rubrics(place), str(place))


def test_the_place_of_a_control_character_is_named(tmp_path: Path) -> None:
    place = write(tmp_path / "r.yaml", RUBRICS["control.yaml"])
    assert refused(lambda: read_rubrics(place), "U+0007").faults[0].line == 2


def test_rubrics_with_half_a_pair_are_not_written(tmp_path: Path) -> None:
    rubric = Rubric("c", (Feature("f", "c", "a\ud83d"),))
    for name in ("r.csv", "r.xlsx", "r.yaml", "r.toml"):
        refused(lambda n=name: write_rubrics([rubric], tmp_path / n), "surrogate")


def workbook(place: Path, far: str | None = None, value: object = 1) -> Path:
    import openpyxl

    book = openpyxl.Workbook()
    book.worksheets[0].append(["text", "weight"])
    book.worksheets[0].append(["Fever", 1])
    if far:
        book.worksheets[0][far] = value
    book.save(place)
    return place


def test_a_stray_cell_far_away_is_refused_until_the_limit_is_raised(tmp_path: Path) -> None:
    place = workbook(tmp_path / "r.xlsx", "XFD20000")
    refused(lambda: read_rubrics(place), "row 20,000", "limits=ReadLimits(cells=327680000)")
    near = workbook(tmp_path / "near.xlsx", "B40")
    with pytest.raises(InputError):
        read_rubrics(near, limits=ReadLimits(cells=10))
    assert "cells" not in str(refused(lambda: read_rubrics(near)))


def test_workbooks_and_archives_that_become_huge_are_refused(tmp_path: Path) -> None:
    place = workbook(tmp_path / "r.xlsx")
    with zipfile.ZipFile(place, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/blank", b"\0" * 30_000_000)
    refused(lambda: read_rubrics(place), "ratio")
    assert read_rubrics(place, limits=ReadLimits(ratio=2_000))
    refused(lambda: read_rubrics(place, limits=ReadLimits(unpacked_bytes=1_000)), "unpacked_bytes")
    bomb = tmp_path / "n.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.xmi", b" " * 30_000_000)
    assert "ratio" in str(refused(lambda: read_corpus(bomb, format="cas")))


def test_a_number_too_large_for_a_weight_is_named(tmp_path: Path) -> None:
    place = workbook(tmp_path / "r.xlsx", "B2", 7)
    with zipfile.ZipFile(place) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<v>7</v>", b"<v>" + b"1" * 400 + b"</v>")
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    refused(lambda: read_rubrics(place), str(place))


def test_hidden_doctypes_are_refused(tmp_path: Path) -> None:
    doctype = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><xmi:XMI xmlns:xmi="http://www.omg.org/XMI">&e;</xmi:XMI>'
    for content in (
        ("<!--" + "x" * 5_000 + "-->" + doctype).encode(),
        doctype.encode("utf-16"),
        ('<?xml version="1.0" encoding="UTF-7"?>' + doctype.replace("<!D", "+ADw-!D")).encode(),
    ):
        place = write(tmp_path / "n.xmi", content)
        write(tmp_path / "TypeSystem.xml", "<typeSystemDescription/>")
        refused(lambda p=place: read_corpus(p, format="cas"), "n.xmi")


def parquet(tmp_path: Path) -> Path:
    place = tmp_path / "c"
    write_corpus(load_corpus("open-notes").select(cases=["0"]), place, format="parquet")
    return place


def test_parquet_that_becomes_huge_is_refused(tmp_path: Path) -> None:
    place = parquet(tmp_path)
    assert read_corpus(place, limits=ReadLimits(rows=10_000))
    refused(lambda: read_corpus(place, limits=ReadLimits(rows=10)), "limits=ReadLimits(rows=")
    refused(lambda: read_corpus(place, limits=ReadLimits(unpacked_bytes=5_000)), "unpacked_bytes")
    notes = pl.read_parquet(place / "notes.parquet").head(1)
    text = pl.lit("a" * 1_000_000)
    repeated = pl.concat([notes] * 200).with_columns(
        text=text, id=pl.int_range(200).cast(pl.String)
    )
    repeated.write_parquet(place / "notes.parquet", compression="zstd")
    assert (place / "notes.parquet").stat().st_size < 1_000_000
    limits = ReadLimits(unpacked_bytes=50_000_000)
    refused(lambda: read_corpus(place, limits=limits), "unpacked_bytes")


@pytest.mark.parametrize("name", ["nbme", "ebmnlp", "parquet"])
def test_tables_and_texts_that_are_links_are_not_read(name: str, tmp_path: Path) -> None:
    """The sender of a folder must not make the program read another file of the machine."""
    folder, linked = tmp_path / "c", {"nbme": "patient_notes.csv", "parquet": "notes.parquet"}
    write_corpus(load_corpus("open-notes").select(cases=["0"]), folder, format=name)
    assert len(read_corpus(folder).notes)
    place = folder / linked.get(name, "rubricate.json")
    if name == "ebmnlp":
        place = next((folder / "documents").iterdir())
    moved = place.rename(tmp_path / "outside")
    place.symlink_to(moved)
    refused(lambda: read_corpus(folder, format=name), "leads out")
    place.unlink()
    place.symlink_to(moved.rename(folder / "inside"))
    if name == "nbme":
        assert len(read_corpus(folder, format=name).notes)


PIPES = """
import os, sys
from pathlib import Path
from rubricate import load_corpus, read_corpus, write_corpus
from rubricate.errors import InputError
corpus = load_corpus("open-notes").select(cases=["0"])
for name, where in {"texts": "x.txt", "webanno": "x.tsv", "doccano": "x.jsonl", "nbme": "test.csv",
                    "ebmnlp": "documents/x.tokens", "parquet": "notes.parquet",
                    "datasets": "state.json", "brat": "rubricate.json"}.items():
    folder = Path(sys.argv[1], name)
    if name == "texts":
        folder.mkdir()
    else:
        write_corpus(corpus, folder, format=name)
    (folder / where).unlink(missing_ok=True)
    os.mkfifo(folder / where)
    try:
        read_corpus(folder, format=name)
    except InputError:
        print(name)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PIPES, str(tmp_path)],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    read = {"nbme"}  # a pipe beside its tables is none of them
    assert set(done.stdout.split()) | read == {path.name for path in tmp_path.iterdir()}


def test_broken_parquet_prints_nothing_of_the_reader(tmp_path: Path) -> None:
    place = parquet(tmp_path)
    raw = bytearray((place / "notes.parquet").read_bytes())
    for cut in (4, len(raw) // 3, len(raw) // 2):
        broken = raw[:cut] + bytes(64) + raw[cut + 64 :]
        write(place / "notes.parquet", bytes(broken))
        done = subprocess.run(
            [sys.executable, "-P", "-c", f"import rubricate; rubricate.read_corpus({str(place)!r})"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert "panicked" not in done.stderr and "RUST_BACKTRACE" not in done.stderr


def test_relations_in_a_chain_are_followed_once(tmp_path: Path) -> None:
    n = 20_000
    chain = [f"R{i}\tX Arg1:R{i + 1} Arg2:T1" for i in range(1, n)]
    loop = ["E1\tX:E2", "E2\tX:E1 A:T1"]
    write(tmp_path / "n.txt", "no fever")
    write(tmp_path / "n.ann", "\n".join(["T1\tF 0 2\tno", *chain, f"R{n}\tX Arg1:T1 Arg2:T1"]))
    corpus = read_corpus(tmp_path)
    (found,) = corpus.annotations("n", "F", "annotator") or ()
    assert len(found.detail.attributes) == n
    write(tmp_path / "n.ann", "\n".join(["T1\tF 0 2\tno", *loop]))
    refused(lambda: read_corpus(tmp_path), "leads to no T line")


def test_gaps_do_not_add_up_to_a_huge_text(tmp_path: Path) -> None:
    body = "".join(
        f"\n#Text=a\n{i}-1\t{i * 900_000}-{i * 900_000 + 1}\ta\t_\t\n" for i in range(1, 9)
    )
    place = write(tmp_path / "n.tsv", f"#FORMAT=WebAnno TSV 3.3\n#T_SP=a.B|c\n\n{body}")
    refused(lambda: read_corpus(place), "begins at")


@pytest.mark.parametrize("name", ["texts", "brat", "doccano", "webanno", "cas"])
def test_links_out_of_a_folder_are_not_followed(name: str, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.txt", "secret")
    folder = tmp_path / "c"
    suffix = {"texts": "txt", "brat": "txt", "doccano": "jsonl", "webanno": "tsv", "cas": "xmi"}[
        name
    ]
    write(folder / "inside.txt", "no fever")
    (folder / f"link.{suffix}").symlink_to(outside)
    refused(lambda: read_corpus(folder, format=name), "leads out")
    (folder / f"link.{suffix}").unlink()
    if name == "texts":
        (folder / "link.txt").symlink_to(folder / "inside.txt")
        assert len(read_corpus(folder, format=name).notes) == 2


def test_small_slips_of_other_tools(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    write(folder / "n.txt", "no fever")
    write(folder / "n.ann", "\r\n\nT1\tF 0 2\tno\n")
    assert detect_format(folder) == "brat"
    assert read_corpus(folder).rows.n_annotations == 1
    write(folder / "annotation.conf", "[entities]\n|x\nF\n")
    assert [f.id for f in read_corpus(folder).features] == ["F"]


def region(**value: object) -> dict[str, object]:
    return {"id": "r", "type": "labels", "value": {"labels": ["A"], **value}}


def test_label_studio_files_with_large_tasks_and_boxes(tmp_path: Path) -> None:
    task = {
        "data": {"text": "no fever " * 200_000},
        "annotations": [{"result": [region(start=0, end=8)]}],
    }
    place = write(tmp_path / "c.json", json.dumps([task]))
    assert detect_format(place) == "labelstudio"
    assert read_corpus(place).rows.n_annotations == 1
    box = {"id": "b", "type": "rectanglelabels", "value": {"x": 1.5, "y": 2, "width": 3, "height": 4,
           "rectanglelabels": ["A"]}}  # fmt: skip
    image = {"data": {"image": "a.png"}, "annotations": [{"result": [box]}]}
    write(place, json.dumps([image, {"data": {"text": "x"}, "annotations": [{"result": [box]}]}]))
    assert detect_format(place) == "labelstudio"
    refused(lambda: read_corpus(place), "place in an image", "spans of texts")
    link = {"type": "relation", "from_id": "r", "to_id": "r", "labels": 1}
    task = {
        "data": {"text": "no fever"},
        "annotations": [{"result": [region(start=0, end=2), link]}],
    }
    write(place, json.dumps([task]))
    assert read_corpus(place).rows.n_annotations == 1


def test_limits_are_options_of_the_command(tmp_path: Path) -> None:
    place = parquet(tmp_path)
    run = CliRunner().invoke
    assert run(main, ["describe", str(place), "--limit", "rows=10"]).exit_code == 1
    assert run(main, ["describe", str(place)]).exit_code == 0
    done = run(main, ["describe", str(place), "--limit", "row=10"])
    assert done.exit_code == 2
    assert "did you mean 'rows'?" in done.output
    assert run(main, ["describe", str(place), "--limit", "rows=many"]).exit_code == 2


def test_large_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    place = write(tmp_path / "c.jsonl", lines(HEAD))
    assert read_corpus(place)
    refused(
        lambda: read_corpus(place, limits=ReadLimits(file_bytes=10)),
        "limits=ReadLimits(file_bytes=",
    )


def test_a_csv_is_never_read_as_an_archive(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"secret")
    refused(lambda: read_rubrics(write(tmp_path / "r.csv", buffer.getvalue())))
