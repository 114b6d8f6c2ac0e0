"""Accounts and roles: nobody gets more than they have, whoever asks, and by whatever way."""

from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import select
from workbench import Browsers, Small, on_both, small_project

from rubricate.errors import InputError
from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.chain import verify
from rubricate.store.people import ROLES, Identity
from rubricate.web.calls import Bench
from rubricate.web.policy import PREFIX, RULES
from rubricate.web.serving import setup_link

PASSWORD = "four plain words here"


@pytest.fixture
def small(bench: Bench) -> Small:
    """A project whose manager administers nothing; \"root\" does, without being in it."""
    made = small_project(bench.database)
    boss = made.who["manager"]
    root = bench.database.write(lambda c: people.add_person(c, "root", admin=True))
    plain = t.person.update().where(t.person.c.id == boss.person).values(admin=False)
    bench.database.write(lambda c: c.execute(plain))
    made.who["manager"], made.who["root"] = replace(boss, admin=False), Identity(root, "root", True)
    return made


def add(bench: Bench, name: str, **more) -> Identity:
    return Identity(bench.database.write(lambda c: people.add_person(c, name, **more)), name)


def roles(bench: Bench, small: Small, who: Identity) -> set[str]:
    return set(bench.database.read(partial(
        people.roles_of, project=small.project, person=who.person)))  # fmt: skip


def links(bench: Bench) -> list[tuple[str, str | None]]:
    return [tuple(row) for row in bench.database.read(
        lambda c: c.execute(select(t.link.c.kind, t.link.c.person)).all())]  # fmt: skip


def set_password(bench: Bench, who: Identity) -> None:
    from rubricate.web.account import hash_password

    kept = hash_password(who.name, PASSWORD)
    bench.database.write(lambda c: people.set_password(c, who.person, kept))


@on_both
@pytest.mark.parametrize("kind", ["fresh", "administrator", "in use", "by a provider", "member"])
@pytest.mark.parametrize("key", ["manager", "ann", "curator", "reviewer", "observer", "stranger"])
def test_nobody_in_a_project_gets_a_link_for_an_account_that_is_there(
    bench: Bench, browsers: Browsers, small: Small, key: str, kind: str
) -> None:
    small.who["stranger"] = add(bench, "stranger")
    victim = small.who["bob"] if kind == "member" else add(
        bench, "victim", admin=kind == "administrator"
    )  # fmt: skip
    if kind == "in use":
        set_password(bench, victim)
    if kind == "by a provider":
        bench.database.write(lambda c: people.set_email(c, victim.person, "victim@example.org"))
        bench.database.write(lambda c: people.vouched(c, "iss", "sub", "victim@example.org"))
    client, before = browsers.of(small.who[key]), roles(bench, small, victim)
    url = f"/api/v1/projects/{small.project}/people"
    answers = [
        client.post(url, json={"name": victim.name, "roles": ["manager"]}),
        client.put(f"{url}/{victim.name}", json={"roles": sorted(before) or ["observer"]}),
        client.post(f"/p/{small.project}/people", data={"name": victim.name, "manager": "1"}),
        client.post(f"/p/{small.project}/people",
                    data={"name": victim.name, "known": "1", **dict.fromkeys(before or {"observer"}, "1")}),
        client.post("/users", data={"name": victim.name, "what": "invite"}),
        client.post("/users", data={"name": victim.name, "what": "admin"}),
    ]  # fmt: skip
    assert not any("/invite/" in answer.text for answer in answers)
    assert links(bench) == []
    assert roles(bench, small, victim) == before
    asked = browsers.of(victim).get("/api/v1/me").json()["asked"]
    may_ask = key == "manager" and kind != "member"
    assert [one["project"] for one in asked] == ([small.project] if may_ask else [])


