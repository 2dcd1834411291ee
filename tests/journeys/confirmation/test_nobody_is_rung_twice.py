"""Who may have been rung already is called again only after a person has said yes to that."""

import pytest
from sqlalchemy import update

from callwright.service.tables.schema import calls
from callwright.tools.wording.text import masked
from tests.journeys.hosts import Host
from tests.support import resources
from tests.support.calls.held_calls import NUMBER, held_call
from tests.support.service import Tenant
from tests.support.tools.results import text_of


async def unconfirmed(tenant: Tenant) -> str:
    """The id of a real call of which nobody knows whether it rang."""
    call_id = await held_call(tenant, (await resources.draft(tenant)).deployment.id)
    real = update(calls).where(calls.c.id == call_id).values(simulated=False)
    await tenant.database.write(lambda connection: connection.execute(real))
    return call_id


async def decided(tenant: Tenant, call_id: str) -> bool | None:
    found = (await tenant.client.calls.get(call_uuid=call_id)).resolved
    return None if found is None else found.placed


async def test_the_person_reads_whom_it_rings_again_and_accepts(tenant: Tenant, found: Host) -> None:
    call_id = await unconfirmed(tenant)
    answer = await found.call("resolve_call", call_id=call_id, placed=False)
    assert not answer.is_error, text_of(answer)
    (asked,) = found.person.asked
    assert masked(NUMBER) in asked
    assert "does not know whether it rang" in asked
    assert await decided(tenant, call_id) is False
    shown = text_of(await found.call("get_call", call_id=call_id))
    assert "said at" in shown
    assert "Nobody knows whether" not in shown


@pytest.mark.parametrize("answer", ["refuse", "decline", "cancel"])
async def test_without_a_yes_nothing_is_decided(tenant: Tenant, found: Host) -> None:
    call_id = await unconfirmed(tenant)
    refused = await found.refused("resolve_call", call_id=call_id, placed=False)
    assert "did not agree" in refused
    assert await decided(tenant, call_id) is None


@pytest.mark.parametrize("answer", [None])
async def test_where_nobody_can_be_asked_the_sentence_has_to_come_back(tenant: Tenant, found: Host) -> None:
    call_id = await unconfirmed(tenant)
    unsaid = await found.refused("resolve_call", call_id=call_id, placed=False)
    assert await decided(tenant, call_id) is None
    sentence = unsaid.split("«")[1].split("»")[0]
    said = await found.call("resolve_call", call_id=call_id, placed=False, person_agreed_to=sentence)
    assert not said.is_error, text_of(said)
    assert await decided(tenant, call_id) is False


async def test_nobody_is_asked_that_it_rang_after_which_nobody_is_called(tenant: Tenant, found: Host) -> None:
    call_id = await unconfirmed(tenant)
    answer = await found.call("resolve_call", call_id=call_id, placed=True)
    assert not answer.is_error, text_of(answer)
    assert found.person.asked == []
    assert await decided(tenant, call_id) is True
