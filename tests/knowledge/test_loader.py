"""Tables of knowledge are refused with every fault and its line."""

from pathlib import Path

import pytest

from rubricate.errors import InputError
from rubricate.knowledge.checking import dead_words, false_examples, find_faults, shadowed_cues
from rubricate.knowledge.loader import DATA, load, read_table, table_names
from rubricate.knowledge.schemas import (
    FOLDERS,
    CueRow,
    GroupRow,
    PatternRow,
    PhraseRow,
    Row,
    ValueRow,
    WordRow,
)
from rubricate.reading.tokens import find_tokens


def forms(text: str) -> list[str]:
    return [token.form for token in find_tokens(text)]


def write(folder: Path, *lines: str) -> Path:
    path = folder / "t.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def lines_of(error: InputError) -> list[int | None]:
    return [fault.line for fault in error.faults]


def test_a_table_is_read_with_what_its_lists_are_for(tmp_path: Path) -> None:
    path = write(tmp_path, "list\tword\twhy", "# t.a: A list.", "t.a\tno", "t.a\tnil\tshorthand")
    table = read_table(path, WordRow)
    assert table.rows("t.a") == [WordRow("t.a", "no"), WordRow("t.a", "nil", "shorthand")]
    assert table.purposes == {"t.a": "A list."}


@pytest.mark.parametrize("head", ["list\tword", "list\twhy\tword", "list,word,why", ""])
def test_other_columns_are_refused(tmp_path: Path, head: str) -> None:
    with pytest.raises(InputError, match="list, word, why") as refused:
        read_table(write(tmp_path, head, "# t.a: A list.", "t.a\tno"), WordRow)
    assert lines_of(refused.value) == [1]


def test_all_faults_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "list\tword\twhy",
        "# t.a: A list.",
        "t.a\tno",
        "t.a\t",  # empty
        "t.a\tno",  # twice
        "t.b\tnil",  # does not say what it is for
        "t.a\tnever",  # in parts
        "t.a\tnot\twhy\tmore",  # too many cells
        "# other.c: Of another file.",
        "other.c\tneg",
        "# t.d: A list without rows.",
    )
    with pytest.raises(InputError) as refused:
        read_table(path, WordRow)
    assert lines_of(refused.value) == [4, 5, 6, 7, 8, 10, 11]
    assert {fault.path for fault in refused.value.faults} == {path}


def test_one_phrase_has_one_kind(tmp_path: Path) -> None:
    path = write(
        tmp_path, "list\tkind\tphrase\twhy", "# t.a: Cues.", "t.a\tx\tno more", "t.a\ty\tno more"
    )
    with pytest.raises(InputError) as refused:
        read_table(path, CueRow)
    assert lines_of(refused.value) == [4]


def test_a_word_may_be_in_two_groups_but_says_one_value(tmp_path: Path) -> None:
    rows = ("# t.a: Parts.", "t.a\tleg\thip", "t.a\tback\thip")
    assert len(read_table(write(tmp_path, "list\tgroup\tword\twhy", *rows), GroupRow).lists) == 1
    with pytest.raises(InputError) as refused:
        read_table(write(tmp_path, "list\tvalue\tform\twhy", *rows), ValueRow)
    assert lines_of(refused.value) == [4]


def test_flags_are_known_and_the_same_for_all_alternatives(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "list\tflags\tpattern\tyes\tno\twhy",
        "t.a\tq\tno\tno\tyes\tdenies",
        "t.b\ti\tno\tno\tyes\tdenies",
        "t.b\t-\tnil\tnil\tyes\tdenies",
    )
    with pytest.raises(InputError) as refused:
        read_table(path, PatternRow)
    assert lines_of(refused.value) == [2, 4]


def test_words_that_no_token_is_are_dead(tmp_path: Path) -> None:
    rows = ("# t.a: A list.", "t.a\tw/o", "t.a\tx-ray", "t.a\tNo")
    table = read_table(write(tmp_path, "list\tword\twhy", *rows), WordRow)
    assert [fault.line for fault in dead_words(table, forms)] == [4, 5]


def test_phrases_that_are_read_alike_hide_each_other(tmp_path: Path) -> None:
    rows = ("# t.a: Cues.", "t.a\tx\tno more", "t.a\ty\tNo  more", "t.a\ty\tno")
    table = read_table(write(tmp_path, "list\tkind\tphrase\twhy", *rows), CueRow)
    assert [fault.line for fault in shadowed_cues(table, forms)] == [4]


def test_a_pattern_keeps_to_its_examples(tmp_path: Path) -> None:
    table = read_table(
        write(
            tmp_path,
            "list\tflags\tpattern\tyes\tno\twhy",
            "t.good\ti\tno ⏎?fever\tNo fever\tfever\tholds",
            "t.lines\t-\t\\nPlan\tHx⏎Plan\tHx Plan\tthe end of a line",
            "t.yes\t-\tfever\tFever\tcough\tdoes not match its example",
            "t.no\t-\tfever\tfever\tno fever\tmatches what it must not",
            "t.at\ta\tfever\tfever again\tno fever\tused at a place",
            "t.whole\tw\tfever?\tfeve\tfever again\tused for a whole text",
            "t.broken\t-\t(fever\tfever\tcough\tno expression",
            "t.gone\t-\t{nowhere.list}\tfever\tcough\tinserts what is not there",
        ),
        PatternRow,
    )
    assert [fault.line for fault in false_examples(table)] == [4, 5, 8, 9]


def test_the_tables_of_the_package_have_no_fault() -> None:
    assert [str(fault) for fault in find_faults(forms)] == []


def test_a_table_is_read_once() -> None:
    for name in table_names(WordRow):
        assert load(WordRow, name) is load(WordRow, name)


@pytest.mark.parametrize("shape", FOLDERS, ids=lambda shape: FOLDERS[shape])
def test_the_page_describes_every_shape(shape: type[Row]) -> None:
    page = (DATA / "README.md").read_text(encoding="utf-8")
    columns = ", ".join(f"`{name}`" for name in shape._fields)
    said = (shape.__doc__ or "").split("\n")[0]
    assert f"| `{FOLDERS[shape]}` | {columns} | {said} |" in page


def test_every_file_is_a_table_of_a_known_shape() -> None:
    known = {DATA / folder for folder in FOLDERS.values()}
    assert {path.parent for path in DATA.rglob("*.tsv")} <= known
    assert PhraseRow in FOLDERS
