"""Starting the server: its folder and database, the first link, the address, and the end."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from rubricate.errors import InputError
from rubricate.files import hold_folder
from rubricate.store import tables as t
from rubricate.store.chain import Checked, verify
from rubricate.store.database import Database
from rubricate.store.people import make_link
from rubricate.store.sight import is_enforced
from rubricate.web.calls import LOOPBACK, Bench

if TYPE_CHECKING:
    from rubricate.web.oidc import Provider

log = logging.getLogger("rubricate.web")
#: Where the workbench keeps its own files inside the folder that is served.
OWN = "workbench"
FILE = "workbench.sqlite"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens, and how it is reached."""

    host: str = "127.0.0.1"
    port: int = 8421
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
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
        """Whether browsers reach it by TLS."""
        return self.behind_proxy or self.certificate is not None


@contextmanager
def open_bench(
    folder: Path,
    database: str = "",
    address: Address | None = None,
    provider: Provider | None = None,
) -> Iterator[Bench]:
    """Open the workbench of a folder; with SQLite one process has it at a time."""
    chosen = address or Address()
    place = folder / OWN
    with hold_folder(place):
        store = Database(database or f"sqlite:///{place / FILE}")
        try:
            store.migrate(place / "backups")
            if not (store.is_sqlite or store.read(is_enforced)):
                log.warning("row security is not in force: the database role is a superuser, or "
                            "has BYPASSRLS; see docs/workbench-server.md")  # fmt: skip
            hosts = LOOPBACK if chosen.is_loopback and not chosen.behind_proxy else frozenset()
            yield Bench(store, folder, chosen.secure, hosts, provider=provider)
        finally:
            store.close()


def setup_link(bench: Bench) -> str | None:
    """Return the path of a link that makes the first account; None where there is one."""
    if bench.database.read(lambda c: c.scalar(select(t.person.c.id).limit(1))):
        return None
    return f"/setup/{bench.database.write(lambda c: make_link(c, 'setup', days=1))}"


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

    # No access log of its own: paths hold the secrets of links and tokens.
    config = uvicorn.Config(
        make_app(bench), access_log=False, log_level="warning", server_header=False,
        proxy_headers=address.behind_proxy, forwarded_allow_ips="*" if address.behind_proxy else "",
        ssl_certfile=address.certificate, ssl_keyfile=address.key, timeout_graceful_shutdown=3,
    )  # fmt: skip
    Server(config).run(sockets=[taken])


def verify_folder(folder: Path, database: str = "") -> list[Checked]:
    """Check the record of every project; works beside a server that runs."""
    path = folder / OWN / FILE
    if not database and not path.exists():
        raise InputError(f"{folder} holds no workbench: {path} is not there")
    store = Database(database or f"sqlite:///{path}")
    try:
        return store.read_at_once(verify)
    finally:
        store.close()


def backup_folder(folder: Path, target: Path, database: str = "") -> None:
    """Write a copy of the database; works beside a server that runs."""
    path = folder / OWN / FILE
    if not database and not path.exists():
        raise InputError(f"{folder} holds no workbench: {path} is not there")
    store = Database(database or f"sqlite:///{path}")
    try:
        store.backup(target)
    finally:
        store.close()
