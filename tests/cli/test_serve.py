"""The command that starts the workbench, and those that check and copy it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest
from click.testing import CliRunner
from sqlalchemy import text
from workbench import small_project

from rubricate.cli import main
from rubricate.web.serving import open_bench

on_modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


def run(*words: str):
    return CliRunner().invoke(main, ["serve", *map(str, words)])


def test_verify_says_what_was_changed(tmp_path: Path) -> None:
    assert run("verify", tmp_path).exit_code == 1
    with open_bench(tmp_path) as bench:
        small_project(bench.database)
    done = run("verify", tmp_path, "--json")
    assert done.exit_code == 0
    [found] = json.loads(done.output)
    assert (found["name"], found["faults"]) == ("small", [])
    with open_bench(tmp_path) as bench:
        bench.database.write(lambda c: c.execute(text("UPDATE note SET text = 'x'")))
    done = run("verify", tmp_path)
    assert done.exit_code == 1
    assert "3 faults" in done.output


@on_modes
def test_only_its_owner_reads_what_the_workbench_keeps(tmp_path: Path) -> None:
    exam = tmp_path / "exam"
    with open_bench(exam) as bench:
        small_project(bench.database)
        bench.database.backup(exam / "workbench" / "backups" / "one.sqlite")
        there = list((exam / "workbench").rglob("*"))
        assert {path.name for path in there} > {"workbench.sqlite", "workbench.sqlite-wal"}
        own = [path for path in [exam / "workbench", *there] if path.name != ".lock"]
        assert [path for path in own if path.stat().st_mode & 0o077] == []


@on_modes
@pytest.mark.parametrize("opened", ["workbench.sqlite", "backups/one.sqlite"])
def test_a_database_that_others_can_read_is_refused(tmp_path: Path, opened: str) -> None:
    with open_bench(tmp_path) as bench:
        bench.database.backup(tmp_path / "workbench" / "backups" / "one.sqlite")
    path = tmp_path / "workbench" / opened
    path.chmod(0o644)
    with open_bench(tmp_path):
        pass  # nobody else gets into its folder
    for folder in {path.parent, tmp_path / "workbench"}:
        folder.chmod(0o755)
    done = run(tmp_path, "--port", "0")
    assert done.exit_code == 1
    assert str(path) in done.output and "--others-may-read" in done.output
    with open_bench(tmp_path, others_may_read=True):
        pass


def test_verify_says_that_there_is_nothing_to_check(tmp_path: Path) -> None:
    with open_bench(tmp_path):
        pass
    done = run("verify", tmp_path)
    assert done.exit_code == 0 and "no project" in done.output


def test_a_port_that_no_machine_has_is_a_usage_error(tmp_path: Path) -> None:
    assert run(tmp_path, "--port", "99999").exit_code == 2
    assert not list(tmp_path.iterdir())


def test_the_group_says_where_its_options_are() -> None:
    assert "start --help" in run("--help").output and "--port" in run("start", "--help").output


def test_backup_keeps_what_is_there(tmp_path: Path) -> None:
    with open_bench(tmp_path) as bench:
        small_project(bench.database)
    target = tmp_path / "copy.sqlite"
    assert run("backup", tmp_path, target).exit_code == 0
    assert target.stat().st_size > 0
    assert run("backup", tmp_path, target).exit_code == 1


def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    (tmp_path / "exams").mkdir()
    done = run(tmp_path / "exam", "--port", "0")
    assert done.exit_code == 2
    assert "did you mean" in done.output and "--new" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["exams"]


@pytest.mark.parametrize("kept", [["here"], ["--new"], ["--database", "postgresql://a@b/c"]])
def test_a_demonstration_keeps_nothing(kept: list[str]) -> None:
    done = run("--demo", *kept, "--port", "0")
    assert done.exit_code == 2
    assert "--demo and" in done.output


@pytest.mark.engine
def test_a_new_workbench_is_said_to_be_new(tmp_path: Path) -> None:
    for words, new in (["--new"], True), ([], False):
        command = [sys.executable, "-P", "-m", "rubricate", "serve", str(tmp_path / "exam"), *words]
        command += ["--port", "0", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert json.loads(process.stdout.readline())["new"] is new
            process.terminate()


def test_addresses_that_others_reach_need_encryption(tmp_path: Path) -> None:
    done = run(tmp_path, "--host", "0.0.0.0", "--port", "0")
    assert done.exit_code == 1
    assert "TLS" in done.output


def test_one_process_serves_a_folder(tmp_path: Path) -> None:
    with open_bench(tmp_path):
        done = run(tmp_path, "--port", "0")
    assert done.exit_code == 1
    assert "in use" in done.output


@pytest.mark.engine
def test_the_demonstration_lets_every_role_in(monkeypatch: pytest.MonkeyPatch) -> None:
    # A server's database is no place for it, so what the environment names is passed over.
    monkeypatch.setenv("RUBRICATE_DATABASE", "postgresql://nobody@localhost:1/none")
    command = [sys.executable, "-P", "-m", "rubricate", "serve", "--demo", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = json.loads(process.stdout.readline())
            assert set(said["links"]) == {"annotator", "curator", "reviewer", "manager"}
            for role, link in said["links"].items():
                with httpx.Client(follow_redirects=True, timeout=300) as client:
                    page = client.get(link)
                    assert page.status_code == 200
                    me = client.get(f"{said['url']}/api/v1/me").json()
                    assert me["projects"][0]["roles"] == [role]
        finally:
            process.terminate()
    assert process.returncode == 0
