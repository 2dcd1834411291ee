"""An address of the customer is asked before each call, and without its yes nobody is dialled."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from callwright.client import Client, verify
from callwright.client.transport import ASGITransport
from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.deployments.contacts import Contact
from callwright.contract.deployments.deployments import Deployment
from callwright.service import accounts
from callwright.service.app import running
from callwright.service.platform.clock.clock import moment
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import audit_log, calls
from tests.support.campaigns import ONCE, draft, people, phone, run, started
from tests.support.resources import refusal
from tests.support.service import BASE_URL, Tenant, open_service
from tests.support.webhooks.endpoints import status
from tests.support.webhooks.predial import NO, YES, Question, answer, asked, body_of, header_of
from tests.support.webhooks.signature_check import verified

OPENED: dict[str, Any] = {"webhook_networks": LOOPBACK}
ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
opened = pytest.mark.service(workers=True, settings=OPENED)


async def contacts_of(tenant: Tenant, made: Deployment) -> list[Contact]:
    return (await tenant.client.deployments.list_contacts(id=made.id, per_page=100)).data


async def dialled(tenant: Tenant, made: Deployment) -> list[tuple[str, datetime]]:
    """Whom a deployment called, and when."""
    wanted = select(calls.c.to_number, calls.c.created_at).where(calls.c.deployment_id == made.id)
    rows = await tenant.database.read(lambda connection: connection.execute(wanted.order_by(calls.c.created_at)).all())
    return [(row.to_number, moment(row.created_at)) for row in rows]


async def audited(tenant: Tenant, action: str) -> list[str]:
    wanted = select(audit_log.c.changes).where(audit_log.c.action == action)
    return list(await tenant.database.read(lambda connection: connection.execute(wanted).scalars().all()))


@opened
@pytest.mark.requirement("PREDIAL-01")
async def test_the_address_is_asked_about_each_call_just_before_it(tenant: Tenant) -> None:
    async with asked() as address:
        made = await run(tenant, people(30, **ANSWERS), predial_check_url=address.url, retry_policy=ONCE)
    assert (made.status, made.stats.completed, made.predial_check_url) == ("completed", 30, address.url)
    assert len(address.questions) == 30
    called = dict(await dialled(tenant, made))
    for question in address.questions:
        assert set(question) == {"id", "type", "created_at", "org_id", "data"}
        assert (question["type"], question["org_id"]) == ("predial.check", tenant.org_id)
        data = question["data"]
        assert set(data) == {
            *("deployment_id", "contact_id", "attempt_number", "to", "from", "simulated", "dial_at"),
        }
        assert (data["deployment_id"], data["attempt_number"], data["simulated"]) == (made.id, 1, True)
        assert datetime.fromisoformat(data["dial_at"]) == called[data["to"]]


@opened
@pytest.mark.requirement("PREDIAL-02")
async def test_a_question_is_signed_with_the_secret_of_the_organization(tenant: Tenant) -> None:
    services = tenant.services
    given = (accounts.renew_predial_secret, services.ids, tenant.org_id)
    old, new = [await tenant.database.write(*given, services.clock.now_ms()) for _ in range(2)]
    async with asked() as address:
        await run(tenant, people(1, **ANSWERS), predial_check_url=address.url)
    (request,) = address.sink.requests
    now_s = services.clock.now_ms() / 1_000
    for secret in (old, new):  # the former one signs for another day
        verified(header_of(request, "X-Service-Signature"), body_of(request), secret, now_s=now_s)
        question = verify(body_of(request), header_of(request, "X-Service-Signature"), secret, now_s=now_s)
        assert (question.type, question.data["attempt_number"]) == ("predial.check", 1)
    assert header_of(request, "X-Service-Simulated") == "true"
    kept = await audited(tenant, "predial_secret.renewed")
    assert len(kept) == 2
    assert not any(secret in text for text in kept for secret in (old, new))


@opened
async def test_a_question_is_signed_before_anybody_has_made_a_secret(tenant: Tenant) -> None:
    async with asked() as address:
        await run(tenant, people(1, **ANSWERS), predial_check_url=address.url)
    assert (header_of(address.sink.requests[0], "X-Service-Signature") or "").startswith("t=")


@opened
@pytest.mark.requirement("PREDIAL-03")
async def test_a_person_whom_the_address_declines_is_suppressed_and_the_others_are_called(tenant: Tenant) -> None:
    async with asked(lambda one: NO if one["data"]["to"] == phone(1) else YES) as address:
        made = await run(tenant, people(3, **ANSWERS), predial_check_url=address.url)
    assert (made.status, made.stats.completed, made.stats.suppressed) == ("completed", 2, 1)
    found = {one.phone_number: (one.status, one.status_reason) for one in await contacts_of(tenant, made)}
    assert found[phone(1)] == ("suppressed", "predial_declined")
    assert {number for number, _ in await dialled(tenant, made)} == {phone(0), phone(2)}
    assert len(address.questions) == 3
    assert await audited(tenant, "contact.declined") == ['{"reason":"predial_declined","said":"asked us by letter"}']


@opened
@pytest.mark.requirement("PREDIAL-04")
async def test_a_person_is_asked_about_again_when_the_address_wants_it(tenant: Tenant) -> None:
    def decide(one: Question) -> bytes:
        moments.append(datetime.fromisoformat(one["data"]["dial_at"]))
        return answer(eligible=False, retry_after_seconds=3_600) if len(moments) < 3 else YES

    moments: list[datetime] = []
    async with asked(decide) as address:
        made = await run(tenant, people(1, **ANSWERS), predial_check_url=address.url)
    assert (made.status, made.stats.completed) == ("completed", 1)
    first, second, third = moments
    assert second - first == third - second == timedelta(hours=1)
    assert await dialled(tenant, made) == [(phone(0), third)]


@pytest.mark.parametrize("pace", [{}, {"sim_time_scale": 10_000.0}])
async def test_an_address_that_puts_a_person_off_is_not_asked_again_at_once_whatever_the_pace(
    database_url: str, tmp_path: Path, pace: dict[str, Any]
) -> None:
    """A minute of a campaign's clock takes no time where it jumps, and six milliseconds where it runs so fast."""

    def decide(_: Question) -> bytes:
        heard.append(anyio.current_time())
        return answer(eligible=False, retry_after_seconds=60) if len(heard) < 4 else YES

    heard: list[float] = []
    settings = ServiceSettings(data=tmp_path, database_url=database_url, **OPENED, **pace)
    async with asked(decide) as address, open_service(database_url, tmp_path, settings=settings) as tenant:
        made = await run(tenant, people(1, **ANSWERS), predial_check_url=address.url)
    assert (made.status, made.stats.completed) == ("completed", 1)
    assert min(later - earlier for earlier, later in pairwise(heard)) > 0.45


