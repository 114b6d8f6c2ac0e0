"""The wheel and the source archive are complete: a new environment runs the demo from the wheel."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: What pip prints where no package index can be reached.
UNREACHABLE = ("NewConnectionError", "No matching distribution", "Temporary failure")


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and the source archive from what git tracks."""
    pytest.importorskip("build")
    place = tmp_path_factory.mktemp("archives")
    source = place / "source"
    done = run("git", "clone", "-q", "--depth", "1", ROOT.as_uri(), source)
    assert done.returncode == 0, done.stderr
    done = run(
        sys.executable, "-P", "-m", "build", "--no-isolation", "-o", place / "dist", cwd=source
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "dist"


@pytest.mark.slow
def test_the_archives_are_sound(archives: Path) -> None:
    done = run(
        sys.executable, "-P", "-m", "twine", "check", "--strict", *sorted(archives.iterdir())
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wheel, archive = next(archives.glob("*.whl")), next(archives.glob("*.tar.gz"))
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.startswith(("tests", "scripts", "training", "docs"))]
    # The index takes files up to 100 MB.
    assert wheel.stat().st_size < 100e6 and archive.stat().st_size < 100e6


@pytest.mark.slow
def test_the_demo_runs_from_the_wheel_in_an_empty_environment(
    archives: Path, tmp_path: Path
) -> None:
    home = tmp_path / "environment"
    assert run(sys.executable, "-P", "-m", "venv", home).returncode == 0
    pip = [home / "bin" / "python", "-m", "pip", "--quiet", "install", "--no-compile"]
    wheel = next(archives.glob("*.whl"))
    done = run(*pip, "--constraint", ROOT / "constraints.txt", wheel)
    if any(words in done.stderr for words in UNREACHABLE):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    environment = {**os.environ, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", str(ROOT / "scripts" / "demo.sh")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "scores" / "report.html").exists()
