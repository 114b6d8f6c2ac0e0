"""The plain pages in a real browser: from the first link to notes in annotators' hands."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import faults_of_access, open_browser, set_width, wait_for
from workbench import CORPUS

from rubricate import write_corpus

PASSWORD = "four plain words here"
TITLE = "document.title.split(' ')[0]"


class Forms:
    """A browser on a new server, as a telephone in dark shows it."""

    def __init__(self, browser: Any, url: str, tools: Path) -> None:
        self.browser, self.url, self.tools = browser, url, tools
        self.faults: list[str] = []

    def see(self, title: str) -> None:
        """Wait for a page, and note what is wrong with it."""
        wait_for(self.browser, TITLE, title)
        faults = faults_of_access(self.browser, self.tools)
        if not self.browser.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        ):
            faults.append("wider than the screen")
        self.faults += [f"{title}: {one}" for one in faults]

    def go(self, place: str, title: str) -> None:
        self.browser.get(place if place.startswith("http") else self.url + place)
        self.see(title)

    def send(self, then: str, *ticked: str, form: str = "main form", **values: str) -> None:
        """Fill in and send a form."""
        found = self.browser.find_element("css selector", form)
        for name in ticked:
            found.find_element("name", name).click()
        for name, value in values.items():
            found.find_element("name", name).send_keys(value)
        found.find_element("css selector", "button").click()
        self.see(then)

    def sign_out(self) -> None:
        self.browser.find_element("css selector", "form[action='/signout'] button").click()
        self.see("Sign")


@pytest.fixture
def forms(tmp_path: Path, frontend: Path) -> Iterator[Forms]:
    command = [sys.executable, "-P", "-m", "rubricate", "serve", str(tmp_path), "--port", "0",
               "--json"]  # fmt: skip
    with (
        open_browser() as browser,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        try:
            said = json.loads(process.stdout.readline())
            set_width(browser, 390)
            dark = {"name": "prefers-color-scheme", "value": "dark"}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [dark]})
            made = Forms(browser, said["url"], frontend)
            made.go(said["links"]["setup"], "Welcome")
            yield made
        finally:
            process.terminate()


@pytest.mark.browser
def test_from_the_first_link_to_notes_in_annotators_hands(forms: Forms, tmp_path: Path) -> None:
    browser = forms.browser
    write_corpus(CORPUS, tmp_path / "notes.jsonl", format="jsonl")
    forms.send("Projects", name="ada", password=PASSWORD)
    forms.go("/users", "Users")
    forms.go("/projects/new", "New")
    forms.send("People", name="Exam", notes=str(tmp_path / "notes.jsonl"))
    forms.send("People", "annotator", form="#add", name="bob")
    invited = browser.find_element("css selector", ".alert code").text
    assert invited.startswith(forms.url)
    forms.send("People", "annotator")  # ada, in the first line, annotates as well
    forms.send("People", "senior ada", form="form[action$='/assign']")
    assert "6 assignments" in browser.page_source
    assert "dashboard" not in browser.find_element("css selector", "nav").text
    forms.sign_out()
    forms.go(invited, "Welcome")
    forms.send("Projects", password=PASSWORD)
    browser.find_element("link text", "annotate").click()
    wait_for(browser, "!!document.body.dataset.work")
    forms.see("Annotate")
    forms.go(invited, "Not")  # an invitation works once
    forms.go("/", "Projects")
    forms.sign_out()
    forms.send("Projects", name="ada", password=PASSWORD)
    assert "Exam" in browser.page_source
    assert forms.faults == []
