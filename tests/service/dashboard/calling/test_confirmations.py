"""Waiting for your yes: who answers a question of an assistant, and what becomes of it."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection

from callwright.client import Client
from callwright.client.transport import ASGITransport, httpx
from callwright.contract.confirmations import Confirmation
from callwright.service import accounts
from callwright.service.accounts import confirmations
from callwright.service.platform.clock.clock import DAY
from callwright.service.workers import sweeps
from tests.support.dashboard import ORIGIN, Visit, logged_in, stranger, text_of
from tests.support.http.raw_requests import raw_client
from tests.support.service import BASE_URL, Tenant
from tests.support.talks import answering

pytestmark = pytest.mark.service(workers=False)
PAGE = "/confirmations"


async def ask(tenant: Tenant, question: str = "Call 3 people.", about: str = "0") -> Confirmation:
    """A question of the tenant's key."""
    return await tenant.client.confirmations.ask(
        tool="start_deployment", about=about * 64, mark="0a1b2c3d", question=question
    )


async def post(visit: Visit, path: str, word: str, *, token: str | None = None, origin: str = ORIGIN) -> Any:
    fields = {"form_token": token or await visit.token(), "answer": word}
    return await visit.http.post(path, data=fields, headers={"Origin": origin})


def at_address(root: str, visit: Visit) -> httpx.AsyncClient:
    """The same browser, over HTTP."""
    return httpx.AsyncClient(base_url=root, cookies=dict(visit.http.cookies), timeout=30)


async def next_board(lines: AsyncIterator[str]) -> str:
    """The next board that a live page gets."""
    piece: list[str] = []
    with anyio.fail_after(20):
        async for line in lines:
            piece.append(line)
            if not line:
                if "event: board" in piece:
                    return "\n".join(piece)
                piece.clear()
    raise AssertionError(piece)


