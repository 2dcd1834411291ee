"""Calls to a number from the browser: who answers, what callers get in its place, and what is kept of it."""

import json
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection

from callwright.contract.calls.calls import Call
from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Overflow
from callwright.contract.deployments.talks import Talk
from callwright.service.settings import ServiceSettings
from tests.support import resources
from tests.support.campaigns import make_agent, rent
from tests.support.clock_set_by_test import Wall
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service
from tests.support.talks import answering, closed_with, ended, page_of, silent_microphone
from tests.support.webhooks.endpoints import saying, sink, status
from tests.support.webhooks.predial import body_of

CALLER, DESK = "+14155550123", "+14155550177"
YES = "Yes, that suits me."
NOT_TODAY = (datetime.now(UTC) + timedelta(days=3)).strftime("%a").lower()
NEVER_OPEN = BusinessHours.model_validate(
    {"timezone": "UTC", "windows": [{"days": [NOT_TODAY], "start": "09:00", "end": "10:00"}]}
)
MOST = 10_000_000
BUSY, CLOSED = 4486, 4487


@dataclass
class Desk:
    """A number of the simulated network that an inbound deployment answers."""

    tenant: Tenant
    number_id: str
    deployment: Deployment

    async def link(self, **asked: Any) -> Talk:
        return await self.tenant.client.phone_numbers.talk(id=self.number_id, **asked)

    async def call(self) -> Call:
        """The only call."""
        (call,) = (await self.tenant.client.calls.list(call_type="inbound")).data
        return call


@asynccontextmanager
async def desk(database_url: str, data: Path, **inbound: Any) -> AsyncGenerator[Desk]:
    settings = ServiceSettings(data=data, database_url=database_url, webhook_networks=LOOPBACK)
    async with open_service(database_url, data, settings=settings) as tenant, answering(tenant):
        number = await rent(tenant)
        agent = await make_agent(
            tenant, system_prompt="Ask whether Tuesday at ten suits them.", welcome_message="Hello, this is Ada."
        )
        made = await tenant.client.deployments.create_inbound(
            name="Front desk", agent_id=agent.id, phone_number_id=number.id, **inbound
        )
        yield Desk(tenant, number.id, made)


async def says(page: ClientConnection, text: str) -> None:
    await page.send(json.dumps({"type": "text", "text": text}))


async def heard(page: ClientConnection, until: Callable[[list[str]], bool]) -> list[str]:
    """What the agent, or the voice in its place, says until something is true of it, or the call has ended."""
    said: list[str] = []
    with anyio.fail_after(60):
        async for message in page:
            if isinstance(message, bytes):
                continue
            found: dict[str, Any] = json.loads(message)
            if found["type"] == "ended":
                break
            if found["type"] == "caption" and found["role"] == "agent":
                said.append(found["text"])
                if until(said):
                    break
    return said


def hearing(words: str) -> Callable[[Collection[str]], bool]:
    return lambda said: any(words in each for each in said)