@opened
async def test_a_retry_is_asked_about_as_a_further_attempt(tenant: Tenant) -> None:
    async with asked() as address:
        made = await run(tenant, people(1, sim_outcome="no_answer"), predial_check_url=address.url)
    assert [question["data"]["attempt_number"] for question in address.questions] == [1, 2, 3]
    assert made.stats.attempts == 3


@opened
async def test_nine_failures_in_a_row_only_put_a_call_off(tenant: Tenant) -> None:
    def decide(_: Question) -> bytes:
        count[0] += 1
        return status(503) if count[0] <= 9 else YES

    count = [0]
    async with asked(decide) as address:
        made = await run(tenant, people(1, **ANSWERS), predial_check_url=address.url)
    assert (made.status, made.stats.completed) == ("completed", 1)
    moments = [datetime.fromisoformat(one["data"]["dial_at"]) for one in address.questions]
    assert [later - earlier for earlier, later in pairwise(moments)] == [timedelta(minutes=5)] * 9


LONG = b'{"eligible": true}' + b" " * 5_000
FAILURES: dict[str, bytes | None] = {
    "an error": status(500, b'{"eligible": true}'),
    "another success": status(202, b'{"eligible": true}'),
    "no body": status(200),
    "nonsense": status(200, b"yes, do"),
    "a list": status(200, b"[true]"),
    "a text for the answer": answer(eligible="true"),
    "a number for the answer": answer(eligible=1),
    "no answer inside": answer(reason="none"),
    "a long reason": answer(eligible=False, reason="x" * 201),
    "a retry too soon": answer(eligible=False, retry_after_seconds=59),
    "a retry too late": answer(eligible=False, retry_after_seconds=30 * 86_400 + 1),
    "a long answer": status(200, LONG),
    "a broken answer": b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"eligible": true}',
    "no HTTP": b"yes\r\n\r\n",
    "silence": None,
}


@opened
@pytest.mark.requirement("PREDIAL-05")
@pytest.mark.parametrize("failure", FAILURES)
async def test_without_an_answer_that_counts_nobody_is_dialled_and_the_campaign_pauses(
    tenant: Tenant, failure: str
) -> None:
    async with asked(lambda _: FAILURES[failure]) as address:
        made = await run(tenant, people(12, **ANSWERS), predial_check_url=address.url)
    assert (made.status, made.status_reason) == ("paused", "predial_unavailable")
    assert (made.stats.attempts, made.stats.pending) == (0, 12)


@opened
async def test_a_redirect_is_not_followed(tenant: Tenant) -> None:
    async with asked() as elsewhere, asked(lambda _: status(307, b"", f"Location: {elsewhere.url}")) as address:
        made = await run(tenant, people(12, **ANSWERS), predial_check_url=address.url)
    assert (made.status_reason, made.stats.attempts, elsewhere.questions) == ("predial_unavailable", 0, [])


@opened
@pytest.mark.requirement("PREDIAL-06")
async def test_a_campaign_that_was_paused_for_it_asks_again_after_a_resume(tenant: Tenant) -> None:
    is_down = [True]
    async with asked(lambda _: status(503) if is_down[0] else YES) as address:
        made = await run(tenant, people(3, **ANSWERS), predial_check_url=address.url)
        assert made.status_reason == "predial_unavailable"
        is_down[0] = False
        await tenant.client.deployments.resume(id=made.id)
        made = await tenant.ended(made.id)
    assert (made.status, made.stats.completed) == ("completed", 3)


