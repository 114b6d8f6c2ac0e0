"""The server: who asks is found out, the table is asked, and every answer has the same headers."""

from __future__ import annotations

import base64
import logging
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import anyio.to_thread
import msgspec
from sqlalchemy import ColumnElement, Connection, Select, bindparam, select
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rubricate.errors import InputError, RubricateError
from rubricate.formats.encoding import Json
from rubricate.store import tables as t
from rubricate.store.people import Identity, session_identity, token_identity, touch_session
from rubricate.store.refusals import NotFoundError, RefusedError, UnavailableError
from rubricate.store.transaction import ALL, of_person, of_project
from rubricate.web.calls import ADMIN, OPEN, SIGNED_IN, Bench, Call, HttpError, Rule, is_page_path

log = logging.getLogger("rubricate.web")
SAFE = ("GET", "HEAD")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_NOBODY = Identity("", "")
#: Threads for requests; those that save wait in them for the disk.
_THREADS = 64
#: What is read of a body before it is known who sent it.
_ANONYMOUS_BYTES = 64_000
#: The port after a host's name; an address of IPv6 stands in brackets.
_PORT = re.compile(r":\d*$")
#: Parts of a path that people named: they may hold a slash, and the end of a line.
_NAMED = re.compile(r"{(feature|note|case)}")


class _NameConvertor(StringConvertor):
    regex = "(?s:.+)"


register_url_convertor("name", _NameConvertor())
#: What of a path the log keeps.
_LOGGED = {"project", "assignment", "dispute", "run", "item"}
#: What people are told while the database is away; the server's log says why.
_UNAVAILABLE = (
    "The database cannot be used at the moment. What was shown as saved is kept, the last answers "
    "wait in the browser. Try again later, and tell the person who runs this server."
)
#: The fields of a form; of a file its name and content.
Form = dict[str, str | tuple[str, bytes]]
#: In which project a thing is: path parameter → query.
_PLACES: dict[str, ColumnElement[Any]] = {
    "project": bindparam("project"),
    **{
        table.name: select(table.c.project).where(table.c.id == bindparam(table.name))
        .scalar_subquery()
        for table in (t.assignment, t.dispute, t.run)
    },
    "item": select(t.run.c.project).join(t.item).where(t.item.c.id == bindparam("item"))
    .scalar_subquery(),
}  # fmt: skip


@lru_cache
def _roles_in(named: tuple[str, ...]) -> Select[Any]:
    """Return the query for a person's roles in the one project that all named things are in."""
    own = t.membership.c
    places = (own.project == _PLACES[name] for name in named)
    return select(own.project, own.role).where(own.person == bindparam("person"), *places)


def error_answer(
    status: int, code: str, message: str, *, faults: Sequence[str] = (), saved: Any = None
) -> Response:
    """Return the one shape of an error."""
    value: Json = {"error": {"code": code, "message": message, "faults": list(faults)}}
    if saved is not None:
        value["saved"] = saved
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def cookie_name(bench: Bench) -> str:
    """Return the name of the session's cookie; browsers keep the first one to this host."""
    return "__Host-rubricate" if bench.secure else "rubricate"


