"""Signing in, sessions, other sites, headers, addresses, and what no log may hold."""

import io
import logging
import zipfile
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection
from starlette.testclient import TestClient
from workbench import CORPUS, TEXTS, Browsers, small_project

from rubricate import write_corpus
from rubricate.errors import InputError
from rubricate.run.reading import SCORES
from rubricate.run.writing import RUN
from rubricate.store import people
from rubricate.store import tables as t
from rubricate.web import account
from rubricate.web.calls import Bench
from rubricate.web.serving import Address, BehindProxy, setup_link

PASSWORD = "four plain words here"


def set_up(bench: Bench, browsers: Browsers):
    client = browsers.of(None)
    link = setup_link(bench)
    answer = client.post(link, data={"name": "ada", "password": PASSWORD})
    assert answer.url.path == "/"
    return client, link


def test_the_first_link_works_once(bench: Bench, browsers: Browsers) -> None:
    client, link = set_up(bench, browsers)
    assert client.get("/api/v1/me").json()["admin"]
    assert setup_link(bench) is None
    assert browsers.of(None).get(link).status_code == 404
    again = browsers.of(None).post(link, data={"name": "eve", "password": PASSWORD})
    assert again.status_code == 404


def test_signing_in_and_out(bench: Bench, browsers: Browsers) -> None:
    first, _ = set_up(bench, browsers)
    client = browsers.of(None)
    given = {"name": "ada", "password": PASSWORD}
    answer = client.post("/api/v1/session", json=given)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert client.get("/api/v1/me").status_code == 200
    kept = str(bench.database.read(lambda c: c.execute(t.session.select()).all()))
    assert client.cookies["rubricate"] not in kept
    assert client.delete("/api/v1/session").status_code == 204
    assert client.get("/api/v1/me").status_code == 401
    # Signing out everywhere ends the other one, too.
    first.post("/account/sessions")
    assert first.get("/api/v1/me").status_code == 401


def test_wrong_passwords_and_unknown_names_look_alike_and_slow_down(
    bench: Bench, browsers: Browsers
) -> None:
    set_up(bench, browsers)
    client = browsers.of(None)
    answers = []
    for name in ("ada", "nobody"):
        answer = client.post("/api/v1/session", json={"name": name, "password": "x" * 12})
        answers.append((answer.status_code, answer.json()))
    assert answers[0] == answers[1]


def test_wrong_passwords_slow_down_one_name_from_one_address(
    bench: Bench, browsers: Browsers
) -> None:
    set_up(bench, browsers)
    bob = bench.database.write(lambda c: people.add_person(c, "bob"))
    hashed = account.hash_password("bob", PASSWORD)
    bench.database.write(lambda c: people.set_password(c, bob, hashed))

    def ask(name: str, password: str, address: str = "192.0.2.1"):
        client = TestClient(browsers.app, base_url="http://127.0.0.1", client=(address, 9))
        given = {"name": name, "password": password}
        return client.post("/api/v1/session", json=given, headers={"sec-fetch-site": "none"})

    for _ in range(people.FREE_ATTEMPTS):
        assert ask("ada", "x" * 12).status_code == 401
    later = t.attempt.update().values(until=t.attempt.c.until + 30_000)
    bench.database.write(lambda c: c.execute(later))
    for name in ("ada", "ADA ", "ada"):  # not even the right one, whatever the name's capitals
        slow = ask(name, PASSWORD)
        assert slow.status_code == 429
        seconds = int(slow.headers["retry-after"])
        assert 1 <= seconds <= 60 and f"{seconds} second" in slow.json()["error"]["message"]
    # Others behind the same address, and the same person elsewhere, are let in.
    assert ask("bob", PASSWORD).status_code == 200
    assert ask("ada", PASSWORD, "192.0.2.2").status_code == 200
    form = {"name": "ada", "password": PASSWORD}
    page = TestClient(browsers.app, base_url="http://127.0.0.1", client=("192.0.2.1", 9)).post(
        "/signin", data=form, headers={"sec-fetch-site": "none"}
    )
    assert page.status_code == 429
    assert f"in {page.headers['retry-after']} second" in page.text


