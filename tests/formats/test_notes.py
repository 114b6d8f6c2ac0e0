import json
from pathlib import Path

import pytest

from rubricate import (
    Corpus,
    Feature,
    Metadata,
    Note,
    Rubric,
    load_corpus,
    read_corpus,
    with_rubrics,
    write_corpus,
)
from rubricate.errors import InputError
from rubricate.formats import FORMATS, detect_format, read_path
from rubricate.formats.format import Unreadable
from rubricate.formats.notes import (
    LONGEST_VALUE,
    MOST_VALUES,
    NoteFilter,
    keep_where,
    open_notes,
    parse_condition,
    with_only_case,
)
from rubricate.formats.options import ReadOptions


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
    assert [n.id for n in open_notes(path, where=["site=Y"]).notes()] == ["row 3", "3"]


def test_folders_of_texts(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes("é\r\n".encode())
    (tmp_path / "a.txt").write_bytes("é".encode() + b"\xff")
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
    path.write_bytes(
        "note,case,text\n1,c,na\u00efve\n2,c,fièvre\n".encode("latin-1").replace(
            b"\xe8", "è".encode()
        )
    )
    first, second = open_notes(path).notes()
    assert isinstance(first, Unreadable) and (first.id, first.case) == ("1", "c")
    assert second == Note("2", "c", "fièvre")


def test_every_reader_takes_tables_and_texts(tmp_path: Path) -> None:
    (tmp_path / "notes.tsv").write_text("pn_num\tpn_history\tsite\n7\tfever\tA\n\n8\tcough\tB\n")
    corpus = read_corpus(tmp_path / "notes.tsv")
    assert corpus.notes == (
        Note("7", "", "fever", Metadata(site="A")),
        Note("8", "", "cough", Metadata(site="B")),
    )
    assert not corpus.rubrics and not corpus.annotators
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "b.txt").write_text("no fever")
    (tmp_path / "texts" / ".hidden").write_text("x")
    assert detect_format(tmp_path / "texts") == "texts"
    assert read_corpus(tmp_path / "texts").notes == (Note("b", "", "no fever"),)


def test_whole_reading_names_every_note_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_bytes(b"note,text\n1,a\n2\n\n1,\xc3\xa9\n3,\xff\n1,b\n")
    with pytest.raises(InputError) as raised:
        read_corpus(path)
    *unread, again, third = map(str, raised.value.faults)
    assert [("row 3" in one, "'3'" in one) for one in unread] == [
        (True, False),
        (False, True),
    ]
    assert "row 5" in again and "row 7" in third and all("row 2" in one for one in (again, third))


def test_a_named_format_says_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("id,words\n1,a\n")
    for read in (read_path, open_notes):
        with pytest.raises(InputError, match="pn history"):
            read(path, how=ReadOptions("table"))
        for format_, place in (("table", tmp_path), ("texts", path), ("jsonl", tmp_path)):
            with pytest.raises(InputError):
                read(place, how=ReadOptions(format_))
        with pytest.raises(InputError, match="no such file"):
            read(tmp_path / "nowhere", how=ReadOptions("table"))
    assert detect_format(path) == "table"


def test_no_corpus_is_written_as_a_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="parquet"):
        write_corpus(load_corpus("open-notes"), tmp_path / "x", format="table")
    assert not (tmp_path / "x").exists()


