"""Logging in by a company's login service: who gets in, and fifteen ways in which somebody else does not."""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import RSAKey
from sqlalchemy import select

from callwright.client.transport import httpx
from callwright.service import accounts
from callwright.service.dashboard.company import provider
from callwright.service.dashboard.company import provider as provider_module
from callwright.service.dashboard.company.asked_provider import LONGEST, ProviderFailed
from callwright.service.dashboard.company.provider import Provider
from callwright.service.platform.clock.clock import SystemClock
from callwright.service.settings import CompanyLoginSettings, ServiceSettings
from callwright.service.tables.schema import audit_log, company_identities
from tests.support.authenticator import in_base64url
from tests.support.clock_set_by_test import MovableClock
from tests.support.dashboard import Visit, stranger, text_of
from tests.support.oidc.imitation import CLIENT_ID, CLIENT_SECRET, Company, company_at_work, path_of
from tests.support.service import Tenant, open_service

PUBLIC_URL = "http://service"


@dataclass(frozen=True)
class Setup:
    tenant: Tenant
    company: Company

    async def sent_back(self, visit: Visit, *, target: str = "/calls") -> str:
        """Goes to the company and logs in there; returns where the browser is sent back to."""
        left = await visit.http.get("/login/company", params={"next": target})
        assert left.status_code == 303, text_of(left.text)
        async with httpx.AsyncClient() as http:
            answer = await http.get(left.headers["location"])
        return path_of(answer.headers["location"])

    async def log_in(self, visit: Visit) -> httpx.Response:
        return await visit.http.get(await self.sent_back(visit))

    async def refusal(self, status: int = 401) -> str:
        """What a browser shows that the company sends back now; it must not be logged in."""
        async with stranger(self.tenant) as visit:
            answer = await self.log_in(visit)
            assert answer.status_code == status, (answer.status_code, text_of(answer.text))
            assert "svc_ses_" not in answer.headers.get("set-cookie", "")
            assert (await visit.http.get("/campaigns")).status_code == 303
            return text_of(answer.text)

    async def user(self, email: str = "ann@example.com", role: str = "member") -> str:
        services = self.tenant.services
        given = (services.ids, self.tenant.org_id, email, services.clock.now_ms())
        return await services.database.write(lambda connection: accounts.add_member(connection, *given, role=role))


@asynccontextmanager
async def set_up(database_url: str, data: Path, **settings: Any) -> AsyncGenerator[Setup]:
    async with company_at_work(lambda: int(time.time())) as company:
        login = CompanyLoginSettings(
            issuer=company.issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, name="Acme", **settings
        )
        made = ServiceSettings(data=data, database_url=database_url, public_url=PUBLIC_URL, company_login=login)
        async with open_service(database_url, data, workers=False, settings=made) as tenant:
            yield Setup(tenant, company)


@pytest.mark.requirement("DASH-34")
async def test_a_user_logs_in_by_the_company_and_comes_to_the_page_that_was_wanted(
    database_url: str, tmp_path: Path
) -> None:
    async with set_up(database_url, tmp_path) as setup, stranger(setup.tenant) as visit:
        user_id = await setup.user()
        assert "Log in with Acme" in text_of(await visit.page("/login"))
        answer = await setup.log_in(visit)
        assert (answer.status_code, answer.headers["location"]) == (303, "/calls"), text_of(answer.text)
        assert "Agents" in text_of(await visit.page("/agents"))
        assert "callwright_company" not in visit.http.cookies
        entries = await setup.tenant.database.read(
            lambda connection: connection.execute(select(audit_log).where(audit_log.c.subject == user_id)).all()
        )
        assert {"company_identity.added", "session.begun"} <= {one.action for one in entries}
        assert any('"company"' in one.changes for one in entries if one.action == "session.begun")
        assert (await setup.log_in(visit)).status_code == 303
        rows = await setup.tenant.database.read(lambda connection: connection.execute(select(company_identities)).all())
        assert [(row.user_id, row.subject) for row in rows] == [(user_id, setup.company.subject)]


