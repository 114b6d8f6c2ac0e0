"""Make the pictures of docs/workbench.md: the demonstration as each role sees it.

Run: python scripts/workbench_tour.py [--out docs/workbench]
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browsing import drag, open_browser, press, set_width, wait_for

ROOT = Path(__file__).parents[1]
CONTROL, SHIFT = "\ue009", "\ue008"
#: What is marked for the features of the first note, in order; nothing is an absence.
MARKED = ("58 yo", "M", "chest, midsternal, feels tight", "3 wks", "brought on by stairs",
          "goes away if he sits down", "", "goes up to L jaw", "shortnes of breth", "sweaty",
          "HTN", "quit statin", "smokes 1 ppd", "dad had fatal heart attack")  # fmt: skip


def find(page: Any, words: str) -> tuple[int, int]:
    """Return the position of words in the open note."""
    text = page.execute_script("return document.querySelector('.text').textContent")
    start = text.index(words)
    return start, start + len(words)


def annotate(page: Any) -> None:
    """Judge some features of the first note: marks, a fragment, an absence."""
    wait_for(page, "!!document.body.dataset.work")
    for words in MARKED:
        if words:
            drag(page, *find(page, words))
        else:
            press(page, "x")
    drag(page, *find(page, "denies palps"), holding=CONTROL)
    drag(page, *find(page, "denies"), holding=CONTROL)
    drag(page, *find(page, "fainting"), holding=CONTROL + SHIFT)
    wait_for(page, "document.getElementById('status').textContent", "saved")


def decide(page: Any) -> None:
    """Go to something with marks."""
    wait_for(page, "!!document.body.dataset.open")
    while not page.execute_script("return document.querySelector('.mark')"):
        here = page.execute_script("return document.body.dataset.open")
        press(page, "j")
        wait_for(page, f"document.body.dataset.open !== '{here}'")


def watch(page: Any) -> None:
    """Wait for the live counts."""
    wait_for(page, "document.body.dataset.ready", "yes")
    wait_for(page, "document.getElementById('live').textContent.startsWith('live')")


#: Gives the first feature other words, as a manager would by a file, and shows the rubric.
CHANGE = """
const [done] = arguments, project = document.body.dataset.project;
const path = `/api/v1/projects/${project}/rubrics`, head = {'Content-Type': 'application/json'};
fetch(path).then(r => r.json()).then(({rubrics: [{case: name, title, features}]}) => {
  features[0].text += ' OR late fifties';
  return fetch(path, {method: 'POST', headers: head,
    body: JSON.stringify({rubrics: [{case: name, title, features}]})});
}).then(() => { location.assign(`/p/${project}/rubric`); done(); });
"""


def change(page: Any) -> None:
    """Change the words of a feature, and open the page that tells so."""
    watch(page)
    page.execute_async_script(CHANGE)
    wait_for(page, "document.title.split(' ')[0]", "Rubric")


def look(page: Any) -> None:
    """Wait for the note."""
    wait_for(page, "!!document.body.dataset.work")


def keys(page: Any) -> None:
    """Open the key map."""
    look(page)
    press(page, "?")


#: Picture → role, width and height, dark or not, what is done first.
PICTURES: dict[str, tuple[str, int, int, bool, Callable[[Any], None]]] = {
    "annotate": ("annotator", 1000, 580, False, annotate),
    "annotate-telephone": ("annotator", 390, 700, True, look),
    "keys": ("annotator", 1000, 580, False, keys),
    "curate": ("curator", 1000, 540, False, decide),
    "review": ("reviewer", 1000, 580, False, decide),
    "dashboard": ("manager", 1000, 580, False, watch),
    "rubric": ("manager", 1000, 540, False, change),
}  # fmt: skip


def main() -> None:
    """Start the demonstration, walk through it, and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "workbench")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", "-m", "rubricate", "serve", "--demo", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        links = json.loads(server.stdout.readline())["links"]
        with open_browser() as page:
            for name, (role, width, height, dark, act) in PICTURES.items():
                set_width(page, width, height)
                scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
                page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
                page.delete_all_cookies()
                page.get(links[role])
                act(page)
                page.save_screenshot(str(out / f"{name}.png"))
                print(f"{name}.png: {(out / f'{name}.png').stat().st_size // 1000} kB")
        server.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