class Standing(NamedTuple):
    """The sender, the secret, a flag for noting its use, and the sender's roles in a project."""

    me: Identity
    secret: str
    stale: bool
    roles: frozenset[str]
    project: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Content of a request, read before a thread takes it over."""

    rule: Rule
    bench: Bench
    headers: Headers
    cookies: Mapping[str, str]
    path: Mapping[str, str]
    query: Mapping[str, str]
    address: str
    content: bytes | bytearray = b""
    form: Form = field(default_factory=dict)
    #: Where a large body made it necessary to look who asks before it was read.
    standing: Standing | None = None

    def let_in(self) -> Standing:
        """Return the sender, by the headers alone; a refusal if the sender may not ask this."""
        return self.bench.database.read(self._let_in)

    def answer(self) -> tuple[str, Any]:
        """Let the request in, or refuse it, and do the work; return who asked, and the result."""
        me, secret, stale, roles, project = self.standing or self.let_in()
        if stale:
            self.bench.database.write(lambda c: touch_session(c, secret))
        call = Call(
            self.bench, me, roles, project, self.path, self.query, self._body(), secret,
            self.address, self.headers.get("host", ""), self.cookies,
            self._sees(me, roles, project),
        )  # fmt: skip
        return me.person, self.rule.handler(call)

    def _let_in(self, connection: Connection) -> Standing:
        me, secret, stale = self._identity(connection)
        return Standing(me, secret, stale, *self._standing(connection, me))

    def _identity(self, connection: Connection) -> tuple[Identity, str, bool]:
        """Return the sender, the session's secret, and True if its use must be noted."""
        rule = self.rule
        # A token opens no page: forms there do more than its scopes say.
        given = "" if rule.is_page else self.headers.get("authorization", "")
        kind, _, secret = given.partition(" ")
        if kind.lower() == "basic":
            # Label Studio sends the token as a password.
            try:
                secret = base64.b64decode(secret).decode().partition(":")[2]
            except ValueError:
                secret = ""
        if kind or "token" in self.path:
            me = token_identity(connection, self.path.get("token", secret))
            if me is None or me.scopes is None or rule.scope not in me.scopes:
                raise HttpError(401, "not_signed_in", "This token is not valid here.")
            return me, self.path.get("token", secret), False
        cookie = self.cookies.get(cookie_name(self.bench), "")
        found = session_identity(connection, cookie) if cookie else None
        if rule.method not in SAFE:
            self._need_same_origin()
        if found is None:
            if OPEN in rule.access:
                return _NOBODY, "", False
            raise HttpError(401, "not_signed_in", "Sign in first.")
        return found[0], cookie, found[1]

    def _sees(self, me: Identity, roles: frozenset[str], project: str) -> str:
        """Return the view of the database: an annotator sees their own work only."""
        if ADMIN in self.rule.access:
            return ALL
        if roles & self.rule.access - {"annotator"}:
            return of_project(project)
        return of_person(me.person)

    def _need_same_origin(self) -> None:
        """Refuse what another site lets the browser send (OWASP, verifying the origin)."""
        origin, site = self.headers.get("origin", "null"), self.headers.get("sec-fetch-site")
        # Browsers that say nothing of the site name the origin; some pages' origin is "null".
        named = origin != "null"
        own = urlsplit(origin).netloc == self.headers.get("host")
        if (named and not own) or (site not in ("same-origin", "none") if site else not named):
            raise HttpError(403, "forbidden", "This request comes from another site.")

    def _standing(self, connection: Connection, me: Identity) -> tuple[frozenset[str], str]:
        """Return the person's roles in the project that is asked for; deny where none fits."""
        access = self.rule.access
        if access & {OPEN, SIGNED_IN}:
            if me.project is not None and self.rule.method not in SAFE:
                raise HttpError(403, "forbidden", "This token is for one project only.")
            return frozenset(), me.project or ""
        if ADMIN in access:
            if not me.admin or me.project is not None:
                raise HttpError(403, "forbidden", "Only administrators may do this.")
            return frozenset(), ""
        named = tuple(one for one in _PLACES if one in self.path) or ("project",)
        values = {"project": me.project, "person": me.person, **self.path}
        rows = connection.execute(_roles_in(named), values).all()
        if not rows or me.project not in (None, rows[0].project):
            raise NotFoundError()
        roles = frozenset(row.role for row in rows)
        if not self.rule.lets_in(roles):
            hidden = " Others' work is hidden from you, who annotate." if roles & access else ""
            message = f"Only for: {', '.join(sorted(access))}.{hidden}"
            raise HttpError(403, "forbidden", message)
        return roles, rows[0].project

    def _body(self) -> Any:
        if self.rule.body is None or self.rule.body is dict:
            return self.form
        if self.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise HttpError(415, "not_json", "Send JSON: Content-Type: application/json.")
        try:
            return msgspec.json.decode(self.content, type=self.rule.body)
        except msgspec.ValidationError as error:
            raise HttpError(400, "bad_request", str(error)) from None
        except msgspec.DecodeError:
            raise HttpError(400, "bad_request", "The body is not valid JSON.") from None
        except RecursionError:
            raise HttpError(400, "bad_request", "The body is nested too deeply.") from None