@pytest.mark.requirement("DASH-34")
async def test_a_person_is_known_by_the_subject_when_the_address_changes(database_url: str, tmp_path: Path) -> None:
    async with set_up(database_url, tmp_path) as setup, stranger(setup.tenant) as visit:
        await setup.user()
        await setup.log_in(visit)
        setup.company.email = "ann.meyer@example.com"
        setup.company.is_verified = None
        assert (await setup.log_in(visit)).status_code == 303
        setup.company.subject, setup.company.email, setup.company.is_verified = "other", "ann@example.com", True
        assert "belongs to another person" in await setup.refusal(403)


@pytest.mark.requirement("DASH-35")
@pytest.mark.parametrize(
    ("organization", "words"),
    [(None, "There is no user ann@example.com here"), ("nowhere", "organization of new people is not there")],
)
async def test_nobody_new_gets_in_without_an_organization_for_new_people(
    database_url: str, tmp_path: Path, organization: str | None, words: str
) -> None:
    async with set_up(database_url, tmp_path, organization=organization) as setup:
        assert words in await setup.refusal(403)
        services = setup.tenant.services
        assert await services.database.read(accounts.user_with, "ann@example.com") is None


@pytest.mark.requirement("DASH-35")
async def test_a_new_person_has_the_role_that_is_set_and_stays_out_after_leaving(
    database_url: str, tmp_path: Path
) -> None:
    async with set_up(database_url, tmp_path, organization="tests") as setup:
        async with stranger(setup.tenant) as visit:
            assert (await setup.log_in(visit)).status_code == 303
            page = text_of(await visit.page("/settings/session"))
            assert ("Ann Meyer" in page, "ann@example.com · viewer" in page) == (True, True)
        services = setup.tenant.services
        who = await services.database.read(accounts.find_user, "ann@example.com")
        now_ms = services.clock.now_ms()
        await services.database.write(accounts.leave, services.ids, setup.tenant.org_id, who.id, now_ms)
        assert "You have left this organization" in await setup.refusal(403)
        await services.database.write(accounts.delete_user, services.ids, who.id, now_ms)
        assert "Your user was deleted here" in await setup.refusal(403)


def _by_hand(header: dict[str, str], claims: dict[str, Any], secret: bytes | None = None) -> str:
    """A token as an attacker makes it, whom no library hinders."""
    text = ".".join(in_base64url(json.dumps(part).encode()) for part in (header, claims))
    signature = b"" if secret is None else hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{in_base64url(signature)}"


def _says(**claims: Any) -> Callable[[Company], None]:
    return lambda company: company.says.update(claims)


def _none(company: Company) -> None:
    company.sign = lambda claims: _by_hand({"alg": "none", "kid": "first"}, claims)


def _public_key_as_secret(company: Company) -> None:
    secret = company.key.as_pem(private=False)
    company.sign = lambda claims: _by_hand({"alg": "HS256", "kid": "first"}, claims, secret)


def _own_key(company: Company) -> None:
    company.published = [company.key]
    company.key = RSAKey.generate_key(2_048, {"kid": "first", "alg": "RS256"})


def _unknown_key(company: Company) -> None:
    company.published = [company.key]
    company.rotate()


def _secret_of_client(company: Company) -> None:
    company.sign = lambda claims: _by_hand({"alg": "HS256", "kid": "first"}, claims, CLIENT_SECRET.encode())


def _no_token(company: Company) -> None:
    company.sign = lambda _: "not.a.token"


def _sends_back(**query: str) -> Callable[[Company], None]:
    return lambda company: company.sends_back.update(query)


def _huge(company: Company) -> None:
    company.padding = LONGEST


def _redirects(company: Company) -> None:
    company.redirects_to = f"{company.issuer}/keys"


ATTACKS = {
    "nonce of another login": (_says(nonce="another"), "is not for this login"),
    "no nonce": (_says(nonce=None), "is not for this login"),
    "for another program": (_says(aud="other"), "is not for this login"),
    "for others as well": (_says(aud=[CLIENT_ID, "other"]), "is for another program"),
    "another party": (_says(azp="other"), "is for another program"),
    "of another issuer": (_says(iss="https://evil.example"), "is not for this login"),
    "expired": (_says(exp=1_000_000), "is not for this login"),
    "never expires": (_says(exp=None), "is not for this login"),
    "from the future": (_says(iat=9_999_999_999), "is not for this login"),
    "no subject": (_says(sub=None), "is not for this login"),
    "alg none": (_none, "signature of its ID token is wrong"),
    "HS256 with the public key": (_public_key_as_secret, "signature of its ID token is wrong"),
    "HS256 with a secret": (_secret_of_client, "signature of its ID token is wrong"),
    "key of an attacker": (_own_key, "signature of its ID token is wrong"),
    "unknown key": (_unknown_key, "signed with an unknown key"),
    "no token": (_no_token, "signature of its ID token is wrong"),
    "issuer mix-up": (_sends_back(iss="https://evil.example"), "another login service sent you back"),
    "made-up code": (_sends_back(code="guessed"), "answered with status 400"),
    "state of nobody": (_sends_back(state="guessed"), "began in another browser"),
    "huge answer": (_huge, "answered with too much"),
    "leads elsewhere": (_redirects, "answered with status 307"),
}


