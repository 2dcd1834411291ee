"""Passkeys: added, used and removed by their user alone; an answer that proves nothing begins no session."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from callwright.client.transport import ASGITransport, httpx
from callwright.service import accounts
from callwright.service.accounts.passkeys import MOST_PASSKEYS
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.rest.authentication.auth_throttle import ALLOWED
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import audit_log, passkey_challenges, passkeys
from tests.support.authenticator import Authenticator, from_base64url
from tests.support.clock_set_by_test import Process
from tests.support.dashboard import Visit, login_code, stranger, text_of
from tests.support.service import Tenant, open_service

ORIGIN = "http://localhost"
HERE = "/settings/account/passkeys"
WORDS = "This passkey does not log in here"


class Local(Visit):
    """Somebody on the machine of the service, at http://localhost."""

    async def send(self, path: str, *, shown_at: str | None = None, **fields: str) -> httpx.Response:
        fields.setdefault("form_token", await self.token(shown_at or path))
        return await self.http.post(path, data=fields, headers={"Origin": ORIGIN})

    async def challenge(self) -> dict[str, Any]:
        answer = await self.http.post("/login/passkey/options", headers={"Origin": ORIGIN})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def log_in(self, answer: str) -> httpx.Response:
        return await self.http.post("/login/passkey", data={"credential": answer}, headers={"Origin": ORIGIN})

    async def add(self, device: Authenticator, name: str = "my laptop") -> httpx.Response:
        options = (await self.send(f"{HERE}/options", shown_at=HERE)).json()
        return await self.send(HERE, name=name, credential=device.made(options))


@asynccontextmanager
async def local(tenant: Tenant) -> AsyncGenerator[Local]:
    transport = ASGITransport(app=tenant.service.asgi)
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as http:
        yield Local(http)


@asynccontextmanager
async def owner(tenant: Tenant) -> AsyncGenerator[Local]:
    async with local(tenant) as visit:
        assert (await visit.http.post("/login", data={"code": await login_code(tenant)})).status_code == 303
        yield visit


def own_device(**fields: Any) -> Authenticator:
    return Authenticator(ORIGIN, **fields)


async def _count(tenant: Tenant) -> int:
    found = await tenant.database.read(lambda connection: connection.execute(select(passkeys.c.id)).all())
    return len(found)


@pytest.mark.requirement("DASH-30")
async def test_a_user_adds_a_passkey_logs_in_with_it_and_removes_it(tenant: Tenant) -> None:
    device = own_device()
    async with owner(tenant) as at_home, local(tenant) as elsewhere:
        assert "You have no passkey yet." in text_of(await at_home.page(HERE))
        added = await at_home.add(device)
        assert (added.status_code, added.headers["location"]) == (303, HERE)
        assert "my laptop" in text_of(await at_home.page(HERE))
        answer = await elsewhere.log_in(device.proved(await elsewhere.challenge()))
        assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns")
        await elsewhere.page("/campaigns")
        assert "last used" in text_of(await at_home.page(HERE))
        (row,) = await tenant.database.read(lambda connection: connection.execute(select(passkeys)).all())
        assert row.sign_count == device.count
        removed = await at_home.send(f"{HERE}/{row.id}/remove")
        assert removed.status_code == 303
        assert "You have no passkey yet." in text_of(await at_home.page(HERE))
    async with local(tenant) as again:
        refused = await again.log_in(device.proved(await again.challenge()))
    assert (refused.status_code, "was removed" in refused.text) == (401, True)
    entries = await tenant.database.read(
        lambda connection: connection.execute(select(audit_log).order_by(audit_log.c.id)).all()
    )
    said = [one for one in entries if one.action.startswith(("passkey.", "session."))]
    assert [one.action for one in said] == ["session.begun", "passkey.added", "session.begun", "passkey.removed"]
    assert [json.loads(one.changes)["how"]["after"] for one in said[::2]] == ["link", "passkey"]
    assert {one.actor for one in said} == {row.user_id}


@pytest.mark.requirement("DASH-31")
async def test_a_challenge_is_answered_once_within_five_minutes_and_kept_as_a_hash(
    tenant: Tenant, process: Process
) -> None:
    device = own_device()
    async with owner(tenant) as visit, local(tenant) as other:
        await visit.add(device)
        options = await other.challenge()
        rows = await tenant.database.read(lambda connection: connection.execute(select(passkey_challenges)).all())
        kept = {str(value) for row in rows for value in row}
        assert not {options["challenge"], from_base64url(options["challenge"]).hex()} & kept
        answer = device.proved(options)
        assert (await other.log_in(answer)).status_code == 303
        replayed = await other.log_in(answer)
        assert (replayed.status_code, "answered already" in replayed.text) == (401, True)


