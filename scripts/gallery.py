"""Make the pictures of the gallery: reports and plots of the embedded notes.

Run: python scripts/gallery.py [--out docs/gallery] [--look FOLDER]

With ``--look`` it also takes every page at 1280 and 390 pixels, light and dark, into that folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pictures import picture, score

import rubricate as r

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browsing import open_browser, set_width, wait_for

ROOT = Path(__file__).parents[1]
CHOSEN = ["--where", "case=4,5", "--where", "split=test"]


def command(*words: str) -> None:
    """Run a command of rubricate."""
    subprocess.run([sys.executable, "-P", "-m", "rubricate", *words], check=True,
                   capture_output=True)  # fmt: skip


def make_pages(place: Path) -> dict[str, Path]:
    """Score, compare and measure; return the pages by name."""
    run, found = place / "results", str(place / "found.jsonl")
    score(run)
    command("match", "open-notes", *CHOSEN, "--matcher", "lexicon", "--out", found)
    command("evaluate", "open-notes", found, *CHOSEN, "--reference-annotator", "reference",
            "--resamples", "500", "--report", str(place / "evaluation"))  # fmt: skip
    command("agree", "open-notes", *CHOSEN, "--resamples", "500",
            "--report", str(place / "agreement"))  # fmt: skip
    command("annotate", "open-notes", "--where", "case=4", "--where", "split=test", "--annotator",
            "ann", "--out", str(place / "annotate.html"))  # fmt: skip
    pages = {"report": run / "report.html", "note": run / "report" / "notes.html",
             "annotate": place / "annotate.html"}  # fmt: skip
    for name in ("evaluation", "agreement"):
        pages[name] = next((place / name).glob("*.html"))
    return pages


def look(page: Any, path: Path, *, width: int, dark: bool) -> Any:
    """Return a picture of a page at a width, light or dark."""
    set_width(page, width, 900)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    page.get(path.as_uri())
    wait_for(page, "document.readyState", "complete")
    return picture(page)


def draw_plots(out: Path) -> None:
    """Write the plots that `rubricate.plot` draws."""
    corpus = r.load_corpus("open-notes").select(cases=["4", "5"])
    test = corpus.select(notes=lambda note: note.metadata["split"] == "test")
    found = r.match(test, matcher="lexicon")
    drawn = {
        "scores": r.plot(r.score(test, matcher="lexicon")),
        "features": r.plot(
            r.evaluate(test, found, reference_annotator="reference"),
            rubric=test.select(cases=["4"]),
        ),
        "policy": r.plot(r.route(test, found, reference_annotator="reference")),
    }
    for name, plot in drawn.items():
        plot.save(out / f"{name}.svg", overwrite=True)


def main() -> None:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "gallery")
    parser.add_argument("--look", type=Path)
    given = parser.parse_args()
    out: Path = given.out
    out.mkdir(parents=True, exist_ok=True)
    draw_plots(out)
    with tempfile.TemporaryDirectory() as place, open_browser() as page:
        for name, path in make_pages(Path(place)).items():
            image = look(page, path, width=1280, dark=False)
            image.resize((960, 675)).quantize(64).save(out / f"{name}.png", optimize=True)
            if given.look:
                given.look.mkdir(parents=True, exist_ok=True)
                for width in (1280, 390):
                    for dark in (False, True):
                        shade = "dark" if dark else "light"
                        seen = look(page, path, width=width, dark=dark)
                        seen.save(given.look / f"{name}-{width}-{shade}.png")


if __name__ == "__main__":
    main()