@pytest.mark.requirement("DASH-36")
@pytest.mark.parametrize("attack", list(ATTACKS))
async def test_what_the_company_has_not_said_of_this_login_begins_no_session(
    database_url: str, tmp_path: Path, attack: str
) -> None:
    spoil, words = ATTACKS[attack]
    async with set_up(database_url, tmp_path) as setup:
        await setup.user()
        spoil(setup.company)
        assert words in await setup.refusal()


@pytest.mark.requirement("DASH-36")
@pytest.mark.parametrize("verified", [False, None, "true", 1])
async def test_an_address_that_is_not_verified_is_nobodys(database_url: str, tmp_path: Path, verified: Any) -> None:
    async with set_up(database_url, tmp_path, organization="tests") as setup:
        await setup.user()
        setup.company.is_verified = verified
        assert "has not verified your e-mail address" in await setup.refusal(403)


@pytest.mark.requirement("DASH-36")
async def test_a_login_of_one_browser_is_no_login_of_another_and_no_code_works_twice(
    database_url: str, tmp_path: Path
) -> None:
    async with set_up(database_url, tmp_path) as setup:
        await setup.user()
        async with (
            stranger(setup.tenant) as attacker,
            stranger(setup.tenant) as victim,
            stranger(setup.tenant) as third,
        ):
            back = await setup.sent_back(attacker)
            assert (await victim.http.get(back)).status_code == 401
            await setup.sent_back(third)
            assert "began in another browser" in text_of((await third.http.get(back)).text)
            kept = attacker.http.cookies["callwright_company"]
            assert (await attacker.http.get(back)).status_code == 303
            assert (await attacker.http.get(back)).status_code == 401
            attacker.http.cookies.set("callwright_company", kept)
            again = await attacker.http.get(back)
            assert (again.status_code, "status 400" in again.text) == (401, True)


@pytest.mark.requirement("DASH-36")
async def test_the_code_of_another_login_does_not_fit_the_verifier(database_url: str, tmp_path: Path) -> None:
    async with set_up(database_url, tmp_path) as setup:
        await setup.user()
        async with stranger(setup.tenant) as victim, stranger(setup.tenant) as attacker:
            stolen = (await setup.sent_back(victim)).partition("code=")[2].partition("&")[0]
            own = await setup.sent_back(attacker)
            mixed = own.replace(f"code={own.partition('code=')[2].partition('&')[0]}", f"code={stolen}")
            assert "status 400" in text_of((await attacker.http.get(mixed)).text)


@pytest.mark.requirement("DASH-36")
async def test_a_new_key_of_the_company_is_fetched_and_an_unknown_one_not_again_and_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with set_up(database_url, tmp_path) as setup, stranger(setup.tenant) as visit:
        company = setup.company
        await setup.user()
        for _ in range(2):
            assert (await setup.log_in(visit)).status_code == 303
        assert [company.asked.count(path) for path in ("/keys", "/.well-known/openid-configuration")] == [1, 1]
        company.published = [company.key]
        company.rotate()
        for _ in range(2):
            assert "unknown key" in await setup.refusal()
        assert company.asked.count("/keys") == 1
        monkeypatch.setattr(provider_module, "RENEWED_EVERY_MS", 0)
        company.published = None
        assert (await setup.log_in(visit)).status_code == 303
        assert company.asked.count("/keys") == 2


