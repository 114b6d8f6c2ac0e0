"""A database that is damaged or away is told to people and programs, and found again."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from workbench import Browsers, Small, judge_all, on_both, own_postgres, small_project

from rubricate.web.calls import Bench
from rubricate.web.serving import open_bench

HEALTH = "/api/v1/health"


def ask_all(browsers: Browsers, small: Small) -> dict[str, tuple[int, str]]:
    """Return the status and kind of the answers of pages and of the interface."""
    ann, nobody = browsers.of(None), browsers.of(None)
    ann.cookies.set("rubricate", "a" * 43)
    body = {"answer": "absent", "marks": [], "version": 0, "sha256": "0" * 64}
    answers = {
        "health": nobody.get(HEALTH), "page": ann.get(f"/p/{small.project}/annotate"),
        "projects": ann.get("/"), "me": ann.get("/api/v1/me"),
        "form": nobody.post("/signin", data={"name": "ann", "password": "x" * 12}),
        "save": ann.put("/api/v1/assignments/x/features/f1", json=body),
    }  # fmt: skip
    for one in answers.values():
        assert "Traceback" not in one.text
        assert "sqlite" not in one.text.lower()
    return {key: (one.status_code, one.headers["content-type"].partition(";")[0])
            for key, one in answers.items()}  # fmt: skip


AWAY = {
    "health": (503, "application/json"), "page": (503, "text/html"), "projects": (503, "text/html"),
    "me": (503, "application/json"), "form": (503, "text/html"),
    "save": (503, "application/json"),
}  # fmt: skip


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    with open_bench(tmp_path) as bench:
        small, browsers = small_project(bench.database), Browsers(bench)
        judge_all(bench.database, small)
        assert browsers.of(None).get(HEALTH).status_code == 200
        file = bench.database.file
        assert file is not None
        with sqlite3.connect(file) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = file.stat().st_size
        file.write_bytes(b"\xff" * size)
        assert ask_all(browsers, small) == AWAY


def test_starting_with_a_damaged_file_says_so(tmp_path: Path) -> None:
    with open_bench(tmp_path) as bench:
        file = bench.database.file
    assert file is not None
    file.write_bytes(b"this is no database" * 1000)
    command = [sys.executable, "-P", "-m", "rubricate", "serve"]
    for given in ([str(tmp_path), "--port", "0"], ["verify", str(tmp_path)]):
        done = subprocess.run([*command, *given], capture_output=True, text=True, check=False,
                              env=dict(os.environ))  # fmt: skip
        assert done.returncode == 1
        assert "is damaged" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.engine
def test_a_server_that_stops_is_told_and_found_again(tmp_path: Path) -> None:
    with own_postgres() as server, open_bench(tmp_path, server.make()) as bench:
        small, browsers = small_project(bench.database), Browsers(bench)
        assert browsers.of(None).get(HEALTH).status_code == 200
        server.stop()
        try:
            assert ask_all(browsers, small) == AWAY
        finally:
            server.start()
        assert browsers.of(None).get(HEALTH).status_code == 200
        judge_all(bench.database, small)


@on_both
def test_nul_is_refused_by_either_database(bench: Bench, browsers: Browsers) -> None:
    small = small_project(bench.database)
    boss = browsers.of(small.who["manager"])
    own: Any = f"/api/v1/projects/{small.project}"
    notes = [
        {"id": "x", "case": "c", "text": "fever\0 since"},
        {"id": "y\0", "case": "c", "text": ""},
    ]
    for one, said in zip(notes, ("offset 5", "NUL"), strict=True):
        answer = boss.post(f"{own}/notes", json={"notes": [one]})
        assert (answer.status_code, said in answer.text) == (400, True)
    assert boss.patch(own, json={"name": "a\0b"}).status_code == 400
    assert boss.get(f"{own}x%00").status_code == 400
    assert boss.get("/p/x%00/rubric").status_code == 400
    table = {"notes": ("n.csv", b"id,case,text\nz,c,fe\0ver\n")}
    assert "NUL" in boss.post(f"/p/{small.project}/notes", files=table).text
    assert boss.get(f"{own}/verify").json()["intact"]
