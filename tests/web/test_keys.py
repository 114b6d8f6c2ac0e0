"""Work by keys alone in a real browser: undo over notes, review, notes without text; focus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import faults_of_access, open_browser, press, set_width, wait_for
from workbench import CORPUS, Small, served, small_project

from rubricate import Note, write_corpus
from rubricate.corpus import Corpus
from rubricate.scoring import ScoreSettings, UnsureRange, score_notes
from rubricate.store import people, projects, reviewing
from rubricate.study.assignment import Task
from rubricate.web.serving import open_bench

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CONTROL, SHIFT, ENTER, ESCAPE, TAB, RIGHT = (
    "\ue009", "\ue008", "\ue007", "\ue00c", "\ue004", "\ue014"
)  # fmt: skip
STATES = "[...document.querySelectorAll('.features:not(.queue) .state')].map(e => e.textContent)"
SAID = "document.querySelector('.said').textContent"
OPEN = "document.body.dataset.open"
WORK = "document.body.dataset.work"
NOTE = "document.getElementById('note-id').textContent"
#: Whether focus is somewhere, on something that is to be seen and that shows it.
FOCUS = """(e => e && e !== document.body && e.getClientRects().length > 0 && (
  getComputedStyle(e).outlineStyle !== 'none'
  || getComputedStyle(e.closest('.paper') ?? e).boxShadow !== 'none'))(document.activeElement)"""
BLANK = Note("blank", "c", " \n")


class Place:
    """A small project, as annotator and as reviewer."""

    def __init__(self, browser: Any, url: str, links: dict[str, str]) -> None:
        self.browser, self.url, self.links = browser, url, links

    def enter(self, role: str, ready: str) -> Any:
        self.browser.get(f"{self.url}/enter/{self.links[role]}")
        wait_for(self.browser, f"!!{ready}")
        return self.browser

    def ask(self, path: str) -> Any:
        """Return the server's answers to the person who is signed in."""
        script = "fetch('/api/v1' + arguments[0]).then(r => r.json()).then(arguments[1])"
        return self.browser.execute_async_script(script, path)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    corpus = Corpus((*CORPUS.notes, BLANK), CORPUS.rubrics)
    write_corpus(corpus, tmp_path / "notes.jsonl", format="jsonl")
    settings = ScoreSettings(matcher="exact", unsure=UnsureRange(0.0, 1.0), any_text=True)
    run = score_notes(tmp_path / "notes.jsonl", tmp_path / "scores", settings=settings).folder
    with open_bench(tmp_path) as bench:
        small: Small = small_project(bench.database)

        def work(connection: Any) -> dict[str, str]:
            boss, ann = small.who["manager"].person, small.who["ann"].person
            projects.add_notes(connection, small.project, [BLANK], boss)
            task = Task("ann", BLANK.id, BLANK.id, "batch", "single")
            projects.assign(connection, small.project, [task], {"ann": ann}, boss)
            own = reviewing.add_run(
                connection, small.project, boss, folder=run, name="scores", audit=1.0, seed=0,
                texts={note.id: note.text for note in corpus.notes},
                inputs={"folder": "scores", "notes": "notes.jsonl"},
            )  # fmt: skip
            pages = {"ann": "annotate", "reviewer": f"review/{own}"}
            return {
                who: people.make_link(connection, "enter", small.who[who].person, days=1,
                                      target=f"/p/{small.project}/{page}")
                for who, page in pages.items()
            }  # fmt: skip

        links = bench.database.write(work)
    with served(tmp_path, "") as (_, url), open_browser() as browser:
        set_width(browser, 1280)
        yield Place(browser, url, links)


def test_undo_goes_back_to_the_finished_note(place: Place) -> None:
    page = place.enter("ann", WORK)
    first = page.execute_script(f"return {WORK}")
    press(page, "x", "u")
    wait_for(page, f"{WORK} !== '{first}'")
    second = page.execute_script(f"return {WORK}")
    press(page, "z", holding=CONTROL)
    wait_for(page, WORK, first)
    wait_for(page, f"{SAID}.includes('is open again')")
    assert place.ask(f"/assignments/{first}")["state"] == "started"
    wait_for(page, f"{STATES}.join()", "absent,unsure")  # nothing that was judged is lost
    press(page, "z", holding=CONTROL)
    wait_for(page, f"{STATES}.join()", "absent,open")
    press(page, "x")
    wait_for(page, WORK, second)
    assert place.ask(f"/assignments/{first}")["state"] == "done"
    page.find_element("id", "undo").click()  # the button does the same
    wait_for(page, WORK, first)
    press(page, ENTER, holding=CONTROL)
    wait_for(page, WORK, second)
    assert place.ask(f"/assignments/{first}")["state"] == "done"