@pytest.mark.requirement("DASH-36")
async def test_a_broken_key_set_of_the_company_is_fetched_again_and_not_kept(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with set_up(database_url, tmp_path) as setup, stranger(setup.tenant) as visit:
        await setup.user()
        setup.company.broken_keys = {"keys": [{"kty": "RSA"}]}
        assert "signature" in await setup.refusal()
        setup.company.broken_keys = None
        monkeypatch.setattr(provider_module, "RENEWED_EVERY_MS", 0)
        assert (await setup.log_in(visit)).status_code == 303


@pytest.mark.requirement("DASH-36")
async def test_a_company_that_does_not_answer_is_not_waited_for() -> None:
    async with company_at_work(lambda: 0) as company:
        company.hangs = True
        settings = CompanyLoginSettings(issuer=company.issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET)
        asked = Provider(settings, SystemClock(), limit_s=0.2)
        with pytest.raises(ProviderFailed, match="did not answer in time"):
            await asked.person("x", verifier="x", nonce="x", back="x")


@pytest.mark.requirement("DASH-36")
async def test_who_waits_behind_a_company_that_does_not_answer_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []

    async def hangs(method: str, address: str, **_: Any) -> dict[str, Any]:
        tries.append(f"{method} {address}")
        raise ProviderFailed("it did not answer in time")

    monkeypatch.setattr(provider, "asked", hangs)
    clock = MovableClock()
    settings = CompanyLoginSettings(issuer="https://login.example.com", client_id=CLIENT_ID)
    asked = Provider(settings, clock)
    for _ in range(20):
        with pytest.raises(ProviderFailed, match="did not answer in time"):
            await asked.address(state="x", nonce="x", challenge="x", back="x")
    assert len(tries) == 1
    clock.move(provider.FAILED_MS)
    with pytest.raises(ProviderFailed):
        await asked.address(state="x", nonce="x", challenge="x", back="x")
    assert len(tries) == 2


@pytest.mark.requirement("DASH-36")
@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"issuer": "https://evil.example"}, "it is another one than"),
        ({"authorization_endpoint": "http://evil.example/authorize"}, "no address that begins with https"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "no address that begins with https"),
        ({"authorization_endpoint": None}, "no address that begins with https"),
        ({"authorization_endpoint": "https://[bad"}, "no address that begins with https"),
        ({"token_endpoint": "ftp://example.com/a"}, "its token_endpoint is no address that begins with https"),
        ({"jwks_uri": None}, "its jwks_uri is no address that begins with https"),
    ],
)
async def test_a_provider_that_says_wrong_things_of_itself_is_not_used(
    database_url: str, tmp_path: Path, document: dict[str, Any], words: str
) -> None:
    async with set_up(database_url, tmp_path) as setup, stranger(setup.tenant) as visit:
        setup.company.document = document
        answer = await visit.http.get("/login/company")
        assert (answer.status_code, words in text_of(answer.text)) == (502, True)


@pytest.mark.requirement("DASH-92")
@pytest.mark.parametrize("name", ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"])
async def test_a_document_that_cannot_be_used_is_asked_for_again_and_not_kept(name: str) -> None:
    async with company_at_work(lambda: 0) as company:
        clock = MovableClock()
        asked = Provider(CompanyLoginSettings(issuer=company.issuer, client_id=CLIENT_ID), clock)
        company.document = {name: "javascript:alert(1)"}
        for _ in range(2):
            with pytest.raises(ProviderFailed):
                await asked.address(state="x", nonce="x", challenge="x", back="x")
        assert len(company.asked) == 1  # who comes at once is told the same
        company.document = {}
        clock.move(provider.FAILED_MS)
        found = await asked.address(state="x", nonce="x", challenge="x", back="x")
        assert found.startswith(f"{company.issuer}/authorize?")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("access_denied", "you may not log in here"),
        ("server_error", "(server_error)"),
        ("<b>x</b>", "refuses this login."),
    ],
)
async def test_a_refusal_of_the_company_is_said_in_words(
    database_url: str, tmp_path: Path, error: str, words: str
) -> None:
    async with set_up(database_url, tmp_path) as setup:
        setup.company.sends_back = {"error": error}
        assert words in await setup.refusal()


async def test_without_a_company_there_is_no_button_and_no_page(tenant: Tenant) -> None:
    async with stranger(tenant) as visit:
        assert "/login/company" not in await visit.page("/login")
        assert (await visit.http.get("/login/company")).status_code == 404
