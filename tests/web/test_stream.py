"""Dashboards are told of a change when it happens, by another server of the same database too."""

import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx2 as httpx
import pytest
from workbench import served, small_project

from rubricate.store import people
from rubricate.web.serving import open_bench

pytestmark = pytest.mark.engine


def judgements(lines) -> int:
    """Return the content of the next message of a stream."""
    data = next(line for line in lines if line.startswith("data:"))
    return json.loads(data.removeprefix("data:"))["judgements"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_save_is_told_to_who_watches(kind: str, tmp_path: Path, request) -> None:
    url = request.getfixturevalue("postgres")() if kind == "postgres" else ""
    with open_bench(tmp_path / "one", url) as bench:
        small = small_project(bench.database)
        headers = {
            key: {"authorization": "Bearer " + bench.database.write(partial(
                people.make_token, person=small.who[key].person, name="t",
                scopes=["read", "write"], days=1))[1]}
            for key in ("ann", "manager")
        }  # fmt: skip
    with ExitStack() as stack:
        _, watched = stack.enter_context(served(tmp_path / "one", url))
        _, written = stack.enter_context(served(tmp_path / "two", url)) if url else (0, watched)
        client = stack.enter_context(httpx.Client(timeout=300))
        path = f"/api/v1/projects/{small.project}/events"
        stream = client.stream("GET", watched + path, headers=headers["manager"])
        lines = stack.enter_context(stream).iter_lines()
        assert judgements(lines) == 0
        ask = partial(client.request, headers=headers["ann"])
        own = ask("GET", f"{written}/api/v1/projects/{small.project}/next").json()["assignment"]
        work = f"{written}/api/v1/assignments/{own}"
        body = {"answer": "absent", "marks": [], "version": 0}
        body["sha256"] = ask("GET", work).json()["note"]["sha256"]
        assert ask("PUT", f"{work}/features/f1", json=body).status_code == 200
        assert judgements(lines) == 1
