"""A rubric that comes again: judgements stay with the feature that was judged."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from workbench import Small, decide_first, judge_all, small_project

from rubricate import Feature, Note, Rubric
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.formats.rubric import read_rubric_file
from rubricate.store import annotating, comparing, projects, rubrics
from rubricate.store import tables as t
from rubricate.store.database import Database


def rubric_of(tmp_path, *texts: str, name: str = "list"):
    """Return the content of a table without ids, the usual kind."""
    path = tmp_path / f"{name}.csv"
    path.write_text("Item\n" + "".join(f'"{text}"\n' for text in texts), encoding="utf-8")
    found = read_rubric_file(path)
    return found.for_cases(["c"]), found.made


def compare(database: Database, small: Small, given, pairs=None):
    found, made = given
    return database.read(
        lambda c: comparing.compare_rubrics(c, small.project, found, pairs, made=made)
    )


def keep(database: Database, small: Small, given, pairs=None, **more: bool) -> None:
    found, made = given
    boss = small.who["manager"].person

    def work(connection) -> None:
        compared = comparing.compare_rubrics(connection, small.project, found, pairs, made=made)
        own = [one.rubric for one in compared]
        rubrics.add_rubrics(connection, small.project, own, boss, **more)

    database.write(work)


def shapes(compared) -> list[tuple[str, str]]:
    return [(c.state, (c.now or c.was).id) for c in compared[0].changes]


@pytest.fixture
def judged(database: Database, tmp_path) -> Small:
    """A project whose rubric came without ids, with judgements and a decision."""
    small = small_project(database)
    judge_all(database, small)
    decide_first(database, small)
    return small


def judged_features(database: Database, small: Small) -> set[str]:
    own = select(t.judgement.c.feature).where(t.judgement.c.project == small.project)
    return set(database.read(lambda c: c.scalars(own).all()))


def test_reworded_features_keep_their_judgements(
    database: Database, judged: Small, tmp_path
) -> None:
    given = rubric_of(tmp_path, "High fever", "Pain in the chest", "Night sweats")
    compared = compare(database, judged, given)
    assert shapes(compared) == [
        ("reworded", "f1"),
        ("reworded", "f2"),
        ("new", given[0][0].features[2].id),
    ]
    counts = database.read(lambda c: comparing.judged_counts(c, judged.project))
    [shown] = comparing.show_comparison(compared, counts)
    assert [(f["judgements"], f["decisions"]) for f in shown["features"]] == [
        (6, 1),
        (6, 0),
        (0, 0),
    ]
    assert compare(database, judged, given)[0].version == 1  # nothing changed
    keep(database, judged, given)
    me = judged.who["ann"]
    queue = database.read(lambda c: annotating.own_queue(c, me, judged.project))["assignments"]
    work = database.read(partial(annotating.open_work, me=me, assignment=queue[0]["id"]))
    assert {one: was["text"] for one, was in work["again"].items()} == {
        "f1": "Fever", "f2": "Chest pain"}  # fmt: skip
    assert [f["text"] for f in work["rubric"]["features"]] == [f.text for f in given[0][0]]
    assert judged_features(database, judged) <= {f["id"] for f in work["rubric"]["features"]}
    # The same file once more is the same rubric, whatever its ids are made of.
    again = rubric_of(tmp_path, "High fever", "Pain in the chest", "Night sweats", name="other")
    assert not compare(database, judged, again)[0].is_other


def test_what_is_new_takes_no_id_that_was_ever_there(
    database: Database, judged: Small, tmp_path
) -> None:
    first = rubric_of(tmp_path, "Fever", "Chest pain", "Night sweats", name="c")
    keep(database, judged, first)
    assert shapes(compare(database, judged, first))[2] == ("same", "c-night-sweats")
    keep(database, judged, rubric_of(tmp_path, "Fever", "Chest pain", "Sweats at night", name="c"))
    both = rubric_of(tmp_path, "Fever", "Chest pain", "Sweats at night", "Night-sweats", name="c")
    found = shapes(compare(database, judged, both))
    assert found[2] == ("same", "c-night-sweats")
    assert found[3] == ("new", "c-night-sweats-2")


def test_a_row_that_is_inserted_moves_no_judgement(database: Database, tmp_path) -> None:
    small = small_project(database)
    found = []
    for texts in (["Fever", "Cough", "Rash"], ["Weight loss", "Fever", "Dry cough", "Rash"]):
        path = tmp_path / "numbers.csv"
        lines = [f"{k},{text}" for k, text in enumerate(texts, start=1)]
        path.write_text("\n".join(["No,Item", *lines]), encoding="utf-8")
        file = read_rubric_file(path)
        found.append((file.for_cases(["d"]), file.made))
    keep(database, small, found[0])
    [compared] = compare(database, small, found[1])
    was = {c.now.text: c.was and c.was.text for c in compared.changes if c.now}
    assert was == {"Weight loss": None, "Fever": "Fever", "Dry cough": "Cough", "Rash": "Rash"}


def test_the_manager_pairs_otherwise(database: Database, judged: Small, tmp_path) -> None:
    given = rubric_of(tmp_path, "Raised temperature", "Chest pain")
    new = given[0][0].features[0].id
    assert [c.state for c in compare(database, judged, given)[0].changes] == ["new", "same", "gone"]
    assert shapes(compare(database, judged, given, {new: "f1"}))[0] == ("reworded", "f1")
    for pairs in ({new: "f9"}, {"f9": "f1"}, {new: "f1", given[0][0].features[1].id: "f1"}):
        with pytest.raises(InputError):
            compare(database, judged, given, pairs)
    keep(database, judged, given, {new: ""}, may_leave=True)
    assert database.read(lambda c: rubrics.left_out(c, judged.project))[0]["judgements"] == 6
    # What left comes back: by its words, or by a pair.
    assert shapes(compare(database, judged, rubric_of(tmp_path, "Fever", "Chest pain")))[0] == (
        "same", "f1")  # fmt: skip
    keep(database, judged, given, {new: "f1"}, may_leave=True)
    assert database.read(lambda c: rubrics.left_out(c, judged.project)) == []


def test_ids_that_are_given_are_trusted_by_the_interface(database: Database, judged: Small) -> None:
    other = Rubric("c", (Feature("f2", "c", "Fever"), Feature("f1", "c", "Chest pain")))
    [compared] = database.read(lambda c: comparing.compare_rubrics(c, judged.project, [other]))
    assert [c.was.text for c in compared.changes] == ["Chest pain", "Fever"]


def test_notes_never_change_a_rubric_that_is_there(database: Database, judged: Small) -> None:
    boss = judged.who["manager"].person
    other = Rubric("c", (Feature("zz", "c", "Something else"),))
    more = Corpus((Note("late", "c", "text"),), (other,))
    database.write(lambda c: projects.add_corpus(c, judged.project, more, boss))
    assert database.read(lambda c: rubrics.rubric_of(c, judged.project, "c"))[0] == 1


@given(
    st.lists(st.text("abcdefg ", min_size=1).filter(str.strip), min_size=1, max_size=6),
    st.lists(st.text("abcdefg ", min_size=1).filter(str.strip), min_size=1, max_size=6),
)
def test_each_former_feature_is_found_at_most_once(before: list[str], after: list[str]) -> None:
    former = {f"o{k}": Feature(f"o{k}", "c", text) for k, text in enumerate(before)}
    new = [Feature(f"n{k}", "c", text) for k, text in enumerate(after)]
    found = comparing.match_features(former, former.keys(), new, {}, {f.id for f in new})
    assert len(set(found.values())) == len(found)
    assert found.keys() <= {f.id for f in new}
    # Whoever has the words of a former feature that nobody else has is that feature.
    for one in new:
        same = [o.id for o in former.values() if o.text.split() == one.text.split()]
        if same and [n.text.split() for n in new].count(one.text.split()) == 1:
            assert found[one.id] in same
