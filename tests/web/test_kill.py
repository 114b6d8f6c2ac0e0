"""A server that is killed between click and answer loses nothing that was shown as saved."""

import signal
import threading
from functools import partial
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import select
from workbench import Small, served, small_project

from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.chain import verify
from rubricate.store.database import Database
from rubricate.web.serving import open_bench

pytestmark = pytest.mark.engine


class Saving(threading.Thread):
    """One annotator who saves as fast as answers come, until the server is gone."""

    def __init__(self, url: str, token: str, project: str, saved: dict, enough: threading.Event):
        super().__init__()
        self.url, self.project, self.saved, self.enough = url, project, saved, enough
        self.answers = 0
        self.headers = {"authorization": f"Bearer {token}"}

    def run(self) -> None:
        try:
            with httpx.Client(
                base_url=f"{self.url}/api/v1", headers=self.headers, timeout=120
            ) as c:
                own = c.get(f"/projects/{self.project}/next").json()["assignment"]
                sha256 = c.get(f"/assignments/{own}").json()["note"]["sha256"]
                for number in range(1, 1000):
                    for feature in ("f1", "f2"):
                        self.save(c, own, sha256, feature, number)
        except httpx.TransportError:
            return

    def save(self, client, own, sha256, feature, number) -> None:
        seen = self.saved.get((own, feature), (0, None))
        marks = [[[number % 7, 10]]]
        body = {"answer": "present", "marks": marks, "version": seen[0], "sha256": sha256}
        answer = client.put(f"/assignments/{own}/features/{feature}", json=body)
        value = answer.json() if answer.status_code == 200 else answer.json()["saved"]
        self.saved[own, feature] = (value["version"], value["marks"])
        self.answers += 1
        if self.answers == 6:
            self.enough.set()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_nothing_that_was_saved_is_lost(kind: str, tmp_path: Path, request) -> None:
    url = request.getfixturevalue("postgres")() if kind == "postgres" else ""
    with open_bench(tmp_path, url) as bench:
        small: Small = small_project(bench.database)
        tokens = [
            bench.database.write(partial(
                people.make_token, person=small.who[key].person, name="t",
                scopes=["read", "write"], days=1))[1]
            for key in ("ann", "bob")
        ]  # fmt: skip
    saved: dict = {}
    for _ in range(2):
        with served(tmp_path, url) as (process, address):
            enough = threading.Event()
            savers = [Saving(address, token, small.project, saved, enough) for token in tokens]
            for saver in savers:
                saver.start()
            while not enough.wait(1):
                assert all(saver.is_alive() for saver in savers)
            process.send_signal(signal.SIGKILL)
            for saver in savers:
                saver.join(300)
        check(url or f"sqlite:///{tmp_path / 'workbench' / 'workbench.sqlite'}", saved)


def check(url: str, saved: dict) -> None:
    database = Database(url)
    rows = database.read(
        lambda c: c.execute(
            select(t.judgement, t.assignment.c.id).join(
                t.assignment,
                (t.assignment.c.note == t.judgement.c.note)
                & (t.assignment.c.person == t.judgement.c.person),
            )
        ).all()
    )
    kept = {(row.id, row.feature): row.version for row in rows}
    # One more may be there: it was written, and its answer did not come through.
    assert all(kept[key] - version in (0, 1) for key, (version, _) in saved.items())
    assert [one.faults for one in database.read(verify)] == [[]]
    database.close()


def test_the_client_of_the_documentation_works(tmp_path: Path, capsys) -> None:
    page = (Path(__file__).parents[2] / "docs" / "workbench-server.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    with open_bench(tmp_path) as bench:
        small = small_project(bench.database)
        made = partial(people.make_token, person=small.who["ann"].person, name="t", scopes=["read"])
        _, token = bench.database.write(partial(made, days=1))
    with served(tmp_path, "") as (_, address):
        exec(code.replace("http://127.0.0.1:8421", address).replace("rub_...", token), {})
    assert capsys.readouterr().out == "small ['annotator']\n"
