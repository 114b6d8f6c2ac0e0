"""Make the pictures of the README and of the gallery from a run on the embedded notes.

Run: python scripts/pictures.py [--out docs/pictures]

It scores the test notes of one case, opens the report in headless Chromium, and writes
screenshots, an animation of scoring and reviewing, and the plots of the gallery.
"""

from __future__ import annotations

import argparse
import html
import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browsing import open_browser, set_width, wait_for
from PIL import Image

ROOT = Path(__file__).parents[1]
COMMAND = "rubricate score notes --rubric checklist.xlsx --out results"
#: The note that is shown, the feature chosen in the pictures, and the two features that the model
#: sends to review: the note does not mention the first, and states the second by its dates.
NOTE, CHOSEN, ACCEPTED, REJECTED = "10474", "10", "9", "5"
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; height: 100vh; background: #1c2024; color: #e6e6e6; }}
pre {{ font: 19px/1.6 "DejaVu Sans Mono", monospace; padding: 40px; white-space: pre-wrap; }}
b {{ color: #7cc4a4; font-weight: normal; }}
</style><pre><b>$</b> {}</pre>"""


def score(folder: Path) -> str:
    """Score the test notes of one case; return what the command prints."""
    command = [sys.executable, "-P", "-m", "rubricate", "score", "open-notes",
               "--where", "case=4", "--where", "split=test", "--out", str(folder)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.replace(str(folder), "results")


def picture(page: Any) -> Image.Image:
    """Return a screenshot of the browser."""
    return Image.open(io.BytesIO(page.get_screenshot_as_png())).convert("RGB")


def open_note(page: Any, run: Path) -> None:
    """Open the note that is shown, without the list of keys."""
    page.get(f"{(run / 'report' / 'notes.html').as_uri()}#n={NOTE}")
    wait_for(page, f"document.getElementById('note-title').textContent.includes('{NOTE}')")


def choose(page: Any, feature: str) -> None:
    """Choose the feature that has this number on the page."""
    page.execute_script(f"document.querySelectorAll('#features > li')[{int(feature) - 1}].click()")


def animate(page: Any, run: Path, printed: str) -> list[tuple[Image.Image, int]]:
    """Return pictures of a run and a review, each with the milliseconds for which it is shown."""
    frames = []

    def show(milliseconds: int) -> None:
        frames.append((picture(page), milliseconds))

    place = run / "terminal.html"
    for text, milliseconds in ((COMMAND[:15], 300), (COMMAND[:38], 300), (COMMAND, 900),
                               (f"{COMMAND}\n\n{printed}", 3000)):  # fmt: skip
        place.write_text(TERMINAL.format(html.escape(text)), encoding="utf-8")
        page.get(place.as_uri())
        show(milliseconds)
    page.get((run / "report.html").as_uri())
    wait_for(page, "document.readyState", "complete")
    show(2500)
    open_note(page, run)
    show(2500)
    choose(page, ACCEPTED)
    show(1200)
    page.find_element("id", "by").send_keys("Dr Weber")
    show(800)
    page.find_element("id", "accept").click()
    show(1800)
    choose(page, REJECTED)
    show(1000)
    page.find_element("id", "reject").click()
    show(2500)
    return frames


def main() -> None:
    """Score, open the pages and write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, open_browser() as page:
        run = Path(place) / "results"
        printed = score(run)
        for name, width, height, dark in (
            ("note", 1280, 760, False),
            ("note-dark", 1280, 760, True),
            ("note-telephone", 390, 760, False),
        ):
            set_width(page, width, height)
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
            open_note(page, run)
            choose(page, CHOSEN)
            picture(page).quantize(128).save(out / f"{name}.png", optimize=True)
        set_width(page, 1280, 800)
        light = {"name": "prefers-color-scheme", "value": "light"}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [light]})
        frames = animate(page, run, printed)
    small = [image.resize((960, 600)).quantize(48) for image, _ in frames]
    small[0].save(out / "score-and-review.gif", save_all=True, append_images=small[1:],
                  duration=[time for _, time in frames], loop=0, optimize=True)  # fmt: skip
    for path in sorted(out.iterdir()):
        print(f"{path.name}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
