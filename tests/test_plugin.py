"""The example package of the plug-in guide is built, installed, and used by the commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "examples" / "plugin"
MARKED = """### 4
1 Chest pain
2 No fever
=== s1
[1 Chest pain] for 3 days. [2 Denies fever].
=== s2
No pain in the chest.
"""


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", *command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the wheel of the example, install it into a folder, and return the search path."""
    pytest.importorskip("build")
    place = tmp_path_factory.mktemp("plugin")
    run("build", "--wheel", "--no-isolation", "--outdir", place / "dist", PLUGIN)
    wheel = next((place / "dist").glob("*.whl"))
    run("pip", "install", "--quiet", "--no-deps", "--no-index", "--target", place / "site", wheel)
    return os.pathsep.join((str(place / "site"), os.environ.get("PYTHONPATH", "")))


@pytest.mark.slow
def test_the_example_adds_a_format_and_a_matcher(installed: str, tmp_path: Path) -> None:
    source = tmp_path / "notes.bracketed"
    source.write_text(MARKED, encoding="utf-8")

    def rubricate(*words: str | Path) -> str:
        return run("rubricate", *words, PYTHONPATH=installed)

    assert "notes: 2\n" in rubricate("describe", source)
    rubricate("convert", source, tmp_path / "notes.jsonl", "--output-format", "jsonl")
    rubricate(
        "convert",
        tmp_path / "notes.jsonl",
        tmp_path / "again.bracketed",
        "--output-format",
        "bracketed",
    )
    assert (tmp_path / "again.bracketed").read_text(encoding="utf-8") == MARKED

    model = tmp_path / "model"
    rubricate("fit", source, "--matcher", "words", "--set", "longest=40", "--out", model)
    for given in (("--model", model), ("--matcher", "words")):
        out = tmp_path / f"scored-{given[0].strip('-')}"
        rubricate("score", source, *given, "--any-text", "--out", out)
        rows = (out / "items.csv").read_text(encoding="utf-8")
        assert "Chest pain" in rows
        # "pain in the chest" has both words; "Denies fever" has no "No".
        scores = (out / "scores.csv").read_text(encoding="utf-8").splitlines()
        assert len(scores) == 3


@pytest.mark.slow
def test_faults_of_the_example_are_told_with_their_lines(installed: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.bracketed"
    wrong.write_text("### 4\n1\n=== s1\n[7 Cough]\n=== s1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "rubricate", "describe", str(wrong)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": installed},
    )
    assert done.returncode == 1
    for place in ("line 2", "line 3", "line 5"):
        assert place in done.stderr
