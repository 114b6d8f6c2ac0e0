"""Helpers for tests of the workbench: databases of both kinds, a small project, its people."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rubricate import Feature, Note, Rubric
from rubricate.corpus import Corpus
from rubricate.store import annotating, curating, people, projects
from rubricate.store.database import Database
from rubricate.store.people import ROLES, Identity
from rubricate.study.assignment import Task
from rubricate.web.app import make_app
from rubricate.web.calls import Bench
from rubricate.web.serving import open_bench

TEXTS = ("no fever, pain in chest", "fever since 2 days", "pain and fever 😀 at night")
RUBRIC = Rubric("c", (Feature("f1", "c", "Fever"), Feature("f2", "c", "Chest pain", weight=2.0)))
CORPUS = Corpus(tuple(Note(f"n{i}", "c", text) for i, text in enumerate(TEXTS)), (RUBRIC,))


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's server programs, if there are any."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


def as_server(command: list[str]) -> list[str]:
    """Return a command that runs as somebody who is not root, whom PostgreSQL refuses."""
    if os.geteuid():
        return command
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]


class Postgres:
    """A PostgreSQL server of its own in a folder, which can be stopped and started."""

    def __init__(self, programs: Path) -> None:
        # Paths of sockets must be short, and the folders above must let its user in.
        made = subprocess.check_output(["mktemp", "-d", "-p", "/tmp"], text=True)
        self.place = Path(made.strip())
        if not os.geteuid():
            shutil.chown(self.place, "nobody", "nogroup")
        data = str(self.place / "data")
        self._control = [str(programs / "pg_ctl"), "-D", data, "-w", "-t", "300"]
        initdb = [str(programs / "initdb"), "-D", data, "-U", "bench", "-A", "trust", "-N"]
        self._run([*initdb, "--locale=C.UTF-8", "-E", "UTF8"])

    def _run(self, command: list[str]) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run(as_server(command), check=True, stdout=quiet, stderr=quiet, cwd=self.place)

    def start(self) -> None:
        options = f"-k {self.place} -h '' -c fsync=off -c max_connections=60"
        self._run([*self._control, "-o", options, "-l", str(self.place / "log"), "start"])

    def stop(self) -> None:
        self._run([*self._control, "-m", "immediate", "stop"])

    def make(self) -> str:
        """Empty the database and return its address."""
        import psycopg

        with psycopg.connect(
            host=str(self.place), user="bench", dbname="postgres", autocommit=True
        ) as c:
            c.execute("DROP SCHEMA public CASCADE")
            # Superusers see everything: the server is somebody else.
            c.execute("DO $$ BEGIN CREATE ROLE server LOGIN; "
                      "EXCEPTION WHEN duplicate_object THEN END $$")  # fmt: skip
            c.execute("CREATE SCHEMA public AUTHORIZATION server")
        return f"postgresql://server@/postgres?host={self.place}"


@contextmanager
def own_postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL server; the test is skipped where its programs are not installed."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL's server programs are not installed")
    server = Postgres(programs)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.place, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[], str]]:
    """Yield what empties a PostgreSQL database and returns its address."""
    with own_postgres() as server:
        yield server.make


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.engine)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'bench.sqlite'}"
    make: Callable[[], str] = request.getfixturevalue("postgres")
    return make()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    store = Database(database_url)
    store.migrate()
    yield store
    store.close()


@contextmanager
def served(
    folder: Path, database: str, port: str = "0"
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a server in a process of its own, and its address."""
    command = [sys.executable, "-P", "-m", "rubricate", "serve", str(folder), "--new"]
    command += ["--port", port]
    command += ["--json", *(["--database", database] if database else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as one:
        try:
            assert one.stdout is not None
            yield one, json.loads(one.stdout.readline())["url"]
        finally:
            one.terminate()


@dataclass
class Small:
    """A project of three notes: ann and bob annotate all of them; one person for each role."""

    project: str
    who: dict[str, Identity] = field(default_factory=dict)


def small_project(database: Database, name: str = "small") -> Small:
    """Make the project; everybody is named after their role, annotators are ann and bob."""

    def work(connection: Any) -> Small:
        boss = people.add_person(connection, f"{name} manager", admin=True)
        made = Small(projects.make_project(connection, name, boss))
        made.who["manager"] = Identity(boss, f"{name} manager", admin=True)
        roles = {"ann": "annotator", "bob": "annotator", **{r: r for r in ROLES[2:]}}
        people.set_roles(connection, made.project, boss, ["manager"], boss)
        for key, role in roles.items():
            own = people.add_person(connection, f"{name} {key}")
            people.set_roles(connection, made.project, own, [role], boss)
            made.who[key] = Identity(own, f"{name} {key}")
        projects.add_corpus(connection, made.project, CORPUS, boss)
        tasks = [Task(who, n.id, n.id, "batch", "double") for who in ("ann", "bob")
                 for n in CORPUS.notes]  # fmt: skip
        ids = {key: one.person for key, one in made.who.items()}
        projects.assign(connection, made.project, tasks, ids, boss)
        return made

    return database.write(work)


def judge_all(database: Database, small: Small) -> None:
    """ann and bob judge every note, and differ on the first feature of each."""
    for key, end in (("ann", 4), ("bob", 5)):
        me = small.who[key]
        for one in database.read(lambda c, m=me: annotating.own_queue(c, m, small.project))[
            "assignments"
        ]:
            work = database.read(lambda c, m=me, a=one: annotating.open_work(c, m, a["id"]))
            for feature, marks in (("f1", [[(0, end)]]), ("f2", [])):
                database.write(
                    lambda c, m=me, a=one, f=feature, k=marks, w=work: annotating.judge(
                        c, m, a["id"], f, answer="present" if k else "absent", marks=k, version=0,
                        sha256=w["note"]["sha256"],
                    )
                )  # fmt: skip
            database.write(lambda c, m=me, a=one: annotating.finish(c, m, a["id"]))


def decide_first(database: Database, small: Small) -> None:
    cora = small.who["curator"]
    page = database.read(
        lambda c: curating.list_disputes(c, cora, small.project, state="open", after="", limit=9)
    )
    shown = database.read(lambda c: curating.show_dispute(c, cora, page["items"][0]["id"]))
    database.write(
        lambda c: curating.decide(
            c, cora, shown["id"], choice="union", marks=(), comment="both", version=0,
            inputs=shown["inputs"], sha256=shown["note"]["sha256"],
        )
    )  # fmt: skip


@pytest.fixture
def small(database: Database) -> Small:
    return small_project(database)


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    on_postgres = getattr(request, "param", "sqlite") == "postgres"
    with open_bench(
        tmp_path, request.getfixturevalue("postgres")() if on_postgres else ""
    ) as opened:
        # However slow the machine is, tests see the result and no page that waits for it.
        yield replace(opened, patience=600.0)


#: Runs a test that has a bench on both databases.
on_both = pytest.mark.parametrize(
    "bench", ["sqlite", pytest.param("postgres", marks=pytest.mark.engine)], indirect=True
)


class Browsers:
    """Signed-in clients of one server, by person."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.app = make_app(bench)

    def of(self, me: Identity | None) -> TestClient:
        headers = {"sec-fetch-site": "same-origin"}
        client = TestClient(self.app, base_url="http://127.0.0.1", headers=headers)
        if me is not None:
            secret = self.bench.database.write(lambda c: people.open_session(c, me.person))
            client.cookies.set("rubricate", secret)
        return client


@pytest.fixture
def browsers(bench: Bench) -> Browsers:
    return Browsers(bench)
