"""The person's name and the list's own id beside contacts and calls, so that a report can be joined to its list."""

import pytest

from tests.support import resources
from tests.support.campaigns import make_audience, phone, run
from tests.support.service import Tenant

PEOPLE = [
    {
        "phone_number": phone(0),
        "Vorname": "Jürgen",
        "Nachname": "Müller",
        "Kundennr": "K-1001",
        "sim.outcome": "answered",
    },
    {"phone_number": phone(1), "Vorname": "Zoé", "Nachname": "", "Kundennr": "", "sim.outcome": "busy"},
]
EXPECTED = {phone(0): ("Jürgen Müller", "K-1001"), phone(1): ("Zoé", None)}


@pytest.mark.service(workers=True)
async def test_contacts_calls_and_searches_say_who_it_is(tenant: Tenant) -> None:
    client = tenant.client
    audience = await make_audience(tenant, PEOPLE, external_id_column="Kundennr")
    agent = await resources.agent(
        tenant, "By name", welcome_message="Hello {{vorname}}.", system_prompt="Ask how they are."
    )
    ended = await run(tenant, [], audience_id=audience.id, agent_id=agent.id)
    contacts = (await client.deployments.list_contacts(id=ended.id)).data
    assert {one.phone_number: (one.name, one.external_id) for one in contacts} == EXPECTED
    calls = (await client.calls.list(deployment_id=ended.id)).data
    assert {one.to: (one.contact_name, one.external_id) for one in calls} == EXPECTED
    spoken = next(one for one in calls if one.turn_count)
    assert (await client.calls.get(call_uuid=spoken.id)).contact_name == "Jürgen Müller"
    (found,) = (await client.transcripts.search(query="hello")).data
    assert (found.contact_id, found.contact_name, found.external_id) == (spoken.contact_id, "Jürgen Müller", "K-1001")
    rows = (await client.audiences.list_rows(id=audience.id)).data
    assert {row.phone_number: (row.name, row.external_id) for row in rows} == EXPECTED
