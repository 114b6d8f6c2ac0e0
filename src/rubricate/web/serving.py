"""Starting the server: its folder and database, the first link, the address, a demonstration."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select
from starlette.types import ASGIApp, Receive, Scope, Send

from rubricate.corpus import Corpus
from rubricate.errors import InputError, listed
from rubricate.files import hold_folder, is_exposed
from rubricate.formats import load_corpus, write_corpus
from rubricate.store import annotating, people, projects, reviewing
from rubricate.store import tables as t
from rubricate.store.chain import Checked, verify
from rubricate.store.database import Database
from rubricate.store.people import Identity, make_link
from rubricate.store.transaction import is_enforced
from rubricate.study.assignment import Task
from rubricate.web.calls import LOOPBACK, Bench

if TYPE_CHECKING:
    from rubricate.web.oidc import Provider

log = logging.getLogger("rubricate.web")
#: Where the workbench keeps its own files inside the folder that is served.
OWN = "workbench"
FILE = "workbench.sqlite"


@dataclass(frozen=True, slots=True)
class Address:
    """Address of the server, and the way browsers reach it."""

    host: str = "127.0.0.1"
    port: int = 8421
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False

    @property
    def is_loopback(self) -> bool:
        """True if only this machine can reach it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Raise InputError for an address that others reach without encryption."""
        if (self.certificate is None) != (self.key is None):
            raise InputError("--certificate and --key belong together")
        if not (self.is_loopback or self.certificate or self.behind_proxy):
            raise InputError(
                f"{self.host} can be reached from other machines, so passwords and notes would "
                "travel in the open: give --certificate and --key, or --behind-proxy if a proxy "
                "in front of it speaks TLS"
            )

    @property
    def secure(self) -> bool:
        """True if browsers reach it by TLS."""
        return self.behind_proxy or self.certificate is not None


@contextmanager
def open_bench(
    folder: Path,
    database: str = "",
    address: Address | None = None,
    provider: Provider | None = None,
    *,
    others_may_read: bool = False,
) -> Iterator[Bench]:
    """Open the workbench of a folder; with SQLite one process has it at a time.

    A database or a backup that others on this machine can read is refused unless they may.
    """
    chosen = address or Address()
    place = folder / OWN
    with hold_folder(place, private=True):
        store = Database(database or f"sqlite:///{place / FILE}")
        try:
            exposed = [*store.exposed, *filter(is_exposed, (place / "backups").glob("*"))]
            if exposed and not others_may_read:
                raise InputError(
                    f"{listed(list(map(str, exposed)))}: others on this machine can read this, or "
                    f"replace it. Take their rights away (chmod -R go= {exposed[0].parent}), or "
                    "give --others-may-read"
                )
            store.migrate(place / "backups")
            # Of a PostgreSQL database another server may be at work.
            if store.is_sqlite:
                store.write(reviewing.fail_stopped_publishing)
            if not (store.is_sqlite or store.read(is_enforced)):
                log.warning("row security is not in force: the database role is a superuser, or "
                            "has BYPASSRLS; see docs/workbench-server.md")  # fmt: skip
            hosts = LOOPBACK if chosen.is_loopback and not chosen.behind_proxy else frozenset()
            yield Bench(store, folder, chosen.secure, hosts, provider=provider)
        finally:
            store.close()


def has_workbench(folder: Path) -> bool:
    """Tell whether a workbench was begun in a folder."""
    return (folder / OWN / FILE).exists()


def setup_link(bench: Bench) -> str | None:
    """Return the path of a link that makes the first account; None where there is one."""
    if bench.database.read(lambda c: c.scalar(select(t.person.c.id).limit(1))):
        return None
    return f"/setup/{bench.database.write(lambda c: make_link(c, 'setup', days=1))}"


class BehindProxy:
    """Takes the address of who asks from the proxy in front of the server.

    Proxies put the address that they see at the end of the header; what stands before it is what
    the client said, which would let everybody choose an address for each wrong password.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        said = [v for k, v in scope.get("headers", ()) if k == b"x-forwarded-for"]
        if said:
            host = said[-1].decode("latin-1").rpartition(",")[2].strip()
            scope = {**scope, "client": (_without_port(host), 0)}
        await self.app(scope, receive, send)


