"""The one table of all that can be asked, and who may, and its description (OpenAPI 3.1)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any, get_type_hints, is_typeddict

import msgspec

from rubricate import __version__
from rubricate.formats.encoding import Json
from rubricate.store.answers import HealthAnswer
from rubricate.web import account, compat, manage, oidc, pages, work
from rubricate.web.calls import ADMINS, ANYBODY, MEMBERS, PERSON, Call, NothingBody, Rule, only
from rubricate.web.rendering import by_form

ANNOTATOR, CURATOR, REVIEWER = only("annotator"), only("curator"), only("reviewer")
MANAGER, WATCHER = only("manager"), only("manager", "observer")
RUNS = only("manager", "observer", "reviewer")
_LARGE = 200_000_000


def get_health(call: Call) -> HealthAnswer:
    """Say that the server is there, and that its database answers."""
    call.bench.database.check()
    return {"status": "ok", "rubricate": __version__}


def get_openapi(_call: Call) -> Json:
    """Return the description of the interface."""
    return describe()


API = [
    Rule("GET", "/health", ANYBODY, get_health),
    Rule("GET", "/openapi.json", ANYBODY, get_openapi),
    Rule("POST", "/session", ANYBODY, account.post_session, account.SignInBody, scope="write"),
    Rule("DELETE", "/session", PERSON, account.delete_session, scope="write", status=204),
    Rule("GET", "/me", PERSON, account.get_me),
    Rule("PUT", "/me/preferences", PERSON, account.put_preferences, account.PreferencesBody,
         scope="write", status=204),
    Rule("GET", "/me/tokens", PERSON, account.get_tokens),
    Rule("POST", "/me/tokens", PERSON, account.post_token, account.TokenBody, scope="write"),
    Rule("DELETE", "/me/tokens/{id}", PERSON, account.delete_token, scope="write", status=204),
    Rule("POST", "/me/asked/{id}", PERSON, account.post_asked, account.JoinBody, scope="write",
         status=204),
    Rule("GET", "/projects", PERSON, account.get_projects),
    Rule("POST", "/projects", ADMINS, manage.post_project, manage.ProjectBody, scope="write"),
    Rule("GET", "/projects/{project}", MEMBERS, manage.get_project),
    Rule("PATCH", "/projects/{project}", MANAGER, manage.patch_project,
         manage.ProjectChangesBody, scope="write"),
    Rule("POST", "/projects/{project}/notes", MANAGER, manage.post_notes, manage.NotesBody,
         scope="write", most_bytes=_LARGE),
    Rule("DELETE", "/projects/{project}/notes/{note}", MANAGER, manage.delete_note,
         scope="write", status=204),
    Rule("GET", "/projects/{project}/rubrics", MEMBERS, manage.get_rubrics),
    Rule("GET", "/projects/{project}/again", WATCHER, manage.get_again, watches=True),
    Rule("POST", "/projects/{project}/rubrics", MANAGER, manage.post_rubrics,
         manage.RubricsBody, scope="write", most_bytes=_LARGE),
    Rule("POST", "/projects/{project}/rubrics/comparison", MANAGER, manage.post_comparison,
         manage.RubricsBody, most_bytes=_LARGE),
    Rule("POST", "/projects/{project}/assignments", MANAGER, manage.post_assignments,
         manage.AssignmentsBody, scope="write"),
    Rule("POST", "/projects/{project}/suggestions", MANAGER, manage.post_suggestions,
         manage.SuggestionsBody, scope="write", status=202),
    Rule("GET", "/projects/{project}/people", MANAGER, manage.get_people),
    Rule("POST", "/projects/{project}/people", MANAGER, manage.post_member, manage.MemberBody,
         scope="write"),
    Rule("PUT", "/projects/{project}/people/{name}", MANAGER, manage.put_member,
         manage.RolesBody, scope="write"),
    Rule("GET", "/projects/{project}/next", ANNOTATOR, work.get_next),
    Rule("GET", "/projects/{project}/queue", ANNOTATOR, work.get_queue),
    Rule("GET", "/assignments/{assignment}", ANNOTATOR, work.get_work),
    Rule("PUT", "/assignments/{assignment}/features/{feature}", ANNOTATOR, work.put_judgement,
         work.JudgementBody, scope="write"),
    Rule("POST", "/assignments/{assignment}/undo", ANNOTATOR, work.post_undo, NothingBody,
         scope="write"),
    Rule("POST", "/assignments/{assignment}/redo", ANNOTATOR, work.post_redo, NothingBody,
         scope="write"),
    Rule("POST", "/assignments/{assignment}/done", ANNOTATOR, work.post_done, work.DoneBody,
         scope="write"),
    Rule("POST", "/assignments/{assignment}/reopen", ANNOTATOR, work.post_reopen,
         NothingBody, scope="write"),
    Rule("GET", "/projects/{project}/disagreements", CURATOR, work.get_disputes,
         query=("state", "case", "feature", "reason", "after", "limit")),
    Rule("GET", "/disagreements/{dispute}", CURATOR, work.get_dispute),
    Rule("PUT", "/disagreements/{dispute}", CURATOR, work.put_dispute, work.DecisionBody,
         scope="write"),
    Rule("GET", "/projects/{project}/runs", RUNS, work.get_runs),
    Rule("POST", "/projects/{project}/runs", MANAGER, work.post_run, work.RunBody,
         scope="write"),
    Rule("GET", "/runs/{run}/items", REVIEWER, work.get_items,
         query=("state", "case", "feature", "found", "after", "limit")),
    Rule("GET", "/items/{item}", REVIEWER, work.get_item),
    Rule("PUT", "/items/{item}", REVIEWER, work.put_item, work.ReviewBody, scope="write"),
    Rule("POST", "/runs/{run}/publish", only("manager", "reviewer"), work.post_publish,
         NothingBody, scope="write", status=202),
    Rule("GET", "/projects/{project}/progress", WATCHER, manage.get_progress, watches=True),
    Rule("GET", "/projects/{project}/agreement", WATCHER, manage.get_agreement, watches=True),
    Rule("GET", "/projects/{project}/events", WATCHER, manage.get_events, watches=True),
    Rule("GET", "/projects/{project}/audit", WATCHER, manage.get_record, query=("after", "limit"),
         watches=True),
    Rule("GET", "/projects/{project}/verify", MANAGER, manage.get_verify, watches=True),
    Rule("GET", "/projects/{project}/export", MANAGER, manage.get_export, scope="export",
         watches=True, query=("what", "format", "rule", "may_lose")),
    Rule("POST", "/projects/{project}/export", MANAGER, manage.post_export, manage.ExportBody,
         scope="export", watches=True),
]  # fmt: skip
PAGES = [
    Rule("GET", "/", PERSON, account.projects_page),
    Rule("GET", "/signin", ANYBODY, account.sign_in_page),
    Rule("POST", "/signin", ANYBODY, account.sign_in_by_form, dict),
    Rule("GET", "/oidc", ANYBODY, oidc.leave),
    Rule("GET", "/oidc/callback", ANYBODY, oidc.come_back),
    Rule("POST", "/signout", ANYBODY, account.sign_out, dict),
    Rule("GET", "/setup/{code}", ANYBODY, account.link_page),
    Rule("POST", "/setup/{code}", ANYBODY, account.set_up, dict),
    Rule("GET", "/invite/{code}", ANYBODY, account.link_page),
    Rule("POST", "/invite/{code}", ANYBODY, account.accept, dict),
    Rule("GET", "/enter/{code}", ANYBODY, account.enter),
    Rule("GET", "/account", PERSON, account.account_page),
    Rule("POST", "/account/password", PERSON, account.change_password, dict),
    Rule("POST", "/account/sessions", PERSON, account.end_sessions, dict),
    Rule("POST", "/account/tokens", PERSON,
         by_form(account.post_token, account.account_page, account.token_fields, shows="made"),
         dict),
    Rule("POST", "/account/tokens/{id}", PERSON,
         by_form(account.delete_token, then="/account"), dict),
    Rule("POST", "/account/asked/{id}", PERSON,
         by_form(account.post_asked, account.projects_page, account.join_fields, then="/"), dict),
    Rule("GET", "/users", ADMINS, account.users_page),
    Rule("POST", "/users", ADMINS, account.change_user, dict),
    Rule("POST", "/users/backup", ADMINS, account.back_up, dict),
    Rule("GET", "/projects/new", ADMINS, pages.new_project_page),
    Rule("POST", "/projects/new", ADMINS, pages.make_project, dict, most_bytes=_LARGE),
    Rule("GET", "/working/{id}", PERSON, pages.working_page),
    Rule("GET", "/p/{project}/annotate", ANNOTATOR, pages.annotate_page),
    Rule("GET", "/p/{project}/curate", CURATOR, pages.curate_page),
    Rule("GET", "/p/{project}/review", RUNS, work.runs_page),
    Rule("POST", "/p/{project}/review", MANAGER,
         by_form(work.post_run, work.runs_page, work.run_fields, then="/p/{project}/review"), dict),
    Rule("GET", "/p/{project}/review/{run}", REVIEWER, work.review_page),
    Rule("POST", "/p/{project}/review/{run}/publish", only("manager", "reviewer"),
         by_form(work.post_publish, then="/p/{project}/review"), dict),
    Rule("GET", "/p/{project}/dashboard", WATCHER, pages.dashboard_page, watches=True),
    Rule("GET", "/p/{project}/rubric", MEMBERS, pages.rubric_page),
    Rule("POST", "/p/{project}/rubric", MANAGER, pages.compare_rubric, dict, most_bytes=_LARGE),
    Rule("POST", "/p/{project}/rubric/save", MANAGER, pages.change_rubric, dict,
         most_bytes=_LARGE, most_fields=20_000),
    Rule("POST", "/p/{project}/notes", MANAGER, pages.add_notes, dict, most_bytes=_LARGE),
    Rule("GET", "/p/{project}/people", MANAGER, pages.people_page),
    Rule("POST", "/p/{project}/people", MANAGER, pages.change_people, dict),
    Rule("POST", "/p/{project}/assign", MANAGER,
         by_form(manage.post_assignments, pages.people_page, pages.assignment_fields,
                 then="/p/{project}/people"), dict, most_fields=20_000),
    Rule("POST", "/p/{project}/settings", MANAGER, pages.change_settings, dict),
    Rule("GET", "/p/{project}/download", MANAGER, pages.download_page, watches=True),
    Rule("GET", "/p/{project}/download/archive", MANAGER,
         by_form(manage.get_export, pages.download_page), watches=True),
    Rule("POST", "/p/{project}/export", MANAGER,
         by_form(manage.post_export, pages.people_page, pages.export_fields, shows="written"), dict,
         scope="export", watches=True),
    Rule("GET", "/p/{project}/audit", WATCHER, pages.audit_page, watches=True),
]  # fmt: skip
_INCEPTION, _STUDIO = "/compat/inception/{token}/{case}", "/compat/labelstudio/{case}"
COMPAT = [
    Rule("POST", f"{_INCEPTION}/predict", MEMBERS, compat.post_inception_predict,
         compat.InceptionPredict, scope="suggest", most_bytes=_LARGE),
    Rule("POST", f"{_INCEPTION}/train", MEMBERS, compat.post_inception_train,
         compat.InceptionTrain, scope="suggest", status=204, most_bytes=_LARGE),
    Rule("GET", f"{_STUDIO}/health", MEMBERS, compat.get_studio_health, scope="suggest"),
    Rule("POST", f"{_STUDIO}/setup", MEMBERS, compat.post_studio_setup, compat.StudioSetup,
         scope="suggest"),
    Rule("POST", f"{_STUDIO}/predict", MEMBERS, compat.post_studio_predict,
         compat.StudioPredict, scope="suggest", most_bytes=_LARGE),
    Rule("POST", f"{_STUDIO}/webhook", MEMBERS, compat.post_studio_webhook, compat.StudioEvent,
         scope="suggest", status=201, most_bytes=_LARGE),
]  # fmt: skip
PREFIX = "/api/v1"

RULES: list[Rule] = [*(replace(rule, path=PREFIX + rule.path) for rule in API), *PAGES, *COMPAT]

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
    "503": "The database is away",
}  # fmt: skip


def answer_of(rule: Rule) -> Any:
    """Return the type of a handler's answer; None if the description leaves it open."""
    said = get_type_hints(rule.handler)["return"]
    return said if is_typeddict(said) else None


@cache
def describe() -> Json:
    """Return the description of the interface."""
    types = [rule.body for rule in API if rule.body is not None]
    types += [answer for rule in API if (answer := answer_of(rule))]
    references, schemas = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    bodies = dict(zip(map(str, types), references, strict=True))
    paths: Json = {}
    for rule in API:
        kinds = "application/json"
        fine: Json = {"description": "Done"}
        if answer := answer_of(rule):
            fine["content"] = {kinds: {"schema": bodies[str(answer)]}}
        said = {"schema": {"$ref": "#/components/schemas/Error"}}
        wrong = {
            status: {"description": why, "content": {kinds: said}}
            for status, why in _REFUSALS.items()
        }
        names = re.findall(r"{(\w+)}", rule.path)
        operation: Json = {
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
