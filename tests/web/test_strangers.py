"""Attacks by people who are signed in, by tokens and by nobody: refused, and never a failure."""

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from httpx2 import Response
from sqlalchemy import select
from workbench import Browsers, Small, small_project

from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.chain import erase_note, verify
from rubricate.store.people import Identity
from rubricate.web.calls import Bench

PASSWORD = "four plain words here"


@pytest.fixture
def small(bench: Bench) -> Small:
    return small_project(bench.database)


@pytest.mark.parametrize("name", ["what", "format", "rule"])
@pytest.mark.parametrize("path", ["/api/v1/projects/{}/export", "/p/{}/download/archive"])
def test_a_download_writes_nothing_outside_its_own_folder(
    path: str, name: str, browsers: Browsers, small: Small, tmp_path: Path
) -> None:
    boss, place = browsers.of(small.who["manager"]), tmp_path / "kept.zip"
    place.write_bytes(b"somebody's archive")
    before = sorted(tmp_path.rglob("*"))
    asked = {"what": "reference", name: str(place.with_suffix(""))}
    answer = boss.get(path.format(small.project), params=asked)
    assert "application/zip" not in answer.headers["content-type"]
    assert place.read_bytes() == b"somebody's archive"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("number", ["9" * 25, "9" * 5000])
@pytest.mark.parametrize("name", ["after", "limit"])
@pytest.mark.parametrize("path", ["/api/v1/projects/{}/audit", "/p/{}/audit"])
def test_numbers_without_end_are_no_failure(
    path: str, name: str, number: str, browsers: Browsers, small: Small
) -> None:
    boss = browsers.of(small.who["manager"])
    answer = boss.get(path.format(small.project), params={name: number})
    assert answer.status_code == (400 if name == "limit" else 200)


@pytest.mark.parametrize(
    "charset", ["utf-7", "unicode_escape", "punycode", "undefined", '"UTF-16"', "x; charset=utf-8"]
)
def test_forms_come_in_no_odd_encoding(charset: str, browsers: Browsers) -> None:
    part = 'content-disposition: form-data; name="name"\r\n\r\n\\ud800+2AA-\r\n--x--\r\n'
    kind = {"content-type": f"multipart/form-data; boundary=x; charset={charset}"}
    answer = browsers.of(None).post("/signin", content=f"--x\r\n{part}".encode(), headers=kind)
    assert answer.status_code == 400
    plain = {"content-type": "multipart/form-data; boundary=x; charset=UTF-8"}
    answer = browsers.of(None).post("/signin", content=f"--x\r\n{part}".encode(), headers=plain)
    assert answer.status_code == 401


DEEP = 100_000


def test_what_is_nested_deeply_is_refused(bench: Bench, browsers: Browsers, small: Small) -> None:
    boss = browsers.of(small.who["manager"])
    for draft in ("[" * DEEP, f'{{"rubrics":{"[" * DEEP}{"]" * DEEP}}}'):
        page = boss.post(f"/p/{small.project}/rubric/save", data={"draft": draft})
        assert page.status_code == 200 and 'role="alert"' in page.text
    make = partial(people.make_token, person=small.who["manager"].person, name="t", days=1)
    _, secret = bench.database.write(lambda c: make(c, scopes=["suggest"], project=small.project))
    body = f'{{"tasks":[{{"data":{chr(123)}"a":{"[" * DEEP}{"]" * DEEP}{chr(125)}}}]}}'
    kind = {"content-type": "application/json", "authorization": f"Bearer {secret}"}
    answer = boss.post("/compat/labelstudio/c/predict", content=body.encode(), headers=kind)
    assert answer.status_code == 400


def test_weights_and_numbers_are_those_that_files_may_hold(
    browsers: Browsers, small: Small
) -> None:
    """The server takes only numbers that can be downloaded and read again."""
    boss, place = browsers.of(small.who["manager"]), f"/api/v1/projects/{small.project}"
    features = [{"id": "w", "text": "Fever", "weight": 1e300}]
    rubrics = {"rubrics": [{"case": "d", "features": features}]}
    assert boss.post(f"{place}/rubrics", json=rubrics).status_code == 400
    assert boss.post(f"{place}/rubrics/comparison", json=rubrics).status_code == 400
    note = {"id": "m", "case": "c", "text": "no fever", "metadata": {"n": 10**400}}
    assert boss.post(f"{place}/notes", json={"notes": [note]}).status_code == 400
    note["metadata"] = {"n": -(10**18), "x": 1.5, "s": "a", "b": True, "z": None}
    assert boss.post(f"{place}/notes", json={"notes": [note]}).status_code == 200


