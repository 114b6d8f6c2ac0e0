"""Who may ask what: every rule as every role, and nobody learns anything of another's work."""

import json
from functools import partial

import pytest
from starlette.testclient import TestClient
from web_project import CANARY, MARK, fill
from workbench import Browsers, Small, small_project

from rubricate.store import annotating, people
from rubricate.store.database import Database
from rubricate.store.people import ROLES
from rubricate.web.calls import ADMIN, Bench, Rule
from rubricate.web.policy import RULES


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
    return set() if roles & rule.access else {403}


DENIED = {401, 403}


@pytest.mark.parametrize("key", ["ann", "bob", "curator", "reviewer", "observer", "manager",
                                 "stranger"])  # fmt: skip
def test_the_table_holds_for_every_role(filled, browsers: Browsers, key: str) -> None:
    small, ids = filled
    if key == "stranger":
        other = small_project(browsers.bench.database, "other")
        small.who[key] = other.who["ann"]
    roles = frozenset({"ann": {"annotator"}, "bob": {"annotator"}}.get(key, {key})) & set(ROLES)
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
    """Return how a person's work would show in an answer: comment, marks, text form of marks."""
    if key not in MARK:
        return [CANARY[key]]
    numbers = json.dumps(MARK[key]).replace(" ", "")[1:-1]
    return [numbers, ";".join(f"{s} {e}" for s, e in MARK[key][0]), f"small {key}"]


def test_nobody_learns_of_others_work(filled, browsers: Browsers) -> None:
    small, ids = filled
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
                assert not found, (key, rule.path, found)


def test_an_annotators_answers_do_not_change_with_others_work(
    bench: Bench, browsers: Browsers
) -> None:
    small = small_project(bench.database)
    client = browsers.of(small.who["ann"])
    queue = client.get(f"/api/v1/projects/{small.project}/queue").json()
    paths = [f"/api/v1/assignments/{one['id']}" for one in queue["assignments"]]
    paths += [f"/api/v1/projects/{small.project}/{name}" for name in ("next", "queue")]
    paths += ["/api/v1/me", "/api/v1/projects", f"/api/v1/projects/{small.project}", "/",
              f"/p/{small.project}/annotate"]  # fmt: skip
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
