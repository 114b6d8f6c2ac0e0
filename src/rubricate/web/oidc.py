"""Signing in through a provider of OpenID Connect; only who was invited comes in."""

from __future__ import annotations

import hmac
import json
import logging
import secrets
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from rubricate.errors import InputError, MissingExtraError
from rubricate.formats.encoding import Json
from rubricate.store import people
from rubricate.store.refusals import NotFoundError, RefusedError
from rubricate.web.account import own_page, signed_in
from rubricate.web.app import cookie_name
from rubricate.web.calls import LOOPBACK, Call, HttpError
from rubricate.web.rendering import render

log = logging.getLogger("rubricate.web")
#: How long somebody may take at the provider, in seconds.
_PATIENCE = 600
#: Signatures by a provider's private key; none that whoever knows the client's secret could make.
_SIGNATURES = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
               "Ed25519", "EdDSA"]  # fmt: skip


def _is_safe(url: str) -> bool:
    """Return True if nobody on the way can read or change the answer."""
    parts = urlsplit(url)
    own = parts.scheme == "http" and parts.netloc.rsplit(":", 1)[0] in LOOPBACK
    return bool(parts.hostname) and (parts.scheme == "https" or own)


def _fetch(url: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
    """Return the JSON under an address; redirections, which could take secrets along, fail."""
    if not _is_safe(url):
        raise ValueError("not https")
    opener = OpenerDirector()
    for kind in (ProxyHandler, HTTPHandler, HTTPSHandler):
        opener.add_handler(kind())
    given = {"Accept": "application/json", **(headers or {})}
    with opener.open(Request(url, body, given), timeout=10) as answer:
        if answer.status != 200:
            raise ValueError("no answer")
        return json.loads(answer.read(1_000_000))


@dataclass(frozen=True)
class Provider:
    """A provider of OpenID Connect, and what this server is to it."""

    issuer: str
    client: str
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not _is_safe(self.issuer) or not self.client:
            raise InputError(
                "--oidc is the address of the provider, https://… (http:// on this machine only), "
                "and --oidc-client the name under which it knows this server"
            )
        try:
            import authlib.oidc.core  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("Signing in through a provider", "oidc") from error

    @property
    def name(self) -> str:
        """The provider's name for people."""
        return urlsplit(self.issuer).hostname or ""

    @cached_property
    def _described(self) -> Json:
        found = _fetch(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found["issuer"].rstrip("/") != self.issuer.rstrip("/"):
            raise ValueError("another issuer")
        return dict(found)

    def address(self, back: str, state: str, nonce: str, verifier: str) -> str:
        """Return the address where people sign in; they come ``back`` with a code."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        goal = self._described["authorization_endpoint"]
        if not _is_safe(goal):
            raise ValueError("not https")
        return str(prepare_grant_uri(
            goal, self.client, "code", back, "openid email", state, nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier), code_challenge_method="S256",
        ))  # fmt: skip

    def claims(self, back: str, code: str, nonce: str, verifier: str) -> Json:
        """Return the provider's account of the person who signed in, after all checks."""
        from authlib.oauth2.auth import ClientAuth
        from authlib.oauth2.rfc6749.parameters import prepare_token_request
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.jwk import KeySet

        known = self._described
        methods = known.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        asked = prepare_token_request("authorization_code", "", back, code=code,
                                      code_verifier=verifier)  # fmt: skip
        goal, headers, body = ClientAuth(
            self.client, self.secret, basic if self.secret else "none"
        ).prepare("POST", known["token_endpoint"], {}, asked)
        token = _fetch(goal, body.encode(), headers)["id_token"]
        # Fetched anew each time: providers change their keys.
        keys = KeySet.import_key_set(_fetch(known["jwks_uri"]))
        signed = jwt.decode(token, keys, algorithms=_SIGNATURES)
        wanted: Any = {"iss": {"essential": True, "value": known["issuer"]},
                       "aud": {"essential": True, "value": self.client}}  # fmt: skip
        more = {"nonce": nonce, "client_id": self.client}
        found = CodeIDToken(signed.claims, signed.header, wanted, more)
        found.validate(leeway=60)
        return dict(found)


def _provider(call: Call) -> Provider:
    if call.bench.provider is None:
        raise NotFoundError()
    return call.bench.provider


def _back(call: Call) -> str:
    return f"http{'s' if call.bench.secure else ''}://{call.host}/oidc/callback"


def _trusted(work: Any, *given: str) -> Any:
    """Return a provider's answer; the log says why it cannot be used, without its content."""
    from joserfc.errors import JoseError

    try:
        return work(*given)
    except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError,
            JoseError) as error:  # fmt: skip
        what = (type(error).__name__, getattr(error, "claim", ""))
        log.warning("the provider's answer is not accepted: %s %s", *what)
        message = "The provider did not answer as it should. Try again, or ask an administrator."
        raise HttpError(403, "forbidden", message) from None


def _cookie(call: Call) -> dict[str, Any]:
    """Return the cookie that ties a sign-in to the browser that began it."""
    return {"key": f"{cookie_name(call.bench)}-oidc", "path": "/", "secure": call.bench.secure,
            "httponly": True, "samesite": "lax"}  # fmt: skip


def leave(call: Call) -> Response:
    """Send somebody to the provider."""
    provider = _provider(call)
    goal = own_page(call.query.get("next", "/"))
    kept = {"nonce": secrets.token_urlsafe(32), "verifier": secrets.token_urlsafe(48)}
    state = call.write(people.make_link, "oidc", target=json.dumps({**kept, "next": goal}),
                       days=_PATIENCE * 1000 / people.DAY)  # fmt: skip
    try:
        where = _trusted(provider.address, _back(call), state, *kept.values())
    except HttpError as error:
        return render("signin.html", call, error.status, next=goal, error=str(error))
    response = RedirectResponse(where, 303)
    response.set_cookie(value=state, max_age=_PATIENCE, **_cookie(call))
    return response


def come_back(call: Call) -> Response:
    """Let in whom the provider vouches for, if they were invited."""
    provider, goal = _provider(call), "/"
    state, own = call.query.get("state", ""), _cookie(call)
    try:
        if not hmac.compare_digest(state.encode(), call.cookies.get(own["key"], "").encode()):
            raise NotFoundError()
        kept = json.loads(call.write(people.use_link, state, "oidc").target)
        goal = kept["next"]
        given = (_back(call), call.query.get("code", ""), kept["nonce"], kept["verifier"])
        response = _let_in(call, _trusted(provider.claims, *given), goal)
    except (HttpError, RefusedError) as error:
        old = "This sign-in was begun elsewhere, took too long or is over. Begin again."
        message = old if isinstance(error, NotFoundError) else str(error)
        response = render("signin.html", call, 403, next=goal, error=message)
    response.delete_cookie(**own)
    return response


def _let_in(call: Call, claims: Json, goal: str) -> Response:
    email = str(claims.get("email", "")) if claims.get("email_verified") is True else ""

    def work(connection: Connection) -> str:
        found = people.vouched(connection, claims["iss"], claims["sub"], email)
        if call.secret:
            people.close_session(connection, call.secret)
        return people.open_session(connection, found)

    secret = call.bench.database.write(work)
    return signed_in(call, secret, goal)