def test_a_note_without_text_needs_one_answer_and_the_last_note_can_be_undone(
    place: Place,
) -> None:
    page = place.enter("ann", WORK)
    for _ in CORPUS.notes:
        work = page.execute_script(f"return {WORK}")
        press(page, "x", "x")
        wait_for(page, f"{WORK} !== '{work}'")
    wait_for(page, "document.querySelector('.dock').textContent.includes('no text')")
    blank = page.execute_script(f"return {WORK}")
    press(page, "x")
    wait_for(page, WORK, "")  # all is done
    assert place.ask(f"/assignments/{blank}")["state"] == "done"
    press(page, "z", holding=CONTROL)
    wait_for(page, WORK, blank)
    wait_for(page, f"{STATES}.join()", "absent,absent")
    press(page, "z", holding=CONTROL)  # one answer is one step
    wait_for(page, f"{STATES}.join()", "open,open")
    page.find_element("css selector", ".dock [data-action=absent]").click()
    wait_for(page, WORK, "")
    page.find_element("id", "undo-last").click()
    wait_for(page, WORK, blank)


def opened(page: Any, *keys: str, holding: str = "") -> str:
    """Press keys that lead to another item, and return the one that was left."""
    before: str = page.execute_script(f"return {OPEN}")
    press(page, *keys, holding=holding)
    wait_for(page, f"{OPEN} !== '{before}'")
    assert page.execute_script(f"return {FOCUS}"), keys
    return before


def test_review_by_keys_alone(place: Place, frontend: Path) -> None:
    page = place.enter("reviewer", OPEN)
    wait_for(page, "document.body.dataset.ready", "yes")
    press(page, "?")
    help_ = page.execute_script("return document.querySelector('dialog').textContent")
    for action in ("next", "previous", "skip", "accept", "absent", "contradicted", "mark the evid",
                   "mark these words", "comment", "save your own", "to the list",
                   "to what is listed", "all features"):  # fmt: skip
        assert action in help_, action
    assert faults_of_access(page, frontend) == []
    # Changing a key leaves focus on its button.
    press(page, TAB, ENTER)
    press(page, "ö")
    wait_for(page, "document.activeElement.dataset.change ?? ''", "accept")
    press(page, ENTER, "a", ESCAPE)
    wait_for(page, "!document.querySelector('dialog')")
    first = opened(page, "j")
    opened(page, "k")
    wait_for(page, OPEN, first)
    opened(page, "s")
    assert place.ask(f"/items/{first}")["state"] == "open"
    # A comment, then accept.
    press(page, "c", "seen", ESCAPE)
    while page.execute_script(f"return {NOTE}") == "blank":
        opened(page, "s")
    item = opened(page, "a")
    saved = place.ask(f"/items/{item}")["correction"]
    assert saved["comment"] == "seen"
    # Words chosen by keys, first as evidence, then as what says otherwise.
    for key, found, holding in ((ENTER, True, CONTROL), ("d", False, "")):
        while page.execute_script(f"return {NOTE}") == "blank":
            opened(page, "s")
        press(page, "e")
        assert page.execute_script(f"return {FOCUS}")
        press(page, RIGHT)
        press(page, RIGHT, holding=SHIFT)
        press(page, ENTER)
        wait_for(page, "document.querySelectorAll('.marks li').length", 1)
        item = opened(page, key, holding=holding)
        saved = place.ask(f"/items/{item}")["correction"]
        assert (saved["found"], len(saved["marks" if found else "against"])) == (found, 1)
    # Buttons that are pressed by keys keep focus, or hand it to the note.
    press(page, "i")
    wait_for(page, "document.querySelector('details').open")
    assert page.execute_script(f"return {FOCUS}")
    press(page, "l")
    wait_for(page, "!!document.activeElement.closest('.queue')")
    press(page, "f")
    wait_for(page, "document.activeElement.name", "state")
    press(page, ESCAPE)
    wait_for(page, "document.activeElement.className", "text")


def test_a_note_without_text_is_reviewed_by_one_answer(place: Place) -> None:
    page = place.enter("reviewer", OPEN)
    left = "document.getElementById('place').textContent"
    wait_for(page, left, "8 open, 0 decided")
    while page.execute_script(f"return {NOTE}") != "blank":
        opened(page, "s")
    press(page, "a")  # the machine decided nothing here
    wait_for(page, f"{SAID}.includes('made no decision')")
    opened(page, "x")
    wait_for(page, left, "6 open, 2 decided")
    assert page.execute_script(f"return {NOTE}") != "blank"
    for _ in range(5):
        opened(page, "x")
    press(page, "x")
    wait_for(page, left, "0 open, 8 decided")
    assert page.execute_script(f"return {FOCUS}")
    press(page, "s")
    wait_for(page, SAID, "no other one is open")
