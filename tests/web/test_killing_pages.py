"""A server that is killed while somebody annotates: what the page shows as saved is kept."""

import os
import random
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from browsing import open_browser, press, wait_for
from workbench import served

from rubricate import Feature, Note, Rubric
from rubricate.corpus import Corpus
from rubricate.store import people, projects
from rubricate.store.chain import verify
from rubricate.study.assignment import Task
from rubricate.web.serving import open_bench

pytestmark = [pytest.mark.browser, pytest.mark.slow]
KILLS = int(os.environ.get("RUBRICATE_KILLS", "4"))
STATUS = "document.getElementById('status').textContent"
SHOWN = """return [document.getElementById('status').textContent, document.body.dataset.work,
  [...document.querySelectorAll('.features button')].map(
    b => [b.dataset.feature, b.querySelector('.state').textContent])]"""


def saved_answers(folder: Path, work: str) -> dict[str, str]:
    """Return the database's rows of a piece of work, read beside the server."""
    file = folder / "workbench" / "workbench.sqlite"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        return dict(connection.execute(
            "SELECT judgement.feature, answer FROM judgement JOIN assignment "
            "ON assignment.note = judgement.note AND assignment.person = judgement.person "
            "WHERE assignment.id = ? AND answer IS NOT NULL", (work,)))  # fmt: skip


def make_work(folder: Path) -> str:
    """Give one annotator many notes; return a link that signs in."""
    rubric = Rubric("c", tuple(Feature(f"f{k}", "c", f"Feature {k}") for k in range(20)))
    notes = tuple(Note(f"n{k}", "c", "no fever") for k in range(5 + KILLS))

    def work(connection: Any) -> str:
        ann = people.add_person(connection, "ann", admin=True)
        project = projects.make_project(connection, "kills", ann)
        people.set_roles(connection, project, ann, ["annotator"], ann)
        projects.add_corpus(connection, project, Corpus(notes, (rubric,)), ann)
        tasks = [Task("ann", n.id, n.id, "batch", "single") for n in notes]
        projects.assign(connection, project, tasks, {"ann": ann}, ann)
        goal = f"/p/{project}/annotate"
        return people.make_link(connection, "enter", ann, target=goal, days=1)

    with open_bench(folder) as bench:
        return f"/enter/{bench.database.write(work)}"


def test_what_a_page_shows_as_saved_outlives_the_server(tmp_path: Path) -> None:
    link, chance, port = make_work(tmp_path), random.Random(0), "0"
    with open_browser() as page:
        for number in range(KILLS):
            with served(tmp_path, "", port) as (process, url):
                if number == 0:
                    port = url.rpartition(":")[2]
                    page.get(url + link)
                    wait_for(page, "!!document.body.dataset.work")
                page.execute_script("dispatchEvent(new Event('online'))")
                wait_for(page, STATUS, "saved")
                press(page, *chance.choices("xujk", k=chance.randint(2, 9)))
                if number % 2:
                    wait_for(page, STATUS, "saved")
                status, work, shown = page.execute_script(SHOWN)
                process.send_signal(signal.SIGKILL)
                process.wait()
            kept = saved_answers(tmp_path, work)
            if status == "saved":
                assert [(f, kept.get(f, "open")) for f, _ in shown] == [tuple(s) for s in shown]
            press(page, "x")  # while there is no server
        with served(tmp_path, "", port):
            page.execute_script("dispatchEvent(new Event('online'))")
            wait_for(page, STATUS, "saved")
            _, work, shown = page.execute_script(SHOWN)
            kept = saved_answers(tmp_path, work)
            assert [(f, kept.get(f, "open")) for f, _ in shown] == [tuple(s) for s in shown]
    with open_bench(tmp_path) as bench:
        assert [one.faults for one in bench.database.read_at_once(verify)] == [[]]
