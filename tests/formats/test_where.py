import pytest

from rubricate import Corpus, Metadata, Note
from rubricate.errors import InputError
from rubricate.formats.where import (
    LONGEST_VALUE,
    MOST_VALUES,
    NoteFilter,
    keep_where,
    parse_condition,
)

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
    assert "--where site=Z: no note is left; site is one of A, B" in message


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


def test_without_any_note_there_are_no_values_to_list() -> None:
    assert refusal(Corpus((), ()), "case=a") == "--where case=a: no note is left"
