"""Permissions: every route as every role; no answer shows another person's work."""

import json
import re
from functools import partial

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import select
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from web_project import CANARY, MARK, fill
from workbench import Browsers, Small, on_both, small_project

from rubricate.store import annotating, people
from rubricate.store import tables as t
from rubricate.store.database import Database
from rubricate.store.people import ROLES
from rubricate.web.app import Asked, make_app
from rubricate.web.calls import ADMIN, Bench, Rule, only
from rubricate.web.policy import API, PREFIX, RULES, answer_of, describe


@pytest.fixture
def filled(bench: Bench) -> tuple[Small, dict[str, str]]:
    return fill(bench)


def ask(client: TestClient, rule: Rule, ids: dict[str, str]):
    path = rule.path.format(**ids)
    if rule.path.endswith("/events"):
        return None  # a stream without end: tested by itself
    more = {}
    if rule.body is dict:
        more = {"data": {}}
    elif rule.body is not None:
        more = {"json": {}}
    return client.request(rule.method, path, follow_redirects=False, **more)


def expected(rule: Rule, key: str, is_member: bool, roles: frozenset[str]) -> set[int]:
    """Return the answers that mean refusal; none where the rule lets the person in."""
    if rule.access & {"open", "signed in"}:
        return set()
    if ADMIN in rule.access:
        return set() if key == "manager" else {403}
    if not is_member:
        return {404}
    if rule.watches and "annotator" in roles:
        return {403}
    return set() if roles & rule.access else {403}


DENIED = {401, 403}


#: Roles of somebody who annotates as well.
BOTH = (["annotator", "manager"], ["annotator", "observer"], list(ROLES))


def give(bench: Bench, small: Small, key: str, roles: list[str]) -> None:
    """Give somebody of the project exactly these roles."""
    boss, own = small.who["manager"].person, small.who[key].person
    bench.database.write(lambda c: people.set_roles(c, small.project, own, roles, boss))


@on_both
@pytest.mark.parametrize("key", ["ann", "bob", "curator", "reviewer", "observer", "manager",
                                 "stranger", *map("+".join, BOTH)])  # fmt: skip
def test_the_table_holds_for_every_role(filled, browsers: Browsers, key: str) -> None:
    small, ids = filled
    if key == "stranger":
        other = small_project(browsers.bench.database, "other")
        small.who[key] = other.who["ann"]
    roles = frozenset({"ann": {"annotator"}, "bob": {"annotator"}}.get(key, key.split("+")))
    if len(roles) > 1:
        give(browsers.bench, small, "ann", list(roles))
        small.who[key] = small.who["ann"]
    client = browsers.of(small.who[key])
    wrong = []
    for rule in RULES:
        if rule.method == "DELETE" or rule.path in ("/signout", "/account/sessions"):
            continue
        if rule.path.startswith("/compat/"):
            continue
        answer = ask(client, rule, ids)
        if answer is None:
            continue
        refusals = expected(rule, key, key != "stranger", roles)
        fine = answer.status_code in refusals if refusals else (
            answer.status_code not in DENIED or "setup" in rule.path or "signin" in rule.path
            or rule.path.endswith("/session")
        )  # fmt: skip
        if not fine or answer.status_code >= 500:
            wrong.append((rule.method, rule.path, answer.status_code, refusals))
    assert not wrong


def test_nobody_is_let_in_without_signing_in(filled, browsers: Browsers) -> None:
    _, ids = filled
    client = browsers.of(None)
    for rule in RULES:
        answer = ask(client, rule, ids)
        if answer is None or rule.access == {"open"}:
            continue
        # Pages send people to the form.
        refused = answer.status_code == 401 or answer.headers.get("location", "").startswith(
            "/signin"
        )
        assert refused, (rule.method, rule.path, answer.status_code)


def test_every_rule_names_known_people(filled) -> None:
    known = {"open", "signed in", "admin", *ROLES}
    assert all(rule.access and rule.access <= known for rule in RULES)
    assert len({(rule.method, rule.path) for rule in RULES}) == len(RULES)


def traces(key: str) -> list[str]:
    """Return the traces of a person's work in an answer: comment, marks as data and as text."""
    if key not in MARK:
        return [CANARY[key]]
    numbers = json.dumps(MARK[key]).replace(" ", "")[1:-1]
    return [numbers, ";".join(f"{s} {e}" for s, e in MARK[key][0]), f"small {key}"]