@pytest.mark.requirement("DASH-31")
async def test_a_challenge_older_than_five_minutes_is_refused(process: Process) -> None:
    headers = {"Origin": ORIGIN, "Host": "localhost"}
    options = (await process.http.post("/login/passkey/options", headers=headers)).json()
    process.clock.move(5 * MINUTE)
    answer = own_device(user_handle=b"usr_x").proved(options)
    late = await process.http.post("/login/passkey", data={"credential": answer}, headers=headers)
    assert (late.status_code, "longer than five minutes" in late.text) == (401, True)


@pytest.mark.requirement("DASH-31")
async def test_an_answer_that_was_wrong_uses_its_challenge_up(tenant: Tenant) -> None:
    device = own_device()
    async with owner(tenant) as visit, local(tenant) as other:
        await visit.add(device)
        options = await other.challenge()
        device.origin = "http://evil.example"
        assert (await other.log_in(device.proved(options))).status_code == 401
        device.origin = ORIGIN
        assert "answered already" in (await other.log_in(device.proved(options))).text


def _other_origin(device: Authenticator) -> None:
    device.origin = "http://evil.example"


def _other_host(device: Authenticator) -> None:
    device.rp_id = "evil.example"


def _not_verified(device: Authenticator) -> None:
    device.is_verified = False


def _lower_counter(device: Authenticator) -> None:
    device.count -= 1


def _other_user(device: Authenticator) -> None:
    device.user_handle = b"usr_of_somebody_else"


def _other_key(device: Authenticator) -> None:
    device.renew_key()


def _unknown(device: Authenticator) -> None:
    device.id = bytes(32)


@pytest.mark.requirement("DASH-32")
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_other_origin, WORDS),
        (_other_host, WORDS),
        (_not_verified, WORDS),
        (_lower_counter, WORDS),
        (_other_key, WORDS),
        (_other_user, "belongs to another user"),
        (_unknown, "is not known here"),
    ],
)
async def test_an_answer_that_proves_nothing_begins_no_session(tenant: Tenant, spoil: Any, words: str) -> None:
    device = own_device(count=5)
    async with owner(tenant) as visit, local(tenant) as other:
        await visit.add(device)
        spoil(device)
        refused = await other.log_in(device.proved(await other.challenge()))
        assert (refused.status_code, words in text_of(refused.text)) == (401, True), text_of(refused.text)
        assert "set-cookie" not in refused.headers


@pytest.mark.requirement("DASH-32")
@pytest.mark.parametrize("spoil", [_other_origin, _other_host, _not_verified])
async def test_a_passkey_that_was_not_made_for_this_page_is_not_kept(tenant: Tenant, spoil: Any) -> None:
    device = own_device()
    spoil(device)
    async with owner(tenant) as visit:
        refused = await visit.add(device, "office key")
        assert (refused.status_code, "was not made for this page" in refused.text) == (409, True)
        assert 'value="office key"' in refused.text
    assert await _count(tenant) == 0


@pytest.mark.requirement("DASH-32")
async def test_nobody_adds_a_passkey_with_the_challenge_of_another_or_of_a_login(tenant: Tenant) -> None:
    async with owner(tenant) as visit, local(tenant) as member:
        services = tenant.services
        given = (services.ids, tenant.org_id, "member@example.com", services.clock.now_ms())
        who = await services.database.write(accounts.add_member, *given)
        await member.http.post("/login", data={"code": await login_code(tenant, who)})
        of_owner = (await visit.send(f"{HERE}/options", shown_at=HERE)).json()
        refused = await member.send(HERE, name="x", credential=own_device().made(of_owner))
        assert (refused.status_code, "answered already" in refused.text) == (409, True)
        options = {**of_owner, "challenge": (await visit.challenge())["challenge"]}
        refused = await visit.send(HERE, name="x", credential=own_device().made(options))
        assert (refused.status_code, "answered already" in refused.text) == (409, True)
    assert await _count(tenant) == 0


@pytest.mark.requirement("DASH-32")
@pytest.mark.parametrize(
    "answer",
    [
        *("", "x", "null", "[]", "{}", "[" * 5_000, "x" * 20_001),
        *(f'{{"response": {{"clientDataJSON": {said}}}}}' for said in ("1", '"AA"', '"bnVsbA"')),
    ],
)
async def test_an_answer_that_cannot_be_read_is_refused_in_words(tenant: Tenant, answer: str) -> None:
    async with local(tenant) as visit:
        refused = await visit.log_in(answer)
        assert (refused.status_code, "browser's answer" in text_of(refused.text)) == (401, True)


