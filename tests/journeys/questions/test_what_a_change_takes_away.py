"""What a person reads before a change also says what it takes away: all that is no longer as it was, and who is called.

An object in a change takes the place of the one before, so what is left out of it goes back to its default.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import CallingHours, Compliance, RetryPolicy, Voicemail, Window
from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Overflow
from callwright.service.dialling.eligibility.do_not_call import opt_out
from tests.journeys.hosts import Host
from tests.support.campaigns import draft, make_agent, make_audience, people, phone, rent
from tests.support.service import Tenant

asked_or_told = pytest.mark.parametrize("answer", ["accept", None])
LATER = datetime(2099, 1, 1, 10, tzinfo=UTC)
WINDOWS: list[dict[str, Any]] = [{"days": ["mon"], "start": "09:00", "end": "10:00"}]
OTHER_WINDOWS: list[dict[str, Any]] = [{"days": ["tue"], "start": "11:00", "end": "12:00"}]
SETTINGS: dict[str, Any] = {
    "compliance": Compliance(purpose="marketing", consent_column="ok", ai_disclosure=False),
    "retry_policy": RetryPolicy(
        max_attempts=4,
        interval_minutes=[1_440],
        busy_interval_minutes=60,
        retry_on=["no_answer"],
        short_call_seconds=5,
        max_attempts_per_day=1,
        different_time_of_day=False,
    ),
    "voicemail": Voicemail(detection=True, action="leave_message", message_template="Call us back."),
    "calling_hours": CallingHours(
        timezone_mode="fixed", timezone="Europe/Berlin", windows=[Window.model_validate(WINDOWS[0])]
    ),
    "budget_cap": Spend(amount="0.50"),
    "end_at": datetime(2099, 2, 1, tzinfo=UTC),
}
"""A campaign of which nothing is as it is when it is left out."""


async def scheduled(tenant: Tenant, rows: Sequence[dict[str, Any]] = (), **settings: Any) -> Deployment:
    campaign = await draft(tenant, rows or people(2, ok="yes"), "Spring", start_at=LATER, **settings)
    await tenant.client.deployments.start(id=campaign.id)
    return campaign


async def question(found: Host, **change: Any) -> str:
    """What the person reads; the change is made once they agree."""
    if found.person.answer:
        await found.data("update_deployment", **change)
        return found.person.asked[-1]
    sentence = (await found.refused("update_deployment", **change)).split("«")[1].split("»")[0]
    await found.data("update_deployment", **change, person_agreed_to=sentence)
    return sentence


def one_yes(count: int) -> list[dict[str, Any]]:
    return [*people(1, ok="yes"), *people(count - 1, first=1, ok="no")]


@asked_or_told
async def test_a_filter_by_consent_that_a_change_leaves_out_is_said_to_go_and_all_who_are_then_called_are_counted(
    tenant: Tenant, found: Host
) -> None:
    consent = Compliance(consent_column="ok")
    campaign = await scheduled(tenant, one_yes(10), compliance=consent)
    said = await question(found, id=campaign.id, compliance={"purpose": "survey"})
    assert "compliance (purpose survey instead of informational, consent_column none instead of ok)." in said
    assert "People without a yes in the column ok are then called too." in said
    assert "It may then call 10 people for at most" in said
    assert (await tenant.client.deployments.preview(id=campaign.id)).eligible == 10


@pytest.mark.parametrize(
    ("change", "may"),
    [
        ({"calls_per_second": 2.0}, "It may then call 1 person for"),
        ({"compliance": {"purpose": "survey", "consent_column": "ok"}}, "It may then call 1 person for"),
        ({"compliance": {"consent_column": "agreed"}}, "It may then call at most 9 people for"),
        ({"compliance": {}}, "It may then call 9 people for"),
        ({"audience_id": "Others"}, "It may then call at most 4 people for"),
    ],
)
async def test_people_who_are_left_out_are_not_counted_where_it_can_be_told(
    change: dict[str, Any], may: str, tenant: Tenant, found: Host
) -> None:
    rows = [row | {"agreed": "yes"} for row in one_yes(10)]
    consent = Compliance(consent_column="ok")
    campaign = await scheduled(tenant, rows, compliance=consent)
    await make_audience(tenant, people(4, first=500, ok="no"), "Others")
    services = tenant.service.services

    def asks_not_to_be_called(connection: Any) -> None:
        opt_out(connection, services.ids, tenant.org_id, {phone(9): "call_1"}, simulated=True, now_ms=1)

    await services.database.write(asks_not_to_be_called)
    said = await question(found, id=campaign.id, **change)
    assert may in said
    if "at most" not in may:
        eligible = (await tenant.client.deployments.preview(id=campaign.id)).eligible
        assert f" {eligible} " in may


async def test_who_is_called_without_a_filter_by_consent_is_at_most_those_from_before_once_there_is_one(
    tenant: Tenant, found: Host
) -> None:
    campaign = await scheduled(tenant, one_yes(10))
    said = await question(found, id=campaign.id, compliance={"consent_column": "ok"})
    assert "compliance (consent_column ok instead of none)." in said
    assert "It may then call at most 10 people for" in said


async def test_where_consent_is_attested_instead_of_asked_for_the_people_are_at_most_those_of_the_list(
    tenant: Tenant, found: Host
) -> None:
    campaign = await scheduled(tenant, one_yes(10), compliance=Compliance(consent_column="ok"))
    said = await question(found, id=campaign.id, compliance={"consent_attested": True, "consent_reference": "forms"})
    assert "It may then call at most 10 people for" in said


CHANGES: dict[str, dict[str, Any]] = {
    "compliance": {"compliance": {"ai_disclosure": False}},
    "no compliance": {"compliance": {}},
    "attempts": {"retry_policy": {"max_attempts": 5}},
    "no policy": {"retry_policy": {}},
    "one attempt more and the same": {"retry_policy": {"max_attempts": 4, "retry_on": ["no_answer"]}},
    "voicemail": {"voicemail": {"action": "continue"}},
    "no detection": {"voicemail": {"detection": False}},
    "windows": {"calling_hours": {"windows": OTHER_WINDOWS}},
    "zone": {"calling_hours": {"windows": WINDOWS}},
    "any hour": {"calling_hours": None},
    "no cap": {"budget_cap": None},
    "no end": {"end_at": None},
    "all": {"compliance": {}, "retry_policy": {}, "voicemail": {}, "calling_hours": {"windows": WINDOWS}},
}
"""Changes of `SETTINGS`."""


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The single values of a setting, each with its place."""
    if isinstance(value, dict) and "amount" not in value:
        for name, entry in cast("dict[str, Any]", value).items():
            yield from leaves(entry, (*path, name))
    else:
        yield path, value


