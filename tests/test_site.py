"""The documentation site is built without a warning, and has a page for each command and name."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import rubricate
from rubricate.cli import VERBS

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_site_has_a_page_for_everything(tmp_path: Path) -> None:
    pytest.importorskip("zensical")
    site = tmp_path / "site"
    script = ROOT / "scripts" / "build_docs.py"
    done = subprocess.run(
        [sys.executable, script, "--out", site, "--work", tmp_path / "work"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for verb in (verb for verbs in VERBS.values() for verb in verbs):
        assert (site / "reference" / "commands" / verb / "index.html").exists(), verb
    for page in (
        "tutorial",
        "tutorial-research",
        "tutorial-python",
        "gallery",
        "schema",
        "plug-ins",
    ):
        assert (site / page / "index.html").exists(), page
    for name in rubricate.__all__:
        if not name.startswith("_"):
            page = site / "reference" / "python" / name / "index.html"
            assert 'class="doc ' in page.read_text(encoding="utf-8"), name
    assert not [
        f"{page.relative_to(site)}: {picture}"
        for page in site.rglob("index.html")
        for picture in pictures(page.read_text(encoding="utf-8"))
        if not (page.parent / unquote(urlsplit(picture).path)).exists()
    ]


def pictures(page: str) -> list[str]:
    """Return the addresses of the pictures of a page that are files of the site."""
    found = re.findall(r'<img [^>]*src="([^"]+)"', page)
    return [one for one in found if not urlsplit(one).scheme]