@pytest.mark.xdist_group("live-calls")
@pytest.mark.requirement("INB-16")
async def test_who_calls_from_a_browser_talks_with_the_agent_that_the_webhook_names(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    answer = b'{"action": "answer", "metadata": {"ticket": "7"}}'
    async with sink(saying(status(200, answer))) as hook, desk(database_url, tmp_path) as made:
        client = made.tenant.client
        await client.phone_numbers.set_inbound_routing(id=made.number_id, url=hook.url())
        talk = await made.link(caller=CALLER)
        assert (await client.calls.list(call_type="inbound")).data == []
        async with page_of(talk) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            assert json.loads(await page.recv()) == {"type": "hears", "speech": False}
            await heard(page, hearing("this is Ada"))
            await says(page, "Yes, speaking.")
            await heard(page, hearing("Tuesday"))
            await says(page, YES)
            await heard(page, lambda _: False)
            tasks.cancel_scope.cancel()
        call = await ended(client, talk.call_id)
        async with client.calls.get_recording(call_uuid=call.id, format="wav") as download:
            recording = await download.read(MOST)
        turns = (await client.calls.get_transcript(call_uuid=call.id)).turns
        logged = (await client.phone_numbers.list_routing_requests(id=made.number_id)).data
        assert (call.call_type, call.simulated, call.outcome) == ("inbound", True, "answered")
        assert (call.from_number, call.deployment_id) == (CALLER, made.deployment.id)
        assert call.cost is not None
        assert call.cost.amount == "0.000000"
        assert call.inbound is not None
        assert (call.inbound.routed_by, call.inbound.metadata) == ("webhook", {"ticket": "7"})
        assert YES in [turn.text for turn in turns if turn.role == "contact"]
        assert len(recording) > 50_000
        assert [(each.call_id, each.outcome) for each in logged] == [(talk.call_id, "succeeded")]
        (question,) = hook.requests
        assert CALLER.encode() in body_of(question)
        async with page_of(talk) as page:
            assert await closed_with(page) == 4401


@pytest.mark.xdist_group("live-calls")
@pytest.mark.requirement("INB-17")
async def test_who_calls_from_a_browser_waits_in_the_queue_beside_others_and_hears_the_place(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    async with desk(database_url, tmp_path, max_concurrency=1, overflow=Overflow(action="queue")) as made:
        first, second = await made.link(), await made.link()
        said: list[str] = []
        async with anyio.create_task_group() as tasks, page_of(first) as one:
            tasks.start_soon(silent_microphone, one)
            await heard(one, hearing("this is Ada"))
            async with page_of(second) as other:
                tasks.start_soon(silent_microphone, other)
                assert await heard(other, hearing("number 1"))
                await made.tenant.client.calls.hang_up(call_uuid=first.call_id)
                said = await heard(other, hearing("this is Ada"))
            tasks.cancel_scope.cancel()
        assert "this is Ada" in said[-1]
        call = await ended(made.tenant.client, second.call_id)
        assert call.inbound is not None
        assert call.inbound.waited_seconds > 0
        assert (call.inbound.action, call.inbound.reason) == ("agent", "overflow")


@pytest.mark.xdist_group("live-calls")
@pytest.mark.requirement("INB-17")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_who_calls_from_a_browser_after_hours_leaves_a_message(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    closed: dict[str, Any] = {"business_hours": NEVER_OPEN, "after_hours": AfterHours(action="voicemail")}
    async with desk(database_url, tmp_path, **closed) as made:
        talk = await made.link()
        async with page_of(talk) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            await heard(page, hearing("after the tone"))
            await anyio.sleep(3)  # the sentence and the tone
            await says(page, "Please call Bo back about the window.")
            await heard(page, lambda _: False)
            tasks.cancel_scope.cancel()
        call = await ended(made.tenant.client, talk.call_id)
        turns = (await made.tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    assert (call.outcome, call.recording.status) == ("voicemail_left", "available")
    assert "Please call Bo back about the window." in [turn.text for turn in turns if turn.role == "contact"]


@pytest.mark.xdist_group("live-calls")
@pytest.mark.requirement("INB-17")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_browser_cannot_be_put_through_and_the_caller_is_told(
    database_url: str, tmp_path: Path, alone: None
) -> None:
    closed: dict[str, Any] = {
        "business_hours": NEVER_OPEN,
        "after_hours": AfterHours(action="forward", forward_to=DESK),
    }
    async with desk(database_url, tmp_path, **closed) as made:
        talk, said = await made.link(), list[str]()
        async with page_of(talk) as page, anyio.create_task_group() as tasks:
            tasks.start_soon(silent_microphone, page)
            said = await heard(page, lambda _: False)
            tasks.cancel_scope.cancel()
        call = await ended(made.tenant.client, talk.call_id)
    assert len(said) >= 2, "what happens, and that it did not work"
    assert call.inbound is not None
    assert (call.inbound.action, call.outcome) == ("forward", "no_answer")


@pytest.mark.requirement("INB-16", "INB-17")
async def test_a_refused_page_says_why_and_the_call_is_kept(database_url: str, tmp_path: Path) -> None:
    answers = iter((b'{"action": "reject", "reject_reason": "blocked"}', b'{"action": "reject"}'))
    async with desk(database_url, tmp_path) as made:
        client = made.tenant.client
        for code, reason in ((CLOSED, "blocked"), (BUSY, "busy")):
            async with sink(saying(status(200, next(answers)))) as hook:
                await client.phone_numbers.set_inbound_routing(id=made.number_id, url=hook.url())
                talk = await made.link()
                async with page_of(talk) as page:
                    assert await closed_with(page) == code
            call = await ended(client, talk.call_id)
            assert call.outcome == ("rejected" if code == CLOSED else "busy")
            assert call.cost is None or call.cost.amount == "0.000000"
            assert call.inbound is not None
            assert (call.inbound.routed_by, call.inbound.reason) == ("webhook", reason)
        await client.phone_numbers.remove_inbound_routing(id=made.number_id)
        await client.deployments.pause(id=made.deployment.id)
        talk = await made.link()
        async with page_of(talk) as page:
            assert await closed_with(page) == BUSY
        assert (await ended(client, talk.call_id)).from_number == "withheld"


@pytest.mark.requirement("INB-16")
async def test_a_link_to_a_number_opens_once_within_a_minute_and_few_are_open_at_once(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, clock=wall.clock()) as tenant, answering(tenant):
        client, number = tenant.client, await rent(tenant)
        async with refusal(422, "number_not_capable"):
            await client.phone_numbers.talk(id=number.id)
        agent = await resources.agent(tenant)
        await client.deployments.create_inbound(name="Desk", agent_id=agent.id, phone_number_id=number.id)
        for wrong in (number.number, "+1415"):
            async with refusal(400, "invalid_field", "caller"):
                await client.phone_numbers.talk(id=number.id, caller=wrong)
        links = [await client.phone_numbers.talk(id=number.id) for _ in range(10)]
        async with refusal(422, "plan_limit_reached"):
            await client.phone_numbers.talk(id=number.id)
        async with page_of(links[0], token="tlk_wrong") as page:
            assert await closed_with(page) == 4401
        wall.ahead_ms += 61_000
        async with page_of(links[0]) as page:
            assert await closed_with(page) == 4401
        assert (await client.calls.list(call_type="inbound")).data == []
        assert await client.phone_numbers.talk(id=number.id)