def _endpoint(rule: Rule, bench: Bench) -> Any:
    async def endpoint(request: Request) -> Response:
        started, status, who = time.perf_counter(), 500, ""
        try:
            asked = await _asked(request, rule, bench)
            who, result = await run_in_threadpool(asked.answer)
            response = _response(result, rule)
        except ClientDisconnect:
            response = Response(status_code=400)
        except HTTPException as error:
            # A form that is damaged, or has more fields or larger ones than it may.
            response = _refused(_no_form(error), request, rule.is_page)
        except Exception as error:
            response = _failed(error, request, rule, bench)
        status = response.status_code
        if getattr(request.state, "is_from_stranger", False):
            # Otherwise the server reads the rest of the body, only to throw it away.
            response.headers["connection"] = "close"
        took = 1000 * (time.perf_counter() - started)
        # Who read which note is kept; secrets of links and tokens are not.
        ids = {k: v for k, v in request.path_params.items() if k in _LOGGED}
        log.info("%s %s %s %d %.0f ms %s", rule.method, rule.path, ids, status, took, who)
        return response

    return endpoint


def _failed(error: Exception, request: Request, rule: Rule, bench: Bench) -> Response:
    """Return the answer for what went wrong: a page for people, JSON for programs."""
    from rubricate.web.rendering import fault_lines

    if isinstance(error, InputError) and not rule.is_page:
        faults = fault_lines(error, bench.folder)
        return error_answer(400, "bad_request", "The input is wrong.", faults=faults)
    if isinstance(error, HttpError):
        refusal = error
    elif isinstance(error, RefusedError):
        refusal = HttpError.of(error)
    elif isinstance(error, UnavailableError):
        log.error("unavailable: %s %s: %s", rule.method, rule.path, error)
        refusal = HttpError(503, "unavailable", _UNAVAILABLE)
    elif isinstance(error, RubricateError):
        refusal = HttpError(400, "bad_request", "; ".join(fault_lines(error, bench.folder)))
    else:
        # What failed may hold note text in its message: only the kind of error is written.
        without = Exception(type(error).__name__)
        trace = (Exception, without, error.__traceback__)
        log.error("failed: %s %s", rule.method, rule.path, exc_info=trace)
        refusal = HttpError(500, "failed", "Something failed; it is in the server's log.")
    return _refused(refusal, request, rule.is_page)


def _refused(error: HttpError, request: Request, is_page: bool) -> Response:
    if is_page and error.status == 401 and request.method == "GET":
        return RedirectResponse(f"/signin?next={quote(request.url.path)}", 303)
    if is_page:
        from rubricate.web.rendering import error_page

        return error_page(error)
    response = error_answer(error.status, error.code, str(error), saved=error.saved)
    if error.code == "slow_down":
        response.headers["retry-after"] = str(error.saved["seconds"])
    if error.status == 503:
        response.headers["retry-after"] = "30"
    if error.status == 401:
        response.headers["www-authenticate"] = "Bearer"
    return response


def _response(result: Any, rule: Rule) -> Response:
    if isinstance(result, Response):
        return result
    if rule.status == 204:
        return Response(status_code=204)
    return Response(msgspec.json.encode(result), rule.status, media_type="application/json")


