"""The one table of all that can be asked, and who may: what is not listed is not there."""

from __future__ import annotations

from dataclasses import replace

from rubricate.web import account, bodies, compat, manage, openapi, pages, work
from rubricate.web.calls import ADMINS, ANYBODY, MEMBERS, PERSON, Rule, only

ANNOTATOR, CURATOR, REVIEWER = only("annotator"), only("curator"), only("reviewer")
MANAGER, WATCHER = only("manager"), only("manager", "observer")
RUNS = only("manager", "observer", "reviewer")
_LARGE = 200_000_000

API = [
    Rule("GET", "/health", ANYBODY, openapi.get_health),
    Rule("GET", "/openapi.json", ANYBODY, openapi.get_openapi),
    Rule("POST", "/session", ANYBODY, account.post_session, bodies.SignInBody, scope="write"),
    Rule("DELETE", "/session", PERSON, account.delete_session, scope="write", status=204),
    Rule("GET", "/me", PERSON, account.get_me),
    Rule("PUT", "/me/preferences", PERSON, account.put_preferences, bodies.PreferencesBody,
         scope="write", status=204),
    Rule("GET", "/me/tokens", PERSON, account.get_tokens),
    Rule("POST", "/me/tokens", PERSON, account.post_token, bodies.TokenBody, scope="write"),
    Rule("DELETE", "/me/tokens/{id}", PERSON, account.delete_token, scope="write", status=204),
    Rule("GET", "/projects", PERSON, account.get_projects),
    Rule("POST", "/projects", ADMINS, manage.post_project, bodies.ProjectBody, scope="write"),
    Rule("GET", "/projects/{project}", MEMBERS, manage.get_project),
    Rule("PATCH", "/projects/{project}", MANAGER, manage.patch_project,
         bodies.ProjectChangesBody, scope="write"),
    Rule("POST", "/projects/{project}/notes", MANAGER, manage.post_notes, bodies.NotesBody,
         scope="write", most_bytes=_LARGE),
    Rule("DELETE", "/projects/{project}/notes/{note}", MANAGER, manage.delete_note,
         scope="write", status=204),
    Rule("POST", "/projects/{project}/rubrics", MANAGER, manage.post_rubrics,
         bodies.RubricsBody, scope="write"),
    Rule("POST", "/projects/{project}/assignments", MANAGER, manage.post_assignments,
         bodies.AssignmentsBody, scope="write"),
    Rule("POST", "/projects/{project}/suggestions", MANAGER, manage.post_suggestions,
         bodies.SuggestionsBody, scope="write", status=202),
    Rule("GET", "/projects/{project}/people", MANAGER, manage.get_people),
    Rule("POST", "/projects/{project}/people", MANAGER, manage.post_member, bodies.MemberBody,
         scope="write"),
    Rule("GET", "/projects/{project}/next", ANNOTATOR, work.get_next),
    Rule("GET", "/projects/{project}/queue", ANNOTATOR, work.get_queue),
    Rule("GET", "/work/{assignment}", ANNOTATOR, work.get_work),
    Rule("PUT", "/work/{assignment}/features/{feature}", ANNOTATOR, work.put_judgement,
         bodies.JudgementBody, scope="write"),
    Rule("POST", "/work/{assignment}/undo", ANNOTATOR, work.post_undo, bodies.NothingBody,
         scope="write"),
    Rule("POST", "/work/{assignment}/redo", ANNOTATOR, work.post_redo, bodies.NothingBody,
         scope="write"),
    Rule("POST", "/work/{assignment}/done", ANNOTATOR, work.post_done, bodies.NothingBody,
         scope="write"),
    Rule("GET", "/projects/{project}/disagreements", CURATOR, work.get_disputes,
         query=("state", "after", "limit")),
    Rule("GET", "/disagreements/{dispute}", CURATOR, work.get_dispute),
    Rule("PUT", "/disagreements/{dispute}", CURATOR, work.put_dispute, bodies.DecisionBody,
         scope="write"),
    Rule("GET", "/projects/{project}/runs", RUNS, work.get_runs),
    Rule("POST", "/projects/{project}/runs", MANAGER, manage.post_run, bodies.RunBody,
         scope="write"),
    Rule("GET", "/runs/{run}/items", REVIEWER, work.get_items, query=("state", "after", "limit")),
    Rule("GET", "/items/{item}", REVIEWER, work.get_item),
    Rule("PUT", "/items/{item}", REVIEWER, work.put_item, bodies.ReviewBody, scope="write"),
    Rule("POST", "/runs/{run}/publish", only("manager", "reviewer"), manage.post_publish,
         bodies.NothingBody, scope="write", status=202),
    Rule("GET", "/projects/{project}/progress", WATCHER, manage.get_progress),
    Rule("GET", "/projects/{project}/agreement", WATCHER, manage.get_agreement),
    Rule("GET", "/projects/{project}/events", WATCHER, manage.get_events),
    Rule("GET", "/projects/{project}/audit", WATCHER, manage.get_record, query=("after", "limit")),
    Rule("GET", "/projects/{project}/verify", MANAGER, manage.get_verify),
    Rule("GET", "/projects/{project}/export", MANAGER, manage.get_export, scope="export"),
    Rule("POST", "/projects/{project}/export", MANAGER, manage.post_export, bodies.ExportBody,
         scope="export"),
]  # fmt: skip
PAGES = [
    Rule("GET", "/", PERSON, pages.projects_page),
    Rule("GET", "/signin", ANYBODY, pages.sign_in_page),
    Rule("POST", "/signin", ANYBODY, pages.sign_in, dict),
    Rule("POST", "/signout", ANYBODY, pages.sign_out, dict),
    Rule("GET", "/setup/{code}", ANYBODY, pages.link_page),
    Rule("POST", "/setup/{code}", ANYBODY, pages.set_up, dict),
    Rule("GET", "/invite/{code}", ANYBODY, pages.link_page),
    Rule("POST", "/invite/{code}", ANYBODY, pages.accept, dict),
    Rule("GET", "/enter/{code}", ANYBODY, pages.enter),
    Rule("GET", "/account", PERSON, pages.account_page),
    Rule("POST", "/account/password", PERSON, pages.change_password, dict),
    Rule("POST", "/account/sessions", PERSON, pages.end_sessions, dict),
    Rule("POST", "/account/tokens", PERSON, pages.make_token, dict),
    Rule("GET", "/users", ADMINS, pages.users_page),
    Rule("POST", "/users", ADMINS, pages.change_user, dict),
    Rule("GET", "/projects/new", ADMINS, pages.new_project_page),
    Rule("POST", "/projects/new", ADMINS, pages.make_project, dict, most_bytes=_LARGE),
    Rule("GET", "/p/{project}/annotate", ANNOTATOR, pages.annotate_page),
    Rule("GET", "/p/{project}/curate", CURATOR, pages.curate_page),
    Rule("GET", "/p/{project}/review", RUNS, pages.runs_page),
    Rule("GET", "/p/{project}/review/{run}", REVIEWER, pages.review_page),
    Rule("GET", "/p/{project}/dashboard", WATCHER, pages.dashboard_page),
    Rule("GET", "/p/{project}/people", MANAGER, pages.people_page),
    Rule("POST", "/p/{project}/people", MANAGER, pages.change_people, dict),
    Rule("POST", "/p/{project}/assign", MANAGER, pages.assign, dict),
    Rule("POST", "/p/{project}/settings", MANAGER, pages.change_settings, dict),
    Rule("GET", "/p/{project}/audit", WATCHER, pages.audit_page),
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