@pytest.mark.parametrize("end", ["192.0.2.7", "192.0.2.7:{}", "[2001:db8::{}]:{}"])
def test_nobody_chooses_an_address_behind_a_proxy(
    end: str, bench: Bench, browsers: Browsers
) -> None:
    """The client's own forwarding header stands before the address that the proxy adds."""
    set_up(bench, browsers)
    client = TestClient(BehindProxy(browsers.app), base_url="http://127.0.0.1")
    given = {"name": "ada", "password": "x" * 12}
    answers = []
    later = t.attempt.update().values(until=t.attempt.c.until + 30_000)
    for i in range(1, people.FREE_ATTEMPTS + 2):
        if i > people.FREE_ATTEMPTS:  # however slow the machine is
            bench.database.write(partial(Connection.execute, statement=later))
        said = {"sec-fetch-site": "none", "x-forwarded-for": f"10.0.0.{i}, {end.format(i, i)}"}
        answers.append(client.post("/api/v1/session", json=given, headers=said).status_code)
    assert answers == [401] * people.FREE_ATTEMPTS + [429]


@pytest.mark.parametrize(
    "bad",
    [
        "short",
        "password1234",
        "aaaaaaaaaaaaaa",
        "ada is my name 1",
        "my name=ADA99 ok",
        "ada2026ada2026",
    ],
)
def test_bad_passwords_are_refused(bad: str) -> None:
    with pytest.raises(InputError):
        account.check_password("ada", bad)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("ada", "escapade with bears"),
        ("ann", "planned annotations"),
        ("Ann Lee", "lee and ann walk"),
    ],
)
def test_names_inside_words_are_no_names(name: str, good: str) -> None:
    account.check_password(name, good)
    with pytest.raises(InputError, match="name"):
        account.check_password(name, f"{name} was here 12")


