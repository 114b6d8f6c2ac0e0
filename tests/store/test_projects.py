"""Sharing notes among annotators: shares, seniors, sites."""

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import select
from workbench import RUBRIC

from rubricate import Note
from rubricate.corpus import Corpus
from rubricate.errors import InputError
from rubricate.rubric import Metadata
from rubricate.store import people, projects
from rubricate.store import tables as t
from rubricate.store.database import Database
from rubricate.store.rubrics import add_rubrics
from rubricate.study.settings import AnnotatorSettings

SITES = ("north", "south")
PEOPLE = [AnnotatorSettings(f"{site} {k}", senior=not k, site=site)
          for site in SITES for k in range(3)]  # fmt: skip


def given(database: Database, **more: Any) -> dict[str, list[str]]:
    """Share forty notes of two sites out, and return who has each."""

    def work(connection: Any) -> dict[str, list[str]]:
        boss = people.add_person(connection, "boss")
        project = projects.make_project(connection, "p", boss)
        for one in PEOPLE:
            own = people.add_person(connection, one.id)
            people.set_roles(connection, project, own, ["annotator"], boss)
        add_rubrics(connection, project, [RUBRIC], boss)
        notes = [Note(f"n{i}", "c", "fever", Metadata({"clinic": SITES[i % 2]})) for i in range(40)]
        projects.add_notes(connection, project, notes, boss)
        settings = {"double_share": 0.5, "per_note": 2, "seed": 1, **more}
        who = settings.pop("who", PEOPLE)
        projects.assign_all(connection, project, who, boss, **settings)
        rows = connection.execute(
            select(t.note.c.id, t.person.c.name)
            .join(t.assignment, t.assignment.c.note == t.note.c.number)
            .join(t.person, t.assignment.c.person == t.person.c.id)
        )
        found: dict[str, list[str]] = {}
        for note, name in rows:
            found.setdefault(note, []).append(name)
        return found

    return database.write(work)


def test_every_pair_has_one_senior_and_all_have_about_as_much(database: Database) -> None:
    found = given(database)
    assert Counter(map(len, found.values())) == {1: 20, 2: 20}
    assert all(sum(name.endswith("0") for name in who) == 1
               for who in found.values() if len(who) == 2)  # fmt: skip
    load = Counter(name for who in found.values() for name in who)
    assert max(load.values()) - min(load.values()) <= 1


def test_notes_go_to_annotators_of_their_site(database: Database) -> None:
    found = given(database, site="clinic", double_share=1.0, per_note=3)
    assert {note: {name.split()[0] for name in who} for note, who in found.items()} == {
        f"n{i}": {SITES[i % 2]} for i in range(40)
    }
    assert all(len(who) == 3 for who in found.values())


def test_a_site_without_annotators_is_named(database: Database) -> None:
    with pytest.raises(InputError, match="south"):
        given(database, site="clinic", who=PEOPLE[:3])


def test_what_keeps_notes_from_being_shared_out_is_said_in_words(database: Database) -> None:
    with pytest.raises(InputError, match="nobody annotates yet") as caught:
        given(database, who=[], double_share=2)
    assert len(caught.value.faults) == 1  # no site lacks anybody where there is nobody
    with pytest.raises(InputError) as caught:
        given(database, double_share=2, per_note=1)
    assert len(caught.value.faults) == 2


def test_notes_that_share_an_id_or_a_name_are_refused_with_their_places(
    database: Database,
) -> None:
    def work(connection: Any) -> set[str]:
        boss = people.add_person(connection, "boss")
        project = projects.make_project(connection, "p", boss)

        def corpus(*ids: str) -> Corpus:
            return Corpus(tuple(Note(one, "c", "fever") for one in ids), (RUBRIC,))

        projects.add_corpus(connection, project, corpus("a"), boss, rename=True)
        notes = [Note(one, "c", "fever") for one in ("b", "x", "b", "a", "b", "N0001")]
        with pytest.raises(InputError) as raised:
            projects.add_notes(connection, project, notes, boss)
        assert [str(fault) for fault in raised.value.faults] == [
            "note 3 has the same id as note 1, 'b': give every note its own",
            "note 5 has the same id as note 1, 'b': give every note its own",
            "note 'a' is there already",
            "annotators know another note as 'N0001': hide the ids",
        ]
        projects.add_corpus(connection, project, corpus("N0003"), boss)
        projects.add_corpus(connection, project, corpus("c", "d"), boss, rename=True)
        return set(connection.scalars(select(t.note.c.shown_id)))

    assert database.write(work) == {"N0001", "N0003", "N0004", "N0005"}
