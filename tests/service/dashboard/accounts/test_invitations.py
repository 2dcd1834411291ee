"""Invitations: by link or mail, once and for 7 days; a forgotten password; nobody gets into a foreign account."""

import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from sqlalchemy import Connection, select

from callwright.client.transport import httpx
from callwright.service import accounts
from callwright.service.accounts import invitations
from callwright.service.accounts.principals import UserActor
from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.settings import ServiceSettings
from callwright.service.tables import schema
from tests.support.clock_set_by_test import Process
from tests.support.dashboard import ORIGIN, PASSWORD, Visit, logged_in, login_code, password_of, stranger, text_of
from tests.support.mail_server import MailServer, mail_server
from tests.support.service import Tenant, open_service

_LINK = re.compile(r"/(?:invitation|reset)#([0-9a-f]{48})")
ANN = "ann@example.com"


@asynccontextmanager
async def _with_mail(database_url: str, folder: Path) -> AsyncGenerator[tuple[Tenant, MailServer]]:
    async with mail_server() as server:
        settings = ServiceSettings(data=folder, database_url=database_url, mail=server.settings)
        async with open_service(database_url, folder, workers=False, settings=settings) as tenant:
            yield tenant, server


def _code(text: str) -> str:
    found = _LINK.search(text)
    assert found is not None, text
    return found[1]


async def _invite(owner: Visit, email: str = ANN, role: str = "member") -> str:
    return (await owner.send("/settings/people", email=email, role=role)).text


async def _post(visit: Visit, path: str, **fields: str) -> httpx.Response:
    return await visit.http.post(path, data=fields, headers={"Origin": ORIGIN})


async def _accept(
    visit: Visit, code: str, name: str = "Ann Lee", password: str = PASSWORD, **more: str
) -> httpx.Response:
    fields = {"code": code, "accepts": "yes", "name": name, "new_password": password, "again": password}
    return await _post(visit, "/invitation", **fields, **more)


@pytest.mark.requirement("DASH-25")
async def test_who_is_invited_sets_name_and_password_and_is_in_once(tenant: Tenant) -> None:
    async with logged_in(tenant) as owner, stranger(tenant) as ann, stranger(tenant) as thief:
        shown = await _invite(owner)
        code = _code(shown)
        assert code not in await owner.page("/settings/people")
        page = await _post(ann, "/invitation", code=code)
        assert "Operator invites ann@example.com, as member." in text_of(page.text)
        wrong = await _accept(ann, code, password="short")
        assert (wrong.status_code, 'value="Ann Lee"' in wrong.text) == (400, True)
        nameless = await _accept(ann, code, name="\u200b")
        assert (nameless.status_code, 'id="fault-name"' in nameless.text) == (400, True)
        assert (await _accept(ann, code)).status_code == 200
        await ann.page("/campaigns")
        assert (await _accept(thief, code)).status_code == 401
        again = await thief.send("/login", email=ANN, password=PASSWORD)
        assert again.status_code == 303
        assert "No invitation is open" in await owner.page("/settings/people")
    entries = [entry async for entry in tenant.client.audit_log.list(action="member.joined")]
    assert entries[0].actor_label == "Ann Lee"