@opened
async def test_another_address_is_asked_about_those_whom_the_former_one_declined(tenant: Tenant) -> None:
    def decide(one: Question) -> bytes:
        return NO if one["data"]["to"] == phone(0) else status(503)

    async with asked(decide) as former, asked() as next_:
        made = await run(tenant, people(3, **ANSWERS), predial_check_url=former.url)
        assert (made.status, made.stats.suppressed) == ("paused", 1)
        await tenant.client.deployments.update(id=made.id, predial_check_url=next_.url)
        await tenant.client.deployments.resume(id=made.id)
        made = await tenant.ended(made.id)
    assert (made.status, made.stats.completed, made.stats.suppressed) == ("completed", 3, 0)
    assert {one["data"]["to"] for one in next_.questions} == {phone(0), phone(1), phone(2)}


@opened
async def test_an_address_that_is_taken_away_is_not_asked_any_more(tenant: Tenant) -> None:
    async with asked(lambda _: status(503)) as address:
        made = await run(tenant, people(2, **ANSWERS), predial_check_url=address.url)
        count = len(address.questions)
        changed = await tenant.client.deployments.update(id=made.id, predial_check_url=None)
        assert changed.predial_check_url is None
        await tenant.client.deployments.resume(id=made.id)
        made = await tenant.ended(made.id)
    assert (made.status, made.stats.completed, len(address.questions)) == ("completed", 2, count)


@pytest.mark.service(workers=True, settings={**OPENED, "sim_time_scale": 200.0})
@pytest.mark.requirement("PREDIAL-07")
async def test_an_address_that_hangs_holds_up_no_other_campaign_in_running_time(tenant: Tenant) -> None:
    async with asked(lambda _: None) as hanging, asked() as quick:
        stuck = await started(tenant, people(12, **ANSWERS), "Stuck", predial_check_url=hanging.url)
        with anyio.fail_after(30):
            await hanging.sink.arrivals.acquire()
        other = await run(tenant, people(5, first=20, **ANSWERS), "Other", predial_check_url=quick.url)
        assert (other.status, other.stats.completed) == ("completed", 5)
        ended = await tenant.ended(stuck.id)
    assert (ended.status_reason, ended.stats.attempts) == ("predial_unavailable", 0)


@opened
async def test_at_most_twenty_questions_of_a_campaign_are_under_way(tenant: Tenant) -> None:
    async with asked() as address:
        rows = people(90, **ANSWERS)
        made = await run(tenant, rows, predial_check_url=address.url, max_concurrency=90, calls_per_second=100.0)
    assert made.stats.completed == 90
    assert 1 < address.sink.most_open <= 20


@pytest.mark.requirement("PREDIAL-08")
@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/check", "https://127.0.0.1/check", "https://10.1.2.3/check", "https://localhost/check"),
        *("https://user:secret@example.com/check", "https://example.com/check#part", "ftp://example.com", "check"),
        *("https://[::1]/check", "https://169.254.169.254/latest", "https://printer.local/check"),
    ],
)
async def test_an_address_that_may_not_be_asked_is_refused_by_name(tenant: Tenant, url: str) -> None:
    async with refusal(400, "invalid_field", "predial_check_url"):
        await started(tenant, people(1), predial_check_url=url)


async def test_a_change_to_an_address_that_may_not_be_asked_is_refused_too(tenant: Tenant) -> None:
    made = await draft(tenant, people(1, **ANSWERS), predial_check_url="https://example.com/check")
    async with refusal(400, "invalid_field", "predial_check_url"):
        await tenant.client.deployments.update(id=made.id, predial_check_url="https://192.168.0.1/check")


async def test_nothing_is_sent_to_a_private_address_that_was_open_when_the_campaign_was_made(
    database_url: str, tmp_path: Path
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, webhook_networks=LOOPBACK)
    async with asked() as address:
        async with open_service(database_url, tmp_path, settings=settings, workers=False) as tenant:
            made = await started(tenant, people(12, **ANSWERS), predial_check_url=address.url)
        async with running(replace(settings, webhook_networks=())) as later:
            transport = ASGITransport(app=later.asgi)
            async with Client(BASE_URL, tenant.api_key, transport=transport) as client:
                ended = await Tenant(later, tenant.org_id, tenant.api_key, client).ended(made.id)
        assert (ended.status_reason, ended.stats.attempts) == ("predial_unavailable", 0)
        assert address.sink.connections == 0


async def test_a_copy_of_a_campaign_asks_the_same_address(tenant: Tenant) -> None:
    made = await draft(tenant, people(1, **ANSWERS), predial_check_url="https://example.com/check")
    assert made.predial_check_url == "https://example.com/check"
    copied = await tenant.client.deployments.clone(id=made.id, name="Copy")
    assert copied.predial_check_url == "https://example.com/check"