async def _asked(request: Request, rule: Rule, bench: Bench) -> Asked:
    """Return a request's content. The sender's rights limit how much of a body is read."""
    address = request.client.host if request.client else ""
    asked = Asked(rule, bench, request.headers, request.cookies, request.path_params,
                  dict(request.query_params), address)  # fmt: skip
    if rule.body is None:
        return asked
    said = request.headers.get("content-length", "")
    length = int(said) if said.isdecimal() and len(said) < 16 else None
    most = min(rule.most_bytes, _ANONYMOUS_BYTES)
    if length is None or length > most:
        # The length is not said, or large: who asks is looked up before anything is read.
        request.state.is_from_stranger = True
        asked = replace(asked, standing=await run_in_threadpool(asked.let_in))
        if asked.standing and asked.standing.me.person:
            request.state.is_from_stranger = False
            most = rule.most_bytes
        if length is not None and length > most:
            raise _too_large(most)
    if rule.body is not dict:
        return replace(asked, content=await _content(request, most))
    return replace(asked, form=await _form(request, rule, most))


async def _content(request: Request, most: int) -> bytearray:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise _too_large(most)
    return content


async def _form(request: Request, rule: Rule, most: int) -> Form:
    kind = request.headers.get("content-type", "").lower().replace('"', "")
    if "charset" in kind.replace("charset=utf-8", ""):
        # Python has encodings that take quadratic time, fail, or make texts that nobody can keep.
        raise HttpError(400, "bad_request", "The form cannot be read: send it as UTF-8.")
    read = 0

    async def receive() -> Message:
        nonlocal read
        message = await request.receive()
        read += len(message.get("body", b""))
        if read > most:
            raise _too_large(most)
        return message

    form = Form()
    limited = Request(request.scope, receive)
    fields: Any = {"max_fields": rule.most_fields, "max_part_size": most}
    async with limited.form(max_files=2, **fields) as given:
        for name, value in given.multi_items():
            if isinstance(value, str):
                form[name] = value
            elif value.filename:
                form[name] = (value.filename, await value.read(most))
    return form


def _too_large(most: int) -> HttpError:
    return HttpError(413, "too_large", f"At most {most:,} bytes are taken.")


def _no_form(error: HTTPException) -> HttpError:
    return HttpError(400, "bad_request", f"The form cannot be read: {error.detail}")


class Guard:
    """Puts the security headers on every answer, and refuses hosts that are not this server's."""

    def __init__(self, app: ASGIApp, bench: Bench) -> None:
        self.app = app
        self.bench = bench

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        host = _PORT.sub("", Headers(scope=scope).get("host", "")).lower()
        is_file = scope["path"].startswith("/static/")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = dict(HEADERS)
                own["cache-control"] = "public, max-age=31536000" if is_file else "no-store"
                if self.bench.secure:
                    own["strict-transport-security"] = "max-age=31536000"
                names = {name.encode() for name in own}
                kept = [pair for pair in message.get("headers", []) if pair[0] not in names]
                message["headers"] = [*kept, *((k.encode(), v.encode()) for k, v in own.items())]
            await send(message)

        if self.bench.hosts and host not in self.bench.hosts:
            refusal = error_answer(421, "wrong_host", "This server has another name.")
            await refusal(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


def make_app(bench: Bench) -> ASGIApp:
    """Return the server's application."""
    from rubricate.web.policy import RULES
    from rubricate.web.rendering import STATIC

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        yield

    async def not_there(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        code = "not_found" if status == 404 else "bad_request"
        refusal = HttpError(status, code, "There is nothing under this address.")
        return _refused(refusal, request, is_page_path(request.url.path))

    routes: list[Any] = [
        Route(_NAMED.sub(r"{\1:name}", rule.path), _endpoint(rule, bench), methods=[rule.method])
        for rule in RULES
    ]
    routes.append(Mount("/static", StaticFiles(directory=STATIC)))
    handlers: Any = {HTTPException: not_there}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return Guard(app, bench)
