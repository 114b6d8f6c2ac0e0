"""Long work that somebody waits for: it goes on in a thread, and a page shows how far it is."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from rubricate.errors import RubricateError
from rubricate.progress import Progress
from rubricate.store.database import new_id
from rubricate.store.refusals import NotFoundError, UnavailableError

log = logging.getLogger("rubricate.web")
#: How many run at once; the others wait for their turn.
_AT_ONCE = 2
#: How many are remembered, so that their page can still say how they ended.
_REMEMBERED = 200


@dataclass(eq=False, slots=True)
class Job:
    """One piece of work, how far it is, and how it ended."""

    id: str
    person: str
    title: str
    #: The page with the form that began it.
    back: str
    label: str = "waiting for other uploads"
    done: int = 0
    total: int | None = None
    #: The page that shows the result.
    goal: str = ""
    faults: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def report(self, done: int, total: int | None, label: str) -> None:
        """Take how far the work is."""
        self.done, self.total, self.label = done, total, label


class Jobs:
    """The work that a server does in the background for those who wait for it."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._turns = threading.Semaphore(_AT_ONCE)

    def start(self, person: str, title: str, back: str, work: Callable[[Progress], str]) -> Job:
        """Begin work that returns the address of its result; what it refuses are its faults."""
        from rubricate.web.rendering import fault_lines

        job = Job(new_id(), person, title, back)

        def run() -> None:
            try:
                with self._turns:
                    job.goal = work(job.report)
            except UnavailableError as error:
                log.error("unavailable: %s: %s", title, error)
                job.faults = ["The database cannot be used at the moment. Nothing was saved."]
            except RubricateError as error:
                job.faults = fault_lines(error)
            except Exception as error:
                # Its message may hold words of a note.
                log.error("%s failed: %s", title, type(error).__name__)
                job.faults = ["Something failed; it is in the server's log. Nothing was saved."]
            finally:
                job.ended.set()

        with self._lock:
            ended = [one for one, known in self._jobs.items() if known.ended.is_set()]
            for one in ended[: max(0, len(self._jobs) - _REMEMBERED)]:
                del self._jobs[one]
            self._jobs[job.id] = job
        threading.Thread(target=run, name="upload", daemon=True).start()
        return job

    def find(self, job: str, person: str) -> Job:
        """Return a person's job; a refusal where there is none."""
        found = self._jobs.get(job)
        if found is None or found.person != person:
            raise NotFoundError(
                "This work is not known: the server may have been started again. If its result is "
                "not among your projects, nothing of it was saved."
            )
        return found
