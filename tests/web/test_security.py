"""Signing in, sessions, other sites, headers, addresses, and what no log may hold."""

import logging

import pytest
from workbench import TEXTS, Browsers, small_project

from rubricate.errors import InputError
from rubricate.store import people
from rubricate.store import tables as t
from rubricate.web import account
from rubricate.web.calls import Bench
from rubricate.web.serving import Address, setup_link

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
    for _ in range(people.FREE_ATTEMPTS + 8):
        bench.database.write(lambda c: people.failed(c, "name ada"))
    slow = client.post("/api/v1/session", json={"name": "ada", "password": PASSWORD})
    assert slow.status_code == 429
    assert int(slow.headers["retry-after"]) >= 1


@pytest.mark.parametrize("bad", ["short", "password1234", "aaaaaaaaaaaaaa", "ada is my name 1"])
def test_bad_passwords_are_refused(bad: str) -> None:
    with pytest.raises(InputError):
        account.check_password("ada", bad)


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
    from workbench import CORPUS

    from rubricate import write_corpus

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