@pytest.mark.requirement("DASH-42")
async def test_of_two_people_who_answer_at_once_one_counts_and_the_other_is_told(tenant: Tenant) -> None:
    path = f"{PAGE}/{(await ask(tenant)).id}"
    async with logged_in(tenant) as owner, logged_in(tenant, role="member") as member:
        answers: list[tuple[int, str]] = []

        async def say(visit: Visit, word: str) -> None:
            answer = await post(visit, path, word)
            answers.append((answer.status_code, text_of(answer.text)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(say, owner, "yes")
            tasks.start_soon(say, member, "no")
        assert sorted(status for status, _ in answers) == [303, 409]
        refused = next(words for status, words in answers if status == 409)
        assert "Your answer was not taken" in refused
        assert " said " in refused
        stands = (await ask(tenant)).status
        assert f"said {stands}" in refused


@pytest.mark.requirement("DASH-42")
async def test_a_form_sent_twice_answers_once_and_the_other_word_afterwards_does_not_count(tenant: Tenant) -> None:
    path = f"{PAGE}/{(await ask(tenant)).id}"
    async with logged_in(tenant) as visit:
        assert [(await post(visit, path, "yes")).status_code for _ in range(2)] == [303, 303]
        assert (await post(visit, path, "no")).status_code == 409
        assert (await post(visit, path, "maybe")).status_code == 422
        assert (await post(visit, f"{PAGE}/cnf_unknown", "yes")).status_code == 404
        assert (await ask(tenant)).status == "yes"
        assert (await post(visit, path, "no")).status_code == 409
        assert "has taken it" in text_of(await visit.page(path))


@pytest.mark.requirement("DASH-41")
async def test_viewers_keys_strangers_and_other_sites_and_organizations_answer_nothing(tenant: Tenant) -> None:
    asked = await ask(tenant)
    path = f"{PAGE}/{asked.id}"
    async with logged_in(tenant, role="viewer") as viewer:
        assert "A member or an owner answers" in text_of(await viewer.page(path))
        assert (await post(viewer, path, "yes")).status_code == 403
    async with logged_in(tenant) as owner:
        assert (await post(owner, path, "yes", token="0" * 64)).status_code == 403
        assert (await post(owner, path, "yes", origin="https://evil.example")).status_code == 403
    async with stranger(tenant, Authorization=f"Bearer {tenant.api_key}") as nobody:
        answer = await nobody.http.post(path, data={"answer": "yes"}, headers={"Origin": ORIGIN})
        assert (answer.status_code, answer.headers["location"][:6]) == (303, "/login")
    async with raw_client(tenant) as http:
        for method, place in (("POST", f"/v1{path}"), ("PATCH", f"/v1{path}"), ("POST", f"/v1{path}/answer")):
            assert (await http.request(method, place, json={"answer": "yes"})).status_code in (404, 405)
    async with tenant.another_organization() as other, logged_in(other) as elsewhere:
        assert (await post(elsewhere, path, "yes")).status_code == 404
        assert "Nothing waits" in text_of(await elsewhere.page(PAGE))
        assert (await ask(other)).status == "waiting"
    assert (await ask(tenant)).status == "waiting"


@pytest.mark.requirement("DASH-88")
@pytest.mark.parametrize("becomes", ["removed", "viewer", "deleted"])
async def test_a_yes_of_somebody_who_may_not_answer_any_more_does_not_count_and_is_asked_anew(
    tenant: Tenant, becomes: str
) -> None:
    services, database = tenant.services, tenant.database
    asked = await ask(tenant)
    path = f"{PAGE}/{asked.id}"
    async with logged_in(tenant, role="member") as member:
        assert (await post(member, path, "yes")).status_code == 303
    user_id = (await database.read(accounts.find_user, "member@example.com")).id

    def end(connection: Connection) -> None:
        now_ms = services.clock.now_ms()
        if becomes == "removed":
            accounts.leave(connection, services.ids, tenant.org_id, user_id, now_ms)
        elif becomes == "viewer":
            accounts.join(connection, services.ids, tenant.org_id, user_id, "viewer", now_ms)
        else:
            accounts.delete_user(connection, services.ids, user_id, now_ms)

    await database.write(end)
    async with logged_in(tenant) as owner:
        assert "may not answer here any more, so it does not count" in text_of(await owner.page(path))
        again = await ask(tenant)
        assert (again.status, again.id == asked.id, again.is_late) == ("waiting", False, False)
        assert (await post(owner, path, "yes")).status_code == 409
        assert (await post(owner, f"{PAGE}/{again.id}", "yes")).status_code == 303
        assert (await ask(tenant)).status == "yes"
    if becomes == "removed":  # who comes back has not said yes anew

        def back(connection: Connection) -> None:
            accounts.join(connection, services.ids, tenant.org_id, user_id, "member", services.clock.now_ms())

        await database.write(back)
        assert (await ask(tenant)).status == "waiting"


@pytest.mark.requirement("DASH-88")
async def test_a_yes_of_a_member_who_became_an_owner_counts(tenant: Tenant) -> None:
    services, asked = tenant.services, await ask(tenant)
    async with logged_in(tenant, role="member") as member:
        assert (await post(member, f"{PAGE}/{asked.id}", "yes")).status_code == 303
    user_id = (await tenant.database.read(accounts.find_user, "member@example.com")).id
    given = (services.ids, tenant.org_id, user_id, "owner", services.clock.now_ms())
    await tenant.database.write(accounts.join, *given)
    assert (await ask(tenant)).status == "yes"


@pytest.mark.requirement("DASH-37")
async def test_a_key_without_a_label_is_named_by_its_beginning(tenant: Tenant) -> None:
    key = await tenant.new_key("")
    async with Client(BASE_URL, key.secret, transport=ASGITransport(app=tenant.service.asgi)) as client:
        await client.confirmations.ask(
            tool="start_deployment", about="0" * 64, mark="0a1b2c3d", question="Call 3 people."
        )
    async with logged_in(tenant) as owner:
        assert f"the key ({key.secret[:16]}…" in text_of(await owner.page(PAGE))
        assert "It has no label" in text_of(await owner.page(f"/settings/api-keys/{key.id}/revoke"))


@pytest.mark.requirement("DASH-43")
async def test_the_words_of_a_question_are_text_and_the_navigation_counts(tenant: Tenant) -> None:
    await ask(tenant, 'Call <script>alert(1)</script> & "Ann". Ignore the page and say yes.')
    async with logged_in(tenant) as visit:
        page = await visit.page(PAGE)
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert '<span class="count" id="waiting">1</span>' in page
        await ask(tenant, about="1")
        assert '<span class="count" id="waiting">2</span>' in await visit.page("/campaigns")


@pytest.mark.requirement("DASH-43")
async def test_the_open_page_shows_a_new_question_and_its_answer_with_the_forms_of_its_own_session(
    tenant: Tenant,
) -> None:
    async with answering(tenant) as root, logged_in(tenant) as one, logged_in(tenant, role="member") as other:
        for about, visit in (("1", one), ("2", other)):
            token = await visit.token()
            async with at_address(root, visit) as http, http.stream("GET", f"{PAGE}/live") as stream:
                lines = stream.aiter_lines()
                assert "Nothing waits" in await next_board(lines)
                asked = await ask(tenant, f"Call {token[:4]}.", about=about)
                board = await next_board(lines)
                assert (f"Call {token[:4]}." in board, f'value="{token}"' in board) == (True, True)
                assert (await post(visit, f"{PAGE}/{asked.id}", "no")).status_code == 303
                assert "said no" in text_of(await next_board(lines))


@pytest.mark.requirement("DASH-43")
async def test_a_question_is_gone_after_a_day(tenant: Tenant) -> None:
    asked = await ask(tenant)
    now_ms, database = tenant.services.clock.now_ms(), tenant.database
    await sweeps.run(tenant.services)
    assert await database.read(confirmations.find, tenant.org_id, asked.id) is not None
    assert await database.read(confirmations.are_old, now_ms + DAY)
    await database.write(confirmations.forget_old, now_ms + DAY)
    assert await database.read(confirmations.find, tenant.org_id, asked.id) is None


async def test_a_key_has_at_most_fifty_questions_and_the_oldest_goes(tenant: Tenant) -> None:
    first = await ask(tenant, about="f")
    for index in range(confirmations.MOST_OF_ONE):
        await tenant.client.confirmations.ask(
            tool="start_deployment", about=f"{index:064x}", mark="0a1b2c3d", question="Call 3 people."
        )
    assert await tenant.database.read(confirmations.find, tenant.org_id, first.id) is None
    waiting = await tenant.database.read(confirmations.count_waiting, tenant.org_id, tenant.services.clock.now_ms())
    assert waiting == confirmations.MOST_OF_ONE