def changed_leaves(before: Deployment, after: Deployment) -> list[str]:
    """The names of the single values that are not as before."""
    settings = {*SETTINGS}
    was, is_ = (dict(leaves(one.model_dump(mode="json", include=settings))) for one in (before, after))
    return [path[-1] for path in is_ if path not in was or was[path] != is_[path]]


@pytest.mark.parametrize("changed", CHANGES)
async def test_every_value_that_is_another_one_afterwards_is_read_with_the_one_from_before(
    changed: str, tenant: Tenant, found: Host
) -> None:
    campaign = await scheduled(tenant, **SETTINGS)
    before = await tenant.client.deployments.get(id=campaign.id)
    said = await question(found, id=campaign.id, **CHANGES[changed])
    after = await tenant.client.deployments.get(id=campaign.id)
    names = changed_leaves(before, after)
    assert names
    for name in names:
        told = "1 window" if name == "windows" else f"{name} "
        assert told in said, name
    assert said.count(" instead of ") == len(names)


async def test_what_was_before_reads_as_a_person_says_it(tenant: Tenant, found: Host) -> None:
    campaign = await scheduled(tenant, **SETTINGS)
    said = await question(found, id=campaign.id, **CHANGES["attempts"], **CHANGES["zone"], **CHANGES["no cap"])
    assert "budget_cap none instead of 0.50 USD, retry_policy (max_attempts 5 instead of 4, " in said
    assert "retry_on [no_answer, busy, failed] instead of [no_answer], " in said
    assert "max_attempts_per_day 2 instead of 1, different_time_of_day True instead of False)" in said
    zone = "timezone_mode callee instead of fixed, timezone none instead of 'Europe/Berlin'"
    assert f"calling_hours ({zone}, 1 window mon 09:00-10:00".replace("'", '"') in said
    said = await question(found, id=campaign.id, calling_hours=None, end_at=None)
    assert "end_at none instead of 2099-02-01 00:00:00+00:00, " in said
    assert (
        "calling_hours none instead of (timezone_mode callee, 1 window mon 09:00-10:00, skip_public_holidays True)."
        in said
    )
    said = await question(found, id=campaign.id, calling_hours={"windows": WINDOWS}, end_at="2099-03-01T00:00:00Z")
    assert "end_at 2099-03-01 00:00:00+00:00 instead of none" in said
    hours = "1 window mon 09:00-10:00, skip_public_holidays True)"
    assert f"calling_hours (timezone_mode callee, timezone none, {hours} instead of none." in said
    said = await question(found, id=campaign.id, calling_hours={"windows": WINDOWS}, end_at="2099-03-01T00:00:00Z")
    assert "end_at 2099-03-01 00:00:00+00:00, calling_hours (1 window mon 09:00-10:00)." in said


