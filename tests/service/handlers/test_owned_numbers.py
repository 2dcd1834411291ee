"""Numbers that an organization owns at its SIP trunk, or in the Twilio account."""

from pathlib import Path
from typing import Any

import pytest

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.server.embedded.embedded import address_of, listener_on
from callwright.service.app import running
from callwright.service.settings import LineSettings, ServiceSettings
from tests.support import resources
from tests.support.campaigns import PLAIN, draft, people
from tests.support.resources import refusal
from tests.support.service import BASE_URL, OWNED, Tenant, open_service
from tests.support.twilio.account import NUMBER
from tests.support.twilio.imitation import imitated_twilio
from tests.support.twilio.service import calling_through


@pytest.mark.requirement("LINE-05")
async def test_an_owned_number_is_taken_in_for_no_money_and_calls_from_it_are_real(tenant: Tenant) -> None:
    before = (await tenant.client.wallet.get()).balance
    assert (await tenant.client.overview.get()).network == "simulated"
    taken = await tenant.client.phone_numbers.import_owned(number="(212) 555-0191".replace("(", "+1 ("), label="Ours")
    assert (taken.number, taken.provider, taken.simulated, taken.country) == (OWNED[0], "sip", False, "US")
    assert (taken.monthly_cost.amount, taken.renews_at, taken.auto_renew) == ("0.000000", None, False)
    assert taken.capabilities.voice_outbound
    assert not taken.capabilities.voice_inbound
    assert (await tenant.client.wallet.get()).balance == before
    assert (await tenant.client.overview.get()).network == "real"


@pytest.mark.requirement("SIP-07")
async def test_a_number_of_a_trunk_whose_callers_are_let_in_can_be_called(database_url: str, tmp_path: Path) -> None:
    lines = LineSettings(sip_numbers=OWNED, sip_inbound="register")
    settings = ServiceSettings(data=tmp_path, database_url=database_url, lines=lines)
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        taken = await tenant.client.phone_numbers.import_owned(number=OWNED[0])
        assert taken.capabilities.voice_inbound
        agent = await resources.agent(tenant)
        create = tenant.client.deployments.create_inbound
        made = await create(name="Front desk", agent_id=agent.id, phone_number_id=taken.id)
        assert (made.status, made.simulated) == ("active", False)


async def test_a_number_of_a_trunk_without_callers_is_bound_to_nothing(tenant: Tenant) -> None:
    taken = await tenant.client.phone_numbers.import_owned(number=OWNED[0])
    agent = await resources.agent(tenant)
    async with refusal(422, "number_not_capable", "phone_number_id"):
        await tenant.client.deployments.create_inbound(name="In", agent_id=agent.id, phone_number_id=taken.id)


async def test_a_number_that_the_trunk_does_not_have_is_refused_with_the_setting_that_lists_them(
    tenant: Tenant,
) -> None:
    async with refusal(422, "number_not_at_carrier", "number") as kept:
        await tenant.client.phone_numbers.import_owned(number="+12125550177")
    assert "CALLWRIGHT_SIP_NUMBERS" in kept[0].message


async def test_a_number_for_one_organization_is_taken_in_by_no_other(database_url: str, tmp_path: Path) -> None:
    lines = LineSettings(sip_numbers=OWNED, sip_number_owners={OWNED[0]: "tests"})
    settings = ServiceSettings(data=tmp_path, database_url=database_url, lines=lines)
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        async with tenant.another_organization() as other:
            async with refusal(422, "number_not_at_carrier", "number"):
                await other.client.phone_numbers.import_owned(number=OWNED[0])
            assert (await other.client.phone_numbers.import_owned(number=OWNED[1])).number == OWNED[1]
        assert (await tenant.client.phone_numbers.import_owned(number=OWNED[0])).number == OWNED[0]


async def test_an_owned_number_belongs_to_one_organization_until_it_is_released(tenant: Tenant) -> None:
    mine = await tenant.client.phone_numbers.import_owned(number=OWNED[0])
    async with tenant.another_organization() as other:
        async with refusal(409, "number_unavailable", "number"):
            await other.client.phone_numbers.import_owned(number=OWNED[0])
        assert (await tenant.client.phone_numbers.release(id=mine.id)).status == "released"
        assert (await other.client.phone_numbers.import_owned(number=OWNED[0])).number == OWNED[0]


