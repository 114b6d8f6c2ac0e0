"""The sender decides how much of a body is read; the server checks the sender first."""

import asyncio
from typing import Any

import pytest
from workbench import Browsers, small_project

from rubricate.store import people
from rubricate.web.calls import Bench

BOUNDARY = "multipart/form-data; boundary=b"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
#: What anybody may send without being known, and a little more.
OPEN_PATHS = [("/signin", FORM), ("/signin", BOUNDARY), ("/signout", FORM), ("/setup/x", FORM),
              ("/invite/x", BOUNDARY), ("/api/v1/session", JSON)]  # fmt: skip
#: What only people who are known may send, and how they are answered.
CLOSED_PATHS = [("/projects/new", BOUNDARY), ("/p/x/notes", BOUNDARY), ("/p/x/rubric", FORM),
                ("/api/v1/projects/x/notes", JSON), ("/compat/labelstudio/c/predict", JSON),
                ("/compat/inception/t/c/predict", JSON)]  # fmt: skip


class Sender:
    """A client that says what it sends, and counts how much of it the server takes."""

    def __init__(self, app: Any, path: str, kind: str, length: int | None, **headers: str) -> None:
        self.app, self.taken, self.status, self.body = app, 0, 0, b""
        self.headers: dict[bytes, bytes] = {}
        said = {"host": "127.0.0.1", "sec-fetch-site": "same-origin", "content-type": kind}
        said |= {} if length is None else {"content-length": str(length)}
        self.scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
            "query_string": b"", "scheme": "http", "server": ("127.0.0.1", 80),
            "client": ("192.0.2.1", 9), "http_version": "1.1",
            "headers": [(k.encode(), v.encode()) for k, v in (said | headers).items()],
        }  # fmt: skip

    async def receive(self) -> dict[str, Any]:
        self.taken += 1000
        assert self.taken < 5_000_000, "the server reads on and on"
        return {"type": "http.request", "body": b"a" * 1000, "more_body": True}

    async def send(self, message: dict[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.headers |= dict(message.get("headers", ()))
        self.body += message.get("body", b"")

    def answer(self) -> int:
        asyncio.run(self.app(self.scope, self.receive, self.send))
        return self.status


@pytest.mark.parametrize(("path", "kind"), OPEN_PATHS)
def test_nobody_unknown_sends_much(bench: Bench, browsers: Browsers, path: str, kind: str) -> None:
    said = Sender(browsers.app, path, kind, 80_000_000)
    assert (said.answer(), said.taken) == (413, 0)
    unsaid = Sender(browsers.app, path, kind, None)
    assert unsaid.answer() in (400, 413)
    assert unsaid.taken <= 66_000
    # The server itself would read the rest, as fast as it comes.
    assert said.headers[b"connection"] == unsaid.headers[b"connection"] == b"close"


@pytest.mark.parametrize(("path", "kind"), CLOSED_PATHS)
@pytest.mark.parametrize("length", [80_000_000, None])
def test_who_is_not_known_is_told_before_anything_is_read(
    bench: Bench, browsers: Browsers, path: str, kind: str, length: int | None
) -> None:
    sender = Sender(browsers.app, path, kind, length)
    assert (sender.answer(), sender.taken) == (401, 0)
    assert sender.headers[b"connection"] == b"close"


def test_nobody_sends_more_than_a_route_takes(bench: Bench, browsers: Browsers) -> None:
    small = small_project(bench.database)
    boss, ann = (
        bench.database.write(lambda c, k=key: people.open_session(c, small.who[k].person))
        for key in ("manager", "ann")
    )
    own = f"/p/{small.project}/notes"
    too_much = Sender(browsers.app, own, BOUNDARY, 300_000_000, cookie=f"rubricate={boss}")
    assert (too_much.answer(), too_much.taken) == (413, 0)
    assert b"connection" not in too_much.headers  # a browser shows why, when it has sent all
    other = Sender(browsers.app, own, BOUNDARY, 90_000_000, cookie=f"rubricate={ann}")
    assert (other.answer(), other.taken) == (403, 0)
    people_form = f"/p/{small.project}/people"
    for kind in (BOUNDARY, FORM):
        unsaid = Sender(browsers.app, people_form, kind, None, cookie=f"rubricate={boss}")
        assert unsaid.answer() in (400, 413)
        assert unsaid.taken <= 1_002_000


def test_large_bodies_of_people_who_may_send_them_arrive(bench: Bench, browsers: Browsers) -> None:
    small = small_project(bench.database)
    boss = browsers.of(small.who["manager"])
    notes = [{"id": "long", "case": "c", "text": "no fever. " * 20_000}]
    answer = boss.post(f"/api/v1/projects/{small.project}/notes", json={"notes": notes})
    assert answer.json() == {"added": 1}
    table = ("id,case,text\nother,c," + "no fever. " * 20_000 + "\n").encode()
    answer = boss.post(f"/p/{small.project}/notes", files={"notes": ("notes.csv", table)})
    assert answer.url.path.endswith("/people")
    assert "5 notes" in answer.text


def test_a_damaged_form_is_refused(bench: Bench, browsers: Browsers) -> None:
    client = browsers.of(None)
    damaged = client.post(
        "/signin", content=b"--x", headers={"content-type": "multipart/form-data"}
    )
    assert damaged.status_code == 400
    many = "&".join(f"f{i}=1" for i in range(60))
    answer = client.post("/signin", content=many, headers={"content-type": FORM})
    assert answer.status_code == 400
