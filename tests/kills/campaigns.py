"""Two campaigns to kill: people of several countries, whom both campaigns call from the same numbers."""

from pathlib import Path

from callwright.contract.deployments.dialling import Compliance, RetryPolicy
from tests.support.campaigns import draft, make_agent, make_audience, rent
from tests.support.service import open_service

LINES, CALLS_PER_SECOND = 100, 50.0
NUMBERS = 2
MOST_A_DAY = 4_000
"""Calls that each of the numbers may make within 24 hours."""
SHARED = 5
"""Of so many people of the first campaign the second calls one too."""
PLACES = (
    ("+1646{:07d}", 2_000_000, "America/New_York"),
    ("+1305{:07d}", 4_000_000, "America/New_York"),
    ("+1312{:07d}", 4_000_000, "America/Chicago"),
    ("+1310{:07d}", 4_000_000, "America/Los_Angeles"),
    ("+4930{:08d}", 20_000_000, "Europe/Berlin"),
    ("+4420{:08d}", 70_000_000, "Europe/London"),
    ("+331{:08d}", 42_000_000, "Europe/Paris"),
    ("+9198{:08d}", 20_000_000, "Asia/Kolkata"),
    ("+612{:08d}", 90_000_000, "Australia/Sydney"),
)
"""The numbers of a place, the first of them, and the time zone there."""
_INTENTS = ("yes", "no", "later", "asks_first")
"""Nobody opts out: a review of many opt-outs would pause the campaigns."""
_NEWS, _SURVEY = Compliance(purpose="informational"), Compliance(purpose="survey")
POLICY = RetryPolicy(max_attempts=3, max_attempts_per_day=3, interval_minutes=[60], different_time_of_day=False)


def zone_of_person(phone: str) -> str:
    """The time zone of a person of these campaigns, by their number."""
    return next(zone for form, _, zone in PLACES if phone.startswith(form.partition("{")[0]))


def _person(index: int) -> dict[str, str]:
    form, first, _ = PLACES[index % len(PLACES)]
    intent = _INTENTS[index // len(PLACES) % len(_INTENTS)]
    return {"phone_number": form.format(first + index), "first_name": f"Person {index}", "sim.intent": intent}


async def start_campaigns(database_url: str, folder: Path, contacts: int) -> None:
    """Starts a campaign that calls so many people, and one that calls some of them; nobody drives them yet."""
    people = [_person(index) for index in range(contacts)]
    async with open_service(database_url, folder, workers=False, extra_dollars=100_000) as tenant:
        numbers = [await rent(tenant) for _ in range(NUMBERS)]
        for number in numbers:
            await tenant.client.phone_numbers.update(id=number.id, max_calls_per_day=MOST_A_DAY)
        agent = await make_agent(tenant)
        for name, called, purpose in (("All", people, _NEWS), ("Some", people[::SHARED], _SURVEY)):
            made = await draft(
                tenant,
                [],
                name,
                agent_id=agent.id,
                audience_id=(await make_audience(tenant, called, name)).id,
                phone_number_ids=[number.id for number in numbers],
                max_concurrency=LINES,
                calls_per_second=CALLS_PER_SECOND,
                retry_policy=POLICY,
                compliance=purpose,
            )
            await tenant.client.deployments.start(id=made.id)
