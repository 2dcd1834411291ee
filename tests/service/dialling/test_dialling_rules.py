"""Calling hours, caller ids and voicemail in whole campaigns."""

from collections import defaultdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, RetryPolicy, Voicemail, Window
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import ONCE, make_audience, people, rent, run, started
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)

MORNINGS = Window(days=["mon", "tue", "wed", "thu", "fri"], start="09:00", end="11:30")
ZONES = {
    "+1212": "America/New_York",
    "+1312": "America/Chicago",
    "+1303": "America/Denver",
    "+1206": "America/Los_Angeles",
}


def is_morning(at_ms: int, zone: str) -> bool:
    local = datetime.fromtimestamp(at_ms / 1_000, ZoneInfo(zone))
    return WEEKDAYS[local.weekday()] in MORNINGS.days and "09:00" <= local.strftime("%H:%M") < "11:30"


async def test_everybody_is_called_in_the_hours_of_their_own_zone(tenant: Tenant) -> None:
    rows = [row for area in ZONES for row in people(15, area=area.removeprefix("+1"))]
    rows += [{**row, "zone": "Asia/Tokyo"} for row in people(15, first=100, area="212")]
    audience = await make_audience(tenant, rows, timezone_column="zone")
    hours = CallingHours(windows=[MORNINGS])
    ended = await run(tenant, [], audience_id=audience.id, calling_hours=hours)
    found = await campaign_records(tenant.database, ended.id)
    check_everything(found, RetryPolicy())
    assert ended.stats.attempts > 75
    travellers = {row["phone_number"] for row in rows[60:]}
    for call in found.calls:
        zone = "Asia/Tokyo" if call.to_number in travellers else ZONES[call.to_number[:5]]
        assert is_morning(call.created_at, zone), zone


async def test_fixed_hours_hold_in_the_zone_that_was_named(tenant: Tenant) -> None:
    hours = CallingHours(timezone_mode="fixed", timezone="Asia/Kolkata", windows=[MORNINGS])
    ended = await run(tenant, people(40), calling_hours=hours)
    found = await campaign_records(tenant.database, ended.id)
    check_everything(found, RetryPolicy())
    assert all(is_morning(call.created_at, "Asia/Kolkata") for call in found.calls)


async def test_an_hours_long_campaign_goes_on_the_next_day(tenant: Tenant) -> None:
    short = CallingHours(
        timezone_mode="fixed", timezone="UTC", windows=[Window(days=list(WEEKDAYS), start="09:00", end="09:02")]
    )
    ended = await run(
        tenant, people(40, sim_outcome="busy"), calling_hours=short, calls_per_second=0.1, retry_policy=ONCE
    )
    found = await campaign_records(tenant.database, ended.id)
    check_everything(found, ONCE, calls_per_second=0.1)
    days: defaultdict[int, int] = defaultdict(int)
    for call in found.calls:
        days[call.created_at // 86_400_000] += 1
    assert sum(days.values()) == 40
    assert max(days.values()) <= 12
    assert len(days) >= 4


async def numbers_by_contact(tenant: Any, strategy: str, **fields: Any) -> tuple[list[str], dict[str, list[str]]]:
    """The numbers rented and, by contact's number, those that called."""
    rented = [await rent(tenant, area) for area in ("212", "415", "303")]
    rows = people(10, area="415", sim_outcome="busy") + people(10, area="718", sim_outcome="busy")
    ids = [number.id for number in rented]
    ended = await run(tenant, rows, phone_number_ids=ids, caller_id_strategy=strategy, **fields)
    found = await campaign_records(tenant.database, ended.id)
    check_everything(found, RetryPolicy())
    by_contact: dict[str, list[str]] = defaultdict(list)
    for call in sorted(found.calls, key=lambda call: call.attempt_number):
        by_contact[call.to_number].append(call.from_number)
    return [number.number for number in rented], by_contact


async def test_sticky_shows_a_contact_the_same_number_on_every_attempt(tenant: Tenant) -> None:
    rented, used = await numbers_by_contact(tenant, "sticky")
    assert {len(numbers) for numbers in used.values()} == {3}
    assert {len(set(numbers)) for numbers in used.values()} == {1}
    assert {numbers[0] for numbers in used.values()} == set(rented)


async def test_local_presence_calls_from_the_area_of_the_contact(tenant: Tenant) -> None:
    rented, used = await numbers_by_contact(tenant, "local_presence")
    near = {numbers[0] for contact, numbers in used.items() if contact.startswith("+1415")}
    assert near == {rented[1]}
    far = {number for contact, numbers in used.items() if contact.startswith("+1718") for number in numbers}
    assert far == set(rented)


async def test_round_robin_uses_all_numbers_alike(tenant: Tenant) -> None:
    rented, used = await numbers_by_contact(tenant, "round_robin")
    counted = [sum(numbers.count(number) for numbers in used.values()) for number in rented]
    assert counted == [20, 20, 20]


@pytest.mark.parametrize(
    ("voicemail", "outcome", "answered", "machines"),
    [
        (Voicemail(), "voicemail", 0, 6),
        (Voicemail(action="leave_message", message_template="Hello {{first_name}}."), "voicemail_left", 0, 6),
    ],
)
async def test_a_machine_is_met_as_the_policy_says(
    tenant: Tenant, voicemail: Voicemail, outcome: str, answered: int, machines: int
) -> None:
    machine = [{"phone_number": "+12025550103", "first_name": "Kim"}]
    rows = machine + people(5, sim_outcome="voicemail" if outcome == "voicemail" else "voicemail_left")
    ended = await run(tenant, rows, voicemail=voicemail)
    assert ended.stats.outcomes == {outcome: 6}
    assert (ended.stats.answered, ended.stats.voicemail) == (answered, machines)
    status = "exhausted" if outcome == "voicemail" else "completed"
    assert getattr(ended.stats, status) == 6
    check_everything(await campaign_records(tenant.database, ended.id), RetryPolicy())


async def test_a_message_is_left_in_the_words_of_the_template(tenant: Tenant) -> None:
    policy = Voicemail(action="leave_message", message_template="A message for {{first_name}} alone.")
    made = await started(tenant, [{"phone_number": "+12025550103", "first_name": "Kim"}], voicemail=policy)
    await tenant.ended(made.id)
    (call,) = (await tenant.client.calls.list(deployment_id=made.id)).data
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert "A message for Kim alone." in " ".join(turn.text for turn in transcript.turns)
