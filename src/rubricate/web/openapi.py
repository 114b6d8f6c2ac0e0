"""The description of the interface (OpenAPI 3.1), made from the table of rules."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from rubricate import __version__
from rubricate.web.calls import ANYBODY, Call

_ID = {"type": "string", "minLength": 1}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "faults"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "faults": {"type": "array", "items": {"type": "string"}},
            },
        },
        "saved": {},
    },
}
_REFUSALS = {
    "400": "The input is wrong", "401": "Nobody is signed in", "403": "Not for this role",
    "404": "Not there, or not for this person", "409": "Something else is saved meanwhile",
    "413": "Too large", "415": "Not JSON", "429": "Too many attempts",
}  # fmt: skip


def get_health(call: Call) -> dict[str, str]:
    """Say that the server is there, and that its database answers."""
    call.read(lambda c: c.exec_driver_sql("SELECT 1").scalar())
    return {"status": "ok", "rubricate": __version__}


def get_openapi(_call: Call) -> dict[str, Any]:
    """Return the description of the interface."""
    return describe()


@cache
def describe() -> dict[str, Any]:
    """Return the description of the interface."""
    from rubricate.web.policy import API, PREFIX

    types = [rule.body for rule in API if rule.body is not None]
    types += [rule.answer for rule in API if rule.answer is not None]
    references, schemas = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    bodies = dict(zip(map(str, types), references, strict=True))
    paths: dict[str, Any] = {}
    for rule in API:
        kinds = "application/json"
        fine: dict[str, Any] = {"description": "Done"}
        if rule.answer is not None:
            fine["content"] = {kinds: {"schema": bodies[str(rule.answer)]}}
        said = {"schema": {"$ref": "#/components/schemas/Error"}}
        wrong = {
            status: {"description": why, "content": {kinds: said}}
            for status, why in _REFUSALS.items()
        }
        names = re.findall(r"{(\w+)}", rule.path)
        operation: dict[str, Any] = {
            "operationId": rule.handler.__name__,
            "summary": (rule.handler.__doc__ or "").splitlines()[0],
            "description": f"For: {', '.join(sorted(rule.access))}. Scope: {rule.scope}.",
            "parameters": [
                *({"name": n, "in": "path", "required": True, "schema": _ID} for n in names),
                *({"name": n, "in": "query", "schema": {"type": "string"}} for n in rule.query),
            ],
            "responses": {str(rule.status): fine, **wrong},
        }
        if rule.access == ANYBODY:
            operation["security"] = []
        if rule.body is not None:
            content = {kinds: {"schema": bodies[str(rule.body)]}}
            operation["requestBody"] = {"required": True, "content": content}
        paths.setdefault(PREFIX + rule.path, {})[rule.method.lower()] = operation
    scheme = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "rubricate workbench", "version": __version__},
        "paths": paths,
        "security": [{"token": []}],
        "components": {"schemas": {**schemas, "Error": _ERROR}, "securitySchemes": scheme},
    }