@on_both
@pytest.mark.parametrize("roles", [["annotator"], *BOTH], ids="+".join)
def test_nobody_learns_of_others_work(filled, browsers: Browsers, roles: list[str]) -> None:
    small, ids = filled
    give(browsers.bench, small, "ann", roles)
    may = {  # whose work a role may see, and where
        "ann": {"ann"}, "bob": {"bob"}, "curator": {"curator"}, "reviewer": {"reviewer"},
    }  # fmt: skip
    for key, own in may.items():
        client = browsers.of(small.who[key])
        for rule in RULES:
            if rule.method != "GET" or rule.path.startswith("/compat/"):
                continue
            answer = ask(client, rule, ids)
            if answer is None:
                continue
            seen = answer.text.replace(" ", "") + answer.text
            for other in CANARY.keys() - own:
                found = [trace for trace in traces(other) if trace in seen]
                # A curator sees marks under letters; names never.
                if key == "curator" and other in MARK and rule.path.endswith("{dispute}"):
                    found = [trace for trace in found if trace.startswith("small")]
                # Who manages must know who there is; who reviews sees what was reviewed.
                if key == "ann" and rule.path.endswith("/people"):
                    found = [trace for trace in found if not trace.startswith("small")]
                if key == "ann" and other in roles and "{item}" in rule.path:
                    found = []
                assert not found, (key, rule.path, found)


@pytest.mark.parametrize("roles", [["annotator"], *BOTH], ids="+".join)
def test_an_annotators_answers_do_not_change_with_others_work(
    bench: Bench, browsers: Browsers, roles: list[str]
) -> None:
    small = small_project(bench.database)
    give(bench, small, "ann", roles)
    client = browsers.of(small.who["ann"])
    queue = client.get(f"/api/v1/projects/{small.project}/queue").json()
    paths = [f"/api/v1/assignments/{one['id']}" for one in queue["assignments"]]
    paths += [f"/api/v1/projects/{small.project}/{name}" for name in ("next", "queue")]
    own = {"project": small.project}
    paths += [rule.path.format(**own) for rule in RULES
              if rule.method == "GET" and not set(re.findall(r"{(\w+)}", rule.path)) - own.keys()
              and not rule.path.startswith(("/setup", "/oidc"))]  # fmt: skip
    before = [client.get(path).text for path in paths]
    me = small.who["bob"]
    others = bench.database.read(partial(annotating.own_queue, me=me, project=small.project))
    for one in others["assignments"]:
        work = bench.database.read(partial(annotating.open_work, me=me, assignment=one["id"]))
        for feature in ("f1", "f2"):
            bench.database.write(partial(
                annotating.judge, me=me, assignment=one["id"], feature=feature, answer="unsure",
                marks=(), version=0, sha256=work["note"]["sha256"]))  # fmt: skip
        bench.database.write(partial(annotating.finish, me=me, assignment=one["id"]))
    assert [client.get(path).text for path in paths] == before


def test_who_gave_up_annotating_may_look_and_is_final(filled, browsers: Browsers) -> None:
    small, ids = filled
    ann, boss = browsers.of(small.who["ann"]), browsers.of(small.who["manager"])
    progress, members = (
        f"/api/v1/projects/{small.project}/{name}" for name in ("progress", "people")
    )

    def become(*roles: str, key: str = "ann") -> int:
        path = f"{members}/{small.who[key].name}"
        return boss.put(path, json={"roles": roles}).status_code

    assert become("annotator", "manager") == 200
    assert ann.get(progress).status_code == 403
    assert become("curator") == become("annotator", "manager") == 200  # never without being blind
    assert become("manager") == 200
    assert ann.get(progress).status_code == 200
    assert ann.get(f"/api/v1/assignments/{ids['assignment']}").status_code == 403
    assert become("curator") == 200
    assert become("annotator") == become("annotator", "manager") == 400
    # Who watched before they had notes may still annotate: others' notes are not given to them.
    assert become("annotator", key="observer") == 200


def test_a_token_is_let_in_only_by_its_scope_and_project(filled, browsers: Browsers) -> None:
    small, _ = filled
    database: Database = browsers.bench.database
    boss = small.who["manager"].person
    other = small_project(database, "other").project

    def answer(path: str, scopes: list[str], project: str | None = None) -> int:
        made = partial(people.make_token, person=boss, name="t", scopes=scopes, days=1)
        _, secret = database.write(partial(made, project=project))
        client = browsers.of(None)
        return client.get(path, headers={"authorization": f"Bearer {secret}"}).status_code

    progress = f"/api/v1/projects/{small.project}/progress"
    assert answer(progress, ["read"]) == 200
    assert answer(progress, ["write"]) == 401
    assert answer(progress, ["read"], other) == 404
    assert answer(f"/api/v1/projects/{small.project}/export", ["read"]) == 401
    assert (
        browsers.of(None).get(progress, headers={"authorization": "Bearer no"}).status_code == 401
    )