def test_other_sites_can_send_nothing(bench: Bench, browsers: Browsers) -> None:
    client, _ = set_up(bench, browsers)
    body = {"name": "x"}
    for headers in ({"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
                    {"sec-fetch-site": "same-site"}, {"sec-fetch-site": ""},
                    {"origin": "null", "sec-fetch-site": ""},
                    {"origin": "http://evil.example"}):  # fmt: skip
        assert client.post("/api/v1/projects", json=body, headers=headers).status_code == 403
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": ""}
    assert client.post("/api/v1/projects", json=body, headers=own).status_code == 200
    plain = client.post("/api/v1/projects", content=b'{"name": "x"}',
                        headers={"content-type": "text/plain"})  # fmt: skip
    assert plain.status_code == 415


def test_every_answer_has_the_headers(bench: Bench, browsers: Browsers) -> None:
    client, _ = set_up(bench, browsers)
    for path in ("/", "/api/v1/me", "/nowhere", "/static/style.css", "/signin"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert path.startswith("/static/") or headers["cache-control"] == "no-store"
        assert "<script>" not in client.get(path).text


def test_other_names_of_the_server_are_refused(browsers: Browsers) -> None:
    client = browsers.of(None)
    assert client.get("/signin", headers={"host": "evil.example"}).status_code == 421


def test_signing_in_leads_only_to_own_pages(bench: Bench, browsers: Browsers) -> None:
    client, _ = set_up(bench, browsers)
    for goal, place in (
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/users", "/users"),
    ):
        given = {"name": "ada", "password": PASSWORD, "next": goal}
        answer = client.post("/signin", data=given, follow_redirects=False)
        assert answer.headers["location"] == place


def test_idle_sessions_end(bench: Bench, browsers: Browsers) -> None:
    client, _ = set_up(bench, browsers)
    old = t.session.update().values(seen=t.session.c.seen - people.IDLE - 1)
    bench.database.write(lambda c: c.execute(old))
    assert client.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(
    "address", [Address("0.0.0.0"), Address("192.0.2.1"), Address("example.org")]
)
def test_other_addresses_need_encryption(address: Address) -> None:
    with pytest.raises(InputError, match="TLS"):
        address.check()
    Address(address.host, behind_proxy=True).check()


def test_no_log_holds_note_text_or_secrets(bench: Bench, browsers: Browsers, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    client, link = set_up(bench, browsers)
    small = small_project(bench.database)
    ann = browsers.of(small.who["ann"])
    work = ann.get(f"/api/v1/projects/{small.project}/next").json()["assignment"]
    text = ann.get(f"/api/v1/assignments/{work}").json()["note"]["text"]
    assert text in TEXTS
    client.post("/api/v1/session", json={"name": text, "password": PASSWORD})
    client.get(f"/invite/{link}")
    logged = "\n".join(record.getMessage() for record in caplog.records
                       if not record.name.startswith("http"))  # fmt: skip
    assert text not in logged
    assert PASSWORD not in logged
    assert link.rsplit("/", 1)[1] not in logged


def test_uploads_make_a_project_and_faults_are_said(
    bench: Bench, browsers: Browsers, tmp_path
) -> None:
    client, _ = set_up(bench, browsers)
    write_corpus(CORPUS, tmp_path / "notes.jsonl", format="jsonl")
    upload = {"notes": ("notes.jsonl", (tmp_path / "notes.jsonl").read_bytes())}
    made = client.post("/projects/new", data={"name": "new", "rename": "1"}, files=upload)
    assert made.url.path.endswith("/people")
    assert "3 notes" in made.text
    table = {"notes": ("notes.csv", b"note,text\na,no fever\n"),
             "rubric": ("rubric.csv", b"case,feature,text\nc,f1,Fever\n")}  # fmt: skip
    made = client.post("/projects/new", data={"name": "table"}, files=table)
    assert "1 note, 0 assignments" in made.text
    broken = {"notes": ("notes.jsonl", b"{")}
    answer = client.post("/projects/new", data={"name": "<n>"}, files=broken)
    assert 'value="&lt;n&gt;"' in answer.text  # what was typed need not be typed again
    assert 'role="alert"' in answer.text
    assert str(tmp_path.parent) not in answer.text


def packed(name: str = "notes.csv", method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    """Return an archive with one file."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        archive.writestr(name, b"id,text,case\na,no fever,c\n" * 20)
    return bytearray(target.getvalue())


def damaged() -> bytes:
    archive = packed()
    begin = archive.index(b"notes.csv") + 9
    archive[begin : begin + 10] = b"\xff" * 10
    return bytes(archive)


def marked(at: int, in_directory: int, value: int) -> bytes:
    """Return an archive with one number changed, beside the file and in the directory."""
    archive = packed(method=zipfile.ZIP_STORED)
    archive[at] = archive[archive.rindex(b"PK\x01\x02") + in_directory] = value
    return bytes(archive)


def two_of_a_name() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("notes", b"x")
        archive.writestr("notes/a.csv", b"x")
    return target.getvalue()


ODD_UPLOADS = {
    "no name": ("..", b"id,text\na,no fever\n"),
    "a long name": (f"{'x' * 300}.csv", b"id,text\na,no fever\n"),
    "an empty archive": ("n.zip", b"PK\x05\x06" + bytes(18)),
    "a damaged archive": ("n.zip", damaged()),
    "a password": ("n.zip", marked(6, 8, 1)),
    "an unknown method": ("n.zip", marked(8, 10, 99)),
    "a long name inside": ("n.zip", bytes(packed(f"{'y' * 300}.csv"))),
    "a file and a folder of one name": ("n.zip", two_of_a_name()),
}


@pytest.mark.parametrize("field", ["notes", "rubric"])
@pytest.mark.parametrize("upload", ODD_UPLOADS.values(), ids=ODD_UPLOADS)
def test_odd_uploads_are_refused_with_a_reason(
    upload: tuple[str, bytes], field: str, bench: Bench, browsers: Browsers
) -> None:
    client, _ = set_up(bench, browsers)
    files = {"notes": ("n.csv", b"id,text,case\na,no fever,c\n"), field: upload}
    answer = client.post("/projects/new", data={"name": "new"}, files=files)
    assert 'role="alert"' in answer.text
    assert "Something failed" not in answer.text


@pytest.mark.parametrize("kind", ["parquet", "datasets", "docbin", "run"])
@pytest.mark.parametrize("place", ["/projects/new", "/p/{}/notes"])
def test_tables_of_bytes_are_not_read_from_strangers(
    kind: str, place: str, bench: Bench, browsers: Browsers, tmp_path: Path
) -> None:
    small = small_project(bench.database)
    boss = browsers.of(small.who["manager"])
    made = tmp_path / {"docbin": "notes.spacy"}.get(kind, "notes")
    if kind == "run":
        made.mkdir()
        for name in (RUN, SCORES):
            (made / name).write_text("{}")
    else:
        if kind == "docbin":
            pytest.importorskip("spacy")
        write_corpus(CORPUS, made, format=kind)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in [made, *made.rglob("*")] if made.is_dir() else [made]:
            archive.write(path, path.relative_to(tmp_path))
    upload = {"notes": ("notes.zip", packed.getvalue())}
    answer = boss.post(place.format(small.project), data={"name": "new"}, files=upload)
    assert f"{kind} is not taken" in answer.text
    assert "jsonl" in answer.text
