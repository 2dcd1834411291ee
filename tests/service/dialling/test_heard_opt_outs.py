"""Who opts out on a call by words or by a key is listed with the call, whatever the engine makes of the call."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from callwright.contract.deployments.deployments import Deployment
from callwright.service.dialling.heard_opt_outs import heard
from callwright.service.telephony.engine import CallRequest, CallResult, Turn
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaign_invariants import campaign_records, check_counters
from tests.support.campaigns import driver_of, lease, people, phone, run, started
from tests.support.do_not_call import listed
from tests.support.service import Tenant

pytestmark = pytest.mark.requirement("DNC-07")


class Deaf(SimulatedEngine):
    """A network that takes every conversation for one that met its goal, with a call back to come."""

    def simulate(self, request: CallRequest) -> CallResult:
        return replace(super().simulate(request), disposition="callback_requested", callback_after_s=600.0)


async def driven(tenant: Tenant, *scripts: str, engine: type[SimulatedEngine]) -> Deployment:
    """A campaign of people with these words, driven to the end of its first round."""
    rows = [
        row
        for index, script in enumerate(scripts)
        for row in people(1, first=index, sim_outcome="answered", sim_intent="yes", sim_script=script)
    ]
    made = await started(tenant, rows)
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant, engine=engine, rounds=1).drive(made.id)
    return await tenant.client.deployments.get(id=made.id)


async def test_words_and_a_key_decide_whatever_the_engine_says(tenant: Tenant) -> None:
    made = await driven(
        tenant, "Yes?|Please take me off your list.", "Hello?|[9]", "Yes?|Call me after ten.", engine=Deaf
    )
    assert (made.stats.suppressed, made.stats.retry_waiting) == (2, 1)
    entries = await listed(tenant)
    assert {(entry.number, entry.reason) for entry in entries} == {(phone(0), "opted_out"), (phone(1), "opted_out")}
    for entry in entries:
        call = await tenant.client.calls.get(call_uuid=entry.source_call_id or "")
        assert (call.to, call.disposition, call.callback_at) == (entry.number, "do_not_call", None)
    check_counters(await campaign_records(tenant.database, made.id))


@pytest.mark.service(workers=True)
async def test_a_simulated_person_presses_the_key_and_the_agent_says_goodbye(tenant: Tenant) -> None:
    ended = await run(tenant, people(1, sim_outcome="answered", sim_script="Hello?|[1]|[9]"))
    assert (ended.stats.suppressed, ended.stats.dispositions["do_not_call"]) == (1, 1)
    (entry,) = await listed(tenant, simulated=True)
    transcript = await tenant.client.calls.get_transcript(call_uuid=entry.source_call_id or "")
    agent = " ".join(turn.text for turn in transcript.turns if turn.role == "agent")
    assert "won't call you again" in agent or "won't hear from us again" in agent
    assert not any("[" in turn.text for turn in transcript.turns)


@pytest.mark.service(workers=True)
async def test_other_keys_and_times_to_call_are_no_opt_outs(tenant: Tenant) -> None:
    rows = people(1, sim_outcome="answered", sim_script="Hello?|[1]|[1934]|Yes.")
    rows += people(1, first=1, sim_outcome="answered", sim_script="Don't call me before ten.|Yes.")
    ended = await run(tenant, rows)
    assert ended.stats.suppressed == 0
    assert await listed(tenant) == []


def result(turns: Sequence[Turn] = (), *, keys: Sequence[str] = ()) -> CallResult:
    return CallResult(
        call_id="cal_1",
        outcome="answered",
        disposition="goal_met",
        hangup_cause="normal_clearing",
        ended_by="agent",
        answered_by="human",
        turns=turns,
        keys=keys,
    )


def test_what_the_agent_or_a_mailbox_says_is_no_wish_of_the_person() -> None:
    agent = Turn(0, "agent", "We will not call: stop calling me, you said?", 0.0, 1.0, "en-US")
    assert heard(result([agent])).disposition == "goal_met"
    mailbox = result([replace(agent, speaker="contact")])
    assert heard(mailbox).disposition == "do_not_call"
    assert heard(replace(mailbox, answered_by="machine_end_beep")).disposition == "goal_met"
    assert heard(result(keys=["9"])).disposition == "do_not_call"