async def test_one_call_from_an_owned_number_is_a_draft_until_its_plan_is_agreed_to(tenant: Tenant) -> None:
    owned = await tenant.client.phone_numbers.import_owned(number=OWNED[0])
    agent = await resources.agent(tenant)
    call: dict[str, Any] = {
        "agent_id": agent.id,
        "phone_number_id": owned.id,
        "to": "+12125550142",
        "variables": {"first_name": "Ada"},
    }
    async with refusal(409, "plan_required", "auto_start"):
        await tenant.client.calls.place(**call)
    made = await tenant.client.calls.place(**call, auto_start=False)
    assert (made.status, made.simulated) == ("draft", False)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert any("understand only keys and typed words" in warning for warning in seen.warnings)


@pytest.mark.requirement("TWILIO-06")
async def test_a_number_is_taken_in_from_twilio_if_the_account_has_it(database_url: str, tmp_path: Path) -> None:
    async with imitated_twilio(NUMBER) as twilio:
        twilio.numbers["+12125550189"] = False
        async with calling_through(twilio, database_url, tmp_path, lines=0, workers=False) as tenant:
            numbers = tenant.client.phone_numbers
            taken = await numbers.import_owned(number=NUMBER)
            assert (taken.number, taken.provider, taken.simulated) == (NUMBER, "twilio", False)
            async with refusal(409, "number_unavailable", "number"):
                await numbers.import_owned(number=NUMBER, provider="twilio")
            async with refusal(422, "number_not_at_carrier", "number") as kept:
                await numbers.import_owned(number="+12125550177")
            assert "Twilio account" in kept[0].message
            async with refusal(422, "number_not_at_carrier", "number") as kept:
                await numbers.import_owned(number="+12125550189")
            assert "without voice" in kept[0].message
            assert (await numbers.import_owned(number=OWNED[0])).provider == "sip"


@pytest.mark.requirement("TWILIO-06")
async def test_a_number_of_twilio_needs_its_account_and_its_answer(
    tenant: Tenant, database_url: str, tmp_path: Path
) -> None:
    async with refusal(422, "number_not_at_carrier", "provider") as kept:
        await tenant.client.phone_numbers.import_owned(number=NUMBER, provider="twilio")
    assert "CALLWRIGHT_TWILIO_ACCOUNT_SID" in kept[0].message


@pytest.mark.parametrize(("how", "said"), [("refuses", "CALLWRIGHT_TWILIO_AUTH_TOKEN"), ("is away", "did not answer")])
async def test_twilio_that_does_not_answer_or_knows_no_such_account_is_said(
    database_url: str, tmp_path: Path, how: str, said: str
) -> None:
    with listener_on() as nobody:
        away = address_of(nobody).removesuffix("/v1")
    async with imitated_twilio(NUMBER) as twilio:
        twilio.refuses_account = how == "refuses"
        twilio.url = away if how == "is away" else twilio.url
        async with calling_through(twilio, database_url, tmp_path, lines=0, workers=False) as tenant:
            async with refusal(503, "service_unavailable") as kept:
                await tenant.client.phone_numbers.import_owned(number=NUMBER)
            assert said in kept[0].message


@pytest.mark.requirement("TWILIO-07")
async def test_a_campaign_from_numbers_of_twilio_names_what_the_service_lacks(
    database_url: str, tmp_path: Path
) -> None:
    async with imitated_twilio(NUMBER) as twilio:
        async with calling_through(twilio, database_url, tmp_path, lines=0, workers=False) as tenant:
            number = await tenant.client.phone_numbers.import_owned(number=NUMBER)
            made = await draft(tenant, people(1), phone_number_ids=[number.id], compliance=PLAIN)
            assert (await tenant.client.deployments.preview(id=made.id)).problems == []
            key = tenant.api_key
    settings = ServiceSettings(data=tmp_path, database_url=database_url, lines=LineSettings(count=0))
    async with running(settings, workers=False) as service:
        async with Client(BASE_URL, key, transport=ASGITransport(app=service.asgi)) as client:
            preview = await client.deployments.preview(id=made.id)
            (problem,) = preview.problems
            for name in ("CALLWRIGHT_TWILIO_ACCOUNT_SID", "CALLWRIGHT_PUBLIC_URL"):
                assert name in problem
            async with refusal(422, "lines_unavailable"):
                await client.deployments.start(id=made.id, plan_id=preview.plan_id)
