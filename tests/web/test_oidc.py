"""Signing in through a real small provider, and all that is refused there."""

import base64
import hashlib
import logging
import secrets
import socket
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2 as httpx
import pytest
import uvicorn
from click.testing import CliRunner
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey
from sqlalchemy import func, select
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route
from workbench import Browsers

from rubricate.cli import main
from rubricate.errors import InputError
from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.people import Identity
from rubricate.web.calls import Bench
from rubricate.web.oidc import Provider

CLIENT, SECRET, MAIL = "bench", "the client's secret, long enough", "Ann@Example.org"
KID = {"kid": "1", "use": "sig"}
BACK = "http://127.0.0.1/oidc/callback"


@dataclass
class Issuer:
    """A provider that signs with a key of its own; ``claims`` and ``key`` are what it lies with."""

    port: int
    claims: dict = field(default_factory=dict)
    keys: dict = field(default_factory=lambda: {"ES256": ECKey.generate_key("P-256", KID)})
    key: tuple | None = None
    given: dict = field(default_factory=dict)
    seen: list = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def app(self) -> Starlette:
        return Starlette(routes=[
            Route("/.well-known/openid-configuration", self.describe),
            Route("/authorize", self.authorize),
            Route("/token", self.token, methods=["POST"]),
            Route("/jwks", self.jwks),
        ])  # fmt: skip

    async def describe(self, _request: Request) -> JSONResponse:
        return JSONResponse({
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token", "jwks_uri": f"{self.url}/jwks",
        })  # fmt: skip

    async def jwks(self, _request: Request) -> JSONResponse:
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys.values()]})

    async def authorize(self, request: Request) -> RedirectResponse:
        asked = dict(request.query_params)
        assert (asked["client_id"], asked["response_type"]) == (CLIENT, "code")
        assert asked["redirect_uri"] == BACK
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.given[code] = asked
        return RedirectResponse(f"{BACK}?{urlencode({'code': code, 'state': asked['state']})}")

    async def token(self, request: Request) -> JSONResponse:
        form = dict(await request.form())
        asked = self.given.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        right = request.headers.get("authorization") == f"Basic {basic}"
        if asked is None or proof != asked["code_challenge"] or not right:
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": "subject-1", "iat": now,
                  "exp": now + 36_000, "nonce": asked["nonce"], "email": MAIL,
                  "email_verified": True, **self.claims}  # fmt: skip
        alg, key = self.key or next(iter(self.keys.items()))
        token = jwt.encode({"alg": alg, "kid": "1"}, claims, key, algorithms=[alg])
        self.seen += [form["code"], token]
        return JSONResponse({"id_token": token, "access_token": "x", "token_type": "Bearer"})


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    # Whoever connects before the server is ready waits in the socket's queue.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        made = Issuer(taken.getsockname()[1])
        config = uvicorn.Config(made.app(), log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
        thread.start()
        yield made
        server.should_exit = True
        thread.join()


@pytest.fixture
def ann(bench: Bench) -> Identity:
    own = bench.database.write(lambda c: people.add_person(c, "ann"))
    bench.database.write(lambda c: people.set_email(c, own, MAIL))
    return Identity(own, "ann")


@pytest.fixture
def door(bench: Bench, issuer: Issuer) -> Browsers:
    return Browsers(replace(bench, provider=Provider(issuer.url, CLIENT, SECRET)))


def way_back(client, goal: str = "/account") -> str:
    """Go to the provider and return where it sends the browser back to."""
    answer = client.get("/oidc", params={"next": goal}, follow_redirects=False)
    assert answer.status_code == 303
    found = httpx.get(answer.headers["location"], trust_env=False, timeout=300)
    assert found.status_code == 307
    return found.headers["location"]


def come_back(client, goal: str = "/account"):
    return client.get(way_back(client, goal), follow_redirects=False)


def name_of(client) -> str | None:
    answer = client.get("/api/v1/me")
    return answer.json()["name"] if answer.status_code == 200 else None


def count(bench: Bench, table) -> int:
    return bench.database.read(lambda c: c.scalar(select(func.count()).select_from(table)))


def test_who_was_invited_comes_in_and_is_known_by_subject(
    bench: Bench, issuer: Issuer, door: Browsers, ann: Identity, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    client = door.of(None)
    page = client.get("/signin?next=/account")
    assert "/oidc?next=/account" in page.text
    answer = come_back(client)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert name_of(client) == "ann"
    # The address changed at the provider: the subject is enough.
    issuer.claims = {"email": "new@example.org", "email_verified": False, "aud": [CLIENT]}
    other = door.of(None)
    come_back(other)
    assert name_of(other) == "ann"
    # Somebody else got the old address there.
    issuer.claims = {"sub": "subject-2"}
    assert come_back(door.of(None)).status_code == 403
    # The session is one like any other.
    bench.database.write(lambda c: people.end_sessions(c, ann.person))
    assert name_of(client) is None
    # The browsers of this test log for themselves.
    ours = [one for one in caplog.records if not one.name.startswith("http")]
    logged = "\n".join(str(one.__dict__) for one in ours)
    assert "/oidc/callback" in logged
    assert issuer.seen
    assert not [secret for secret in (*issuer.seen, SECRET) if secret in logged]


STRANGE = ECKey.generate_key("P-256", KID)
LIES = {
    "nonce": {"nonce": "another"},
    "audience": {"aud": "somebody else"},
    "audiences": {"aud": [CLIENT, "somebody else"], "azp": "somebody else"},
    "issuer": {"iss": "https://evil.example"},
    "expired": {"exp": 1_000_000_000},
    "unknown": {"email": "eve@example.org"},
    "unverified": {"email_verified": False},
    "nearly verified": {"email_verified": "false"},
    "no address": {"email": None},
}


@pytest.mark.parametrize("lie", LIES)
def test_what_is_wrong_in_the_token_is_refused(
    bench: Bench, issuer: Issuer, door: Browsers, ann: Identity, lie: str
) -> None:
    issuer.claims = LIES[lie]
    client = door.of(None)
    assert come_back(client).status_code == 403
    assert name_of(client) is None
    assert (count(bench, t.person), count(bench, t.session)) == (1, 0)


@pytest.mark.parametrize(
    "key", [("ES256", STRANGE), ("HS256", OctKey.import_key(SECRET))], ids=["strange", "secret"]
)
def test_other_signatures_are_refused(
    bench: Bench, issuer: Issuer, door: Browsers, ann: Identity, key
) -> None:
    issuer.key = key
    assert come_back(door.of(None)).status_code == 403
    assert count(bench, t.session) == 0


def test_a_way_back_works_once_and_in_one_browser(
    bench: Bench, door: Browsers, ann: Identity
) -> None:
    client, other = door.of(None), door.of(None)
    back = way_back(client)
    state = parse_qs(urlsplit(back).query)["state"][0]
    assert other.get(back, follow_redirects=False).status_code == 403
    assert client.get(back, follow_redirects=False).status_code == 303
    client.cookies.set("rubricate-oidc", state)
    assert client.get(back, follow_redirects=False).status_code == 403
    assert other.get("/oidc/callback").status_code == 403
    assert count(bench, t.session) == 1


def test_a_way_back_ends(bench: Bench, door: Browsers, ann: Identity) -> None:
    client = door.of(None)
    back = way_back(client)
    bench.database.write(lambda c: c.execute(t.link.update().values(expires=0)))
    assert client.get(back, follow_redirects=False).status_code == 403


def test_disabled_people_stay_outside(bench: Bench, door: Browsers, ann: Identity) -> None:
    bench.database.write(lambda c: c.execute(t.person.update().values(disabled=True)))
    assert come_back(door.of(None)).status_code == 403


def test_it_leads_only_to_own_pages(door: Browsers, ann: Identity) -> None:
    assert come_back(door.of(None), "//evil.example").headers["location"] == "/"


def test_administrators_say_who_may_come(bench: Bench, door: Browsers) -> None:
    boss = bench.database.write(lambda c: people.add_person(c, "boss", admin=True))
    manager = door.of(Identity(boss, "boss", admin=True))
    form = {"name": "ann", "what": "invite", "email": MAIL}
    assert MAIL.lower() in manager.post("/users", data=form).text
    manager.post("/users", data={**form, "name": "bob"})
    client = door.of(None)
    come_back(client)
    assert name_of(client) == "ann"
    assert (count(bench, t.person), count(bench, t.vouched)) == (2, 1)


def test_a_provider_that_is_away_is_told(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    away = Browsers(replace(bench, provider=Provider(f"http://127.0.0.1:{port}", CLIENT)))
    assert away.of(None).get("/oidc").status_code == 403


@pytest.mark.parametrize("url", ["http://example.org", "ftp://127.0.0.1", "example.org",
                                 "http://127.0.0.1.example.org"])  # fmt: skip
def test_providers_are_asked_by_tls(url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Provider(url, CLIENT)
    done = CliRunner().invoke(main, ["serve", str(tmp_path), "--oidc", url, "--oidc-client", "x"])
    assert done.exit_code == 1
    Provider("https://login.example.org/realm", CLIENT)


def test_without_a_provider_there_is_no_such_door(browsers: Browsers) -> None:
    client = browsers.of(None)
    assert "/oidc" not in client.get("/signin").text
    assert client.get("/oidc").status_code == client.get("/oidc/callback").status_code == 404
