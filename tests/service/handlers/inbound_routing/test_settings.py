"""The routing webhook of a number: set, shown, audited, removed."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.inbound_routing import RoutingFallback
from callwright.service.tables.schema import audit_log, phone_numbers
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, problem
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.webhooks.routing import bad, logged

URL = "https://example.com/who-answers"
ELSEWHERE = "+12125550177"


async def row_of(tenant: Tenant, number_id: str) -> Any:
    wanted = select(phone_numbers).where(phone_numbers.c.id == number_id)
    return await tenant.database.read(lambda connection: connection.execute(wanted).one())


@pytest.mark.requirement("ROUTE-01", "ROUTE-08")
async def test_a_number_gets_an_address_that_is_asked_and_its_secret_is_shown_once(tenant: Tenant) -> None:
    numbers, rented = tenant.client.phone_numbers, await resources.number(tenant)
    assert rented.inbound_routing is None
    made = await numbers.set_inbound_routing(
        id=rented.id, url=URL, fallback=RoutingFallback(action="forward", forward_to="+1 (212) 555-0177")
    )
    assert made.secret is not None
    assert made.secret.startswith("whsec_")
    assert (made.url, made.enabled, made.secret_prefix) == (URL, True, made.secret[:10])
    assert made.fallback == RoutingFallback(action="forward", forward_to=ELSEWHERE)
    shown = (await numbers.get(id=rented.id)).inbound_routing
    assert shown is not None
    assert (shown.url, shown.failures, shown.failing_since) == (URL, 0, None)
    assert made.secret not in (await numbers.get(id=rented.id)).model_dump_json()
    assert (await numbers.list()).data[0].inbound_routing == shown
    again = await numbers.set_inbound_routing(id=rented.id, url=URL, enabled=False)
    assert (again.secret, again.enabled, again.fallback, again.secret_prefix) == (None, False, None, made.secret[:10])
    renewed = await numbers.set_inbound_routing(id=rented.id, url=URL, new_secret=True)
    assert renewed.secret not in (None, made.secret)
    assert (await row_of(tenant, rented.id)).routing_secret == renewed.secret


@pytest.mark.requirement("ROUTE-08")
async def test_changes_are_audited_without_the_secret(tenant: Tenant) -> None:
    rented = await resources.number(tenant)
    made = await tenant.client.phone_numbers.set_inbound_routing(id=rented.id, url=URL)
    await tenant.client.phone_numbers.remove_inbound_routing(id=rented.id)
    wanted = select(audit_log.c.action, audit_log.c.changes).order_by(audit_log.c.at, audit_log.c.id)
    entries = await tenant.database.read(lambda connection: connection.execute(wanted).all())
    told = {row.action: json.loads(row.changes) for row in entries if row.action.endswith("inbound_routing")}
    assert told["set_inbound_routing"]["inbound_routing"]["before"] is None
    assert told["set_inbound_routing"]["inbound_routing"]["after"]["url"] == URL
    assert "remove_inbound_routing" in told
    assert made.secret is not None
    assert made.secret not in json.dumps(told)


async def test_a_removed_webhook_leaves_no_secret_and_a_number_without_one_has_none_to_remove(tenant: Tenant) -> None:
    rented = await resources.number(tenant)
    numbers = tenant.client.phone_numbers
    with refusal("not_found"):
        await numbers.remove_inbound_routing(id=rented.id)
    await numbers.set_inbound_routing(id=rented.id, url=URL)
    await numbers.remove_inbound_routing(id=rented.id)
    row = await row_of(tenant, rented.id)
    assert (row.routing_url, row.routing_secret, row.routing_enabled) == (None, None, False)
    assert (await numbers.get(id=rented.id)).inbound_routing is None
    await numbers.set_inbound_routing(id=rented.id, url=URL)
    await numbers.release(id=rented.id)
    assert (await row_of(tenant, rented.id)).routing_secret is None
    with refusal("number_not_capable", "id"):
        await numbers.set_inbound_routing(id=rented.id, url=URL)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"url": "http://example.com/"}, "url"),
        ({"url": "https://10.0.0.1/"}, "url"),
        ({"url": "https://example.com/#x"}, "url"),
        ({"url": "https://me:you@example.com/"}, "url"),
        ({"url": ""}, "url"),
        ({"url": "https://example.com/" + "x" * 2_048}, "url"),
        ({"url": None}, "url"),
        ({}, "url"),
        ({"url": URL, "enabled": "perhaps"}, "enabled"),
        ({"url": URL, "secret": "whsec_0123456789abcdefghijklmn"}, "secret"),
        ({"url": URL, "fallback": {"action": "forward"}}, "fallback"),
        ({"url": URL, "fallback": {"action": "reject", "forward_to": ELSEWHERE}}, "fallback"),
        ({"url": URL, "fallback": {"action": "voicemail"}}, "fallback.action"),
        ({"url": URL, "fallback": {"action": "forward", "forward_to": "2125550177"}}, "fallback.forward_to"),
        ({"url": URL, "fallback": {"action": "forward", "forward_to": "+19005550177"}}, "fallback.forward_to"),
        ({"url": URL, "fallback": {"action": "forward", "forward_to": "+1911"}}, "fallback.forward_to"),
    ],
)
async def test_what_is_wrong_is_named_and_nothing_is_set(
    tenant: Tenant, http: AsyncClient, fields: dict[str, Any], field: str
) -> None:
    rented = await resources.number(tenant)
    answer = await http.put(f"/v1/phone_numbers/{rented.id}/inbound_routing", json=fields)
    assert answer.status_code == 400
    assert problem(answer)["field"] == field
    assert (await row_of(tenant, rented.id)).routing_url is None


async def test_callers_are_not_forwarded_to_the_number_itself(tenant: Tenant) -> None:
    rented = await resources.number(tenant)
    with refusal("invalid_field", "fallback.forward_to"):
        await tenant.client.phone_numbers.set_inbound_routing(
            id=rented.id, url=URL, fallback=RoutingFallback(action="forward", forward_to=rented.number)
        )


@pytest.mark.service(settings={"webhook_networks": LOOPBACK})
async def test_an_operator_may_open_a_network_for_it(tenant: Tenant) -> None:
    rented = await resources.number(tenant)
    made = await tenant.client.phone_numbers.set_inbound_routing(id=rented.id, url="http://127.0.0.1:8099/hook")
    assert made.url == "http://127.0.0.1:8099/hook"


async def test_the_revision_of_a_number_changes_with_who_decides_and_not_with_failures(tenant: Tenant) -> None:
    rented = await resources.number(tenant)
    numbers = tenant.client.phone_numbers
    await numbers.set_inbound_routing(id=rented.id, url=URL)
    one = (await numbers.get(id=rented.id)).revision
    assert one != rented.revision
    await logged(tenant, rented.id, bad())
    found = await numbers.get(id=rented.id)
    assert found.inbound_routing is not None
    assert (found.revision, found.inbound_routing.failures) == (one, 1)