@pytest.mark.requirement("DASH-25")
async def test_an_invitation_is_accepted_once_also_if_it_is_sent_twice_at_once(tenant: Tenant) -> None:
    async with logged_in(tenant) as owner, stranger(tenant) as first, stranger(tenant) as second:
        code = _code(await _invite(owner))
        statuses: list[int] = []

        async def accept(visit: Visit) -> None:
            statuses.append((await _accept(visit, code)).status_code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(accept, first)
            tasks.start_soon(accept, second)
    assert sorted(statuses) == [200, 401]
    found = await tenant.database.read(accounts.users_of, tenant.org_id)
    assert [row.email for row in found].count(ANN) == 1


@pytest.mark.requirement("DASH-25")
async def test_only_the_newest_link_works_and_none_that_was_withdrawn(tenant: Tenant) -> None:
    async with logged_in(tenant) as owner, stranger(tenant) as visit:
        first = _code(await _invite(owner))
        second = _code(await _invite(owner))
        html = await owner.page("/settings/people")
        path = re.search(r'action="(/settings/people/invitations/inv_[^/"]+)/again"', html)
        assert path is not None
        third = _code((await owner.send(f"{path[1]}/again", shown_at="/settings/people")).text)
        for code in (first, second):
            assert (await _post(visit, "/invitation", code=code)).status_code == 401
        assert (await _post(visit, "/invitation", code=third)).status_code == 200
        await owner.send(f"{path[1]}/withdraw", shown_at="/settings/people")
        assert (await _post(visit, "/invitation", code=third)).status_code == 401
        assert (await _accept(visit, third)).status_code == 401


@pytest.mark.requirement("DASH-25")
async def test_an_invitation_is_good_for_7_days_and_only_while_who_invited_is_an_owner(
    tenant: Tenant, process: Process
) -> None:
    services, now_ms = process.services, process.clock.now_ms()
    owner = await tenant.database.read(accounts.first_owner, tenant.org_id)
    given = (services.ids, tenant.org_id, "second@example.com", now_ms)
    second = await tenant.database.write(lambda connection: accounts.add_member(connection, *given, role="owner"))
    codes: list[str] = []
    for email, by in (("a@example.com", owner), ("b@example.com", owner), ("c@example.com", second)):
        assert by is not None
        write = partial(invitations.invite, by=UserActor(by))
        made = await tenant.database.write(write, services.ids, tenant.org_id, email, "member", now_ms)
        codes.append(made.code)

    async def status(code: str) -> int:
        return (await process.http.post("/invitation", data={"code": code})).status_code

    assert [await status(code) for code in codes] == [200, 200, 200]
    await tenant.database.write(accounts.join, services.ids, tenant.org_id, second, "member", now_ms)
    process.clock.move(7 * DAY - 1)
    assert [await status(code) for code in codes] == [200, 200, 401]
    process.clock.move(1)
    assert [await status(code) for code in codes] == [401, 401, 401]


@pytest.mark.requirement("DASH-26")
async def test_a_known_user_joins_only_while_logged_in_and_nobody_else_by_their_link(tenant: Tenant) -> None:
    services = tenant.services
    async with tenant.another_organization() as other, logged_in(tenant) as owner, stranger(tenant) as thief:
        given = (services.ids, other.org_id, ANN, services.clock.now_ms())
        ann = await services.database.write(lambda connection: accounts.add_member(connection, *given, role="owner"))
        code = _code(await _invite(owner, role="viewer"))
        for visit, token in ((thief, ""), (owner, await owner.token())):
            answer = await _accept(visit, code, form_token=token)
            assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
            assert "Log in as ann@example.com" in text_of(answer.text)
        assert (await thief.http.get("/campaigns")).status_code == 303
        found = [row.email for row in await tenant.database.read(accounts.users_of, tenant.org_id)]
        assert ANN not in found
        async with stranger(tenant) as herself:
            login = await login_code(other, ann)
            await herself.http.post("/login", data={"code": login}, headers={"Origin": ORIGIN})
            assert (await _accept(herself, code)).status_code == 403
            assert (await _accept(herself, code, form_token=await herself.token())).status_code == 200
    roles = {row.email: (row.id, row.role) for row in await tenant.database.read(accounts.users_of, tenant.org_id)}
    assert roles[ANN] == (ann, "viewer")


@pytest.mark.parametrize("email", ["", "ann", "ann@example.com, bob@example.com", "operator@localhost", "a<b@c.com"])
async def test_an_address_that_cannot_be_invited_is_named_and_kept(tenant: Tenant, email: str) -> None:
    async with logged_in(tenant) as owner:
        answer = await owner.send("/settings/people", email=email, role="member")
        assert (answer.status_code, 'id="fault-email"' in answer.text) == (400, True)
        forged = await owner.send("/settings/people", email=ANN, role="admin")
        assert (forged.status_code, "there is no role" in forged.text.lower()) == (400, True)


@pytest.mark.requirement("DASH-27")
async def test_an_invitation_goes_by_mail_and_a_mail_that_fails_is_said_with_the_link(
    database_url: str, tmp_path: Path
) -> None:
    async with _with_mail(database_url, tmp_path) as (tenant, server), logged_in(tenant) as owner:
        shown = await _invite(owner)
        assert _LINK.search(shown) is None
        assert "was sent to ann@example.com" in shown
        assert server.recipients == [ANN]
        async with stranger(tenant) as ann:
            assert (await _accept(ann, _code(server.text()))).status_code == 200
        server.refuses = True
        failed = await _invite(owner, "bob@example.com")
        assert "The mail was not sent: the mail server refuses the address." in text_of(failed)
        assert _code(failed)


@pytest.mark.requirement("DASH-28")
async def test_a_forgotten_password_is_set_by_mail_once_and_ends_all_sessions(
    database_url: str, tmp_path: Path
) -> None:
    async with _with_mail(database_url, tmp_path) as (tenant, server):
        await password_of(tenant, "member")
        async with stranger(tenant) as here, stranger(tenant) as visit:
            await here.send("/login", email="member@example.com", password=PASSWORD)
            await here.page("/campaigns")
            known = await visit.send("/forgot", email="Member@example.com")
            unknown = await visit.send("/forgot", email="nobody@example.com")
            assert (known.status_code, known.text) == (unknown.status_code, unknown.text)
            assert server.recipients == ["member@example.com"]
            code, new = _code(server.text()), "nine patient otters"
            assert "For member@example.com." in text_of((await _post(visit, "/reset", code=code)).text)
            fields = {"code": code, "new_password": new, "again": new}
            assert (await _post(visit, "/reset", **{**fields, "again": PASSWORD})).status_code == 400
            assert (await _post(visit, "/reset", **fields)).status_code == 200
            assert (await _post(visit, "/reset", **fields)).status_code == 401
            assert (await here.http.get("/campaigns")).status_code == 303
            assert (await visit.send("/login", email="member@example.com", password=PASSWORD)).status_code == 401
            assert (await visit.send("/login", email="member@example.com", password=new)).status_code == 303


@pytest.mark.requirement("DASH-28")
async def test_without_mail_the_link_is_on_the_terminal_alone_for_an_hour(
    tenant: Tenant, process: Process, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await password_of(tenant, "member")
    shown: list[str] = []
    await process.http.post("/forgot", data={"email": "member@example.com"})
    process.services.terminal.show = shown.append
    answers = [await process.http.post("/forgot", data={"email": "member@example.com"}) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {200}
    codes = [_code(text) for text in shown]
    assert len(codes) == 3
    assert not any(code in caplog.text or code in answer.text for code in codes for answer in answers)
    assert (await process.http.post("/reset", data={"code": codes[0]})).status_code == 200
    process.clock.move(HOUR)
    assert (await process.http.post("/reset", data={"code": codes[0]})).status_code == 401


@pytest.mark.requirement("DASH-29")
async def test_of_links_and_invitations_only_hashes_are_stored(database_url: str, tmp_path: Path) -> None:
    async with _with_mail(database_url, tmp_path) as (tenant, server), logged_in(tenant) as owner:
        await password_of(tenant, "member")
        await _invite(owner)
        async with stranger(tenant) as visit:
            await visit.send("/forgot", email="member@example.com")
        codes = [_code(mail.get_content()) for mail in server.messages]

        def everything(connection: Connection) -> str:
            tables = (schema.invitations, schema.password_links, schema.passwords, schema.audit_log)
            return str([connection.execute(select(table)).all() for table in tables])

        stored = await tenant.database.read(everything)
    assert len(codes) == 2
    assert ANN in stored
    assert not any(secret in stored for secret in (*codes, PASSWORD))


@pytest.mark.requirement("DASH-29")
@pytest.mark.parametrize("path", ["/invitation", "/reset", "/forgot"])
async def test_forms_without_a_session_are_taken_from_pages_of_the_service_alone(tenant: Tenant, path: str) -> None:
    async with stranger(tenant) as visit:
        fields = {"code": "0" * 48, "email": ANN}
        answer = await visit.http.post(path, data=fields, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403
        broken = await visit.http.post(path, content=b"\xff=%ff", headers={"Origin": ORIGIN})
        assert broken.status_code == 403


@pytest.mark.requirement("DASH-29")
async def test_who_guesses_codes_of_links_is_slowed_down(tenant: Tenant) -> None:
    async with stranger(tenant) as visit:
        statuses = [(await _post(visit, "/reset", code=f"{at:048x}")).status_code for at in range(31)]
    assert statuses == [401] * 30 + [429]