def test_streams_say_which_fields_there_are(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text("note,case,text,site\n1,c,a,A\n2,c,b,B\n")
    with pytest.raises(InputError, match=r"did you mean 'site'\? There are: case, site"):
        list(open_notes(path, where=["sight=A"]).notes())
    with pytest.raises(InputError, match="site is one of A, B"):
        list(open_notes(path, where=["site=C"]).notes())


def test_a_line_too_long_to_hold_is_one_unreadable_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rubricate.formats.jsonl.LONGEST_LINE", 80)
    path = tmp_path / "notes.jsonl"
    head = '{"rubricate":1,"rubrics":[],"annotators":[]}'
    fits = '{"note":"a","text":"x"}'.ljust(79)
    path.write_text("\n".join([head, "y" * 200, fits, "z" * 80]), encoding="utf-8")
    found = list(open_notes(path).notes())
    assert [note.id for note in found] == ["line 2", "a", "line 4"]


def test_notes_without_a_case_get_the_only_one() -> None:
    rubric = Rubric("c", (Feature("f", "c", "Fever"),))
    other = Rubric("d", (Feature("g", "d", "Cough"),))
    notes = [Note("1", "", "a"), Note("2", "e", "b"), Unreadable("3", "", "broken")]
    assert [n.case for n in with_only_case(notes, {"c": rubric})] == ["c", "e", ""]
    assert [n.case for n in with_only_case(notes, {"c": rubric, "d": other})] == ["", "e", ""]
    corpus = Corpus((Note("1", "", "a"),), ())
    assert with_rubrics(corpus, [rubric]).notes[0].case == "c"
    with pytest.raises(InputError):
        with_rubrics(corpus, [rubric, other])
    with pytest.raises(InputError):
        with_rubrics(Corpus((Note("1", "", "a"),), (other,)), [rubric])


def test_progress_tells_every_note(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    corpus = load_corpus("open-notes").select(cases=["30"], annotators=["reference"])
    for name in [n for n in FORMATS if FORMATS[n].write and n not in {"parquet"}]:
        seen.clear()
        place = tmp_path / f"{name}.csv"
        write_corpus(corpus, place, format=name, progress=lambda *now: seen.append(now))
        assert seen[0][0] == 0 and seen[-1][0] == seen[-1][1], name
        if name != "submission":
            seen.clear()
            read_corpus(place, format=name, progress=lambda *now: seen.append(now))
            assert seen[0][0] == 0 and seen[-1][0] > 0, name


NOTES = (
    Note("1", "a", "x", Metadata(site="A", age=3)),
    Note("2", "a", "x", Metadata(site="B")),
    Note("3", "b", "x", Metadata(site="A,B", ward="long ward")),
)
CORPUS = Corpus(NOTES, ())


def kept(*where: str) -> list[str]:
    return [note.id for note in keep_where(CORPUS, where).notes]


def test_notes_are_kept_by_metadata_and_case() -> None:
    assert kept("site=A") == ["1"]
    assert kept("site=B,A") == ["1", "2"]
    assert kept("site=A,B") == ["1", "2", "3"]
    assert kept("case=a", "site=B") == ["2"]
    assert kept("age=3") == ["1"]
    assert keep_where(CORPUS, ()) is CORPUS


def refusal(corpus: Corpus, *where: str) -> str:
    with pytest.raises(InputError) as raised:
        keep_where(corpus, where)
    return str(raised.value)


def test_a_field_nobody_has_is_refused_with_the_fields_there_are() -> None:
    message = refusal(CORPUS, "sight=A")
    assert "'sight'" in message and "'site'" in message
    assert message.endswith("There are: age, case, site, ward")
    both = refusal(CORPUS, "zzz=1", "site=A", "qqq=2")
    assert "2 faults" in both and "zzz=1" in both and "qqq=2" in both


def test_fields_of_notes_left_out_by_other_conditions_are_known() -> None:
    message = refusal(CORPUS, "case=a", "ward=long ward")
    assert "no note is left" in message and "None" in message


def test_no_note_left_names_the_first_condition_that_left_none_and_its_values() -> None:
    message = refusal(CORPUS, "case=a", "site=Z", "age=9")
    assert "where site=Z: no note is left; site is one of A, B" in message


@pytest.mark.parametrize(
    ("n", "length", "listed"),
    [
        (MOST_VALUES, 5, True),
        (MOST_VALUES + 1, 5, False),
        (2, LONGEST_VALUE, True),
        (2, LONGEST_VALUE + 1, False),
    ],
)
def test_values_are_listed_only_if_few_and_short(n: int, length: int, listed: bool) -> None:
    values = [f"{i:0{length}d}" for i in range(n)]
    notes = tuple(Note(v, "c", "x", Metadata(field=v)) for v in values)
    message = refusal(Corpus(notes, ()), "field=?")
    assert (values[0] in message) == listed


def test_a_filter_counts_what_each_condition_leaves() -> None:
    chosen = NoteFilter([parse_condition("case=a"), parse_condition("site=A")])
    assert [chosen.keeps(note) for note in NOTES] == [True, False, False]
    assert chosen.left == [2, 1]
    chosen.check()
    NoteFilter([]).check()


def test_a_value_that_is_empty_is_listed_as_such() -> None:
    notes = tuple(Note(v or "x", "c", "x", Metadata(site=v)) for v in ("", "North"))
    assert refusal(Corpus(notes, ()), "site=East").endswith("site is one of (empty), North")


def test_without_any_note_there_are_no_values_to_list() -> None:
    assert refusal(Corpus((), ()), "case=a") == "where case=a: no note is left"