LOOKALIKES = {
    "a Cyrillic letter": "\u0430nn",
    "Greek capitals": "\u0391\u039d\u039d",
    "capitals": "ANN",
    "wide letters": "\uff41nn",
}
NO_NAMES = {
    "the folder above": "..",
    "this folder": ".",
    "a backslash": "..\\x",
    "a slash": "a/b",
    "spaces only": "   ",
    "from right to left": "an\u202en",
    "no width": "an\u200bn",
}


@pytest.mark.parametrize("name", LOOKALIKES.values(), ids=LOOKALIKES)
def test_nobody_has_a_name_that_looks_like_anothers(
    name: str, bench: Bench, browsers: Browsers, small: Small
) -> None:
    bench.database.write(lambda c: people.add_person(c, "ann"))
    url = f"/api/v1/projects/{small.project}/people"
    added = browsers.of(small.who["manager"]).post(url, json={"name": name, "roles": ["observer"]})
    assert added.status_code == 409
    assert [one for one in bench.database.read(people.everybody) if one.name == name] == []


@pytest.mark.parametrize("name", NO_NAMES.values(), ids=NO_NAMES)
def test_names_are_such_that_a_folder_may_have_them(
    name: str, browsers: Browsers, small: Small
) -> None:
    url = f"/api/v1/projects/{small.project}/people"
    added = browsers.of(small.who["manager"]).post(url, json={"name": name, "roles": ["observer"]})
    assert added.status_code == 400


@pytest.mark.parametrize(("given", "typed"), [("Zoe\u0308 ", "Zo\u00eb"), (" lee", "lee")])
def test_a_name_is_the_same_on_every_keyboard(
    given: str, typed: str, browsers: Browsers, small: Small
) -> None:
    boss, url = browsers.of(small.who["manager"]), f"/api/v1/projects/{small.project}/people"
    added = boss.post(url, json={"name": given, "roles": ["observer"]}).json()
    assert added["name"] == typed
    browsers.of(None).post(added["invite"], data={"password": PASSWORD})
    for name in (given, typed):
        wanted = {"name": name, "password": PASSWORD}
        assert browsers.of(None).post("/api/v1/session", json=wanted).status_code == 200
        changed = boss.put(f"{url}/{name}", json={"roles": ["curator"]})
        assert changed.status_code == 200


def test_a_project_with_many_annotators_shares_its_notes_by_the_form(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    boss = browsers.of(small.who["manager"])
    names = [f"annotator {i}" for i in range(60)]

    def add(connection) -> None:
        for name in names:
            own = people.add_person(connection, name)
            people.set_roles(connection, small.project, own, ["annotator"], own)

    bench.database.write(add)
    note = {"id": "new", "case": "c", "text": "no fever", "metadata": {"site": "A"}}
    boss.post(f"/api/v1/projects/{small.project}/notes", json={"notes": [note]})
    sites = {f"site {name}": "A" for name in names}
    answer = boss.post(f"/p/{small.project}/assign", data={"site": "site", **sites})
    assert answer.status_code == 200 and 'role="alert"' not in answer.text
    assert "8 assignments" in answer.text


def test_a_token_of_one_project_changes_nothing_else(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    make = partial(people.make_token, person=small.who["manager"].person, days=1)
    scopes = ["read", "write", "export", "suggest"]
    other, _ = bench.database.write(lambda c: make(c, name="other", scopes=scopes))
    _, secret = bench.database.write(
        lambda c: make(c, name="own", scopes=scopes, project=small.project)
    )
    client, bearer = browsers.of(None), {"authorization": f"Bearer {secret}"}

    def ask(method: str, path: str, **more: object) -> Response:
        return client.request(method, f"/api/v1{path}", headers=bearer, **more)

    assert ask("DELETE", f"/me/tokens/{other}").status_code == 403
    assert ask("PUT", "/me/preferences", json={}).status_code == 403
    assert [one["name"] for one in ask("GET", "/me/tokens").json()["tokens"]] == ["own"]
    assert ask("GET", f"/projects/{small.project}").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:80@evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
        ("[::1]", 200),
        ("LOCALHOST:8421", 200),
    ],
)
def test_the_server_answers_to_its_own_names(host: str, status: int, browsers: Browsers) -> None:
    assert browsers.of(None).get("/signin", headers={"host": host}).status_code == status


