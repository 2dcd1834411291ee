"""What calls on real lines cost, item by item, by the installation's price list."""

import pytest

from callwright.client import ServiceProblem
from callwright.contract.calls.calls import Call
from callwright.service.rules.cost_items import Used
from callwright.service.rules.prices.price_list import BadPriceList
from callwright.service.tables import price_lists
from tests.service.dialling.costs.amounts import charged, micros
from tests.support.campaigns import ONCE, calls_of, people, phone
from tests.support.ledger_check import check_ledgers
from tests.support.priced_calls import LIST, SERVICES_MICROS, USED, real_draft, start_by_plan, take_prices
from tests.support.resources import refusal
from tests.support.scripted_carrier import ScriptedCarrier, driven_on_lines, lines_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
TALK_S = 0.05


def items_of(call: Call) -> dict[str, tuple[str | None, str | None]]:
    """The amount and the status of each item; several of one are joined by their units."""
    assert call.cost is not None
    return {
        one.item if one.item != "llm" else f"llm {one.unit}": (one.amount, one.status) for one in call.cost.breakdown
    }


@pytest.mark.requirement("COST-01")
async def test_a_call_has_an_item_for_the_line_the_platform_and_each_service_and_the_ledger_has_their_sum(
    tenant: Tenant,
) -> None:
    await take_prices(tenant)
    carrier = ScriptedCarrier({phone(1): "busy"}, talk_s=TALK_S, used=USED)
    made = await real_draft(tenant, people(2), retry_policy=ONCE)
    await start_by_plan(tenant, made.id)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    calls = {call.to: call for call in await calls_of(tenant, made.id)}
    assert items_of(calls[phone(0)]) == {
        "telephony": ("0.012000", "pending"),
        "platform": ("0.006000", "known"),
        "stt": ("0.004064", "known"),
        "llm input_token": ("0.001200", "known"),
        "llm output_token": ("0.000288", "known"),
        "tts": ("0.006300", "known"),
    }
    cost = calls[phone(0)].cost
    assert cost is not None
    assert micros(cost.amount) == 18_000 + SERVICES_MICROS
    assert await charged(tenant, calls[phone(0)].id) == 18_000 + SERVICES_MICROS
    assert items_of(calls[phone(1)]) == {}
    ended = await tenant.client.deployments.get(id=made.id)
    assert ended.stats is not None
    assert micros(ended.stats.spend.amount) == 18_000 + SERVICES_MICROS
    await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-02")
async def test_what_has_no_price_has_no_amount_and_is_not_shown_as_free(tenant: Tenant) -> None:
    used = (
        Used("stt", "openai", "whisper-1", "second", 10),
        Used("llm", "openai", "gpt-4.1-mini", "input_token", 900, is_own=True),
    )
    carrier = ScriptedCarrier(talk_s=TALK_S, used=used)
    await take_prices(tenant)
    made = await real_draft(tenant, people(1), retry_policy=ONCE)
    await start_by_plan(tenant, made.id)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    (call,) = await calls_of(tenant, made.id)
    assert items_of(call) == {
        "telephony": ("0.012000", "pending"),
        "platform": ("0.006000", "known"),
        "stt": (None, "unpriced"),
        "llm input_token": (None, "not_charged"),
    }
    assert await charged(tenant, call.id) == 18_000


async def test_without_a_price_list_a_call_costs_the_agreed_minute_and_services_are_unpriced(tenant: Tenant) -> None:
    carrier = ScriptedCarrier(talk_s=TALK_S, used=USED)
    made = await real_draft(tenant, people(1), retry_policy=ONCE)
    await start_by_plan(tenant, made.id)
    await take_prices(tenant)  # too late: the campaign keeps the prices that it started with
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    (call,) = await calls_of(tenant, made.id)
    assert call.cost is not None
    assert {one.item for one in call.cost.breakdown if one.amount is not None} == {"telephony", "platform"}
    assert {one.status for one in call.cost.breakdown if one.amount is None} == {"unpriced"}
    assert await charged(tenant, call.id) == micros(call.cost.amount) > 0


@pytest.mark.requirement("COST-03")
async def test_no_service_is_charged_more_for_a_minute_than_the_list_allows(tenant: Tenant) -> None:
    used = (
        Used("llm", "openai", "gpt-4.1-mini", "input_token", 5_000_000),
        Used("llm", "openai", "gpt-4.1-mini", "output_token", 5_000_000),
        Used("tts", "openai", "gpt-4o-mini-tts", "character", 10),
    )
    carrier = ScriptedCarrier(talk_s=TALK_S, used=used)
    await take_prices(tenant)
    made = await real_draft(tenant, people(1), retry_policy=ONCE, max_call_duration_seconds=60)
    shown = await start_by_plan(tenant, made.id)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    (call,) = await calls_of(tenant, made.id)
    assert items_of(call)["llm input_token"] == ("0.004000", "capped")
    assert items_of(call)["llm output_token"] == ("0.016000", "capped")
    assert items_of(call)["tts"] == ("0.000150", "known")
    assert call.cost is not None
    assert micros(call.cost.amount) <= micros(shown.cost.high.amount) == 18_000 + 6_000 + 69_000


