"""A company's OpenID Connect provider: where it asks people who they are, and what it says of them.

Sources: OpenID Connect Core 1.0, sections 3.1.2 and 3.1.3; Discovery 1.0; RFC 7636 (PKCE); RFC 9207 (`iss`); RFC 8725.
ID tokens are checked by `joserfc`, which is imported with the first login.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import anyio

from callwright.service.accounts.company_logins import CompanyPerson
from callwright.service.dashboard.company.asked_provider import LIMIT_S, ProviderFailed, asked
from callwright.service.platform.clock.clock import HOUR, MINUTE, SECOND, Clock
from callwright.service.settings import CompanyLoginSettings

KEPT_MS = HOUR
"""How long what a provider says of itself is kept."""
FAILED_MS = 10 * SECOND
"""A provider that did not answer is not asked again so soon: who waits is told at once."""
RENEWED_EVERY_MS = MINUTE
"""For an unknown key the keys are fetched again at most this often."""
LEEWAY_S = 60
"""How far the clocks may differ."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by which only the provider can have made a token: no secret that both know, and not none."""
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LONGEST_SUBJECT = 255


@dataclass(frozen=True)
class _Kept:
    value: dict[str, Any]
    at_ms: int


class Provider:
    """One provider. It keeps the discovery document and the keys, in memory."""

    def __init__(self, settings: CompanyLoginSettings, clock: Clock, *, limit_s: float = LIMIT_S) -> None:
        self._settings, self._clock, self._limit_s = settings, clock, limit_s
        self._document: _Kept | None = None
        self._keys: _Kept | None = None
        self._failed: tuple[int, str] | None = None
        self._lock = anyio.Lock()

    async def address(self, *, state: str, nonce: str, challenge: str, back: str) -> str:
        """Where a browser is sent, with the challenge of PKCE, to come back to `back`. Raises `ProviderFailed`."""
        document = await self._discovered()
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": back,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        place = self._endpoint(document, "authorization_endpoint")
        return f"{place}{'&' if urlsplit(place).query else '?'}{urlencode(query)}"

    async def check_sender(self, issuer: str | None) -> None:
        """Raises `ProviderFailed` if another provider sent the browser back. `issuer` is `iss` of the address."""
        is_said = (await self._discovered()).get("authorization_response_iss_parameter_supported") is True
        if issuer != self._settings.issuer and (issuer is not None or is_said):
            raise ProviderFailed("another login service sent you back")

    async def person(self, code: str, *, verifier: str, nonce: str, back: str) -> CompanyPerson:
        """Who somebody is: gives the code for an ID token, and checks it. Raises `ProviderFailed`."""
        document = await self._discovered()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
        known, secret = self._settings.client_id, self._settings.client_secret
        ways = document.get("token_endpoint_auth_methods_supported")
        ways = cast("list[Any]", ways) if isinstance(ways, list) else ["client_secret_basic"]
        login = None
        if secret is None or "client_secret_basic" not in ways:
            form |= {"client_id": known} if secret is None else {"client_id": known, "client_secret": secret}
        else:
            login = (quote(known, safe=""), quote(secret, safe=""))  # RFC 6749, section 2.3.1
        place = self._endpoint(document, "token_endpoint")
        answer = await asked("POST", place, form=form, login=login, limit_s=self._limit_s)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise ProviderFailed("it gave no ID token")
        return self._person(await self._claims(document, token), nonce)

    def _person(self, claims: Mapping[str, Any], nonce: str) -> CompanyPerson:
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        settings = self._settings
        registry = JWTClaimsRegistry(
            now=self._clock.now_ms() // 1_000,
            leeway=LEEWAY_S,
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "value": settings.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            registry.validate(dict(claims))
        except JoseError as error:
            raise ProviderFailed("its ID token is not for this login, or too old") from error
        audience, party = claims["aud"], claims.get("azp")
        if party != settings.client_id and (party is not None or (isinstance(audience, list) and len(audience) > 1)):  # pyright: ignore[reportUnknownArgumentType]
            raise ProviderFailed("its ID token is for another program")
        subject, email, name = claims["sub"], claims.get("email"), claims.get("name")
        if not 0 < len(subject) <= _LONGEST_SUBJECT:
            raise ProviderFailed("its ID token names nobody")
        is_verified = claims.get("email_verified") is True and isinstance(email, str)
        return CompanyPerson(
            settings.issuer, subject, email if is_verified else None, name if isinstance(name, str) else None
        )

    async def _claims(self, document: Mapping[str, Any], token: str) -> Mapping[str, Any]:
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError
        from joserfc.jwk import KeySet

        for is_again in (False, True):
            try:
                keys = KeySet.import_key_set(cast("Any", await self._key_set(document, is_again=is_again)))
                return jwt.decode(token, keys, algorithms=ALGORITHMS).claims
            except InvalidKeyIdError as error:
                if is_again:
                    raise ProviderFailed("its ID token is signed with an unknown key") from error
            except (JoseError, ValueError, KeyError, TypeError) as error:  # or what it said of its keys was broken
                if is_again:
                    raise ProviderFailed("the signature of its ID token is wrong") from error
        raise AssertionError("the second time returns or raises")

    async def _discovered(self) -> dict[str, Any]:
        async with self._lock:
            now_ms = self._clock.now_ms()
            if self._document is None or not 0 <= now_ms - self._document.at_ms < KEPT_MS:
                if self._failed is not None and 0 <= now_ms - self._failed[0] < FAILED_MS:
                    raise ProviderFailed(self._failed[1])  # who waited behind the one that found out
                place = f"{self._settings.issuer.rstrip('/')}/.well-known/openid-configuration"
                try:
                    found = await asked("GET", place, limit_s=self._limit_s)
                    self._check(found)
                except ProviderFailed as failure:
                    self._failed = (self._clock.now_ms(), str(failure))
                    raise
                self._document = _Kept(found, now_ms)
            return self._document.value

    async def _key_set(self, document: Mapping[str, Any], *, is_again: bool) -> dict[str, Any]:
        async with self._lock:
            now_ms = self._clock.now_ms()
            longest_ms = RENEWED_EVERY_MS if is_again else KEPT_MS
            if self._keys is None or not 0 <= now_ms - self._keys.at_ms < longest_ms:
                found = await asked("GET", self._endpoint(document, "jwks_uri"), limit_s=self._limit_s)
                self._keys = _Kept(found, now_ms)
            return self._keys.value

    def _check(self, document: Mapping[str, Any]) -> None:
        """Raises `ProviderFailed` for a document that cannot be used, so that it is not kept."""
        if document.get("issuer") != self._settings.issuer:
            raise ProviderFailed("it says that it is another one than CALLWRIGHT_OIDC_ISSUER")
        for name in _ENDPOINTS:
            self._endpoint(document, name)

    def _endpoint(self, document: Mapping[str, Any], name: str) -> str:
        found = document.get(name)
        try:
            place = urlsplit(found if isinstance(found, str) else "")
        except ValueError:
            place = urlsplit("")
        is_local = place.hostname in _LOOPBACK and urlsplit(self._settings.issuer).hostname in _LOOPBACK
        if not isinstance(found, str) or not (place.scheme == "https" or (place.scheme == "http" and is_local)):
            raise ProviderFailed(f"its {name} is no address that begins with https")
        return found
