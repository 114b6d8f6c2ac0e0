"""Shared fixtures for tests of several folders."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[1] / "frontend"
#: What npm says when the registry cannot be reached.
UNREACHABLE = ("ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EAI_AGAIN", "ENETUNREACH")


@pytest.fixture(scope="session")
def frontend(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Give a copy of frontend/ with what its lock file names installed; once for all workers."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("node and npm are not installed")
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "frontend"
    place.mkdir(exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / ".ready").exists():
            ignored = shutil.ignore_patterns("node_modules", "built-tests")
            shutil.copytree(FRONTEND, place, dirs_exist_ok=True, ignore=ignored)
            command = [npm, "ci", "--no-audit", "--no-fund"]
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
            if any(code in done.stderr for code in UNREACHABLE):
                pytest.skip("the npm registry cannot be reached")
            assert done.returncode == 0, done.stderr
            (place / ".ready").touch()
    return place


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first, and tests with a browser or other processes again if they fail.

    A slow test at the end would run alone. What a browser or another process does depends on how
    busy the machine is; a defect of the program fails three times.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if item.get_closest_marker("browser") or item.get_closest_marker("engine"):
            item.add_marker(pytest.mark.flaky(reruns=2))
