"""A campaign of a hundred people on sixteen lines: who answers, who does not, who asks for no more calls, and machines.

Who opts out, machines and a dozen others really speak; the rest type, so that two cores carry all of them.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from callwright.contract.calls.calls import Call
from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.contacts import Contact
from callwright.contract.deployments.dialling import IntervalsByReason, RetryPolicy
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.tables.schema import deployments
from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.closed_set import samples_of
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.crowd import KINDS, CountedLines, Crowd, numbers
from tests.service.telephony.media.recordings import read_recording
from tests.service.telephony.media.sentences import GREETING, MACHINE, PROMPT, QUESTION, STOP, YES
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaign_invariants import campaign_records, check_counters
from tests.support.campaigns import calls_of, make_agent, make_audience, people, started
from tests.support.do_not_call import add, listed
from tests.support.scripted_carrier import driven_on_lines, host_of
from tests.support.service import Tenant, open_service

pytestmark = [
    pytest.mark.xdist_group("live-calls"),
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:unread_data:DeprecationWarning"),  # aiohttp calls its own, for a large upload
]

LINES = 16
RETRY_MINUTES = 10
RETRIES = RetryPolicy(
    max_attempts=2, intervals_by_reason=IntervalsByReason(no_answer=[RETRY_MINUTES]), different_time_of_day=False
)
LONGEST_S = 400.0
"""Seconds after which a campaign has stopped somewhere."""
QUIETEST = 0.01
"""Samples that are louder, between 0 and 1, are speech."""


async def put_forward(tenant: Tenant, deployment_id: str, minutes: int) -> None:
    """Puts the clock of a campaign on the simulated network forward."""
    later = update(deployments).where(deployments.c.id == deployment_id)
    moved = later.values(clock_ms=deployments.c.clock_ms + minutes * MINUTE)
    await tenant.database.write(lambda connection: connection.execute(moved).rowcount)


async def contacts_of(tenant: Tenant, deployment_id: str) -> list[Contact]:
    return [one async for one in tenant.client.deployments.list_contacts(id=deployment_id, per_page=200)]


async def check_words(tenant: Tenant, call: Call, kind: str) -> None:
    """The transcript has what both sides said, and says how the other side said it."""
    turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    words = [(turn.role, turn.text) for turn in turns]
    if kind == "machine":
        assert ("contact", MACHINE) in words, words
    elif kind == "opts_out":
        assert words[0][0] == "agent"
        assert words[0][1].startswith(GREETING)
        assert words[1] == ("contact", STOP)
        assert "Goodbye." in words[2][1]
    else:
        assert words[0][0] == "agent"
        assert words[0][1].startswith(GREETING)
        assert words[1:4] == [("contact", YES), ("agent", QUESTION), ("contact", YES)]


async def check_sound(tenant: Tenant, call: Call, kind: str, folder: Path) -> None:
    """The recording has each side that made a sound on its channel, and silence for a side that made none."""
    async with tenant.client.calls.get_recording(call_uuid=call.id, format="wav") as download:
        (path := folder / f"{call.id}.wav").write_bytes(await download.read(5_000_000))
    found = read_recording(path)
    assert found.counted / 8_000 == pytest.approx(call.duration_seconds, abs=5.0)
    loudest = {side: abs(samples_of(pcm)).max() for side, pcm in (("agent", found.agent), ("contact", found.contact))}
    assert (loudest["contact"] > QUIETEST) == (kind in ("machine", "opts_out", "speaks")), (kind, loudest)
    if kind != "machine":  # it may have spoken before the agent could
        assert loudest["agent"] > QUIETEST, (kind, loudest)


async def check_hundred(tenant: Tenant, deployment_id: str, lines: CountedLines, folder: Path) -> None:
    """Everybody was called as the rules say, and all that was said is kept."""
    kinds = {to: kind for kind, those in numbers().items() for to in those}
    made = await tenant.client.deployments.get(id=deployment_id)
    contacts, calls = await contacts_of(tenant, deployment_id), await calls_of(tenant, deployment_id)
    assert (made.status, made.stats.contacts, lines.most) == ("completed", 100, LINES)
    ends = Counter((kinds[one.to], one.outcome, one.disposition, one.hangup_cause) for one in calls)
    reached = KINDS["speaks"] + KINDS["types"] + KINDS["answers_later"]
    opted = KINDS["opts_out"]
    assert made.stats.outcomes == {
        "answered": reached + opted,
        "voicemail": KINDS["machine"],
        "no_answer": KINDS["answers_later"],
    }, ends
    assert made.stats.dispositions == {"goal_met": reached, "do_not_call": opted}
    counted = (made.stats.completed, made.stats.suppressed, made.stats.exhausted)
    assert counted == (reached, 2 * opted + KINDS["listed"], KINDS["machine"])
    assert (made.stats.attempts, made.stats.answered, made.stats.voicemail) == (
        len(calls),
        reached + opted,
        KINDS["machine"],
    )
    assert (made.stats.pending, made.stats.in_flight, made.stats.retry_waiting, made.stats.held) == (0, 0, 0, 0)
    check_counters(await campaign_records(tenant.database, deployment_id))

    attempts = {"listed": 0, "answers_later": 2}
    rung = Counter(lines.placed)
    assert dict(rung) == {to: attempts.get(kind, 1) for to, kind in kinds.items() if kind != "listed"}
    assert Counter(call.to for call in calls) == rung
    for to, kind in kinds.items():
        rows = [one for one in contacts if one.phone_number == to]
        assert sum(one.attempts for one in rows) == rung[to]
        assert len(rows) == (2 if kind == "opts_out" else 1)
        if kind in ("opts_out", "listed"):
            assert {(one.status, one.status_reason) for one in rows} == {("suppressed", "do_not_call")}
            assert sorted(one.attempts for one in rows) == ([0, 1] if kind == "opts_out" else [0])
        else:
            outcome = "voicemail" if kind == "machine" else "answered"
            assert {one.last_outcome for one in rows} == {outcome}
    for call in calls:
        kind = kinds[call.to]
        if call.outcome == "no_answer":
            assert (kind, call.attempt_number, call.answered_at, call.recording.status) == (
                "answers_later",
                1,
                None,
                "absent",
            )
        else:
            await check_words(tenant, call, kind)
            await check_sound(tenant, call, kind, folder)
    found = {entry.number: entry for entry in await listed(tenant) if entry.reason == "opted_out"}
    opt_outs = {call.to: call.id for call in calls if call.disposition == "do_not_call"}
    assert {to: entry.source_call_id for to, entry in found.items()} == opt_outs
    assert set(opt_outs) == set(numbers()["opts_out"])


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_hundred_people_are_called_by_the_rules_and_the_next_campaign_stops_on_its_budget(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    media, crowd = MediaProcesses(1), numbers()
    kinds = {to: kind for kind, those in crowd.items() for to in those}
    async with (
        open_service(database_url, tmp_path, workers=False) as tenant,
        endpoint(sounds.closed_set()) as service,
        anyio.create_task_group() as tasks,
    ):
        services = tenant.services
        hears = SpeechServices(hearing=SpeechService(kind="openai", url=service.url))
        folder = services.recordings.lines.folder
        lines = CountedLines("scripted", media, always(hears), Crowd(kinds, sounds).rings, recordings=folder)
        host = host_of(tenant, lines, lines=LINES, is_ready=media.has_room)
        tasks.start_soon(media.run)
        tasks.start_soon(host.run)
        await add(tenant, [{"number": to} for to in crowd["listed"]])
        agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=GREETING)
        once = people(len(kinds))
        opt_outs = [row for row in once if kinds[row["phone_number"]] == "opts_out"]
        rows = [*once, *opt_outs]  # the second rows come last
        audience = await make_audience(tenant, rows, dedupe="none")
        given: dict[str, Any] = {"agent_id": agent.id, "retry_policy": RETRIES, "ring_timeout_seconds": 15}
        made = await started(
            tenant, [], audience_id=audience.id, max_concurrency=LINES + 8, calls_per_second=10.0, **given
        )
        first_attempts = len(kinds) - KINDS["listed"]
        await driven_on_lines(tenant, made.id, within_s=LONGEST_S, ends=lambda: len(lines.placed) >= first_attempts)
        waiting = (await tenant.client.deployments.get(id=made.id)).stats.retry_waiting
        assert (waiting, len(lines.placed)) == (KINDS["answers_later"], first_attempts)
        await put_forward(tenant, made.id, RETRY_MINUTES + 1)
        await driven_on_lines(tenant, made.id, within_s=LONGEST_S)
        await check_hundred(tenant, made.id, lines, tmp_path)

        lines.placed.clear()
        others = [*opt_outs[:2], *people(20, first=1_000)]
        capped = await started(tenant, others, "Capped", budget_cap=Spend(amount="0.027"), **given)
        await driven_on_lines(tenant, capped.id, within_s=LONGEST_S)
        stopped = await tenant.client.deployments.get(id=capped.id)
        assert (stopped.status, stopped.status_reason) == ("paused", "budget_reached")
        assert 1 <= stopped.stats.attempts < 20
        assert stopped.stats.dispositions == {"goal_met": stopped.stats.attempts}
        assert stopped.stats.suppressed == 2
        assert stopped.stats.pending == 20 - stopped.stats.attempts
        assert 0 < float(stopped.stats.spend.amount) <= 0.027
        assert sorted(lines.placed) == sorted(call.to for call in await calls_of(tenant, capped.id))
        assert not {*lines.placed} & {*crowd["opts_out"]}
        tasks.cancel_scope.cancel()
