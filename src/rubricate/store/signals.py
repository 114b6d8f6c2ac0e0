"""Who waits for a project to change is woken: by this process, or by PostgreSQL for all of them."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

#: The channel on which PostgreSQL tells all servers which project changed.
CHANNEL = "rubricate"
#: Seconds before a lost connection is tried again.
_PAUSE = 1.0


class Wakes:
    """`tell` calls all that `watch` a project; with a database to listen to, others' commits do."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None
        self._end, self._ended = socket.socketpair()

    @contextmanager
    def watch(self, project: str, wake: Callable[[], None]) -> Iterator[None]:
        """Call a function, in another thread, whenever a project may have changed."""
        with self._lock:
            self._waiting.setdefault(project, []).append(wake)
            if self._url is not None and self._thread is None:
                self._thread = threading.Thread(target=self._listen, name="listener", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waiting[project].remove(wake)
                if not self._waiting[project]:
                    del self._waiting[project]

    def tell(self, projects: Iterable[str]) -> None:
        """Say that projects changed."""
        with self._lock:
            wakes = [wake for project in projects for wake in self._waiting.get(project, ())]
        for wake in wakes:
            wake()

    def close(self) -> None:
        """End the thread that listens."""
        self._end.close()
        if self._thread is not None:
            self._thread.join()
        self._ended.close()

    def _listen(self) -> None:
        import psycopg

        while True:
            try:
                with psycopg.connect(self._url or "", autocommit=True) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    # What changed while nobody listened was told to nobody.
                    self.tell(list(self._waiting))
                    while self._ready(connection):
                        self.tell({one.payload for one in connection.notifies(timeout=0)})
                    return
            except psycopg.OperationalError:
                if not self._ready(None, _PAUSE):
                    return

    def _ready(self, connection: Any, seconds: float | None = None) -> bool:
        """Sleep until the connection has news, or the time is over; False: it is the end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ended, selectors.EVENT_READ)
            if connection is not None:
                selector.register(connection, selectors.EVENT_READ)
            return all(key.fileobj is not self._ended for key, _ in selector.select(seconds))