def test_who_was_asked_joins_or_declines(bench: Bench, browsers: Browsers, small: Small) -> None:
    boss, url = browsers.of(small.who["manager"]), f"/api/v1/projects/{small.project}/people"
    people_ = {name: add(bench, name) for name in ("cora", "dora", "flora")}
    for name in people_:
        added = boss.post(url, json={"name": name, "roles": ["annotator"]})
        assert (added.status_code, added.json()["state"], added.json()["invite"]) == (
            200, "asked", None)  # fmt: skip
        assert boss.post(url, json={"name": name, "roles": ["manager"]}).status_code == 409
    cora, dora = browsers.of(people_["cora"]), browsers.of(people_["dora"])
    # Nobody answers for somebody else, and no token does.
    path = f"/api/v1/me/asked/{small.project}"
    assert browsers.of(small.who["observer"]).post(path, json={"join": True}).status_code == 404
    make = partial(people.make_token, person=people_["cora"].person, name="t", days=1)
    _, token = bench.database.write(partial(make, scopes=["read", "write"]))
    bearer = {"authorization": f"Bearer {token}"}
    assert browsers.of(None).post(path, json={"join": True}, headers=bearer).status_code == 403
    assert cora.get(f"/api/v1/projects/{small.project}").status_code == 404
    assert cora.post(path, json={"join": True}).status_code == 204
    assert cora.post(path, json={"join": True}).status_code == 404
    assert roles(bench, small, people_["cora"]) == {"annotator"}
    page = dora.get("/").text
    assert f"/account/asked/{small.project}" in page
    assert dora.post(f"/account/asked/{small.project}", data={}).status_code == 200
    assert roles(bench, small, people_["dora"]) == set()
    states = {one["name"]: one["state"] for one in boss.get(url).json()["people"]}
    assert (states.get("cora"), states.get("dora"), states.get("flora")) == (
        "invited", None, "asked")  # fmt: skip
    # What was asked can be changed and taken back.
    assert boss.put(f"{url}/flora", json={"roles": ["observer"]}).status_code == 200
    flora = browsers.of(people_["flora"])
    assert flora.get("/api/v1/me").json()["asked"][0]["roles"] == ["observer"]
    assert boss.put(f"{url}/flora", json={"roles": []}).status_code == 200
    assert flora.get("/api/v1/me").json()["asked"] == []
    assert boss.put(f"{url}/nobody", json={"roles": ["observer"]}).status_code == 404
    assert all(not one.faults for one in bench.database.read(verify))


