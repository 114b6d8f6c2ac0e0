"""Every format against every other: found by looking, converted, losses named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rubricate import Corpus, load_corpus, read_corpus, write_corpus
from rubricate.errors import InputError, LossError
from rubricate.formats import FORMATS, ReadLimits, detect_format
from rubricate.formats.format import HOLDABLE

#: Formats that are written, and read without another corpus beside them.
READABLE = [name for name in FORMATS if FORMATS[name].write and FORMATS[name].has_notes]
#: Names tools expect of single files.
FILE_NAMES = {
    "labelstudio": "tasks.json", "jsonl": "corpus.jsonl", "conll": "corpus.conll",
    "prodigy": "corpus.jsonl", "bioc": "corpus.json", "bioc-xml": "corpus.xml", "docbin": "corpus.spacy",
}  # fmt: skip


def few_notes() -> Corpus:
    """Real notes with fragments, overlaps and two annotators; two notes stay unjudged by one."""
    corpus = load_corpus("open-notes")
    judged = [n.id for n in corpus.notes if corpus.row(n.id, "0", "second_rater") is not None][:2]
    return corpus.select(notes=[*judged, "10000", "10002"], cases=["0"])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    places = {}
    for name in READABLE:
        places[name] = tmp_path_factory.mktemp(name) / FILE_NAMES.get(name, "corpus")
        write_corpus(few_notes(), places[name], format=name)
    return places


@pytest.mark.parametrize("name", READABLE)
def test_formats_are_found_by_looking(name: str, written: dict[str, Path]) -> None:
    assert detect_format(written[name]) == name
    claims = {n for n in FORMATS if FORMATS[n].looks_like(written[name])}
    assert claims == {name}


def test_detection_by_ending_finds_what_asking_every_format_finds() -> None:
    files = [
        path for path in (Path(__file__).parents[1] / "resources").rglob("*") if path.is_file()
    ]
    assert len(files) > 20
    for path in files:
        claims = [name for name in FORMATS if FORMATS[name].looks_like(path)]
        if claims:
            assert detect_format(path) == claims[0]


@pytest.mark.parametrize("name", READABLE)
def test_the_limits_reach_every_reader(name: str, written: dict[str, Path]) -> None:
    """Each reads a file whole or unpacks it, and says which limit allows more."""
    with pytest.raises(InputError) as caught:
        read_corpus(
            written[name], format=name, limits=ReadLimits(file_bytes=1, unpacked_bytes=1, rows=1)
        )
    advised = [one.advice for one in caught.value.faults if one.advice is not None]
    assert any(setting.name == "limit" for one in advised for setting in one.settings)


def test_a_table_is_found_without_importing_other_formats(tmp_path: Path) -> None:
    table = tmp_path / "notes.csv"
    table.write_text("id,text\n1,no fever\n", encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from rubricate.formats import detect_format;"
        "print(detect_format(Path(sys.argv[1])));"
        "print(*(name for name in sys.modules if name.startswith('rubricate.formats.')))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(table)], capture_output=True, text=True, check=True
    )
    found, modules = done.stdout.splitlines()
    assert found == "table"
    tools = ("brat", "webanno", "cas", "ebmnlp", "labelstudio", "bioc", "fhir", "conll", "datasets")
    assert not [one for one in modules.split() if one.split(".")[2] in tools]


@pytest.mark.parametrize("target", READABLE)
@pytest.mark.parametrize("source", READABLE)
def test_every_format_converts_to_every_other(
    source: str, target: str, written: dict[str, Path], tmp_path: Path
) -> None:
    first = read_corpus(written[source])
    place = tmp_path / FILE_NAMES.get(target, "corpus")
    lost = write_corpus(first, place, format=target)
    assert set(lost) <= set(HOLDABLE)
    second = read_corpus(place)
    assert [n.id for n in second.notes] == [n.id for n in first.notes]
    assert {a.id for a in second.annotators} <= {a.id for a in first.annotators}
    if not lost:
        assert second == first
    else:
        assert second != first
        if not {"fragments", "boundaries", "touching", "annotators", "repeats"} & set(lost):
            assert second.rows.n_annotations == first.rows.n_annotations


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode elsewhere")
@pytest.mark.parametrize("name", READABLE)
def test_a_folder_may_have_a_name_that_is_not_utf8(
    name: str, written: dict[str, Path], tmp_path: Path
) -> None:
    # As an older computer named it, or as Python sees any name where the locale is C.
    folder = tmp_path / os.fsdecode(b"Pr\xfcfung")
    folder.mkdir()
    place = folder / FILE_NAMES.get(name, "corpus")
    write_corpus(few_notes(), place, format=name)
    assert read_corpus(place) == read_corpus(written[name])


@pytest.mark.parametrize("name", READABLE)
def test_strict_refuses_exactly_where_something_is_lost(name: str, tmp_path: Path) -> None:
    corpus = few_notes()
    place = tmp_path / FILE_NAMES.get(name, "corpus")
    if FORMATS[name].losses(corpus):
        with pytest.raises(LossError):
            write_corpus(corpus, place, format=name, strict=True)
        assert list(tmp_path.iterdir()) == []
    else:
        write_corpus(corpus, place, format=name, strict=True)
        assert read_corpus(place) == corpus


def test_something_else_is_no_format(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02")
    for place in (tmp_path / "x.bin", tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError):
            read_corpus(place)


def test_the_table_of_losses_in_the_docs_is_true() -> None:
    lines = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    for kind, what in HOLDABLE.items():
        by_tokens = kind in {"boundaries", "touching"}
        lost = [
            f"`{name}`"
            for name in FORMATS
            if FORMATS[name].write
            and kind not in FORMATS[name].holds
            and (FORMATS[name].count_more or not by_tokens)
        ]
        assert f"| {kind} | {what} | {', '.join(lost) or 'none'} |" in lines


def test_a_file_is_no_corpus_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("id,text\n1,cough\n", encoding="utf-8")
    with pytest.raises(InputError, match="use read_corpus"):
        load_corpus(str(tmp_path / "notes.csv"))