def _without_port(host: str) -> str:
    """Return an address without the port that some proxies add.

    >>> _without_port("192.0.2.1:80"), _without_port("[2001:db8::1]:80"), _without_port("::1")
    ('192.0.2.1', '2001:db8::1', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    name, _, _ = host.partition(":")
    return name if host.count(":") == 1 else host


def listen(address: Address) -> socket.socket:
    """Take the port before anything is printed, so that what is printed is true."""
    address.check()
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once instead of waiting for more.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((address.host, address.port))
    except OSError as error:
        taken.close()
        where = f"{address.host}:{address.port}"
        raise InputError(f"{where} cannot be used: {error.strerror}. Choose --port") from error
    return taken


def serve(bench: Bench, address: Address, taken: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until the process is told to end; ``ready`` is called when it listens."""
    import uvicorn

    from rubricate.web.app import make_app

    logging.getLogger("rubricate.web").setLevel(logging.INFO)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    app = make_app(bench)
    # No access log of its own: paths hold the secrets of links and tokens.
    config = uvicorn.Config(
        BehindProxy(app) if address.behind_proxy else app,
        access_log=False, log_level="warning", server_header=False, proxy_headers=False,
        ssl_certfile=address.certificate, ssl_keyfile=address.key, timeout_graceful_shutdown=3,
    )  # fmt: skip
    Server(config).run(sockets=[taken])


def verify_folder(folder: Path, database: str = "") -> list[Checked]:
    """Check the record of every project; works beside a server that runs."""
    with closing(_database(folder, database)) as store:
        return store.read_at_once(verify)


def backup_folder(folder: Path, target: Path, database: str = "") -> None:
    """Write a copy of the database; works beside a server that runs."""
    with closing(_database(folder, database)) as store:
        store.backup(target)


def _database(folder: Path, database: str) -> Database:
    path = folder / OWN / FILE
    if not database and not has_workbench(folder):
        raise InputError(f"{folder} holds no workbench: {path} is not there")
    return Database(database or f"sqlite:///{path}")


CASE, RATERS = "0", ("reference", "second_rater")
#: How many notes two annotators have finished, and how many are left for whoever tries it.
N_DONE, N_OPEN = 12, 20
ROLES = {"annotator": "annotate", "curator": "curate", "reviewer": "review", "manager": "dashboard"}


def make_demo(bench: Bench) -> dict[str, str]:
    """Fill an empty workbench and return the path of a signed-in link for each role."""
    whole = load_corpus("open-notes").select(cases=[CASE])
    feature = whole.features[0].id
    twice = [n.id for n in whole.notes if whole.annotations(n.id, feature, RATERS[1]) is not None]
    once = [n.id for n in whole.notes if n.id not in twice]
    done, to_do = twice[:N_DONE], once[:N_OPEN]
    corpus = whole.select(notes={*done, *to_do})
    run = _score(bench, corpus)

    def work(connection: Connection) -> dict[str, str]:
        ids = {role: people.add_person(connection, role) for role in ROLES}
        manager = ids["manager"]
        project = projects.make_project(connection, "Demonstration", manager)
        for role, person in ids.items():
            people.set_roles(connection, project, person, [role], manager)
        projects.add_corpus(connection, project, corpus, manager, rename=True)
        for name in RATERS:
            ids[name] = people.add_person(connection, name)
            people.set_roles(connection, project, ids[name], ["annotator"], manager)
        tasks = [Task(name, n, n, "batch", "double") for name in RATERS for n in done]
        tasks += [Task("annotator", n, n, "batch", "single") for n in to_do]
        projects.assign(connection, project, tasks, ids, manager)
        for name in RATERS:
            _replay(connection, Identity(ids[name], name), project, corpus)
        own = reviewing.add_run(
            connection, project, manager, folder=run, name=run.name, inputs=_INPUTS, audit=0.1,
            texts={note.id: note.text for note in corpus.notes}, seed=0,
        )  # fmt: skip
        pages = {**ROLES, "reviewer": f"review/{own}"}
        return {
            role: people.make_link(
                connection, "enter", ids[role], target=f"/p/{project}/{page}", days=1
            )
            for role, page in pages.items()
        }

    links: dict[str, str] = bench.database.write(work)
    return {role: f"/enter/{secret}" for role, secret in links.items()}


_INPUTS = {"folder": "scores", "notes": "notes.jsonl"}


def _score(bench: Bench, corpus: Corpus) -> Any:
    from rubricate.scoring import ScoreSettings, score_notes

    notes, out = (bench.folder / _INPUTS[name] for name in ("notes", "folder"))
    write_corpus(Corpus(corpus.notes, corpus.rubrics), notes, format="jsonl")
    return score_notes(notes, out, settings=ScoreSettings(matcher="lexicon")).folder


def _replay(connection: Connection, me: Identity, project: str, corpus: Corpus) -> None:
    """Let an annotator of the corpus judge as they did."""
    for one in annotating.own_queue(connection, me, project)["assignments"]:
        work = annotating.open_work(connection, me, one["id"])
        note = next(n for n in corpus.notes if n.text == work["note"]["text"])
        for feature in work["rubric"]["features"]:
            found = corpus.annotations(note.id, feature["id"], me.name)
            marks = [[(s.start, s.end) for s in a.spans] for a in found or ()]
            annotating.judge(
                connection, me, one["id"], feature["id"], marks=marks, version=0,
                answer="present" if marks else "absent", sha256=work["note"]["sha256"],
                active_ms=4000,
            )  # fmt: skip
        annotating.finish(connection, me, one["id"])
