"""Pages opened in a real browser: nothing goes wrong, and nothing planted runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rubricate import Corpus
from rubricate.evaluation.agreement import agree
from rubricate.evaluation.evaluation import Evaluation
from rubricate.reports.agreement import agreement_report
from rubricate.reports.blocks import to_html
from rubricate.reports.evaluation import evaluation_report
from rubricate.stats import Resampling

BROWSER = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]


def opened(page: Path, profile: Path) -> tuple[str, list[str]]:
    """Return the page as the browser holds it, and what it wrote to its console."""
    assert BROWSER
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={profile}", "--enable-logging=stderr", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, re.findall(r".*CONSOLE.*", done.stderr)


def test_the_console_stays_silent(
    trapped: Corpus, measured: dict[str, Evaluation], tmp_path: Path
) -> None:
    page = to_html(evaluation_report(measured, trapped, dict.fromkeys(measured, trapped)))
    dom, console = opened(written(tmp_path, page), tmp_path / "profile")
    assert not console
    assert '<button type="button">' in dom  # the page's own script ran
    assert dom.count("<script>") == 1
    assert "<img" not in dom


def written(folder: Path, page: str) -> Path:
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8", newline="")
    return path


def with_script(page: str, script: str) -> str:
    """Add a script to a page; its policy would rightly refuse it, so the policy goes."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    return page.replace("</body>", f"<script>{script}</script></body>")


def test_marked_text_is_the_note_to_the_character(trapped: Corpus, tmp_path: Path) -> None:
    page = to_html(agreement_report(agree(trapped, settings=Resampling(resamples=20))))
    check = """
      const texts = [...document.querySelectorAll(".note-text")].map(e => JSON.stringify(e.textContent));
      document.body.dataset.same = String(new Set(texts).size === 1);
      document.body.dataset.units = String(document.querySelector(".note-text").textContent.length);
    """
    path = written(tmp_path, with_script(page, check))
    dom, console = opened(path, tmp_path / "profile")
    assert not console
    text = trapped.notes[0].text
    assert 'data-same="true"' in dom
    assert f'data-units="{len(text.encode("utf-16-le")) // 2}"' in dom


def test_tables_sort_and_fragments_light_up_together(
    trapped: Corpus, measured: dict[str, Evaluation], tmp_path: Path
) -> None:
    page = to_html(evaluation_report({"cy": measured["cy"]}, trapped, {"cy": trapped}))
    check = """
      const table = [...document.querySelectorAll("table[data-sort]")].find(
        t => t.tHead.textContent.includes("Feature"));
      const column = [...table.tHead.rows[0].cells].findIndex(c => c.textContent.includes("Characters F1"));
      const button = table.tHead.rows[0].cells[column].querySelector("button");
      const values = () => [...table.tBodies[0].rows].map(r => Number(r.cells[column].dataset.v));
      button.click();
      const rising = values();
      button.click();
      document.body.dataset.rising = String(rising.every((v, i) => !i || rising[i - 1] <= v));
      document.body.dataset.falling = String(values().join() === rising.reverse().join());
      const root = document.querySelector("[data-note]");
      const mark = root.querySelector('.note-text mark[data-n$="…"]');
      mark.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      document.body.dataset.linked = String(root.querySelectorAll(".note-text mark.linked").length);
      const row = root.querySelector("tr[data-f]");
      row.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      document.body.dataset.row = String(row.classList.contains("linked"));
      dispatchEvent(new Event("beforeprint"));
      document.body.dataset.open = String(document.querySelectorAll("details.printed:not([open])").length);
    """
    path = written(tmp_path, with_script(page, check))
    dom, console = opened(path, tmp_path / "profile")
    assert not console
    for fact in ('rising="true"', 'falling="true"', 'row="true"', 'open="0"'):
        assert f"data-{fact}" in dom
    linked = re.search(r'data-linked="(\d+)"', dom)
    assert linked
    assert int(linked[1]) >= 2