def test_new_people_get_a_link_and_members_keep_their_roles(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    boss, root = browsers.of(small.who["manager"]), browsers.of(small.who["root"])
    url = f"/api/v1/projects/{small.project}/people"
    added = boss.post(url, json={"name": "cora", "roles": ["curator"]}).json()
    assert (added["state"], added["roles"]) == ("invited", ["curator"])
    again = boss.post(url, json={"name": "cora", "roles": ["observer"]})
    assert (again.status_code, again.json()["saved"]) == (409, {"roles": ["curator"]})
    page = boss.post(f"/p/{small.project}/people", data={"name": "cora", "observer": "1"})
    assert "curator" in page.text and 'role="alert"' in page.text
    # Names that look the same are the same to people.
    for name in ("Cora", " cora", "co ra", "\uff43ora", "ROOT"):
        wanted = {"name": name, "roles": ["annotator"]}
        assert boss.post(url, json=wanted).status_code in (400, 409), name
    assert boss.post(url, json={"name": "dora", "roles": []}).status_code == 400
    [cora] = [one for one in boss.get(url).json()["people"] if one["name"] == "cora"]
    assert (cora["roles"], cora["state"]) == (["curator"], "invited")
    newcomer = browsers.of(None)
    assert newcomer.post(added["invite"], data={"password": PASSWORD}).url.path == "/"
    assert newcomer.get("/api/v1/me").json()["admin"] is False
    assert root.get(url).status_code == 404  # who administers sees no project without a role


def test_an_administrator_who_manages_adds_accounts_at_once(
    bench: Bench, browsers: Browsers
) -> None:
    small, known = small_project(bench.database), add(bench, "cora")
    boss, url = browsers.of(small.who["manager"]), f"/api/v1/projects/{small.project}/people"
    added = boss.post(url, json={"name": "cora", "roles": ["curator"]}).json()
    assert (added["state"], added["invite"], links(bench)) == ("member", None, [])
    assert roles(bench, small, known) == {"curator"}
    again = boss.post(url, json={"name": "cora", "roles": ["observer"]})
    assert (again.status_code, roles(bench, small, known)) == (409, {"curator"})


@pytest.mark.parametrize("key", ["ann", "curator", "reviewer", "observer", "root"])
def test_only_managers_change_roles(
    bench: Bench, browsers: Browsers, small: Small, key: str
) -> None:
    client, before = browsers.of(small.who[key]), roles(bench, small, small.who["bob"])
    url = f"/api/v1/projects/{small.project}/people"
    for who in ("bob", key):
        put = client.put(f"{url}/{small.who[who].name}", json={"roles": list(ROLES)})
        assert put.status_code in (403, 404)
    form = {"name": small.who[key].name, "known": "1", "manager": "1"}
    client.post(f"/p/{small.project}/people", data=form)
    assert roles(bench, small, small.who["bob"]) == before
    assert "manager" not in roles(bench, small, small.who[key])


def test_a_project_keeps_a_manager(bench: Bench, browsers: Browsers, small: Small) -> None:
    boss, url = browsers.of(small.who["manager"]), f"/api/v1/projects/{small.project}/people"
    own = f"{url}/{small.who['manager'].name}"
    for wanted in ([], ["observer"]):
        assert boss.put(own, json={"roles": wanted}).status_code == 400
    other = f"{url}/{small.who['observer'].name}"
    assert boss.put(other, json={"roles": ["manager"]}).status_code == 200
    assert boss.put(own, json={"roles": []}).status_code == 200


def test_links_for_accounts_that_are_there_are_for_administrators_and_end_what_was(
    bench: Bench, browsers: Browsers, small: Small
) -> None:
    root, ann = browsers.of(small.who["root"]), small.who["ann"]
    client = browsers.of(ann)
    make = partial(people.make_token, person=ann.person, name="t", scopes=["read"], days=1)
    _, token = bench.database.write(make)

    def link() -> str:
        page = root.post("/users", data={"name": ann.name, "what": "invite"}).text
        return "/invite/" + page.split("/invite/")[1].split("<")[0]

    first, second = link(), link()
    assert browsers.of(None).get(first).status_code == 404  # a later link ends earlier ones
    assert browsers.of(None).post(second, data={"password": PASSWORD}).status_code == 200
    assert client.get("/api/v1/me").status_code == 401
    bearer = {"authorization": f"Bearer {token}"}
    assert browsers.of(None).get("/api/v1/me", headers=bearer).status_code == 401
    third = link()
    root.post("/users", data={"name": ann.name, "what": "disable"})
    root.post("/users", data={"name": ann.name, "what": "enable"})
    assert browsers.of(None).get(third).status_code == 404
    root.post("/users", data={"name": ann.name, "what": "admin"})
    assert links(bench) == []
    assert browsers.of(ann).get("/api/v1/me").json()["admin"] is False


def test_one_of_several_first_links_ends_the_others(bench: Bench, browsers: Browsers) -> None:
    first, second = setup_link(bench), setup_link(bench)
    assert first and second
    made = browsers.of(None).post(first, data={"name": "ada", "password": PASSWORD})
    assert made.status_code == 200
    late = browsers.of(None).post(second, data={"name": "eve", "password": PASSWORD})
    assert late.status_code == 404
    assert bench.database.read(lambda c: [p.name for p in people.everybody(c)]) == ["ada"]


@pytest.mark.parametrize("key", ["root", "manager", "ann"])
def test_a_token_opens_no_page_and_no_more_than_its_project(
    bench: Bench, browsers: Browsers, small: Small, key: str
) -> None:
    other = small_project(bench.database, "other")
    boss = other.who["manager"].person
    bench.database.write(lambda c: people.set_roles(
        c, other.project, small.who[key].person, ["manager"], boss))  # fmt: skip
    make = partial(people.make_token, person=small.who[key].person, name="t", days=1,
                   scopes=list(people.SCOPES), project=other.project)  # fmt: skip
    _, token = bench.database.write(make)
    # A browser of that person with a token, but without a session.
    client = browsers.of(None)
    client.headers["authorization"] = f"Bearer {token}"
    ids = {"project": other.project, "run": "x", "id": "x", "code": "x"}
    for rule in RULES:
        if not rule.is_page or rule.access == {"open"}:
            continue
        more = {"data": {"read": "1", "what": "admin", "name": "eve"}} if rule.body else {}
        path = rule.path.format(**ids)
        answer = client.request(rule.method, path, follow_redirects=False, **more)
        signed_out = answer.headers.get("location", "").startswith("/signin")
        assert answer.status_code == 401 or signed_out, (rule.method, rule.path)
    assert client.post(f"{PREFIX}/projects", json={"name": "new"}).status_code == 403
    assert client.post(f"{PREFIX}/me/tokens", json={"name": "more", "scopes": ["export"]}
                       ).status_code == 403  # fmt: skip
    assert [one["id"] for one in client.get(f"{PREFIX}/projects").json()["projects"]] == [
        other.project
    ]
    assert client.get(f"{PREFIX}/projects/{small.project}").status_code == 404


def test_an_account_is_not_taken_through_the_look_of_a_name(bench: Bench) -> None:
    add(bench, "Ann Smith")
    for name in ("ann smith", "Ann  Smith", "AnnSmith", "\uff21nn Smith"):
        with pytest.raises(Exception, match="already"):
            add(bench, name)
    with pytest.raises(InputError):
        add(bench, " ")
