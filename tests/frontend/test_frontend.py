"""The scripts of the pages: typed, tested, and built from the sources beside them."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "rubricate"


def run(frontend: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=frontend, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_built_files_are_built_from_the_sources(frontend: Path, tmp_path: Path) -> None:
    run(frontend, "node", "build.mjs", "--out", str(tmp_path))
    built = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert built
    for path in built:
        same = (tmp_path / path).read_bytes() == (PACKAGE / path).read_bytes()
        assert same, f"{path} is not what frontend/ builds: run `make pages`"


def test_the_sources_are_typed(frontend: Path) -> None:
    run(frontend, "npx", "--no-install", "tsc", "--noEmit")


def test_the_units_keep_their_promises(frontend: Path) -> None:
    run(frontend, "npm", "run", "--silent", "test")


def test_the_lock_file_names_no_registry(frontend: Path) -> None:
    assert "http" not in (frontend / "package-lock.json").read_text("utf-8").replace(
        '"url": "https://', '"url": "'
    )
