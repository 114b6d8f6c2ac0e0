import io
import zipfile
from pathlib import Path

import docx
import pytest

from rubricate import Note, read_corpus
from rubricate.errors import InputError
from rubricate.formats import detect_format
from rubricate.formats.limits import ReadLimits
from rubricate.formats.notes import open_notes, understood_as
from rubricate.formats.notes.plain import docx_text


def word_file(path: Path, *lines: str) -> None:
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    document.save(str(path))


def test_subfolders_are_cases(tmp_path: Path) -> None:
    for case in ("Case 1", "Case 2"):
        (tmp_path / case).mkdir()
        word_file(tmp_path / case / "s1.docx", f"note of {case}", "second line\twith a tab")
    (tmp_path / "Case 2" / "s2.txt").write_bytes("naïve".encode("cp1252"))
    (tmp_path / "Case 2" / "~$s1.docx").write_bytes(b"lock")
    (tmp_path / "Case 2" / ".DS_Store").write_bytes(b"x")
    assert detect_format(tmp_path) == "texts"
    told: list[str] = []
    with understood_as(tell=told.append):
        corpus = read_corpus(tmp_path)
    assert corpus.notes == (
        Note("s1-Case 1", "Case 1", "note of Case 1\nsecond line\twith a tab"),
        Note("s1-Case 2", "Case 2", "note of Case 2\nsecond line\twith a tab"),
        Note("s2-Case 2", "Case 2", "naïve"),
    )
    assert len(told) == 1 and told[0].startswith("3 notes of 2 cases")


def test_other_files_are_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fever")
    (tmp_path / "plan.pdf").write_bytes(b"%PDF")
    told: list[str] = []
    with understood_as(case="c", tell=told.append):
        assert read_corpus(tmp_path).notes == (Note("a", "c", "fever"),)
    assert "plan.pdf" in told[0]


def test_tables_and_boxes_of_a_word_file_are_read_once_and_struck_out_words_are_not() -> None:
    document = docx.Document()
    document.add_paragraph("first")
    document.add_table(1, 2).cell(0, 1).text = "in a cell"
    buffer = io.BytesIO()
    document.save(buffer)
    with zipfile.ZipFile(buffer) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    struck = (
        b'<w:p><w:r><w:t>kept</w:t></w:r><w:del w:id="1" w:author="x"><w:r><w:delText>gone'
        b'</w:delText></w:r></w:del><w:moveFrom w:id="2" w:author="x"><w:r><w:t>moved</w:t>'
        b"</w:r></w:moveFrom></w:p>"
    )
    body = parts["word/document.xml"].replace(b"<w:sectPr", struck + b"<w:sectPr", 1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (parts | {"word/document.xml": body}).items():
            archive.writestr(name, content)
    assert docx_text(buffer.getvalue(), Path("a.docx")).split("\n") == [
        "first", "", "in a cell", "kept",
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + b"\0" * 18, b"plain text"])
def test_what_is_no_word_file_is_one_unreadable_note(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(content)
    (tmp_path / "b.txt").write_text("fever")
    bad, good = open_notes(tmp_path).notes()
    assert "docx" in bad.reason and good == Note("b", "", "fever")  # type: ignore[union-attr]


def test_a_word_file_that_becomes_huge_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" + b" " * 20_000_000 + b"</a>")
    (tmp_path / "a.docx").write_bytes(buffer.getvalue())
    with pytest.raises(InputError, match="unpacked"):
        read_corpus(tmp_path, limits=ReadLimits(unpacked_bytes=1_000_000))
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(InputError, match="safety"):
        read_corpus(tmp_path)
