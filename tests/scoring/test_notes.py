import json
from pathlib import Path

import pytest

from rubricate import Note, load_corpus, write_corpus
from rubricate.errors import InputError
from rubricate.scoring import open_notes
from rubricate.scoring.note_streams import Unreadable


def test_streams_give_what_the_corpus_has(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["30"])
    path = tmp_path / "notes.jsonl"
    write_corpus(corpus, path, format="jsonl")
    source = open_notes(path)
    assert source.streamed
    assert tuple(source.notes()) == corpus.notes
    assert source.rubrics == corpus.rubrics
    assert list(source.notes()) == list(source.notes())


def test_every_other_format_is_read_whole(tmp_path: Path) -> None:
    corpus = load_corpus("open-notes").select(cases=["30"], annotators=["reference"])
    write_corpus(corpus, tmp_path / "brat", format="brat")
    source = open_notes(tmp_path / "brat")
    assert not source.streamed
    assert [note.text for note in source.notes()] == [note.text for note in corpus.notes]


def test_broken_lines_become_unreadable_notes(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    head = {"rubricate": 1, "rubrics": [], "annotators": []}
    lines = [
        json.dumps(head).encode(),
        b'{"note":"a","case":"c","text":"fever"}',
        b'{"note":"b","case":"c","text":5}',
        b"not json",
        b"[1]",
        b'{"note":"\xff"}',
        b"",
        b'{"note":"d","case":"c","text":"x","metadata":{"a":[]}}',
        b'{"note":"e","case":"c"}',
    ]
    path.write_bytes(b"\n".join(lines))
    found = list(open_notes(path).notes())
    assert found[0] == Note("a", "c", "fever")
    assert [note.id for note in found[1:]] == ["b", "line 4", "line 5", "line 6", "d", "e"]
    assert all(isinstance(note, Unreadable) and note.reason for note in found[1:])


def test_tables_of_notes(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(
        '\ufeffnote,case,text,site\n1,c,"a, b\r\nc",X\n2,c\n3,d,"'.encode()
        + b"x" * 200_000
        + b'",Y\n'
    )
    found = list(open_notes(path).notes())
    assert found[0] == Note("1", "c", "a, b\r\nc", found[0].metadata)  # type: ignore[union-attr]
    assert isinstance(found[1], Unreadable)
    assert len(found[2].text) == 200_000  # type: ignore[union-attr]
    assert [n.id for n in open_notes(path, where=["site=Y"]).notes()] == ["row 2", "3"]


def test_folders_of_texts(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes("é\r\n".encode())
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe")
    first, second = open_notes(tmp_path).notes()
    assert isinstance(first, Unreadable)
    assert second == Note("b", "", "é\r\n")


def test_conditions_pick_notes_and_are_checked() -> None:
    assert sum(1 for _ in open_notes("open-notes", where=["case=0", "split=test"]).notes()) == 20
    with pytest.raises(InputError):
        open_notes("open-notes", where=["split"])
    with pytest.raises(InputError):
        open_notes("no-such-file.jsonl")


@pytest.mark.parametrize("row", ['2,c,"chest pain\n3,c,no fever\n', '2,c,"a "b" c"\n'])
def test_a_quote_that_is_not_closed_is_refused(tmp_path: Path, row: str) -> None:
    path = tmp_path / "notes.csv"
    path.write_text(f'note,case,text\n1,c,"a\nb"\n{row}')
    with pytest.raises(InputError) as raised:
        list(open_notes(path).notes())
    assert raised.value.faults[0].line == 4
    assert "chest" not in str(raised.value)


def test_rows_of_a_table_that_are_not_utf8_are_not_repaired(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes("note,case,text\n1,c,na\u00efve\n2,c,fever\n".encode("latin-1"))
    first, second = open_notes(path).notes()
    assert isinstance(first, Unreadable) and (first.id, first.case) == ("1", "c")
    assert second == Note("2", "c", "fever")
