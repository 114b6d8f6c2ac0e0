"""The description of the interface is true: for requests that keep to it, and for real answers."""

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
from web_project import fill
from workbench import Browsers

from rubricate.store import people
from rubricate.web.app import make_app
from rubricate.web.calls import Bench
from rubricate.web.openapi import describe
from rubricate.web.policy import API, PREFIX

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
        if rule.method != "GET" or rule.answer is None:
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
