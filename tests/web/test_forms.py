"""The plain pages in a real browser: from the first link to a project with people."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import open_browser, wait_for
from workbench import CORPUS

from rubricate import write_corpus


@pytest.mark.browser
def test_setting_up_by_forms(tmp_path: Path) -> None:
    write_corpus(CORPUS, tmp_path / "notes.jsonl", format="jsonl")
    command = [
        sys.executable,
        "-P",
        "-m",
        "rubricate",
        "serve",
        str(tmp_path),
        "--port",
        "0",
        "--json",
    ]
    with (
        open_browser() as browser,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        try:
            said = json.loads(process.stdout.readline())

            def send(then: str, **values: str) -> None:
                for name, value in values.items():
                    browser.find_element("name", name).send_keys(value)
                form = browser.find_element("name", next(iter(values))).get_property("form")
                form.find_element("css selector", "button").click()
                wait_for(browser, "document.title.split(' ')[0]", then)

            browser.get(said["links"]["setup"])
            send("Projects", name="ada", password="four plain words here")
            browser.get(f"{said['url']}/projects/new")
            send("People", notes=str(tmp_path / "notes.jsonl"), name="Exam")
            browser.find_element("css selector", "input[name=annotator]").click()
            send("People", name="bob")
            wait_for(browser, "document.querySelectorAll('.alert code').length", 1)
            assert "/invite/" in browser.find_element("css selector", ".alert code").text
            browser.find_element("css selector", "form[action='/signout'] button").click()
            wait_for(browser, "document.title.split(' ')[0]", "Sign")
            send("Projects", name="ada", password="four plain words here")
            assert "Exam" in browser.page_source
        finally:
            process.terminate()
