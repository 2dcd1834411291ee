"""A company's OpenID Connect provider: discovery, keys, authorization and tokens.

It follows OpenID Connect Core 1.0 and RFC 7636, and refuses what a provider refuses. Its fields change what it says, so
that it can lie as no honest provider does.
"""

import base64
import hashlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from callwright.server.embedded.embedded import listener_on, listening

CLIENT_ID, CLIENT_SECRET = "callwright here", "s3cret:/%"
HANGS_S = 60.0

Signed = Callable[[dict[str, Any]], str]


@dataclass
class Company:
    """The provider of one company, and the person who is logged in there."""

    now_s: Callable[[], int]
    issuer: str = ""
    subject: str = "248289761001"
    email: str | None = "ann@example.com"
    is_verified: Any = True
    name: str = "Ann Meyer"
    says: dict[str, Any] = field(default_factory=dict[str, Any])
    """Claims of the next tokens, in place of the right ones; None leaves one out."""
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    """Members of the discovery document, in place of the right ones."""
    sends_back: dict[str, str] = field(default_factory=dict[str, str])
    """What the browser brings back beside the code, or in its place."""
    sign: Signed | None = None
    """Makes the token of claims, in place of a signature with the key."""
    hangs: bool = False
    padding: int = 0
    """Bytes by which the answer of the token endpoint is too long."""
    redirects_to: str | None = None
    """Where the token endpoint sends who asks it."""
    asked: list[str] = field(default_factory=list[str])
    """The path of each request."""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2_048, {"kid": "first", "alg": "RS256"}))
    published: list[RSAKey] | None = None
    """The keys that it publishes, in place of the one with which it signs."""
    broken_keys: dict[str, Any] | None = None
    """What it says in place of its keys."""
    _codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def rotate(self) -> None:
        """Signs with a new key from now on."""
        self.key = RSAKey.generate_key(2_048, {"kid": f"after {self.key.kid}", "alg": "RS256"})

    def claims(self, nonce: str) -> dict[str, Any]:
        now = self.now_s()
        right = {
            "iss": self.issuer,
            "sub": self.subject,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "email": self.email,
            "email_verified": self.is_verified,
            "name": self.name,
            **self.says,
        }
        return {name: value for name, value in right.items() if value is not None}

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode({"alg": "RS256", "kid": self.key.kid or ""}, claims, self.key)

    def application(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._keys),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    async def _discovery(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.document,
        }
        return JSONResponse(document)

    async def _keys(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        keys = [self.key] if self.published is None else self.published
        return JSONResponse(self.broken_keys or KeySet(list(keys)).as_dict(private=False))

    async def _authorize(self, request: Request) -> Response:
        query = dict(request.query_params)
        assert (query["client_id"], query["response_type"]) == (CLIENT_ID, "code")
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = f"code-{len(self._codes)}"
        self._codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.issuer, **self.sends_back}
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode(back)}", 302)

    async def _token(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        if self.hangs:
            await anyio.sleep(HANGS_S)
        if self.redirects_to is not None:
            return RedirectResponse(self.redirects_to, 307)
        form = dict(parse_qsl((await request.body()).decode()))
        known = base64.b64encode(b"callwright%20here:s3cret%3A%2F%25").decode()
        if request.headers.get("authorization") != f"Basic {known}":
            return JSONResponse({"error": "invalid_client"}, 401)
        query = self._codes.pop(form.get("code", ""), None)
        if query is None or form["redirect_uri"] != query["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if proof != query["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        token = (self.sign or self.signed)(self.claims(query["nonce"]))
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "id_token": token, "x": "x" * self.padding})


@asynccontextmanager
async def company_at_work(now_s: Callable[[], int]) -> AsyncGenerator[Company]:
    """The provider, listening."""
    company = Company(now_s)
    with listener_on() as listener:
        async with listening(company.application(), listener) as base_url:
            company.issuer = base_url.removesuffix("/v1")
            yield company


def path_of(address: str) -> str:
    """Path and query of an address, as a browser sends them."""
    place = urlsplit(address)
    return f"{place.path}?{place.query}" if place.query else place.path