async def test_a_campaign_keeps_the_list_that_it_started_with_and_the_next_one_has_the_newer(tenant: Tenant) -> None:
    await take_prices(tenant)
    first = await real_draft(tenant, people(1), name="First", retry_policy=ONCE)
    await start_by_plan(tenant, first.id)
    dearer = LIST.replace("2026.11.27", "2026.12.1").replace("minute = 12_000", "minute = 15_000")
    await take_prices(tenant, dearer)
    second = await real_draft(tenant, people(1, first=1), name="Second", retry_policy=ONCE)
    await start_by_plan(tenant, second.id)
    async with lines_of(tenant, ScriptedCarrier(talk_s=TALK_S)):
        for made in (first, second):
            await driven_on_lines(tenant, made.id)
    (of_first,), (of_second,) = [await calls_of(tenant, made.id) for made in (first, second)]
    assert items_of(of_first)["telephony"][0] == "0.012000"
    assert items_of(of_second)["telephony"][0] == "0.015000"


@pytest.mark.requirement("COST-07")
async def test_a_plan_counts_what_the_list_has_and_names_who_else_charges(tenant: Tenant) -> None:
    made = await real_draft(tenant, people(1), retry_policy=ONCE, max_call_duration_seconds=60)
    without = await tenant.client.deployments.preview(id=made.id)
    assert without.summary.endswith(
        "for at most 0.02 USD, not counting what services that hear, think and speak charge."
    )
    await take_prices(tenant)
    counted = await tenant.client.deployments.preview(id=made.id)
    assert counted.summary.endswith("for at most 0.10 USD.")
    assert counted.plan_id != without.plan_id
    with pytest.raises(ServiceProblem) as refused:
        await tenant.client.deployments.start(id=made.id, plan_id=without.plan_id)
    assert refused.value.code == "plan_stale"
    await take_prices(
        tenant,
        LIST.replace("carriers.scripted", "carriers.sip")
        .replace("2026.11.27", "2026.12.1")
        .partition("[services.tts]")[0],
    )
    less = await tenant.client.deployments.preview(id=made.id)
    assert less.summary.endswith("not counting what the carrier and the one that speaks charge.")


async def test_a_list_that_charges_nothing_lets_a_campaign_with_budgets_run(tenant: Tenant) -> None:
    await take_prices(tenant, 'version = "1"\n[platform]\nminute = 0\n')
    caps = {"budget_cap": {"amount": "1.00"}, "daily_budget_cap": {"amount": "1.00"}}
    made = await real_draft(tenant, people(2), retry_policy=ONCE, **caps)
    await start_by_plan(tenant, made.id)
    async with lines_of(tenant, ScriptedCarrier(talk_s=TALK_S)):
        await driven_on_lines(tenant, made.id)
    for call in await calls_of(tenant, made.id):
        assert items_of(call) == {"telephony": (None, "pending")}
        assert call.cost is not None
        assert micros(call.cost.amount) == 0


@pytest.mark.requirement("COST-09")
async def test_a_version_of_the_list_never_changes_its_contents_and_an_older_one_is_not_in_force(
    tenant: Tenant,
) -> None:
    await take_prices(tenant)
    await take_prices(tenant)
    with pytest.raises(BadPriceList, match=r"version 2026\.11\.27 is stored with other contents"):
        await take_prices(tenant, LIST.replace("minute = 6_000", "minute = 7_000"))
    await take_prices(tenant, LIST.replace("2026.11.27", "2026.10.1").replace("minute = 6_000", "minute = 9_000"))
    current = await tenant.services.database.read(price_lists.current_list)
    assert current is not None
    assert (current.version, current.platform_minute) == ("2026.11.27", 6_000)


async def test_the_wallet_shows_the_most_that_a_minute_costs_on_real_lines(tenant: Tenant) -> None:
    await real_draft(tenant, people(1))
    before = (await tenant.client.wallet.get()).prices
    await take_prices(tenant)
    (added,) = [price for price in (await tenant.client.wallet.get()).prices if price not in before]
    assert (added.item, added.unit, added.country, added.provider) == ("outbound_call", "minute", "US", "scripted")
    assert micros(added.price.amount) == 18_000 + 6_000 + 69_000


@pytest.mark.requirement("COST-07")
async def test_what_own_providers_do_is_neither_held_back_for_nor_charged_and_stays_until_then(
    tenant: Tenant,
) -> None:
    await take_prices(tenant)
    await tenant.client.providers.set(name="ears", kind="openai", key="k", default_for=["hearing"], roles=["hearing"])
    made = await real_draft(tenant, people(1), retry_policy=ONCE, max_call_duration_seconds=60)
    shown = await start_by_plan(tenant, made.id)
    assert shown.summary.endswith("for at most 0.09 USD, not counting what the providers of your own keys charge.")
    assert micros(shown.cost.high.amount) == 18_000 + 6_000 + 20_000 + 40_000
    async with refusal(409, "provider_in_use"):  # else the installation would hear, and nobody would pay for it
        await tenant.client.providers.remove(name="ears")
    async with lines_of(tenant, ScriptedCarrier(talk_s=TALK_S, used=USED)):
        await driven_on_lines(tenant, made.id)
    (call,) = await calls_of(tenant, made.id)
    assert items_of(call)["stt"] == (None, "not_charged")
    assert items_of(call)["tts"] == ("0.006300", "known")
    await tenant.client.providers.remove(name="ears")  # the campaign has finished