@pytest.mark.requirement("DASH-32")
async def test_an_answer_with_a_good_challenge_and_nothing_else_is_refused(tenant: Tenant) -> None:
    async with local(tenant) as visit:
        whole = json.loads(own_device(user_handle=b"x").proved(await visit.challenge()))
        said = {"clientDataJSON": whole["response"]["clientDataJSON"]}
        spoilt: dict[str, Any]
        for spoilt in ({"response": said}, {**whole, "id": 5}, {**whole, "response": {**said, "signature": None}}):
            challenged = json.loads(own_device(user_handle=b"x").proved(await visit.challenge()))
            spoilt["response"]["clientDataJSON"] = challenged["response"]["clientDataJSON"]
            assert (await visit.log_in(json.dumps(spoilt))).status_code == 401


@pytest.mark.requirement("DASH-32")
async def test_the_passkey_of_a_user_who_left_or_was_deleted_logs_nobody_in(tenant: Tenant) -> None:
    services, device = tenant.services, own_device()
    given = (services.ids, tenant.org_id, "member@example.com", services.clock.now_ms())
    who = await services.database.write(accounts.add_member, *given)
    async with local(tenant) as member, local(tenant) as other:
        await member.http.post("/login", data={"code": await login_code(tenant, who)})
        await member.add(device)
        await services.database.write(accounts.leave, services.ids, tenant.org_id, who, services.clock.now_ms())
        refused = await other.log_in(device.proved(await other.challenge()))
        assert (refused.status_code, "in no organization any more" in refused.text) == (401, True)
        await services.database.write(accounts.delete_user, services.ids, who, services.clock.now_ms())
        refused = await other.log_in(device.proved(await other.challenge()))
        assert (refused.status_code, "was removed" in refused.text) == (401, True)
    assert await _count(tenant) == 0


async def test_nobody_removes_the_passkey_of_another_or_adds_more_than_there_may_be(tenant: Tenant) -> None:
    async with owner(tenant) as visit, local(tenant) as member:
        for at in range(MOST_PASSKEYS):
            assert (await visit.add(own_device(), f"key {at}")).status_code == 303
        assert "which is the most" in text_of(await visit.page(HERE))
        refused = await visit.http.post(
            f"{HERE}/options", data={"form_token": await visit.token("/settings/session")}, headers={"Origin": ORIGIN}
        )
        assert (refused.status_code, refused.json()["message"][:11]) == (409, "You have 20")
        (first, *_) = await tenant.database.read(lambda connection: connection.execute(select(passkeys)).all())
        services = tenant.services
        given = (services.ids, tenant.org_id, "member@example.com", services.clock.now_ms())
        who = await services.database.write(accounts.add_member, *given)
        await member.http.post("/login", data={"code": await login_code(tenant, who)})
        answer = await member.send(f"{HERE}/{first.id}/remove", shown_at="/settings/session")
        assert (answer.status_code, await _count(tenant)) == (404, MOST_PASSKEYS)


@pytest.mark.requirement("DASH-33")
@pytest.mark.parametrize(
    ("public_url", "words"),
    [
        (None, "Passkeys need a public address with https"),
        ("http://voice.example.com", "Passkeys need https"),
        ("https://192.0.2.7", "Passkeys need a name"),
        ("https://voice.example.com", None),
        ("http://localhost:8080", None),
    ],
)
async def test_where_passkeys_are_not_possible_the_page_says_why(
    database_url: str, tmp_path: Path, public_url: str | None, words: str | None
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, public_url=public_url)
    async with open_service(database_url, tmp_path, workers=False, settings=settings) as tenant:
        async with stranger(tenant) as visit:
            page = await visit.page("/login")
            answer = await visit.http.post("/login/passkey/options")
    if words is None:
        assert "Log in with a passkey" in page
        assert answer.json()["rpId"] == (public_url or "").split("//")[1].split(":")[0]
    else:
        assert (words in page, "Log in with a passkey" in page, answer.status_code) == (True, False, 409)
        assert words in answer.json()["message"]


@pytest.mark.requirement("DASH-33")
async def test_at_a_bare_address_of_this_machine_the_page_leads_to_its_name(tenant: Tenant) -> None:
    async with stranger(tenant, Host="127.0.0.1:8080") as visit:
        assert 'href="http://localhost:8080/login"' in await visit.page("/login")


async def test_who_asks_for_challenges_without_end_is_slowed_down(tenant: Tenant) -> None:
    async with local(tenant) as visit:
        for _ in range(ALLOWED):
            await visit.challenge()
        answer = await visit.http.post("/login/passkey/options", headers={"Origin": ORIGIN})
        assert answer.status_code == 429
        elsewhere = await visit.http.post("/login/passkey/options", headers={"Origin": "http://evil.example"})
        assert elsewhere.status_code in (403, 429)