def test_a_manager_takes_no_run_out_of_the_servers_folder(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    """All projects' runs lie there; who publishes one writes over it."""
    boss = small.who["manager"]
    plain = t.person.update().where(t.person.c.id == boss.person).values(admin=False)
    bench.database.write(lambda c: c.execute(plain))
    client = browsers.of(replace(boss, admin=False))
    asked = {"folder": "scores", "notes": "open-notes"}
    answer = client.post(f"/api/v1/projects/{small.project}/runs", json=asked)
    assert answer.status_code == 403
    page = client.post(f"/p/{small.project}/review", data=asked)
    assert 'role="alert"' in page.text and 'name="folder"' not in page.text


def test_who_uses_an_invitation_ends_the_session_of_that_browser(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    client = browsers.of(small.who["ann"])
    link = bench.database.write(
        lambda c: people.add_member(c, small.project, "new", ["observer"], small.who["manager"])
    ).secret
    client.cookies.clear()
    secret = bench.database.write(lambda c: people.open_session(c, small.who["ann"].person))
    kept = {"cookie": f"rubricate={secret}"}
    client.post(f"/invite/{link}", data={"password": PASSWORD}, headers=kept,
                follow_redirects=False)  # fmt: skip
    assert bench.database.read(lambda c: people.session_identity(c, secret)) is None


def test_work_on_a_note_that_is_erased_meanwhile_leaves_the_record_whole(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    ann = browsers.of(small.who["ann"])
    own = ann.get(f"/api/v1/projects/{small.project}/queue").json()["assignments"][0]
    path = f"/api/v1/assignments/{own['id']}"
    before = ann.get(path).json()
    boss = small.who["manager"].person
    number = bench.database.read(
        lambda c: c.scalar(select(t.assignment.c.note).where(t.assignment.c.id == own["id"]))
    )
    bench.database.write(lambda c: erase_note(c, small.project, number, boss))

    def judge(sha256: str) -> int:
        body = {"answer": "absent", "marks": [], "version": 0, "sha256": sha256}
        return ann.put(f"{path}/features/f1", json=body).status_code

    assert judge(before["note"]["sha256"]) == 409  # a page that was open loads the note again
    after = ann.get(path).json()["note"]
    assert (after["text"], after["sha256"] == before["note"]["sha256"]) == ("", False)
    assert judge(after["sha256"]) == 200
    assert [one.faults for one in bench.database.read(verify)] == [[]]


def archive(*files: tuple[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as packed:
        for name, content in files:
            packed.writestr(name, content)
    return target.getvalue()


TABLE, BESIDE = b"id,text,case\na,no fever,c\n", b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X"
ARCHIVES: dict[str, Callable[[], tuple[str, bytes]]] = {
    "capitals": lambda: ("NOTES.ZIP", archive(("notes.csv", TABLE))),
    "macOS, a file": lambda: (
        "n.zip", archive(("notes.csv", TABLE), ("__MACOSX/._notes.csv", BESIDE))),
    "macOS, a folder": lambda: (
        "n.zip", archive(("c/a.txt", b"no fever"), ("c/.DS_Store", BESIDE), (".DS_Store", BESIDE),
                         ("__MACOSX/c/._a.txt", BESIDE), ("__MACOSX/._c", BESIDE))),
}  # fmt: skip


@pytest.mark.parametrize("made", ARCHIVES.values(), ids=ARCHIVES)
def test_archives_are_read_as_people_make_them(
    made: Callable[[], tuple[str, bytes]], browsers: Browsers, small: Small
) -> None:
    files = {"notes": made(), "rubric": ("r.csv", b"case,feature,text\nc,f1,Fever\n")}
    page = browsers.of(small.who["manager"]).post(
        "/projects/new", data={"name": "new", "case": "c"}, files=files
    )
    assert "1 note" in page.text and page.url.path.endswith("/people")


def test_signing_in_with_the_name_as_it_was_kept_before(bench: Bench, browsers: Browsers) -> None:
    """Earlier releases kept names as they were typed."""
    values = {"id": "x", "name": "old ", "admin": False, "disabled": False, "made": 0}
    bench.database.write(lambda c: c.execute(t.person.insert().values(**values)))
    found = bench.database.read(lambda c: people.person_named(c, "old "))
    assert found is not None and browsers.of(Identity("x", "old ")).get("/").status_code == 200