async def test_a_long_message_can_take_the_place_of_a_long_one(tenant: Tenant, found: Host) -> None:
    before = Voicemail(action="leave_message", message_template=f"Before. {'a' * 1_900}")
    campaign = await scheduled(tenant, voicemail=before)
    message = f"After. {'b' * 1_900}"
    voicemail = {"action": "leave_message", "message_template": message}
    said = await question(found, id=campaign.id, voicemail=voicemail)
    assert f'message_template "{message}" instead of "Before. aaa' in said
    assert 'aaa…")' in said


async def test_a_campaign_under_way_is_asked_about_with_the_values_from_before(tenant: Tenant, found: Host) -> None:
    campaign = await draft(tenant, people(2), "Spring", budget_cap=Spend(amount="0.50"), max_concurrency=2)
    await tenant.client.deployments.start(id=campaign.id)
    said = await question(found, id=campaign.id, budget_cap=None, max_concurrency=5, calls_per_second=10)
    assert (
        "calls people: max_concurrency 5 instead of 2, calls_per_second 10.0, budget_cap none instead of 0.50 USD."
    ) in said


HOURS = BusinessHours.model_validate({"timezone": "Europe/Berlin", "windows": WINDOWS})
INBOUND: dict[str, tuple[dict[str, Any], str, str]] = {
    "no overflow": (
        {"overflow": {}},
        "inbound (overflow (action busy instead of forward, forward_to none instead of +33612345678)).",
        "Who calls beyond that number hears the busy tone.",
    ),
    "nothing after hours": (
        {"after_hours": {}},
        "inbound (after_hours (action reject instead of forward, forward_to none instead of +442079460958)).",
        "Who calls at another hour is refused.",
    ),
    "a message": (
        {"after_hours": {"action": "voicemail"}},
        "inbound (after_hours (action voicemail instead of forward, forward_to none instead of +442079460958)).",
        "Who calls at another hour may leave a message.",
    ),
    "any hour": (
        {"business_hours": None},
        'inbound (business_hours none instead of (timezone "Europe/Berlin", 1 window mon 09:00-10:00)).',
        "It then answers at any hour, ",
    ),
    "recorded": ({"recording_enabled": True}, "inbound (recording_enabled True instead of False).", "recorded."),
}


@asked_or_told
@pytest.mark.parametrize("changed", INBOUND)
async def test_how_callers_are_answered_says_what_it_then_is_and_was(changed: str, tenant: Tenant, found: Host) -> None:
    agent, number = await make_agent(tenant), await rent(tenant)
    made = await tenant.client.deployments.create_inbound(
        name="Desk",
        agent_id=agent.id,
        phone_number_id=number.id,
        business_hours=HOURS,
        after_hours=AfterHours(action="forward", forward_to="+442079460958"),
        overflow=Overflow(action="forward", forward_to="+33612345678"),
        recording_enabled=False,
    )
    change, told, then = INBOUND[changed]
    said = await question(found, id=made.id, inbound=change)
    assert told in said
    assert then in said
    again = await question(found, id=made.id, inbound=change)
    assert "instead of" not in again
    assert "()" not in again
    assert then in again