@pytest.mark.engine
@pytest.mark.parametrize("bench", ["postgres"], indirect=True)
def test_a_forgotten_condition_shows_an_annotator_nothing_of_others(filled, bench: Bench) -> None:
    small, _ = filled

    def careless(call) -> set[str]:
        return set(call.read(lambda c: c.scalars(select(t.judgement.c.person))))

    def asked(key: str, role: str) -> set[str]:
        made = partial(people.make_token, person=small.who[key].person, name="t", scopes=["read"])
        headers = {"authorization": f"Bearer {bench.database.write(partial(made, days=1))[1]}"}
        rule = Rule("GET", "/api/{project}", only(role), careless)
        path = {"project": small.project}
        return Asked(rule, bench, Headers(headers), {}, path, {}, b"", {}, "").answer()[1]

    ann, bob = (small.who[key].person for key in ("ann", "bob"))
    assert asked("ann", "annotator") == {ann}
    assert asked("manager", "manager") == {ann, bob}


#: What would end the session, wait for ever, or work on in the background.
LEFT_OUT = {"get_events", "post_suggestions", "post_publish", "get_export", "post_session"}


def test_every_rule_is_described() -> None:
    described = describe()
    assert described["openapi"].startswith("3.1")
    paths = {(m.upper(), p) for p, methods in described["paths"].items() for m in methods}
    assert paths == {(rule.method, PREFIX + rule.path) for rule in API}


def test_real_answers_keep_to_the_description(bench: Bench, browsers: Browsers) -> None:
    small, ids = fill(bench)
    described = describe()
    checked = 0
    for rule in API:
        if rule.method != "GET" or answer_of(rule) is None:
            continue
        key = next((k for k in ("manager", "bob", "curator", "reviewer")
                    if {"bob": "annotator"}.get(k, k) in rule.access), "manager")  # fmt: skip
        own = {**ids, "assignment": ids["assignment"]} if key != "bob" else ids
        path = PREFIX + rule.path.format(**own)
        answer = browsers.of(small.who["ann" if key == "bob" else key]).get(path)
        assert answer.status_code == 200, (path, answer.text)
        said = described["paths"][PREFIX + rule.path]["get"]["responses"]["200"]
        schema = {**said["content"]["application/json"]["schema"],
                  "components": described["components"]}  # fmt: skip
        jsonschema_rs.validate(schema, answer.json())
        checked += 1
    assert checked > 12


def test_requests_that_keep_to_it_are_answered_as_described(bench: Bench) -> None:
    small, ids = fill(bench)
    app = make_app(bench)
    schema = schemathesis.openapi.from_dict(describe())
    tokens = {
        key: bench.database.write(partial(
            people.make_token, person=small.who[key].person, name="t",
            scopes=["read", "write", "export"], days=1))[1]
        for key in ("manager", "ann", "curator", "reviewer")
    }  # fmt: skip
    operations = [
        found.ok() for found in schema.get_all_operations()
        if found.ok().definition.raw["operationId"] not in LEFT_OUT
    ]  # fmt: skip
    assert len(operations) > 30
    checks = [status_code_conformance, content_type_conformance, response_schema_conformance]

    @settings(
        max_examples=60,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        operation = data.draw(st.sampled_from(operations))
        case = data.draw(operation.as_strategy())
        case.path_parameters = {**(case.path_parameters or {}), **{
            name: ids[name] for name in (case.path_parameters or {})
            if name in ids and data.draw(st.booleans())}}  # fmt: skip
        secret = tokens[data.draw(st.sampled_from(sorted(tokens)))]
        case.headers = {"authorization": f"Bearer {secret}"}
        answer = case.call(app=app, base_url="http://127.0.0.1")
        case.validate_response(answer, checks=checks)

    run()


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"name": "x", "more": 1}', b"\xff", b"null"])
def test_bodies_that_are_not_described_are_refused(
    bench: Bench, browsers: Browsers, body: bytes
) -> None:
    small, _ = fill(bench)
    client = browsers.of(small.who["manager"])
    kinds = {"content-type": "application/json"}
    answer = client.post("/api/v1/projects", content=body, headers=kinds)
    assert answer.status_code == 400
    assert set(answer.json()["error"]) == {"code", "message", "faults"}
